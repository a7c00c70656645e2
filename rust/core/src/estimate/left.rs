//! What a phase really has left, as its tasks that are done tell, and by how much that may be wrong.

use crate::view::{PhaseView, TaskView};
use std::iter::Sum;

/// Work left, in seconds of the partition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Left {
    /// As estimated.
    pub work_s: f64,
    /// By how much that may be wrong, either way: a standard error of the mean task time that it rests on.
    pub error_s: f64,
}

impl Sum for Left {
    fn sum<I: Iterator<Item = Left>>(all: I) -> Left {
        all.fold(Left::default(), |sum, one| Left {
            work_s: sum.work_s + one.work_s,
            error_s: sum.error_s + one.error_s,
        })
    }
}

impl Left {
    /// Mean time of the phase's finished tasks, or `before_s` before there is any, × its tasks left, less what those that run have
    /// done of it.
    pub fn of(phase: &PhaseView, before_s: f64) -> Left {
        let task_s = phase.finished_task_s().unwrap_or(before_s);
        let behind = phase.first.iter().map(|task| match *task {
            TaskView::Running { worked, progress: Some(done), .. } if done > 0.0 => {
                task_s - (worked.seconds() * (1.0 - done) / done).min(task_s)
            }
            // One that has outlived what its like take has as much again before it as behind it.
            TaskView::Running { worked, .. } if worked.seconds() > task_s => task_s - worked.seconds(),
            TaskView::Running { worked, .. } => worked.seconds(),
            TaskView::Finished { .. } => 0.0,
        });
        let tasks = f64::from(phase.to_do());
        let work_s = (task_s * tasks - behind.sum::<f64>()).max(0.0);
        Left { work_s: work_s * phase.one, error_s: error_s(phase, task_s) * tasks * phase.one }
    }
}

/// By how much the phase's size, of all its tasks at `task_s` seconds each, may be wrong, in seconds of the partition.
pub fn size_error_s(phase: &PhaseView, task_s: f64) -> f64 {
    error_s(phase, task_s) * (f64::from(phase.tasks()) * phase.one)
}

/// No mean task time is known better than this part of it: heartbeats and reports tell when a task ended, and how far it is.
const SURE: f64 = 0.02;

fn error_s(phase: &PhaseView, task_s: f64) -> f64 {
    standard_error(phase).max(SURE * task_s)
}

/// Standard error of the mean time of the phase's tasks, by those of its first that are done, in seconds; 0 before there are two.
fn standard_error(phase: &PhaseView) -> f64 {
    let times = || {
        phase.first.iter().filter_map(|task| match task {
            TaskView::Finished { worked } => Some(worked.seconds()),
            TaskView::Running { .. } => None,
        })
    };
    let tasks = times().count() as f64;
    if tasks < 2.0 {
        return 0.0;
    }
    let mean = times().sum::<f64>() / tasks;
    let squares: f64 = times().map(|time| (time - mean).powi(2)).sum();
    (squares / (tasks - 1.0) / tasks).sqrt()
}
