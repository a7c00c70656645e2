//! Of all jobs an equal part, youngest first, and one of each at least. What fair schedulers do, and GP is compared with (GP,
//! section IV), in another reading: tasks "of each job", "of every non-production job".

use super::{OverAll, VictimOrder};

pub(super) struct FromEach;

impl VictimOrder for FromEach {
    fn over_all_jobs(&self) -> Option<OverAll> {
        Some(OverAll::EqualPartsOfEach)
    }
}
