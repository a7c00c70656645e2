//! What a job has left: the average time of a phase's tasks × its tasks left (Wolf et al. 2010, §3.3), estimated anew
//! whenever somebody asks.

use crate::estimate::left::{Guess, Left};
use crate::estimate::training::{Expected, History};
use crate::settings::QueueSettings;
use crate::view::{JobView, PhaseView};

/// Where a task time comes from, surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Tasks of the phase, or what the application tells of them.
    Average,
    /// What the user says.
    Hint,
    /// Earlier runs of the job's class.
    Runs,
    /// Earlier jobs of the queue.
    Earlier,
    /// Nothing but the configuration.
    Default,
}

impl Source {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Source::Average => "average",
            Source::Hint => "hint",
            Source::Runs => "earlier runs",
            Source::Earlier => "earlier jobs",
            Source::Default => "default",
        }
    }
}

/// A job's work, in seconds for which it would fill the whole partition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// The least sure of the task times.
    pub source: Source,
    /// What is not done.
    pub left: Left,
    /// With what is done.
    pub whole_s: f64,
    /// The longest task time of all phases, in seconds.
    pub task_s: f64,
}

impl Work {
    /// The work of a job, as far as its phases are known.
    pub fn of(job: &JobView, history: &History, settings: &QueueSettings) -> Work {
        let mut work = Work { source: Source::Average, left: Left::default(), whole_s: 0.0, task_s: 0.0 };
        for phase in &job.phases {
            let (source, task_s) = task_time(phase, job, history, settings);
            let left = Left::of(phase, task_s);
            let counted_s = || task_s * f64::from(phase.to_do()) + phase.finished_time.seconds();
            work.left = [work.left, left].into_iter().sum();
            work.whole_s += phase.told.map_or_else(counted_s, |work| work.all_s()) * phase.one;
            work.task_s = work.task_s.max(task_s);
            if phase.left() > 0 {
                work.source = work.source.max(source);
            }
        }
        if job.phases.iter().all(|phase| phase.to_do() == 0) {
            // It is its ApplicationMaster so far, or between two phases.
            (work.source, work.left.work_s) = (Source::Default, job.remaining);
            work.whole_s += job.remaining;
        }
        work
    }
}

/// What a task of the phase takes before any has finished.
pub fn guess(phase: &PhaseView, job: &JobView, history: &History, settings: &QueueSettings) -> Guess {
    let (source, task_s) = task_time(phase, job, history, settings);
    Guess { task_s, is_sure: source <= Source::Runs }
}

/// Expected time of one task of the phase, in seconds. What runs counts for all alike ([`History::look`]); a task that outlives it has
/// as much again before it ([`Left::of`]): executors and services never end, and would look nearly done for ever.
fn task_time(phase: &PhaseView, job: &JobView, history: &History, settings: &QueueSettings) -> (Source, f64) {
    if let Some(task_s) = phase.told_task_s().or(phase.finished_task_s()) {
        return (Source::Average, task_s);
    }
    let tasks: u32 = job.phases.iter().map(PhaseView::tasks).sum();
    let hint = job.hints.under(&settings.hints).size;
    let hinted = hint.map(|hint| (Source::Hint, hint.task_seconds(phase.key.resource) / f64::from(tasks.max(1))));
    let earlier = || {
        history.expected(phase).map(|expected| match expected {
            Expected::OfItsClass(task_s) => (Source::Runs, task_s),
            Expected::OfOthers(task_s) => (Source::Earlier, task_s),
            Expected::AtLeast(_) => (Source::Default, expected.task_s(settings.default_task)),
        })
    };
    hinted.or_else(earlier).unwrap_or((Source::Default, settings.default_task.seconds()))
}
