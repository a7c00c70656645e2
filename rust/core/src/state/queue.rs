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

/// A queue.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Parent; the root has none.
    pub parent: Option<QueueId>,
    /// Full path.
    pub path: String,
    /// Whether other queues may take resources from it.
    pub preemptable: bool,
    /// What it owns, by partition.
    pub shares: BTreeMap<PartitionId, Shares>,
}

impl Queue {
    pub(super) fn describe(&mut self, fact: &QueueFact) {
        self.parent = fact.parent;
        self.path.clone_from(&fact.path);
        self.preemptable = fact.preemptable;
    }

    /// Its fractions of the partition; nothing where none were told.
    pub fn shares(&self, partition: PartitionId) -> Shares {
        self.shares.get(&partition).copied().unwrap_or_default()
    }
}
