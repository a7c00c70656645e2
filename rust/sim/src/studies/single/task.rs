//! A job inside a policy, and heaps of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A job and what is left of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub id: u32,
    /// Service it needs in all, seconds.
    pub size: f64,
    /// Service it still needs, seconds. Whoever completes it decides when; rounding may leave a trace.
    pub remaining: f64,
    pub weight: f64,
}

/// A task with the key it is sorted by. In a [`BinaryHeap`] the smallest key is on top, then the lowest job number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keyed {
    pub key: f64,
    pub task: Task,
}

impl Ord for Keyed {
    fn cmp(&self, other: &Keyed) -> Ordering {
        other.key.total_cmp(&self.key).then_with(|| other.task.id.cmp(&self.task.id))
    }
}

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Keyed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Keyed) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Keyed {}

/// A heap whose first task stands apart, so that it can be changed while it is served.
#[derive(Debug, Default)]
pub(super) struct FrontHeap {
    front: Option<Keyed>,
    rest: BinaryHeap<Keyed>,
}

impl FrontHeap {
    pub fn front(&self) -> Option<&Keyed> {
        self.front.as_ref()
    }

    /// The task in front; whoever changes its key must keep it the smallest.
    pub fn front_mut(&mut self) -> Option<&mut Keyed> {
        self.front.as_mut()
    }

    pub fn push(&mut self, new: Keyed) {
        match self.front {
            None => self.front = Some(new),
            // Reversed order: the greater of two is the one with the smaller key.
            Some(front) if new > front => {
                self.rest.push(front);
                self.front = Some(new);
            }
            Some(_) => self.rest.push(new),
        }
    }

    pub fn pop(&mut self) -> Option<Keyed> {
        std::mem::replace(&mut self.front, self.rest.pop())
    }
}
