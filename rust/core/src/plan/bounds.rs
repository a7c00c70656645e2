//! Targets of jobs that share a bound: those that keep to one side of a mixed cluster, and those of one user in a queue. Nobody
//! is promised what it cannot get: others wait for it behind, and would be taken from for nothing.

use crate::entitlement::{max_min, EPSILON};
use crate::fact::{PerSide, Side};
use crate::policy::Target;
use crate::units::{AppId, UserId};
use crate::view::JobView;
use std::collections::BTreeMap;

/// What several jobs of a queue share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bound {
    /// The side of a mixed cluster that they keep to.
    Side(Side),
    /// What their user may hold of the queue.
    User(UserId),
}

/// A job, as far as that matters here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounded {
    /// The side that it keeps to, if it keeps to any.
    pub side: Option<Side>,
    /// Its user, if there is less for it than its jobs want.
    pub user: Option<UserId>,
    /// What it could use, as a fraction of the partition.
    pub demand: f64,
    /// What its ApplicationMaster holds: it may be on any side, and was taken off what is left for its user.
    pub masters: f64,
}

impl Bounded {
    /// The job, bound by nothing.
    pub fn of(job: &JobView) -> Bounded {
        Bounded { side: None, user: None, demand: job.demand, masters: job.masters }
    }

    fn bounds(&self) -> impl Iterator<Item = Bound> {
        self.side.map(Bound::Side).into_iter().chain(self.user.map(Bound::User))
    }

    /// The least that is left for it, no less than nothing.
    fn room(&self, left: &BTreeMap<Bound, f64>) -> f64 {
        let room = self.bounds().map(|bound| left.get(&bound).copied().unwrap_or(0.0));
        room.fold(f64::INFINITY, f64::min).max(0.0)
    }

    fn take(&self, share: f64, left: &mut BTreeMap<Bound, f64>) {
        for bound in self.bounds() {
            *left.entry(bound).or_default() -= share;
        }
    }
}

/// What each queue may promise of each side: max-min fair by what the queues are entitled to, none more than its jobs there want.
/// `has`: which fraction of the partition each side is.
pub(super) fn divide(has: &PerSide<f64>, queues: &[(f64, PerSide<f64>)]) -> Vec<PerSide<f64>> {
    let mut given = vec![PerSide::default(); queues.len()];
    for side in Side::BOTH.map(Some) {
        let claims: Vec<(f64, f64)> = queues.iter().map(|(entitled, wanted)| (*entitled, wanted[side])).collect();
        let shares = max_min(has[side], &claims);
        given.iter_mut().zip(shares).for_each(|(of_queue, share)| of_queue[side] = share);
    }
    given
}

/// The bounds in one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// All its jobs, if there are any bounds.
    pub jobs: BTreeMap<AppId, Bounded>,
    /// What may be promised within each bound.
    pub left: BTreeMap<Bound, f64>,
}

impl Bounds {
    /// Cuts the targets to what the bounds leave, in the order in which they stand, and gives what is cut to those who can use
    /// it, first come first.
    pub fn keep(self, targets: &mut [Target]) {
        let Bounds { jobs, mut left } = self;
        if left.is_empty() {
            return;
        }
        let mut cut = 0.0;
        // What each job was promised so far, by its policy and here.
        let mut promised: BTreeMap<AppId, (f64, f64)> = BTreeMap::new();
        for target in targets.iter_mut() {
            let Some(job) = jobs.get(&target.app) else { continue };
            let (before, kept) = promised.get(&target.app).copied().unwrap_or((job.masters, job.masters));
            let more = target.share - before;
            let possible = more.min(job.room(&left));
            job.take(possible, &mut left);
            cut += more - possible;
            promised.insert(target.app, (target.share, kept + possible));
            target.share = kept + possible;
        }
        let last: BTreeMap<AppId, usize> =
            targets.iter().enumerate().map(|(place, target)| (target.app, place)).collect();
        for (place, target) in targets.iter_mut().enumerate() {
            let is_last = last.get(&target.app) == Some(&place);
            let Some(job) = jobs.get(&target.app).filter(|_| cut > EPSILON && is_last) else { continue };
            let more = (job.demand - target.share).min(job.room(&left)).min(cut).max(0.0);
            target.share += more;
            cut -= more;
            job.take(more, &mut left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(app: u32, side: Option<Side>, demand: f64) -> (AppId, Bounded) {
        (AppId(app), Bounded { side, demand, ..Bounded::default() })
    }

    fn of_user(app: u32, demand: f64) -> (AppId, Bounded) {
        (AppId(app), Bounded { user: Some(UserId(1)), demand, ..Bounded::default() })
    }

    fn kept(targets: &[(u32, f64)], jobs: &[(AppId, Bounded)]) -> Vec<f64> {
        let mut targets: Vec<_> = targets
            .iter()
            .map(|(app, share)| Target { app: AppId(*app), share: *share, keeps: 0.0, ahead: 0.0 })
            .collect();
        let bounds = Side::BOTH.map(Bound::Side).into_iter().chain([Bound::User(UserId(1))]);
        let (jobs, left) = (jobs.iter().copied().collect(), bounds.map(|bound| (bound, 0.5)).collect());
        Bounds { jobs, left }.keep(&mut targets);
        targets.iter().map(|target| target.share).collect()
    }

    #[test]
    fn nobody_is_promised_more_than_its_side_has_and_the_next_on_the_other_side_gets_that() {
        let jobs = [
            job(1, Some(Side::Physical), 1.0),
            job(2, Some(Side::Physical), 1.0),
            job(3, Some(Side::Virtual), 0.3),
            job(4, None, 1.0),
        ];
        assert_eq!(kept(&[(1, 1.0), (2, 0.0), (3, 0.0), (4, 0.0)], &jobs), [0.5, 0.0, 0.3, 0.2]);
    }

    #[test]
    fn the_jobs_of_a_user_are_promised_no_more_than_it_may_hold_and_the_next_gets_that() {
        let jobs = [of_user(1, 0.25), of_user(2, 0.75), job(3, None, 1.0)];
        assert_eq!(kept(&[(1, 0.25), (2, 0.75), (3, 0.0)], &jobs), [0.25, 0.25, 0.5]);
    }

    #[test]
    fn a_job_with_a_side_and_a_user_is_promised_what_both_leave() {
        let both = (AppId(2), Bounded { side: Some(Side::Physical), ..of_user(2, 1.0).1 });
        let jobs = [job(1, Some(Side::Physical), 0.4), both, of_user(3, 1.0)];
        let kept = kept(&[(1, 0.4), (2, 0.6), (3, 0.0)], &jobs);
        assert!([0.4, 0.1, 0.4].iter().zip(&kept).all(|(a, b)| (a - b).abs() < 1e-9), "{kept:?}");
    }

    #[test]
    fn a_jobs_targets_do_not_fall_from_place_to_place() {
        let jobs = [job(1, Some(Side::Physical), 1.0), job(2, None, 0.1)];
        assert_eq!(kept(&[(1, 0.2), (2, 0.1), (1, 0.9)], &jobs), [0.2, 0.1, 0.5]);
    }

    #[test]
    fn queues_divide_a_side_by_what_they_are_entitled_to() {
        let wants = |physical, virtual_| {
            let mut wanted = PerSide::default();
            (wanted[Some(Side::Physical)], wanted[Some(Side::Virtual)]) = (physical, virtual_);
            wanted
        };
        let shares = divide(&PerSide::both(0.5), &[(0.75, wants(1.0, 0.0)), (0.25, wants(1.0, 0.4))]);
        let of = |queue: usize, side| shares[queue][Some(side)];
        assert!((of(0, Side::Physical) - 0.375).abs() < 1e-9 && (of(1, Side::Physical) - 0.125).abs() < 1e-9);
        assert!((of(1, Side::Virtual) - 0.4).abs() < 1e-9);
    }
}
