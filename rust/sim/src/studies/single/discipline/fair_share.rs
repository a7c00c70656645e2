//! Every job at once, each in proportion to its weight (PS; with weights, GPS).

use std::collections::BinaryHeap;

use super::{Discipline, Task};
use crate::studies::single::task::Keyed;

/// The virtual clock of a fairly shared server: it shows the service a member of weight 1 would have received, so a
/// member's departure is one fixed reading however shares change meanwhile.
#[derive(Debug, Default)]
pub(in crate::studies::single) struct FairClock {
    reading: f64,
    members: usize,
    weight: f64,
}

impl FairClock {
    /// A member joins; the reading at which it has received `work`.
    pub fn join(&mut self, work: f64, weight: f64) -> f64 {
        self.members += 1;
        self.weight += weight;
        self.reading + work / weight
    }

    /// A member leaves. An empty clock starts afresh, so rounding errors last no longer than a busy period.
    pub fn leave(&mut self, weight: f64) {
        self.members -= 1;
        self.weight -= weight;
        if self.members == 0 {
            *self = FairClock::default();
        }
    }

    /// All members together receive `work`.
    pub fn serve(&mut self, work: f64) {
        if self.members > 0 {
            self.reading += work / self.weight;
        }
    }

    /// Work until the clock shows `reading`.
    pub fn work_until(&self, reading: f64) -> f64 {
        self.work_until_with(reading, self.weight)
    }

    /// Work until the clock would show `reading` if the members' weights added up to `weight`.
    pub fn work_until_with(&self, reading: f64, weight: f64) -> f64 {
        ((reading - self.reading) * weight).max(0.0)
    }

    /// The part of the service that a member of this weight receives.
    pub fn share(&self, weight: f64) -> f64 {
        weight / self.weight
    }
}

/// Processor sharing, weighted.
#[derive(Debug, Default)]
pub(in crate::studies::single) struct FairShare {
    clock: FairClock,
    /// Keyed by the clock's reading at completion.
    jobs: BinaryHeap<Keyed>,
}

impl Discipline for FairShare {
    fn admit(&mut self, task: Task) {
        let key = self.clock.join(task.remaining, task.weight);
        self.jobs.push(Keyed { key, task });
    }

    fn served(&self) -> usize {
        self.jobs.len()
    }

    fn work_to_completion(&self) -> f64 {
        self.jobs.peek().map_or(f64::INFINITY, |first| self.clock.work_until(first.key))
    }

    fn serve(&mut self, work: f64) {
        self.clock.serve(work);
    }

    fn complete(&mut self) -> Option<u32> {
        let done = self.jobs.pop()?.task;
        self.clock.leave(done.weight);
        Some(done.id)
    }

    fn allocation(&self, rate: f64, shares: &mut Vec<(u32, f64)>) {
        shares.extend(self.jobs.iter().map(|job| (job.task.id, rate * self.clock.share(job.task.weight))));
    }
}
