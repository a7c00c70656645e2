//! GP, Global Preemption (Cheng, Zhang, Boutaba: *Mitigating the Negative Impact of Preemption on Heterogeneous MapReduce
//! Workloads*): its cluster experiments, section VI, on the simulated cluster with Hiatus' core.

mod claims;
mod experiment;
mod groups;
mod metrics;
mod variants;
mod workload;

use super::Study;

/// The studies of this paper.
pub(super) const STUDIES: &[&Study] = &[&groups::BUSY, &groups::IDLE, &variants::VARIANTS, &variants::CAUSES];

/// How far the model goes, for reports.
const METHOD: &str = "Simulated: 100 nodes of 4 map slots, heartbeats of 3 s, a second from a task's start to its work, Table III with \
    task times ± 20 %, the same jobs in the same order under all schedulers; 25 more jobs follow and do not count. Policy `fair` in two \
    queues of 80 % and 20 %; all preemption is for the 80 %. HFS kills the same part of every non-production job, rounded up, or \
    down to each job's share; the interval of the rule is 20 s, tasks above 500 s are long, nothing is spared for having just begun, all \
    other knobs are defaults.";
