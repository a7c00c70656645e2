//! The cluster as the facts describe it: nodes, queues, jobs and containers, with the counters and indexes that the later
//! stages read. Nobody outside of this room writes anything here: facts come through [`Cluster::apply`], what a step proposes
//! and keeps through the methods of `proposals`. Each keeps true what is derived, and every container is counted in exactly
//! one place (law 7).

mod backoff;
#[cfg(debug_assertions)]
mod check;
mod container;
mod container_facts;
mod facts;
mod index;
mod job;
mod limits;
mod load;
mod loan;
mod node;
mod phase;
mod proposals;
mod queries;
mod queue;
mod site;
mod tally;

pub use crate::decision::Reason;
pub use container::{Container, LastReport, State};
pub use index::{Partition, Room, Rooms, SideNodes};
pub use job::Job;
pub use load::{Load, QueueLoad};
pub use loan::Loan;
pub use node::{Claim, For, Node};
pub use phase::{FirstTask, Phase, RunTime};
pub use queue::{Queue, Shares, UserLimits};
pub use site::Site;
pub use tally::Tally;

use crate::decision::Decision;
use crate::fact::{PerSide, PhaseKey, Places};
use crate::settings::ClusterSettings;
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use index::{Listing, Silences};
use limits::Limits;
pub use limits::QueueUser;
use load::Loads;
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// How many heartbeats of a node must pass before a demotion has certainly been obeyed: it travels in the answer to the
/// first, and the second proves that the answer arrived (docs/design/suspension-protocol.md).
pub const HEARTBEATS_TO_SUSPEND: u64 = 2;

/// Things by their handles, in no order that means anything; the same facts give the same one (law 9).
pub type ByHandle<K, V> = HashMap<K, V, FxBuildHasher>;

/// Everything known.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    now: Millis,
    silent_after: Millis,
    refused_rest: Millis,
    nodes: ByHandle<NodeId, Node>,
    queues: BTreeMap<QueueId, Queue>,
    jobs: ByHandle<AppId, Job>,
    containers: ByHandle<ContainerId, Container>,
    /// What is suspended, longest first: by when it became so or was woken.
    suspended: BTreeSet<(Millis, ContainerId)>,
    /// What is suspended because it lends its room, or lent it until a moment ago.
    lent: BTreeSet<ContainerId>,
    /// Reduces that said last that they wait for maps.
    waiting_reduces: BTreeSet<ContainerId>,
    /// Nodes on which lent room was promised to somebody in this step.
    promising: Vec<NodeId>,
    /// Nodes on which room was claimed in this step.
    claiming: Vec<NodeId>,
    /// What has begun to run, ApplicationMasters aside, by when it began.
    begun: BTreeSet<(Millis, ContainerId)>,
    /// What is asked again, and since when, in that order.
    asked_again: VecDeque<(Millis, AppId, PhaseKey)>,
    /// Who told of its stages, and when, in that order.
    telling: VecDeque<(Millis, AppId)>,
    /// What went on after a suspension, by when it will have run for as long as that lasted.
    catching_up: BTreeSet<(Millis, ContainerId)>,
    parked_containers: BTreeSet<ContainerId>,
    parked_jobs: BTreeSet<AppId>,
    /// Jobs that their queues do not let run yet, or any more.
    pending: BTreeSet<AppId>,
    /// Jobs whose tasks keep to one side of a mixed cluster, or try both.
    sited: BTreeSet<AppId>,
    /// Jobs with containers on nodes of other partitions than they asked for.
    guests: BTreeSet<AppId>,
    partitions: BTreeMap<PartitionId, Partition>,
    sides: PerSide<SideNodes>,
    /// Nodes on which room is kept for somebody.
    claimed: BTreeSet<NodeId>,
    /// Nodes that say that containers given out cannot start there.
    stalled: BTreeSet<NodeId>,
    silences: Silences,
    limits: Limits,
    loads: Loads,
    /// Sizes of containers that jobs of a queue asked for with a request priority of whose tasks they say how many there are, the last
    /// each: what is to come of others is likely to be of that size.
    sizes: BTreeMap<(QueueId, i32), Resource>,
    /// Jobs by whom limits on them are for.
    queue_users: BTreeMap<QueueUser, BTreeSet<AppId>>,
    woken: BTreeSet<NodeId>,
    touched: Vec<AppId>,
    replan: bool,
    other_queues: bool,
    new_demand: bool,
    proposals: Vec<Decision>,
    departed: Vec<(AppId, Job)>,
    /// Jobs of which the core first heard in this step.
    newcomers: Vec<AppId>,
    /// Jobs that did their work and ended in this step, as they were then.
    done: Vec<Job>,
    tally: Tally,
}

/// The course of a step.
impl Cluster {
    /// Other settings are in force.
    pub(crate) fn configure(&mut self, settings: &ClusterSettings) {
        (self.silent_after, self.refused_rest) = (settings.silent_node, settings.refused_rest);
        self.silences = Silences::default();
        for id in self.nodes.keys().copied().collect::<Vec<_>>() {
            let silent_after = self.silent_after;
            self.at_node(id, |node| (node.silent_after, node.watched) = (silent_after, false));
        }
        self.replan = true;
    }

    /// A step begins: what the last one proposed was confirmed or refused by the facts that follow, and nodes may have fallen
    /// silent.
    pub(crate) fn begin_step(&mut self, now: Millis) {
        self.now = now.max(self.now);
        self.clear_proposals();
        while let Some(id) = self.silences.due(self.now) {
            self.at_node(id, |node| node.watched = false);
        }
        while let Some(queue_user) = self.limits.due(self.now) {
            self.update_backoffs(queue_user);
        }
        while let Some(due) = self.catching_up.first().copied().filter(|(at, _)| *at <= self.now) {
            self.catching_up.remove(&due);
            self.caught_up(due.1);
        }
        self.forget_silent();
        self.believe_asks();
    }

    /// The container has run for as long as it was suspended before: second attempts of its task may start.
    fn caught_up(&mut self, id: ContainerId) {
        let Some(container) = self.containers.get_mut(&id) else { return };
        container.catches_up_at = None;
        let (app, phase) = (container.app, container.phase);
        self.with_job(app, |job, _| job.caught_up(phase));
        self.new_demand = true;
        self.replan = true;
    }

    /// All facts of the step were taken in: what of the last step's promises was not kept by then never will be.
    pub(crate) fn heard_all(&mut self) {
        for node in std::mem::take(&mut self.claiming) {
            self.at_node(node, |node| node.claims.iter_mut().for_each(|claim| claim.fresh = false));
        }
        for node in std::mem::take(&mut self.promising) {
            self.at_node(node, |node| node.loans.values_mut().for_each(Loan::forget_promises));
        }
    }

    /// Jobs that came since this was last asked.
    pub(crate) fn newcomers(&mut self) -> Vec<AppId> {
        std::mem::take(&mut self.newcomers)
    }

    /// Jobs that did their work and ended since this was last asked, as they were then.
    pub(crate) fn done(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.done)
    }

    /// Order and targets were computed from all that is known now. Whether somebody wants something that no node was looked at
    /// for yet.
    pub(crate) fn planned(&mut self) -> bool {
        self.replan = false;
        self.departed.clear();
        std::mem::take(&mut self.new_demand)
    }

    /// Whether somebody wants something since the last plan that no node was looked at for yet.
    pub(crate) fn has_new_demand(&self) -> bool {
        self.new_demand
    }

    /// Order and targets are to be computed anew.
    pub(crate) fn request_plan(&mut self) {
        self.replan = true;
    }

    /// Whether queues came or went since this was last asked.
    pub(crate) fn other_queues(&mut self) -> bool {
        std::mem::take(&mut self.other_queues)
    }

    /// The next node worth a look by itself, by handle: it reported in, or something about it changed.
    pub(crate) fn next_woken(&mut self) -> Option<NodeId> {
        self.woken.pop_first()
    }

    /// The node is worth another look.
    pub(crate) fn wake(&mut self, node: NodeId) {
        self.woken.insert(node);
    }

    /// Whether nodes are left that are worth a look by themselves.
    pub fn has_woken(&self) -> bool {
        !self.woken.is_empty()
    }

    /// A job of which something changed since it was last taken up here.
    pub(crate) fn next_touched(&mut self) -> Option<AppId> {
        let app = self.touched.pop()?;
        if let Some(job) = self.jobs.get_mut(&app) {
            job.touched = false;
        }
        Some(app)
    }

    /// Changes the job; whoever keeps something about it hears of that.
    fn with_job<T>(&mut self, app: AppId, change: impl FnOnce(&mut Job, Millis) -> T) -> Option<T> {
        let job = self.jobs.get_mut(&app)?;
        let (queue, load) = (job.queue, Load::of(job));
        let result = change(job, self.now);
        self.loads.moved((queue, load), (job.queue, Load::of(job)), self.now);
        job.touch(app, &mut self.touched);
        if job.phases.values().any(|phase| phase.borrowed > 0) {
            self.guests.insert(app);
        } else {
            self.guests.remove(&app);
        }
        Some(result)
    }

    /// The application said how many tasks of a request priority it has. If those are of another size than was thought, so are those that
    /// others of its queue have to come.
    fn say_tasks(&mut self, app: AppId, priority: i32, total: u32, done: u32) -> bool {
        let said = self.with_job(app, |job, _| {
            job.say_tasks(priority, total, done);
            let size = job.asked().find(|key| key.priority == priority).map(|key| key.resource);
            (job.queue, size)
        });
        let Some((queue, size)) = said else { return false };
        if size.is_none_or(|size| self.sizes.insert((queue, priority), size) == Some(size)) {
            return true;
        }
        for (app, job) in self.jobs.iter_mut().filter(|(_, job)| job.queue == queue && job.to_come().next().is_some()) {
            job.touch(*app, &mut self.touched);
        }
        true
    }

    /// The job asks for so many containers of a phase, instead of what it did: without a look at its other phases, of which it may name
    /// thousands at once.
    fn ask(&mut self, app: AppId, key: PhaseKey, count: u32, places: Places) -> bool {
        let Some(job) = self.jobs.get_mut(&app) else { return false };
        let phase = job.phases.entry(key).or_default();
        let before = Load::of_phase(&key, phase);
        phase.places = places;
        if phase.ask(count, self.now) {
            self.asked_again.push_back((self.now, app, key));
        }
        self.loads.change(job.queue, Load::of_phase(&key, phase) + -before, self.now);
        job.touch(app, &mut self.touched);
        true
    }

    /// What the job holds on nodes of that partition beside what it asked for there, as a fraction of `total`: CapacityScheduler
    /// counts it against the limits of its user there.
    pub fn borrowed_share(&self, job: &Job, total: Resource, partition: PartitionId) -> f64 {
        if job.phases.values().all(|phase| phase.borrowed == 0) {
            return 0.0;
        }
        let containers = job.containers.iter().filter_map(|id| self.containers.get(id));
        let guests = containers.filter(|container| {
            let there = self.nodes.get(&container.node).is_some_and(|node| node.partition == partition);
            there && container.phase.partition != partition && !container.state.is_suspended()
        });
        guests.map(|container| container.resource().dominant_share(total)).sum()
    }

    /// The container may have begun to run.
    fn look_at_begin(&mut self, id: ContainerId, container: &Container) {
        self.begun.extend(container.began().filter(|_| !container.is_master).map(|began| (began, id)));
    }

    /// Changes the node, and lists it where it belongs then.
    fn at_node<T>(&mut self, id: NodeId, change: impl FnOnce(&mut Node) -> T) -> Option<T> {
        let node = self.nodes.get_mut(&id)?;
        let result = change(node);
        if node.is_live(self.now) && !std::mem::replace(&mut node.watched, true) {
            self.silences.look(node.silent_at(), id);
        }
        let listing = Some(Listing::of(node, self.now));
        if listing != node.listed {
            let before = std::mem::replace(&mut node.listed, listing);
            before.iter().for_each(|listing| listing.remove(id, &mut self.partitions, &mut self.sides));
            listing.iter().for_each(|listing| listing.add(id, &mut self.partitions, &mut self.sides));
        }
        set(&mut self.claimed, id, !node.claims.is_empty());
        set(&mut self.stalled, id, node.waiting_since.is_some());
        Some(result)
    }
}

/// Puts the thing into the set, or takes it out.
fn set<T: Ord>(all: &mut BTreeSet<T>, one: T, inside: bool) {
    if inside {
        all.insert(one);
    } else {
        all.remove(&one);
    }
}
