//! FIFO, FAIR, HFSP and FLEX side by side on a cluster, each measured by every metric. Not in the paper.
//!
//! The jobs are those of §4.1 (eight of ten small, weights, deadlines and agreements drawn), as maps and reduces of some
//! ten seconds in YARN's one pool of containers, under the same preemption for all.

use hiatus_core::flex::{Metric, Terms};
use hiatus_core::units::Resource;
use rayon::prelude::*;

use super::cluster::{draws, outcome, stage};
use super::workload::{draw, rng, Shape};
use crate::cluster::testbed::{Room, Testbed};
use crate::cluster::Preemption;
use crate::cluster::{isolation, Outcome};
use crate::report::{Cell, Claim, Evidence, Report, Sample, Table};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{gb, Arrivals, Job};

const DRAWS: usize = 10;
const JOBS: usize = 20;
const NODES: usize = 10;
const CONTAINERS_PER_NODE: u32 = 4;
/// Seconds of a task, where §4.1 has one.
const TASK_S: f64 = 10.0;
/// Part of a job's work that its reduces do.
const REDUCES: f64 = 0.2;
const SLOWSTART: f64 = 0.8;
/// An ApplicationMaster is small beside a task, and nodes have room for all of them.
const MASTER: Resource = Resource { memory_mb: 64, vcores: 0 };
/// Two values closer than this are equal: a task more or less at the end of a job.
const EQUAL_WITHIN: f64 = 1.02;

pub(super) const SIDE_BY_SIDE: Study = Study {
    id: "flex-side-by-side",
    title: "FIFO, FAIR, HFSP and FLEX on the same workloads, each by every metric (cluster simulator)",
    run,
};

/// Under what the jobs run: a policy, and what it aims at if it is FLEX.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scheduler {
    Other(&'static str),
    /// With the slack of §4.1's base case.
    Flex(Metric),
    /// With all slack: nobody is sure of anything.
    Unbound(Metric),
}

const OTHERS: [Scheduler; 3] = [Scheduler::Other("fifo"), Scheduler::Other("fair"), Scheduler::Other("hfsp")];
/// Where FLEX begins among all schedulers, one for each metric.
const FLEX: usize = OTHERS.len();
/// Where FLEX without minima does.
const UNBOUND: usize = FLEX + Metric::ALL.len();

impl Scheduler {
    fn all() -> impl Iterator<Item = Scheduler> {
        let flex = Metric::ALL.map(Scheduler::Flex).into_iter();
        OTHERS.into_iter().chain(flex).chain(Metric::ALL.map(Scheduler::Unbound))
    }

    fn name(self) -> String {
        match self {
            Scheduler::Other(policy) => policy.to_uppercase(),
            Scheduler::Flex(metric) => format!("FLEX {metric}"),
            Scheduler::Unbound(metric) => format!("FLEX without minima {metric}"),
        }
    }

    fn outcome(self, jobs: &[Job], seed: u64) -> Result<Outcome, StudyError> {
        let (policy, knobs) = match self {
            Scheduler::Other(policy) => (policy, Vec::new()),
            Scheduler::Flex(metric) => ("flex", vec![("flex-metric", metric.name())]),
            Scheduler::Unbound(metric) => {
                ("flex", vec![("flex-metric", metric.name()), ("flex-slack", "1"), ("flex-sure-share", "0")])
            }
        };
        let knobs: Vec<(&str, String)> = knobs.into_iter().map(|(knob, value)| (knob, value.to_owned())).collect();
        outcome(testbed(policy), &knobs, jobs, seed)
    }
}

fn testbed(policy: &str) -> Testbed {
    let masters = Resource::new(MASTER.memory_mb * JOBS as i64 / NODES as i64, 0);
    let room = Room::Pool(gb(i64::from(CONTAINERS_PER_NODE)) + masters);
    Testbed { nodes: NODES, room, ..Testbed::thesis(policy, Preemption::Suspend) }
}

/// Jobs, and what each brings to the metrics.
struct Workload {
    jobs: Vec<Job>,
    terms: Vec<Terms>,
}

/// The jobs of one draw: all at once, or arriving during the first two thirds of the time that their work takes.
fn workload(arriving: bool, seed: u64, run: u64) -> Workload {
    let slots = NODES as u32 * CONTAINERS_PER_NODE;
    let drafts = draw(Shape { jobs: JOBS, slots, small: JOBS * 8 / 10, slack: 0.75 }, seed, run);
    let whole_s: f64 = drafts.iter().map(|draft| draft.work).sum::<f64>() * TASK_S / f64::from(slots);
    let mut rng = rng(seed.wrapping_add(1), run);
    let gap_s = if arriving { whole_s * 2.0 / 3.0 / JOBS as f64 } else { 0.0 };
    let at = Arrivals::Poisson(gap_s).draw(JOBS, &mut rng);
    let (mut jobs, mut terms) = (Vec::new(), Vec::new());
    for ((number, draft), at) in drafts.into_iter().enumerate().zip(at) {
        let mut stage = |part: f64, slowstart: f64| stage(draft.work * part, TASK_S, slowstart, &mut rng);
        let stages = vec![stage(1.0 - REDUCES, 1.0), stage(REDUCES, SLOWSTART)];
        let own = scaled(draft.terms);
        let steps: Vec<String> = own.steps.iter().map(|step| format!("{}:{}", step.deadline, step.penalty)).collect();
        let job = Job { stages, master: MASTER, ..Job::new(&format!("job{number}")) }.at(at);
        let job = job.tag(&format!("hiatus.weight={}", own.weight)).tag(&format!("hiatus.sla={}", steps.join("/")));
        jobs.push(job.tag(&format!("hiatus.deadline=+{}", own.deadline.unwrap_or_default())));
        terms.push(own);
    }
    Workload { jobs, terms }
}

/// Times in seconds of such tasks, and a weight as tags may have it.
fn scaled(terms: Terms) -> Terms {
    let mut steps = terms.steps;
    steps.iter_mut().for_each(|step| step.deadline *= TASK_S);
    let (weight, deadline) = (terms.weight.max(0.01), terms.deadline.map(|deadline| deadline * TASK_S));
    Terms { weight, deadline, steps, alone: terms.alone }
}

/// The value of a metric, by what became of the jobs.
fn value(metric: Metric, outcome: &Outcome, terms: &[Terms]) -> f64 {
    let penalties = outcome.jobs.iter().zip(terms).map(|(job, terms)| {
        let after = if metric.ignores_age() { job.submitted.seconds() } else { 0.0 };
        // All terms are there.
        metric.penalty(terms).map_or(f64::NAN, |penalty| penalty.at(after + job.sojourn_s()))
    });
    metric.aggregate().of(penalties)
}

/// Values of one draw: a row per scheduler, a column per metric.
fn measure(arriving: bool, seed: u64, run: u64) -> Result<Vec<Vec<f64>>, StudyError> {
    let Workload { jobs, mut terms } = workload(arriving, seed, run);
    let alone = isolation(&jobs, &testbed("fifo"))?;
    terms.iter_mut().zip(alone).for_each(|(terms, alone)| terms.alone = alone);
    let schedulers: Vec<Scheduler> = Scheduler::all().collect();
    let row = |scheduler: &Scheduler| {
        let outcome = scheduler.outcome(&jobs, seed)?;
        Ok(Metric::ALL.iter().map(|metric| value(*metric, &outcome, &terms)).collect())
    };
    schedulers.par_iter().map(row).collect()
}

/// One of the two comparisons, all draws: what [`measure`] gave.
struct Comparison(Vec<Vec<Vec<f64>>>);

impl Comparison {
    /// A metric under a scheduler, by their places.
    fn sample(&self, scheduler: usize, metric: usize) -> Sample {
        Sample::new(self.0.iter().map(|draw| draw[scheduler][metric]).collect())
    }

    fn mean(&self, scheduler: usize, metric: usize) -> f64 {
        self.sample(scheduler, metric).mean()
    }

    /// The one of the schedulers that is best by the metric on average.
    fn best(&self, schedulers: std::ops::Range<usize>, metric: usize) -> usize {
        let first = schedulers.start;
        schedulers.min_by(|a, b| self.mean(*a, metric).total_cmp(&self.mean(*b, metric))).unwrap_or(first)
    }

    /// Whether FLEX, each time asked for the metric it is measured by, is best or equal; its places begin at `flex`.
    fn evidence(&self, flex: usize) -> Evidence {
        let compare = |evidence: Evidence, (at, metric): (usize, &Metric)| {
            let other = self.mean(self.best(0..OTHERS.len(), at), at);
            // Rewards for being early are negative: what is compared is the distance.
            evidence.at_most(metric.name(), self.mean(flex + at, at), other + (EQUAL_WITHIN - 1.0) * other.abs())
        };
        Metric::ALL.iter().enumerate().fold(Evidence::default(), compare)
    }

    /// A row per metric: the means, and how far FLEX is from the best of the others.
    fn table(&self, name: &str, title: &str) -> Table {
        let columns = [
            "metric",
            "FIFO",
            "FAIR",
            "HFSP",
            "FLEX asked for it",
            "less best other",
            "half width (95 %)",
            "without minima",
            "best FLEX",
            "asked for",
        ];
        let mut table = Table::new(name, &format!("Means over {} draws, {title}", self.0.len()), &columns);
        for (at, metric) in Metric::ALL.iter().enumerate() {
            let (flex, unbound) = (FLEX + at, UNBOUND + at);
            let other = self.best(0..OTHERS.len(), at);
            let less = Sample::new(self.0.iter().map(|draw| draw[flex][at] - draw[other][at]).collect());
            let best = self.best(FLEX..UNBOUND, at);
            let mut row: Vec<Cell> = vec![metric.name().into()];
            row.extend((0..OTHERS.len()).chain([flex]).map(|scheduler| Cell::from(self.mean(scheduler, at))));
            row.extend([less.mean(), less.half_width(), self.mean(unbound, at), self.mean(best, at)].map(Cell::from));
            row.push(Metric::ALL[best - FLEX].name().into());
            table.row(row);
        }
        table
    }

    /// Everything: a row per metric, a column per scheduler.
    fn matrix(&self, name: &str, title: &str) -> Table {
        let mut columns = vec!["metric".to_owned()];
        columns.extend(Scheduler::all().map(Scheduler::name));
        let mut table = Table::new(&format!("{name}-all"), &format!("Every scheduler, {title}"), &columns);
        for (at, metric) in Metric::ALL.iter().enumerate() {
            let values = (0..columns.len() - 1).map(|scheduler| Cell::from(self.mean(scheduler, at)));
            table.row([metric.name().into()].into_iter().chain(values).collect());
        }
        table
    }
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let mut report = Report::default();
    for (arriving, name, title) in [(false, "at-once", "all jobs at once"), (true, "arriving", "jobs that arrive")] {
        let comparison = Comparison(draws(setting, title, DRAWS, |run| measure(arriving, setting.seed, run))?);
        report.tables.extend([comparison.table(name, title), comparison.matrix(name, title)]);
        for (first, which) in [(FLEX, "FLEX"), (UNBOUND, "FLEX without minima")] {
            let statement = format!("{which} best or within 2 % on the metric it is asked for, {title}");
            report.claims.push(Claim::new("best on its metric", &statement, comparison.evidence(first)));
        }
    }
    report.notes.push(format!(
        "Simulated: {NODES} nodes of {CONTAINERS_PER_NODE} containers, heartbeats of 3 s, {JOBS} jobs of §4.1 as maps and \
         reduces of {TASK_S} s ± 25 %, 300 s of work for the whole cluster, suspension allowed under all policies, slack \
         75 %. Nobody knows the task times before tasks end. Tags tell weights, deadlines and agreements."
    ));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::JobOutcome;
    use crate::cluster::Spent;
    use hiatus_core::units::Millis;

    #[test]
    fn metrics_are_measured_from_submission_but_the_makespan_is_not() {
        let job = |submitted: u64, finished: u64| JobOutcome {
            name: String::new(),
            bin: 0,
            submitted: Millis(submitted * 1000),
            started: None,
            finished: Some(Millis(finished * 1000)),
            work_s: 1.0,
            spent: Spent::default(),
        };
        let outcome = Outcome {
            jobs: vec![job(0, 30), job(20, 40)],
            count: Default::default(),
            makespan: Millis(40_000),
            estimates: Vec::new(),
        };
        let terms = Terms { weight: 1.0, deadline: Some(25.0), steps: Vec::new(), alone: 10.0 };
        let terms = [terms.clone(), terms];
        let values = [Metric::AvgResponse, Metric::Makespan, Metric::NumberTardy, Metric::MaxStretch];
        assert_eq!(values.map(|metric| value(metric, &outcome, &terms)), [25.0, 40.0, 1.0, 3.0]);
    }
}
