//! Facts, and what they tell of the jobs that end.

use crate::{LeftOut, Past, PastJob};
use hiatus_core::fact::{AppFact, ContainerFact, Fact, Found, NodeFact, PhaseKey};
use hiatus_core::state::{Cluster, UserLimits};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId};
use hiatus_world::job::{Job, Stage, Times, MOST_STAGES};
use hiatus_world::{Node, Queue};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// So many of the last intervals are remembered for their middle.
const INTERVALS: usize = 10_000;

/// What an onlooker remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// For how long a job that ended.
    pub window: Millis,
    /// The most jobs and tasks that ended, and the most containers of jobs that go on. Beyond that the jobs that ended first are
    /// forgotten, and the largest of those that go on is left out.
    pub size: usize,
}

impl Bounds {
    /// Everything.
    pub const NONE: Bounds = Bounds { window: Millis(u64::MAX), size: usize::MAX };
}

/// A container, while its application lives.
#[derive(Debug)]
struct Container {
    id: ContainerId,
    phase: PhaseKey,
    is_master: bool,
    launched: Option<Millis>,
    /// Spans in which it was demoted.
    suspended: Vec<(Millis, Option<Millis>)>,
    ended: Option<Millis>,
    /// By a decision.
    killed: bool,
}

impl Container {
    fn new(fact: &ContainerFact) -> Container {
        let (id, phase, is_master) = (fact.container, fact.phase, fact.is_master);
        Container { id, phase, is_master, launched: None, suspended: Vec::new(), ended: None, killed: false }
    }

    /// How long it ran after `since`, suspensions left out; nothing if it did not come to its own end.
    fn worked(&self, since: Millis) -> Option<Millis> {
        let (launched, ended) = (self.launched?, self.ended.filter(|_| !self.killed)?);
        // What ends before the stage before it does not wait for that one.
        let from = if ended > since { launched.max(since) } else { launched };
        let stood: u64 =
            self.suspended.iter().map(|(begin, end)| end.unwrap_or(ended).since((*begin).max(from)).0).sum();
        Some(Millis(ended.since(from).0.saturating_sub(stood)))
    }
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

/// A job that ended.
#[derive(Clone, Debug)]
struct Ended {
    at: Millis,
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

/// Memory of the ApplicationMasters in one queue.
#[derive(Clone, Copy, Debug, Default)]
struct Masters {
    now_mb: i64,
    most_mb: i64,
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
    queues: BTreeMap<QueueId, Queue>,
    apps: BTreeMap<AppId, App>,
    /// Whose container, and which of its.
    containers: BTreeMap<ContainerId, (AppId, usize)>,
    /// Containers of applications that go on.
    noted: usize,
    heartbeats: BTreeMap<NodeId, Millis>,
    between: Intervals,
    starts: Intervals,
    masters: BTreeMap<QueueId, Masters>,
    ended: VecDeque<Ended>,
    /// How many of those are known whole.
    whole: usize,
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
            queues: BTreeMap::new(),
            apps: BTreeMap::new(),
            containers: BTreeMap::new(),
            noted: 0,
            heartbeats: BTreeMap::new(),
            between: Intervals::default(),
            starts: Intervals::default(),
            masters: BTreeMap::new(),
            ended: VecDeque::new(),
            whole: 0,
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
            let shares = queue.shares(PartitionId(0));
            let (preemptable, users) = (queue.preemptable, queue.users);
            let told = Queue { preemptable, users, ..Queue::new(&queue.path, shares.guaranteed) };
            onlooker.queues.insert(*id, told.maximum(shares.maximum));
        }
        onlooker
    }

    /// A step begins: all facts until the next are of this time.
    pub fn step(&mut self, now: Millis) {
        self.now = now;
        self.steps += 1;
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
            Fact::Queue(fact) => {
                let before = self.queues.remove(&fact.queue).unwrap_or_else(|| Queue::new(&fact.path, 0.0));
                let queue = Queue { path: fact.path.clone(), preemptable: fact.preemptable, ..before };
                self.queues.insert(fact.queue, queue);
            }
            Fact::QueueRemoved { queue } => {
                // Its jobs can be simulated still; it owns nothing any more.
                if let Some(queue) = self.queues.get_mut(queue) {
                    queue.guaranteed = 0.0;
                }
            }
            Fact::QueueShare { queue, partition: PartitionId(0), guaranteed, maximum } => {
                if let Some(queue) = self.queues.get_mut(queue) {
                    (queue.guaranteed, queue.maximum) = (*guaranteed, *maximum);
                }
            }
            Fact::UserLimits { queue, sure, most } => {
                if let Some(queue) = self.queues.get_mut(queue) {
                    queue.users = UserLimits { sure: *sure, most: *most };
                }
            }
            Fact::AppChanged { app, queue, priority } => {
                if let Some(app) = self.apps.get_mut(app) {
                    (app.fact.queue, app.fact.priority) = (*queue, *priority);
                }
            }
            Fact::App(fact) => {
                let fact = fact.clone();
                let was_there = self.steps == 1;
                let app = App { at: now, was_there, too_large: false, asked: false, containers: Vec::new(), fact };
                self.apps.insert(app.fact.app, app);
            }
            Fact::Asked { app, phase, count: 1.. } => {
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
                if let (Some((app, _)), Some(mb)) = (self.containers.remove(container), of_master) {
                    self.masters_hold(app, mb);
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

    fn allocated(&mut self, fact: &ContainerFact) {
        if self.noted >= self.bounds.size {
            self.leave_out_largest();
        }
        let Some(app) = self.apps.get_mut(&fact.app) else { return };
        app.was_there |= fact.state != Found::New;
        if app.too_large {
            return;
        }
        self.noted += 1;
        self.containers.insert(fact.container, (fact.app, app.containers.len()));
        app.containers.push(Container::new(fact));
        if fact.is_master {
            self.masters_hold(fact.app, fact.phase.resource.memory_mb);
        }
    }

    /// Makes room: a service that runs for months must not hide all others.
    fn leave_out_largest(&mut self) {
        let Some((&id, app)) = self.apps.iter_mut().max_by_key(|(_, app)| app.containers.len()) else { return };
        app.too_large = true;
        let containers = std::mem::take(&mut app.containers);
        self.noted -= containers.len();
        for container in &containers {
            self.containers.remove(&container.id);
        }
        let masters = containers.iter().filter(|container| container.is_master && container.ended.is_none());
        let masters_mb: i64 = masters.map(|master| master.phase.resource.memory_mb).sum();
        self.masters_hold(id, -masters_mb);
    }

    /// So much more.
    fn masters_hold(&mut self, app: AppId, mb: i64) {
        if let Some(app) = self.apps.get(&app) {
            let masters = self.masters.entry(app.fact.queue).or_default();
            masters.now_mb += mb;
            masters.most_mb = masters.most_mb.max(masters.now_mb);
        }
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
        let ended = Ended { at: self.now, job: self.job(app).map(Arc::new) };
        self.kept += ended.size();
        self.whole += usize::from(ended.job.is_ok());
        self.ended.push_back(ended);
        while let Some(first) = self.ended.front() {
            if self.kept <= self.bounds.size && self.now.since(first.at) <= self.bounds.window {
                break;
            }
            self.kept -= first.size();
            self.whole -= usize::from(first.job.is_ok());
            self.ended.pop_front();
        }
    }

    /// Its job, if all of it is known.
    fn job(&self, app: App) -> Result<PastJob, LeftOut> {
        let (masters, tasks): (Vec<_>, Vec<_>) = app.containers.iter().partition(|container| container.is_master);
        let queue = self.queues.get(&app.fact.queue).filter(|_| !app.was_there);
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
            queue: queue.path.clone(),
            user: app.fact.user,
            priority: app.fact.priority,
            tags: app.fact.tags,
            partition: master.phase.partition,
            at: app.at,
            master: master.phase.resource,
            stages,
            ..Job::new(&app.fact.name)
        };
        Ok(PastJob { job, sojourn: self.now.since(app.at) })
    }

    /// Whether any job is known whole.
    pub fn knows_jobs(&self) -> bool {
        self.whole > 0
    }

    /// What is known now.
    pub fn past(&self) -> Past {
        let mut left_out = LeftOut::default();
        for out in self.ended.iter().filter_map(|ended| ended.job.as_ref().err()) {
            left_out.before += out.before;
            left_out.without_tasks += out.without_tasks;
            left_out.masters += out.masters;
            left_out.kinds += out.kinds;
            left_out.size += out.size;
        }
        let before = self.apps.values().filter(|app| app.was_there).count() as u64;
        left_out.before += before;
        left_out.after += self.apps.len() as u64 - before;
        let total_mb: i64 = self.nodes.values().map(|node| node.total.memory_mb).sum();
        // One that was removed and came again has another handle.
        let last: BTreeMap<&str, QueueId> = self.queues.iter().map(|(id, queue)| (queue.path.as_str(), *id)).collect();
        let there = |id: &QueueId, path: &str| path.contains('.') && last.get(path) == Some(id);
        let queues = self.queues.iter().filter(|(id, queue)| there(id, &queue.path));
        let queues = queues.map(|(id, queue)| {
            let most_mb = self.masters.get(id).map_or(0, |masters| masters.most_mb);
            queue.clone().master_share(most_mb as f64 / total_mb.max(1) as f64)
        });
        let mut jobs: Vec<_> = self.ended.iter().filter_map(|ended| ended.job.as_ref().ok()).cloned().collect();
        jobs.sort_by_key(|past| past.job.at);
        Past {
            properties: BTreeMap::new(),
            nodes: self.nodes.values().cloned().collect(),
            queues: queues.collect(),
            jobs,
            left_out,
            heartbeat: self.between.median(),
            master_start: self.starts.median(),
        }
    }
}

/// Kinds of tasks, by request priority and size, in the order in which they began; one begins to work when the one before is done.
/// `None` if they are more kinds than a job may have: then the rest is not looked at, because the scheduler's lock is held.
fn stages<'a>(tasks: impl IntoIterator<Item = &'a Container>) -> Option<Vec<Stage>> {
    let mut kinds: Vec<(PhaseKey, Vec<&Container>)> = Vec::new();
    for task in tasks.into_iter().filter(|task| task.worked(Millis(0)).is_some()) {
        let are_most = kinds.len() == MOST_STAGES;
        match kinds.iter_mut().find(|(kind, _)| *kind == task.phase) {
            Some((_, of_kind)) => of_kind.push(task),
            None if are_most => return None,
            None => kinds.push((task.phase, vec![task])),
        }
    }
    let mut before: Vec<Millis> = Vec::new();
    let mut stages = Vec::new();
    for (kind, of_kind) in kinds {
        let last = before.iter().max().copied().unwrap_or_default();
        let begun = of_kind.iter().filter_map(|task| task.launched).min().unwrap_or_default();
        let done = before.iter().filter(|end| **end <= begun).count() as f64;
        stages.push(Stage {
            times: Times::Each(of_kind.iter().filter_map(|task| task.worked(last)).collect()),
            size: kind.resource,
            partition: Some(kind.partition),
            slowstart: if before.is_empty() { 1.0 } else { done / before.len() as f64 },
        });
        before = of_kind.iter().filter_map(|task| task.ended).collect();
    }
    Some(stages)
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

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::units::Resource;

    fn ran(kind: i32) -> Container {
        let phase = PhaseKey { priority: kind, partition: PartitionId(0), resource: Resource::new(1024, 1) };
        let (id, node, app) = (ContainerId(kind as u32), NodeId(0), AppId(0));
        let fact = ContainerFact { container: id, app, node, phase, is_master: false, state: Found::New };
        Container { launched: Some(Millis(1)), ended: Some(Millis(2)), ..Container::new(&fact) }
    }

    #[test]
    fn of_a_job_with_too_many_kinds_of_tasks_no_more_is_looked_at_than_shows_that() {
        let containers: Vec<Container> = (0..1_000).map(ran).collect();
        let visits = |kinds: usize| {
            let mut visits = 0;
            let stages = stages(containers[..kinds].iter().inspect(|_| visits += 1));
            (stages.map(|stages| stages.len()), visits)
        };
        assert_eq!(visits(MOST_STAGES), (Some(MOST_STAGES), MOST_STAGES));
        assert_eq!(visits(1_000), (None, MOST_STAGES + 1));
    }
}
