//! FLEX in a queue at work (Wolf et al., *FLEX*, Middleware 2010): at the start of an epoch the queue's jobs become a
//! [`crate::flex::Problem`], and the first interval of its solution is what each job should hold until the next epoch.
//!
//! ```text
//! job views ─► work ────────────► snapshot ─────────────► flex::solve ─► allotments ─► order and targets,
//!              average task time   minima, maxima,         an ordering,   for one       whenever they are asked for
//!              × tasks left        penalties               its slots      epoch
//! ```
//!
//! First comes whoever lacks its minimum, then everybody in FLEX's ordering up to its slots; what those leave (a job
//! ended, a container is larger than a slot) goes to the others in the same order, and so do the jobs that came since.

mod snapshot;
mod work;

use super::turns::Turns;
use super::{by_arrival, JobView, PhaseView, Policy, Sizing, Supply, Target};
use crate::entitlement::EPSILON;
use crate::estimate::left::Remaining;
use crate::estimate::training::{History, Sample};
use crate::flex::{default_evaluations, evaluations, solve};
use crate::settings::QueueSettings;
use crate::units::{AppId, Millis};
use snapshot::{useful, Snapshot};
use std::collections::BTreeMap;

/// What an epoch decided about a job. Amounts are fractions of the partition, beside its ApplicationMaster.
#[derive(Clone, Debug)]
struct Allotment {
    /// Its place in the ordering.
    place: usize,
    minimum: f64,
    slots: f64,
    sizing: Sizing,
    unusable: Option<String>,
}

/// The policy and its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Flex {
    history: History,
    turns: Turns,
    decided: Option<Millis>,
    allotments: BTreeMap<AppId, Allotment>,
}

impl Policy for Flex {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        let epoch = supply.settings.flex.epoch;
        if self.decided.is_none_or(|decided| supply.now.since(decided) >= epoch) {
            self.decided = Some(supply.now);
            self.decide(supply, jobs);
        }
        self.targets(supply, jobs)
    }

    fn departed(&mut self, app: AppId, phases: &[PhaseView]) {
        self.allotments.remove(&app);
        self.history.note(phases);
    }

    fn remaining(&self, job: &JobView, settings: &QueueSettings) -> Remaining {
        Remaining::of(job, |phase| work::guess(phase, job, &self.history, settings))
    }

    fn sizing(&self, app: AppId) -> Option<Sizing> {
        self.allotments.get(&app).map(|allotment| allotment.sizing.clone())
    }

    fn unusable_hint(&self, app: AppId) -> Option<String> {
        self.allotments.get(&app).and_then(|allotment| allotment.unusable.clone())
    }
}

impl Flex {
    fn decide(&mut self, supply: &Supply<'_>, jobs: &[JobView]) {
        self.history.look(jobs, |_, phase| Sample::finished(phase));
        let snapshot = Snapshot::take(supply, jobs, &self.history, &mut self.turns);
        self.allotments.clear();
        // Where everybody gets all it can use there is nothing to search for.
        let budget = if snapshot.is_contended() { default_evaluations(jobs.len()) } else { 0 };
        // Snapshots are what the solver takes; whatever it refused would be served in order of arrival.
        let Ok(solution) = solve(&snapshot.problem, &mut evaluations(budget)) else { return };
        let bounds = snapshot.problem.bounds();
        for (place, &at) in solution.order.iter().enumerate() {
            let entrant = &snapshot.entrants[at];
            let sizing = Sizing {
                source: entrant.work.source.name(),
                estimate_s: entrant.work.whole_s,
                virtual_remaining_s: entrant.work.left.work_s,
            };
            let share = |slots: u32| f64::from(slots) * snapshot.slot;
            let (minimum, slots) = (share(bounds[at].min), share(solution.targets[at]));
            let unusable = entrant.unusable.clone();
            self.allotments.insert(entrant.job.app, Allotment { place, minimum, slots, sizing, unusable });
        }
    }

    fn targets(&self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        let place = |job: &JobView| self.allotments.get(&job.app).map_or(usize::MAX, |allotment| allotment.place);
        let mut order: Vec<&JobView> = jobs.iter().collect();
        order.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| by_arrival(a, b)));
        let useful: Vec<f64> = order.iter().map(|job| useful(supply, job)).collect();
        let mut given = vec![0.0; order.len()];
        let mut left = supply.entitled - order.iter().map(|job| job.masters).sum::<f64>();
        let mut pour = |level: &dyn Fn(&Allotment) -> f64, beyond: f64| {
            for ((job, useful), given) in order.iter().zip(&useful).zip(&mut given) {
                let level = self.allotments.get(&job.app).map_or(beyond, level).min(*useful);
                let more = (level - *given).min(left).max(0.0);
                if more > EPSILON {
                    *given += more;
                    left -= more;
                }
            }
            given.clone()
        };
        let minima = pour(&|allotment| allotment.minimum, 0.0);
        pour(&|allotment| allotment.slots, 0.0);
        let all = pour(&|_| f64::INFINITY, f64::INFINITY);

        let targets = |shares: Vec<f64>| {
            let shares = order.iter().zip(shares).map(|(job, share)| (job.app, job.masters + share));
            shares.map(|(app, share)| Target { app, share, keeps: share, ahead: 0.0 }).collect::<Vec<_>>()
        };
        let mut lacking = targets(minima);
        let mut held = order.iter().map(|job| job.held);
        lacking.retain(|target| held.next().is_some_and(|held| held + EPSILON < target.share));
        lacking.into_iter().chain(targets(all)).collect()
    }
}
