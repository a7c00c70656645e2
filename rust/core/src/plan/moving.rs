//! A queue with a job never stands still for ever, however little it is guaranteed and into how many parts its policy divides that: its
//! first job holds its ApplicationMaster and one container at least. The first is who came first of those of the highest priority that run
//! a task, so that it is the same as long as that runs; or of all of that priority.

use super::queue_ordering::QueueOrdering;
use crate::entitlement::EPSILON;
use crate::policy::{by_arrival, Target};
use crate::view::JobView;
use std::cmp::Reverse;

/// What a queue with those jobs needs to get on, as a fraction of the partition: nobody takes ApplicationMasters (law 3).
pub(super) fn least(ordering: &QueueOrdering) -> f64 {
    let masters: f64 = ordering.jobs().map(|job| job.masters).sum();
    first(ordering).map_or(0.0, |job| masters + job.gets_on_with())
}

/// Raises the first job's target where no job may hold a task.
pub(super) fn keep(targets: &mut [Target], ordering: &QueueOrdering) {
    let moves = |target: &Target| {
        ordering.job(target.app).is_some_and(|job| {
            let mut kinds = job.phases.iter().filter(|phase| phase.left() > 0).map(|phase| phase.one);
            kinds.any(|one| job.masters + one <= target.share + EPSILON)
        })
    };
    if targets.iter().any(moves) {
        return;
    }
    let Some(first) = first(ordering) else { return };
    let needs = first.masters + first.gets_on_with();
    let own = targets.iter_mut().filter(|target| target.app == first.app);
    own.for_each(|target| target.share = target.share.max(needs));
}

fn first(ordering: &QueueOrdering) -> Option<&JobView> {
    let runs = |job: &JobView| job.held > job.masters + EPSILON;
    let key = |job: &JobView| (Reverse(job.priority), Reverse(runs(job)));
    let is_before = |a: &JobView, b: &JobView| key(a).cmp(&key(b)).then_with(|| by_arrival(a, b)).is_lt();
    // Few come before the first so far, and of those only is asked what they want.
    ordering.jobs().fold(None, |first, job| {
        let leads = first.is_none_or(|first| is_before(job, first)) && job.gets_on_with() > EPSILON;
        if leads {
            Some(job)
        } else {
            first
        }
    })
}
