//! Shortest remaining processing time, on estimated sizes.

use super::{fill_in_order, sorted_by_key, JobView, Policy, Supply, Target};

#[derive(Clone, Debug)]
pub(super) struct Srpt;

impl Policy for Srpt {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        fill_in_order(sorted_by_key(jobs, |job| job.remaining), supply.entitled)
    }
}
