//! What is derived from nodes and jobs and asked for at every step, kept true as they change: what a partition's live nodes
//! offer, and which of them have how much room. Nothing here is looked for by walking over all nodes.

use super::Node;
use crate::fact::{PerSide, Side};
use crate::units::{Millis, NodeId, PartitionId, Resource};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::ops::Bound;

/// As what a node counts in its partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listing {
    partition: PartitionId,
    side: Option<Side>,
    /// Whether asks without a label may be served there.
    for_all: bool,
    total: Resource,
    /// What is left of it beside ApplicationMasters.
    takeable: Resource,
    /// What can be used on it at once; `None` while it is silent or being decommissioned.
    usable: Option<Resource>,
}

impl Listing {
    /// As what the node should be listed now.
    pub fn of(node: &Node, now: Millis) -> Listing {
        let usable = (node.is_live(now) && !node.decommissioning).then(|| node.usable());
        let for_all = node.partition == PartitionId(0) || node.shareable;
        Listing {
            partition: node.partition,
            side: node.side,
            for_all,
            total: node.total,
            takeable: node.total - node.masters,
            usable,
        }
    }

    /// Notes the node where it belongs.
    pub fn add(&self, id: NodeId, partitions: &mut BTreeMap<PartitionId, Partition>, sides: &mut PerSide<SideNodes>) {
        let side = &mut sides[self.side];
        side.nodes += 1;
        if self.usable.is_some() && self.for_all {
            side.live += self.total;
            *side.sizes.entry(self.takeable).or_default() += 1;
        }
        let partition = partitions.entry(self.partition).or_default();
        partition.nodes += 1;
        partition.total += self.total;
        if let Some(usable) = self.usable {
            partition.live += self.total;
            partition.live_on[self.side] += self.total;
            partition.usable += usable;
            partition.rooms[self.side].add(usable, id);
        }
    }

    /// Takes it out of there. A partition without nodes is none.
    pub fn remove(
        &self,
        id: NodeId,
        partitions: &mut BTreeMap<PartitionId, Partition>,
        sides: &mut PerSide<SideNodes>,
    ) {
        let side = &mut sides[self.side];
        side.nodes -= 1;
        if self.usable.is_some() && self.for_all {
            side.live -= self.total;
            match side.sizes.get_mut(&self.takeable) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(side.sizes.remove(&self.takeable)),
            }
        }
        let Some(partition) = partitions.get_mut(&self.partition) else { return };
        partition.nodes -= 1;
        partition.total -= self.total;
        if let Some(usable) = self.usable {
            partition.live -= self.total;
            partition.live_on[self.side] -= self.total;
            partition.usable -= usable;
            partition.rooms[self.side].remove(usable, id);
        }
        if partition.nodes == 0 {
            partitions.remove(&self.partition);
        }
    }
}

/// Live nodes by the room that can be used on them at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rooms(BTreeMap<Resource, BTreeSet<NodeId>>);

/// A place in [`Rooms`], roomiest first and of equal ones the first by handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// What can be used at once.
    pub usable: Resource,
    /// Where.
    pub node: NodeId,
}

impl Rooms {
    fn add(&mut self, usable: Resource, node: NodeId) {
        self.0.entry(usable).or_default().insert(node);
    }

    fn remove(&mut self, usable: Resource, node: NodeId) {
        if let Some(nodes) = self.0.get_mut(&usable) {
            nodes.remove(&node);
            if nodes.is_empty() {
                self.0.remove(&usable);
            }
        }
    }

    /// The next node after `last`, from the roomiest on, whose room `serves` says is worth a look. Rooms of one size are judged
    /// once, however many nodes have it.
    pub fn next(&self, last: Option<Room>, serves: impl Fn(Resource) -> bool) -> Option<Room> {
        if let Some(last) = last.filter(|last| serves(last.usable)) {
            let after = (Bound::Excluded(last.node), Bound::Unbounded);
            let beside = self.0.get(&last.usable).and_then(|nodes| nodes.range(after).next());
            if let Some(node) = beside {
                return Some(Room { usable: last.usable, node: *node });
            }
        }
        let smaller = match last {
            Some(last) => self.0.range(..last.usable),
            None => self.0.range(..),
        };
        let mut smaller = smaller.rev().filter(|(usable, _)| serves(**usable));
        smaller.find_map(|(usable, nodes)| nodes.first().map(|node| Room { usable: *usable, node: *node }))
    }

    /// How many nodes have how much room, roomiest first.
    pub fn sizes(&self) -> impl Iterator<Item = (Resource, u32)> + '_ {
        self.0.iter().rev().map(|(usable, nodes)| (*usable, nodes.len() as u32))
    }

    /// All nodes with their room, roomiest first.
    pub fn all(&self) -> impl Iterator<Item = Room> + '_ {
        let room = |usable, node: &NodeId| Room { usable, node: *node };
        self.0.iter().rev().flat_map(move |(usable, nodes)| nodes.iter().map(move |node| room(*usable, node)))
    }
}

/// A partition's nodes together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// How many nodes are in it, live or not.
    pub nodes: usize,
    /// What all of them offer.
    pub total: Resource,
    /// What those offer that can be counted on now.
    pub live: Resource,
    /// The same, side by side.
    pub live_on: PerSide<Resource>,
    /// What of that can be used at once.
    pub usable: Resource,
    /// Those by their room, side by side.
    pub rooms: PerSide<Rooms>,
}

/// What is on one side of a mixed cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideNodes {
    /// How many nodes, live or not.
    pub nodes: usize,
    /// What those offer together that can be counted on now and serve asks without a label.
    pub live: Resource,
    /// How many of them have how much beside ApplicationMasters.
    sizes: BTreeMap<Resource, usize>,
}

impl SideNodes {
    /// How many can be counted on now.
    pub fn live_nodes(&self) -> u32 {
        self.sizes.values().sum::<usize>() as u32
    }

    /// Whether a container of that size fits any of them when nothing runs there but the ApplicationMasters of now.
    pub fn holds(&self, one: Resource) -> bool {
        self.sizes.keys().rev().any(|takeable| one.fits_in(*takeable))
    }
}

impl Partition {
    /// Which part of what can be counted on is occupied, by the scarcer resource, 0…1.
    pub fn busy_share(&self) -> f64 {
        (self.live - self.usable).dominant_share(self.live)
    }
}

/// When to look whether a node has fallen silent. One entry a node, put off when it turns out to have reported since.
#[derive(Clone, Debug, Default)]
pub(super) struct Silences(BinaryHeap<Reverse<(Millis, NodeId)>>);

impl Silences {
    pub fn look(&mut self, at: Millis, node: NodeId) {
        self.0.push(Reverse((at, node)));
    }

    /// The next node that is to be looked at by now.
    pub fn due(&mut self, now: Millis) -> Option<NodeId> {
        let Reverse((at, _)) = self.0.peek()?;
        if *at > now {
            return None;
        }
        self.0.pop().map(|Reverse((_, node))| node)
    }
}
