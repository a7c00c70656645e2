//! Of all jobs, those that began last: least work is lost, and tasks that take long are done at some time (Global Preemption,
//! Algorithm 1).

use super::{OverAll, VictimOrder};

pub(super) struct Gp;

impl VictimOrder for Gp {
    fn over_all_jobs(&self) -> Option<OverAll> {
        Some(OverAll::LastBegun)
    }
}
