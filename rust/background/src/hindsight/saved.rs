//! What settings would have saved those who wait for their jobs.

use crate::hindsight::setting::{placing, world, Properties};
use crate::hindsight::{LeftOut, Past, PastJob};
use hiatus_core::units::Millis;
use hiatus_world::job::Job;
use hiatus_world::{Outcome, SimulationError};
use std::sync::Arc;

/// A simulation is given up after so many events, tasks included.
const EVENTS: u64 = 20_000_000;

/// What ApplicationMasters may hold of a queue, if they were not seen to hold more: CapacityScheduler's default.
const MASTER_SHARE: f64 = 0.1;

/// Seed of what little chance there is.
const SEED: u64 = 1;

/// Means over some jobs, in seconds from submission to end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compared {
    /// How many jobs.
    pub jobs: usize,
    /// As it was.
    pub real_s: f64,
    /// Simulated with what decided then. How far that is from `real_s` is the simulation's error.
    pub simulated_s: f64,
    /// Simulated with the settings.
    pub configured_s: f64,
}

/// What settings would have saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// When the first of the jobs was submitted.
    pub since: Millis,
    /// All jobs.
    pub all: Compared,
    /// The half of them that had least work.
    pub small: Compared,
    /// Jobs that are not among them.
    pub left_out: LeftOut,
    /// Suspensions that it would have taken.
    pub suspensions: u64,
    /// Containers that would have been killed, suspended ones included.
    pub kills: u64,
}

/// Why it is not known.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// No job of them can be simulated.
    #[error("no job that came and ended can be simulated; {} are left out", .0.all())]
    NoJob(LeftOut),
    /// A property is wrong, or the simulation did not come to its end. Jobs are called by numbers: not everybody may see their names.
    #[error(transparent)]
    Impossible(#[from] SimulationError),
}

/// Simulates the jobs of `past` twice, with what decided then and with its settings, for as long as that is `wanted`.
///
/// # Errors
/// See [`Unanswered`].
pub fn saved(past: &Past, wanted: &dyn Fn() -> bool) -> Result<Saved, Unanswered> {
    let bare = world(past, &past.properties, MASTER_SHARE, SEED);
    bare.check()?;
    let fit = bare.fit();
    let (jobs, gone): (Vec<_>, Vec<_>) = past.jobs.iter().partition(|past| fit.job(&past.job).is_ok());
    let left_out = LeftOut { gone: gone.len() as u64, ..past.left_out };
    let since = jobs.first().map(|first| first.job.at).ok_or(Unanswered::NoJob(left_out))?;
    // By then all nodes have reported.
    let begin = past.heartbeat + past.heartbeat;
    let again = |(n, past): (usize, &&Arc<PastJob>)| {
        let (name, at) = (format!("number {}", n + 1), begin + Millis(past.job.at.since(since).0));
        Job { name, at, ..past.job.clone() }
    };
    let again: Vec<Job> = jobs.iter().enumerate().map(again).collect();
    let run = |settings: &Properties| {
        let mut world = world(past, settings, MASTER_SHARE, SEED).jobs(&again).at_most(EVENTS);
        Ok::<_, SimulationError>(world.finish_while(wanted)?.outcome())
    };
    let (simulated, configured) = (run(&placing(&past.properties))?, run(&past.properties)?);
    let mut by_work: Vec<usize> = (0..jobs.len()).collect();
    by_work.sort_by(|one, other| again[*one].work_s().total_cmp(&again[*other].work_s()));
    let compared = |which: &[usize]| {
        let mean = |of: &dyn Fn(usize) -> f64| which.iter().map(|job| of(*job)).sum::<f64>() / which.len() as f64;
        let simulated_s = |outcome: &Outcome| mean(&|job| outcome.jobs[job].sojourn_s());
        Compared {
            jobs: which.len(),
            real_s: mean(&|job| jobs[job].sojourn.seconds()),
            simulated_s: simulated_s(&simulated),
            configured_s: simulated_s(&configured),
        }
    };
    Ok(Saved {
        since,
        all: compared(&by_work),
        small: compared(&by_work[..by_work.len().div_ceil(2)]),
        left_out,
        suspensions: configured.count.suspended,
        kills: configured.count.preempted + configured.count.expired,
    })
}
