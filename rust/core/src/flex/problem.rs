//! What FLEX is asked: slots, jobs of one phase, and how their penalties add up (Wolf et al. 2010, §2).

use serde::{Deserialize, Serialize};

use super::penalty::{Aggregate, Penalty, Step};
use super::{Seconds, SlotSeconds};
use crate::waterline::{normalise, Bounds};

/// A snapshot of one phase: the slots of the phase and its active jobs. Ties between jobs go to the earlier one in
/// the list, so a caller that wants them broken by arrival lists the jobs in that order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// Slots of the phase.
    pub slots: u32,
    /// Sum, mean or maximum of the jobs' penalties.
    pub aggregate: Aggregate,
    /// The active jobs. They may have different penalty families; their units are then the caller's to weigh.
    pub jobs: Vec<Job>,
}

/// One active job of the phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Remaining work, above 0. The job ends after `work / s` seconds on `s` slots (linear speed-up).
    pub work: SlotSeconds,
    /// Guaranteed slots. Above `max` it is lowered to it; minima that do not fit together are scaled down.
    pub min: u32,
    /// Slots the job can use: at most its tasks left. With none it cannot run and never completes.
    pub max: u32,
    /// Seconds since the job's submission at the moment of the snapshot.
    pub age: Seconds,
    /// What completing it costs.
    pub penalty: Penalty,
}

/// A problem that makes no sense. `job` is the job's place in [`Problem::jobs`], from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// A number is not one, or out of range.
    #[error("job {job}: {key} must be {rule}, not {value}")]
    Number {
        /// Place of the job.
        job: usize,
        /// The term at fault.
        key: &'static str,
        /// What it must be.
        rule: &'static str,
        /// What it is.
        value: f64,
    },
    /// The steps are empty, or do not rise.
    #[error("job {job}: steps[{step}] {rule}")]
    Steps {
        /// Place of the job.
        job: usize,
        /// Place of the step, from 0.
        step: usize,
        /// What is wrong with it.
        rule: &'static str,
    },
    /// The maximum over jobs of a step family (number tardy, SLA) has no use: §2.1 has only their sum.
    #[error("job {job}: only the sum (minisum) of tardy-job and SLA penalties can be minimised, not the maximum")]
    Minimax {
        /// Place of the job.
        job: usize,
    },
}

impl Problem {
    /// Checks every number; what the solver accepts.
    ///
    /// # Errors
    /// The first thing wrong, by job.
    pub fn check(&self) -> Result<(), ProblemError> {
        self.jobs.iter().enumerate().try_for_each(|(job, j)| {
            number(job, "work", j.work, "a finite number of slot-seconds above 0", |v| v > 0.0)?;
            number(job, "age", j.age, "a finite number of seconds, 0 or more", |v| v >= 0.0)?;
            check_penalty(job, &j.penalty)?;
            if self.aggregate.is_minimax() && !j.penalty.allows_minimax() {
                return Err(ProblemError::Minimax { job });
            }
            Ok(())
        })
    }

    /// The jobs' bounds as the solver keeps them: see [`normalise`].
    pub fn bounds(&self) -> Vec<Bounds> {
        let raw: Vec<Bounds> = self.jobs.iter().map(|j| Bounds { min: j.min, max: j.max }).collect();
        normalise(self.slots, &raw)
    }

    /// The objective's value if the jobs complete at these times (seconds after the snapshot; infinity: never).
    pub fn value(&self, completion: &[Seconds]) -> f64 {
        self.aggregate.of(self.jobs.iter().zip(completion).map(|(job, t)| job.penalty.at(job.age + t)))
    }
}

fn number(
    job: usize,
    key: &'static str,
    value: f64,
    rule: &'static str,
    allowed: impl Fn(f64) -> bool,
) -> Result<(), ProblemError> {
    if value.is_finite() && allowed(value) {
        Ok(())
    } else {
        Err(ProblemError::Number { job, key, rule, value })
    }
}

fn check_penalty(job: usize, penalty: &Penalty) -> Result<(), ProblemError> {
    match penalty {
        Penalty::Response { weight } => check_weight(job, *weight),
        Penalty::Tardy { deadline, weight }
        | Penalty::Tardiness { deadline, weight }
        | Penalty::Lateness { deadline, weight } => {
            number(job, "deadline", *deadline, "a finite number of seconds", |_| true)?;
            check_weight(job, *weight)
        }
        Penalty::Sla { steps } => check_steps(job, steps),
    }
}

fn check_weight(job: usize, weight: f64) -> Result<(), ProblemError> {
    number(job, "weight", weight, "a finite number, 0 or more", |v| v >= 0.0)
}

/// Reads the steps of a service level agreement as people write them, `600:1/1200:5`: at each `/` seconds after
/// submission and the total penalty from then on, both rising. `None` if they are not.
pub fn read_steps(text: &str) -> Option<Vec<Step>> {
    let step = |step: &str| {
        let (deadline, penalty) = step.split_once(':')?;
        Some(Step { deadline: deadline.trim().parse().ok()?, penalty: penalty.trim().parse().ok()? })
    };
    let steps: Vec<Step> = text.split('/').map(step).collect::<Option<_>>()?;
    check_steps(0, &steps).is_ok().then_some(steps)
}

fn check_steps(job: usize, steps: &[Step]) -> Result<(), ProblemError> {
    if steps.is_empty() {
        return Err(ProblemError::Steps { job, step: 0, rule: "is missing: an SLA has at least one step" });
    }
    let mut previous = Step { deadline: f64::NEG_INFINITY, penalty: 0.0 };
    for (step, s) in steps.iter().enumerate() {
        let rule = if !s.deadline.is_finite() || !s.penalty.is_finite() {
            "must be two finite numbers: deadline in seconds, penalty"
        } else if s.deadline <= previous.deadline {
            "must have a later deadline than the step before"
        } else if s.penalty < previous.penalty {
            "must have a penalty that is 0 or more and not below the step before"
        } else {
            previous = *s;
            continue;
        };
        return Err(ProblemError::Steps { job, step, rule });
    }
    Ok(())
}

/// A checked problem in the form the algorithms use.
pub(super) struct Instance<'a> {
    pub problem: &'a Problem,
    /// Normalised bounds of every job.
    pub bounds: Vec<Bounds>,
    /// Jobs that have a slot to run in, ascending. The others never complete, whatever the order.
    pub runnable: Vec<usize>,
}

/// Objective first, total completion time second: the tie-break leads a search across the plateaus of the maximum
/// and of the step families, and of two equally good schedules takes the one that ends its jobs earlier.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Score {
    pub objective: f64,
    pub completions: Seconds,
}

impl Score {
    /// The order of the numbers, for sorting.
    pub fn total_cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.objective.total_cmp(&other.objective).then(self.completions.total_cmp(&other.completions))
    }
}

impl<'a> Instance<'a> {
    pub fn new(problem: &'a Problem) -> Result<Self, ProblemError> {
        problem.check()?;
        let bounds = problem.bounds();
        let runnable = (0..bounds.len()).filter(|&j| bounds[j].max > 0).collect();
        Ok(Self { problem, bounds, runnable })
    }

    pub fn slots(&self) -> u32 {
        self.problem.slots
    }

    pub fn work(&self, job: usize) -> SlotSeconds {
        self.problem.jobs[job].work
    }

    /// Seconds `job` needs for this work on its maximum; infinity if it cannot run.
    pub fn alone(&self, job: usize, work: SlotSeconds) -> Seconds {
        work / f64::from(self.bounds[job].max)
    }

    pub fn penalty(&self, job: usize) -> &Penalty {
        &self.problem.jobs[job].penalty
    }

    /// Seconds from the snapshot until the time `after_submission` of a job.
    pub fn until(&self, job: usize, after_submission: Seconds) -> Seconds {
        after_submission - self.problem.jobs[job].age
    }

    /// The penalty of completing `job` at `t` seconds after the snapshot.
    pub fn cost(&self, job: usize, t: Seconds) -> f64 {
        let job = &self.problem.jobs[job];
        job.penalty.at(job.age + t)
    }

    /// Slots above the minima of the runnable jobs.
    pub fn slack(&self) -> u64 {
        u64::from(self.slots()) - self.runnable.iter().map(|&j| u64::from(self.bounds[j].min)).sum::<u64>()
    }

    /// The score of the runnable jobs; those that cannot run cost the same in every schedule.
    pub fn score(&self, completion: &[Seconds]) -> Score {
        let costs = self.runnable.iter().map(|&j| self.cost(j, completion[j]));
        let objective = self.problem.aggregate.of(costs);
        Score { objective, completions: self.runnable.iter().map(|&j| completion[j]).sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(work: f64, penalty: Penalty) -> Job {
        Job { work, min: 0, max: 1, age: 0.0, penalty }
    }

    fn error(aggregate: Aggregate, job: Job) -> String {
        let fine = Job { work: 1.0, min: 0, max: 1, age: 0.0, penalty: Penalty::Response { weight: 1.0 } };
        Problem { slots: 1, aggregate, jobs: vec![fine, job] }.check().expect_err("must be refused").to_string()
    }

    #[test]
    fn bad_numbers_are_refused_by_job_and_key() {
        let response = Penalty::Response { weight: 1.0 };
        for work in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = error(Aggregate::Sum, job(work, response.clone()));
            assert!(error.starts_with("job 1: work must be") && error.ends_with(&format!("not {work}")), "{error}");
        }
        let error_of = |penalty| error(Aggregate::Sum, job(1.0, penalty));
        assert!(error_of(Penalty::Response { weight: -1.0 }).starts_with("job 1: weight"));
        assert!(error_of(Penalty::Tardy { deadline: f64::NAN, weight: 1.0 }).starts_with("job 1: deadline"));
        let old = Job { age: -1.0, ..job(1.0, response) };
        assert!(error(Aggregate::Sum, old).starts_with("job 1: age"));
    }

    #[test]
    fn steps_must_rise() {
        let steps = |list: &[(f64, f64)]| {
            let steps = list.iter().map(|&(deadline, penalty)| Step { deadline, penalty }).collect();
            error(Aggregate::Sum, job(1.0, Penalty::Sla { steps }))
        };
        assert!(steps(&[]).contains("at least one step"));
        assert!(steps(&[(1.0, 1.0), (1.0, 2.0)]).contains("steps[1] must have a later deadline"));
        assert!(steps(&[(1.0, 2.0), (2.0, 1.0)]).contains("steps[1] must have a penalty"));
        assert!(steps(&[(1.0, f64::NAN)]).contains("steps[0] must be two finite numbers"));
    }

    #[test]
    fn flex_1_3_minimax_of_the_step_families_is_refused() {
        let steps = vec![Step { deadline: 1.0, penalty: 1.0 }];
        for penalty in [Penalty::Tardy { deadline: 1.0, weight: 1.0 }, Penalty::Sla { steps }] {
            assert!(error(Aggregate::Max, job(1.0, penalty)).contains("minisum"));
        }
    }
}
