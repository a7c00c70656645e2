//! What happened on the cluster whose core was recorded: its nodes and queues, and the jobs that the log has from their first day to
//! their last.

use std::collections::BTreeMap;
use std::io::Read;

use hiatus_core::decision::Decision;
use hiatus_core::fact::{AppFact, ContainerFact, Fact, Found, NodeFact, PhaseKey};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId};
use hiatus_wire::convert::{self, BadRecord};
use hiatus_wire::log::{Entry, Log, LogError};

use crate::cluster::{Node, Queue};
use crate::workload::cluster::{Job, Stage, Times, MOST_STAGES};

/// A job that the log has whole.
#[derive(Clone, Debug, PartialEq)]
pub struct PastJob {
    /// What it wanted, its tasks with the time that each ran, suspensions left out; its time of submission counts from the
    /// log's first step.
    pub job: Job,
    /// From its submission to its end, as it was.
    pub sojourn: Millis,
}

/// Jobs that are not whole in the log, by why, and what else cannot be taken from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// They were there when it began.
    pub before: u64,
    /// They were there when it ended.
    pub after: u64,
    /// They ran no task that came to an end: failed, killed, or all in their ApplicationMaster.
    pub without_tasks: u64,
    /// Their ApplicationMaster ran more than once, or outside the cluster.
    pub masters: u64,
    /// They had more kinds of tasks than the simulator's jobs may have.
    pub kinds: u64,
}

/// The cluster and its jobs.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Properties of the core when it was made.
    pub properties: BTreeMap<String, String>,
    /// How often it was given others.
    pub reconfigured: u64,
    /// The nodes when there were the most of them.
    pub nodes: Vec<Node>,
    /// How often a node came, went or changed after that.
    pub node_changes: u64,
    /// Nodes that are left out because their label makes them a partition of their own.
    pub labelled_nodes: u64,
    /// All queues but the root.
    pub queues: Vec<Queue>,
    /// The jobs that are whole, in the order of their submission.
    pub jobs: Vec<PastJob>,
    /// The others.
    pub left_out: LeftOut,
    /// Between two heartbeats of a node, in the middle.
    pub heartbeat: Millis,
    /// From an ApplicationMaster's start to its first asks, in the middle.
    pub master_start: Millis,
    /// How often a container was suspended.
    pub suspensions: u64,
    /// How often one was killed by a decision.
    pub kills: u64,
}

/// What stops the reading.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The log cannot be read on. What is before that is in the [`Past`] all the same.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A record is of another build.
    #[error(transparent)]
    Record(#[from] BadRecord),
    /// Properties are no JSON object of strings.
    #[error("the properties in the log are not a JSON object of strings: {0}")]
    Properties(#[from] serde_json::Error),
}

/// A container, while it lives and after.
#[derive(Debug)]
struct Container {
    fact: ContainerFact,
    launched: Option<Millis>,
    /// Spans in which it was demoted.
    suspended: Vec<(Millis, Option<Millis>)>,
    ended: Option<Millis>,
    /// By a decision.
    killed: bool,
}

impl Container {
    /// How long it ran after `since`, suspensions left out; nothing if it did not come to its own end.
    fn worked(&self, since: Millis) -> Option<Millis> {
        let (launched, ended) = (self.launched?, self.ended.filter(|_| !self.killed)?);
        // What ends before the stage before it does not wait for that one.
        let from = if ended > since { launched.max(since) } else { launched };
        let stood = self.suspended.iter().map(|(begin, end)| end.unwrap_or(ended).since((*begin).max(from)).0);
        Some(Millis(ended.since(from).0.saturating_sub(stood.sum())))
    }
}

/// An application, while it lives.
#[derive(Debug)]
struct App {
    fact: AppFact,
    at: Millis,
    was_there: bool,
    asked: Option<Millis>,
    containers: Vec<Container>,
}

/// Reads a log into a [`Past`].
#[derive(Debug, Default)]
struct Reader {
    past: Past,
    first: Option<i64>,
    /// Since the log's first step.
    now: Millis,
    steps: u64,
    nodes: BTreeMap<NodeId, Node>,
    queues: BTreeMap<QueueId, Queue>,
    apps: BTreeMap<AppId, App>,
    /// Whose container, and which of its.
    containers: BTreeMap<ContainerId, (AppId, usize)>,
    heartbeats: BTreeMap<NodeId, Millis>,
    between: Vec<Millis>,
    starts: Vec<Millis>,
}

/// Reads a whole log. What could be read is returned even if the log ends badly, with why.
pub fn past<R: Read>(log: &mut Log<R>) -> (Past, Result<(), PastError>) {
    let mut reader = Reader::default();
    let outcome = reader.read(log);
    (reader.finish(), outcome)
}

impl Reader {
    fn read<R: Read>(&mut self, log: &mut Log<R>) -> Result<(), PastError> {
        let mut facts = Vec::new();
        while let Some(entry) = log.next_entry()? {
            match entry {
                Entry::Configured { properties } if self.steps == 0 => {
                    self.past.properties = serde_json::from_str(properties)?;
                }
                Entry::Configured { .. } => self.past.reconfigured += 1,
                Entry::Stepped { now_ms } => {
                    let first = *self.first.get_or_insert(now_ms);
                    self.now = Millis(u64::try_from(now_ms - first).unwrap_or_default());
                    self.steps += 1;
                }
                Entry::Fact(record) => {
                    facts.clear();
                    convert::facts(record, &mut facts)?;
                    facts.drain(..).for_each(|fact| self.hear(fact));
                }
                Entry::Answer(record) => {
                    if let Some(Decision::Kill { container, .. }) = convert::decided(record) {
                        self.at(container, |container, _| container.killed = true);
                    }
                }
                Entry::Answered | Entry::Ended => {}
            }
        }
        Ok(())
    }

    fn hear(&mut self, fact: Fact) {
        let now = self.now;
        match fact {
            Fact::Node(fact) => {
                let node = node(&fact);
                self.nodes.insert(fact.node, node);
                self.nodes_changed();
            }
            Fact::NodeRemoved { node } => {
                self.nodes.remove(&node);
                self.heartbeats.remove(&node);
                self.past.node_changes += 1;
            }
            Fact::Heartbeat { node, .. } => {
                if let Some(before) = self.heartbeats.insert(node, now) {
                    self.between.push(now.since(before));
                }
            }
            Fact::Queue(fact) => {
                let before = self.queues.remove(&fact.queue);
                let (guaranteed, maximum) = before.map_or((0.0, 1.0), |queue| (queue.guaranteed, queue.maximum));
                let queue = Queue::new(&fact.path, guaranteed).maximum(maximum);
                self.queues.insert(fact.queue, if fact.preemptable { queue } else { queue.not_preemptable() });
            }
            Fact::QueueShare { queue, partition: PartitionId(0), guaranteed, maximum } => {
                if let Some(queue) = self.queues.get_mut(&queue) {
                    (queue.guaranteed, queue.maximum) = (guaranteed, maximum);
                }
            }
            Fact::App(fact) => {
                let was_there = self.steps == 1;
                let app = App { at: now, was_there, asked: None, containers: Vec::new(), fact };
                self.apps.insert(app.fact.app, app);
            }
            Fact::Asked { app, .. } => {
                if let Some(app) = self.apps.get_mut(&app) {
                    let master = app.containers.iter().find(|container| container.fact.is_master);
                    if let Some(launched) = master.and_then(|master| master.launched).filter(|_| app.asked.is_none()) {
                        app.asked = Some(now);
                        self.starts.push(now.since(launched));
                    }
                }
            }
            Fact::Allocated(fact) => {
                if let Some(app) = self.apps.get_mut(&fact.app) {
                    app.was_there |= fact.state != Found::New;
                    self.containers.insert(fact.container, (fact.app, app.containers.len()));
                    let container =
                        Container { launched: None, suspended: Vec::new(), ended: None, killed: false, fact };
                    app.containers.push(container);
                }
            }
            Fact::Launched { container } => self.at(container, |container, now| container.launched = Some(now)),
            Fact::Demoted { container } => {
                self.past.suspensions += 1;
                self.at(container, |container, now| container.suspended.push((now, None)));
            }
            Fact::Promoted { container } => self.at(container, |container, now| {
                if let Some((_, end)) = container.suspended.last_mut() {
                    *end = Some(now);
                }
            }),
            Fact::Completed { container, .. } => {
                self.at(container, |container, now| container.ended = Some(now));
                self.containers.remove(&container);
            }
            Fact::AppRemoved { app, .. } => {
                if let Some(app) = self.apps.remove(&app) {
                    self.end(app);
                }
            }
            _ => {}
        }
    }

    fn at(&mut self, container: ContainerId, change: impl FnOnce(&mut Container, Millis)) {
        let Some((app, index)) = self.containers.get(&container) else { return };
        if let Some(container) = self.apps.get_mut(app).and_then(|app| app.containers.get_mut(*index)) {
            change(container, self.now);
        }
    }

    fn nodes_changed(&mut self) {
        if self.nodes.len() >= self.past.nodes.len() {
            self.past.nodes = self.nodes.values().cloned().collect();
        } else {
            self.past.node_changes += 1;
        }
    }

    /// An application is over: its job, if the log has it whole.
    fn end(&mut self, app: App) {
        self.past.kills +=
            app.containers.iter().filter(|container| container.killed && container.ended.is_some()).count() as u64;
        let left_out = &mut self.past.left_out;
        let (masters, tasks): (Vec<_>, Vec<_>) = app.containers.iter().partition(|container| container.fact.is_master);
        let ([master], false) = (&masters[..], app.fact.unmanaged) else {
            *(if app.was_there { &mut left_out.before } else { &mut left_out.masters }) += 1;
            return;
        };
        let stages = stages(&tasks);
        let queue = self.queues.get(&app.fact.queue);
        let (Some(queue), false) = (queue, app.was_there) else {
            left_out.before += 1;
            return;
        };
        if stages.is_empty() {
            left_out.without_tasks += 1;
        } else if stages.len() > MOST_STAGES {
            left_out.kinds += 1;
        } else {
            let job = Job {
                queue: queue.path.clone(),
                priority: app.fact.priority,
                tags: app.fact.tags,
                partition: master.fact.phase.partition,
                at: app.at,
                master: master.fact.phase.resource,
                stages,
                ..Job::new(&app.fact.name)
            };
            self.past.jobs.push(PastJob { job, sojourn: self.now.since(app.at) });
        }
    }

    fn finish(mut self) -> Past {
        self.past.left_out.before += self.apps.values().filter(|app| app.was_there).count() as u64;
        self.past.left_out.after += self.apps.values().filter(|app| !app.was_there).count() as u64;
        self.past.queues = self.queues.into_values().filter(|queue| queue.path.contains('.')).collect();
        self.past.jobs.sort_by_key(|past| past.job.at);
        self.past.heartbeat = median(self.between);
        self.past.master_start = median(self.starts);
        self.past
    }
}

/// Kinds of tasks, by request priority and size, in the order in which they began; one begins to work when the one before is done.
fn stages(tasks: &[&Container]) -> Vec<Stage> {
    let mut kinds: Vec<PhaseKey> = Vec::new();
    for task in tasks.iter().filter(|task| task.worked(Millis(0)).is_some()) {
        if !kinds.contains(&task.fact.phase) {
            kinds.push(task.fact.phase);
        }
    }
    let mut before: Vec<Millis> = Vec::new();
    let mut stages = Vec::new();
    for kind in kinds {
        let of_kind: Vec<_> =
            tasks.iter().filter(|task| task.fact.phase == kind && task.worked(Millis(0)).is_some()).collect();
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
    stages
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

fn median(mut all: Vec<Millis>) -> Millis {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
