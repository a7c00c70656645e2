//! Mixes of jobs that keep a cluster busy.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::studies::ensemble::chance;
use crate::studies::small_and_big::{self, BIG, SMALL};
use crate::workload::cluster::{Arrivals, Job, Stage, Times};
use hiatus_core::units::Resource;

/// An ApplicationMaster holds next to nothing, so that the bounds need not know of it.
const MASTER: Resource = Resource { memory_mb: 1, vcores: 0 };
/// From a task's start to its work, in seconds, which counts to the size that is told.
const TASK_START_S: f64 = 1.0;

/// A mix of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mix {
    /// 2 to 160 tasks, of 20 to 400 s in the mean of a job.
    Mixed,
    /// 2 to 320 tasks of 4 to 30 s.
    Short,
    /// 2 to 320 maps of 10 to 40 s, then an eighth as many reduces of 10 to 300 s, 20 at most.
    Reduces,
    /// 60 tasks of about 60 s: all jobs are alike.
    Like,
    /// 20 tasks of about 400 s: jobs are nearly alike, and a few fill the cluster for long.
    Wave,
    /// As [`Mix::Reduces`], but maps hold 1 GiB and reduces 2 GiB, which are asked for when four fifths of the maps are done.
    TwoSizes,
}

impl Mix {
    /// How many jobs a draw has.
    pub fn jobs(self) -> usize {
        match self {
            Mix::Like => 60,
            Mix::Wave => 40,
            _ => 100,
        }
    }

    /// MiB of maps, and of reduces.
    pub fn sizes_mb(self) -> [i64; 2] {
        match self {
            Mix::TwoSizes => [1024, 2048],
            _ => [2048, 2048],
        }
    }

    fn slowstart(self) -> f64 {
        match self {
            Mix::TwoSizes => 0.8,
            _ => 1.0,
        }
    }

    /// Jobs that come `gap_s` apart in the mean, in a Poisson process; the half that has the least work is [`SMALL`]. Of one draw
    /// jobs are the same whatever the gap.
    pub fn draw(self, gap_s: f64, seed: u64, draw: u64) -> Vec<Job> {
        let mut rng = chance(seed, draw);
        let at = Arrivals::Poisson(gap_s).draw(self.jobs(), &mut rng);
        let mut jobs: Vec<Job> =
            at.into_iter().enumerate().map(|(number, at)| self.job(number, &mut rng).at(at)).collect();
        let mut works_s: Vec<f64> = jobs.iter().map(Job::work_s).collect();
        works_s.sort_by(f64::total_cmp);
        let middle_s = works_s[works_s.len() / 2];
        jobs.iter_mut().for_each(|job| job.bin = if job.work_s() < middle_s { SMALL } else { BIG });
        jobs
    }

    fn job(self, number: usize, rng: &mut Xoshiro256PlusPlus) -> Job {
        let stages = match self {
            Mix::Mixed => {
                let count = one_of(&[2, 5, 10, 20, 40, 80, 160], rng);
                vec![tasks(count, one_of(&[20.0, 60.0, 200.0, 400.0], rng) * rng.random_range(0.6..1.5), rng)]
            }
            Mix::Short => {
                let count = one_of(&[2, 5, 10, 20, 40, 80, 160, 320], rng);
                vec![tasks(count, one_of(&[4.0, 8.0, 15.0, 30.0], rng) * rng.random_range(0.6..1.5), rng)]
            }
            Mix::Reduces | Mix::TwoSizes => {
                let maps = one_of(&[2, 5, 10, 20, 40, 80, 160, 320], rng);
                let map_s = one_of(&[10.0, 20.0, 40.0], rng) * rng.random_range(0.6..1.5);
                let maps_stage = tasks(maps, map_s, rng);
                let reduce_s = one_of(&[10.0, 60.0, 300.0], rng) * rng.random_range(0.6..1.5);
                vec![maps_stage, tasks((maps / 8).clamp(1, 20), reduce_s, rng)]
            }
            Mix::Like => vec![tasks(60, 60.0 * rng.random_range(0.9..1.1), rng)],
            Mix::Wave => vec![tasks(20, 400.0 * rng.random_range(0.6..1.5), rng)],
        };
        let job = Job { master: MASTER, ..Job::new(&format!("job {number}")) };
        stages.into_iter().zip(self.sizes_mb()).fold(job, |job, (times, memory_mb)| {
            let slowstart = if job.stages.is_empty() { 1.0 } else { self.slowstart() };
            job.stage(Stage { times, size: Resource::new(memory_mb, 0), partition: None, slowstart })
        })
    }
}

/// The job with its true size, in seconds of one container, as a hint for the scheduler.
pub(super) fn told(job: Job) -> Job {
    let tasks: u32 = job.stages.iter().map(|stage| stage.times.count()).sum();
    let size_s = job.work_s() + f64::from(tasks) * TASK_START_S;
    job.tag(&format!("hiatus.size={size_s:.0}"))
}

fn one_of<T: Copy>(choices: &[T], rng: &mut Xoshiro256PlusPlus) -> T {
    choices[rng.random_range(0..choices.len())]
}

/// Tasks that take so long in the mean, each within 30 % of it.
fn tasks(count: u32, mean_s: f64, rng: &mut Xoshiro256PlusPlus) -> Times {
    small_and_big::tasks(count, mean_s, 0.3, rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_draw_is_small_and_no_small_job_has_more_work_than_a_big_one() {
        let jobs = Mix::Mixed.draw(200.0, 1, 0);
        let of = |bin| jobs.iter().filter(move |job| job.bin == bin).map(Job::work_s);
        assert_eq!((of(SMALL).count(), of(BIG).count()), (50, 50));
        assert!(of(SMALL).fold(0.0, f64::max) <= of(BIG).fold(f64::INFINITY, f64::min));
    }

    #[test]
    fn the_gap_changes_when_jobs_come_and_nothing_else() {
        let (slow, fast) = (Mix::Reduces.draw(80.0, 1, 3), Mix::Reduces.draw(40.0, 1, 3));
        for (slow, fast) in slow.iter().zip(&fast) {
            assert_eq!(slow.stages, fast.stages);
            assert!(slow.at.0.abs_diff(2 * fast.at.0) <= 2);
        }
    }

    /// The mean work of a job, over many draws, in seconds: 45.3 tasks of 178.5 s, 79.6 of 15 s, 79.6 of 24.5 s and 7.5 of 129.5 s.
    #[test]
    fn jobs_have_the_work_that_their_distribution_says() {
        let mean_s = |mix: Mix| {
            let works: Vec<f64> = (0..40).flat_map(|draw| mix.draw(1.0, 1, draw)).map(|job| job.work_s()).collect();
            works.iter().sum::<f64>() / works.len() as f64
        };
        let expected = [
            (Mix::Mixed, 8084.0),
            (Mix::Short, 1191.0),
            (Mix::Reduces, 2923.0),
            (Mix::Like, 3600.0),
            (Mix::Wave, 8400.0),
        ];
        for (mix, expected_s) in expected {
            let found_s = mean_s(mix);
            assert!((found_s / expected_s - 1.0).abs() < 0.06, "{mix:?}: {found_s} s instead of {expected_s}");
        }
    }
}
