//! What the studies on the simulated cluster share: jobs of maps and reduces, draws of them, and Hiatus with its knobs.

use hiatus_core::settings::CLUSTER_PREFIX;
use rand::Rng;

use crate::cluster::testbed::Testbed;
use crate::cluster::Outcome;
use crate::studies::ensemble;
use crate::studies::study::{Setting, StudyError};
use crate::workload::cluster::{gb, millis, Job, Stage, Times};

/// Task times are within this part of their mean.
const SPREAD: f64 = 0.25;

/// So many tasks of 1 GiB, one at least, of that mean run time in seconds.
pub(super) fn stage(tasks: f64, mean_s: f64, slowstart: f64, rng: &mut impl Rng) -> Stage {
    let time = |_| millis(mean_s * rng.random_range(1.0 - SPREAD..1.0 + SPREAD));
    let times = Times::Each((0..tasks.ceil().max(1.0) as usize).map(time).collect());
    Stage { times, size: gb(1), partition: None, slowstart }
}

/// What becomes of the jobs with these knobs turned.
pub(super) fn outcome(
    mut testbed: Testbed,
    knobs: &[(&str, String)],
    jobs: &[Job],
    seed: u64,
) -> Result<Outcome, StudyError> {
    let property = |(knob, value): &(&str, String)| (format!("{CLUSTER_PREFIX}{knob}"), value.clone());
    testbed.properties.extend(knobs.iter().map(property));
    Ok(testbed.world(jobs, seed)?.finish()?.outcome())
}

/// Measures draws 0, 1, …: `full` of them, or two for a first look.
pub(super) fn draws<T: Send>(
    setting: &Setting,
    label: &str,
    full: usize,
    measure: impl Fn(u64) -> Result<T, StudyError> + Send + Sync,
) -> Result<Vec<T>, StudyError> {
    let draws = if setting.quick { 2 } else { full };
    ensemble::runs(label, draws, measure).into_iter().collect()
}
