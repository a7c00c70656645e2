//! First to finish under simulated processor sharing first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Order, Part, Task};
use crate::studies::single::discipline::FairClock;
use crate::studies::single::policy::SAME_MOMENT_S;
use crate::studies::single::task::{FrontHeap, Keyed};

/// FSP(E): beside the real server a virtual one shares itself fairly among the estimated sizes. A job done there and
/// not in reality is late; one done in reality and not there keeps its virtual share, or the others would age faster
/// than under PS.
///
/// That such an *early* job leaves the virtual server is no event: nobody but the clock is concerned, which makes up
/// for it when it next advances.
#[derive(Debug, Default)]
pub(in crate::studies::single) struct Fsp {
    clock: FairClock,
    /// In both servers, keyed by the clock's reading at virtual completion.
    running: FrontHeap,
    /// The weight of those running.
    running_weight: f64,
    /// Only in the virtual server, keyed likewise.
    early: BinaryHeap<Early>,
}

/// A job that only the virtual server has still to serve: until the clock shows `key`.
#[derive(Debug, PartialEq)]
struct Early {
    key: f64,
    weight: f64,
}

impl Eq for Early {}

impl PartialOrd for Early {
    fn partial_cmp(&self, other: &Early) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// In a [`BinaryHeap`] the smallest key is on top.
impl Ord for Early {
    fn cmp(&self, other: &Early) -> Ordering {
        other.key.total_cmp(&self.key)
    }
}

impl Fsp {
    fn stop_running(&mut self) -> Option<Keyed> {
        let stopped = self.running.pop()?;
        self.running_weight -= stopped.task.weight;
        if self.running.front().is_none() {
            self.running_weight = 0.0; // whatever rounding left
        }
        Some(stopped)
    }
}

impl Order for Fsp {
    fn arrive(&mut self, task: Task, estimate: f64) {
        let key = self.clock.join(estimate, task.weight);
        self.running_weight += task.weight;
        self.running.push(Keyed { key, task });
    }

    fn front(&self) -> Option<&Task> {
        self.running.front().map(|front| &front.task)
    }

    fn advance(&mut self, seconds: f64, work: f64) {
        let mut left = seconds;
        while let Some(early) = self.early.peek() {
            let until = self.clock.work_until(early.key);
            if until > left {
                break;
            }
            self.clock.serve(until);
            self.clock.leave(early.weight);
            self.early.pop();
            left -= until;
        }
        self.clock.serve(left);
        if let Some(front) = self.running.front_mut() {
            front.task.remaining -= work;
        }
    }

    /// While early jobs are to leave before, and let the clock go faster, this is a time before which the job in front
    /// is not late: not before the first of them leaves, nor sooner than if all of them left now.
    fn until_internal(&self, _front: Part) -> f64 {
        match (self.running.front(), self.early.peek()) {
            (None, _) => f64::INFINITY,
            (Some(front), Some(early)) if early.key < front.key => {
                self.clock.work_until(early.key).max(self.clock.work_until_with(front.key, self.running_weight))
            }
            (Some(front), _) => self.clock.work_until(front.key),
        }
    }

    fn internal(&mut self) -> Option<Task> {
        if self.clock.work_until(self.running.front()?.key) > SAME_MOMENT_S {
            return None; // early jobs have left, no more
        }
        let late = self.stop_running()?.task;
        self.clock.leave(late.weight);
        Some(late)
    }

    fn complete(&mut self) -> Option<u32> {
        let done = self.stop_running()?;
        self.early.push(Early { key: done.key, weight: done.task.weight });
        Some(done.task.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g_2_virtual_remaining_sizes_at_time_3() {
        let job = |id, size| Task { id, size, remaining: size, weight: 1.0 };
        let mut fsp = Fsp::default();
        fsp.arrive(job(0, 3.0), 3.0);
        fsp.arrive(job(1, 4.0), 4.0);
        fsp.advance(3.0, 3.0);
        assert_eq!(fsp.complete(), Some(0));
        fsp.arrive(job(2, 3.0), 3.0);
        // With three members of weight 1 a third of the work until a departure is the member's own.
        let remaining = |key: f64, clock: &FairClock| clock.work_until(key) / 3.0;
        assert_eq!(fsp.early.peek().map(|first| remaining(first.key, &fsp.clock)), Some(1.5));
        for (id, expected) in [(1, 2.5), (2, 3.0)] {
            let front = fsp.running.pop().unwrap();
            assert_eq!((front.task.id, remaining(front.key, &fsp.clock)), (id, expected));
        }
    }
}
