//! Chapter 3 of the thesis: size-based policies under estimation errors, on a single server.
//!
//! Claims S-01…S-28 are checked where their figure is; those without a figure in `checks-3` and `speed-3`.

mod common;
mod examples;
mod generator;
mod laws;
mod load;
mod pareto;
mod ps;
mod shape;
mod skew;
mod slowdown;
mod speed;
mod traces;

use crate::studies::study::Study;

/// The studies of this chapter.
pub(super) const STUDIES: &[&Study] = &[
    &examples::FIG_3_1,
    &generator::TABLE_3_1,
    &ps::FIG_3_2,
    &shape::FIG_3_3,
    &skew::FIG_3_4,
    &pareto::FIG_3_5,
    &load::FIG_3_6,
    &slowdown::FIG_3_7,
    &slowdown::FIG_3_8,
    &traces::FIG_3_9,
    &traces::FIG_3_10,
    &traces::FIG_3_11,
    &laws::CHECKS,
    &speed::SPEED,
];
