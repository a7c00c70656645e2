//! FLEX by the sections of its specification: malleable packing (1.8), resource allocation (1.9), quality against
//! brute force (1.10, claim C1), bounds (1.11), the laws C8, C13, C14, and the policy at work (1.4, 1.5).

#[path = "../pool/mod.rs"]
#[allow(dead_code, clippy::unwrap_used)] // Shared with the tests of HFSP; what tests share is no test to clippy.
mod pool;

mod common;
mod laws;
mod live;
mod packing;
mod quality;
mod resource_allocation;
