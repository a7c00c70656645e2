//! Targets of jobs that keep to one side of a mixed cluster: nobody is promised more than its side has.

use crate::entitlement::{max_min, EPSILON};
use crate::fact::{PerSide, Side};
use crate::policy::Target;
use crate::units::AppId;
use std::collections::BTreeMap;

/// A job with a side, as far as that matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The side that it keeps to, if it keeps to any.
    pub side: Option<Side>,
    /// What it could use, as a fraction of the partition.
    pub demand: f64,
    /// What its ApplicationMaster holds, which may be anywhere.
    pub pinned: f64,
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

/// Cuts the targets to what is `left` of the sides, in the order in which they stand, and gives what is cut to those who can
/// use it, first come first.
pub(super) fn keep(targets: &mut [Target], jobs: &BTreeMap<AppId, Wanted>, mut left: PerSide<f64>) {
    let mut cut = 0.0;
    // What each job was promised so far, by its policy and here.
    let mut promised: BTreeMap<AppId, (f64, f64)> = BTreeMap::new();
    for target in targets.iter_mut() {
        let Some(job) = jobs.get(&target.app) else { continue };
        let (before, kept) = promised.get(&target.app).copied().unwrap_or((job.pinned, job.pinned));
        let more = target.share - before;
        let possible = job.side.map_or(more, |side| more.min(left[Some(side)]).max(0.0));
        if let Some(side) = job.side {
            left[Some(side)] -= possible;
        }
        cut += more - possible;
        promised.insert(target.app, (target.share, kept + possible));
        target.share = kept + possible;
    }
    let last: BTreeMap<AppId, usize> = targets.iter().enumerate().map(|(place, target)| (target.app, place)).collect();
    for (place, target) in targets.iter_mut().enumerate() {
        let is_last = last.get(&target.app) == Some(&place);
        let Some(job) = jobs.get(&target.app).filter(|_| cut > EPSILON && is_last) else { continue };
        let room = job.side.map_or(f64::INFINITY, |side| left[Some(side)]);
        let more = (job.demand - target.share).min(room).min(cut).max(0.0);
        target.share += more;
        cut -= more;
        if let Some(side) = job.side {
            left[Some(side)] -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(app: u32, side: Option<Side>, demand: f64) -> (AppId, Wanted) {
        (AppId(app), Wanted { side, demand, pinned: 0.0 })
    }

    fn kept(targets: &[(u32, f64)], jobs: &[(AppId, Wanted)]) -> Vec<f64> {
        let mut targets: Vec<_> =
            targets.iter().map(|(app, share)| Target { app: AppId(*app), share: *share }).collect();
        keep(&mut targets, &jobs.iter().copied().collect(), PerSide::both(0.5));
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
