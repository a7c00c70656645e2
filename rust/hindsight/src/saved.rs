//! What settings would have saved those who wait for their jobs.

use crate::setting::{placing, world, Properties};
use crate::{LeftOut, Past, PastJob};
use hiatus_core::units::Millis;
use hiatus_world::job::Job;
use hiatus_world::{Outcome, SimulationError};
use std::sync::Arc;

/// The most heartbeats of nodes that are simulated: in a cluster of so many nodes that the time looked at has more, only the
/// last part of it is.
const BEATS: u64 = 5_000_000;

/// A simulation is given up after so many events, tasks included.
const EVENTS: u64 = 4 * BEATS;

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

/// Simulates the jobs of `past` twice, with what decided then and with its settings; nothing if there are no jobs.
///
/// # Errors
/// A property is wrong, or the simulation does not come to its end.
pub fn saved(past: &Past) -> Result<Option<Saved>, SimulationError> {
    let bare = world(past, &past.properties, MASTER_SHARE, SEED);
    bare.check()?;
    let leaves = bare.leaves();
    let (jobs, gone): (Vec<_>, Vec<_>) = recent(past).partition(|past| bare.check_job(&past.job, &leaves).is_ok());
    let Some(since) = jobs.first().map(|first| first.job.at) else { return Ok(None) };
    // By then all nodes have reported.
    let begin = past.heartbeat + past.heartbeat;
    let again: Vec<Job> =
        jobs.iter().map(|past| Job { at: begin + Millis(past.job.at.since(since).0), ..past.job.clone() }).collect();
    let run = |settings: &Properties| {
        let mut world = world(past, settings, MASTER_SHARE, SEED).jobs(&again).at_most(EVENTS);
        Ok::<_, SimulationError>(world.finish()?.outcome())
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
    Ok(Some(Saved {
        since,
        all: compared(&by_work),
        small: compared(&by_work[..by_work.len().div_ceil(2)]),
        left_out: LeftOut { gone: gone.len() as u64, ..past.left_out },
        suspensions: configured.count.suspended,
        kills: configured.count.preempted + configured.count.expired,
    }))
}

/// The jobs that came in the last part of the time, as long as can be simulated.
fn recent(past: &Past) -> impl Iterator<Item = &Arc<PastJob>> {
    let beats = BEATS / (past.nodes.len() as u64).max(1);
    let span = beats.saturating_mul(past.heartbeat.0.max(1));
    let last = past.jobs.iter().map(|past| past.job.at + past.sojourn).max().unwrap_or_default();
    past.jobs.iter().filter(move |past| past.job.at.0 >= last.0.saturating_sub(span))
}
