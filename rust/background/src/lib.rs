//! Runs of the core beside the core. Each has a thread of its own, for which nobody waits ([`worker`]); the core knows nothing of them.
//!
//! - [`forecast`]: when jobs will probably end, by copies of the core that run ahead;
//! - [`hindsight`]: what other settings would have done to the jobs that ended, by a simulated cluster.

pub mod forecast;
pub mod hindsight;
pub mod worker;
