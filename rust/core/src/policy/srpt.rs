//! Shortest remaining processing time, on estimated sizes.

use super::turns::Turns;
use super::{fill_in_order, sorted_by_key, JobView, PhaseView, Policy, Supply, Target};
use crate::estimate::left::{Guess, Left, Remaining};
use crate::estimate::training::History;
use crate::settings::QueueSettings;
use crate::units::AppId;

/// The policy and its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Srpt {
    history: History,
    turns: Turns,
}

impl Policy for Srpt {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        self.history.look(jobs, |_, phase| phase.finished_task_s());
        // A job without tasks counts as one: finding out is cheap, and is no turn.
        let (sized, unknown): (Vec<_>, Vec<_>) = jobs.iter().partition(|job| job.has_tasks());
        let left = sized.into_iter().map(|job| (job, self.left(job, supply.settings))).collect();
        let mut order = sorted_by_key(unknown, |job| job.remaining);
        order.extend(self.turns.in_order(left));
        fill_in_order(order, supply.entitled)
    }

    fn departed(&mut self, _app: AppId, phases: &[PhaseView]) {
        self.history.note(phases);
    }

    fn remaining(&self, job: &JobView, settings: &QueueSettings) -> Remaining {
        Remaining::of(job, |phase| Guess { task_s: self.expected_s(phase, settings), is_sure: false })
    }
}

impl Srpt {
    fn left(&self, job: &JobView, settings: &QueueSettings) -> Left {
        job.phases.iter().map(|phase| Left::of(phase, self.expected_s(phase, settings))).sum()
    }

    fn expected_s(&self, phase: &PhaseView, settings: &QueueSettings) -> f64 {
        let default = settings.default_task;
        self.history.expected(phase).map_or(default.seconds(), |expected| expected.task_s(default))
    }
}
