//! How much sooner jobs would have ended, with how far that may be chance.
//!
//! Jobs that come one after the other wait for the same things, so they are no independent draws. The interval is of a bootstrap over
//! blocks of jobs that follow each other (Künsch 1989; length by the cube root, Hall, Horowitz and Jing 1995): both settings are looked
//! at with the same jobs each time.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::report::quantile;

const DRAWS: usize = 1_000;
/// 95 % of the draws are between these parts.
const ENDS: (f64, f64) = (0.025, 0.975);

/// Which part of the time it saves; below 0 it costs time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// As measured.
    pub mean: f64,
    /// The low end of its 95 % interval.
    pub low: f64,
    /// The high one.
    pub high: f64,
}

impl Gain {
    /// Of `after` over `before`, the times of the same jobs in the order in which they came. Of no jobs it is NaN.
    pub fn of(before: &[f64], after: &[f64], seed: u64) -> Gain {
        let jobs = before.len().min(after.len());
        let mean = 1.0 - after.iter().sum::<f64>() / before.iter().sum::<f64>();
        if jobs == 0 {
            return Gain { mean, low: mean, high: mean };
        }
        let length = (jobs as f64).cbrt() as usize;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draw = || {
            let (mut was, mut is) = (0.0, 0.0);
            for _ in 0..jobs.div_ceil(length) {
                let first = rng.random_range(0..jobs);
                for job in (first..first + length).map(|job| job % jobs) {
                    was += before[job];
                    is += after[job];
                }
            }
            1.0 - is / was
        };
        let mut draws: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
        draws.sort_unstable_by(f64::total_cmp);
        Gain { mean, low: quantile(&draws, ENDS.0), high: quantile(&draws, ENDS.1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gains_the_same_for_all_has_no_interval() {
        let before: Vec<f64> = (1..100).map(f64::from).collect();
        let after: Vec<f64> = before.iter().map(|time| time / 2.0).collect();
        let gain = Gain::of(&before, &after, 1);
        assert!([gain.mean, gain.low, gain.high].iter().all(|part| (part - 0.5).abs() < 1e-9), "{gain:?}");
    }

    #[test]
    fn a_gain_of_one_job_among_many_may_be_chance_and_like_jobs_in_a_row_widen_the_interval() {
        let before = vec![100.0; 64];
        let one: Vec<f64> = (0..64).map(|job| if job == 7 { 1.0 } else { 100.0 }).collect();
        assert!(Gain::of(&before, &one, 1).low <= 0.0);
        let (run, apart): (Vec<f64>, Vec<f64>) =
            (0..64).map(|job| (if job < 32 { 50.0 } else { 100.0 }, if job % 2 == 0 { 50.0 } else { 100.0 })).unzip();
        let width = |after: &[f64]| Gain::of(&before, after, 1).high - Gain::of(&before, after, 1).low;
        assert!(width(&run) > 1.5 * width(&apart));
        assert!(Gain::of(&[], &[], 1).mean.is_nan());
    }
}
