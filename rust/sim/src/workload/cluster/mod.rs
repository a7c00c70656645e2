//! Workloads for a cluster: drawn at random, published, or read from files.

mod arrivals;
mod bins;
mod json;
mod published;
mod swim;

pub use arrivals::Arrivals;
pub use bins::{Bins, Mix, TaskTimes};
pub use hiatus_world::job::*;
pub use json::{read, write};
pub use swim::{cluster_jobs as swim_jobs, SwimModel};
