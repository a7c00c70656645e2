//! Random workloads. Source: HFSP thesis §3.2.2 and Table 3.1.

use std::str::FromStr;

use rand::distr::Distribution;
use rand::Rng;
use rand_distr::{Exp1, Weibull};

use super::stream::{rng, Stream};
use super::{Job, Noise, Workload, WorkloadError};

/// Distribution of job sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizes {
    /// Weibull of mean 1: heavy-tailed below shape 1, exponential at 1, bell-like above 2.
    Weibull {
        /// The shape.
        shape: f64,
    },
    /// Lomax, a Pareto that starts at 0: P(s > x) = (1 + x)^−α.
    Lomax {
        /// The tail exponent.
        alpha: f64,
    },
}

/// A random workload: Table 3.1 of the thesis, whose defaults are [`Synthesis::default`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synthesis {
    /// Distribution of sizes.
    pub sizes: Sizes,
    /// σ of the log-normal size error.
    pub sigma: f64,
    /// Weibull shape of the time between arrivals: below 1 bursty, above 1 regular.
    pub timeshape: f64,
    /// Offered load Σ size / last arrival, exact in every run.
    pub load: f64,
    /// How many jobs.
    pub njobs: usize,
    /// Weights are x^−α with x uniform in 1…5; 0 makes all jobs equal.
    pub weight_alpha: f64,
}

impl Default for Synthesis {
    fn default() -> Synthesis {
        let sizes = Sizes::Weibull { shape: 0.25 };
        Synthesis { sizes, sigma: 0.5, timeshape: 1.0, load: 0.9, njobs: 10_000, weight_alpha: 0.0 }
    }
}

impl Synthesis {
    /// The workload of run number `run`.
    pub fn draw(&self, seed: u64, run: u64) -> Workload {
        let (mut jobs, noise) = self.draw_exact(seed, run);
        noise.estimate(&mut jobs, self.sigma);
        jobs
    }

    /// The workload with exact estimates, and the draws from which estimates for any σ follow.
    pub fn draw_exact(&self, seed: u64, run: u64) -> (Workload, Noise) {
        let mut jobs: Workload = self.draw_sizes(seed, run).into_iter().map(|size| Job::exact(0.0, size)).collect();
        self.draw_arrivals(&mut jobs, seed, run);
        if self.weight_alpha != 0.0 {
            let mut rng = rng(seed, run, Stream::Weights);
            for job in &mut jobs {
                job.weight = f64::from(rng.random_range(1..=5u8)).powf(-self.weight_alpha);
            }
        }
        (jobs, Noise::draw(self.njobs, seed, run))
    }

    fn draw_sizes(&self, seed: u64, run: u64) -> Vec<f64> {
        let rng = rng(seed, run, Stream::Sizes);
        match self.sizes {
            Sizes::Weibull { shape } => weibull(1.0, shape).sample_iter(rng).take(self.njobs).collect(),
            Sizes::Lomax { alpha } => {
                let lomax = |e: f64| (e / alpha).exp_m1();
                rng.sample_iter(Exp1).map(lomax).take(self.njobs).collect()
            }
        }
    }

    /// Random gaps, then all arrivals stretched by one factor so that the load is exact: with heavy tails Σ size
    /// varies so much between runs that the load would be anything.
    fn draw_arrivals(&self, jobs: &mut [Job], seed: u64, run: u64) {
        let gaps = weibull(1.0 / self.load, self.timeshape).sample_iter(rng(seed, run, Stream::Gaps));
        let mut now = 0.0;
        for (job, gap) in jobs.iter_mut().zip(gaps) {
            job.arrival = now;
            now += gap;
        }
        let last = jobs.last().map_or(0.0, |job| job.arrival);
        if last > 0.0 {
            let total: f64 = jobs.iter().map(|job| job.size).sum();
            let stretch = total / (last * self.load);
            jobs.iter_mut().for_each(|job| job.arrival *= stretch);
        }
    }
}

/// A Weibull distribution of this mean; both arguments are positive by [`Synthesis`]'s checks.
fn weibull(mean: f64, shape: f64) -> Weibull<f64> {
    let scale = mean / libm::tgamma(1.0 + 1.0 / shape);
    Weibull::new(scale, shape).unwrap_or_else(|error| unreachable!("weibull({mean}, {shape}): {error}"))
}

impl FromStr for Synthesis {
    type Err = WorkloadError;

    /// Parses `key=value,…` over the defaults: `shape` or `lomax`, `sigma`, `timeshape`, `load`, `njobs`, `alpha`.
    fn from_str(text: &str) -> Result<Synthesis, WorkloadError> {
        let mut synthesis = Synthesis::default();
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (key, value) = (key.trim(), value.trim());
            let refuse =
                |expected| WorkloadError::Parameter { name: key.to_owned(), value: value.to_owned(), expected };
            let number = |low: f64, high: f64, expected| match value.parse() {
                Ok(number) if (low..=high).contains(&number) => Ok(number),
                _ => Err(refuse(expected)),
            };
            match key {
                "shape" => synthesis.sizes = Sizes::Weibull { shape: number(0.05, 100.0, "within 0.05…100")? },
                "lomax" => synthesis.sizes = Sizes::Lomax { alpha: number(0.1, 100.0, "within 0.1…100")? },
                "sigma" => synthesis.sigma = number(0.0, 100.0, "within 0…100")?,
                "timeshape" => synthesis.timeshape = number(0.05, 100.0, "within 0.05…100")?,
                "load" => synthesis.load = number(1e-6, 100.0, "above 0 (1 is a server always busy), at most 100")?,
                "alpha" => synthesis.weight_alpha = number(0.0, 100.0, "within 0…100 (weights are x^-alpha)")?,
                "njobs" => match value.parse() {
                    Ok(njobs @ 1..=100_000_000) => synthesis.njobs = njobs,
                    _ => return Err(refuse("a whole number within 1…100000000")),
                },
                _ => return Err(refuse("one of shape, lomax, sigma, timeshape, load, njobs, alpha")),
            }
        }
        Ok(synthesis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_exact_in_every_run() {
        for (shape, run) in [(0.125, 0), (0.25, 1), (1.0, 2), (4.0, 3)] {
            let synthesis = Synthesis { sizes: Sizes::Weibull { shape }, njobs: 500, ..Synthesis::default() };
            let jobs = synthesis.draw(1, run);
            let load = jobs.iter().map(|job| job.size).sum::<f64>() / jobs[499].arrival;
            assert!((load - 0.9).abs() < 1e-12, "shape {shape}: {load}");
            assert!(jobs.is_sorted_by(|a, b| a.arrival <= b.arrival));
            assert_eq!(jobs[0].arrival, 0.0);
        }
    }

    #[test]
    fn sizes_have_the_mean_and_spread_of_their_distribution() {
        // Mean 1; squared coefficient of variation Γ(1+2/k)/Γ(1+1/k)² − 1: 1 for k = 1, 0.273 for k = 2.
        for (shape, scv) in [(1.0, 1.0), (2.0, 0.273)] {
            let synthesis = Synthesis { sizes: Sizes::Weibull { shape }, njobs: 200_000, ..Synthesis::default() };
            let sizes = synthesis.draw_sizes(3, 0);
            let mean = sizes.iter().sum::<f64>() / 2e5;
            let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / 2e5;
            assert!((mean - 1.0).abs() < 0.01 && (variance - scv).abs() < 0.02, "{shape}: {mean} {variance}");
        }
        let lomax = Synthesis { sizes: Sizes::Lomax { alpha: 2.0 }, njobs: 200_000, ..Synthesis::default() };
        let above_1 = lomax.draw_sizes(3, 0).iter().filter(|size| **size > 1.0).count() as f64 / 2e5;
        assert!((above_1 - 0.25).abs() < 0.005, "P(s > 1) = 2^-2, not {above_1}");
    }

    #[test]
    fn one_parameter_changes_only_its_own_draws() {
        let base = Synthesis { njobs: 100, ..Synthesis::default() };
        let jobs = base.draw(5, 0);
        let noisier = Synthesis { sigma: 4.0, ..base }.draw(5, 0);
        let weighted = Synthesis { weight_alpha: 1.0, ..base }.draw(5, 0);
        for i in 0..100 {
            assert_eq!((jobs[i].arrival, jobs[i].size), (noisier[i].arrival, noisier[i].size));
            assert_eq!(jobs[i].estimate < jobs[i].size, noisier[i].estimate < noisier[i].size);
            assert_eq!(jobs[i], Job { weight: 1.0, ..weighted[i] });
        }
        assert_eq!(jobs, base.draw(5, 0));
        assert_ne!(jobs, base.draw(5, 1));
        assert_ne!(jobs, base.draw(6, 0));
    }

    #[test]
    fn text_is_parsed_over_the_defaults_and_refused_by_name() {
        let parsed: Synthesis = "shape=1, load=0.5,njobs=7".parse().unwrap();
        let expected = Synthesis { sizes: Sizes::Weibull { shape: 1.0 }, load: 0.5, njobs: 7, ..Synthesis::default() };
        assert_eq!(parsed, expected);
        for (text, name) in [
            ("shape=0", "shape=0:"),
            ("load=nan", "load=nan:"),
            ("load=0", "load=0:"),
            ("njobs=0", "njobs=0:"),
            ("njobs=1.5", "njobs=1.5:"),
            ("sigma=-1", "sigma=-1:"),
            ("shpe=1", "shpe=1: must be one of"),
            ("sigma", "sigma=:"),
        ] {
            let message = text.parse::<Synthesis>().unwrap_err().to_string();
            assert!(message.starts_with(name), "{text}: {message}");
        }
    }
}
