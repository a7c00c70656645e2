//! Whose turn it is, by estimates that may be wrong: who was first stays first until another leads by more than the errors.

use super::{by_arrival, JobView};
use crate::state::ByHandle;
use crate::units::AppId;
use std::cell::OnceCell;

/// Work, in seconds of the partition, that is nothing: far above what rounding adds in days, far below one task on the largest cluster.
/// Jobs that share evenly keep having as much left: compared to the last digit they would take their containers in turns.
const NOTHING_S: f64 = 1e-6;

/// A job that waits for its turn.
struct Waiting<'a, T> {
    /// Its place in the order as it was; behind all others for newcomers.
    place: usize,
    job: &'a JobView,
    /// What it has left.
    work_s: f64,
    /// By how much that may be wrong, once somebody asked.
    error_s: OnceCell<f64>,
    /// As its policy knows it.
    known: T,
}

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
    /// The jobs come as their policy knows them, with the work that they have left; by how much that may be wrong few ask.
    pub fn in_order<'a, T>(
        &mut self,
        jobs: impl Iterator<Item = (T, &'a JobView, f64)>,
        error_s: impl Fn(&T) -> f64,
    ) -> Vec<T> {
        let waiting = jobs.map(|(known, job, work_s)| {
            let place = self.places.get(&job.app).copied().unwrap_or(usize::MAX);
            Waiting { place, job, work_s, error_s: OnceCell::new(), known }
        });
        let mut jobs: Vec<Waiting<T>> = waiting.collect();
        jobs.sort_unstable_by(|a, b| a.place.cmp(&b.place).then_with(|| by_arrival(a.job, b.job)));
        let error_s = |of: &Waiting<T>| *of.error_s.get_or_init(|| error_s(&of.known));
        // Whether the one has less left than the other by more than the standard error of that difference.
        let leads = |one: &Waiting<T>, other: &Waiting<T>| {
            let less = one.work_s + NOTHING_S < other.work_s;
            less && one.work_s + error_s(one).hypot(error_s(other)) + NOTHING_S < other.work_s
        };
        for at in 1..jobs.len() {
            let one = &jobs[at];
            let earlier = |other: &JobView| one.place == usize::MAX && by_arrival(one.job, other).is_lt();
            let passes = |other: &Waiting<T>| leads(one, other) || earlier(other.job) && !leads(other, one);
            let passed = jobs[..at].iter().rev().take_while(|other| passes(other)).count();
            jobs[at - passed..=at].rotate_right(1);
        }
        self.places.clear();
        self.places.extend(jobs.iter().enumerate().map(|(place, of)| (of.job.app, place)));
        jobs.into_iter().map(|of| of.known).collect()
    }
}
