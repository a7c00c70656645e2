//! What is measured of a run. Source: HFSP thesis §2.1.1, §3.3.1.

use crate::report::quantile;
use crate::workload::Job;

/// Mean sojourn (response) time, seconds; jobs of size 0 count too.
pub fn mean_sojourn(jobs: &[Job], completions: &[f64]) -> f64 {
    let total: f64 = jobs.iter().zip(completions).map(|(job, completion)| completion - job.arrival).sum();
    total / jobs.len() as f64
}

/// Sojourn over true size of each job that has one, in order of arrival.
pub fn slowdowns<'a>(jobs: &'a [Job], completions: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
    let sized = jobs.iter().zip(completions).filter(|(job, _)| job.size > 0.0);
    sized.map(|(job, completion)| (completion - job.arrival) / job.size)
}

/// A run in a few numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many jobs there were.
    pub jobs: usize,
    /// Mean sojourn time, seconds.
    pub mean_sojourn_s: f64,
    /// When the last job completed, seconds.
    pub last_completion_s: f64,
    /// Slowdowns at [`Summary::QUANTILES`].
    pub slowdown: [f64; Summary::QUANTILES.len()],
}

impl Summary {
    /// The quantiles of the slowdown that are kept; 1 is the maximum.
    pub const QUANTILES: [f64; 7] = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0];

    /// Sums up a run.
    pub fn new(jobs: &[Job], completions: &[f64]) -> Summary {
        let mut slowdowns: Vec<f64> = slowdowns(jobs, completions).collect();
        slowdowns.sort_unstable_by(f64::total_cmp);
        Summary {
            jobs: jobs.len(),
            mean_sojourn_s: mean_sojourn(jobs, completions),
            last_completion_s: completions.iter().copied().fold(0.0, f64::max),
            slowdown: Summary::QUANTILES.map(|q| quantile(&slowdowns, q)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_size_0_counts_in_the_mean_sojourn_and_not_in_the_slowdown() {
        let jobs = [Job::exact(0.0, 2.0), Job::exact(1.0, 0.0)];
        let summary = Summary::new(&jobs, &[4.0, 4.0]);
        assert_eq!((summary.mean_sojourn_s, summary.slowdown[0], summary.slowdown[6]), (3.5, 2.0, 2.0));
    }
}
