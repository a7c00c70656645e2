//! Small jobs and big ones: what becomes of either under a scheduler.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cluster::testbed::{Room, Testbed};
use crate::cluster::{Outcome, Preemption, SimulationError};
use crate::studies::ensemble;
use crate::workload::cluster::{millis, Times};
use hiatus_core::units::{Millis, Resource};

/// Bin of small jobs.
pub const SMALL: u32 = 1;
/// Bin of big ones.
pub const BIG: u32 = 2;

/// From an ApplicationMaster's start to its first asks.
pub const MASTER_START: Millis = Millis(3_000);
/// Until a node reports, and takes what it is given.
pub const HEARTBEAT: Millis = Millis(1_000);
/// From a task's start to its work.
pub const TASK_START: Millis = Millis(1_000);

/// Tasks that take `mean_s` seconds in the mean, each within `spread` of it, as a part of it.
pub fn tasks(count: u32, mean_s: f64, spread: f64, rng: &mut Xoshiro256PlusPlus) -> Times {
    let mut factor = || if spread > 0.0 { rng.random_range(1.0 - spread..1.0 + spread) } else { 1.0 };
    Times::Each((0..count).map(|_| millis(mean_s * factor())).collect())
}

/// How jobs are scheduled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheduler {
    /// The policy of all queues.
    pub policy: &'static str,
    /// How resources are taken back.
    pub preemption: Preemption,
    /// Whether each job tells its size.
    pub told: bool,
}

impl Scheduler {
    /// The policy with Hiatus' settings as they are shipped.
    pub const fn of(policy: &'static str, preemption: Preemption) -> Scheduler {
        Scheduler { policy, preemption, told: false }
    }

    /// The same policy, but it waits for what it may not take.
    pub const fn waiting(self) -> Scheduler {
        Scheduler { preemption: Preemption::Wait, ..self }
    }

    /// So many nodes of that size under it, with the settings as they are shipped: not the thesis' guards.
    pub fn testbed(self, nodes: usize, node: Resource) -> Testbed {
        Testbed {
            nodes,
            room: Room::Pool(node),
            heartbeat: HEARTBEAT,
            master_start: MASTER_START,
            task_start: TASK_START,
            properties: Vec::new(),
            ..Testbed::thesis(self.policy, self.preemption)
        }
    }

    /// As it is called in tables.
    pub fn name(self) -> String {
        format!("{}/{}{}", self.policy, self.preemption.name(), if self.told { ", told" } else { "" })
    }
}

/// What a scheduler made of one workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Mean sojourn of all jobs, in seconds.
    pub mean_s: f64,
    /// That of the small ones, in seconds.
    pub small_s: f64,
    /// That of the big ones, in seconds.
    pub big_s: f64,
    /// When the last job ended, in seconds.
    pub makespan_s: f64,
    /// Containers that were killed.
    pub killed: f64,
    /// How often one was suspended.
    pub suspensions: f64,
    /// MiB of suspended containers × seconds.
    pub suspended_mb_s: f64,
}

/// Makes runs 0, 1, … in parallel; the result is in their order, or the first that cannot be made.
pub fn runs(
    label: &str,
    count: usize,
    run: impl Fn(u64) -> Result<Run, SimulationError> + Send + Sync,
) -> Result<Vec<Run>, SimulationError> {
    ensemble::runs(label, count, run).into_iter().collect()
}

impl Run {
    /// What is read off an outcome.
    pub fn of(outcome: &Outcome) -> Run {
        Run {
            mean_s: outcome.mean_sojourn_s(|_| true),
            small_s: outcome.mean_sojourn_s(|job| job.bin == SMALL),
            big_s: outcome.mean_sojourn_s(|job| job.bin == BIG),
            makespan_s: outcome.makespan.seconds(),
            killed: (outcome.count.preempted + outcome.count.expired) as f64,
            suspensions: outcome.count.suspended as f64,
            suspended_mb_s: outcome.suspended_mb_s(),
        }
    }
}
