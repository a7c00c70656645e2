//! Table IV: what is measured of the jobs, by the ratio of each job's time alone on the cluster to its real time, its ANP.

/// Measures of one set of jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Metrics {
    /// System normalised performance: the geometric mean of ANP, 1 at best.
    pub snp: f64,
    /// Mean of 1/ANP, 1 at best.
    pub l1: f64,
    /// Root of the mean square of 1/ANP, 1 at best.
    pub l2: f64,
    /// Coefficient of variation of ANP, 0 at best.
    pub unfairness: f64,
    /// Mean response time, in seconds.
    pub response_s: f64,
}

impl Metrics {
    /// By each job's seconds alone and in reality.
    pub(super) fn of(jobs: &[(f64, f64)]) -> Metrics {
        let mean = |of: &dyn Fn(f64, f64) -> f64| {
            jobs.iter().map(|(alone, real)| of(*alone, *real)).sum::<f64>() / jobs.len() as f64
        };
        let anp = mean(&|alone, real| alone / real);
        Metrics {
            snp: mean(&|alone, real| (alone / real).ln()).exp(),
            l1: mean(&|alone, real| real / alone),
            l2: mean(&|alone, real| (real / alone).powi(2)).sqrt(),
            unfairness: mean(&|alone, real| (alone / real - anp).powi(2)).sqrt() / anp,
            response_s: mean(&|_, real| real),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_as_fast_as_alone_and_one_four_times_slower() {
        let found = Metrics::of(&[(10.0, 10.0), (5.0, 20.0)]);
        assert!((found.snp - 0.5).abs() < 1e-12, "the geometric mean of 1 and a quarter");
        assert_eq!((found.l1, found.l2, found.response_s), (2.5, 8.5f64.sqrt(), 15.0));
        assert_eq!(found.unfairness, 0.375 / 0.625);
    }
}
