//! Least attained service: who has received least is served first. Blind to sizes, good to small jobs.

use super::{fill_in_order, sorted_by_key, JobView, Policy, Supply, Target};

#[derive(Clone, Debug)]
pub(super) struct Las;

impl Policy for Las {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        fill_in_order(sorted_by_key(jobs, |job| job.attained), supply.entitled)
    }
}
