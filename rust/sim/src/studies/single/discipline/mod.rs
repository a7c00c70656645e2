//! How a server is shared among jobs of unknown size.

mod fair_share;
mod least_attained;
mod serial;

pub(super) use fair_share::{FairClock, FairShare};
pub(super) use least_attained::LeastAttained;
pub(super) use serial::Serial;

use super::task::Task;

/// Shares whatever part of the server it is given among its jobs. It counts in work (seconds of service at rate 1),
/// so it need not know how large that part is.
pub(super) trait Discipline: Default {
    /// Takes a job in, which may have been served before.
    fn admit(&mut self, task: Task);

    /// How many jobs it is serving now; 0 when it has none.
    fn served(&self) -> usize;

    /// Work until the next of its jobs completes; infinite without jobs.
    fn work_to_completion(&self) -> f64;

    /// Work until it changes whom it serves though none completes; infinite if it will not.
    fn work_to_internal(&self) -> f64 {
        f64::INFINITY
    }

    /// Does `work`, at most up to its next event.
    fn serve(&mut self, work: f64);

    /// Lets go of the job whose completion is due; its number.
    fn complete(&mut self) -> Option<u32>;

    /// Changes whom it serves, when that is due.
    fn internal(&mut self) {}

    /// Appends its served jobs' shares of a server of which it has `rate`.
    fn allocation(&self, rate: f64, shares: &mut Vec<(u32, f64)>);
}
