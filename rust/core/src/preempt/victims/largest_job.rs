//! Of the job with most left to do, whatever its rank, the youngest: it is put off least, for its length.

use super::VictimOrder;

pub(super) struct LargestJob;

impl VictimOrder for LargestJob {
    fn largest_job_first(&self) -> bool {
        true
    }
}
