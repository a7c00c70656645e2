//! Facts, and what they tell of the jobs that end.

use crate::hindsight::queues::Queues;
use crate::hindsight::stages::{stages, Container};
use crate::hindsight::{LeftOut, Past, PastJob};
use hiatus_core::fact::{AppFact, ContainerFact, Fact, Found, NodeFact};
use hiatus_core::state::{Cluster, Shares, UserLimits};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId};
use hiatus_world::job::Job;
use hiatus_world::{Node, Queue};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// So many of the last intervals are remembered for their middle.
const INTERVALS: usize = 10_000;

/// What an onlooker remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// For how long a job that ended, and what ApplicationMasters held.
    pub window: Millis,
    /// The most jobs and tasks that ended, and the most containers of jobs that go on. Beyond that the jobs that ended first are
    /// forgotten, and the largest of those that go on is left out.
    pub size: usize,
    /// The most heartbeats of nodes in the time that is told: in a cluster of so many nodes that more happened, it is only the last
    /// part of it.
    pub beats: u64,
}

impl Bounds {
    /// Everything.
    pub const NONE: Bounds = Bounds { window: Millis(u64::MAX), size: usize::MAX, beats: u64::MAX };
}

/// An application, while it lives.
#[derive(Debug)]
struct App {
    fact: AppFact,
    at: Millis,
    was_there: bool,
    /// Its containers are not noted any more.
    too_large: bool,
    /// For tasks.
    asked: bool,
    containers: Vec<Container>,
}

impl App {
    /// Memory of its ApplicationMasters that have not ended, in MiB.
    fn masters_mb(&self) -> i64 {
        let masters = self.containers.iter().filter(|container| container.is_master && container.ended.is_none());
        masters.map(|master| master.phase.resource.memory_mb).sum()
    }
}

/// A job that ended.
#[derive(Clone, Debug)]
struct Ended {
    at: Millis,
    queue: QueueId,
    /// The job, or why it is not whole.
    job: Result<Arc<PastJob>, LeftOut>,
}

impl Ended {
    /// It and its tasks.
    fn size(&self) -> usize {
        let tasks =
            |past: &Arc<PastJob>| past.job.stages.iter().map(|stage| stage.times.count() as usize).sum::<usize>();
        1 + self.job.as_ref().map_or(0, tasks)
    }
}

/// The middle one of the last intervals.
#[derive(Clone, Debug, Default)]
struct Intervals(VecDeque<Millis>);

impl Intervals {
    fn push(&mut self, interval: Millis) {
        if self.0.len() >= INTERVALS {
            self.0.pop_front();
        }
        self.0.push_back(interval);
    }

    fn median(&self) -> Millis {
        let mut all: Vec<Millis> = self.0.iter().copied().collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}

/// Hears the facts that a core is told. What a fact costs does not grow with the cluster, but for logarithms; the end of an application
/// costs as much as it had containers.
#[derive(Debug)]
pub struct Onlooker {
    bounds: Bounds,
    now: Millis,
    /// Steps so far: with the first one is told what is there already.
    steps: u64,
    nodes: BTreeMap<NodeId, Node>,
    queues: Queues,
    apps: BTreeMap<AppId, App>,
    /// By how many containers they have; those that have none are not in it.
    by_size: BTreeSet<(usize, AppId)>,
    /// Whose container, and which of its.
    containers: BTreeMap<ContainerId, (AppId, usize)>,
    /// Containers of applications that go on.
    noted: usize,
    heartbeats: BTreeMap<NodeId, Millis>,
    between: Intervals,
    starts: Intervals,
    ended: VecDeque<Ended>,
    /// Those that ended, and the tasks of those that are known whole.
    kept: usize,
    kills: u64,
}

impl Onlooker {
    /// From the core's first step on.
    pub fn new(bounds: Bounds) -> Onlooker {
        Onlooker {
            bounds,
            now: Millis(0),
            steps: 0,
            nodes: BTreeMap::new(),
            queues: Queues::default(),
            apps: BTreeMap::new(),
            by_size: BTreeSet::new(),
            containers: BTreeMap::new(),
            noted: 0,
            heartbeats: BTreeMap::new(),
            between: Intervals::default(),
            starts: Intervals::default(),
            ended: VecDeque::new(),
            kept: 0,
            kills: 0,
        }
    }

    /// From any moment of a core's life on. Nothing is learnt of the jobs that are there.
    pub fn of(cluster: &Cluster, bounds: Bounds) -> Onlooker {
        let mut onlooker = Onlooker::new(bounds);
        onlooker.steps = u64::from(!cluster.queues().is_empty());
        for (id, node) in cluster.nodes().iter() {
            let (total, partition, shareable, can_suspend) =
                (node.total, node.partition, node.shareable, node.can_suspend);
            let (ram_and_swap_mb, side) = (node.ram_and_swap_mb, node.side);
            let node = Node { partition, shareable, can_suspend, ram_and_swap_mb, side, ..Node::of(total) };
            onlooker.nodes.insert(*id, node);
        }
        for (id, queue) in cluster.queues() {
            let hiatus_core::state::Queue { preemptable, preemptable_within, users, .. } = *queue;
            let fresh = Queue::new(&queue.path, 0.0);
            onlooker.queues.put(*id, Queue { preemptable, preemptable_within, users, ..fresh });
            queue.shares.iter().for_each(|(partition, shares)| onlooker.queues.share(*id, *partition, *shares));
        }
        onlooker
    }

    /// A step begins: all facts until the next are of this time.
    pub fn step(&mut self, now: Millis) {
        self.now = now;
        self.steps += 1;
        self.forget();
    }

    /// The nodes that are there, in the order of their handles.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = &Node> {
        self.nodes.values()
    }

    /// Running containers that were killed by a decision, of applications that have ended.
    pub fn kills(&self) -> u64 {
        self.kills
    }

    /// A fact of the step.
    pub fn hear(&mut self, fact: &Fact) {
        let now = self.now;
        match fact {
            Fact::Node(fact) => {
                self.nodes.insert(fact.node, node(fact));
            }
            Fact::NodeRemoved { node } => {
                self.nodes.remove(node);
                self.heartbeats.remove(node);
            }
            Fact::Heartbeat { node, .. } => {
                if let Some(before) = self.heartbeats.insert(*node, now) {
                    self.between.push(now.since(before));
                }
            }
            Fact::Queue(fact) => self.queues.told(fact),
            Fact::QueueRemoved { queue } => self.queues.removed(*queue),
            Fact::QueueShare { queue, partition, guaranteed, maximum } => {
                let (guaranteed, maximum) = (*guaranteed, *maximum);
                self.queues.share(*queue, *partition, Shares { guaranteed, maximum });
            }
            Fact::UserLimits { queue, sure, most } => {
                self.queues.limit_users(*queue, UserLimits { sure: *sure, most: *most });
            }
            Fact::AppChanged { app, queue, priority } => self.changed(*app, *queue, *priority),
            // Told again it is the same.
            Fact::App(fact) if !self.apps.contains_key(&fact.app) => {
                let fact = fact.clone();
                let was_there = self.steps == 1;
                self.queues.remember_app(fact.queue);
                let app = App { at: now, was_there, too_large: false, asked: false, containers: Vec::new(), fact };
                self.apps.insert(app.fact.app, app);
            }
            Fact::Asked { app, phase, count: 1.., .. } => {
                if let Some(app) = self.apps.get_mut(app).filter(|app| !app.asked) {
                    let master = app.containers.iter().find(|container| container.is_master);
                    if let Some(master) = master.filter(|master| master.phase != *phase) {
                        app.asked = true;
                        // Its node may tell only later that it runs.
                        self.starts.push(master.launched.map_or(Millis(0), |launched| now.since(launched)));
                    }
                }
            }
            Fact::Allocated(fact) => self.allocated(fact),
            Fact::Launched { container } => self.at(*container, |container, now| container.launched = Some(now)),
            Fact::Demoted { container } => {
                self.at(*container, |container, now| container.suspended.push((now, None)));
            }
            Fact::Promoted { container } => self.at(*container, |container, now| {
                if let Some((_, end)) = container.suspended.last_mut() {
                    *end = Some(now);
                }
            }),
            Fact::Completed { container, .. } => {
                let mut of_master = None;
                self.at(*container, |container, now| {
                    container.ended = Some(now);
                    of_master = container.is_master.then_some(-container.phase.resource.memory_mb);
                });
                let app = self.containers.remove(container).and_then(|(app, _)| self.apps.get(&app));
                if let (Some(queue), Some(mb)) = (app.map(|app| app.fact.queue), of_master) {
                    self.masters_hold(queue, mb);
                }
            }
            Fact::AppRemoved { app, .. } => {
                if let Some(app) = self.apps.remove(app) {
                    self.end(app);
                }
            }
            _ => {}
        }
    }

    /// It was decided to kill it.
    pub fn killed(&mut self, container: ContainerId) {
        self.at(container, |container, _| container.killed = true);
    }

    /// An application is in another queue now, or has another priority.
    fn changed(&mut self, id: AppId, queue: QueueId, priority: i32) {
        let Some(app) = self.apps.get_mut(&id) else { return };
        app.fact.priority = priority;
        if app.fact.queue != queue {
            let (from, masters_mb) = (std::mem::replace(&mut app.fact.queue, queue), app.masters_mb());
            self.masters_hold(from, -masters_mb);
            self.masters_hold(queue, masters_mb);
            self.queues.remember_app(queue);
            self.queues.forget_app(from);
        }
    }

    fn allocated(&mut self, fact: &ContainerFact) {
        if self.noted >= self.bounds.size {
            self.leave_out_largest();
        }
        let Some(app) = self.apps.get_mut(&fact.app) else { return };
        // One whose ApplicationMaster came new was not there before: what is found running has another size now.
        app.was_there |= fact.state != Found::New && !app.containers.iter().any(|container| container.is_master);
        if app.too_large {
            return;
        }
        let size = app.containers.len();
        self.by_size.remove(&(size, fact.app));
        self.by_size.insert((size + 1, fact.app));
        self.noted += 1;
        self.containers.insert(fact.container, (fact.app, size));
        app.containers.push(Container::new(fact, self.now));
        if fact.is_master {
            let queue = app.fact.queue;
            self.masters_hold(queue, fact.phase.resource.memory_mb);
        }
    }

    /// Makes room: a service that runs for months must not hide all others.
    fn leave_out_largest(&mut self) {
        let Some((_, id)) = self.by_size.pop_last() else { return };
        let Some(app) = self.apps.get_mut(&id) else { return };
        let (queue, masters_mb) = (app.fact.queue, app.masters_mb());
        app.too_large = true;
        let containers = std::mem::take(&mut app.containers);
        self.noted -= containers.len();
        for container in &containers {
            self.containers.remove(&container.id);
        }
        self.masters_hold(queue, -masters_mb);
    }

    /// So much more.
    fn masters_hold(&mut self, queue: QueueId, more_mb: i64) {
        let since = self.remembered_since();
        self.queues.masters_hold(queue, more_mb, self.now, since);
    }

    fn remembered_since(&self) -> Millis {
        Millis(self.now.0.saturating_sub(self.bounds.window.0))
    }

    fn at(&mut self, container: ContainerId, change: impl FnOnce(&mut Container, Millis)) {
        let Some((app, index)) = self.containers.get(&container) else { return };
        if let Some(container) = self.apps.get_mut(app).and_then(|app| app.containers.get_mut(*index)) {
            change(container, self.now);
        }
    }

    /// An application is over.
    fn end(&mut self, app: App) {
        let killed = app.containers.iter().filter(|container| container.killed && container.ended.is_some());
        self.kills += killed.count() as u64;
        self.noted -= app.containers.len();
        self.by_size.remove(&(app.containers.len(), app.fact.app));
        for container in app.containers.iter().filter(|container| container.ended.is_none()) {
            self.containers.remove(&container.id);
        }
        self.masters_hold(app.fact.queue, -app.masters_mb());
        let ended = Ended { at: self.now, queue: app.fact.queue, job: self.job(app).map(Arc::new) };
        self.kept += ended.size();
        self.ended.push_back(ended);
        self.forget();
    }

    /// Those that ended too long ago, and those that are too many.
    fn forget(&mut self) {
        let since = self.remembered_since();
        while let Some(first) = self.ended.front() {
            if self.kept <= self.bounds.size && first.at >= since {
                break;
            }
            self.kept -= first.size();
            self.queues.forget_app(first.queue);
            self.ended.pop_front();
        }
    }

    /// Its job, if all of it is known.
    fn job(&self, app: App) -> Result<PastJob, LeftOut> {
        let (masters, tasks): (Vec<_>, Vec<_>) = app.containers.iter().partition(|container| container.is_master);
        let queue = self.queues.path(app.fact.queue).filter(|_| !app.was_there);
        let none = LeftOut::default();
        let Some(queue) = queue else { return Err(LeftOut { before: 1, ..none }) };
        if app.too_large {
            return Err(LeftOut { size: 1, ..none });
        }
        let ([master], false) = (&masters[..], app.fact.unmanaged) else {
            return Err(LeftOut { masters: 1, ..none });
        };
        let Some(stages) = stages(tasks) else { return Err(LeftOut { kinds: 1, ..none }) };
        if stages.is_empty() {
            return Err(LeftOut { without_tasks: 1, ..none });
        }
        let job = Job {
            queue: queue.to_owned(),
            user: app.fact.user,
            priority: app.fact.priority,
            application_type: app.fact.application_type,
            tags: app.fact.tags,
            partition: master.phase.partition,
            at: app.at,
            master: master.phase.resource,
            stages,
            ..Job::new(&app.fact.name)
        };
        Ok(PastJob { job, sojourn: self.now.since(app.at) })
    }

    /// What is known now.
    pub fn past(&self) -> Past {
        let heartbeat = self.between.median();
        let since = self.told_since(heartbeat);
        let mut left_out = LeftOut::default();
        let mut jobs = Vec::new();
        for ended in self.ended.iter().filter(|ended| ended.at >= since) {
            match &ended.job {
                Ok(past) if past.job.at >= since => jobs.push(past.clone()),
                Ok(_) => left_out.before += 1,
                Err(why) => left_out += *why,
            }
        }
        jobs.sort_by_key(|past| past.job.at);
        let before = self.apps.values().filter(|app| app.was_there).count() as u64;
        left_out.before += before;
        left_out.after += self.apps.len() as u64 - before;
        let partitions = self.nodes.values().map(|node| node.partition).collect();
        let default = self.nodes.values().filter(|node| node.partition == PartitionId(0));
        let offered_mb = default.map(|node| node.total.memory_mb).sum();
        Past {
            properties: BTreeMap::new(),
            nodes: self.nodes.values().cloned().collect(),
            queues: self.queues.told_of(&partitions, offered_mb, self.remembered_since()),
            jobs,
            left_out,
            heartbeat,
            master_start: self.starts.median(),
        }
    }

    /// When the time begins that is told: up to the last end it has no more heartbeats of nodes than it may have.
    fn told_since(&self, heartbeat: Millis) -> Millis {
        let last = self.ended.back().map(|ended| ended.at).unwrap_or_default();
        let of_each = self.bounds.beats / self.nodes.len().max(1) as u64;
        Millis(last.0.saturating_sub(of_each.saturating_mul(heartbeat.0.max(1))))
    }
}

fn node(fact: &NodeFact) -> Node {
    Node {
        partition: fact.partition,
        shareable: fact.shareable,
        can_suspend: fact.can_suspend,
        ram_and_swap_mb: fact.ram_and_swap_mb,
        side: fact.side,
        ..Node::of(fact.total)
    }
}
