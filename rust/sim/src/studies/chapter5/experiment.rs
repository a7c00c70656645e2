//! The experiment behind all of chapter 5: workloads of Table 5.1 on the thesis' cluster, the same jobs under every
//! scheduler.

use std::sync::{Arc, Mutex, PoisonError};

use hiatus_core::settings::CLUSTER_PREFIX;
use rayon::prelude::*;

use crate::cluster::testbed::Testbed;
use crate::cluster::Preemption;
use crate::cluster::{isolation, JobOutcome, Outcome, SimulationError};
use crate::report::Sample;
use crate::studies::study::Setting;
use crate::workload::cluster::{Arrivals, Bins, Job, Mix, TaskTimes};

/// How it was made, said with every figure.
pub(super) const METHOD: &str =
    "Simulated: 20 nodes of 2 map slots and 1 reduce slot, heartbeats of 3 s, slowstart 0.8, 100 jobs a \
    draw, the same jobs and times under every scheduler. Task counts from Table 5.1; reduce counts and \
    task times from the project's model. No locality. Knobs as shipped but for training-slots = 10 (T of each pool of \
    slots), max-suspended-memory = 4 (slots are not a machine's memory), and max-suspension-ms and resume-locality-ms = a \
    day (the thesis has no such ends); `causes-5` has a row with these three as shipped.";

/// Draws of each workload in the thesis.
const DRAWS: u64 = 5;

/// A scheduler: a policy, and how it takes resources back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scheduler {
    pub name: &'static str,
    policy: &'static str,
    preemption: Preemption,
}

pub(super) const HFSP: Scheduler = Scheduler { name: "HFSP", policy: "hfsp", preemption: Preemption::Wait };
pub(super) const FAIR: Scheduler = Scheduler { name: "Fair", policy: "fair", preemption: Preemption::Wait };
pub(super) const FIFO: Scheduler = Scheduler { name: "FIFO", policy: "fifo", preemption: Preemption::Wait };
pub(super) const KILL: Scheduler = Scheduler { name: "HFSP/kill", policy: "hfsp", preemption: Preemption::Kill };
pub(super) const SUSPEND: Scheduler =
    Scheduler { name: "HFSP/suspend", policy: "hfsp", preemption: Preemption::Suspend };

/// What is compared under which circumstances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Conditions {
    /// How long tasks take.
    pub times: TaskTimes,
    /// What HFSP as published does to take resources back.
    pub hfsp: Preemption,
    /// Knobs, under all schedulers.
    pub knobs: &'static [(&'static str, &'static str)],
    /// Sizes are told, as by users who know them: first estimates, until training tells the rest.
    pub sizes_told: bool,
    /// Share of maps done before reduces start.
    pub slowstart: f64,
    /// Mean gap between two jobs over that of Table 5.1.
    pub gap: f64,
}

impl From<TaskTimes> for Conditions {
    /// The thesis'.
    fn from(times: TaskTimes) -> Conditions {
        Conditions { times, hfsp: Preemption::Wait, knobs: &[], sizes_told: false, slowstart: 0.8, gap: 1.0 }
    }
}

impl Conditions {
    /// The thesis' cluster, and T: ten slots for training maps, and ten for training reduces (gap 46).
    fn testbed(&self, scheduler: Scheduler) -> Testbed {
        let preemption = if scheduler == HFSP { self.hfsp } else { scheduler.preemption };
        let mut testbed = Testbed::thesis(scheduler.policy, preemption);
        let knobs = [("training-slots", "10")].iter().chain(self.knobs);
        testbed.properties.extend(knobs.map(|(knob, value)| (format!("{CLUSTER_PREFIX}{knob}"), (*value).to_owned())));
        testbed
    }

    /// The jobs of every draw of a workload.
    pub fn draws(&self, setting: &Setting, mix: Mix) -> Vec<Vec<Job>> {
        let count = if setting.quick { 1 } else { DRAWS };
        let Arrivals::Poisson(gap) = mix.arrivals() else { return Vec::new() };
        let bins = Bins { times: self.times, arrivals: Arrivals::Poisson(gap * self.gap), ..Bins::of(mix) };
        let of_draw = |run| bins.draw(setting.seed, run).into_iter().map(|job| self.apply(job)).collect();
        (0..count).map(of_draw).collect()
    }

    fn apply(&self, mut job: Job) -> Job {
        for stage in job.stages.iter_mut().skip(1) {
            stage.slowstart = self.slowstart;
        }
        match self.sizes_told {
            true => {
                let size = format!("hiatus.size={}", job.work_s());
                job.tag(&size)
            }
            false => job,
        }
    }
}

/// A workload under several schedulers.
#[derive(Debug)]
pub(super) struct Experiment {
    /// The workload.
    pub mix: Mix,
    /// The jobs of each draw.
    draws: Vec<Vec<Job>>,
    /// What each of them takes alone, in seconds.
    alone: Arc<Vec<Vec<f64>>>,
    /// What became of each draw.
    outcomes: Vec<(Scheduler, Arc<Vec<Outcome>>)>,
}

/// What was simulated already: figures share their simulations.
#[derive(Debug)]
struct Memory<V>(Mutex<Vec<(Key, Arc<V>)>>);

/// What determines a simulation; no scheduler stands for each job alone.
type Key = (Setting, Mix, Conditions, Option<Scheduler>);

static OUTCOMES: Memory<Vec<Outcome>> = Memory(Mutex::new(Vec::new()));
static ALONE: Memory<Vec<Vec<f64>>> = Memory(Mutex::new(Vec::new()));

impl<V> Memory<V> {
    /// The result under that key, made now if it was not before.
    fn get(&self, key: Key, make: impl FnOnce() -> Result<V, SimulationError>) -> Result<Arc<V>, SimulationError> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known().iter().find(|(other, _)| *other == key) {
            return Ok(found.clone());
        }
        let made = Arc::new(make()?);
        known().push((key, made.clone()));
        Ok(made)
    }
}

impl Experiment {
    /// All draws of the workload (one for a first look), each under all the schedulers.
    pub fn run(
        setting: &Setting,
        mix: Mix,
        conditions: impl Into<Conditions>,
        schedulers: &[Scheduler],
    ) -> Result<Experiment, SimulationError> {
        let conditions = conditions.into();
        let draws = conditions.draws(setting, mix);
        let outcomes = |scheduler: &Scheduler| {
            let testbed = conditions.testbed(*scheduler);
            let one = |jobs: &Vec<Job>| Ok(testbed.world(jobs, setting.seed)?.finish()?.outcome());
            let key = (*setting, mix, conditions, Some(*scheduler));
            Ok((*scheduler, OUTCOMES.get(key, || draws.par_iter().map(one).collect())?))
        };
        let outcomes = schedulers.par_iter().map(outcomes).collect::<Result<_, SimulationError>>()?;
        let fifo = conditions.testbed(FIFO);
        let alone = || draws.iter().map(|jobs| isolation(jobs, &fifo)).collect();
        let alone = ALONE.get((*setting, mix, conditions, None), alone)?;
        Ok(Experiment { mix, draws, alone, outcomes })
    }

    /// All three workloads.
    pub fn all(
        setting: &Setting,
        conditions: impl Into<Conditions>,
        schedulers: &[Scheduler],
    ) -> Result<Vec<Experiment>, SimulationError> {
        let conditions = conditions.into();
        Mix::ALL.into_iter().map(|mix| Experiment::run(setting, mix, conditions, schedulers)).collect()
    }

    /// How many draws there were.
    pub fn draws(&self) -> usize {
        self.draws.len()
    }

    /// What became of each draw under that scheduler.
    ///
    /// Panics if it was not run: a study's mistake.
    pub fn outcomes(&self, scheduler: Scheduler) -> impl Iterator<Item = &Outcome> {
        let found = self.outcomes.iter().find(|(other, _)| *other == scheduler);
        found.unwrap_or_else(|| panic!("{} was not run", scheduler.name)).1.iter()
    }

    /// What became of each draw under that scheduler, beside its jobs.
    pub fn jobs_and_outcomes(&self, scheduler: Scheduler) -> impl Iterator<Item = (&[Job], &Outcome)> {
        self.draws.iter().map(Vec::as_slice).zip(self.outcomes(scheduler))
    }

    /// Sojourn times in seconds, over all draws, of the jobs for which `which` holds.
    pub fn sojourns(&self, scheduler: Scheduler, which: impl Fn(&JobOutcome) -> bool) -> Sample {
        let jobs = self.outcomes(scheduler).flat_map(|outcome| &outcome.jobs).filter(|job| which(job));
        Sample::new(jobs.map(JobOutcome::sojourn_s).collect())
    }

    /// Sojourn time over the time alone on the cluster (GAP-33), over all draws.
    pub fn slowdowns(&self, scheduler: Scheduler) -> Sample {
        let draws = self.outcomes(scheduler).zip(self.alone.iter());
        let of_draw = |(outcome, alone): (&Outcome, &Vec<f64>)| -> Vec<f64> {
            outcome.jobs.iter().zip(alone).map(|(job, alone)| job.sojourn_s() / alone).collect()
        };
        Sample::new(draws.flat_map(of_draw).collect())
    }

    /// Mean sojourn time under one scheduler over that under another, a ratio per draw.
    pub fn mean_ratio(&self, above: Scheduler, below: Scheduler) -> Sample {
        let pairs = self.outcomes(above).zip(self.outcomes(below));
        Sample::new(pairs.map(|(a, b)| a.mean_sojourn_s(|_| true) / b.mean_sojourn_s(|_| true)).collect())
    }

    /// Peak and time average of the number of jobs in the system, as means over the draws.
    pub fn in_system(&self, scheduler: Scheduler) -> (f64, f64) {
        let peak = |outcome: &Outcome| outcome.in_system().iter().map(|step| step.1).fold(0.0, f64::max);
        let average = |outcome: &Outcome| time_average(&outcome.in_system(), outcome.makespan.seconds());
        let mean = |of: &dyn Fn(&Outcome) -> f64| Sample::new(self.outcomes(scheduler).map(of).collect()).mean();
        (mean(&peak), mean(&average))
    }
}

/// Time average of a number that changes in `steps`, from 0 to `until`.
fn time_average(steps: &[(f64, f64)], until: f64) -> f64 {
    let ends = steps.iter().skip(1).map(|step| step.0).chain([until]);
    let area: f64 = steps.iter().zip(ends).map(|((at, number), end)| number * (end.min(until) - at).max(0.0)).sum();
    area / until
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_weighs_each_number_with_its_time() {
        let steps = [(0.0, 1.0), (10.0, 2.0), (15.0, 0.0)];
        assert_eq!(time_average(&steps, 20.0), 1.0);
    }
}
