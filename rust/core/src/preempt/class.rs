//! Which jobs are production work (GP, section IV): what they need is taken from the others, and nothing from them.

use crate::entitlement::EPSILON;
use crate::settings::{Class, Settings};
use crate::state::{Cluster, Job, Queue};
use crate::units::{PartitionId, QueueId};
use std::collections::BTreeSet;

/// The classes of one partition.
pub(super) struct Classes<'a> {
    settings: &'a Settings,
    partition: PartitionId,
    /// What leaf queues are guaranteed on average.
    mean_guarantee: f64,
}

impl<'a> Classes<'a> {
    pub(super) fn open(cluster: &Cluster, settings: &'a Settings, partition: PartitionId) -> Classes<'a> {
        let parents: BTreeSet<QueueId> = cluster.queues().values().filter_map(|queue| queue.parent).collect();
        let leaves = cluster.queues().iter().filter(|(id, _)| !parents.contains(id));
        let guarantees = leaves.map(|(_, queue)| queue.shares(partition).guaranteed);
        let (sum, count) = guarantees.fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
        Classes { settings, partition, mean_guarantee: if count > 0.0 { sum / count } else { 0.0 } }
    }

    /// What the queue says of its jobs, or else its guarantee: production work is guaranteed more than others are on average.
    pub(super) fn of_queue(&self, queue: &Queue) -> Class {
        let by_guarantee = || match queue.shares(self.partition).guaranteed > self.mean_guarantee + EPSILON {
            true => Class::Production,
            false => Class::NonProduction,
        };
        self.settings.queue(&queue.path).gp.class.unwrap_or_else(by_guarantee)
    }

    /// What the job says of itself, where its queue allows that; or else its queue's class.
    pub(super) fn of(&self, cluster: &Cluster, job: &Job) -> Class {
        let Some(queue) = cluster.queues().get(&job.queue) else { return Class::NonProduction };
        let own = job.hints.under(&self.settings.queue(&queue.path).hints).gp_class;
        own.unwrap_or_else(|| self.of_queue(queue))
    }
}
