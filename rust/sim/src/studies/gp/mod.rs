//! GP, Global Preemption (Cheng, Zhang, Boutaba: *Mitigating the Negative Impact of Preemption on Heterogeneous MapReduce
//! Workloads*): its cluster experiments, section VI, on the simulated cluster with Hiatus' core.

mod claims;
mod experiment;
mod groups;
mod metrics;
mod variants;
mod workload;

use crate::studies::study::Study;

/// The studies of this paper.
pub(super) const STUDIES: &[&Study] = &[&groups::BUSY, &groups::IDLE, &variants::VARIANTS, &variants::CAUSES];
