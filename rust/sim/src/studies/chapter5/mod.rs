//! Chapter 5 of the thesis: HFSP against Fair on a cluster of 20 nodes. The thesis measured it on real machines; here the
//! core that runs in the ResourceManager schedules a simulated cluster. The thesis gives no task-time model, so that
//! signs, orders and ratios are compared, never seconds (GAP-30, GAP-47).

mod causes;
mod claims;
mod estimation;
mod experiment;
mod kill;
mod response;
mod tasks;

use super::{Setting, Study, StudyError};
use crate::cluster::SimulationError;

/// The studies of this chapter.
pub(super) const STUDIES: &[&Study] = &[
    &response::FIG_5_1,
    &response::FIG_5_2,
    &response::FIG_5_3,
    &response::FIG_5_4,
    &response::FIG_5_5,
    &response::FIG_5_6,
    &tasks::FIG_5_7,
    &estimation::FIG_5_9,
    &kill::FIG_5_11,
    &response::CHECKS,
    &causes::CAUSES,
];

/// How it was made, said with every figure.
const METHOD: &str =
    "Simulated: 20 nodes of 2 map slots and 1 reduce slot, heartbeats of 3 s, slowstart 0.8, 100 jobs a \
    draw, the same jobs and times under every scheduler. Task counts from Table 5.1; reduce counts and \
    task times from the project's model. No locality. Knobs as shipped but for training-slots = 10 (T of each pool of \
    slots), max-suspended-memory = 4 (slots are not a machine's memory), and max-suspension-ms and resume-locality-ms = a \
    day (the thesis has no such ends); `causes-5` has a row with these three as shipped.";

impl From<SimulationError> for StudyError {
    fn from(error: SimulationError) -> StudyError {
        StudyError::Cluster(error)
    }
}
