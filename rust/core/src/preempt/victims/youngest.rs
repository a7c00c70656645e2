//! Of the lowest-ranked job, the youngest: least work is put off (HFSP thesis, section 4.4.3).

use super::VictimOrder;

pub(super) struct Youngest;

impl VictimOrder for Youngest {}
