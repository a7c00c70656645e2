//! Size estimates: ŝ = s·X with ln X ~ N(0, σ²). Source: HFSP thesis §3.2.2.

use rand::Rng;
use rand_distr::StandardNormal;

use super::stream::{rng, Stream};
use super::Job;

/// Standard normal draws, one per job, from which the estimates for any σ follow.
///
/// A job's draw is the same for every policy and every σ of a run: differences between policies are theirs alone.
#[derive(Debug, Clone)]
pub struct Noise(Vec<f64>);

impl Noise {
    /// Draws for `njobs` jobs of run number `run`.
    pub fn draw(njobs: usize, seed: u64, run: u64) -> Noise {
        Noise(rng(seed, run, Stream::Errors).sample_iter(StandardNormal).take(njobs).collect())
    }

    /// Sets each job's estimate for an error of `sigma`.
    pub fn estimate(&self, jobs: &mut [Job], sigma: f64) {
        for (job, z) in jobs.iter_mut().zip(&self.0) {
            job.estimate = job.size * (sigma * z).exp();
        }
    }
}

/// Median of max(X, 1/X): by what factor a typical estimate is off.
pub fn median_factor(sigma: f64) -> f64 {
    /// Median of |N(0, 1)|.
    const MEDIAN_ABSOLUTE_DEVIATION: f64 = 0.674_489_750_196_081_7;
    (MEDIAN_ABSOLUTE_DEVIATION * sigma).exp()
}

/// Correlation of a size with its estimate, for sizes of squared coefficient of variation `scv` (Var/mean²).
pub fn correlation(sigma: f64, scv: f64) -> f64 {
    (scv / ((scv + 1.0) * (sigma * sigma).exp() - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_factor_of_the_draws_is_the_closed_form() {
        for sigma in [0.125, 0.5, 4.0] {
            let mut jobs = vec![Job::exact(0.0, 1.0); 200_001];
            Noise::draw(jobs.len(), 7, 0).estimate(&mut jobs, sigma);
            let mut factors: Vec<f64> = jobs.iter().map(|job| job.estimate.max(1.0 / job.estimate)).collect();
            factors.sort_by(f64::total_cmp);
            let ratio = factors[100_000] / median_factor(sigma);
            assert!((ratio - 1.0).abs() < 0.005 * (1.0 + sigma), "sigma {sigma}: {ratio}");
        }
    }

    #[test]
    fn without_error_the_estimate_is_the_size() {
        let mut jobs = vec![Job { estimate: 9.0, ..Job::exact(0.0, 2.0) }];
        Noise::draw(1, 1, 1).estimate(&mut jobs, 0.0);
        assert_eq!(jobs[0].estimate, 2.0);
    }
}
