//! Shortest remaining processing time, on estimated sizes.

use super::turns::Turns;
use super::{fill_in_order, sorted_by_key, JobView, PhaseView, Policy, Supply, Target};
use crate::estimate::left::{Guess, Left, Remaining};
use crate::estimate::training::{History, Sample};
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
        self.history.look(jobs, |_, phase| Sample::finished(phase));
        // A job without tasks counts as one: finding out is cheap, and is no turn.
        let (sized, unknown): (Vec<_>, Vec<_>) = jobs.iter().partition(|job| job.has_tasks());
        let Srpt { history, turns } = self;
        let sum = |job: &JobView, of: fn(&PhaseView, f64) -> f64| {
            job.phases.iter().map(|phase| of(phase, expected_s(history, phase, supply.settings))).sum::<f64>()
        };
        let left = sized.into_iter().map(|job: &JobView| (job, job, sum(job, Left::work_s)));
        let mut order = sorted_by_key(unknown, |job| job.remaining);
        order.extend(turns.in_order(left, |job| sum(job, Left::error_s)));
        fill_in_order(order, supply.entitled)
    }

    fn departed(&mut self, _app: AppId, phases: &[PhaseView]) {
        self.history.note(phases);
    }

    fn remaining(&self, job: &JobView, settings: &QueueSettings) -> Remaining {
        Remaining::of(job, |phase| Guess { task_s: expected_s(&self.history, phase, settings), is_sure: false })
    }
}

fn expected_s(history: &History, phase: &PhaseView, settings: &QueueSettings) -> f64 {
    let default = settings.default_task;
    history.expected(phase).map_or(default.seconds(), |expected| expected.task_s(default))
}
