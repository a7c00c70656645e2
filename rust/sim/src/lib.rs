//! Simulators, workloads and studies around the Hiatus core.
//!
//! - [`workload`]: jobs, drawn at random or read from traces;
//! - [`cluster`]: a simulated YARN cluster around the real core;
//! - [`single`]: one divisible server under the policies of the thesis, chapters 2 and 3;
//! - [`recorded`]: what a ResourceManager wrote down, replayed;
//! - [`reproduce`]: the published figures with their claims, written through [`report`];
//! - [`cli`]: the `hiatus` command.

pub mod cli;
pub mod cluster;
pub mod recorded;
pub mod report;
pub mod reproduce;
pub mod single;
pub mod workload;
