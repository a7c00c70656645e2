//! Whose turn it is, by estimates that may be wrong: who was first stays first until another leads by more than the errors.

use super::{by_arrival, JobView};
use crate::estimate::left::Left;
use crate::units::AppId;
use std::collections::BTreeMap;

/// Work, in seconds of the partition, that is nothing: far above what rounding adds in days, far below one task on the largest cluster.
/// Jobs that share evenly keep having as much left: compared to the last digit they would take their containers in turns.
const NOTHING_S: f64 = 1e-6;

/// The order as it was last.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    places: BTreeMap<AppId, usize>,
}

impl Turns {
    /// Least left first. Each job, in the order as it was, newcomers last and those as they arrived, passes whom it leads by more than
    /// both may be wrong, up to the first whom it does not lead. That is one order, whatever the errors, and nobody changes places
    /// twice because of the same difference.
    pub fn in_order<'a>(&mut self, mut jobs: Vec<(&'a JobView, Left)>) -> Vec<&'a JobView> {
        let place = |job: &JobView| self.places.get(&job.app).copied().unwrap_or(usize::MAX);
        jobs.sort_by(|(a, _), (b, _)| place(a).cmp(&place(b)).then_with(|| by_arrival(a, b)));
        for at in 1..jobs.len() {
            let passed = jobs[..at].iter().rev().take_while(|other| passes(&jobs[at], other)).count();
            jobs[at - passed..=at].rotate_right(1);
        }
        self.places = jobs.iter().enumerate().map(|(place, (job, _))| (job.app, place)).collect();
        jobs.into_iter().map(|(job, _)| job).collect()
    }
}

/// Whether the one leads the other by more than both may be wrong, or is more important and not led so.
fn passes(one: &(&JobView, Left), other: &(&JobView, Left)) -> bool {
    let leads = |a: &Left, b: &Left| a.work_s + a.error_s + b.error_s + NOTHING_S < b.work_s;
    leads(&one.1, &other.1) || (one.0.priority > other.0.priority && !leads(&other.1, &one.1))
}
