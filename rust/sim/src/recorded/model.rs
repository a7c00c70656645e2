//! The cluster of a [`Past`] around the core, with its jobs, under the settings that were recorded and under others.

use hiatus_background::hindsight::setting::{placing, world, Change, Properties};
use hiatus_background::hindsight::Past;
use rayon::prelude::*;

use crate::cluster::{capacity, Outcome, SimulationError};
use crate::workload::cluster::Job;

/// A past that can be simulated again. Outcomes have the jobs in its order.
#[derive(Debug)]
pub struct Model<'a> {
    past: &'a Past,
    jobs: Vec<Job>,
    master_share: f64,
    seed: u64,
}

impl<'a> Model<'a> {
    /// ApplicationMasters may hold `master_share` of each queue, one at least.
    pub fn new(past: &'a Past, master_share: f64, seed: u64) -> Model<'a> {
        Model { past, jobs: past.jobs.iter().map(|past| past.job.clone()).collect(), master_share, seed }
    }

    /// The jobs, in the order of their submission.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// From their submission to their end as it was, in seconds.
    pub fn recorded_s(&self) -> Vec<f64> {
        self.past.jobs.iter().map(|past| past.sojourn.seconds()).collect()
    }

    /// Under the recorded settings, for as long as that is `wanted`. How far that is from what was recorded is the model's error.
    ///
    /// # Errors
    /// A job cannot run, or nobody wants to know any more.
    pub fn as_recorded(&self, wanted: &dyn Fn() -> bool) -> Result<Outcome, SimulationError> {
        run(self.past, &placing(&self.past.properties), self.master_share, self.seed, &self.jobs, wanted)
    }

    /// With a change of the settings, for as long as that is `wanted`. Where Hiatus only looked on, a change that says nothing of
    /// preemption is one of what stands for stock; with another Hiatus places, and all that was set for it counts.
    ///
    /// # Errors
    /// A property is wrong, a job cannot run, or nobody wants to know any more.
    pub fn with(&self, change: &Change, wanted: &dyn Fn() -> bool) -> Result<Outcome, SimulationError> {
        let (properties, queues) = capacity::split(&change.properties)?;
        let changed = Past { queues: queues.apply(&self.past.queues, self.master_share)?, ..self.past.clone() };
        let decided = placing(&self.past.properties);
        let before = if change.preemption.is_some() { &self.past.properties } else { &decided };
        let settings = Change { properties, ..change.clone() }.of(before);
        // What ApplicationMasters may hold is in the changed queues.
        run(&changed, &settings, 0.0, self.seed, &self.jobs, wanted)
    }

    /// How long each job takes alone on the cluster, in seconds.
    ///
    /// # Errors
    /// A job cannot run.
    pub fn alone_s(&self) -> Result<Vec<f64>, SimulationError> {
        let stock = Change::to_stock().of(&Properties::new());
        let alone = |job: &Job| {
            // By then all nodes have reported.
            let job = Job { at: self.past.heartbeat + self.past.heartbeat, ..job.clone() };
            let jobs = std::slice::from_ref(&job);
            let outcome = run(self.past, &stock, self.master_share, self.seed, jobs, &|| true)?;
            Ok(outcome.jobs[0].sojourn_s())
        };
        self.jobs.par_iter().map(alone).collect()
    }
}

fn run(
    past: &Past,
    settings: &Properties,
    master_share: f64,
    seed: u64,
    jobs: &[Job],
    wanted: &dyn Fn() -> bool,
) -> Result<Outcome, SimulationError> {
    let mut world = world(past, settings, master_share, seed).jobs(jobs);
    world.check()?;
    Ok(world.finish_while(wanted)?.outcome())
}
