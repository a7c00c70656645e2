//! FIFO, FAIR, HFSP and FLEX side by side on a cluster, each measured by every metric. Not in the paper.
//!
//! The jobs are those of §4.1 (eight of ten small, weights, deadlines and agreements drawn), as maps and reduces of some
//! ten seconds in YARN's one pool of containers, under the same preemption for all.

use hiatus_core::flex::{Metric, Terms};
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::Resource;
use rand::Rng;
use rayon::prelude::*;

use super::workload::{draw, rng, Shape};
use crate::cluster::testbed::{Preemption, Room, Testbed};
use crate::cluster::{isolation, Outcome};
use crate::report::{number, Cell, Claim, Evidence, Report, Sample, Table};
use crate::reproduce::{ensemble, Setting, Study, StudyError};
use crate::workload::cluster::{gb, millis, Arrivals, Job, Stage, Times};

const DRAWS: usize = 10;
const JOBS: usize = 20;
const NODES: usize = 10;
const CONTAINERS_PER_NODE: u32 = 4;
/// Seconds of a task, where §4.1 has one.
const TASK_S: f64 = 10.0;
/// Task times are within this part of their mean.
const SPREAD: f64 = 0.25;
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
    Flex(Metric),
}

const OTHERS: [Scheduler; 3] = [Scheduler::Other("fifo"), Scheduler::Other("fair"), Scheduler::Other("hfsp")];

impl Scheduler {
    fn all() -> impl Iterator<Item = Scheduler> {
        OTHERS.into_iter().chain(Metric::ALL.map(Scheduler::Flex))
    }

    fn name(self) -> String {
        match self {
            Scheduler::Other(policy) => policy.to_uppercase(),
            Scheduler::Flex(metric) => format!("FLEX {metric}"),
        }
    }

    fn testbed(self) -> Testbed {
        let (policy, metric) = match self {
            Scheduler::Other(policy) => (policy, None),
            Scheduler::Flex(metric) => ("flex", Some(metric)),
        };
        let masters = Resource::new(MASTER.memory_mb * JOBS as i64 / NODES as i64, 0);
        let room = Room::Pool(gb(i64::from(CONTAINERS_PER_NODE)) + masters);
        let mut testbed = Testbed { nodes: NODES, room, ..Testbed::thesis(policy, Preemption::Suspend) };
        let metric = metric.map(|metric| (format!("{CLUSTER_PREFIX}flex-metric"), metric.name().to_owned()));
        testbed.properties.extend(metric);
        testbed
    }
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
        let mut stage = |tasks: f64, slowstart: f64| {
            let time = |_| millis(TASK_S * rng.random_range(1.0 - SPREAD..1.0 + SPREAD));
            let times = Times::Each((0..tasks.ceil().max(1.0) as usize).map(time).collect());
            Stage { times, size: gb(1), partition: None, slowstart }
        };
        let stages = vec![stage(draft.work * (1.0 - REDUCES), 1.0), stage(draft.work * REDUCES, SLOWSTART)];
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
    let alone = isolation(&jobs, &OTHERS[0].testbed())?;
    terms.iter_mut().zip(alone).for_each(|(terms, alone)| terms.alone = alone);
    let schedulers: Vec<Scheduler> = Scheduler::all().collect();
    let row = |scheduler: &Scheduler| {
        let outcome = scheduler.testbed().world(&jobs, seed)?.run().outcome();
        Ok(Metric::ALL.iter().map(|metric| value(*metric, &outcome, &terms)).collect())
    };
    schedulers.par_iter().map(row).collect()
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let draws = if setting.quick { 2 } else { DRAWS };
    let mut report = Report::default();
    for (arriving, name, title) in [(false, "at-once", "all jobs at once"), (true, "arriving", "jobs that arrive")] {
        let one = |run| measure(arriving, setting.seed, run);
        let all = ensemble::runs(title, draws, one).into_iter().collect::<Result<Vec<_>, _>>()?;
        let mean = |scheduler: usize, metric: usize| {
            Sample::new(all.iter().map(|draw| draw[scheduler][metric]).collect()).mean()
        };
        let columns = ["metric", "FIFO", "FAIR", "HFSP", "FLEX asked for it", "best FLEX", "asked for"];
        let mut table = Table::new(name, &format!("Means over {draws} draws, {title}"), &columns);
        let mut matrix_columns = vec!["metric".to_owned()];
        matrix_columns.extend(Scheduler::all().map(Scheduler::name));
        let mut matrix = Table::new(&format!("{name}-all"), &format!("Every scheduler, {title}"), &matrix_columns);
        let (mut evidence, mut exceptions) = (Evidence::default(), Vec::new());
        for (at, metric) in Metric::ALL.into_iter().enumerate() {
            let others: Vec<f64> = (0..OTHERS.len()).map(|scheduler| mean(scheduler, at)).collect();
            let flex: Vec<f64> = (0..Metric::ALL.len()).map(|asked| mean(OTHERS.len() + asked, at)).collect();
            let best_other = others.iter().copied().fold(f64::INFINITY, f64::min);
            let best = (0..flex.len()).min_by(|a, b| flex[*a].total_cmp(&flex[*b])).unwrap_or(at);
            let mut row: Vec<Cell> = vec![metric.name().into()];
            row.extend(others.iter().chain([&flex[at], &flex[best]]).map(|value| Cell::from(*value)));
            row.push(Metric::ALL[best].name().into());
            table.row(row);
            let whole = [metric.name().into()].into_iter();
            matrix.row(whole.chain(others.iter().chain(&flex).map(|value| Cell::from(*value))).collect());
            // Rewards for being early are negative: what is compared is the distance.
            let allowed = best_other + (EQUAL_WITHIN - 1.0) * best_other.abs();
            evidence = evidence.at_most(metric.name(), flex[at], allowed);
            if flex[at] > allowed {
                exceptions.push(format!("{metric} {} against {}", number(flex[at]), number(best_other)));
            }
        }
        report.tables.extend([table, matrix]);
        let statement = match arriving {
            false => "FLEX best or within 2 % on the metric it is asked for, all jobs at once",
            true => "FLEX best or within 2 % on the metric it is asked for, jobs that arrive",
        };
        report.claims.push(Claim::new("best on its metric", statement, evidence));
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
