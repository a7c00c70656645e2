//! Predoop (Liang, slides of 2014): its experiments, sections 2.1 to 2.5 of the specification, on the simulated cluster with Hiatus' core.
//! Their figures are lost; what is checked is their directions and the one table that is left.

mod bins;
mod grid;
mod idle;
mod nodes;
mod programs;
mod testbed;

use super::Study;

/// The studies of these slides.
pub(super) const STUDIES: &[&Study] =
    &[&idle::IDLE, &idle::CAUSES, &programs::PROGRAMS, &bins::BINS, &grid::GRID, &nodes::NODES];

/// How far the model goes, for reports.
const METHOD: &str = "Simulated: nodes of 3 GB, tasks of 1 GB if nothing else is said, maps of 64 MB; a task reads, fetches and writes 10 MB \
    a second, WordCount's maps read 3.5; times of a job's maps are log-normal with σ 0.28; a second until a node reports and until a task \
    works; reduces are asked for from 5 % of the maps on and get half of what their job holds (MapReduce's defaults); policy `fifo`, nothing is \
    preempted; knobs of lending as they are shipped; ApplicationMasters have a node of their own. Both schedulers get the same draws.";
