//! Of all jobs an equal part, youngest first; jobs of few containers lose theirs last. What fair schedulers do, and GP is compared
//! with (GP, section IV), in one reading.

use super::{OverAll, VictimOrder};

pub(super) struct Evenly;

impl VictimOrder for Evenly {
    fn over_all_jobs(&self) -> Option<OverAll> {
        Some(OverAll::EqualParts)
    }
}
