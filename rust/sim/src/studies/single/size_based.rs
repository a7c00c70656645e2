//! Policies that go by size: an order, and a discipline for the jobs that are late.

use super::discipline::Discipline;
use super::order::Order;
use super::part::Part;
use super::policy::{Event, Next, Policy, Source};
use super::task::Task;
use crate::workload::Job;

/// Who is served while jobs are late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LateJobs {
    /// Late jobs only.
    Alone,
    /// Late jobs and the job in front, each with the same share.
    BesideFront,
}

/// What a policy is told of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Its true size: a clairvoyant policy.
    Size,
    /// Its estimated size.
    Estimate,
    /// Its estimated size and its weight.
    EstimateAndWeight,
}

/// An [`Order`] of the jobs that are not late, a [`Discipline`] for those that are.
#[derive(Debug)]
pub(super) struct SizeBased<O, D> {
    order: O,
    late: D,
    late_jobs: LateJobs,
    told: Told,
    /// What the job in front has of the server.
    front_part: Part,
    /// What the late jobs have of it together.
    late_part: Part,
}

impl<O: Order, D: Discipline> SizeBased<O, D> {
    pub fn new(told: Told, late_jobs: LateJobs) -> SizeBased<O, D> {
        let (order, late) = (O::default(), D::default());
        SizeBased { order, late, late_jobs, told, front_part: Part::NONE, late_part: Part::NONE }
    }

    /// Divides the server anew, after any change of who is in front or late.
    fn divide(&mut self) {
        (self.front_part, self.late_part) = match (self.order.front(), self.late.served()) {
            (None, 0) => (Part::NONE, Part::NONE),
            (Some(_), 0) => (Part::ALL, Part::NONE),
            (Some(_), late) if self.late_jobs == LateJobs::BesideFront => {
                (Part::of(1, late + 1), Part::of(late, late + 1))
            }
            (_, _) => (Part::NONE, Part::ALL),
        };
    }
}

/// The earlier of two; the first if they coincide.
fn earlier(a: (f64, Source), b: (f64, Source)) -> (f64, Source) {
    if a.0 <= b.0 {
        a
    } else {
        b
    }
}

impl<O: Order, D: Discipline> Policy for SizeBased<O, D> {
    fn arrive(&mut self, id: u32, job: &Job) {
        let weight = if self.told == Told::EstimateAndWeight { job.weight } else { 1.0 };
        let estimate = if self.told == Told::Size { job.size } else { job.estimate };
        self.order.arrive(Task { id, size: job.size, remaining: job.size, weight }, estimate);
        self.divide();
    }

    fn next(&self) -> Next {
        let front = self.order.front().map_or(f64::INFINITY, |front| self.front_part.seconds(front.remaining.max(0.0)));
        let late = self.late_part.seconds(self.late.work_to_completion());
        let front_internal = self.order.until_internal(self.front_part);
        let late_internal = self.late_part.seconds(self.late.work_to_internal());
        Next::first(
            earlier((front, Source::Front), (late, Source::Pool)),
            earlier((front_internal, Source::Front), (late_internal, Source::Pool)),
        )
    }

    fn advance(&mut self, seconds: f64) {
        self.order.advance(seconds, seconds * self.front_part.rate);
        self.late.serve(seconds * self.late_part.rate);
    }

    fn happen(&mut self, event: Event) -> Option<u32> {
        let mut done = None;
        match event {
            Event::Completion(Source::Front) => done = self.order.complete(),
            Event::Completion(Source::Pool) => done = self.late.complete(),
            Event::Internal(Source::Pool) => self.late.internal(),
            Event::Internal(Source::Front) => {
                if let Some(late) = self.order.internal() {
                    self.late.admit(late);
                }
            }
        }
        self.divide();
        done
    }

    fn allocation(&self, shares: &mut Vec<(u32, f64)>) {
        if self.front_part.rate > 0.0 {
            shares.extend(self.order.front().map(|front| (front.id, self.front_part.rate)));
        }
        if self.late_part.rate > 0.0 {
            self.late.allocation(self.late_part.rate, shares);
        }
    }
}
