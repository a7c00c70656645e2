//! FLEX (Wolf et al., Middleware 2010). The simulations of its §4.1: one phase of jobs that are all there from the start,
//! against FIFO, FAIR and the best of all orderings. And its cluster runs, §4.2, where the policy `flex` of the core
//! schedules maps and reduces in the cluster simulator.

mod bench;
mod cluster;
mod gain;
mod larger;
mod measure;
mod optimum;
mod schemes;
mod side_by_side;
mod workload;

use crate::studies::study::Study;

/// The studies of this paper.
pub(super) const STUDIES: &[&Study] = &[
    &optimum::BASE_CASE,
    &optimum::FIG_5A,
    &optimum::FIG_5B,
    &optimum::FIG_5C,
    &larger::LARGER,
    &gain::FIG_6A,
    &gain::FIG_6B,
    &gain::FIG_6C,
    &gain::SIZES,
    &gain::MORE_JOBS,
    &side_by_side::SIDE_BY_SIDE,
    &bench::BENCH,
];
