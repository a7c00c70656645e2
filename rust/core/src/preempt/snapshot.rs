//! What the starvation rule is shown of a partition: its queues where the rule is on, and whose order of victims is one over
//! all jobs.

use super::gp_class::GpClasses;
use super::starvation::StarvationSnapshot;
use crate::entitlement::EPSILON;
use crate::estimate;
use crate::plan::PartitionPlan;
use crate::settings::{GpClass, Settings};
use crate::state::{Cluster, Job};
use crate::units::{ContainerId, Millis, PartitionId};

pub(super) fn of(
    cluster: &Cluster,
    plan: &PartitionPlan,
    partition: PartitionId,
    settings: &Settings,
) -> StarvationSnapshot {
    let classes = GpClasses::open(settings, partition);
    let mut snapshot = StarvationSnapshot {
        busy: cluster.partitions().get(&partition).map_or(0.0, |found| found.busy_share()),
        ..StarvationSnapshot::default()
    };
    let (mut of_production, mut guaranteed) = (0.0, 0.0);
    for (queue, places) in &plan.queues {
        let Some(queue) = cluster.queues().get(queue) else { continue };
        let rules = settings.queue(&queue.path);
        let watched = rules.gp.starvation && rules.victims.is_over_all_jobs();
        if classes.of_queue(cluster, queue) == GpClass::NonProduction {
            guaranteed += queue.shares(partition).guaranteed;
        }
        for place in places.clone().filter(|place| plan.is_last_entry(*place)) {
            let entry = &plan.entries[place];
            let Some(job) = cluster.jobs().get(&entry.app) else { continue };
            let held = job.share(plan.total, partition);
            if classes.of(cluster, job) == GpClass::Production {
                of_production += held;
            } else if watched {
                let waits = waiting(job, plan, partition);
                snapshot.waiting.extend((waits > 0.0).then_some((entry.app, waits)));
                let above = held - entry.target;
                if above > EPSILON && task_time(cluster, job, partition) > settings.cluster.starvation.long_task {
                    snapshot.long.push((entry.app, above));
                }
            }
        }
    }
    snapshot.available = (1.0 - of_production).max(guaranteed);
    snapshot
}

/// What the job waits for.
fn waiting(job: &Job, plan: &PartitionPlan, partition: PartitionId) -> f64 {
    let phases = job.phases.iter().filter(|(key, _)| key.partition == partition && job.may_start());
    phases.map(|(key, phase)| f64::from(phase.pending) * key.resource.dominant_share(plan.total)).sum()
}

/// How long tasks of the job take: of the phase in the partition in which they take longest, on average. Where none is done
/// yet, as they tell of their progress, or for as long as the longest of its containers has run.
fn task_time(cluster: &Cluster, job: &Job, partition: PartitionId) -> Millis {
    let (done, new): (Vec<_>, Vec<_>) =
        job.phases.iter().filter(|(key, _)| key.partition == partition).partition(|(_, phase)| phase.finished > 0);
    let done = done.into_iter().map(|(_, phase)| estimate::task_time(phase, Millis(0)));
    let container = |id: &ContainerId| cluster.containers().get(id).map(|container| (*id, container));
    let told = new.iter().flat_map(|(_, phase)| &phase.first).filter_map(|task| {
        let (id, container) = container(&task.container)?;
        let worked = job.worked(id, container, cluster.now()).0 as f64;
        task.progress.filter(|progress| *progress > 0.0).map(|progress| Millis((worked / progress) as u64))
    });
    let tasks = job.containers.iter().filter_map(container).map(|(_, task)| task).filter(|task| !task.is_master);
    let of_new = tasks.filter(|task| new.iter().any(|(key, _)| **key == task.phase));
    let ran = of_new.map(|task| task.run_time(cluster.now()));
    done.chain(told).chain(ran).max().unwrap_or_default()
}
