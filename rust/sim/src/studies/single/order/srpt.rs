//! Smallest estimated remaining size first.

use super::{Order, Part, Task};
use crate::studies::single::task::{FrontHeap, Keyed};

/// SRPT(E): a job is late once it has received its estimate.
#[derive(Debug, Default)]
pub(in crate::studies::single) struct Srpt {
    /// Keyed by the estimate of what remains.
    jobs: FrontHeap,
}

impl Order for Srpt {
    fn arrive(&mut self, task: Task, estimate: f64) {
        self.jobs.push(Keyed { key: estimate, task });
    }

    fn front(&self) -> Option<&Task> {
        self.jobs.front().map(|front| &front.task)
    }

    fn advance(&mut self, _seconds: f64, work: f64) {
        if let Some(front) = self.jobs.front_mut() {
            front.key -= work;
            front.task.remaining -= work;
        }
    }

    fn until_internal(&self, front: Part) -> f64 {
        self.jobs.front().map_or(f64::INFINITY, |first| front.seconds(first.key.max(0.0)))
    }

    fn internal(&mut self) -> Option<Task> {
        Some(self.jobs.pop()?.task)
    }

    fn complete(&mut self) -> Option<u32> {
        Some(self.jobs.pop()?.task.id)
    }
}
