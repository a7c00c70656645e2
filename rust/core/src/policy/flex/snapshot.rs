//! The jobs of a queue as a FLEX problem.
//!
//! A slot is the smallest container that any of the jobs works with; work, minima and maxima are told in slots. YARN's
//! containers are one pool, so there is one problem for all phases together, where Hadoop's map and reduce slots were two.

use super::work::Work;
use crate::entitlement::EPSILON;
use crate::estimate::training::History;
use crate::flex::{Job, Metric, Penalty, Problem, Seconds, Step, Terms};
use crate::policy::turns::Turns;
use crate::policy::{by_arrival, Supply};
use crate::view::{JobView, PhaseView};
use crate::waterline::{waterline, Bounds};

/// More slots than this are not told apart: a slot is then more than a container. It bounds what an epoch costs.
const MOST_SLOTS: f64 = 10_000.0;

/// Work of a job that should be done by its estimate, in slot-seconds.
const LEAST_WORK: f64 = 1e-3;

/// Deadline, in seconds after submission, of jobs that have none: they cannot miss it.
const NEVER: Seconds = 1e9;

/// A job of the problem.
#[derive(Debug)]
pub struct Entrant<'a> {
    /// The job.
    pub job: &'a JobView,
    /// What it has left.
    pub work: Work,
    /// A hint that makes no sense with the queue's metric.
    pub unusable: Option<String>,
}

/// The problem of one epoch.
#[derive(Debug)]
pub struct Snapshot<'a> {
    /// What one slot is of the partition.
    pub slot: f64,
    /// The jobs in the order of the problem, which is that of their arrival.
    pub entrants: Vec<Entrant<'a>>,
    /// What is to be solved.
    pub problem: Problem,
}

impl<'a> Snapshot<'a> {
    /// The problem as it is now.
    pub fn take(supply: &Supply<'_>, jobs: &'a [JobView], history: &History, turns: &mut Turns) -> Snapshot<'a> {
        let mut arrived: Vec<&JobView> = jobs.iter().collect();
        arrived.sort_by(|a, b| by_arrival(a, b));
        let free = supply.entitled - jobs.iter().map(|job| job.masters).sum::<f64>();
        let smallest = jobs.iter().flat_map(containers).filter(|one| *one > 0.0).fold(f64::INFINITY, f64::min);
        let slot = smallest.max(free / MOST_SLOTS);
        let slots = (free / slot + EPSILON) as u32;
        let bounds = bounds(supply, &arrived, slot, slots);
        let entrant = |((job, bounds), work): ((&&'a JobView, &Bounds), Work)| {
            let (penalty, unusable) = penalty(supply, job, &work, slot, bounds.max.min(slots));
            let age = match supply.settings.flex.metric.ignores_age() {
                true => 0.0,
                false => supply.now.since(job.submitted).seconds(),
            };
            let left = (work.left.work_s / slot).max(LEAST_WORK);
            let job_of = Job { work: left, min: bounds.min, max: bounds.max, age, penalty };
            (Entrant { job, work, unusable }, job_of)
        };
        let works = arrived.iter().map(|job| Work::of(job, history, supply.settings)).collect();
        let works = match supply.settings.flex.metric {
            // Who has least left goes first, and that alone.
            Metric::AvgResponse => in_turn(works, &arrived, turns),
            _ => works,
        };
        let (entrants, jobs) = arrived.iter().zip(&bounds).zip(works).map(entrant).unzip();
        let problem = Problem { slots, aggregate: supply.settings.flex.metric.aggregate(), jobs };
        Snapshot { slot, entrants, problem }
    }

    /// Whether the jobs could use more than there is.
    pub fn is_contended(&self) -> bool {
        self.problem.jobs.iter().map(|job| u64::from(job.max)).sum::<u64>() > u64::from(self.problem.slots)
    }
}

/// So much more left is later in a solver's eyes, whatever it rounds.
const TRACE: f64 = 1.001;

/// A solver knows of no errors: who leads another by less than those is told to have as much left, and a trace more, which is no tie.
fn in_turn(mut works: Vec<Work>, jobs: &[&JobView], turns: &mut Turns) -> Vec<Work> {
    let sized = jobs.iter().enumerate().filter(|(_, job)| job.has_tasks());
    let left = sized.map(|(at, job)| (at, *job, works[at].left.work_s));
    let in_turn = turns.in_order(left, |at| works[*at].left.error_s);
    let mut least_s = 0.0_f64;
    for at in in_turn {
        let left_s = &mut works[at].left.work_s;
        *left_s = left_s.max(least_s);
        least_s = *left_s * TRACE;
    }
    works
}

/// What the job may want to hold beside its ApplicationMaster, as a fraction of the partition.
pub fn useful(supply: &Supply<'_>, job: &JobView) -> f64 {
    let most = supply.settings.flex.max_share * supply.attainable;
    (job.demand - job.masters).min(most.max(largest(job))).max(0.0)
}

/// Sizes of the containers that the job works with now; its ApplicationMaster is one only while it has nothing else.
fn containers(job: &JobView) -> impl Iterator<Item = f64> + '_ {
    let open = || job.phases.iter().filter(|phase| phase.left() > 0);
    let master = open().next().is_none().then_some(job.demand - job.masters);
    open().map(|phase: &PhaseView| phase.one).chain(master)
}

fn largest(job: &JobView) -> f64 {
    containers(job).fold(0.0, f64::max)
}

/// Minima and maxima in slots. FAIR's waterline shares out what the slack leaves, and each job's container.
fn bounds(supply: &Supply<'_>, jobs: &[&JobView], slot: f64, slots: u32) -> Vec<Bounds> {
    let in_slots = |share: f64| (share / slot - EPSILON).ceil() as u32;
    let wants: Vec<Bounds> = jobs
        .iter()
        .map(|job| {
            let max = in_slots(useful(supply, job));
            Bounds { min: in_slots(largest(job)).min(max), max }
        })
        .collect();
    let one_each: f64 = wants.iter().map(|bounds| f64::from(bounds.min)).sum();
    let rules = &supply.settings.flex;
    let shared = (1.0 - rules.slack) * f64::from(slots);
    let sure = shared.max(one_each.min(rules.sure_share * f64::from(slots))) as u32;
    let minima = waterline(sure, &wants);
    wants.iter().zip(minima).map(|(bounds, min)| Bounds { min, max: bounds.max }).collect()
}

/// What completing the job costs, by its own metric or its queue's; and why its own cannot be used.
fn penalty(supply: &Supply<'_>, job: &JobView, work: &Work, slot: f64, slots: u32) -> (Penalty, Option<String>) {
    let rules = &supply.settings.flex;
    let hints = job.hints.under(&supply.settings.hints);
    let alone = work.whole_s / slot / f64::from(slots.max(1));
    let of = |metric: Metric| {
        let steps = if hints.steps.is_empty() { &rules.steps } else { &hints.steps };
        let terms = Terms {
            weight: hints.weight.unwrap_or(rules.weight),
            deadline: Some(hints.deadline.or(rules.deadline).unwrap_or(NEVER)),
            steps: if steps.is_empty() { vec![Step { deadline: NEVER, penalty: 0.0 }] } else { steps.clone() },
            alone: alone.max(work.task_s).max(LEAST_WORK),
        };
        // With a deadline and steps there is nothing to miss.
        metric.penalty(&terms).unwrap_or(Penalty::Response { weight: terms.weight })
    };
    let own = hints.metric.map(|metric| (metric, of(metric)));
    match own {
        Some((_, penalty)) if !rules.metric.aggregate().is_minimax() || penalty.allows_minimax() => (penalty, None),
        Some((metric, _)) => {
            let wrong = format!("hiatus.metric={metric}: has no maximum, which {} asks for; ignored", rules.metric);
            (of(rules.metric), Some(wrong))
        }
        None => (of(rules.metric), None),
    }
}
