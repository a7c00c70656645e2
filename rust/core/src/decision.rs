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
    Lend {
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
    },
}
