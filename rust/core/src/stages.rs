//! What an application tells of its work whose containers do not end with their tasks: executors take tasks one after the
//! other, stage by stage. Its size is tasks left × their mean time over the tasks that a container has at a time, and never the
//! age of a container. Numbers, no cluster.

use crate::units::Millis;

/// The request priority of a stage whose tasks run in whatever container the application has. YARN has none below 0.
pub const ANY_CONTAINER: i32 = -1;

/// So long its last word counts: applications tell every second.
pub const FRESH: Millis = Millis(15_000);

/// What an executor is worth to its application, as that tells. Those of one job are taken in this order, and go on in the
/// opposite one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Executor {
    /// It has no task, and keeps nothing.
    Idle,
    /// It has tasks. So has one of which nobody says anything.
    Busy,
    /// It keeps what others may want of it: data in its memory, or outputs that nothing else on its node serves.
    Keeps,
}

/// A stage as its application tells it, or several that are alike to it: those that are done, or that have not begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// It is the first of what the application tells now, and takes the place of all that it told before.
    pub first: bool,
    /// Stages may follow of which the application does not know yet.
    pub more: bool,
    /// The request priority of containers that run such tasks, or [`ANY_CONTAINER`].
    pub priority: i32,
    /// All its tasks, done or not.
    pub tasks: u32,
    /// Those that run.
    pub running: u32,
    /// Those that are done.
    pub done: u32,
    /// Mean run time of these.
    pub each: Millis,
    /// How many of its tasks a container runs at a time, at least 1.
    pub slots: u32,
}

impl Stage {
    /// Whether it can be true.
    pub fn is_sensible(&self) -> bool {
        self.slots > 0 && u64::from(self.done) + u64::from(self.running) <= u64::from(self.tasks)
    }

    /// Time of its tasks that are done, in seconds of a container.
    fn done_s(&self) -> f64 {
        f64::from(self.done) * self.each.seconds() / f64::from(self.slots)
    }

    /// Time that its tasks have left, if those like it take `others_s` seconds. Tasks that run are half done on average.
    fn left_s(&self, others_s: f64) -> f64 {
        let each_s = if self.done > 0 { self.each.seconds() } else { others_s };
        let tasks = f64::from(self.tasks) - f64::from(self.done) - f64::from(self.running) / 2.0;
        tasks * each_s / f64::from(self.slots)
    }
}

/// Work as told, in seconds of one container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// What is done.
    pub done_s: f64,
    /// What is left.
    pub left_s: f64,
    /// By which part of itself what is left may be wrong: a standard error, for tasks whose times differ as much as they are long.
    pub error: f64,
}

impl Work {
    /// What is done and what is left.
    pub fn all_s(&self) -> f64 {
        self.done_s + self.left_s
    }
}

/// All that an application told last.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    told_at: Millis,
    all: Vec<Stage>,
}

impl Stages {
    /// Takes a stage into account that is told now.
    pub fn tell(&mut self, stage: Stage, now: Millis) {
        if stage.first {
            self.all.clear();
        }
        self.all.push(stage);
        self.told_at = now;
    }

    /// When it told the last of them; 0 if there are none.
    pub fn told_at(&self) -> Millis {
        self.told_at
    }

    /// The work of containers of that request priority; `None` if nothing is told of such, or no task of the application is done yet. A
    /// stage of which none is done takes as long a task as the others. If nothing that is known is left and more may follow, that is
    /// taken to be as much again as is done.
    pub fn work(&self, priority: i32) -> Option<Work> {
        let done: u64 = self.all.iter().map(|stage| u64::from(stage.done)).sum();
        if done == 0 || self.all.iter().all(|stage| stage.priority != priority) {
            return None;
        }
        let times = self.all.iter().map(|stage| f64::from(stage.done) * stage.each.seconds());
        let mean_s = times.sum::<f64>() / done as f64;
        let of_priority = || self.all.iter().filter(|stage| stage.priority == priority);
        let done_s = of_priority().map(Stage::done_s).sum();
        let known = self.all.iter().any(|stage| stage.done < stage.tasks);
        let left_s = match self.all.iter().any(|stage| stage.more) && !known {
            true => done_s,
            false => of_priority().map(|stage| stage.left_s(mean_s)).sum(),
        };
        Some(Work { done_s, left_s, error: (1.0 / done as f64).sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(tasks: u32, running: u32, done: u32, each_s: u64) -> Stage {
        let each = Millis(each_s * 1_000);
        Stage { first: false, more: true, priority: 1, tasks, running, done, each, slots: 2 }
    }

    fn told(stages: &[Stage]) -> Stages {
        let mut told = Stages::default();
        stages.iter().for_each(|stage| told.tell(*stage, Millis(1_000)));
        told
    }

    fn work(stages: &[Stage]) -> Option<(f64, f64)> {
        told(stages).work(1).map(|work| (work.done_s, work.left_s))
    }

    #[test]
    fn tasks_left_times_their_mean_time_over_those_a_container_has_at_a_time() {
        assert_eq!(work(&[stage(100, 4, 20, 10)]), Some((100.0, 390.0)));
        assert_eq!(work(&[stage(100, 4, 20, 10), stage(10, 0, 0, 0)]), Some((100.0, 440.0)), "as long as the others'");
        assert_eq!(work(&[stage(30, 0, 30, 2), stage(10, 0, 10, 6), stage(8, 0, 0, 0)]), Some((60.0, 12.0)));
    }

    #[test]
    fn before_a_task_is_done_nothing_is_known() {
        assert_eq!(work(&[]), None);
        assert_eq!(work(&[stage(100, 4, 0, 0)]), None);
        assert_eq!(told(&[stage(100, 4, 20, 10)]).work(2), None);
    }

    #[test]
    fn where_nothing_known_is_left_as_much_again_may_follow() {
        assert_eq!(work(&[stage(20, 0, 20, 10)]), Some((100.0, 100.0)));
        assert_eq!(work(&[Stage { more: false, ..stage(20, 0, 20, 10) }]), Some((100.0, 0.0)));
    }

    #[test]
    fn what_is_told_anew_takes_the_place_of_what_was_told() {
        let mut stages = told(&[Stage { first: true, ..stage(100, 0, 20, 10) }, stage(10, 0, 0, 0)]);
        assert_eq!(stages.all.len(), 2);
        stages.tell(Stage { first: true, ..stage(100, 0, 50, 10) }, Millis(2_000));
        assert_eq!(work(&stages.all), Some((250.0, 250.0)));
        assert_eq!(stages.told_at(), Millis(2_000));
    }

    #[test]
    fn more_tasks_done_than_there_are_cannot_be() {
        assert!(stage(10, 4, 6, 1).is_sensible());
        assert!(!stage(10, 4, 7, 1).is_sensible());
        assert!(!stage(u32::MAX, u32::MAX, 1, 1).is_sensible());
        assert!(!Stage { slots: 0, ..stage(10, 0, 0, 0) }.is_sensible());
    }
}
