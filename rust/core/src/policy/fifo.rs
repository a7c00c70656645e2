//! First come, first served.

use super::{by_arrival, fill_in_order, JobView, Policy, Supply, Target};

#[derive(Clone, Debug)]
pub(super) struct Fifo;

impl Policy for Fifo {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        let mut order: Vec<_> = jobs.iter().collect();
        order.sort_by(|a, b| by_arrival(a, b));
        fill_in_order(order, supply.entitled)
    }
}
