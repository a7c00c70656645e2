//! The random jobs of §4.1.
//!
//! The paper leaves open how many tasks the constant total work is, the mean of the minima, and the range of the
//! deadlines. Chosen here: 30 tasks per slot (with less, maxima bind and FAIR comes closer to the optimum), minima
//! with mean (1 − slack) × slots / jobs, and deadlines between 0 and 1.5 times the time all work takes on all slots.

use hiatus_core::flex::{Job, Metric, Problem, Step, Terms};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Tasks per slot of all jobs together; a task takes a second.
const TASKS_PER_SLOT: f64 = 30.0;
/// Mean work of a large job over that of a small one.
const LARGE: f64 = 10.0;
/// Deadlines are at most this many times the time that all work takes.
const LATEST_DEADLINE: f64 = 1.5;
/// Steps of a service level agreement.
const STEPS: usize = 3;
/// Draws of a minimum above its maximum before the maximum is taken.
const REDRAWS: usize = 1000;

/// What an experiment varies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub jobs: usize,
    pub slots: u32,
    /// Number of small jobs; the others are large.
    pub small: usize,
    /// Share of the slots that no minimum claims, 0 to 1.
    pub slack: f64,
}

/// The base case: 10 jobs, 8 of them small, 100 slots, 75 % slack.
pub(super) const BASE: Shape = Shape { jobs: 10, slots: 100, small: 8, slack: 0.75 };

/// A job for which no metric is chosen yet.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub work: f64,
    min: u32,
    max: u32,
    pub terms: Terms,
}

/// The chance in one run.
pub(super) fn rng(seed: u64, run: u64) -> Xoshiro256PlusPlus {
    let base = Xoshiro256PlusPlus::seed_from_u64(seed).random::<u64>();
    Xoshiro256PlusPlus::seed_from_u64(base.wrapping_add(run))
}

/// The jobs of one run, in order of arrival. Minima are drawn last, so that a sweep over the slack sees the same jobs.
pub(super) fn draw(shape: Shape, seed: u64, run: u64) -> Vec<Draft> {
    let mut rng = rng(seed, run);
    let mean_of = |job: usize| if job < shape.small { 1.0 } else { LARGE };
    let mut works: Vec<f64> = (0..shape.jobs).map(|job| truncated_normal(&mut rng, mean_of(job))).collect();
    let total: f64 = works.iter().sum();
    works.shuffle(&mut rng);
    let slots = f64::from(shape.slots);
    let horizon = LATEST_DEADLINE * TASKS_PER_SLOT;
    let mut drafts: Vec<Draft> =
        works.iter().map(|work| draft(&mut rng, shape.slots, work / total * TASKS_PER_SLOT * slots, horizon)).collect();
    let mean = (1.0 - shape.slack) * slots / shape.jobs as f64;
    for draft in &mut drafts {
        draft.min = minimum(&mut rng, mean, draft.max);
    }
    drafts
}

fn draft(rng: &mut impl Rng, slots: u32, work: f64, horizon: f64) -> Draft {
    // As many slots as tasks, and at least the one that a fraction of a task needs.
    let max = work.ceil().min(f64::from(slots)).max(1.0);
    let mut rising = |scale: f64| {
        let mut values = [(); STEPS].map(|()| rng.random::<f64>() * scale);
        values.sort_unstable_by(f64::total_cmp);
        values
    };
    let (deadlines, penalties) = (rising(horizon), rising(1.0));
    let step = |(deadline, penalty)| Step { deadline, penalty };
    let terms = Terms {
        weight: rng.random(),
        deadline: Some(rng.random::<f64>() * horizon),
        steps: deadlines.into_iter().zip(penalties).map(step).collect(),
        // Time alone in the cluster: never below that of a task.
        alone: (work / max).max(1.0),
    };
    Draft { work, min: 0, max: max as u32, terms }
}

/// Normal around `mean` with a third of it as standard deviation, above 0.
fn truncated_normal(rng: &mut impl Rng, mean: f64) -> f64 {
    loop {
        let deviation: f64 = StandardNormal.sample(rng);
        let value = mean * (1.0 + deviation / 3.0);
        if value > 0.0 {
            return value;
        }
    }
}

fn minimum(rng: &mut impl Rng, mean: f64, max: u32) -> u32 {
    if mean <= 0.0 {
        return 1;
    }
    let draw = |_| truncated_normal(rng, mean).round().max(1.0);
    (0..REDRAWS).map(draw).find(|&min| min <= f64::from(max)).map_or(max, |min| min as u32)
}

/// The problem these jobs are under a metric.
pub(super) fn problem(slots: u32, metric: Metric, drafts: &[Draft]) -> Problem {
    let job = |draft: &Draft| {
        // Deadline and steps are always drawn.
        let penalty = metric.penalty(&draft.terms).ok()?;
        Some(Job { work: draft.work, min: draft.min, max: draft.max, age: 0.0, penalty })
    };
    Problem { slots, aggregate: metric.aggregate(), jobs: drafts.iter().filter_map(job).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flex_2_1_total_work_and_mean_minimum_are_as_chosen() {
        let runs = 200;
        let (mut minima, mut large) = (0, 0);
        for run in 0..runs {
            let problem = problem(BASE.slots, Metric::WeightedTardiness, &draw(BASE, 3, run));
            assert_eq!(problem.jobs.len(), BASE.jobs);
            assert_eq!(problem.check(), Ok(()));
            let total: f64 = problem.jobs.iter().map(|job| job.work).sum();
            assert!((total - 3000.0).abs() < 1e-6);
            assert!(problem.jobs.iter().all(|job| 1 <= job.min && job.min <= job.max && job.max <= 100));
            minima += problem.jobs.iter().map(|job| job.min).sum::<u32>();
            large += problem.jobs.iter().filter(|job| job.work > 500.0).count();
        }
        let mean = f64::from(minima) / runs as f64 / BASE.jobs as f64;
        assert!((2.4..2.6).contains(&mean), "{mean}");
        let large = large as f64 / runs as f64;
        assert!((1.8..2.1).contains(&large), "{large} large jobs of 2");
    }

    #[test]
    fn flex_2_1_a_sweep_over_the_slack_sees_the_same_jobs() {
        let works = |slack| draw(Shape { slack, ..BASE }, 3, 7).iter().map(|d| d.work).collect::<Vec<_>>();
        assert_eq!(works(0.05), works(1.0));
        assert_ne!(works(0.05), draw(BASE, 3, 8).iter().map(|d| d.work).collect::<Vec<_>>());
    }
}
