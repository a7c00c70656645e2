//! Table 3.1: does the generator make the workloads the thesis describes?

use crate::report::{Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble::runs;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::{correlation, median_factor, Job};

use super::common::with_shape;

pub(super) const TABLE_3_1: Study =
    Study { id: "table-3.1", title: "The random workloads and estimation errors (thesis Table 3.1, §3.2.2)", run };

/// Var/mean² of Weibull sizes of shape 0.25: Γ(9)/Γ(5)² − 1.
const SCV_AT_SHAPE_0_25: f64 = 69.0;

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let count = setting.runs(200);
    let columns = ["sigma", "median factor", "median factor, closed form", "correlation", "correlation, closed form"];
    let mut errors = Table::new("errors", "Estimation errors on the default workload", &columns);
    let mut factors = Evidence::default();
    for (sigma, published) in [(0.125, Some(1.088)), (0.5, Some(1.40)), (1.0, None), (2.0, None), (4.0, Some(14.85))] {
        let measured = runs("errors", count, |run| {
            let (mut jobs, noise) = with_shape(0.25).draw_exact(setting.seed, run);
            noise.estimate(&mut jobs, sigma);
            (middle_factor(&jobs), sample_correlation(&jobs))
        });
        let (factor, correlated): (Vec<f64>, Vec<f64>) = measured.into_iter().unzip();
        let factor = Sample::new(factor).mean();
        let sampled = Sample::new(correlated).mean();
        let closed = [median_factor(sigma), correlation(sigma, SCV_AT_SHAPE_0_25)];
        errors.row(vec![sigma.into(), factor.into(), closed[0].into(), sampled.into(), closed[1].into()]);
        if let Some(published) = published {
            factors = factors.within(&format!("σ {sigma}"), factor, 0.99 * published, 1.01 * published);
        }
    }
    let mut correlations = Evidence::default();
    for (sigma, published) in [(0.5, 0.88), (1.0, 0.60), (2.0, 0.13)] {
        let rho = correlation(sigma, SCV_AT_SHAPE_0_25);
        correlations = correlations.within(&format!("ρ({sigma})"), rho, published - 0.01, published + 0.01);
    }
    Ok(Report {
        tables: vec![errors],
        claims: vec![
            Claim::new("S-09 (ρ)", "Closed-form correlation 0.88, 0.60, 0.13 at σ 0.5, 1, 2", correlations)
                .remark("that it suffices: see S-09 of fig-3.4"),
            Claim::new("S-10", "Median error factor 1.088, 1.40, 14.85 at σ 0.125, 0.5, 4, within 1 %", factors),
        ],
        notes: vec![format!("{count} runs of 10,000 jobs; sample correlations are means over runs.")],
        ..Report::default()
    })
}

/// Median over the jobs of max(ŝ/s, s/ŝ).
fn middle_factor(jobs: &[Job]) -> f64 {
    Sample::new(jobs.iter().map(|job| (job.estimate / job.size).max(job.size / job.estimate)).collect()).median()
}

fn sample_correlation(jobs: &[Job]) -> f64 {
    let mean = |value: &dyn Fn(&Job) -> f64| jobs.iter().map(value).sum::<f64>() / jobs.len() as f64;
    let (size, estimate) = (mean(&|job| job.size), mean(&|job| job.estimate));
    let covariance = mean(&|job| (job.size - size) * (job.estimate - estimate));
    let (var_s, var_e) = (mean(&|job| (job.size - size).powi(2)), mean(&|job| (job.estimate - estimate).powi(2)));
    covariance / (var_s * var_e).sqrt()
}
