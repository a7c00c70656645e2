//! In which order containers go that may be taken: a choice of the queue that loses, independent of who may be taken from
//! at all and of how they go. One file each.

mod evenly;
mod from_each;
mod gp;
mod largest_job;
mod nearest_to_completion;
mod smallest_memory;
mod youngest;

use crate::settings::Victims;
use crate::units::Millis;

/// What an order looks at: a container that may be taken.
#[derive(Clone, Copy)]
pub(super) struct VictimInfo<'a> {
    /// Its memory, in MiB.
    pub memory_mb: i64,
    /// Run time that it probably has left. Few ask.
    pub left: &'a dyn Fn() -> Millis,
}

/// An order of containers whatever their jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OverAll {
    /// What began last goes first.
    LastBegun,
    /// Of each job goes the same part of what it may lose, rounded down, and of that first what began last.
    EqualParts,
    /// The same, rounded up: each gives one before any gives a second.
    EqualPartsOfEach,
}

/// The order in which a queue's containers go. Job by job, the first tasks of a phase, from which its size is learnt, go last;
/// ties go to the younger.
pub(super) trait VictimOrder: Sync {
    /// What goes first of one job's: the smallest.
    fn key(&self, _of: VictimInfo<'_>) -> i64 {
        0
    }

    /// Whether the job with most left to do gives first, whatever its rank; otherwise the last in order does.
    fn largest_job_first(&self) -> bool {
        false
    }

    /// Whether the containers of all queues with this order go in one order, and how; otherwise they go job by job. Such queues
    /// give to other queues only: within a queue a job gives way by the starvation rule, and not otherwise.
    fn over_all_jobs(&self) -> Option<OverAll> {
        None
    }
}

impl Victims {
    /// Whether the containers of all queues with this order go in one order, whatever their jobs; otherwise they go job by job.
    pub fn is_over_all_jobs(self) -> bool {
        order(self).over_all_jobs().is_some()
    }

    /// Whether the jobs of a queue lose in the order of the plan, last first, as far as they keep something from those before them.
    pub fn is_by_rank(self) -> bool {
        !self.is_over_all_jobs() && !order(self).largest_job_first()
    }
}

/// The order of that name.
pub(super) fn order(victims: Victims) -> &'static dyn VictimOrder {
    match victims {
        Victims::Youngest => &youngest::Youngest,
        Victims::SmallestMemory => &smallest_memory::SmallestMemory,
        Victims::NearestToCompletion => &nearest_to_completion::NearestToCompletion,
        Victims::LargestJob => &largest_job::LargestJob,
        Victims::Gp => &gp::Gp,
        Victims::Evenly => &evenly::Evenly,
        Victims::FromEach => &from_each::FromEach,
    }
}
