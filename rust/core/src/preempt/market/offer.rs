//! What a buyer has been offered so far.

use super::{Victim, Wish};
use crate::plan::Entry;
use crate::state::{Cluster, Node};
use crate::units::{AppId, ContainerId, NodeId, QueueId, Resource};
use std::collections::BTreeMap;

/// Who buys, and what each node could free so far.
pub(super) struct Sale {
    pub app: AppId,
    pub wish: Wish,
    /// The taker's queue and all above it.
    pub above_taker: Vec<QueueId>,
    pub offers: BTreeMap<NodeId, Offer>,
    /// Whether there is a node with victims where the taker was refused.
    pub refused: bool,
    /// How many victims could be spared, whether or not they are enough.
    pub spared: u32,
}

impl Sale {
    pub fn new(cluster: &Cluster, entry: &Entry, wish: Wish) -> Sale {
        let above_taker = cluster.lineage(entry.queue).collect();
        Sale { app: entry.app, wish, above_taker, offers: BTreeMap::new(), refused: false, spared: 0 }
    }
}

/// What one node could free.
pub(super) struct Offer {
    pub room: Resource,
    pub victims: Vec<Victim>,
    pub room_for_suspended_mb: i64,
}

impl Offer {
    pub fn on(node: &Node, room_for_suspended_mb: i64) -> Offer {
        // What settles or leaves is on its way to somebody, and what was freed for somebody is promised. Other claims wait
        // for room to come by itself: it is not free, but nobody has to go for it.
        let free = node.usable() + node.settling + node.leaving - node.freed_in_all();
        let waiting = node.claimed_in_all() - node.freed_in_all();
        let room = free.at_most((free - waiting).at_least_nothing());
        Offer { room, victims: Vec::new(), room_for_suspended_mb }
    }

    /// Whether the container is among the victims.
    pub fn has(&self, id: ContainerId) -> bool {
        self.victims.iter().any(|victim| victim.id == id)
    }

    /// The victims without those that a larger, later one made superfluous; the best placed jobs are spared first.
    pub fn needed(self, need: Resource) -> Vec<Victim> {
        let mut room = self.room;
        let mut needed = self.victims;
        needed.reverse();
        needed.retain(|victim| {
            let without = room - victim.resource;
            let superfluous = need.fits_in(without);
            room = if superfluous { without } else { room };
            !superfluous
        });
        needed
    }
}
