//! Of the lowest-ranked job, those with least left to do: they are soon done when they are back.

use super::{VictimInfo, VictimOrder};

pub(super) struct NearestToCompletion;

impl VictimOrder for NearestToCompletion {
    fn key(&self, of: VictimInfo<'_>) -> i64 {
        (of.left)().0 as i64
    }
}
