//! Predoop (Liang, slides of 2014): its experiments, sections 2.1 to 2.5 of the specification, on the simulated cluster with Hiatus' core.
//! Their figures are lost; what is checked is their directions and the one table that is left.

mod bins;
mod grid;
mod idle;
mod nodes;
mod programs;
mod testbed;

use crate::studies::study::Study;

/// The studies of these slides.
pub(super) const STUDIES: &[&Study] =
    &[&idle::IDLE, &idle::CAUSES, &programs::PROGRAMS, &bins::BINS, &grid::GRID, &nodes::NODES];
