//! Of the lowest-ranked job, the smallest: least is written to disk.

use super::{Standing, VictimOrder};

pub(super) struct SmallestMemory;

impl VictimOrder for SmallestMemory {
    fn key(&self, of: Standing<'_>) -> i64 {
        of.memory_mb
    }
}
