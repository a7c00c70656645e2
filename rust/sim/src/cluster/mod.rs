//! The simulated YARN cluster ([`hiatus_world`]), and what the studies do with it.
//!
//! - [`testbed`]: a whole set-up by a few numbers;
//! - [`fuzz`]: random clusters under random work and faults.

pub mod fuzz;
pub mod testbed;

pub use hiatus_world::*;
pub use testbed::isolation;
