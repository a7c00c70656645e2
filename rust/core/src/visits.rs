//! What a step looked at: what it costs, in numbers that are the same on every machine.

use std::ops::AddAssign;

/// How many things a step looked at, each time counted that it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Nodes on which it looked for somebody to place.
    pub nodes: u64,
    /// Jobs: seen anew by a policy, put in line again, or looked at for a node's room.
    pub jobs: u64,
    /// Containers that it looked at to take them.
    pub containers: u64,
}

impl AddAssign for Visits {
    fn add_assign(&mut self, other: Visits) {
        self.nodes += other.nodes;
        self.jobs += other.jobs;
        self.containers += other.containers;
    }
}
