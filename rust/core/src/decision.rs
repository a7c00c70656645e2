//! What the core wants done. Every decision is a proposal: the caller checks it against its own books, carries it out
//! or says why not, and reports either as a fact before the next step.

use crate::units::{AppId, ContainerId, NodeId, Resource};

/// A proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Give the application up to `count` containers on the node, in the order of its request priorities, and no more than `room`:
    /// what comes first in that order may be larger than what was meant, and the rest of the room somebody else's (law 4).
    Assign {
        /// The application.
        app: AppId,
        /// The node.
        node: NodeId,
        /// How many at most.
        count: u32,
        /// Room for all of them.
        room: Resource,
    },
    /// Give the application one container of that request priority on the node, and none of any other: the room there is only
    /// lent.
    AssignLent {
        /// The application.
        app: AppId,
        /// The node.
        node: NodeId,
        /// The request priority.
        priority: i32,
    },
    /// Demote the container: it stops counting, and the node pauses it when its room is needed.
    Suspend {
        /// The container.
        container: ContainerId,
        /// Why.
        reason: Reason,
    },
    /// Promote the container where it is: it counts again and runs.
    Resume {
        /// The container.
        container: ContainerId,
    },
    /// Kill the container as a preempted one.
    Kill {
        /// The container.
        container: ContainerId,
        /// What it dies of.
        cause: Cause,
    },
}

/// Why a container is suspended: whose doing it is, and so what ends it. A deadline of its queue ends all but
/// [`Reason::Parked`] (law 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its room was taken for another job. Its own job's turn ends it.
    Preempted {
        /// The job that needed the room.
        by: AppId,
    },
    /// Somebody put it aside by hand, and takes it up by hand; then it waits for its job's turn.
    Parked,
    /// It waits for other tasks of its job and lends its room meanwhile. The loan's rule ends it (Predoop, see `lend`).
    Lent,
    /// It had borrowed room, and the lender needed that. Its own job's turn ends it.
    Recalled {
        /// The lender.
        by: ContainerId,
    },
    /// Its node offers less than it has given out, and somebody there could not start. Its own job's turn ends it.
    Overcommitted,
    /// The ResourceManager found it so when it came back: the reason is lost. Its own job's turn ends it.
    Found,
}

impl Reason {
    /// As it is called where people read.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Preempted { .. } => "preempted",
            Reason::Parked => "parked",
            Reason::Lent => "lent",
            Reason::Recalled { .. } => "recalled",
            Reason::Overcommitted => "overcommitted",
            Reason::Found => "found",
        }
    }

    /// Whether nothing but room that its job may have keeps such a container from going on, unless it is parked now.
    pub fn ends_with_turn(self) -> bool {
        self != Reason::Lent
    }

    /// Whether it is one of the suspensions after which `min-resumed-ms` holds (law 5): loans are none.
    pub(crate) fn counts(self) -> bool {
        !matches!(self, Reason::Lent | Reason::Recalled { .. })
    }
}

/// What a container is killed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its room was taken for another job.
    Preempted {
        /// The job that needed the room.
        by: AppId,
    },
    /// It had been suspended for twice its queue's `max-suspension-ms` (law 6).
    SuspendedTooLong,
    /// Its job might go on with it, but its node had no room for `resume-locality-ms`.
    KeptOut,
    /// It was suspended, and in the way of a container that was given out there and could not start.
    InTheWay,
}
