//! What happened on a cluster: its nodes and queues, and the jobs that are known from their submission to their end.

use hiatus_core::units::Millis;
use hiatus_world::job::Job;
use hiatus_world::{Node, Queue};
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::Arc;

/// A job that is known whole.
#[derive(Clone, Debug, PartialEq)]
pub struct PastJob {
    /// What it wanted, its tasks with the time that each ran, suspensions left out.
    pub job: Job,
    /// From its submission to its end, as it was.
    pub sojourn: Millis,
}

/// Jobs that are not known whole, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// They were there at the begin of the time that is told.
    pub before: u64,
    /// They were there at the end.
    pub after: u64,
    /// No container of theirs ended but their ApplicationMaster's, or Hiatus killed all others.
    pub without_tasks: u64,
    /// Their ApplicationMaster ran more than once, or outside the cluster.
    pub masters: u64,
    /// They had more kinds of tasks than the simulator's jobs may have.
    pub kinds: u64,
    /// They had more containers than there was memory for.
    pub size: u64,
    /// Their queue is gone or may not hold their containers, or the nodes are gone on which those fit.
    pub gone: u64,
}

impl LeftOut {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.before + self.after + self.came_and_ended()
    }

    /// Those of them that came and ended in the time that is told.
    pub fn came_and_ended(&self) -> u64 {
        self.without_tasks + self.masters + self.kinds + self.size + self.gone
    }
}

impl AddAssign for LeftOut {
    fn add_assign(&mut self, more: LeftOut) {
        self.before += more.before;
        self.after += more.after;
        self.without_tasks += more.without_tasks;
        self.masters += more.masters;
        self.kinds += more.kinds;
        self.size += more.size;
        self.gone += more.gone;
    }
}

/// The cluster and its jobs.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Properties of the core.
    pub properties: BTreeMap<String, String>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// All queues but the root. Their `master_share` is the most that ApplicationMasters were seen to hold at once, as a part of the
    /// default partition.
    pub queues: Vec<Queue>,
    /// The jobs that are whole, in the order of their submission.
    pub jobs: Vec<Arc<PastJob>>,
    /// The others.
    pub left_out: LeftOut,
    /// Between two heartbeats of a node, in the middle.
    pub heartbeat: Millis,
    /// From an ApplicationMaster's start to its first asks, in the middle.
    pub master_start: Millis,
}

impl Past {
    /// Whether the same would be simulated of the other: what was left out, and how fast nodes and ApplicationMasters are, aside.
    pub fn is_as(&self, other: &Past) -> bool {
        let Past { properties, nodes, queues, jobs, .. } = self;
        *properties == other.properties && *nodes == other.nodes && *queues == other.queues && *jobs == other.jobs
    }
}
