//! One job after the other, in the order they came.

use std::collections::VecDeque;

use super::{Discipline, Task};

/// FIFO; also what plain FSPE and SRPTE do with late jobs.
#[derive(Debug, Default)]
pub(in crate::studies::single) struct Serial {
    queue: VecDeque<Task>,
}

impl Discipline for Serial {
    fn admit(&mut self, task: Task) {
        self.queue.push_back(task);
    }

    fn served(&self) -> usize {
        usize::from(!self.queue.is_empty())
    }

    fn work_to_completion(&self) -> f64 {
        self.queue.front().map_or(f64::INFINITY, |task| task.remaining)
    }

    fn serve(&mut self, work: f64) {
        if let Some(task) = self.queue.front_mut() {
            task.remaining -= work;
        }
    }

    fn complete(&mut self) -> Option<u32> {
        Some(self.queue.pop_front()?.id)
    }

    fn allocation(&self, rate: f64, shares: &mut Vec<(u32, f64)>) {
        shares.extend(self.queue.front().map(|task| (task.id, rate)));
    }
}
