//! The simulated cluster that the scenarios play in. It lives in the simulator, with the observers of the laws; here it
//! only gets the name under which the tests know it.

#![allow(unused_imports)] // Each of its users, tests and benchmarks, needs a part of it.

pub use hiatus_sim::cluster::fuzz::survive;
pub use hiatus_sim::cluster::{Activity, App, Faults, Life, Message, Node, NodeManager, Queue, Timing, World};
pub use hiatus_sim::workload::cluster::{gb, secs, Job, Shuffle, Stage, Times};
