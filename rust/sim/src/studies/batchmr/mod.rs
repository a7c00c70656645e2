//! BatchMR (Luo, Wu, Wu, Zhang): its experiments, sections 2.1 to 2.4 of the specification, on the simulated cluster with Hiatus' core.

mod motivation;
mod placement;
mod speculation;
mod sweeps;
mod testbed;
mod training;

use super::Study;

/// The studies of this paper.
pub(super) const STUDIES: &[&Study] = &[
    &motivation::MOTIVATION,
    &sweeps::SWEEPS,
    &sweeps::LITERAL,
    &sweeps::CAUSES,
    &placement::PLACEMENT,
    &speculation::SPECULATION,
];

/// How far the model goes, for reports.
const METHOD: &str = "Simulated: physical machines of 2 places, each worth 4 virtual machines of 2 places; a virtual place computes 1.33 \
    times and reads and writes 10 times as long, which was set so that the ratios of section 2.1 come out: B1 and B2 test that \
    choice, not the world. Maps of 64 MB, task times ± 20 %, half a second until a node reports, a second until a task works, 30 s of \
    a job's own; policy `fifo`, nothing is preempted; ApplicationMasters have a node of their own.";
