//! Of the lowest-ranked job, the smallest: least is written to disk.

use super::{VictimInfo, VictimOrder};

pub(super) struct SmallestMemory;

impl VictimOrder for SmallestMemory {
    fn key(&self, of: VictimInfo<'_>) -> i64 {
        of.memory_mb
    }
}
