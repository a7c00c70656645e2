//! The cluster as the facts describe it: nodes, queues, jobs and containers, with the counters that the later stages
//! read. Every change goes through [`Cluster::apply`], and every container is counted in exactly one place (law 7).

mod container;
mod job;
mod node;
mod queue;

pub use container::{Container, State};
pub use job::{is_parked, FirstTask, Job, Phase, FIRST_TASKS};
pub use node::{Claim, For, Node};
pub use queue::{Queue, Shares};

use crate::decision::Decision;
use crate::fact::{ContainerFact, Exit, Fact, Found, NodeFact, Rejection};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use std::collections::{BTreeMap, BTreeSet};

/// How many heartbeats of a node must pass before a demotion has certainly been obeyed: it travels in the answer to the
/// first, and the second proves that the answer arrived (architecture, section 2).
pub const HEARTBEATS_TO_SUSPEND: u64 = 2;

/// How long a container whose suspension was refused is left in peace.
const REFUSED_CONTAINER_REST: Millis = Millis(10_000);

/// The same where only the room was not there yet.
const NO_ROOM_REST: Millis = Millis(300);

/// Everything known.
#[derive(Debug, Default)]
pub struct Cluster {
    /// Time of the current step.
    pub now: Millis,
    /// All nodes.
    pub nodes: BTreeMap<NodeId, Node>,
    /// All queues, parents included.
    pub queues: BTreeMap<QueueId, Queue>,
    /// All applications.
    pub jobs: BTreeMap<AppId, Job>,
    /// All live containers.
    pub containers: BTreeMap<ContainerId, Container>,
    /// Containers being suspended or suspended.
    pub suspended: BTreeSet<ContainerId>,
    /// Containers put aside by hand, each by itself.
    pub parked: BTreeSet<ContainerId>,
    /// What each partition's nodes offer together.
    pub partitions: BTreeMap<PartitionId, Resource>,
    /// Nodes worth a look: they reported in, or something about them changed.
    pub woken: BTreeSet<NodeId>,
    /// Whether order and targets may have changed since they were last computed.
    pub replan: bool,
    /// Whether somebody wants something that nobody looked at yet: all nodes with room are worth a look.
    pub new_demand: bool,
    /// What was proposed in this step; its outcome is known before the next.
    pub proposals: Vec<Decision>,
    /// Jobs that ended or left their queue since the last plan, as they were then: policies learn from them.
    pub departed: Vec<(AppId, Job)>,
    /// Counters of what happened, for observers.
    pub tally: Tally,
}

/// What happened so far, by count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Facts that made no sense here: unknown handles, doubled events. Each is ignored.
    pub strange_facts: u64,
    /// Containers demoted.
    pub suspended: u64,
    /// Containers promoted.
    pub resumed: u64,
    /// Proposals refused, by anybody for any reason but delay scheduling.
    pub rejected: u64,
    /// Claims given back unused.
    pub claims_expired: u64,
}

impl Cluster {
    /// Takes one fact into account. Unknown handles are counted in [`Tally::strange_facts`] and otherwise ignored: a
    /// late fact about something gone is normal, and never a reason to stop.
    pub fn apply(&mut self, fact: &Fact) {
        let known = match fact {
            Fact::Node(node) => self.put_node(node),
            Fact::NodeRemoved { node } => self.remove_node(*node),
            Fact::Heartbeat { node, paused, waiting } => self.heartbeat(*node, *paused, *waiting),
            Fact::Queue(fact) => {
                self.queues.entry(fact.queue).or_default().describe(fact);
                true
            }
            Fact::QueueRemoved { queue } => self.queues.remove(queue).is_some(),
            Fact::QueueShare { queue, partition, guaranteed, maximum } => self
                .queues
                .get_mut(queue)
                .map(|q| q.shares.insert(*partition, Shares { guaranteed: *guaranteed, maximum: *maximum }))
                .is_some(),
            Fact::App(fact) => {
                let unheard_of = !self.jobs.contains_key(&fact.app);
                self.jobs.entry(fact.app).or_insert_with(|| Job::new(fact, self.now));
                unheard_of
            }
            Fact::AppChanged { app, queue, priority } => {
                // For the queue that it leaves it is gone.
                let leaves = self.jobs.get(app).filter(|job| job.queue != *queue).cloned();
                self.departed.extend(leaves.map(|job| (*app, job)));
                self.with_job(*app, |job, _| {
                    job.queue = *queue;
                    job.priority = *priority;
                })
            }
            Fact::AppActive { app, active } => {
                self.new_demand |= *active;
                self.with_job(*app, |job, _| job.active = *active)
            }
            Fact::AppParked { app, parked } => {
                self.new_demand |= !*parked;
                self.park_app(*app, *parked)
            }
            Fact::ContainerParked { container, parked } => self.park_container(*container, *parked),
            Fact::AttemptEnded { app, keep_containers } => self.end_attempt(*app, *keep_containers),
            Fact::AppRemoved { app } => {
                self.end_attempt(*app, false);
                let job = self.jobs.remove(app);
                let known = job.is_some();
                self.departed.extend(job.map(|job| (*app, job)));
                known
            }
            Fact::AsksReplaced { app } => self.with_job(*app, |job, _| job.forget_asks()),
            Fact::Asked { app, phase, count } => {
                self.new_demand |= *count > 0;
                self.with_job(*app, |job, _| job.phases.entry(*phase).or_default().pending = *count)
            }
            Fact::Allocated(fact) => self.put_container(fact),
            Fact::Launched { container } => self.launch(*container),
            Fact::Progress { container, done } => self.progress(*container, *done),
            Fact::Tasks { app, priority, total, done } => {
                self.with_job(*app, |job, _| job.say_tasks(*priority, *total, *done))
            }
            Fact::Demoted { container } => self.demote(*container),
            Fact::Promoted { container } => self.promote(*container),
            Fact::Completed { container, exit } => self.complete(*container, *exit),
            Fact::AssignRejected { app, node, reason } => self.assign_rejected(*app, *node, *reason),
            Fact::ContainerRejected { container, reason } => self.container_rejected(*container, *reason),
        };
        if !known {
            self.tally.strange_facts += 1;
        }
        // Reports of nodes and refusals change nobody's claim; all other facts may.
        let indifferent = matches!(
            fact,
            Fact::Heartbeat { .. }
                | Fact::Launched { .. }
                | Fact::Progress { .. }
                | Fact::Tasks { .. }
                | Fact::AssignRejected { .. }
                | Fact::ContainerRejected { .. }
        );
        self.replan |= !indifferent;
    }

    /// Notes a proposal, so that nothing in this step builds on what it would use up. What assigning uses up is noted by
    /// the caller, who knows the phases.
    pub fn propose(&mut self, decision: Decision) {
        if let Decision::Suspend { container } | Decision::Resume { container } | Decision::Kill { container } =
            decision
        {
            if let Some(found) = self.containers.get_mut(&container) {
                found.proposed = true;
                found.killed |= matches!(decision, Decision::Kill { .. });
                if let Some(node) = self.nodes.get_mut(&found.node) {
                    match (decision, found.state) {
                        // It brings its own room along.
                        (Decision::Resume { .. }, State::MustSuspend { .. }) => {}
                        (Decision::Resume { .. }, _) => node.proposed += found.resource(),
                        (_, State::MustSuspend { .. } | State::Suspended) => {}
                        _ => node.leaving += found.resource(),
                    }
                }
            }
        }
        self.proposals.push(decision);
    }

    /// Forgets the proposals of the last step: each was confirmed or refused by the facts that follow.
    pub fn clear_proposals(&mut self) {
        for decision in std::mem::take(&mut self.proposals) {
            match decision {
                Decision::Assign { app, node, .. } => {
                    if let Some(job) = self.jobs.get_mut(&app) {
                        job.phases.values_mut().for_each(|phase| phase.proposed = 0);
                    }
                    if let Some(node) = self.nodes.get_mut(&node) {
                        node.proposed = Resource::ZERO;
                    }
                }
                Decision::Suspend { container } | Decision::Resume { container } | Decision::Kill { container } => {
                    if let Some(found) = self.containers.get_mut(&container) {
                        found.proposed = false;
                        if let Some(node) = self.nodes.get_mut(&found.node) {
                            node.proposed = Resource::ZERO;
                            node.leaving = Resource::ZERO;
                        }
                    }
                }
            }
        }
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

    /// What the partition's nodes offer together.
    pub fn partition_total(&self, partition: PartitionId) -> Resource {
        self.partitions.get(&partition).copied().unwrap_or_default()
    }

    /// What those of its nodes offer that can be counted on now.
    pub fn live_total(&self, partition: PartitionId) -> Resource {
        let live = self.nodes.values().filter(|node| node.partition == partition && node.is_live(self.now));
        live.fold(Resource::ZERO, |sum, node| sum + node.total)
    }

    fn with_job(&mut self, app: AppId, change: impl FnOnce(&mut Job, Millis)) -> bool {
        let now = self.now;
        self.jobs.get_mut(&app).map(|job| change(job, now)).is_some()
    }

    fn put_node(&mut self, fact: &NodeFact) -> bool {
        let node = self.nodes.entry(fact.node).or_insert_with(|| Node::new(self.now));
        let before = node.partition;
        node.describe(fact);
        if before != fact.partition {
            // What was held there is borrowed now, or the other way round.
            for id in &node.containers {
                let Some(container) = self.containers.get(id) else { continue };
                let Some(job) = self.jobs.get_mut(&container.app) else { continue };
                job.remove(*id, container, before, self.now);
                job.add(*id, container, fact.partition, self.now);
            }
        }
        self.woken.insert(fact.node);
        self.sum_partitions();
        true
    }

    fn remove_node(&mut self, id: NodeId) -> bool {
        let gone: Vec<_> = self.on_node(id).map(|(container, _)| container).collect();
        for container in gone {
            self.complete(container, Exit::Killed);
        }
        let known = self.nodes.remove(&id).is_some();
        self.woken.remove(&id);
        self.sum_partitions();
        known
    }

    fn sum_partitions(&mut self) {
        self.partitions.clear();
        for node in self.nodes.values() {
            *self.partitions.entry(node.partition).or_default() += node.total;
        }
    }

    fn heartbeat(&mut self, id: NodeId, paused: u32, waiting: u32) -> bool {
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        node.heartbeat(self.now, paused, waiting);
        let beats = node.heartbeats;
        self.woken.insert(id);
        for id in node.suspended.clone() {
            let Some(container) = self.containers.get_mut(&id) else { continue };
            if let State::MustSuspend { safe_at } = container.state {
                if beats >= safe_at {
                    container.state = State::Suspended;
                    node.settled(id, container.resource());
                }
            }
        }
        for id in node.resuming.iter() {
            if let Some(container) = self.containers.get_mut(id) {
                container.state = State::Running;
            }
        }
        node.resuming.clear();
        true
    }

    fn end_attempt(&mut self, app: AppId, keep_containers: bool) -> bool {
        let Some(job) = self.jobs.get_mut(&app) else { return false };
        job.forget_asks();
        job.active = false;
        let gone: Vec<_> = job.containers.iter().copied().collect();
        for id in gone {
            // The master belongs to its attempt; the others may live on into the next.
            if !keep_containers || self.containers.get(&id).is_some_and(|c| c.is_master) {
                self.complete(id, Exit::Killed);
            }
        }
        true
    }

    fn park_app(&mut self, app: AppId, parked: bool) -> bool {
        let Some(job) = self.jobs.get_mut(&app) else { return false };
        if std::mem::replace(&mut job.parked, parked) != parked {
            let containers: Vec<_> = job.containers.iter().copied().collect();
            containers.into_iter().for_each(|id| self.take_up(id));
        }
        true
    }

    fn park_container(&mut self, id: ContainerId, parked: bool) -> bool {
        let Some(container) = self.containers.get_mut(&id) else { return false };
        if std::mem::replace(&mut container.parked, parked) != parked {
            if parked {
                self.parked.insert(id);
            } else {
                self.parked.remove(&id);
            }
            self.take_up(id);
        }
        true
    }

    /// What was parked does not count as having waited: its time to be resumed begins now. Nothing is kept for it meanwhile.
    fn take_up(&mut self, id: ContainerId) {
        let Some(container) = self.containers.get_mut(&id).filter(|container| container.state.is_suspended()) else {
            return;
        };
        container.since = self.now;
        if let Some(node) = self.nodes.get_mut(&container.node) {
            node.claims.retain(|claim| claim.purpose != For::Resume(id));
        }
        self.woken.insert(container.node);
    }

    fn put_container(&mut self, fact: &ContainerFact) -> bool {
        let (Some(job), Some(node)) = (self.jobs.get_mut(&fact.app), self.nodes.get_mut(&fact.node)) else {
            return false;
        };
        if self.containers.contains_key(&fact.container) {
            return false;
        }
        let container = Container::new(fact, self.now);
        if fact.state == Found::New {
            job.spend_ask(fact.phase);
        }
        if container.state.is_suspended() {
            self.suspended.insert(fact.container);
        }
        node.drop_claim(fact.app, container.resource());
        node.add(fact.container, &container);
        job.add(fact.container, &container, node.partition, self.now);
        self.containers.insert(fact.container, container);
        true
    }

    /// Moves the container from one state to another, with all that is counted by state.
    fn change_state(&mut self, id: ContainerId, change: impl FnOnce(&mut Container, &mut Node, Millis)) -> bool {
        let Some(container) = self.containers.get_mut(&id) else { return false };
        let (Some(job), Some(node)) = (self.jobs.get_mut(&container.app), self.nodes.get_mut(&container.node)) else {
            return false;
        };
        node.remove(id, container);
        job.remove(id, container, node.partition, self.now);
        change(container, node, self.now);
        node.add(id, container);
        job.add(id, container, node.partition, self.now);
        if container.state.is_suspended() {
            self.suspended.insert(id);
        } else {
            self.suspended.remove(&id);
        }
        self.woken.insert(container.node);
        true
    }

    fn launch(&mut self, id: ContainerId) -> bool {
        let now = self.now;
        let Some(container) = self.containers.get_mut(&id) else { return false };
        container.launch(now);
        if let Some(job) = self.jobs.get_mut(&container.app) {
            job.start(id, container);
        }
        true
    }

    fn progress(&mut self, id: ContainerId, done: Option<f64>) -> bool {
        let sensible = done.is_none_or(|done| (0.0..=1.0).contains(&done));
        let (Some(container), now) = (self.containers.get(&id).filter(|_| sensible), self.now) else { return false };
        self.jobs.get_mut(&container.app).map(|job| job.progress(id, container, done, now)).is_some()
    }

    fn demote(&mut self, id: ContainerId) -> bool {
        if self.containers.get(&id).is_none_or(|c| c.state.is_suspended()) {
            return false;
        }
        self.tally.suspended += 1;
        self.change_state(id, |container, node, now| {
            container.suspend(node.heartbeats + HEARTBEATS_TO_SUSPEND, now);
            container.suspended_for =
                node.claims.iter().rfind(|claim| claim.victims.contains(&id)).map(|claim| claim.app);
            node.resuming.remove(&id);
        })
    }

    fn promote(&mut self, id: ContainerId) -> bool {
        if self.containers.get(&id).is_none_or(|c| !c.state.is_suspended()) {
            return false;
        }
        self.tally.resumed += 1;
        self.change_state(id, |container, node, now| {
            container.resume(now);
            node.resuming.insert(id);
            // It comes back into room that was kept for it, or into what was kept for its job's next container.
            let claims = node.claims.len();
            node.claims.retain(|claim| claim.purpose != For::Resume(id));
            if node.claims.len() == claims {
                node.drop_claim(container.app, container.resource());
            }
        })
    }

    fn complete(&mut self, id: ContainerId, exit: Exit) -> bool {
        let Some(container) = self.containers.remove(&id) else { return false };
        self.suspended.remove(&id);
        self.parked.remove(&id);
        if let Some(node) = self.nodes.get_mut(&container.node) {
            node.remove(id, &container);
            node.resuming.remove(&id);
            node.claims.retain(|claim| claim.purpose != For::Resume(id));
            if let Some(job) = self.jobs.get_mut(&container.app) {
                job.remove(id, &container, node.partition, self.now);
                job.finish(id, &container, exit, self.now);
            }
            self.woken.insert(container.node);
        }
        true
    }

    fn assign_rejected(&mut self, app: AppId, id: NodeId, reason: Rejection) -> bool {
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        node.refused.insert(app);
        self.woken.insert(id);
        if reason == Rejection::Locality {
            return true;
        }
        self.tally.rejected += 1;
        if matches!(reason, Rejection::Limit | Rejection::Gone) {
            // What was freed for it would lie idle: give it back, and do not free more for it for a while.
            for node in self.nodes.values_mut() {
                node.claims.retain(|claim| claim.app != app || matches!(claim.purpose, For::Resume(_)));
            }
            return self.with_job(app, |job, now| job.barred_until = now + REFUSED_CONTAINER_REST);
        }
        true
    }

    fn container_rejected(&mut self, id: ContainerId, reason: Rejection) -> bool {
        self.tally.rejected += 1;
        let Some(container) = self.containers.get_mut(&id) else { return false };
        // Room that is free here and not yet in the ResourceManager's books soon will be.
        let rest = if reason == Rejection::Room { NO_ROOM_REST } else { REFUSED_CONTAINER_REST };
        container.barred_until = self.now + rest;
        container.killed = false;
        if let Some(node) = self.nodes.get_mut(&container.node) {
            let given_up = |claim: &Claim| claim.purpose == For::Resume(id) && reason != Rejection::Room;
            node.claims.retain(|claim| !claim.victims.contains(&id) && !given_up(claim));
        }
        true
    }
}
