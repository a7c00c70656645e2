//! Lower bounds on what any schedule can reach, whatever the algorithm. Not in the paper: they back its claims.
//!
//! Two relaxations. *Alone*: every job has its maximum to itself. *Squashed*: minima and maxima are forgotten, and the
//! slots are one machine of their joint speed, for which the classic rules are optimal: Smith's for linear penalties,
//! earliest deadline first for the maximum, Moore and Hodgson's for the number of tardy jobs.

use super::penalty::Aggregate;
use super::problem::{Instance, Problem, ProblemError};
use super::steps::{step_targets, stepped_jobs};
use super::{Seconds, SlotSeconds};

/// Relative precision of the bound on a maximum.
const PRECISION: f64 = 1e-9;

/// A value that no schedule of the problem is below, malleable or not.
///
/// # Errors
/// When the problem does not pass [`Problem::check`].
pub fn lower_bound(problem: &Problem) -> Result<f64, ProblemError> {
    let instance = Instance::new(problem)?;
    if instance.runnable.len() < problem.jobs.len() {
        // Jobs that cannot run never complete, and that value is the same for every schedule; keep it simple.
        let alone: Vec<Seconds> = (0..problem.jobs.len()).map(|job| instance.alone(job, instance.work(job))).collect();
        return Ok(problem.value(&alone));
    }
    if problem.jobs.is_empty() {
        return Ok(0.0);
    }
    let total = || sum_bound(&instance, 0.0, &everything(&instance)).max(tardy_bound(&instance));
    Ok(match problem.aggregate {
        Aggregate::Sum => total(),
        Aggregate::Mean => total() / problem.jobs.len() as f64,
        Aggregate::Max => least_maximum(&instance),
    })
}

fn everything(instance: &Instance) -> Vec<Left> {
    instance.runnable.iter().map(|&job| Left { job, work: instance.work(job) }).collect()
}

/// An unfinished job in the middle of a schedule.
#[derive(Clone, Copy)]
pub(super) struct Left {
    pub job: usize,
    pub work: SlotSeconds,
}

/// No schedule of the unfinished jobs from `now` on has a smaller sum of penalties.
pub(super) fn sum_bound(instance: &Instance, now: Seconds, left: &[Left]) -> f64 {
    let alone_cost: f64 = left.iter().map(|l| instance.cost(l.job, now + instance.alone(l.job, l.work))).sum();
    let line = |l: &Left| instance.penalty(l.job).line_below();
    let mut smith = left.to_vec();
    smith.sort_by(|a, b| (a.work * line(b).0).total_cmp(&(b.work * line(a).0)));
    let (mut squashed_cost, mut work) = (0.0, 0.0);
    for l in &smith {
        work += l.work;
        let (slope, intercept) = line(l);
        let submission = -instance.until(l.job, 0.0);
        squashed_cost += slope * (submission + now + work / f64::from(instance.slots())) + intercept;
    }
    alone_cost.max(squashed_cost)
}

/// Where every job has steps: the least number of first deadlines missed on the squashed machine, each at the price of
/// the cheapest first step.
fn tardy_bound(instance: &Instance) -> f64 {
    let mut cheapest = f64::INFINITY;
    let mut stepped = stepped_jobs(instance);
    for job in &mut stepped {
        let Some(first) = job.steps.first_mut() else { return f64::NEG_INFINITY };
        cheapest = cheapest.min(first.penalty);
        // At equal prices the largest job concedes, which is Moore and Hodgson's rule.
        first.penalty = 1.0;
        job.steps.truncate(1);
    }
    let missed = step_targets(&stepped, instance.slots()).iter().filter(|target| target.is_none()).count();
    missed as f64 * cheapest
}

/// Whether some schedule from `now` on might keep every unfinished job's penalty at `value` or less: earliest
/// effective deadline first on the squashed machine, and every job alone.
pub(super) fn may_keep_within(instance: &Instance, now: Seconds, left: &[Left], value: f64) -> bool {
    let mut due: Vec<(Seconds, SlotSeconds)> = Vec::with_capacity(left.len());
    for l in left {
        let deadline = instance.until(l.job, instance.penalty(l.job).latest_within(value)) - now;
        if instance.alone(l.job, l.work) > deadline {
            return false;
        }
        due.push((deadline, l.work));
    }
    due.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut work = 0.0;
    due.iter().all(|&(deadline, own)| {
        work += own;
        work / f64::from(instance.slots()) <= deadline
    })
}

/// The least value that [`may_keep_within`] does not rule out, but for a relative [`PRECISION`]; rounded down.
pub(super) fn least_maximum(instance: &Instance) -> f64 {
    let left = everything(instance);
    let within = |value| may_keep_within(instance, 0.0, &left, value);
    let alone_costs = left.iter().map(|l| instance.cost(l.job, instance.alone(l.job, l.work)));
    let mut low = alone_costs.fold(f64::NEG_INFINITY, f64::max);
    if within(low) {
        return low;
    }
    let mut step = low.abs().max(1.0);
    while step.is_finite() && !within(low + step) {
        low += step;
        step *= 2.0;
    }
    while step > PRECISION * low.abs().max(1.0) && step.is_finite() {
        step /= 2.0;
        if !within(low + step) {
            low += step;
        }
    }
    low
}
