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

use crate::studies::study::Study;

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
