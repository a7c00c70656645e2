//! BatchMR (Luo, Wu, Wu, Zhang): its experiments, sections 2.1 to 2.4 of the specification, on the simulated cluster with Hiatus' core.

mod motivation;
mod placement;
mod speculation;
mod sweeps;
mod testbed;
mod training;

use crate::studies::study::Study;

/// The studies of this paper.
pub(super) const STUDIES: &[&Study] = &[
    &motivation::MOTIVATION,
    &sweeps::SWEEPS,
    &sweeps::LITERAL,
    &sweeps::CAUSES,
    &placement::PLACEMENT,
    &speculation::SPECULATION,
];
