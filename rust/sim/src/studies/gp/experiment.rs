//! The paper's cluster, 100 nodes of four map slots, and the schedulers that are compared on it: Hiatus' core with its knobs.

use rayon::prelude::*;

use super::metrics::Metrics;
use super::workload::{
    draw, Group, Kind, AFTER, BUSY_GAP_S, LONG, OTHER_QUEUE, PRODUCTION_QUEUE, PRODUCTION_WORK, SLOTS,
};
use crate::cluster::{JobOutcome, Node, Outcome, Queue, SimulationError, World};
use crate::report::Sample;
use crate::studies::ensemble;
use crate::studies::study::{Setting, StudyError};
use crate::workload::cluster::{gb, Job};
use hiatus_core::units::Millis;

/// How far the model goes, for reports.
pub(super) const METHOD: &str = "Simulated: 100 nodes of 4 map slots, heartbeats of 3 s, a second from a task's start to its work, Table III with \
    task times ± 20 %, the same jobs in the same order under all schedulers; 25 more jobs follow and do not count. Policy `fair` in two \
    queues of 80 % and 20 %; all preemption is for the 80 %. HFS kills the same part of every non-production job, rounded up, or \
    down to each job's share; the interval of the rule is 20 s, tasks above 500 s are long, nothing is spared for having just begun, all \
    other knobs are defaults.";

/// Draws of each point.
const DRAWS: usize = 16;
const NODES: usize = 100;
const SLOTS_PER_NODE: i64 = 4;
const HEARTBEAT: Millis = Millis(3_000);
/// From an ApplicationMaster's or a task's start to its work.
const START: Millis = Millis(1_000);
/// What production work is guaranteed; the others have the rest.
const PRODUCTION_SHARE: f64 = 0.8;
/// The paper's interval between checks, in ms.
const INTERVAL_MS: &str = "20000";

/// Which containers go, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scheduler {
    pub name: &'static str,
    /// The order of victims.
    victims: &'static str,
    candidates: &'static str,
    /// Whether long jobs give way to those they starve.
    rule: bool,
    action: &'static str,
    /// Whether tasks tell how far they are.
    telling: bool,
    /// More knobs.
    knobs: &'static [(&'static str, &'static str)],
}

/// The paper's baseline: of every non-production job the same part, one task at least.
pub(super) const HFS: Scheduler = Scheduler {
    name: "HFS",
    victims: "from-each",
    candidates: "nonproduction",
    rule: false,
    action: "kill",
    telling: true,
    knobs: &[],
};
/// The same rounded down, which spares jobs of few tasks.
pub(super) const HFS_ROUNDED_DOWN: Scheduler = Scheduler { name: "HFS rounded down", victims: "evenly", ..HFS };
/// The other reading: of each job only what is above its share.
pub(super) const HFS_TO_SHARE: Scheduler = Scheduler { name: "HFS to share", candidates: "overshare", ..HFS };
/// The paper's system.
pub(super) const GP: Scheduler = Scheduler { name: "GP", victims: "gp", rule: true, ..HFS };

/// Both baselines, and GP with everything that can be chosen.
pub(super) fn variants() -> Vec<Scheduler> {
    let of = |name, candidates, rule, action| Scheduler { name, candidates, rule, action, ..GP };
    vec![
        HFS,
        HFS_ROUNDED_DOWN,
        HFS_TO_SHARE,
        GP,
        of("GP without rule", "nonproduction", false, "kill"),
        of("GP over share", "overshare", true, "kill"),
        of("GP over share without rule", "overshare", false, "kill"),
        of("GP suspends", "nonproduction", true, "suspend"),
        of("GP suspends without rule", "nonproduction", false, "suspend"),
        of("GP over share suspends", "overshare", true, "suspend"),
        of("GP over share suspends without rule", "overshare", false, "suspend"),
    ]
}

impl Scheduler {
    /// The same with other knobs.
    pub(super) fn with(self, knobs: &'static [(&'static str, &'static str)]) -> Scheduler {
        Scheduler { knobs, ..self }
    }

    /// The same with equal parts rounded down, if it takes such.
    pub(super) fn rounding_down(self) -> Scheduler {
        let victims = if self.victims == HFS.victims { HFS_ROUNDED_DOWN.victims } else { self.victims };
        Scheduler { victims, ..self }
    }

    /// The same where tasks tell nothing of their progress.
    pub(super) fn untold(self) -> Scheduler {
        Scheduler { telling: false, ..self }
    }

    fn world(self, jobs: &[Job], seed: u64) -> Result<World, SimulationError> {
        let rule = if self.rule { "on" } else { "off" };
        let world = World::seeded(seed)
            .unobserved()
            .heartbeat(HEARTBEAT)
            .start_times(START, START)
            .set("policy", "fair")
            .set("mode", self.action)
            .set("preemption", self.action)
            .set("victims", self.victims)
            .set("gp-candidates", self.candidates)
            .set("gp-starvation", rule)
            .set("gp-interval-ms", INTERVAL_MS)
            // The paper spares nothing.
            .set("min-run-ms", "0")
            .queue(Queue::new(PRODUCTION_QUEUE, PRODUCTION_SHARE))
            .queue(Queue::new(OTHER_QUEUE, 1.0 - PRODUCTION_SHARE))
            // In Hadoop 0.21 there were no ApplicationMasters: here they have a node to themselves.
            .node(Node::of(gb(jobs.len() as i64 + 1)))
            .nodes(NODES, &Node::of(gb(SLOTS_PER_NODE)).exclusive_partition(SLOTS.0))
            .jobs(jobs);
        let world = if self.telling { world.telling_progress() } else { world };
        let world = self.knobs.iter().fold(world, |world, (knob, value)| world.set(knob, value));
        world.check()?;
        Ok(world)
    }

    /// What becomes of the jobs, and how often long jobs were asked to give way.
    pub(super) fn run(self, jobs: &[Job], seed: u64) -> Result<(Outcome, u64), SimulationError> {
        let mut world = self.world(jobs, seed)?;
        world.finish()?;
        let firings = world.core().watches().map(|(_, watch)| watch.firings()).sum();
        Ok((world.outcome(), firings))
    }
}

/// What one scheduler made of one draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub metrics: Metrics,
    /// Mean response of production jobs, in seconds.
    pub production_response_s: f64,
    /// Response of the long job, in seconds.
    pub long_response_s: f64,
    /// Seconds of work done in vain.
    pub wasted_s: f64,
    /// Tasks that were killed.
    pub killed: f64,
    /// Those of them that were the long job's.
    pub killed_of_long: f64,
    /// Those of them that were production work's.
    pub killed_of_production: f64,
    /// How often a container was suspended.
    pub suspensions: f64,
    /// How often long jobs were asked to give way.
    pub firings: f64,
}

impl Run {
    fn of(scheduler: Scheduler, jobs: &[Job], alone: &[f64], seed: u64) -> Result<Run, SimulationError> {
        let (outcome, firings) = scheduler.run(jobs, seed)?;
        let counted = || outcome.jobs.iter().zip(alone).filter(|(job, _)| job.bin != AFTER);
        let pairs: Vec<(f64, f64)> = counted().map(|(job, alone)| (*alone, job.sojourn_s())).collect();
        let lost = |which: &dyn Fn(&JobOutcome) -> bool| {
            counted().filter(|(job, _)| which(job)).map(|(job, _)| job.spent.lost_tasks as f64).sum()
        };
        Ok(Run {
            metrics: Metrics::of(&pairs),
            production_response_s: outcome.mean_sojourn_s(|job| job.bin == PRODUCTION_WORK),
            long_response_s: outcome.mean_sojourn_s(|job| job.bin == LONG),
            wasted_s: outcome.wasted_s(),
            killed: lost(&|_| true),
            killed_of_long: lost(&|job| job.bin == LONG),
            killed_of_production: lost(&|job| job.bin == PRODUCTION_WORK),
            suspensions: outcome.jobs.iter().map(|job| job.spent.suspensions as f64).sum(),
            firings: firings as f64,
        })
    }
}

/// How long the jobs that count take alone, in seconds, by draw: with the long job first.
pub(super) struct Alone(Vec<Vec<f64>>);

impl Alone {
    pub(super) fn measure(setting: &Setting, kind: Kind) -> Result<Alone, StudyError> {
        let group = Group { gap_s: BUSY_GAP_S, place: 1, kind };
        let draws = if setting.quick { 2 } else { DRAWS };
        let measure = |run| alone(&draw(group, setting.seed, run));
        let times: Result<_, SimulationError> = ensemble::runs("alone", draws, measure).into_iter().collect();
        Ok(Alone(times?))
    }

    /// Those of a draw, in which the long job comes at that place.
    fn of(&self, run: usize, place: usize) -> Vec<f64> {
        let mut times = self.0[run].clone();
        times[..place].rotate_left(1);
        times
    }
}

/// How long each job that counts takes alone, in seconds.
fn alone(jobs: &[Job]) -> Result<Vec<f64>, SimulationError> {
    let alone = |job: &Job| {
        // By then all nodes have reported.
        let job = Job { at: HEARTBEAT + HEARTBEAT, ..job.clone() };
        let (outcome, _) = HFS.run(std::slice::from_ref(&job), 0)?;
        Ok(outcome.jobs[0].sojourn_s())
    };
    jobs.par_iter().filter(|job| job.bin != AFTER).map(alone).collect()
}

/// All draws of one group under several schedulers.
pub(super) struct Experiment {
    pub group: Group,
    schedulers: Vec<Scheduler>,
    /// A row per draw, a column per scheduler.
    runs: Vec<Vec<Run>>,
}

impl Experiment {
    pub(super) fn run(
        setting: &Setting,
        group: Group,
        alone: &Alone,
        schedulers: &[Scheduler],
    ) -> Result<Experiment, StudyError> {
        let measure = |run| -> Result<Vec<Run>, SimulationError> {
            let jobs = draw(group, setting.seed, run);
            let alone = alone.of(run as usize, group.place);
            schedulers.par_iter().map(|scheduler| Run::of(*scheduler, &jobs, &alone, setting.seed)).collect()
        };
        let runs = ensemble::runs(&group.name(), alone.0.len(), measure);
        let runs: Result<_, SimulationError> = runs.into_iter().collect();
        Ok(Experiment { group, schedulers: schedulers.to_vec(), runs: runs? })
    }

    /// Those groups, one after the other.
    pub(super) fn run_all(
        setting: &Setting,
        groups: &[Group],
        schedulers: &[Scheduler],
    ) -> Result<Vec<Experiment>, StudyError> {
        let mut all = Vec::new();
        for kind in [Kind::Reading, Kind::Mixed] {
            let of_kind: Vec<Group> = groups.iter().copied().filter(|group| group.kind == kind).collect();
            if !of_kind.is_empty() {
                let alone = Alone::measure(setting, kind)?;
                for group in of_kind {
                    all.push(Experiment::run(setting, group, &alone, schedulers)?);
                }
            }
        }
        Ok(all)
    }

    /// A measure under one scheduler, a value per draw.
    ///
    /// Panics if the scheduler was not run: a study's mistake.
    pub(super) fn sample(&self, scheduler: Scheduler, of: impl Fn(&Run) -> f64) -> Sample {
        let at = self.schedulers.iter().position(|other| *other == scheduler);
        let at = at.unwrap_or_else(|| panic!("{} was not run", scheduler.name));
        Sample::new(self.runs.iter().map(|draw| of(&draw[at])).collect())
    }

    /// A measure under one scheduler over that under another, draw by draw.
    pub(super) fn ratio(&self, above: Scheduler, below: Scheduler, of: impl Fn(&Run) -> f64) -> Sample {
        let (above, below) = (self.sample(above, &of), self.sample(below, &of));
        Sample::new(above.values().iter().zip(below.values()).map(|(a, b)| a / b).collect())
    }
}

/// A measure: its name, and how it is read.
pub(super) type Measure = (&'static str, fn(&Run) -> f64);

pub(super) const MEASURES: [Measure; 5] = [
    ("SNP", |run| run.metrics.snp),
    ("l1", |run| run.metrics.l1),
    ("l2", |run| run.metrics.l2),
    ("unfairness", |run| run.metrics.unfairness),
    ("response (s)", |run| run.metrics.response_s),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::gp::workload::OTHER;

    /// The first jobs of a draw, few enough for a test.
    fn jobs() -> Vec<Job> {
        let group = Group { gap_s: BUSY_GAP_S, place: 1, kind: Kind::Reading };
        draw(group, 1, 0).into_iter().filter(|job| job.work_s() < 30_000.0).take(30).collect()
    }

    #[test]
    fn nobody_is_slower_alone_than_among_others() {
        let jobs = jobs();
        let (outcome, _) = HFS.run(&jobs, 1).unwrap();
        for (job, alone) in outcome.jobs.iter().zip(alone(&jobs).unwrap()) {
            assert!(job.sojourn_s() > alone * 0.9, "{}: {} s, alone {alone} s", job.name, job.sojourn_s());
        }
    }

    #[test]
    fn g10_where_there_is_no_production_work_nothing_is_killed_without_the_rule() {
        let other = |job: Job| Job { bin: OTHER, ..job.queue(OTHER_QUEUE) };
        let jobs: Vec<Job> = jobs().into_iter().map(other).collect();
        let (outcome, firings) = Scheduler { rule: false, ..GP }.run(&jobs, 1).unwrap();
        assert_eq!((outcome.count.preempted, firings), (0, 0));
    }
}
