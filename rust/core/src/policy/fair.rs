//! Processor sharing: equal shares for all, and what small jobs leave for the others. Served first is who is furthest
//! below its share.

use super::{by_arrival, JobView, Policy, Supply, Target};
use crate::entitlement::max_min;

#[derive(Clone, Debug)]
pub(super) struct Fair;

impl Policy for Fair {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        let claims: Vec<_> = jobs.iter().map(|job| (1.0, job.demand - job.masters)).collect();
        let free = supply.entitled - jobs.iter().map(|job| job.masters).sum::<f64>();
        let mut shared: Vec<_> = jobs
            .iter()
            .zip(max_min(free, &claims))
            .map(|(job, share)| (job.masters + share, job))
            .map(|(share, job)| (job, Target { app: job.app, share, keeps: share, ahead: 0.0 }))
            .collect();
        shared.sort_by(|(a, of_a), (b, of_b)| {
            (a.held - of_a.share).total_cmp(&(b.held - of_b.share)).then_with(|| by_arrival(a, b))
        });
        shared.into_iter().map(|(_, target)| target).collect()
    }
}
