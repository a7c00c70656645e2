//! What runs of a job tell of its next one. There is one history for all who estimate: BatchMR's placer asks it on which side of
//! a mixed cluster earlier runs took less, policies how long their tasks took. The core keeps of it what it is told of jobs that
//! are there ([`Earlier`]), and says what is to be remembered of those that end ([`Record`]); who keeps that, and where, is the
//! caller's business.

mod class;

pub use class::{class_id, job_class};

use crate::fact::{Fact, Run, Side};
use crate::units::{AppId, JobClass, Millis};
use std::collections::BTreeMap;

/// What has to do with history in a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// An application came: what is known of its class is to be told as facts, the sooner the better.
    Came {
        /// The application.
        app: AppId,
        /// Its class.
        class: JobClass,
    },
    /// An application did its work: to be remembered.
    Ended(Record),
}

/// What is remembered of an application that did its work.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its class.
    pub class: JobClass,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: u64,
    /// Bytes of its input; 0 if nobody knows.
    pub input: u64,
    /// How long it took on the sides of a mixed cluster of which that is known.
    pub sides: Vec<OnSide>,
    /// Its tasks that succeeded, by kind.
    pub tasks: Vec<Tasks>,
}

/// How long an application took on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnSide {
    /// The side.
    pub side: Side,
    /// How long, from the start of its ApplicationMaster on.
    pub took: Millis,
    /// Nodes of that side then.
    pub nodes: u32,
}

/// Tasks of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tasks {
    /// The request priority of their containers: MapReduce's maps and reduces have each their own.
    pub priority: i32,
    /// How many there were.
    pub count: u32,
    /// How long they worked together, suspensions aside.
    pub time: Millis,
}

impl Tasks {
    /// Mean working time of one.
    pub fn each(&self) -> Millis {
        Millis(self.time.0 / u64::from(self.count.max(1)))
    }
}

impl Record {
    /// The record as facts about an application of its class that is there now.
    pub fn facts(&self, app: AppId) -> impl Iterator<Item = Fact> + '_ {
        let (at_ms, input) = (self.at_ms, self.input);
        let ran = move |OnSide { side, took, nodes }: &OnSide| {
            let run = Run { same_class: true, side: *side, at_ms, took: *took, nodes: *nodes, input };
            Fact::Ran { app, run }
        };
        let took = move |tasks: &Tasks| {
            let Tasks { priority, count, .. } = *tasks;
            Fact::TasksTook { app, priority, at_ms, each: tasks.each(), count }
        };
        self.sides.iter().map(ran).chain(self.tasks.iter().map(took))
    }
}

/// What is known of a job's earlier runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Earlier {
    runs: Vec<Run>,
    /// By request priority: when, the mean of that run, and how many there were.
    tasks: BTreeMap<i32, Vec<(u64, Millis, u32)>>,
}

impl Earlier {
    /// An earlier run took so long as a whole.
    pub fn ran(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// So many tasks of an earlier run that ended at `at_ms` took so long each.
    pub fn tasks_took(&mut self, priority: i32, at_ms: u64, each: Millis, count: u32) {
        let runs = self.tasks.entry(priority).or_default();
        let at = runs.partition_point(|(other, _, _)| *other <= at_ms);
        runs.insert(at, (at_ms, each, count));
    }

    /// Earlier runs as a whole, in the order in which they were told.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// How long a task of that request priority will take, in seconds, by those of earlier runs.
    pub fn task_s(&self, priority: i32, alpha: f64) -> Option<f64> {
        moving_mean(alpha, self.tasks.get(&priority)?.iter().map(|(_, each, _)| *each))
    }

    /// How long all its tasks will take together, in seconds, by those of earlier runs; `None` if there is none.
    pub fn work_s(&self, alpha: f64) -> Option<f64> {
        let all = |(_, each, count): &(u64, Millis, u32)| Millis(each.0.saturating_mul(u64::from(*count)));
        let kinds = self.tasks.values().filter_map(|runs| moving_mean(alpha, runs.iter().map(all)));
        kinds.reduce(|sum, kind| sum + kind)
    }
}

/// Z(t) = α·Y(t) + (1 − α)·Z(t−1), oldest first and beginning with the first, in seconds (BatchMR, equation (1)).
pub fn moving_mean(alpha: f64, oldest_first: impl Iterator<Item = Millis>) -> Option<f64> {
    oldest_first.map(Millis::seconds).reduce(|so_far, next| alpha * next + (1.0 - alpha) * so_far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_run_weighs_alpha_in_whatever_order_they_are_told() {
        let mut earlier = Earlier::default();
        for (at_ms, seconds) in [(3, 130), (1, 100), (2, 200)] {
            earlier.tasks_took(20, at_ms, Millis(seconds * 1000), 2);
        }
        // 100; 0.3·200 + 0.7·100 = 130; 0.3·130 + 0.7·130 = 130.
        assert!(earlier.task_s(20, 0.3).is_some_and(|mean| (mean - 130.0).abs() < 1e-9));
        assert_eq!(earlier.task_s(10, 0.3), None, "another kind of task");
        assert!(earlier.work_s(0.3).is_some_and(|all| (all - 260.0).abs() < 1e-9), "two tasks");
    }

    #[test]
    fn a_record_comes_back_as_facts_about_another_application() {
        let side = OnSide { side: Side::Virtual, took: Millis(9_000), nodes: 4 };
        let tasks = Tasks { priority: 20, count: 4, time: Millis(10_000) };
        let record = Record { class: JobClass(1), at_ms: 7, input: 5, sides: vec![side], tasks: vec![tasks] };
        let app = AppId(3);
        let run = Run { same_class: true, side: Side::Virtual, at_ms: 7, took: Millis(9_000), nodes: 4, input: 5 };
        let facts: Vec<Fact> = record.facts(app).collect();
        assert_eq!(facts[0], Fact::Ran { app, run });
        assert_eq!(facts[1], Fact::TasksTook { app, priority: 20, at_ms: 7, each: Millis(2_500), count: 4 });
    }
}
