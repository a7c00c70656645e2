//! The workloads of the HFSP thesis, chapter 5: bins of jobs from Table 5.1. The thesis gives neither task times nor
//! reduce counts; the task model is the project's own, fitted to Figures 5.7 and 5.8: see [`BINS`] and [`draw`].

use std::str::FromStr;

use hiatus_core::units::{Millis, Resource};
use rand::Rng;
use rand_distr::{Distribution, LogNormal};

use super::{millis, Arrivals, Job, Stage, Times};
use crate::workload::stream::{rng, Stream};

/// Jobs per workload in the thesis.
pub const JOBS: usize = 100;
/// Median over jobs of the mean map time, in seconds (Figure 5.7).
const MAP_MEDIAN_S: f64 = 9.0;
/// Spread of mean task times over jobs: with the spread within jobs it gives the quartiles of Figure 5.7 for maps.
const BETWEEN_JOBS_SIGMA: f64 = 0.23;
/// Spread of map times within a job (Figure 5.8).
const MAP_SIGMA: f64 = 0.28;
/// Spread of reduce times within a job (Figure 5.8).
const REDUCE_SIGMA: f64 = 0.14;
/// Share of maps done before reduces start (thesis §5.2).
const SLOWSTART: f64 = 0.8;

/// A bin: how many tasks its jobs have.
#[derive(Debug)]
struct Bin {
    /// Fewest and most maps (Table 5.1; the fourth bin is open, and ends here).
    maps: (u32, u32),
    /// Reduces.
    reduces: u32,
    /// Median over jobs of the mean reduce time, in seconds.
    reduce_s: f64,
}

/// Bins 1 to 4.
const BINS: [Bin; 4] = [
    Bin { maps: (1, 4), reduces: 1, reduce_s: 8.0 },
    Bin { maps: (10, 50), reduces: 5, reduce_s: 12.0 },
    Bin { maps: (50, 150), reduces: 20, reduce_s: 60.0 },
    Bin { maps: (150, 600), reduces: 20, reduce_s: 400.0 },
];

/// A workload of Table 5.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Development: mostly tiny jobs.
    Dev,
    /// Testing: a mix.
    Test,
    /// Production: mostly large jobs.
    Prod,
}

impl Mix {
    /// All of them.
    pub const ALL: [Mix; 3] = [Mix::Dev, Mix::Test, Mix::Prod];

    /// As it is called in Table 5.1.
    pub fn name(self) -> &'static str {
        match self {
            Mix::Dev => "DEV",
            Mix::Test => "TEST",
            Mix::Prod => "PROD",
        }
    }

    /// Shares of the bins, in percent.
    fn shares(self) -> [u32; 4] {
        match self {
            Mix::Dev => [65, 20, 10, 5],
            Mix::Test => [30, 40, 10, 20],
            Mix::Prod => [0, 10, 60, 30],
        }
    }

    /// How its jobs arrive.
    pub fn arrivals(self) -> Arrivals {
        Arrivals::Poisson(if self == Mix::Dev { 30.0 } else { 60.0 })
    }
}

impl FromStr for Mix {
    type Err = ();

    fn from_str(text: &str) -> Result<Mix, ()> {
        Mix::ALL.into_iter().find(|mix| mix.name().eq_ignore_ascii_case(text)).ok_or(())
    }
}

/// `count` jobs of the mix; `run` numbers the draw. Each job's bin is drawn by the shares, its maps uniformly from the
/// bin's range, its mean task times log-normally around the bin's, and each task's factor log-normally around 1.
pub fn draw(mix: Mix, count: usize, arrivals: Arrivals, seed: u64, run: u64) -> Vec<Job> {
    let at = arrivals.draw(count, &mut rng(seed, run, Stream::Gaps));
    let mut rng = rng(seed, run, Stream::Sizes);
    at.into_iter().enumerate().map(|(n, at)| job(mix, n, at, &mut rng)).collect()
}

fn job(mix: Mix, number: usize, at: Millis, rng: &mut impl Rng) -> Job {
    let mut mark = rng.random_range(0..100);
    let mut index = 0;
    for share in mix.shares() {
        if mark < share {
            break;
        }
        mark -= share;
        index += 1;
    }
    let bin = &BINS[index];
    let maps = rng.random_range(bin.maps.0..=bin.maps.1);
    let map_s = MAP_MEDIAN_S * factor(BETWEEN_JOBS_SIGMA, rng);
    let reduce_s = bin.reduce_s * factor(BETWEEN_JOBS_SIGMA, rng);
    let mut stage = |count: u32, mean: f64, sigma: f64, memory_mb: i64, slowstart: f64| {
        let times = (0..count).map(|_| millis(mean * factor(sigma, rng))).collect();
        Stage { times: Times::Each(times), size: Resource::new(memory_mb, 1), partition: None, slowstart }
    };
    let stages =
        vec![stage(maps, map_s, MAP_SIGMA, 1024, 1.0), stage(bin.reduces, reduce_s, REDUCE_SIGMA, 2048, SLOWSTART)];
    let name = format!("{}-{number:03}-bin{}", mix.name().to_ascii_lowercase(), index + 1);
    Job { stages, bin: index as u32 + 1, master: Resource::new(1024, 1), ..Job::new(&name) }.at(at)
}

/// Log-normal with median 1.
fn factor(sigma: f64, rng: &mut impl Rng) -> f64 {
    match LogNormal::new(0.0, sigma) {
        Ok(distribution) => distribution.sample(rng),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_5_1_shares_task_counts_and_gaps() {
        for mix in Mix::ALL {
            let jobs = draw(mix, 4000, mix.arrivals(), 3, 0);
            for (bin, share) in mix.shares().into_iter().enumerate() {
                let mine: Vec<_> = jobs.iter().filter(|job| job.bin == bin as u32 + 1).collect();
                let found = mine.len() as f64 / 40.0;
                assert!((found - f64::from(share)).abs() < 2.5, "{mix:?} bin {bin}: {found} %");
                let (least, most) = BINS[bin].maps;
                assert!(mine.iter().all(|job| (least..=most).contains(&job.stages[0].times.count())));
            }
            let gap = jobs[3999].at.seconds() / 3999.0;
            let mean = if mix == Mix::Dev { 30.0 } else { 60.0 };
            assert!((gap / mean - 1.0).abs() < 0.05, "{mix:?}: {gap}");
        }
    }

    #[test]
    fn fig_5_7_map_times_have_the_published_quartiles() {
        let jobs = draw(Mix::Prod, 400, Mix::Prod.arrivals(), 1, 0);
        let mut times: Vec<f64> = Vec::new();
        for job in &jobs {
            times.extend((0..job.stages[0].times.count()).map(|task| job.stages[0].times.of(task).seconds()));
        }
        times.sort_by(f64::total_cmp);
        let quantile = |q: f64| times[(times.len() as f64 * q) as usize];
        for (q, published) in [(0.25, 7.4), (0.5, 9.1), (0.75, 12.1)] {
            assert!((quantile(q) / published - 1.0).abs() < 0.1, "q{q}: {}", quantile(q));
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_jobs_and_another_run_others() {
        let jobs = |run| draw(Mix::Test, 50, Mix::Test.arrivals(), 5, run);
        assert_eq!(jobs(1), jobs(1));
        assert_ne!(jobs(1), jobs(2));
    }
}
