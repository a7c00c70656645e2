//! Which job a size-based policy puts in front, and when a job is late.

mod fsp;
mod srpt;

pub(super) use fsp::Fsp;
pub(super) use srpt::Srpt;

use super::part::Part;
use super::task::Task;

/// An order of jobs by what is believed of their sizes.
pub(super) trait Order: Default {
    /// A job arrives, believed to need `estimate` seconds of service.
    fn arrive(&mut self, task: Task, estimate: f64);

    /// The job in front: the first of those not late.
    fn front(&self) -> Option<&Task>;

    /// `seconds` pass, during which the job in front receives `work`.
    fn advance(&mut self, seconds: f64, work: f64);

    /// Seconds until its next internal event while the job in front has this part of the server; infinite if none.
    fn until_internal(&self, front: Part) -> f64;

    /// Lets its internal event happen; the job that is late from now on, if one is.
    fn internal(&mut self) -> Option<Task>;

    /// The job in front is done; its number.
    fn complete(&mut self) -> Option<u32>;
}
