//! Learning a phase's size from its first tasks (HFSP thesis, section 4.2).

use crate::units::Millis;
use crate::view::{JobView, PhaseView, TaskView};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// How many time-outs a task that reports no progress at all is given before it counts as hardly begun (gap 15).
const PATIENCE: u64 = 4;

/// Progress of a task that reports none for so long.
const HARDLY_BEGUN: f64 = 0.01;

/// What the first tasks of a phase tell about all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learnt {
    /// Expected time of one task, in seconds.
    pub task_s: f64,
    /// The tasks looked at.
    pub tasks: u32,
    /// Those of them that are not done.
    pub begun: u32,
    /// What each of those has left on average, in seconds.
    pub left_s: f64,
    /// No task was done nor said how far it was: the estimate is a guess from how long they have run.
    pub guessed: bool,
}

/// How sizes are estimated. Another method (recurring jobs, say) is another implementation.
pub trait Estimator: Send + Debug {
    /// Expected time of one task before any of the phase was seen, in seconds, by what is known of earlier ones.
    fn initial(&self, expected: Option<Expected>) -> f64;

    /// What the first tasks of a phase tell; `None` as long as it is too early to say.
    fn learn(&self, first: &[TaskView]) -> Option<Learnt>;
}

/// The estimator of the thesis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Training {
    /// Δ: a task that runs longer is judged by its progress.
    pub timeout: Millis,
    /// ξ ≥ 1: how much larger than others untrained phases are taken to be.
    pub caution: f64,
    /// s₀: time of a task before anything was ever seen.
    pub default_task: Millis,
}

impl Estimator for Training {
    fn initial(&self, expected: Option<Expected>) -> f64 {
        match expected {
            // Of that there is no reason to take it for larger than it is.
            Some(Expected::OfItsClass(task_s)) => task_s,
            Some(Expected::OfOthers(task_s)) => self.caution * task_s,
            None => self.caution * self.default_task.seconds(),
        }
    }

    fn learn(&self, first: &[TaskView]) -> Option<Learnt> {
        let judged: Vec<(f64, f64)> = first.iter().map(|task| self.judge(task)).collect::<Option<_>>()?;
        let tasks = judged.len() as u32;
        let task_s = judged.iter().map(|(time, _)| time).sum::<f64>() / f64::from(tasks.max(1));
        let running = || first.iter().filter(|task| matches!(task, TaskView::Running { .. }));
        let begun = running().count() as u32;
        // S_f = s̃ · [(n − t) + Σ (1 − p_k)]: the second part, spread over the tasks that are not done.
        let left: f64 = judged.iter().map(|(_, done)| 1.0 - done).sum();
        let told = |task: &TaskView| !matches!(task, TaskView::Running { progress: None, .. });
        let guessed = !first.iter().any(told);
        (tasks > 0).then(|| Learnt { task_s, tasks, begun, left_s: task_s * left / f64::from(begun.max(1)), guessed })
    }
}

impl Training {
    /// Expected time of the task in seconds, and the part of it that is done.
    fn judge(&self, task: &TaskView) -> Option<(f64, f64)> {
        match *task {
            TaskView::Finished { worked } => Some((worked.seconds(), 1.0)),
            TaskView::Running { worked, .. } if worked < self.timeout => None,
            TaskView::Running { worked, progress: Some(done), .. } if done > 0.0 => {
                Some((worked.seconds() / done, done))
            }
            TaskView::Running { worked, progress: Some(_), .. } => {
                let late = worked.0 >= self.timeout.0.saturating_mul(PATIENCE);
                late.then(|| (self.timeout.seconds() / HARDLY_BEGUN, HARDLY_BEGUN))
            }
            // Nobody says how far it is: as much again is to come (spec section 6.1).
            TaskView::Running { worked, progress: None, .. } => Some((2.0 * worked.seconds(), 0.5)),
        }
    }
}

/// Expected time of one task of a phase before any was seen, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// By earlier runs of the job's class.
    OfItsClass(f64),
    /// By all other jobs, and what runs.
    OfOthers(f64),
}

impl Expected {
    /// As it is.
    pub fn task_s(self) -> f64 {
        match self {
            Expected::OfItsClass(task_s) | Expected::OfOthers(task_s) => task_s,
        }
    }
}

/// What tasks of one type took in the jobs of which that is known. Each counts alike, whatever its number of tasks (gap 13).
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    /// Working time of one task, summed over jobs, in seconds.
    time_s: f64,
    /// The part of it that is done, likewise.
    done: f64,
    /// The longest that is known of, as far as it has come or as its progress tells, in seconds.
    longest_s: f64,
    /// Logarithms of the mean times of jobs that are over, and their squares, summed.
    logs: f64,
    squares: f64,
}

impl Evidence {
    /// Working time over what was completed in it: the estimate of a mean from data that are censored because not all is over
    /// (exponential survival, Epstein and Sobel, *Life testing*, 1953). Where less than one job's tasks are done, what runs is
    /// taken to have no more before it than behind it (spec section 6.1).
    fn task_s(&self) -> Option<f64> {
        let mean_s = self.time_s / self.done;
        let guess_s = (2.0 * self.longest_s).min(MOST_GUESSED_S);
        match self.done {
            done if done >= 1.0 => Some(mean_s),
            _ if self.longest_s <= 0.0 => None,
            done if done > 0.0 => Some(mean_s.min(guess_s)),
            _ => Some(guess_s),
        }
    }
}

/// By how much jobs' task times differ where they are called alike: the standard deviation of their logarithms, within a factor of
/// 1.65 of their mean for two jobs in three.
const ALIKE: f64 = 0.5;

/// Less is not told apart: a task of no time has no logarithm.
const MIN_TIME_S: f64 = 0.1;

/// How far tasks of earlier jobs tell about others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Fewer than two are known.
    Unknown,
    /// Their mean tells enough.
    Alike,
    /// One has to look at each job's own tasks.
    Wide,
}

/// Tasks that tell nothing and do not end are not taken for longer than this, in seconds: what outlives half of it is a service,
/// and takes turns with others of its kind.
const MOST_GUESSED_S: f64 = 7_200.0;

/// Task times of other jobs, by type of phase, that is, by request priority: MapReduce's maps and reduces.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Of jobs that are over.
    earlier: BTreeMap<i32, Evidence>,
    /// With those that are there, as far as they are done.
    now: BTreeMap<i32, Evidence>,
}

impl History {
    /// A job is over.
    pub fn note(&mut self, phases: &[PhaseView]) {
        for phase in phases.iter().filter(|phase| phase.finished > 0) {
            let earlier = self.earlier.entry(phase.key.priority).or_default();
            let mean_s = phase.finished_time.seconds() / f64::from(phase.finished);
            let log = mean_s.max(MIN_TIME_S).ln();
            earlier.time_s += mean_s;
            earlier.done += 1.0;
            earlier.logs += log;
            earlier.squares += log * log;
        }
    }

    /// What is known by now: what the jobs that are there have worked so far counts as well, for all alike.
    pub fn look(&mut self, jobs: &[JobView]) {
        self.now.clone_from(&self.earlier);
        for phase in jobs.iter().flat_map(|job| &job.phases).filter(|phase| !phase.gated) {
            let (mut tasks, mut done) = (f64::from(phase.finished), f64::from(phase.finished));
            let mut time_s = phase.finished_time.seconds();
            let mut longest_s = time_s / tasks.max(1.0);
            for task in &phase.first {
                if let TaskView::Running { worked, progress, .. } = task {
                    tasks += 1.0;
                    done += progress.unwrap_or(0.0);
                    time_s += worked.seconds();
                    let whole_s =
                        progress.filter(|done| *done > 0.0).map_or(worked.seconds(), |done| worked.seconds() / done);
                    longest_s = longest_s.max(whole_s);
                }
            }
            if time_s > 0.0 {
                let now = self.now.entry(phase.key.priority).or_default();
                now.time_s += time_s / tasks;
                now.done += done / tasks;
                now.longest_s = now.longest_s.max(longest_s);
            }
        }
    }

    /// How far earlier jobs tell about tasks like the phase's.
    pub fn spread(&self, phase: &PhaseView) -> Spread {
        match self.earlier.get(&phase.key.priority) {
            Some(of) if of.done >= 2.0 => {
                let mean = of.logs / of.done;
                let variance = (of.squares / of.done - mean * mean) * of.done / (of.done - 1.0);
                if variance > ALIKE * ALIKE {
                    Spread::Wide
                } else {
                    Spread::Alike
                }
            }
            _ => Spread::Unknown,
        }
    }

    /// What is known of tasks like the phase's, before any of it was seen: surest first.
    pub fn expected(&self, phase: &PhaseView) -> Option<Expected> {
        let of_class = phase.earlier_s.map(Expected::OfItsClass);
        let of_others = || self.now.get(&phase.key.priority).and_then(Evidence::task_s).map(Expected::OfOthers);
        of_class.or_else(of_others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAINING: Training = Training { timeout: Millis(60_000), caution: 1.0, default_task: Millis(60_000) };

    fn finished(seconds: u64) -> TaskView {
        TaskView::Finished { worked: Millis(seconds * 1000) }
    }

    fn running(seconds: u64, progress: Option<f64>) -> TaskView {
        TaskView::Running { worked: Millis(seconds * 1000), runs: true, progress }
    }

    #[test]
    fn hfsp_2_3_initial_sizes_are_600_and_900() {
        let cautious = Training { caution: 1.5, ..TRAINING };
        assert_eq!(20.0 * TRAINING.initial(Some(Expected::OfOthers(30.0))), 600.0);
        assert_eq!(20.0 * cautious.initial(Some(Expected::OfOthers(30.0))), 900.0);
        assert_eq!(20.0 * cautious.initial(Some(Expected::OfItsClass(30.0))), 600.0, "of that nobody is afraid");
        assert_eq!(TRAINING.initial(None), 60.0);
    }

    #[test]
    fn hfsp_2_3_training_gives_743_4() {
        let first = [finished(10), finished(12), finished(14), running(60, Some(0.5)), running(60, Some(0.75))];
        let learnt = TRAINING.learn(&first).unwrap();
        let size = learnt.task_s * 15.0 + learnt.left_s * f64::from(learnt.begun);
        assert!((learnt.task_s - 47.2).abs() < 1e-9 && (size - 743.4).abs() < 1e-9, "{learnt:?}");
    }

    #[test]
    fn hfsp_2_3_five_done_of_five_leave_nothing() {
        let learnt = TRAINING.learn(&[finished(8); 5]).unwrap();
        assert_eq!((learnt.task_s, learnt.begun, learnt.left_s), (8.0, 0, 0.0));
    }

    #[test]
    fn it_is_too_early_to_judge_a_task_before_the_timeout() {
        assert_eq!(TRAINING.learn(&[finished(8), running(59, Some(0.9))]), None);
    }

    #[test]
    fn gap_15_a_task_without_progress_is_waited_for_and_then_hardly_begun() {
        assert_eq!(TRAINING.learn(&[running(239, Some(0.0))]), None);
        assert_eq!(TRAINING.learn(&[running(240, Some(0.0))]).map(|learnt| learnt.task_s), Some(6000.0));
    }

    #[test]
    fn without_reports_as_much_again_is_to_come_and_it_is_called_a_guess() {
        let learnt = TRAINING.learn(&[running(60, None), running(90, None)]).unwrap();
        assert_eq!((learnt.task_s, learnt.left_s, learnt.guessed), (150.0, 75.0, true));
        assert!(!TRAINING.learn(&[running(60, None), finished(5)]).unwrap().guessed);
    }
}
