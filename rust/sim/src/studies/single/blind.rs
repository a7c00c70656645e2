//! Policies that know nothing of sizes: a discipline with the whole server.

use super::discipline::Discipline;
use super::policy::{Event, Next, Policy, Source};
use super::task::Task;
use crate::workload::Job;

/// A discipline as a policy.
#[derive(Debug)]
pub(super) struct Blind<D> {
    pool: D,
    /// Whether jobs' weights count.
    weighted: bool,
}

impl<D: Discipline> Blind<D> {
    pub fn equal() -> Blind<D> {
        Blind { pool: D::default(), weighted: false }
    }

    pub fn weighted() -> Blind<D> {
        Blind { pool: D::default(), weighted: true }
    }
}

impl<D: Discipline> Policy for Blind<D> {
    fn arrive(&mut self, id: u32, job: &Job) {
        let weight = if self.weighted { job.weight } else { 1.0 };
        self.pool.admit(Task { id, size: job.size, remaining: job.size, weight });
    }

    fn next(&self) -> Next {
        Next::first((self.pool.work_to_completion(), Source::Pool), (self.pool.work_to_internal(), Source::Pool))
    }

    fn advance(&mut self, seconds: f64) {
        self.pool.serve(seconds);
    }

    fn happen(&mut self, event: Event) -> Option<u32> {
        match event {
            Event::Completion(_) => self.pool.complete(),
            Event::Internal(_) => {
                self.pool.internal();
                None
            }
        }
    }

    fn allocation(&self, shares: &mut Vec<(u32, f64)>) {
        self.pool.allocation(1.0, shares);
    }
}
