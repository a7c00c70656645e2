//! HFSP: golden vectors of the thesis, its properties, and the policy in a simulated cluster with the laws watching.

#![allow(clippy::unwrap_used)] // What tests share is no test to clippy.

#[path = "../pool/mod.rs"]
mod pool;
#[path = "../world/mod.rs"]
#[allow(dead_code)]
mod world;

mod cluster;
mod examples;
mod hints;
mod one_pool;
mod one_queue;
mod policy;
mod properties;
mod stages;
mod told;
mod virtual_cluster;
