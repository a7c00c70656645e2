//! The core in a simulated cluster: scenarios that read like specifications, and random worlds in which everything goes
//! wrong. Observers check the laws of docs/design/laws.md after every step of each.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

#[path = "../world/mod.rs"]
mod world;

mod admission;
mod ageing;
mod claims;
mod cost;
mod direct;
mod facts;
mod gp;
mod guarantee;
mod history;
mod leaving;
mod lending;
mod limits;
mod masters;
mod node_manager;
mod parking;
mod partitions;
mod preemption;
mod priorities;
mod queues;
mod random;
mod recovery;
mod remainders;
mod sides;
mod small_and_big;
mod spared;
mod spreading;
mod standing;
mod suspension;
mod threshold;
mod turns;
mod unused;
mod users;

use world::{gb, secs, Stage, Times};

/// Tasks of 1 GiB that take so many seconds each, and are asked for when that part of the stage before is done.
fn stage(times_s: &[u64], slowstart: f64) -> Stage {
    let times = Times::Each(times_s.iter().copied().map(secs).collect());
    Stage { times, size: gb(1), partition: None, slowstart }
}
