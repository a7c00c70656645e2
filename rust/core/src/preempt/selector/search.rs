//! The search of victims for one container of a job: what each node could free for it so far.

use super::super::how::How;
use super::super::no_victim_reason::ReasonCounts;
use super::super::users::VictimScope;
use super::{RoomRequest, Victim};
use crate::entitlement::EPSILON;
use crate::plan::{Entry, PartitionPlan};
use crate::state::{Claim, Cluster, For, Node};
use crate::units::{AppId, ContainerId, NodeId, QueueId, Resource};
use std::collections::BTreeMap;

/// For which job victims are looked for (the beneficiary), and what each node could free so far.
pub(super) struct VictimSearch {
    pub app: AppId,
    /// Its place in the plan.
    pub place: usize,
    /// Its last place there: whom it comes before.
    pub last_entry: Option<usize>,
    pub priority: i32,
    pub request: RoomRequest,
    /// Whether an ApplicationMaster is to start, and first where all that is suspended can go on beside it.
    pub spares_homes: bool,
    /// Whether there are nodes where it cannot.
    pub passed_over: bool,
    /// The beneficiary's queue and all above it.
    pub above_beneficiary: Vec<QueueId>,
    pub by_node: BTreeMap<NodeId, NodeCandidates>,
    /// Whether there are victims that others could have: where the beneficiary was refused or its site does not let it start, or of others
    /// than its user.
    pub elsewhere: bool,
    /// Whether there are victims that others could have who need less: their node is smaller than that.
    pub too_large: bool,
    /// Whether there are victims that who has less left could have.
    pub hardly_more: bool,
    /// What keeps those that were looked at and could not be had.
    pub reasons: ReasonCounts,
    /// How many victims could be spared, whether or not they are enough.
    pub spared: u32,
}

impl VictimSearch {
    pub fn new(
        cluster: &Cluster,
        plan: &PartitionPlan,
        place: usize,
        entry: &Entry,
        request: RoomRequest,
    ) -> VictimSearch {
        let job = cluster.jobs().get(&entry.app);
        VictimSearch {
            app: entry.app,
            place,
            last_entry: plan.last_entry(entry.app),
            priority: job.map_or(0, |job| job.priority),
            request,
            spares_homes: request.purpose == For::Start && job.is_some_and(|job| !job.asks_for_tasks()),
            passed_over: false,
            above_beneficiary: cluster.lineage(entry.queue).collect(),
            by_node: BTreeMap::new(),
            elsewhere: false,
            too_large: false,
            hardly_more: false,
            reasons: ReasonCounts::default(),
            spared: 0,
        }
    }

    /// Suspended memory of its node that goes on in what is freed, in MiB: it changes places with the victims', and all together stays
    /// the same.
    pub fn returning_mb(&self) -> i64 {
        match self.request.purpose {
            For::Resume(_) => self.request.need.memory_mb,
            For::Start => 0,
        }
    }

    /// Nothing was found: once more, where what is suspended cannot go on beside an ApplicationMaster, too.
    pub fn begin_again(&mut self) {
        (self.spares_homes, self.elsewhere) = (false, false);
        self.by_node.clear();
    }

    /// Whether the request is for a new container, and not that one goes on.
    pub fn is_new(&self) -> bool {
        self.request.purpose == For::Start
    }

    /// Whether that is the beneficiary's own queue.
    pub fn is_of(&self, queue: QueueId) -> bool {
        self.above_beneficiary.first() == Some(&queue)
    }

    /// That queue and those above it which are not the beneficiary's: who would be left with less.
    pub fn apart_from<'a>(&'a self, cluster: &'a Cluster, queue: QueueId) -> impl Iterator<Item = QueueId> + 'a {
        cluster.lineage(queue).filter(|queue| !self.above_beneficiary.contains(queue))
    }

    /// Whether its user, if it holds too much, holds no more than it may of the partition's `total` when those are gone.
    pub fn is_enough(&self, victims: &[Victim], total: Resource) -> bool {
        match self.request.scope {
            VictimScope::Anybody => true,
            VictimScope::OwnUser { least, .. } => {
                let given = victims.iter().map(|victim| victim.resource.dominant_share(total));
                given.sum::<f64>() + EPSILON >= least
            }
        }
    }
}

/// What one node could free.
pub(super) struct NodeCandidates {
    pub room: Resource,
    pub victims: Vec<Victim>,
    pub room_for_suspended_mb: i64,
}

impl NodeCandidates {
    /// What is collected behind the beneficiary is free to it.
    pub fn on(node: &Node, is_behind: impl Fn(&Claim) -> bool, room_for_suspended_mb: i64) -> NodeCandidates {
        let behind = node.claims.iter().filter(|claim| !claim.is_freed() && is_behind(claim));
        let room = node.coming_beside(behind.fold(Resource::ZERO, |sum, claim| sum + claim.resource));
        NodeCandidates { room, victims: Vec::new(), room_for_suspended_mb }
    }

    /// Whether its node may keep the victim suspended, if that is how it goes.
    pub fn keeps_suspended(&self, victim: &Victim) -> bool {
        victim.how != How::Suspend || victim.resource.memory_mb <= self.room_for_suspended_mb
    }

    /// Whether the container is among the victims.
    pub fn has(&self, id: ContainerId) -> bool {
        self.victims.iter().any(|victim| victim.id == id)
    }

    /// Sizes of those that would be suspended.
    pub fn suspended(&self) -> impl Iterator<Item = Resource> + '_ {
        let suspended = self.victims.iter().filter(|victim| victim.how == How::Suspend);
        suspended.map(|victim| victim.resource)
    }

    /// The victims without those that a larger, later one made superfluous; the best placed jobs are spared first.
    pub fn needed(&self, need: Resource) -> Vec<Victim> {
        let mut room = self.room;
        let mut needed = self.victims.clone();
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
