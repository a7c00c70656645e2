//! The experiment behind all of chapter 5: workloads of Table 5.1 on the thesis' cluster, the same jobs under every
//! scheduler.

use rayon::prelude::*;

use crate::cluster::testbed::{Preemption, Testbed};
use crate::cluster::{isolation, JobOutcome, Outcome, SetupError};
use crate::report::Sample;
use crate::reproduce::Setting;
use crate::workload::cluster::{draw_bins, Mix, BIN_JOBS};

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

/// One draw of a workload: what its jobs take alone, and what became of them under each scheduler.
#[derive(Debug)]
struct Draw {
    alone: Vec<f64>,
    outcomes: Vec<Outcome>,
}

/// A workload under several schedulers.
#[derive(Debug)]
pub(super) struct Experiment {
    schedulers: Vec<Scheduler>,
    draws: Vec<Draw>,
}

impl Experiment {
    /// All draws of the workload (one for a first look), each under all the schedulers.
    pub fn run(setting: &Setting, mix: Mix, schedulers: &[Scheduler]) -> Result<Experiment, SetupError> {
        let count = if setting.quick { 1 } else { DRAWS };
        let draw = |run| {
            let jobs = draw_bins(mix, BIN_JOBS, mix.arrivals(), setting.seed, run);
            let outcome = |scheduler: &Scheduler| {
                let testbed = Testbed::thesis(scheduler.policy, scheduler.preemption);
                Ok(testbed.world(&jobs, setting.seed)?.run().outcome())
            };
            let outcomes = schedulers.par_iter().map(outcome).collect::<Result<_, SetupError>>()?;
            let alone = isolation(&jobs, &Testbed::thesis("fifo", Preemption::Wait))?;
            Ok(Draw { alone, outcomes })
        };
        let draws = (0..count).into_par_iter().map(draw).collect::<Result<_, SetupError>>()?;
        Ok(Experiment { schedulers: schedulers.to_vec(), draws })
    }

    /// How many draws there were.
    pub fn draws(&self) -> usize {
        self.draws.len()
    }

    /// What became of each draw under that scheduler.
    ///
    /// Panics if it was not run: a study's mistake.
    pub fn outcomes(&self, scheduler: Scheduler) -> impl Iterator<Item = &Outcome> {
        let at = self.schedulers.iter().position(|other| *other == scheduler);
        let at = at.unwrap_or_else(|| panic!("{} was not run", scheduler.name));
        self.draws.iter().map(move |draw| &draw.outcomes[at])
    }

    /// Sojourn times in seconds, over all draws, of the jobs for which `which` holds.
    pub fn sojourns(&self, scheduler: Scheduler, which: impl Fn(&JobOutcome) -> bool) -> Sample {
        let jobs = self.outcomes(scheduler).flat_map(|outcome| &outcome.jobs).filter(|job| which(job));
        Sample::new(jobs.map(JobOutcome::sojourn_s).collect())
    }

    /// Sojourn time over the time alone on the cluster (GAP-33), over all draws.
    pub fn slowdowns(&self, scheduler: Scheduler) -> Sample {
        let draws = self.outcomes(scheduler).zip(&self.draws);
        let of_draw = |(outcome, draw): (&Outcome, &Draw)| -> Vec<f64> {
            outcome.jobs.iter().zip(&draw.alone).map(|(job, alone)| job.sojourn_s() / alone).collect()
        };
        Sample::new(draws.flat_map(of_draw).collect())
    }

    /// Mean sojourn time under one scheduler over that under another, a ratio per draw.
    pub fn mean_ratio(&self, above: Scheduler, below: Scheduler) -> Sample {
        let pairs = self.outcomes(above).zip(self.outcomes(below));
        Sample::new(pairs.map(|(a, b)| a.mean_sojourn_s(|_| true) / b.mean_sojourn_s(|_| true)).collect())
    }
}
