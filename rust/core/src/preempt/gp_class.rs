//! Which jobs are production work (GP, section IV): what they need is taken from the others, and nothing from them.

use crate::entitlement::EPSILON;
use crate::settings::{GpClass, Settings};
use crate::state::{Cluster, Job, Queue};
use crate::units::{PartitionId, QueueId};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// The classes of one partition.
pub(super) struct GpClasses<'a> {
    settings: &'a Settings,
    partition: PartitionId,
    /// What leaf queues are guaranteed on average, once somebody asked.
    mean_guarantee: OnceCell<f64>,
}

impl<'a> GpClasses<'a> {
    pub(super) fn open(settings: &'a Settings, partition: PartitionId) -> GpClasses<'a> {
        GpClasses { settings, partition, mean_guarantee: OnceCell::new() }
    }

    fn mean_guarantee(&self, cluster: &Cluster) -> f64 {
        let parents: BTreeSet<QueueId> = cluster.queues().values().filter_map(|queue| queue.parent).collect();
        let leaves = cluster.queues().iter().filter(|(id, _)| !parents.contains(id));
        let guarantees = leaves.map(|(_, queue)| queue.shares(self.partition).guaranteed);
        let (sum, count) = guarantees.fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
        if count > 0.0 {
            sum / count
        } else {
            0.0
        }
    }

    /// What the queue says of its jobs, or else its guarantee: production work is guaranteed more than others are on average.
    pub(super) fn of_queue(&self, cluster: &Cluster, queue: &Queue) -> GpClass {
        let mean = || *self.mean_guarantee.get_or_init(|| self.mean_guarantee(cluster));
        let by_guarantee = || match queue.shares(self.partition).guaranteed > mean() + EPSILON {
            true => GpClass::Production,
            false => GpClass::NonProduction,
        };
        self.settings.queue(&queue.path).gp.class.unwrap_or_else(by_guarantee)
    }

    /// What the job says of itself, where its queue allows that; or else its queue's class.
    pub(super) fn of(&self, cluster: &Cluster, job: &Job) -> GpClass {
        let Some(queue) = cluster.queues().get(&job.queue) else { return GpClass::NonProduction };
        let own = job.hints.under(&self.settings.queue(&queue.path).hints).gp_class;
        own.unwrap_or_else(|| self.of_queue(cluster, queue))
    }
}
