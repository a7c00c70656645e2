//! FLEX by the sections of its specification: malleable packing (1.8), resource allocation (1.9), quality against
//! brute force (1.10, claim C1), bounds (1.11) and the laws C8, C13, C14.

mod common;
mod laws;
mod packing;
mod quality;
mod resource_allocation;
