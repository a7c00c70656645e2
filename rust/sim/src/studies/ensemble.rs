//! Many runs of the single server, in parallel, and what they have in common.

use indicatif::{ParallelProgressIterator, ProgressBar, ProgressStyle};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;

use crate::report::Sample;
use crate::studies::single::{mean_sojourn, PolicyKind};
use crate::workload::{Noise, Workload};

/// Measures runs 0, 1, … in parallel; the result is in their order, whatever the number of threads.
pub fn runs<T: Send>(label: &str, count: usize, measure: impl Fn(u64) -> T + Send + Sync) -> Vec<T> {
    let bar = ProgressBar::new(count as u64).with_message(label.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{msg:28} {bar:30} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    (0..count as u64).into_par_iter().progress_with(bar).map(measure).collect()
}

/// Chance of draw number `stream` of a study: the streams of a seed do not overlap.
pub fn chance(seed: u64, stream: u64) -> Xoshiro256PlusPlus {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..stream {
        rng.jump();
    }
    rng
}

/// Mean sojourn times of policies over runs and estimation errors.
#[derive(Debug)]
pub struct Sojourns {
    /// What each column is of: a policy, and the σ of the errors if it goes by estimates.
    columns: Vec<(PolicyKind, Option<f64>)>,
    /// A row per run.
    rows: Vec<Vec<f64>>,
}

impl Sojourns {
    /// Runs every policy on the workloads of `draw`, those that go by estimates once per σ. Within a run all of them
    /// see the same jobs and, per σ, the same estimates.
    pub fn measure(
        label: &str,
        count: usize,
        policies: &[PolicyKind],
        sigmas: &[f64],
        draw: impl Fn(u64) -> (Workload, Noise) + Send + Sync,
    ) -> Sojourns {
        let mut columns: Vec<(PolicyKind, Option<f64>)> = Vec::new();
        columns.extend(policies.iter().filter(|policy| !policy.uses_estimates()).map(|&policy| (policy, None)));
        for &sigma in sigmas {
            let estimating = policies.iter().filter(|policy| policy.uses_estimates());
            columns.extend(estimating.map(|&policy| (policy, Some(sigma))));
        }
        let rows = runs(label, count, |run| {
            let (mut jobs, noise) = draw(run);
            let mut estimated = None;
            let mut row = Vec::with_capacity(columns.len());
            for &(policy, sigma) in &columns {
                if let Some(sigma) = sigma.filter(|_| estimated != sigma) {
                    noise.estimate(&mut jobs, sigma);
                    estimated = Some(sigma);
                }
                row.push(mean_sojourn(&jobs, &policy.completions(&jobs)));
            }
            row
        });
        Sojourns { columns, rows }
    }

    /// The mean sojourn times of a policy, a value per run.
    ///
    /// Panics if the policy and σ were not measured: a study's mistake.
    pub fn of(&self, policy: PolicyKind, sigma: f64) -> Sample {
        let column = self.column(policy, sigma);
        Sample::new(self.rows.iter().map(|row| row[column]).collect())
    }

    /// Mean sojourn time of `policy` over that of `base`, a ratio per run.
    pub fn ratio(&self, policy: PolicyKind, base: PolicyKind, sigma: f64) -> Sample {
        let (above, below) = (self.column(policy, sigma), self.column(base, sigma));
        Sample::new(self.rows.iter().map(|row| row[above] / row[below]).collect())
    }

    fn column(&self, policy: PolicyKind, sigma: f64) -> usize {
        let key = (policy, policy.uses_estimates().then_some(sigma));
        let found = self.columns.iter().position(|column| *column == key);
        found.unwrap_or_else(|| panic!("{policy} at sigma {sigma} was not measured"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Synthesis;

    fn measure(threads: usize) -> Sojourns {
        let synthesis = Synthesis { njobs: 300, ..Synthesis::default() };
        let policies = [PolicyKind::Fspe, PolicyKind::Ps, PolicyKind::Srpte];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Sojourns::measure("", 20, &policies, &[0.5, 2.0], |run| synthesis.draw_exact(9, run)))
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        assert_eq!(measure(1).rows, measure(3).rows);
    }

    #[test]
    fn a_column_is_what_the_policy_does_alone() {
        let sojourns = measure(2);
        let jobs = Synthesis { njobs: 300, sigma: 2.0, ..Synthesis::default() }.draw(9, 7);
        let alone = |policy: PolicyKind| mean_sojourn(&jobs, &policy.completions(&jobs));
        let row = &sojourns.rows[7];
        assert_eq!(row[sojourns.column(PolicyKind::Fspe, 2.0)], alone(PolicyKind::Fspe));
        assert_eq!(row[sojourns.column(PolicyKind::Ps, 2.0)], alone(PolicyKind::Ps));
        let ratio = alone(PolicyKind::Srpte) / alone(PolicyKind::Ps);
        assert_eq!(sojourns.ratio(PolicyKind::Srpte, PolicyKind::Ps, 2.0).len(), 20);
        assert_eq!(row[sojourns.column(PolicyKind::Srpte, 2.0)] / row[sojourns.column(PolicyKind::Ps, 0.5)], ratio);
    }
}
