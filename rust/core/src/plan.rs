//! The plan: for each partition, all jobs in the order in which they are served, and what each should hold. Queues come
//! most under-served first, each with its jobs in the order of its own policy. A job may come more than once, with
//! targets that do not fall: early for a part of what it should hold, later for the rest.

use crate::entitlement;
use crate::estimate;
use crate::fact::PhaseKey;
use crate::policy::{EstimateError, JobView, PhaseView, Policy, PolicyKind, Supply, TaskView};
use crate::settings::Settings;
use crate::state::{Cluster, FirstTask, Job, Phase};
use crate::units::{AppId, Millis, PartitionId, QueueId, Resource};
use std::collections::BTreeMap;

/// One of a job's places in one partition, and its target there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The job.
    pub app: AppId,
    /// Its leaf queue.
    pub queue: QueueId,
    /// What it should hold, as a fraction of the partition.
    pub target: f64,
}

/// Order and targets of one partition.
#[derive(Clone, Debug, Default)]
pub struct PartitionPlan {
    /// What its nodes offer together.
    pub total: Resource,
    /// The places, first served first.
    pub entries: Vec<Entry>,
    /// The last place of each job in `entries`: the one with its whole target.
    pub rank: BTreeMap<AppId, usize>,
    /// What each queue, parents included, is entitled to, as a fraction of the partition.
    pub entitled: BTreeMap<QueueId, f64>,
    /// The smallest container that anybody wants there; `None` if nobody wants any.
    pub smallest_ask: Option<Resource>,
}

impl PartitionPlan {
    /// Whether this place is the last of its job.
    pub fn is_last(&self, place: usize) -> bool {
        self.entries.get(place).is_some_and(|entry| self.rank.get(&entry.app) == Some(&place))
    }
}

/// What the queue's policies say, and their memories.
#[derive(Debug, Default)]
pub struct Planner {
    plans: BTreeMap<PartitionId, PartitionPlan>,
    policies: BTreeMap<(QueueId, PartitionId), (PolicyKind, Box<dyn Policy>)>,
}

impl Planner {
    /// The current plan of a partition.
    pub fn of(&self, partition: PartitionId) -> Option<&PartitionPlan> {
        self.plans.get(&partition)
    }

    /// All current plans.
    pub fn all(&self) -> impl Iterator<Item = (PartitionId, &PartitionPlan)> {
        self.plans.iter().map(|(partition, plan)| (*partition, plan))
    }

    /// Computes all plans anew, and tells the policies of the jobs that left since.
    pub fn plan(&mut self, cluster: &Cluster, settings: &Settings) {
        self.policies.retain(|(queue, _), _| cluster.queues.contains_key(queue));
        self.plans.clear();
        for partition in cluster.partitions.keys() {
            let plan = self.plan_partition(cluster, settings, *partition, cluster.live_total(*partition));
            self.plans.insert(*partition, plan);
        }
    }

    fn plan_partition(
        &mut self,
        cluster: &Cluster,
        settings: &Settings,
        partition: PartitionId,
        total: Resource,
    ) -> PartitionPlan {
        for (app, job) in &cluster.departed {
            if let Some((_, policy)) = self.policies.get_mut(&(job.queue, partition)) {
                policy.departed(*app, &phases(job, partition, total, cluster));
            }
        }
        let mut views: BTreeMap<QueueId, Vec<JobView>> = BTreeMap::new();
        let mut smallest_ask: Option<Resource> = None;
        for (app, job) in &cluster.jobs {
            let Some(queue) = cluster.queues.get(&job.queue) else { continue };
            let default_task = settings.queue(&queue.path).default_task;
            if let Some(view) = view(*app, job, partition, total, default_task, cluster) {
                views.entry(job.queue).or_default().push(view);
            }
            for (key, _) in job.phases.iter().filter(|(key, p)| p.left() > 0 && key.partition == partition) {
                let smallest = smallest_ask.get_or_insert(key.resource);
                smallest.memory_mb = smallest.memory_mb.min(key.resource.memory_mb);
                smallest.vcores = smallest.vcores.min(key.resource.vcores);
            }
        }
        let demand = views.iter().map(|(q, jobs)| (*q, jobs.iter().map(|job| job.demand).sum())).collect();
        let entitled = entitlement::of_leaves(cluster, partition, &demand);

        let mut queues: Vec<_> = views
            .into_iter()
            .map(|(id, jobs)| {
                let guaranteed = cluster.queues.get(&id).map_or(0.0, |q| q.shares(partition).guaranteed);
                let held: f64 = jobs.iter().map(|job| job.held).sum();
                // A queue without guarantee comes last, as in CapacityScheduler.
                (if guaranteed > 0.0 { held / guaranteed } else { f64::INFINITY }, id, jobs)
            })
            .collect();
        queues.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

        let mut plan = PartitionPlan { total, smallest_ask, ..PartitionPlan::default() };
        let taken: f64 = queues.iter().filter_map(|(_, queue, _)| entitled.get(queue)).sum();
        for (_, queue, jobs) in queues {
            let Some(found) = cluster.queues.get(&queue) else { continue };
            let of_queue = entitled.get(&queue).copied().unwrap_or(0.0);
            let shares = found.shares(partition);
            let supply = Supply {
                now: cluster.now,
                total,
                entitled: of_queue,
                attainable: (of_queue + 1.0 - taken).max(shares.guaranteed).min(shares.maximum),
                settings: settings.queue(&found.path),
            };
            let policy = self.policy(supply.settings.policy, queue, partition);
            for target in policy.plan(&supply, &jobs) {
                plan.rank.insert(target.app, plan.entries.len());
                plan.entries.push(Entry { app: target.app, queue, target: target.share });
            }
        }
        plan.entitled = entitled;
        plan
    }

    /// How good past estimates of sizes were, in all queues.
    pub fn estimate_errors(&self) -> Vec<EstimateError> {
        self.policies.values().flat_map(|(_, policy)| policy.errors()).collect()
    }

    /// The policy of that queue and partition, if it ever ranked a job there.
    pub fn policy_of(&self, queue: QueueId, partition: PartitionId) -> Option<&dyn Policy> {
        self.policies.get(&(queue, partition)).map(|(_, policy)| policy.as_ref())
    }

    fn policy(&mut self, kind: PolicyKind, queue: QueueId, partition: PartitionId) -> &mut dyn Policy {
        let slot = self.policies.entry((queue, partition)).or_insert_with(|| (kind, kind.create()));
        if slot.0 != kind {
            *slot = (kind, kind.create());
        }
        slot.1.as_mut()
    }
}

/// The job as its queue's policy sees it; `None` if it neither holds nor asks for anything in the partition. What it may
/// not have now, because its queue does not let it run or it is parked, is no demand.
fn view(
    app: AppId,
    job: &Job,
    partition: PartitionId,
    total: Resource,
    default_task: Millis,
    cluster: &Cluster,
) -> Option<JobView> {
    let (mut held, mut demand, mut asked) = (0.0, 0.0, 0);
    for (key, phase) in job.phases.iter().filter(|(key, _)| key.partition == partition) {
        let one = key.resource.dominant_share(total);
        held += f64::from(phase.held) * one;
        let wanted = if job.may_start() { phase.pending } else { 0 };
        let suspended = phase.suspended.saturating_sub(parked_alone(app, *key, cluster));
        demand += f64::from(phase.held + suspended + wanted) * one;
        asked += phase.left();
    }
    // A master that only borrows another partition's room takes none here.
    let home = |id| cluster.containers.get(&id).and_then(|c| cluster.nodes.get(&c.node)).map(|node| node.partition);
    let master = job.master.filter(|(id, key)| key.partition == partition && home(*id) == Some(partition));
    let pinned = master.map_or(0.0, |(_, key)| key.resource.dominant_share(total));
    // Where no node is left, nobody has anything to expect.
    (asked > 0 && total != Resource::ZERO).then(|| JobView {
        app,
        submitted: job.submitted,
        priority: job.priority,
        held,
        demand: if job.parked { pinned } else { demand },
        pinned,
        attained: job.attained(cluster.now).dominant_seconds(total),
        remaining: estimate::remaining_seconds(job, default_task, total),
        hints: job.hints.clone(),
        phases: phases(job, partition, total, cluster),
    })
}

/// How many suspended containers of that phase are parked, each by itself.
fn parked_alone(app: AppId, key: PhaseKey, cluster: &Cluster) -> u32 {
    let containers = cluster.parked.iter().filter_map(|id| cluster.containers.get(id));
    containers.filter(|c| c.app == app && c.phase == key && c.state.is_suspended()).count() as u32
}

/// The job's phases in the partition, ApplicationMasters aside: those are no tasks.
fn phases(job: &Job, partition: PartitionId, total: Resource, cluster: &Cluster) -> Vec<PhaseView> {
    let of_partition = job.phases.iter().filter(|(key, _)| key.partition == partition);
    let view = |(key, phase): (&PhaseKey, &Phase)| {
        let masters = u32::from(job.master.is_some_and(|(_, of)| of == *key));
        let worked = |id| cluster.containers.get(&id).map_or(Millis(0), |c| job.worked(id, c, cluster.now));
        let task = |first: &FirstTask| match first.finished {
            Some(worked) => TaskView::Finished { worked },
            None => TaskView::Running { worked: worked(first.container), progress: first.progress },
        };
        PhaseView {
            key: *key,
            one: key.resource.dominant_share(total),
            pending: if job.asks_for_tasks() { phase.pending } else { 0 },
            unasked: job.unasked(*key),
            held: (phase.held + phase.borrowed).saturating_sub(masters),
            suspended: phase.suspended,
            finished: phase.finished,
            finished_time: phase.finished_time,
            first: phase.first.iter().map(task).collect(),
        }
    };
    of_partition.map(view).filter(|phase| phase.tasks() > 0).collect()
}
