//! Simulators, workloads and studies around the Hiatus core.
//!
//! - [`workload`]: jobs, drawn at random or read from traces;
//! - [`cluster`]: a simulated YARN cluster around the real core;
//! - [`recorded`]: what a ResourceManager wrote down, replayed;
//! - [`report`]: tables, plots and claims;
//! - [`studies`]: the published figures with their claims, and the simulator of a single server that some of them need;
//! - [`cli`]: the `hiatus` command.

pub mod cli;
pub mod cluster;
pub mod recorded;
pub mod report;
pub mod studies;
pub mod workload;
