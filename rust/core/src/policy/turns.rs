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
    /// both may be wrong, a newcomer also those who are no better and arrived after it, up to the first whom it does not pass. That is
    /// one order, whatever the errors, and nobody changes places twice because of the same difference.
    pub fn in_order<'a>(&mut self, mut jobs: Vec<(&'a JobView, Left)>) -> Vec<&'a JobView> {
        let place = |job: &JobView| self.places.get(&job.app).copied().unwrap_or(usize::MAX);
        jobs.sort_by(|(a, _), (b, _)| place(a).cmp(&place(b)).then_with(|| by_arrival(a, b)));
        for at in 1..jobs.len() {
            let one = &jobs[at];
            let new = place(one.0) == usize::MAX;
            let earlier = |other: &JobView| new && by_arrival(one.0, other).is_lt();
            let passes =
                |other: &(&JobView, Left)| leads(&one.1, &other.1) || earlier(other.0) && !leads(&other.1, &one.1);
            let passed = jobs[..at].iter().rev().take_while(|other| passes(other)).count();
            jobs[at - passed..=at].rotate_right(1);
        }
        self.places = jobs.iter().enumerate().map(|(place, (job, _))| (job.app, place)).collect();
        jobs.into_iter().map(|(job, _)| job).collect()
    }
}

/// Whether the one has less left than the other by more than the standard error of that difference.
fn leads(one: &Left, other: &Left) -> bool {
    one.work_s + one.error_s.hypot(other.error_s) + NOTHING_S < other.work_s
}
