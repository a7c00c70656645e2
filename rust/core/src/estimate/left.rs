//! What a phase really has left, as its tasks that are done tell, and by how much that may be wrong.

use crate::settings::QueueSettings;
use crate::stages::Work;
use crate::view::{JobView, PhaseView, TaskView};
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
        Left { work_s: Left::work_s(phase, before_s), error_s: Left::error_s(phase, before_s) }
    }

    /// By how much that may be wrong.
    pub fn error_s(phase: &PhaseView, before_s: f64) -> f64 {
        if let Some(work) = phase.told {
            return told_error(work) * work.left_s * phase.one;
        }
        let task_s = phase.finished_task_s().unwrap_or(before_s);
        error_s(phase, task_s) * f64::from(phase.to_do()) * phase.one
    }

    /// The work alone: as told, where it is.
    pub fn work_s(phase: &PhaseView, before_s: f64) -> f64 {
        Left::of_tasks_s(phase, phase.finished_task_s().unwrap_or(before_s))
    }

    /// The work alone, if a task takes so long.
    pub fn of_tasks_s(phase: &PhaseView, task_s: f64) -> f64 {
        if let Some(work) = phase.told {
            return work.left_s * phase.one;
        }
        let behind = phase.first.iter().map(|task| match *task {
            TaskView::Running { worked, progress: Some(done), .. } if done > 0.0 => {
                task_s - (worked.seconds() * (1.0 - done) / done).min(task_s)
            }
            TaskView::Running { worked, .. } => behind_s(worked.seconds(), task_s),
            TaskView::Finished { .. } => 0.0,
        });
        let others = f64::from(phase.others.tasks);
        // Of these only the mean is known.
        let behind_others =
            if others > 0.0 { others * behind_s(phase.others.worked.seconds() / others, task_s) } else { 0.0 };
        let tasks = f64::from(phase.to_do());
        (task_s * tasks - behind.sum::<f64>() - behind_others).max(0.0) * phase.one
    }
}

/// What a task has behind it that has worked for so long, of what its like take. One that has outlived that has as much again before it
/// as behind it.
fn behind_s(worked_s: f64, task_s: f64) -> f64 {
    if worked_s > task_s {
        task_s - worked_s
    } else {
        worked_s
    }
}

/// What a task of a phase takes before any has finished, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guess {
    /// That time.
    pub task_s: f64,
    /// Whether a hint or the progress of its own tasks says so, and not other jobs or the configuration.
    pub is_sure: bool,
}

/// What is left of a job, to be compared with another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Remaining {
    /// Work, as far as anything tells, in seconds of the partition.
    work_s: f64,
    /// That of phases of whose tasks nothing is known, as guessed.
    unknown_s: f64,
    /// How many tasks those have left, and all, each by its share of the partition.
    unknown: f64,
    tasks: f64,
}

impl Remaining {
    /// Of all phases of the job, with what is known of them before any task has finished.
    pub fn of(job: &JobView, guess: impl Fn(&PhaseView) -> Guess) -> Remaining {
        job.phases.iter().fold(Remaining::default(), |sum, phase| {
            let guess = guess(phase);
            let left = Left::work_s(phase, guess.task_s);
            let tasks = f64::from(phase.to_do()) * phase.one;
            let is_known = guess.is_sure || phase.told.is_some() || phase.finished > 0 || phase.earlier_s.is_some();
            let unknown = if is_known { 0.0 } else { 1.0 };
            Remaining {
                work_s: sum.work_s + left,
                unknown_s: sum.unknown_s + unknown * left,
                unknown: sum.unknown + unknown * tasks,
                tasks: sum.tasks + tasks,
            }
        })
    }

    /// Whether a job that has so much left may take of one of the same queue, whose rules those are, that has so much (law 24): for a new
    /// container only if it has much less left, for one that goes on if it has no more.
    pub fn may_take_of(&self, victim: &Remaining, rules: &QueueSettings, is_new: bool) -> bool {
        let threshold = rules.preemption_threshold;
        threshold >= 1.0 || self.is_below(if is_new { threshold } else { 1.0 }, victim)
    }

    /// Whether that is surely no more than such a part of what the other has left: of whose tasks nothing is known, they take as long as
    /// those of the other at least.
    fn is_below(&self, part: f64, other: &Remaining) -> bool {
        let other_task_s = if other.tasks > 0.0 { other.work_s / other.tasks } else { 0.0 };
        let unknown_s = self.unknown_s.max(self.unknown * other_task_s);
        self.work_s - self.unknown_s + unknown_s <= part * other.work_s
    }

    /// Whether there is no other of which that is a smaller part than of what is left of `job`.
    pub fn is_no_less(&self, job: &Remaining) -> bool {
        let known_s = |of: &Remaining| of.work_s - of.unknown_s;
        known_s(self) >= known_s(job) && self.unknown_s >= job.unknown_s && self.unknown >= job.unknown
    }
}

/// By how much the phase's size, of all its tasks at `task_s` seconds each, may be wrong, in seconds of the partition.
pub fn size_error_s(phase: &PhaseView, task_s: f64) -> f64 {
    let of_task_s = phase.told.map_or_else(|| error_s(phase, task_s), |work| told_error(work) * task_s);
    of_task_s * (f64::from(phase.tasks()) * phase.one)
}

/// No mean task time is known better than this part of it: heartbeats and reports tell when a task ended, and how far it is.
pub const SURE: f64 = 0.02;

/// By which part of itself what an application tells may be wrong.
fn told_error(work: Work) -> f64 {
    work.error.max(SURE)
}

fn error_s(phase: &PhaseView, task_s: f64) -> f64 {
    standard_error(phase).max(SURE * task_s)
}

/// Standard error of the mean time of the phase's tasks, by those of its first that are done, in seconds; 0 before there are two.
fn standard_error(phase: &PhaseView) -> f64 {
    let times = phase.first.iter().filter_map(|task| match task {
        TaskView::Finished { worked } => Some(worked.seconds()),
        TaskView::Running { .. } => None,
    });
    Moments::of(times).map_or(0.0, |moments| (moments.variance / moments.count).sqrt())
}

/// What is known of a quantity by a sample of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    /// How many there are in the sample.
    pub count: f64,
    /// Its mean.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
}

impl Moments {
    /// Of such a sample; none of less than two.
    pub fn of(sample: impl Iterator<Item = f64> + Clone) -> Option<Moments> {
        let count = sample.clone().count() as f64;
        let mean = sample.clone().sum::<f64>() / count;
        let squares: f64 = sample.map(|one| (one - mean).powi(2)).sum();
        (count >= 2.0).then(|| Moments { count, mean, variance: squares / (count - 1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remaining(known_s: f64, unknown_s: f64, unknown: f64, tasks: f64) -> Remaining {
        Remaining { work_s: known_s + unknown_s, unknown_s, unknown, tasks }
    }

    #[test]
    fn law_24_tasks_of_which_nothing_is_known_take_as_long_as_those_they_are_compared_with() {
        // A hundred tasks of 500 s, of the whole partition each.
        let big = remaining(50_000.0, 0.0, 0.0, 100.0);
        assert!(remaining(34_999.0, 0.0, 0.0, 80.0).is_below(0.7, &big));
        assert!(!remaining(35_001.0, 0.0, 0.0, 80.0).is_below(0.7, &big));
        // Guessed at 60 s: as many would be as much work, a few are not.
        assert!(!remaining(0.0, 6_000.0, 100.0, 100.0).is_below(0.7, &big));
        assert!(remaining(0.0, 480.0, 8.0, 8.0).is_below(0.7, &big));
    }

    #[test]
    fn who_has_no_less_of_what_is_known_and_of_what_is_not_gets_no_more() {
        let job = remaining(100.0, 60.0, 1.0, 3.0);
        assert!(job.is_no_less(&job) && remaining(101.0, 60.0, 1.0, 3.0).is_no_less(&job));
        assert!(!remaining(99.0, 600.0, 10.0, 12.0).is_no_less(&job));
        assert!(!remaining(200.0, 0.0, 0.0, 3.0).is_no_less(&job));
    }
}
