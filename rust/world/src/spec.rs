//! What a cluster is made of: nodes and queues as values, with sensible defaults.

use hiatus_core::fact::Side;
use hiatus_core::state::{Shares, UserLimits};
use hiatus_core::units::{PartitionId, Resource};
use std::collections::BTreeMap;

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it offers to containers.
    pub total: Resource,
    /// Its partition.
    pub partition: PartitionId,
    /// Whether the partition's idle room may serve the default one.
    pub shareable: bool,
    /// Whether its executor can suspend containers.
    pub can_suspend: bool,
    /// Whether it is being decommissioned.
    pub decommissioning: bool,
    /// What its RAM and its swap hold together, in MiB, if it says so.
    pub ram_and_swap_mb: Option<i64>,
    /// On which side of a mixed cluster it is, if it is on any.
    pub side: Option<Side>,
    /// How many times as long as elsewhere computing takes there.
    pub cpu_time: f64,
    /// How many times as long reading and writing takes there.
    pub io_time: f64,
}

impl Node {
    /// A node of the default partition that can suspend.
    pub fn of(total: Resource) -> Node {
        Node {
            total,
            partition: PartitionId(0),
            shareable: true,
            can_suspend: true,
            decommissioning: false,
            ram_and_swap_mb: None,
            side: None,
            cpu_time: 1.0,
            io_time: 1.0,
        }
    }

    /// Its RAM and its swap hold so much together.
    pub fn ram_and_swap(self, both: Resource) -> Node {
        Node { ram_and_swap_mb: Some(both.memory_mb), ..self }
    }

    /// On that side of a mixed cluster.
    pub fn on(self, side: Side) -> Node {
        Node { side: Some(side), ..self }
    }

    /// Where computing, and reading and writing, take so many times as long as elsewhere.
    pub fn slower(self, cpu_time: f64, io_time: f64) -> Node {
        Node { cpu_time, io_time, ..self }
    }

    /// Its executor cannot suspend containers.
    pub fn rigid(self) -> Node {
        Node { can_suspend: false, ..self }
    }

    /// In a partition of its own that lends what it does not need.
    pub fn shared_partition(self, partition: u32) -> Node {
        Node { partition: PartitionId(partition), shareable: true, ..self }
    }

    /// In a partition of its own that lends nothing.
    pub fn exclusive_partition(self, partition: u32) -> Node {
        Node { partition: PartitionId(partition), shareable: false, ..self }
    }
}

/// A queue. Shares are fractions of each whole partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Full path, as in `root.a.b`.
    pub path: String,
    /// What it is guaranteed.
    pub guaranteed: f64,
    /// What it may grow to.
    pub maximum: f64,
    /// Both in partitions in which they are others.
    pub labelled: BTreeMap<PartitionId, Shares>,
    /// What ApplicationMasters may hold of the cluster; one always may run.
    pub master_share: f64,
    /// Whether other queues may take from it.
    pub preemptable: bool,
    /// Whether its own jobs may take from each other.
    pub preemptable_within: bool,
    /// What one user may hold of it.
    pub users: UserLimits,
}

impl Queue {
    /// A queue that may use everything.
    pub fn new(path: &str, guaranteed: f64) -> Queue {
        Queue {
            path: path.to_string(),
            guaranteed,
            maximum: 1.0,
            labelled: BTreeMap::new(),
            master_share: 1.0,
            preemptable: true,
            preemptable_within: true,
            users: UserLimits::default(),
        }
    }

    /// What it is guaranteed of that partition, and what it may grow to there.
    pub fn shares(&self, partition: PartitionId) -> Shares {
        let Queue { guaranteed, maximum, .. } = *self;
        self.labelled.get(&partition).copied().unwrap_or(Shares { guaranteed, maximum })
    }

    /// Whether it is that queue, or one above it.
    pub fn is_or_holds(&self, path: &str) -> bool {
        path.strip_prefix(&self.path).is_some_and(|below| below.is_empty() || below.starts_with('.'))
    }

    /// It may grow to this fraction only.
    pub fn maximum(self, maximum: f64) -> Queue {
        Queue { maximum, ..self }
    }

    /// Of that partition it is guaranteed so much, and may grow to so much.
    pub fn of_partition(mut self, partition: u32, guaranteed: f64, maximum: f64) -> Queue {
        self.labelled.insert(PartitionId(partition), Shares { guaranteed, maximum });
        self
    }

    /// ApplicationMasters may hold this fraction of the cluster; one always may run.
    pub fn master_share(self, master_share: f64) -> Queue {
        Queue { master_share, ..self }
    }

    /// A user is sure of that fraction of what it holds, and gets no more than so many times its guarantee.
    pub fn users(self, sure: f64, most: f64) -> Queue {
        Queue { users: UserLimits { sure, most }, ..self }
    }

    /// The administrator set `disable_preemption`, which switches off both.
    pub fn not_preemptable(self) -> Queue {
        Queue { preemptable: false, preemptable_within: false, ..self }
    }

    /// The administrator set `intra-queue-preemption.disable_preemption`.
    pub fn not_preemptable_within(self) -> Queue {
        Queue { preemptable_within: false, ..self }
    }
}
