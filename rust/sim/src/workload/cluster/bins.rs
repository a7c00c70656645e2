//! The workloads of the HFSP thesis, chapter 5: bins of jobs from Table 5.1. The thesis gives neither task times by bin
//! nor reduce counts: see [`TaskTimes`] for what is put in their place.

use std::str::FromStr;

use hiatus_core::units::{Millis, Resource};
use rand::Rng;
use rand_distr::{Distribution, LogNormal};

use super::published::{MAP_FACTOR, REDUCE_FACTOR, REDUCE_S};
use super::{millis, Arrivals, Job, Stage, Times};
use crate::workload::stream::{rng, Stream};

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

/// Where task times come from. Mean map times are log-normal over jobs, with the median and the quartiles of Figure 5.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskTimes {
    /// The project's model: mean reduce times log-normal around 8, 12, 60 and 400 s in bins 1 to 4, and tasks log-normal
    /// around their job's mean.
    ByBin,
    /// The thesis' measurements: tasks around their job's mean as in Figure 5.8, and mean reduce times from Figure 5.7,
    /// where the reduces of larger jobs are the longer ones.
    Published,
}

/// A workload of Table 5.1, to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Bins {
    /// Shares of the bins.
    pub mix: Mix,
    /// Number of jobs.
    pub jobs: usize,
    /// How they arrive.
    pub arrivals: Arrivals,
    /// How long their tasks take.
    pub times: TaskTimes,
}

impl Bins {
    /// 100 jobs that arrive as in Table 5.1, with task times by bin.
    pub fn of(mix: Mix) -> Bins {
        Bins { mix, jobs: 100, arrivals: mix.arrivals(), times: TaskTimes::ByBin }
    }

    /// The jobs; `run` numbers the draw. Each job's bin is drawn by the shares, its maps uniformly from the bin's range,
    /// then its mean task times, then those of its tasks.
    pub fn draw(&self, seed: u64, run: u64) -> Vec<Job> {
        let at = self.arrivals.draw(self.jobs, &mut rng(seed, run, Stream::Gaps));
        let mut rng = rng(seed, run, Stream::Sizes);
        at.into_iter().enumerate().map(|(n, at)| self.job(n, at, &mut rng)).collect()
    }

    fn job(&self, number: usize, at: Millis, rng: &mut impl Rng) -> Job {
        let mut mark = rng.random_range(0..100);
        let mut index = 0;
        for share in self.mix.shares() {
            if mark < share {
                break;
            }
            mark -= share;
            index += 1;
        }
        let bin = &BINS[index];
        let maps = rng.random_range(bin.maps.0..=bin.maps.1);
        let map_s = MAP_MEDIAN_S * factor(BETWEEN_JOBS_SIGMA, rng);
        let reduce_s = match self.times {
            TaskTimes::ByBin => bin.reduce_s * factor(BETWEEN_JOBS_SIGMA, rng),
            TaskTimes::Published => {
                let (from, to) = part_of_reduces(index);
                REDUCE_S.at(rng.random_range(from..to))
            }
        };
        let map_s = self.around(map_s, (0..maps).map(|_| self.map_factor(rng)).collect());
        let reduce_s = self.around(reduce_s, (0..bin.reduces).map(|_| self.reduce_factor(rng)).collect());
        let stage = |times, memory_mb, slowstart| Stage {
            times: Times::Each(times),
            size: Resource::new(memory_mb, 1),
            partition: None,
            slowstart,
        };
        let stages = vec![stage(map_s, 1024, 1.0), stage(reduce_s, 2048, SLOWSTART)];
        let name = format!("{}-{number:03}-bin{}", self.mix.name().to_ascii_lowercase(), index + 1);
        Job { stages, bin: index as u32 + 1, master: Resource::new(1024, 1), ..Job::new(&name) }.at(at)
    }

    /// Times of a job's tasks. Where factors are measured they are those over the job's own mean, which this makes true.
    fn around(&self, mean_s: f64, factors: Vec<f64>) -> Vec<Millis> {
        let own = match self.times {
            TaskTimes::ByBin => 1.0,
            TaskTimes::Published => factors.iter().sum::<f64>() / factors.len() as f64,
        };
        factors.into_iter().map(|factor| millis(mean_s * factor / own)).collect()
    }

    fn map_factor(&self, rng: &mut impl Rng) -> f64 {
        match self.times {
            TaskTimes::ByBin => factor(MAP_SIGMA, rng),
            TaskTimes::Published => MAP_FACTOR.at(rng.random()),
        }
    }

    fn reduce_factor(&self, rng: &mut impl Rng) -> f64 {
        match self.times {
            TaskTimes::ByBin => factor(REDUCE_SIGMA, rng),
            TaskTimes::Published => REDUCE_FACTOR.at(rng.random()),
        }
    }
}

/// From which to which share of all reduces, over the three workloads and by size of the job, those of a bin are.
fn part_of_reduces(bin: usize) -> (f64, f64) {
    let reduces = |bin: usize| Mix::ALL.iter().map(|mix| mix.shares()[bin] * BINS[bin].reduces).sum::<u32>();
    let all: u32 = (0..BINS.len()).map(reduces).sum();
    let before: u32 = (0..bin).map(reduces).sum();
    (f64::from(before) / f64::from(all), f64::from(before + reduces(bin)) / f64::from(all))
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

    fn drawn(mix: Mix, jobs: usize, seed: u64, run: u64) -> Vec<Job> {
        Bins { jobs, ..Bins::of(mix) }.draw(seed, run)
    }

    /// Task times of a stage over all jobs, in order.
    fn seconds(jobs: &[Job], stage: usize) -> Vec<f64> {
        let times = jobs.iter().map(|job| &job.stages[stage].times);
        let mut all: Vec<f64> =
            times.flat_map(|times| (0..times.count()).map(|task| times.of(task).seconds())).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn table_5_1_shares_task_counts_and_gaps() {
        for mix in Mix::ALL {
            let jobs = drawn(mix, 4000, 3, 0);
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
        let maps = seconds(&drawn(Mix::Prod, 400, 1, 0), 0);
        for (q, published) in [(0.25, 7.4), (0.5, 9.1), (0.75, 12.1)] {
            let ours = maps[(maps.len() as f64 * q) as usize];
            assert!((ours / published - 1.0).abs() < 0.1, "q{q}: {ours}");
        }
    }

    #[test]
    fn fig_5_7_reduce_times_are_met_where_they_are_drawn_from_it() {
        let jobs = |mix| Bins { jobs: 4000, times: TaskTimes::Published, ..Bins::of(mix) }.draw(1, 0);
        let jobs: Vec<Job> = Mix::ALL.into_iter().flat_map(jobs).collect();
        let published = [(0.1, 6.5), (0.25, 7.9), (0.5, 13.2), (0.75, 64.7), (0.9, 122.0), (0.95, 715.0)];
        // Shares, not times: between 0.9 and 0.95 the published times grow sixfold.
        let reduces = seconds(&jobs, 1);
        for (share, time) in published {
            let ours = reduces.partition_point(|reduce| *reduce <= time) as f64 / reduces.len() as f64;
            assert!((ours - share).abs() < 0.04, "{time} s: {ours} of {share}");
        }
    }

    #[test]
    fn fig_5_7_two_of_a_thousand_maps_take_more_than_a_minute() {
        let jobs = Bins { jobs: 1000, times: TaskTimes::Published, ..Bins::of(Mix::Prod) }.draw(1, 0);
        let maps = seconds(&jobs, 0);
        let long = maps.iter().filter(|map| **map > 60.0).count() as f64 / maps.len() as f64;
        assert!((0.001..0.003).contains(&long), "{long}");
    }

    #[test]
    fn fig_5_8_factors_are_over_the_mean_of_the_tasks_own_job() {
        let bins = Bins { times: TaskTimes::Published, ..Bins::of(Mix::Test) };
        let times = bins.around(9.0, vec![0.8, 1.0, 24.0]);
        let mean = times.iter().map(|time| time.seconds()).sum::<f64>() / 3.0;
        assert!((mean - 9.0).abs() < 0.01, "{mean}");
    }

    #[test]
    fn the_same_seed_draws_the_same_jobs_and_another_run_others() {
        let jobs = |run| drawn(Mix::Test, 50, 5, run);
        assert_eq!(jobs(1), jobs(1));
        assert_ne!(jobs(1), jobs(2));
    }
}
