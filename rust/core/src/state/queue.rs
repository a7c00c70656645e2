//! One queue: its place in the tree and what it owns of each partition.

use crate::fact::QueueFact;
use crate::units::{PartitionId, QueueId};
use std::collections::BTreeMap;

/// A queue's fractions of one partition, 0…1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// What it is guaranteed.
    pub guaranteed: f64,
    /// What it may grow to.
    pub maximum: f64,
}

/// What CapacityScheduler lets one user hold of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserLimits {
    /// What each is sure of where others compete, as a fraction of what the queue holds.
    pub sure: f64,
    /// What none gets more of, in times what the queue is guaranteed.
    pub most: f64,
}

impl Default for UserLimits {
    fn default() -> UserLimits {
        UserLimits { sure: 1.0, most: f64::INFINITY }
    }
}

impl UserLimits {
    /// The most that one of so many users who ask may hold while the queue holds as much, all as fractions of the partition. It
    /// is never less than CapacityScheduler's limit, which also counts what users hold who ask for nothing more.
    pub fn limit(self, guaranteed: f64, holds: f64, asking: usize) -> f64 {
        let part = self.sure.max(1.0 / asking.max(1) as f64);
        self.cap(guaranteed).min(part * guaranteed.max(holds))
    }

    /// The most that one user may ever hold. Where nothing is guaranteed, CapacityScheduler knows no such limit.
    pub fn cap(self, guaranteed: f64) -> f64 {
        if guaranteed > 0.0 {
            self.most * guaranteed
        } else {
            f64::INFINITY
        }
    }
}

/// A queue.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Parent; the root has none.
    pub parent: Option<QueueId>,
    /// Full path.
    pub path: String,
    /// Whether other queues may take resources from it.
    pub preemptable: bool,
    /// Whether its own jobs may take them from each other.
    pub preemptable_within: bool,
    /// What it owns, by partition.
    pub shares: BTreeMap<PartitionId, Shares>,
    /// What one user may hold of it.
    pub users: UserLimits,
}

impl Queue {
    pub(super) fn describe(&mut self, fact: &QueueFact) {
        self.parent = fact.parent;
        self.path.clone_from(&fact.path);
        self.preemptable = fact.preemptable;
        self.preemptable_within = fact.preemptable_within;
    }

    /// Its fractions of the partition; nothing where none were told.
    pub fn shares(&self, partition: PartitionId) -> Shares {
        self.shares.get(&partition).copied().unwrap_or_default()
    }
}
