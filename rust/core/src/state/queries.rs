//! What the state can be asked.

use super::{ByHandle, Cluster, Container, Job, Loan, Node, Partition, Queue, QueueLoad, Reason, SideNodes, Tally};
use crate::decision::Decision;
use crate::fact::{PerSide, PhaseKey};
use crate::settings::Settings;
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

impl Cluster {
    /// Time of the current step.
    pub fn now(&self) -> Millis {
        self.now
    }

    /// All nodes.
    pub fn nodes(&self) -> &ByHandle<NodeId, Node> {
        &self.nodes
    }

    /// All queues, parents included.
    pub fn queues(&self) -> &BTreeMap<QueueId, Queue> {
        &self.queues
    }

    /// All applications.
    pub fn jobs(&self) -> &ByHandle<AppId, Job> {
        &self.jobs
    }

    /// All live containers.
    pub fn containers(&self) -> &ByHandle<ContainerId, Container> {
        &self.containers
    }

    /// Containers being suspended or suspended, longest first.
    pub fn suspended(&self) -> impl Iterator<Item = (ContainerId, &Container)> {
        self.suspended.iter().filter_map(|(_, id)| self.containers.get(id).map(|container| (*id, container)))
    }

    /// Those that were suspended, or woken in that state, at that time or before.
    pub fn suspended_since(&self, since: Millis) -> impl Iterator<Item = (ContainerId, &Container)> {
        self.suspended().take_while(move |(_, container)| container.since <= since)
    }

    /// Whether the container is being suspended or is it.
    pub fn is_suspended(&self, id: ContainerId) -> bool {
        self.containers.get(&id).is_some_and(|container| container.state.is_suspended())
    }

    /// Containers that have begun to run, ApplicationMasters aside, with when they began: last begun first, of equals the
    /// larger handle; those after `last` if that is given.
    pub fn last_begun(&self, last: Option<(Millis, ContainerId)>) -> impl Iterator<Item = (Millis, ContainerId)> + '_ {
        let below = last.map_or(Bound::Unbounded, Bound::Excluded);
        self.begun.range((Bound::Unbounded, below)).rev().copied()
    }

    /// Containers put aside by hand, each by itself.
    pub fn parked_containers(&self) -> &BTreeSet<ContainerId> {
        &self.parked_containers
    }

    /// Jobs put aside by hand.
    pub fn parked_jobs(&self) -> impl Iterator<Item = &Job> {
        self.parked_jobs.iter().filter_map(|app| self.jobs.get(app))
    }

    /// Whether the container was put aside by hand, alone or with its job.
    pub fn is_parked(&self, container: &Container) -> bool {
        self.jobs.get(&container.app).is_some_and(|job| job.has_parked(container))
    }

    /// Whether the container's application may be suspended for others.
    pub fn may_be_suspended(&self, container: &Container, settings: &Settings) -> bool {
        let rules = settings.queue(self.queue_path(container.app));
        self.jobs.get(&container.app).is_some_and(|job| job.may_be_suspended(rules))
    }

    /// Why the container is suspended: what was parked since is so because of that. `None` if it is not suspended.
    pub fn reason(&self, container: &Container) -> Option<Reason> {
        let suspended = container.reason.filter(|_| container.state.is_suspended());
        suspended.map(|reason| if self.is_parked(container) { Reason::Parked } else { reason })
    }

    /// What is suspended because it lends its room, or lent it until a moment ago.
    pub fn lent(&self) -> impl Iterator<Item = (ContainerId, &Container)> {
        self.lent.iter().filter_map(|id| self.containers.get(id).map(|container| (*id, container)))
    }

    /// The loan that the container has made, while it lasts.
    pub fn loan(&self, lender: ContainerId) -> Option<&Loan> {
        let home = self.containers.get(&lender).and_then(|container| self.nodes.get(&container.node))?;
        home.loans.get(&lender)
    }

    /// Reduces that said last that they wait for maps.
    pub fn waiting_reduces(&self) -> impl Iterator<Item = (ContainerId, &Container)> {
        self.waiting_reduces.iter().filter_map(|id| self.containers.get(id).map(|container| (*id, container)))
    }

    /// Jobs that have containers on nodes of other partitions than they asked for.
    pub fn guests(&self) -> impl Iterator<Item = &Job> {
        self.guests.iter().filter_map(|app| self.jobs.get(app))
    }

    /// Jobs that their queues do not let run yet, or any more.
    pub fn pending(&self) -> impl Iterator<Item = (AppId, &Job)> {
        self.pending.iter().filter_map(|app| self.jobs.get(app).map(|job| (*app, job)))
    }

    /// The partitions that have nodes.
    pub fn partitions(&self) -> &BTreeMap<PartitionId, Partition> {
        &self.partitions
    }

    /// The nodes of each side of a mixed cluster, and those that are on none.
    pub fn sides(&self) -> &PerSide<SideNodes> {
        &self.sides
    }

    /// Nodes on which room is kept for somebody.
    pub fn claimed(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.claimed.iter().filter_map(|id| self.nodes.get(id).map(|node| (*id, node)))
    }

    /// Nodes that say that containers given out cannot start there.
    pub fn stalled(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.stalled.iter().filter_map(|id| self.nodes.get(id).map(|node| (*id, node)))
    }

    /// What was proposed in this step; its outcome is known before the next.
    pub fn proposals(&self) -> &[Decision] {
        &self.proposals
    }

    /// Counters of what happened, for observers.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Jobs that ended or left their queue since the last plan, as they were then: policies learn from them.
    pub fn departed(&self) -> &[(AppId, Job)] {
        &self.departed
    }

    /// The node and what it runs, for readers who know that both exist.
    pub fn on_node(&self, node: NodeId) -> impl Iterator<Item = (ContainerId, &Container)> {
        let ids = self.nodes.get(&node).into_iter().flat_map(|node| node.containers.iter());
        ids.filter_map(|id| self.containers.get(id).map(|container| (*id, container)))
    }

    /// The queue and all above it.
    pub fn lineage(&self, queue: QueueId) -> impl Iterator<Item = QueueId> + '_ {
        std::iter::successors(Some(queue), |queue| self.queues.get(queue).and_then(|found| found.parent))
    }

    /// Kinds of tasks that the job has said are to come, and has asked for none yet: taken to be of the size that others of its queue asked
    /// for, or that it has asked for itself.
    pub fn to_come<'a>(&'a self, job: &'a Job) -> impl Iterator<Item = PhaseKey> + 'a {
        let of = move |priority: i32| {
            let like = job.asked().find(|key| key.is_of_maps()).or_else(|| job.asked().next()).copied()?;
            let resource = self.sizes.get(&(job.queue, priority)).copied().unwrap_or(like.resource);
            Some(PhaseKey { priority, resource, ..like })
        };
        job.to_come().filter_map(of)
    }

    /// Whether the container is a reduce's whose job has maps to do: it cannot do its own work yet.
    pub fn waits_for_maps(&self, container: &Container) -> bool {
        self.jobs.get(&container.app).is_some_and(|job| job.waits_for_maps(container.phase))
    }

    /// What the queue's own jobs hold and want, those of queues below it not counted.
    pub fn load(&self, queue: QueueId) -> QueueLoad {
        self.loads.of(queue)
    }

    /// The path of the job's queue; empty if it has none.
    pub fn queue_path(&self, app: AppId) -> &str {
        let queue = self.jobs.get(&app).and_then(|job| self.queues.get(&job.queue));
        queue.map_or("", |queue| queue.path.as_str())
    }

    /// Whether a container of the job would be refused on the node: it was since the node's last heartbeat, or the job blacklists it.
    pub fn is_refused(&self, app: AppId, id: NodeId) -> bool {
        let refused = self.nodes.get(&id).is_some_and(|node| node.refused.contains(&app));
        refused || self.jobs.get(&app).is_some_and(|job| job.blacklist.contains(&id))
    }

    /// Whether order and targets may have changed since they were last computed.
    pub fn needs_plan(&self) -> bool {
        self.replan
    }
}
