//! The experiment behind all of chapter 5: workloads of Table 5.1 on the thesis' cluster, the same jobs under every
//! scheduler.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use crate::cluster::testbed::Testbed;
use crate::cluster::Preemption;
use crate::cluster::{isolation, JobOutcome, Outcome, SimulationError};
use crate::report::Sample;
use crate::reproduce::Setting;
use crate::workload::cluster::{Bins, Job, Mix, TaskTimes};

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
type Key = (Setting, Mix, TaskTimes, Option<Scheduler>);

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
        times: TaskTimes,
        schedulers: &[Scheduler],
    ) -> Result<Experiment, SimulationError> {
        let draws = draws(setting, mix, times);
        let outcomes = |scheduler: &Scheduler| {
            let testbed = Testbed::thesis(scheduler.policy, scheduler.preemption);
            let one = |jobs: &Vec<Job>| Ok(testbed.world(jobs, setting.seed)?.finish()?.outcome());
            let key = (*setting, mix, times, Some(*scheduler));
            Ok((*scheduler, OUTCOMES.get(key, || draws.par_iter().map(one).collect())?))
        };
        let outcomes = schedulers.par_iter().map(outcomes).collect::<Result<_, SimulationError>>()?;
        let fifo = Testbed::thesis("fifo", Preemption::Wait);
        let alone = || draws.iter().map(|jobs| isolation(jobs, &fifo)).collect();
        let alone = ALONE.get((*setting, mix, times, None), alone)?;
        Ok(Experiment { mix, draws, alone, outcomes })
    }

    /// All three workloads.
    pub fn all(
        setting: &Setting,
        times: TaskTimes,
        schedulers: &[Scheduler],
    ) -> Result<Vec<Experiment>, SimulationError> {
        Mix::ALL.into_iter().map(|mix| Experiment::run(setting, mix, times, schedulers)).collect()
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

/// The jobs of every draw of a workload.
pub(super) fn draws(setting: &Setting, mix: Mix, times: TaskTimes) -> Vec<Vec<Job>> {
    let count = if setting.quick { 1 } else { DRAWS };
    let bins = Bins { times, ..Bins::of(mix) };
    (0..count).map(|run| bins.draw(setting.seed, run)).collect()
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
