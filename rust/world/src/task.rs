//! A task, and what its ApplicationMaster knows of an attempt at it.

use hiatus_core::units::Millis;

/// A task: its stage, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId {
    /// Stage.
    pub stage: usize,
    /// Task.
    pub number: u32,
}

/// A phase of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    /// The part of the task's time in which it ends.
    pub ends: f64,
    /// What MapReduce calls the progress then.
    pub progress: f64,
}

/// Map and sort.
const MAP: [Phase; 2] = [Phase { ends: 0.9, progress: 2.0 / 3.0 }, Phase { ends: 1.0, progress: 1.0 }];
/// Copy, sort and reduce.
const REDUCE: [Phase; 3] = [
    Phase { ends: 0.5, progress: 1.0 / 3.0 },
    Phase { ends: 0.6, progress: 2.0 / 3.0 },
    Phase { ends: 1.0, progress: 1.0 },
];

pub(super) fn phases(stage: usize) -> &'static [Phase] {
    if stage == 0 {
        &MAP
    } else {
        &REDUCE
    }
}

/// What an ApplicationMaster knows of an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Attempt {
    pub task: TaskId,
    /// How long it has run.
    pub ran: Millis,
    /// Part of its work done, more than nothing.
    pub done: f64,
    /// How much it works on, in any unit.
    pub data: f64,
}

impl Attempt {
    /// From its begin to its end, in ms, as it goes now.
    pub fn whole_ms(&self) -> f64 {
        self.ran.0 as f64 / self.done
    }

    /// What MapReduce tells: phases of a task count alike, however long they take.
    pub fn progress(&self) -> f64 {
        let mut begin = Phase { ends: 0.0, progress: 0.0 };
        for phase in phases(self.task.stage) {
            if self.done < phase.ends {
                let part = (self.done - begin.ends) / (phase.ends - begin.ends);
                return begin.progress + part * (phase.progress - begin.progress);
            }
            begin = *phase;
        }
        1.0
    }

    pub fn rate(&self) -> f64 {
        self.progress() / self.ran.0.max(1) as f64
    }
}
