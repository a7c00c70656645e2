//! Why no room is made for a job that is below its target: what keeps the containers that could go.

use crate::units::Millis;
use std::fmt;

/// What keeps one container, or all of them. In the order of how much an administrator can do about it, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoVictimReason {
    /// Nobody after it holds anything, on nodes where it may start, that would make enough room on one of them.
    NobodyAfter,
    /// What it lacks is due to it ahead of its turn.
    AheadOfTurn,
    /// They are of jobs of a higher priority.
    HigherPriority,
    /// They are ApplicationMasters, parked, on silent nodes, or already on their way.
    Busy,
    /// It was refused on those nodes since their last heartbeat.
    RefusedThere,
    /// They are on nodes that it, or YARN for its master, has blacklisted.
    Blacklisted,
    /// Its suspended containers go on where they are only, and there nobody after it holds enough.
    AtHome,
    /// Many were looked at in vain a moment ago.
    BackingOff,
    /// What has just begun runs for a while.
    MinRun(Millis),
    /// What has just gone on runs for a while.
    MinResumed(Millis),
    /// They have been suspended for others for as long as they may.
    Budget,
    /// They will end soon.
    NearEnd,
    /// Their jobs have hardly more left to do than it.
    HardlyMore,
    /// Work of their kind was killed so often that it is spared now.
    Killed,
    /// Their nodes keep as much suspended memory as they may.
    SuspendedMemory,
    /// Their nodes cannot suspend.
    NodeCannotSuspend,
    /// Their applications may not be suspended.
    NeverSuspended,
    /// Their queue waits for their end.
    Waits,
    /// Their queue is protected from others.
    Protected,
    /// Their queue is protected from its own jobs.
    ProtectedWithin,
    /// Their queue holds no more than it is entitled to.
    Entitled,
}

impl NoVictimReason {
    /// How long that lasts yet, if time alone ends it.
    fn lasts(self) -> Option<Millis> {
        match self {
            NoVictimReason::MinRun(left) | NoVictimReason::MinResumed(left) => Some(left),
            _ => None,
        }
    }
}

impl fmt::Display for NoVictimReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoVictimReason::NobodyAfter => {
                "containers of jobs that come after it, which would have to leave enough room on one node"
            }
            NoVictimReason::AheadOfTurn => "room that becomes free: its first tasks come ahead of its turn",
            NoVictimReason::HigherPriority => "containers of jobs of its queue that have a higher priority",
            NoVictimReason::Busy => "containers that are on their way already, parked, or on silent nodes",
            NoVictimReason::RefusedThere => "the next heartbeats of nodes on which YARN has refused it",
            NoVictimReason::Blacklisted => "nodes that its application has not blacklisted",
            NoVictimReason::AtHome => "room on the nodes of its suspended tasks, which go on only there",
            NoVictimReason::BackingOff => "the next look at jobs after it: there was nothing to be had a moment ago",
            NoVictimReason::MinRun(_) => "containers of jobs after it that have just begun (min-run-ms)",
            NoVictimReason::MinResumed(_) => "containers of jobs after it that have just gone on (min-resumed-ms)",
            NoVictimReason::Budget => {
                "containers that were suspended for as long as they may be (suspension-budget-ms)"
            }
            NoVictimReason::NearEnd => "containers that end soon (wait-before-end-ms)",
            NoVictimReason::HardlyMore => {
                "the end of tasks of jobs that have hardly more left to do than it (preemption-threshold)"
            }
            NoVictimReason::Killed => "containers whose kind was killed too often",
            NoVictimReason::SuspendedMemory => {
                "nodes that may keep no more suspended memory (max-suspended-memory, RAM and swap)"
            }
            NoVictimReason::NodeCannotSuspend => "containers on nodes that cannot suspend",
            NoVictimReason::NeverSuspended => "containers of applications that may not be suspended (suspend-types)",
            NoVictimReason::Waits => {
                "containers that have not ended yet (mode and preemption of their queue take nothing)"
            }
            NoVictimReason::Protected => "a queue that is protected from preemption (disable_preemption)",
            NoVictimReason::ProtectedWithin => {
                "a queue that is protected from its own jobs (disable_preemption, preemption-within)"
            }
            NoVictimReason::Entitled => "other queues, which hold no more than they are entitled to",
        })?;
        match self.lasts() {
            Some(left) => write!(f, ", {:.0} s yet", left.seconds().ceil()),
            None => Ok(()),
        }
    }
}

/// How many containers are kept by what.
#[derive(Clone, Debug, Default)]
pub(super) struct ReasonCounts(Vec<(NoVictimReason, u32)>);

impl ReasonCounts {
    pub fn note(&mut self, reason: NoVictimReason) {
        self.add(reason, 1);
    }

    pub fn add_all(&mut self, others: &ReasonCounts) {
        for (reason, count) in &others.0 {
            self.add(*reason, *count);
        }
    }

    pub fn add(&mut self, reason: NoVictimReason, count: u32) {
        let alike = |other: &NoVictimReason| std::mem::discriminant(other) == std::mem::discriminant(&reason);
        match self.0.iter_mut().find(|(other, _)| alike(other)) {
            Some((other, all)) => (*other, *all) = ((*other).min(reason), *all + count),
            None => self.0.push((reason, count)),
        }
    }

    /// What keeps most of them; of equal ones what can be helped most.
    pub fn main(&self) -> NoVictimReason {
        let most = self.0.iter().max_by_key(|(reason, count)| (*count, *reason));
        most.map_or(NoVictimReason::NobodyAfter, |(reason, _)| *reason)
    }
}
