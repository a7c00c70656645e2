//! A job as its queue's policy sees it.

use crate::estimate;
use crate::fact::PhaseKey;
use crate::hints::Hints;
use crate::settings::QueueSettings;
use crate::state::{Cluster, FirstTask, Job, Phase, Reason};
use crate::units::{AppId, Millis, PartitionId, Resource};
use crate::view::{JobView, PhaseView, TaskView, UnderWay};

/// The job as its queue's policy sees it; `None` if it neither holds nor asks for anything in the partition. What it may
/// not have now, because its queue does not let it run or it is parked, is no demand.
pub(super) fn of(
    app: AppId,
    job: &Job,
    partition: PartitionId,
    total: Resource,
    queue: &QueueSettings,
    cluster: &Cluster,
) -> Option<JobView> {
    let (mut held, mut demand, mut asked) = (0.0, 0.0, 0);
    for (key, phase) in job.phases.iter().filter(|(key, _)| key.partition == partition) {
        let one = key.resource.dominant_share(total);
        held += f64::from(phase.held) * one;
        let wanted = if job.may_start() { job.wanted(*key, phase) } else { 0 };
        let suspended = phase.suspended.saturating_sub(resting(job, *key, cluster));
        demand += f64::from(phase.held + suspended + wanted) * one;
        asked += phase.left();
    }
    // A master that only borrows another partition's room takes none here.
    let home = |id| cluster.containers().get(&id).and_then(|c| cluster.nodes().get(&c.node)).map(|node| node.partition);
    let master = job.master.filter(|(id, key)| key.partition == partition && home(*id) == Some(partition));
    let masters = master.map_or(0.0, |(_, key)| key.resource.dominant_share(total));
    // Where no node is left, nobody has anything to expect.
    (asked > 0 && total != Resource::ZERO).then(|| JobView {
        app,
        submitted: job.submitted,
        priority: job.priority,
        held,
        demand: if job.parked { masters } else { demand },
        masters,
        attained: job.attained(cluster.now()).dominant_seconds(total),
        remaining: estimate::remaining_seconds(job, cluster, queue, total),
        hints: hints(job, partition),
        phases: phases(job, partition, total, queue, cluster),
        changed: true,
    })
}

/// Nothing happened to the job for `elapsed` but that time passed.
pub(super) fn pass_time(view: &mut JobView, cluster: &Cluster, total: Resource, elapsed: Millis) {
    view.changed = false;
    if let Some(job) = cluster.jobs().get(&view.app) {
        view.attained = job.attained(cluster.now()).dominant_seconds(total);
    }
    for phase in &mut view.phases {
        for task in &mut phase.first {
            if let TaskView::Running { worked, runs: true, .. } = task {
                *worked = *worked + elapsed;
            }
        }
        phase.others.worked = phase.others.worked + Millis(u64::from(phase.others.running) * elapsed.0);
    }
}

/// What its user says of it; what its tasks elsewhere have turned out to take is no work that is left for here.
fn hints(job: &Job, partition: PartitionId) -> Hints {
    let mut elsewhere = job.phases.iter().filter(|(key, phase)| key.partition != partition && phase.finished > 0);
    let size = job.hints.size.and_then(|size| {
        elsewhere.try_fold(size, |left, (key, phase)| {
            let tasks = f64::from(phase.finished + job.to_do(*key));
            left.without(key.resource, tasks * estimate::task_time(phase, Millis(0)).seconds())
        })
    });
    Hints { size, ..job.hints.clone() }
}

/// How many suspended containers of that phase want no room now: they are parked, each by itself, or lend their own.
fn resting(job: &Job, key: PhaseKey, cluster: &Cluster) -> u32 {
    let containers = job.suspended.iter().filter_map(|id| cluster.containers().get(id));
    containers.filter(|c| c.phase == key && (c.parked || c.reason == Some(Reason::Lent))).count() as u32
}

/// Tasks of the phase that are not done, without its first, which are seen so; `masters` of its containers are none.
fn others(phase: &Phase, first: &[TaskView], masters: u32, now: Millis) -> UnderWay {
    let with_containers = phase.held + phase.borrowed + phase.suspended;
    let all = UnderWay {
        tasks: with_containers.saturating_sub(masters),
        running: phase.run_time.running,
        worked: phase.run_time.until(now),
    };
    phase.first.iter().zip(first).fold(all, |others, (first, seen)| match *seen {
        TaskView::Running { worked, runs, .. } => UnderWay {
            tasks: others.tasks.saturating_sub(1),
            running: others.running.saturating_sub(u32::from(runs)),
            worked: others.worked.since(first.run_time(worked)),
        },
        TaskView::Finished { .. } => others,
    })
}

/// The job's phases in the partition, those that are to come last; ApplicationMasters aside: those are no tasks.
pub(super) fn phases(
    job: &Job,
    partition: PartitionId,
    total: Resource,
    queue: &QueueSettings,
    cluster: &Cluster,
) -> Vec<PhaseView> {
    let none = Phase::default();
    let to_come = cluster.to_come(job).map(|key| (key, &none));
    let known = job.phases.iter().map(|(key, phase)| (*key, phase)).chain(to_come);
    let of_partition = known.filter(|(key, _)| key.partition == partition);
    let has_maps_to_do = job.has_maps_to_do();
    let view = |(key, phase): (PhaseKey, &Phase)| {
        let masters = u32::from(job.master.is_some_and(|(_, of)| of == key));
        let task = |first: &FirstTask| match first.finished {
            Some(worked) => TaskView::Finished { worked },
            None => {
                let container = cluster.containers().get(&first.container);
                let worked = container.map_or(Millis(0), |c| job.worked(first.container, c, cluster.now()));
                let runs = container.is_some_and(|c| c.running_for(cluster.now()).is_some());
                TaskView::Running { worked, runs, progress: first.progress }
            }
        };
        let first: Vec<_> = phase.first.iter().map(task).collect();
        PhaseView {
            key,
            one: key.resource.dominant_share(total),
            gated: has_maps_to_do && key.is_of_reduces(),
            pending: if job.asks_for_tasks() { phase.pending } else { 0 },
            unasked: job.unasked(key),
            held: (phase.held + phase.borrowed).saturating_sub(masters),
            suspended: phase.suspended,
            finished: phase.finished,
            finished_time: phase.finished_time,
            earlier_s: estimate::first(job, key.priority, queue),
            told: job.told(key),
            others: others(phase, &first, masters, cluster.now()),
            first,
        }
    };
    of_partition.map(view).filter(|phase| phase.tasks() > 0).collect()
}
