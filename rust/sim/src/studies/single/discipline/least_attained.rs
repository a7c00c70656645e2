//! The jobs served least so far, equally among themselves (LAS, also FB or SET).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Discipline, Task};
use crate::studies::single::task::Keyed;

/// Jobs of equal attained service, keyed by size: they complete in that order.
type Members = BinaryHeap<Keyed>;

/// Least attained service. Jobs of equal attained service form a group; the least group is served and, when it
/// catches up with the next, they become one. Groups meet by event, never by comparing sums of floats.
#[derive(Debug, Default)]
pub(in crate::studies::single) struct LeastAttained {
    /// Attained service of the served group, seconds.
    attained: f64,
    group: Members,
    waiting: BinaryHeap<Waiting>,
    /// Emptied groups, kept for their memory.
    spare: Vec<Members>,
}

/// A group that has been served more. The least served is on top of a heap.
#[derive(Debug)]
struct Waiting {
    attained: f64,
    group: Members,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        other.attained.total_cmp(&self.attained)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl LeastAttained {
    /// Work until each member of the served group has attained `service`.
    fn work_until(&self, service: f64) -> f64 {
        ((service - self.attained) * self.group.len() as f64).max(0.0)
    }
}

impl Discipline for LeastAttained {
    fn admit(&mut self, task: Task) {
        let attained = task.size - task.remaining;
        let newcomer = Keyed { key: task.size, task };
        if self.group.is_empty() {
            self.attained = attained;
        }
        if attained == self.attained {
            self.group.push(newcomer);
            return;
        }
        let mut group = self.spare.pop().unwrap_or_default();
        group.push(newcomer);
        let mut waiting = Waiting { attained, group };
        if attained < self.attained {
            std::mem::swap(&mut self.attained, &mut waiting.attained);
            std::mem::swap(&mut self.group, &mut waiting.group);
        }
        self.waiting.push(waiting);
    }

    fn served(&self) -> usize {
        self.group.len()
    }

    fn work_to_completion(&self) -> f64 {
        self.group.peek().map_or(f64::INFINITY, |first| self.work_until(first.key))
    }

    fn work_to_internal(&self) -> f64 {
        self.waiting.peek().map_or(f64::INFINITY, |next| self.work_until(next.attained))
    }

    fn serve(&mut self, work: f64) {
        if !self.group.is_empty() {
            self.attained += work / self.group.len() as f64;
        }
    }

    fn complete(&mut self) -> Option<u32> {
        let done = self.group.pop()?.task;
        if self.group.is_empty() {
            self.internal();
        }
        Some(done.id)
    }

    /// Catches up with the next group. `append` moves the smaller of the two, so no job moves more than log n times.
    fn internal(&mut self) {
        if let Some(Waiting { attained, mut group }) = self.waiting.pop() {
            self.attained = attained;
            self.group.append(&mut group);
            self.spare.push(group);
        }
    }

    fn allocation(&self, rate: f64, shares: &mut Vec<(u32, f64)>) {
        let share = rate / self.group.len() as f64;
        shares.extend(self.group.iter().map(|member| (member.task.id, share)));
    }
}
