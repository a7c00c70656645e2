//! Looking at the cluster.

use crate::app::{App, Life};
use crate::world::{Container, Machine, World};
use hiatus_core::fact::{Fact, NodeFact};
use hiatus_core::recurring::Record;
use hiatus_core::units::{AppId, Millis, NodeId, QueueId};
use hiatus_core::Scheduler;
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// The time.
    pub fn now(&self) -> Millis {
        self.now
    }

    /// The scheduler's properties.
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    /// The scheduler.
    pub fn core(&self) -> &Scheduler {
        &self.core
    }

    /// What the core wanted remembered of jobs, in the order in which they ended.
    pub fn remembered(&self) -> &[Record] {
        &self.remembered
    }

    /// Its machines, by their numbers from 0.
    pub fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// All applications, in the order in which their jobs were given.
    pub fn apps(&self) -> &[App] {
        &self.apps
    }

    /// The application of that job.
    ///
    /// # Panics
    /// If there is none.
    pub fn app(&self, name: &str) -> &App {
        &self.apps[self.app_id(name).0 as usize]
    }

    /// Its handle.
    ///
    /// # Panics
    /// If there is none.
    pub fn app_id(&self, name: &str) -> AppId {
        let at = self.apps.iter().position(|app| app.job.name == name);
        AppId(at.unwrap_or_else(|| panic!("no job {name}")) as u32)
    }

    /// From submission to end.
    ///
    /// # Panics
    /// If the job is not finished.
    pub fn sojourn(&self, name: &str) -> Millis {
        let app = self.app(name);
        app.finished.unwrap_or_else(|| panic!("{name} is not finished")).since(app.job.at)
    }

    /// Containers of the job for which `which` holds, in the ResourceManager's books.
    pub fn containers_of(&self, name: &str, which: impl Fn(&Container) -> bool) -> usize {
        let app = self.app_id(name);
        self.containers.values().filter(|container| container.app == app && which(container)).count()
    }

    /// Containers of the job that count, its ApplicationMaster included.
    pub fn held(&self, name: &str) -> usize {
        self.containers_of(name, |container| container.counted)
    }

    /// Containers of the job that are suspended.
    pub fn suspended(&self, name: &str) -> usize {
        self.containers_of(name, |container| !container.counted)
    }

    /// Claims on all nodes.
    pub fn claims(&self) -> usize {
        self.core.cluster().nodes().values().map(|node| node.claims.len()).sum()
    }

    /// Nodes on which the job has containers.
    pub fn nodes_of(&self, name: &str) -> BTreeSet<NodeId> {
        let app = self.app_id(name);
        self.containers.values().filter(|container| container.app == app).map(|container| container.node).collect()
    }

    pub(super) fn queue_id(&self, path: &str) -> QueueId {
        let at = self.queues.iter().position(|queue| queue.path == path);
        QueueId(at.unwrap_or_else(|| panic!("no queue {path}")) as u32)
    }

    /// Paths of the queues in which jobs may be.
    pub fn leaves(&self) -> Vec<String> {
        let parent = |path: &str| self.queues.iter().any(|queue| queue.path.starts_with(&format!("{path}.")));
        self.queues.iter().map(|queue| queue.path.clone()).filter(|path| !parent(path)).collect()
    }

    /// The jobs that are not finished: life, containers, asks and tasks left.
    pub(super) fn unfinished(&self) -> Vec<String> {
        let unfinished = self.apps.iter().filter(|app| app.life != Life::Gone);
        let text = |app: &App| {
            let (name, life, asks, left) = (&app.job.name, app.life, &app.asks, app.tasks_left());
            let (held, suspended) = (self.held(name), self.suspended(name));
            format!("{name} {life:?}: {held} held, {suspended} suspended, {left} tasks left, asks {asks:?}")
        };
        unfinished.map(text).collect()
    }

    pub(super) fn machine(&mut self, id: NodeId) -> &mut Machine {
        &mut self.machines[id.0 as usize]
    }

    pub(super) fn app_mut(&mut self, id: AppId) -> &mut App {
        &mut self.apps[id.0 as usize]
    }

    pub(super) fn node_fact(&self, node: NodeId) -> Fact {
        let spec = &self.machines[node.0 as usize].spec;
        Fact::Node(NodeFact {
            node,
            total: spec.total,
            partition: spec.partition,
            shareable: spec.shareable,
            can_suspend: spec.can_suspend,
            decommissioning: spec.decommissioning,
            ram_and_swap_mb: spec.ram_and_swap_mb,
            side: spec.side,
        })
    }
}
