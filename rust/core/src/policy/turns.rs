//! Whose turn it is, by estimates that may be wrong: who was first stays first until another leads by more than the errors.

use super::{by_arrival, JobView};
use crate::state::ByHandle;
use crate::units::AppId;

/// Work, in seconds of the partition, that is nothing: far above what rounding adds in days, far below one task on the largest cluster.
/// Jobs that share evenly keep having as much left: compared to the last digit they would take their containers in turns.
const NOTHING_S: f64 = 1e-6;

/// The order as it was last.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    places: ByHandle<AppId, usize>,
}

impl Turns {
    /// Least left first. Each job, in the order as it was, newcomers last and those as they arrived, passes whom it leads by more than
    /// both may be wrong, a newcomer also those who are no better and arrived after it, up to the first whom it does not pass. That is
    /// one order, whatever the errors, and nobody changes places twice because of the same difference.
    ///
    /// The jobs come with the work that they have left; by how much that may be wrong few ask.
    pub fn in_order<'a>(
        &mut self,
        jobs: Vec<(&'a JobView, f64)>,
        error_s: impl Fn(&JobView) -> f64,
    ) -> Vec<&'a JobView> {
        let place = |job: &JobView| self.places.get(&job.app).copied().unwrap_or(usize::MAX);
        let mut jobs: Vec<(usize, &JobView, f64)> =
            jobs.into_iter().map(|(job, work_s)| (place(job), job, work_s)).collect();
        jobs.sort_unstable_by(|(a, of_a, _), (b, of_b, _)| a.cmp(b).then_with(|| by_arrival(of_a, of_b)));
        // Whether the one has less left than the other by more than the standard error of that difference.
        let leads = |(_, one, work_s): &(usize, &JobView, f64), (_, other, of_other): &(usize, &JobView, f64)| {
            let less = work_s + NOTHING_S < *of_other;
            less && work_s + error_s(one).hypot(error_s(other)) + NOTHING_S < *of_other
        };
        for at in 1..jobs.len() {
            let one = &jobs[at];
            let earlier = |other: &JobView| one.0 == usize::MAX && by_arrival(one.1, other).is_lt();
            let passes = |other: &(usize, &JobView, f64)| leads(one, other) || earlier(other.1) && !leads(other, one);
            let passed = jobs[..at].iter().rev().take_while(|other| passes(other)).count();
            jobs[at - passed..=at].rotate_right(1);
        }
        self.places.clear();
        self.places.extend(jobs.iter().enumerate().map(|(place, (_, job, _))| (job.app, place)));
        jobs.into_iter().map(|(_, job, _)| job).collect()
    }
}
