//! How much of a partition can be used. Nodes are no fluid: what is left over on each beside its containers is nobody's as long as
//! nothing that is asked for fits into it. Were it shared out like the rest, whoever holds all that can be held would be below its
//! target by those remainders, and could lose nothing for anybody.

use crate::entitlement::{containers_within, EPSILON};
use crate::fact::{PerSide, Places, Side};
use crate::state::{ByHandle, Cluster, For, Job, Node, Reason, State};
use crate::units::{AppId, ContainerId, NodeId, PartitionId, Resource};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// New containers of one size that are asked for, and where they may start.
type Kind = (Resource, PerSide<bool>);

/// What the jobs of a queue ask for in one partition and may be given, kept as they change.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    of_jobs: ByHandle<AppId, Vec<(Kind, u32)>>,
    counts: BTreeMap<Kind, u32>,
}

impl Asks {
    /// The job asks for this now.
    pub fn put(&mut self, app: AppId, job: &Job, partition: PartitionId) {
        self.remove(app);
        if !job.may_start() || job.backs_off {
            return;
        }
        // What lacks something of which the core knows nothing may start nowhere.
        let judged = job.asks(partition).filter(|(key, _)| job.phases[key].places != Places::Unjudged);
        let kinds =
            judged.map(|(key, count)| ((key.resource, PerSide::from_fn(|side| job.most_on(&key, side) > 0)), count));
        let asks: Vec<(Kind, u32)> = kinds.collect();
        for (kind, count) in &asks {
            let all = self.counts.entry(*kind).or_default();
            *all = all.saturating_add(*count);
        }
        if !asks.is_empty() {
            self.of_jobs.insert(app, asks);
        }
    }

    /// The job asks for nothing any more.
    pub fn remove(&mut self, app: AppId) {
        for (kind, count) in self.of_jobs.remove(&app).unwrap_or_default() {
            if let Some(all) = self.counts.get_mut(&kind) {
                *all = all.saturating_sub(count);
                if *all == 0 {
                    self.counts.remove(&kind);
                }
            }
        }
    }

    /// Nobody asks for anything any more.
    pub fn clear(&mut self) {
        *self = Asks::default();
    }
}

/// The rooms of one partition, and what of the asks would be given now, largest first, on nodes as they are.
pub(super) struct Usable<'a> {
    cluster: &'a Cluster,
    partition: PartitionId,
    total: Resource,
    /// What is still asked for.
    asked: BTreeMap<Reverse<Resource>, Vec<(PerSide<bool>, u32)>>,
    /// What is left on nodes where room is kept, settles or is gone back to.
    rooms: BTreeMap<NodeId, Resource>,
    /// What could be held more than is, as a fraction of the partition.
    more: f64,
}

impl<'a> Usable<'a> {
    pub fn of(cluster: &'a Cluster, partition: PartitionId, total: Resource) -> Usable<'a> {
        let (asked, rooms) = (BTreeMap::new(), BTreeMap::new());
        Usable { cluster, partition, total, asked, rooms, more: 0.0 }
    }

    /// A queue asks for that, and may hold so much more of the partition.
    pub fn ask(&mut self, asks: &Asks, mut allowance: f64) {
        for ((size, sides), count) in &asks.counts {
            let one = size.dominant_share(self.total);
            let count = (*count).min(containers_within(allowance, one));
            if count > 0 {
                allowance -= f64::from(count) * one;
                self.asked.entry(Reverse(*size)).or_default().push((*sides, count));
            }
        }
    }

    /// What can be held beyond what is held now, as a fraction of the partition: what room is promised for, what can go on at home,
    /// and what is asked for and fits.
    pub fn more(mut self) -> f64 {
        self.keep_promises();
        self.go_on();
        self.start();
        self.more
    }

    /// The node, if containers of the partition may start there.
    fn node(&self, id: NodeId) -> Option<&'a Node> {
        let here = |node: &&Node| node.partition == self.partition && node.is_live(self.cluster.now());
        self.cluster.nodes().get(&id).filter(here).filter(|node| !node.decommissioning)
    }

    fn keep_promises(&mut self) {
        for (id, _) in self.cluster.claimed() {
            let Some(node) = self.node(id) else { continue };
            self.rooms.insert(id, node.usable() - node.kept_in_all());
            for claim in node.claims.iter().filter(|claim| claim.is_freed() || claim.resource.fits_in(node.usable())) {
                self.more += claim.resource.dominant_share(self.total);
                if claim.purpose == For::Start {
                    self.spend(claim.resource);
                }
            }
        }
    }

    /// One that was asked for has its room.
    fn spend(&mut self, size: Resource) {
        let all = self.asked.get_mut(&Reverse(size)).into_iter().flatten();
        if let Some((_, count)) = all.into_iter().find(|(_, count)| *count > 0) {
            *count -= 1;
        }
    }

    fn go_on(&mut self) {
        let mut waiting: Vec<(NodeId, Resource)> = Vec::new();
        for (id, container) in self.cluster.suspended() {
            let Some(node) = self.node(container.node) else { continue };
            let lent = container.reason == Some(Reason::Lent);
            let promised = |victim: ContainerId| node.claims.iter().any(|claim| claim.victims.contains(&victim));
            if matches!(container.state, State::MustSuspend { .. }) && !lent && !promised(id) {
                *self.rooms.entry(container.node).or_insert_with(|| node.usable()) += container.resource();
            }
            let has_claim = node.claims.iter().any(|claim| claim.purpose == For::Resume(id));
            if !lent && !has_claim && !self.cluster.is_parked(container) && container.phase.partition == self.partition
            {
                waiting.push((container.node, container.resource()));
            }
        }
        for (home, need) in waiting {
            let usable = || self.node(home).map(Node::usable).unwrap_or_default();
            let room = self.rooms.get(&home).copied().unwrap_or_else(usable);
            if need.fits_in(room) {
                self.rooms.insert(home, room - need);
                self.more += need.dominant_share(self.total);
            }
        }
    }

    fn start(&mut self) {
        let Some(found) = self.cluster.partitions().get(&self.partition) else { return };
        let mut apart: BTreeMap<(Option<Side>, Resource), u32> = BTreeMap::new();
        for (id, room) in std::mem::take(&mut self.rooms) {
            let Some(node) = self.node(id) else { continue };
            *apart.entry((node.side, node.usable())).or_default() += 1;
            self.fill(room, 1, node.side);
        }
        for (side, rooms) in found.rooms.all() {
            for (usable, nodes) in rooms.sizes() {
                if self.asked.is_empty() {
                    return;
                }
                let nodes = nodes.saturating_sub(apart.get(&(side, usable)).copied().unwrap_or(0));
                self.fill(usable, nodes, side);
            }
        }
    }

    /// Fills so many nodes of that side, each with as much room, with the largest that fit.
    fn fill(&mut self, room: Resource, nodes: u32, side: Option<Side>) {
        let mut alike = vec![(room, nodes)];
        for (Reverse(size), kinds) in &mut self.asked {
            for (_, count) in kinds.iter_mut().filter(|(sides, _)| sides[side]) {
                let mut left = Vec::with_capacity(alike.len() + 2);
                for (room, nodes) in std::mem::take(&mut alike) {
                    let each = size.times_in(room);
                    let given = each.saturating_mul(nodes).min(*count);
                    if given == 0 {
                        left.push((room, nodes));
                        continue;
                    }
                    *count -= given;
                    self.more += f64::from(given) * size.dominant_share(self.total);
                    let (full, partly) = (given / each, given % each);
                    left.push((room - size.times(each), full));
                    left.push((room - size.times(partly), u32::from(partly > 0)));
                    left.push((room, nodes - full - u32::from(partly > 0)));
                }
                left.retain(|(_, nodes)| *nodes > 0);
                alike = left;
            }
            kinds.retain(|(_, count)| *count > 0);
        }
        self.asked.retain(|_, kinds| !kinds.is_empty());
    }
}

/// The part of a partition that can be used: all of it where everything that is wanted has room, else what is `held` and what `more`
/// could be.
pub(super) fn share(held: f64, more: f64, wanted: f64) -> f64 {
    if wanted > held + more + EPSILON {
        (held + more).min(1.0)
    } else {
        1.0
    }
}
