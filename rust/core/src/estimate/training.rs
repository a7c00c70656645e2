//! Learning a phase's size from its first tasks (HFSP thesis, section 4.2).

use super::left::Moments;
use crate::units::{AppId, Millis};
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
            Some(expected) => self.caution * expected.task_s(self.default_task),
            None => self.caution * self.default_task.seconds(),
        }
    }

    fn learn(&self, first: &[TaskView]) -> Option<Learnt> {
        // What was suspended before it could tell is not waited for.
        let stands =
            |task: &&TaskView| matches!(task, TaskView::Running { worked, runs: false, .. } if *worked < self.timeout);
        let first: Vec<&TaskView> = first.iter().filter(|task| !stands(task)).collect();
        let judged: Vec<(f64, f64)> = first.iter().map(|task| self.judge(task)).collect::<Option<_>>()?;
        let tasks = judged.len() as u32;
        let task_s = judged.iter().map(|(time, _)| time).sum::<f64>() / f64::from(tasks.max(1));
        let running = || first.iter().filter(|task| matches!(task, TaskView::Running { .. }));
        let begun = running().count() as u32;
        // S_f = s̃ · [(n − t) + Σ (1 − p_k)]: the second part, spread over the tasks that are not done.
        let left: f64 = judged.iter().map(|(_, done)| 1.0 - done).sum();
        let guessed = first.iter().all(|task| matches!(task, TaskView::Running { progress: None, .. }));
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

/// Expected time of one task of a phase before any of it was seen, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// By earlier runs of the job's class.
    OfItsClass(f64),
    /// By what tasks of other jobs take.
    OfOthers(f64),
    /// Nobody's tasks tell how far they are; as much again as they have run is to come (spec section 6.1).
    AtLeast(f64),
}

impl Expected {
    /// That time; not less than by default as long as nobody says how far anything is.
    pub fn task_s(self, default_task: Millis) -> f64 {
        match self {
            Expected::OfItsClass(task_s) | Expected::OfOthers(task_s) => task_s,
            Expected::AtLeast(task_s) => task_s.max(default_task.seconds()),
        }
    }
}

/// What tells nothing for so long is a service, and says nothing about the tasks of others.
const SERVICE: Millis = Millis(3_600_000);

/// By how much jobs' task times differ where they are called alike: the standard deviation of their logarithms, so that two jobs in
/// three are within a factor of 1.65 of the mean.
const ALIKE: f64 = 0.5;

/// A task of no time has no logarithm.
const MIN_TIME_S: f64 = 0.1;

/// What is known of the time of a phase's tasks by its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Their mean, in seconds.
    pub task_s: f64,
    /// How many tell that.
    pub tasks: f64,
}

impl Sample {
    /// Its finished tasks, if there are any.
    pub fn finished(phase: &PhaseView) -> Option<Sample> {
        let tasks = f64::from(phase.finished);
        phase.finished_task_s().map(|task_s| Sample { task_s, tasks })
    }
}

/// By how much the times of the phase's first tasks differ, of those that are done or say how far they are: their variance over the square
/// of their mean; none before there are two.
fn spread(phase: &PhaseView) -> Option<f64> {
    let times = phase.first.iter().filter_map(|task| match *task {
        TaskView::Finished { worked } => Some(worked.seconds()),
        TaskView::Running { worked, progress: Some(done), .. } if done > 0.0 => Some(worked.seconds() / done),
        TaskView::Running { .. } => None,
    });
    let known = Moments::of(times).filter(|known| known.mean > 0.0);
    known.map(|known| known.variance / (known.mean * known.mean))
}

/// What tasks of one type took in the jobs of which that is known. Each counts alike, whatever its number of tasks (gap 13).
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    jobs: f64,
    /// Time of one task, summed over jobs, in seconds.
    time_s: f64,
    /// Its logarithm, and the square of that, likewise.
    log: f64,
    log_squared: f64,
    /// By how much tasks of one job differ: the variance of their times over the square of the mean, summed over the jobs of which it is
    /// known, how many those are, and what it makes of the variance of their means.
    within: f64,
    sampled: f64,
    of_means: f64,
    /// The longest that a task of the others has run that says nothing, in seconds.
    silent_s: f64,
}

impl Evidence {
    /// Of one job, and by how much its tasks' times differ, if that is known.
    fn of(sample: Sample, spread: Option<f64>) -> Evidence {
        let log = sample.task_s.max(MIN_TIME_S).ln();
        let one = Evidence { jobs: 1.0, time_s: sample.task_s, log, log_squared: log * log, ..Evidence::default() };
        match spread {
            Some(within) => Evidence { within, sampled: 1.0, of_means: within / sample.tasks, ..one },
            None => one,
        }
    }

    fn add(&mut self, phase: &PhaseView, sample: Sample) {
        *self = self.and(&Evidence::of(sample, spread(phase)));
    }

    fn and(&self, other: &Evidence) -> Evidence {
        Evidence {
            jobs: self.jobs + other.jobs,
            time_s: self.time_s + other.time_s,
            log: self.log + other.log,
            log_squared: self.log_squared + other.log_squared,
            within: self.within + other.within,
            sampled: self.sampled + other.sampled,
            of_means: self.of_means + other.of_means,
            silent_s: self.silent_s.max(other.silent_s),
        }
    }

    /// The mean; what says nothing counts only where nobody says anything.
    fn expected(&self) -> Option<Expected> {
        if self.jobs > 0.0 {
            Some(Expected::OfOthers(self.time_s / self.jobs))
        } else {
            Some(Expected::AtLeast(2.0 * self.silent_s)).filter(|_| self.silent_s > 0.0)
        }
    }

    /// The variance of the logarithms of the jobs' times; none before there are two.
    fn variance(&self) -> Option<f64> {
        let deviations = self.log_squared - self.log * self.log / self.jobs;
        (self.jobs >= 2.0).then(|| deviations.max(0.0) / (self.jobs - 1.0))
    }

    /// Whether the jobs differ so little that the next one's time is known; not before there are two.
    fn are_alike(&self) -> bool {
        self.variance().is_some_and(|variance| variance <= ALIKE * ALIKE)
    }

    /// What a task of one of those jobs takes, in seconds: as its sample says, drawn to the mean of all by as much as chance alone sets
    /// samples of jobs apart that are alike (empirical Bayes: Efron and Morris, 1975).
    fn among(&self, own: Sample) -> f64 {
        let Some(variance) = self.variance().filter(|_| self.within > 0.0 && self.are_alike()) else {
            return own.task_s;
        };
        let by_chance = self.within / self.sampled / own.tasks;
        let really = (variance - self.of_means / self.sampled).max(0.0);
        let to_mean = by_chance / (by_chance + really);
        own.task_s * (to_mean * (self.log / self.jobs - own.task_s.max(MIN_TIME_S).ln())).exp()
    }
}

/// Task times of other jobs, by type of phase, that is, by request priority: MapReduce's maps and reduces.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Of jobs that are over.
    earlier: BTreeMap<i32, Evidence>,
    /// Of those that are there.
    present: BTreeMap<i32, Evidence>,
}

impl History {
    /// A job is over.
    pub fn note(&mut self, phases: &[PhaseView]) {
        for phase in phases {
            let Some(sample) = Sample::finished(phase) else { continue };
            self.earlier.entry(phase.key.priority).or_default().add(phase, sample);
        }
    }

    /// What is known by now: the jobs that are there count as well, for all alike, as soon as it is `told` what a task of theirs takes,
    /// in seconds. Until then it is not estimated from one heartbeat to the next, or whoever runs would lead and fall back in turns.
    pub fn look(&mut self, jobs: &[JobView], told: impl Fn(AppId, &PhaseView) -> Option<Sample>) {
        self.present.clear();
        let all = jobs.iter().flat_map(|job| job.phases.iter().map(|phase| (job.app, phase)));
        // How long executors live says nothing of anybody's tasks.
        for (app, phase) in all.filter(|(_, phase)| phase.told.is_none()) {
            let now = self.present.entry(phase.key.priority).or_default();
            match told(app, phase) {
                Some(sample) => now.add(phase, sample),
                None => now.silent_s = phase.first.iter().filter_map(silent_s).fold(now.silent_s, f64::max),
            }
        }
    }

    /// Whether nothing new is to be learnt from the phase's first tasks: earlier runs of its job's class told their time, or those of
    /// all jobs that are known are alike.
    pub fn tells(&self, phase: &PhaseView) -> bool {
        phase.earlier_s.is_some() || self.of_others(phase).are_alike()
    }

    /// What a task of the phase takes, in seconds, by its own sample among those of all jobs.
    pub fn among(&self, phase: &PhaseView, own: Sample) -> f64 {
        self.of_others(phase).among(own)
    }

    /// Whether jobs are known to differ in tasks like the phase's; not before two are known.
    pub fn differs(&self, phase: &PhaseView) -> bool {
        let others = self.of_others(phase);
        others.jobs >= 2.0 && !others.are_alike()
    }

    /// What is known of tasks like the phase's, before any of it was seen: surest first.
    pub fn expected(&self, phase: &PhaseView) -> Option<Expected> {
        let of_class = phase.earlier_s.map(Expected::OfItsClass);
        of_class.or_else(|| self.of_others(phase).expected())
    }

    fn of_others(&self, phase: &PhaseView) -> Evidence {
        let of = |jobs: &BTreeMap<i32, Evidence>| jobs.get(&phase.key.priority).copied().unwrap_or_default();
        of(&self.earlier).and(&of(&self.present))
    }
}

/// For how long a task runs that does not say how far it is, in seconds; services aside.
fn silent_s(task: &TaskView) -> Option<f64> {
    match *task {
        TaskView::Running { worked, progress: None, .. } if worked < SERVICE => Some(worked.seconds()),
        _ => None,
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

    /// A job whose tasks take `task_s` seconds by five of them, with times that differ so much.
    fn job(task_s: f64, spread: f64) -> Evidence {
        Evidence::of(Sample { task_s, tasks: 5.0 }, Some(spread).filter(|spread| *spread > 0.0))
    }

    #[test]
    fn where_jobs_are_alike_what_chance_sets_apart_is_drawn_to_the_mean_of_all() {
        let own = Sample { task_s: 140.0, tasks: 5.0 };
        // Tasks within 30 % of their mean: five of them tell it to 8 %, and that is most of what sets these two apart.
        let alike = job(140.0, 0.03).and(&job(160.0, 0.03));
        assert!((146.0..147.0).contains(&alike.among(own)), "{}", alike.among(own));
        // The more tasks have told, the less of it is chance.
        assert!(alike.among(Sample { tasks: 40.0, ..own }) < 142.5);
        let closer = job(145.0, 0.03).and(&job(155.0, 0.03));
        assert!(
            (closer.among(own) - 149.9).abs() < 0.1,
            "no further apart than chance sets them: {}",
            closer.among(own)
        );
    }

    #[test]
    fn where_jobs_differ_or_nothing_is_left_to_chance_a_sample_tells_what_it_tells() {
        let own = Sample { task_s: 140.0, tasks: 5.0 };
        assert_eq!(job(140.0, 0.03).among(own), 140.0, "of one job alone");
        assert_eq!(job(140.0, 0.03).and(&job(600.0, 0.03)).among(own), 140.0);
        assert_eq!(job(140.0, 0.0).and(&job(160.0, 0.0)).among(own), 140.0);
    }
}
