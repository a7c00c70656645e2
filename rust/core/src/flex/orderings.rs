//! Priority orderings to feed the malleable packing scheme (Wolf et al. 2010, §3.2).
//!
//! The generic ordering works for every metric: by completion in the best moldable schedule. The paper has
//! metric-specific ones too but omits them; these are the classic rules of single-machine scheduling for each family.

use serde::{Deserialize, Serialize};

use super::penalty::Penalty;
use super::problem::Instance;
use super::steps::{step_targets, stepped_jobs};
use super::{rap, Seconds};

/// Where an ordering came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// By completion in the best moldable schedule (any metric).
    Generic,
    /// Least work per weight first: Smith's rule (response, stretch, lateness, tardiness; SRPT without weights).
    Smith,
    /// Longest time alone first (makespan).
    LongestFirst,
    /// Most work first (makespan).
    LargestFirst,
    /// Earliest deadline first (tardiness, step families).
    EarliestDeadline,
    /// Earliest of deadline and earliest possible completion (tardiness).
    ModifiedDueDate,
    /// Earliest deadline first, the deadline being the latest completion within the best value found by bisection
    /// (every maximum).
    EffectiveDeadline,
    /// Earliest deadline first on the steps that can be kept, cheapest concessions first: Moore and Hodgson's rule
    /// (number tardy, SLA).
    StepTargets,
    /// The exhaustive search over all orderings.
    Exhaustive,
}

/// The orderings worth trying for this problem. Those for a maximum by effective deadlines come on top, see
/// [`by_effective_deadline`].
pub(super) fn candidates(instance: &Instance) -> Vec<(Rule, Vec<usize>)> {
    let has = |family: fn(&Penalty) -> bool| instance.runnable.iter().any(|&job| family(instance.penalty(job)));
    let mut orders = vec![(Rule::Generic, generic(instance))];
    if instance.problem.aggregate.is_minimax() {
        let longest = |job| -instance.alone(job, instance.work(job));
        orders.push((Rule::LongestFirst, sorted(instance, longest)));
        orders.push((Rule::LargestFirst, sorted(instance, |job| -instance.work(job))));
        return orders;
    }
    orders.push((Rule::Smith, sorted(instance, |job| smith(instance, job))));
    if has(|p| matches!(p, Penalty::Tardiness { .. })) {
        orders.push((Rule::ModifiedDueDate, sorted(instance, |job| modified_due_date(instance, job))));
    }
    if has(|p| p.deadline().is_some()) {
        orders.push((Rule::EarliestDeadline, sorted(instance, |job| deadline(instance, job))));
    }
    if has(|p| !p.steps().is_empty()) {
        orders.push((Rule::StepTargets, by_step_targets(instance)));
    }
    orders
}

/// The runnable jobs by ascending key, ties in the problem's order.
fn sorted(instance: &Instance, key: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order = instance.runnable.clone();
    order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    order
}

fn generic(instance: &Instance) -> Vec<usize> {
    let (slots, _, _) = rap::solve(instance);
    sorted(instance, |job| instance.work(job) / f64::from(slots[job]))
}

/// Work per weight; the weight of a job with steps is its last.
fn smith(instance: &Instance, job: usize) -> f64 {
    let penalty = instance.penalty(job);
    let weight = penalty.steps().last().map_or(penalty.line_below().0, |last| last.penalty);
    instance.work(job) / weight
}

fn deadline(instance: &Instance, job: usize) -> Seconds {
    instance.penalty(job).deadline().map_or(f64::INFINITY, |d| instance.until(job, d))
}

fn modified_due_date(instance: &Instance, job: usize) -> Seconds {
    let soonest = instance.work(job) / f64::from(instance.slots());
    deadline(instance, job).max(soonest)
}

/// Earliest deadline first, the deadline being the latest completion that keeps the job's penalty within `value`.
pub(super) fn by_effective_deadline(instance: &Instance, value: f64) -> Vec<usize> {
    sorted(instance, |job| instance.until(job, instance.penalty(job).latest_within(value)))
}

/// Jobs with steps by the deadlines they can keep, then jobs without steps by Smith's rule, then those given up.
fn by_step_targets(instance: &Instance) -> Vec<usize> {
    let stepped = stepped_jobs(instance);
    let mut keys = vec![(0, 0.0); instance.bounds.len()];
    for ((&job, stepped), target) in
        instance.runnable.iter().zip(&stepped).zip(step_targets(&stepped, instance.slots()))
    {
        keys[job] = match target {
            Some(deadline) => (0, deadline),
            None if stepped.steps.is_empty() => (1, smith(instance, job)),
            None => (2, stepped.work),
        };
    }
    let mut order = instance.runnable.clone();
    order.sort_by(|&a, &b| keys[a].0.cmp(&keys[b].0).then(keys[a].1.total_cmp(&keys[b].1)));
    order
}
