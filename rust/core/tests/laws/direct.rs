//! The core by itself: facts by hand, and every decision carried out at once. Nodes of ten containers.

use hiatus_core::decision::Decision;
use hiatus_core::fact::{
    AppFact, ContainerFact, Exit, Fact, Found, NodeFact, PhaseKey, Places, QueueFact, Rejection, Side,
};
use hiatus_core::settings::Settings;
use hiatus_core::units::{AppId, ContainerId, JobClass, Millis, NodeId, PartitionId, QueueId, Resource, UserId};
use hiatus_core::visits::Visits;
use hiatus_core::Scheduler;
use std::collections::{BTreeMap, VecDeque};

/// So many ms after a plan there is no next one yet.
pub const BETWEEN_PLANS: u64 = 10;

const PLAN_INTERVAL: u64 = 100;

const ONE: PhaseKey =
    PhaseKey { priority: 20, partition: PartitionId(0), resource: Resource { memory_mb: 1024, vcores: 1 } };

type Refuses = fn(&Decision) -> Option<Rejection>;

pub struct Direct {
    pub core: Scheduler,
    /// Decisions refused so far.
    pub refused: u32,
    /// The most containers that one step of the core proposed.
    pub most_at_once: u32,
    now: u64,
    facts: Vec<Fact>,
    jobs: u32,
    running: VecDeque<ContainerId>,
    started: u32,
    refuses: Refuses,
}

/// A node of ten places.
fn a_node(node: NodeId) -> NodeFact {
    NodeFact {
        node,
        total: ONE.resource.times(10),
        partition: PartitionId(0),
        shareable: true,
        can_suspend: true,
        decommissioning: false,
        ram_and_swap_mb: None,
        side: None,
    }
}

impl Direct {
    /// So many nodes, and jobs that want nothing yet.
    pub fn new(mode: &str, nodes: u32, jobs: u32) -> Direct {
        Direct::with(&[("mode", mode), ("policy", "fifo")], nodes, jobs)
    }

    /// The same with these knobs.
    pub fn with(knobs: &[(&str, &str)], nodes: u32, jobs: u32) -> Direct {
        let property = |(name, value): &(&str, &str)| (format!("yarn.scheduler.hiatus.{name}"), value.to_string());
        let settings: BTreeMap<_, _> = knobs.iter().map(property).collect();
        let core = Scheduler::new(Settings::parse(&settings).unwrap());
        let mut direct = Direct {
            core,
            refused: 0,
            most_at_once: 0,
            now: 1_000,
            facts: Vec::new(),
            jobs,
            running: VecDeque::new(),
            started: 0,
            refuses: |_| None,
        };
        let (queue, partition) = (QueueId(0), PartitionId(0));
        let path = "root.default".to_string();
        direct.facts.push(Fact::Queue(QueueFact {
            queue,
            parent: None,
            path,
            preemptable: true,
            preemptable_within: true,
        }));
        direct.facts.push(Fact::QueueShare { queue, partition, guaranteed: 1.0, maximum: 1.0 });
        for node in (0..nodes).map(NodeId) {
            direct.facts.push(Fact::Node(a_node(node)));
            direct.facts.push(Fact::Heartbeat { node, paused: 0, waiting: 0 });
        }
        (0..jobs).for_each(|app| direct.submit(AppId(app), queue));
        direct.plan();
        direct.plan();
        direct
    }

    fn submit(&mut self, app: AppId, queue: QueueId) {
        self.facts.push(Fact::App(AppFact {
            app,
            queue,
            user: UserId(0),
            priority: 0,
            told_at_ms: 0,
            name: format!("app{}", app.0),
            class: JobClass(0),
            tags: Vec::new(),
            unmanaged: true,
            application_type: "SPARK".to_string(),
        }));
        self.facts.push(Fact::AppActive { app, active: true });
    }

    /// One more queue, to which 80 % are guaranteed, and a job in it; the first keeps the rest.
    pub fn production_job(&mut self) -> u32 {
        let (queue, partition) = (QueueId(1), PartitionId(0));
        let path = "root.production".to_string();
        self.facts.push(Fact::Queue(QueueFact {
            queue,
            parent: None,
            path,
            preemptable: true,
            preemptable_within: true,
        }));
        for (queue, guaranteed) in [(queue, 0.8), (QueueId(0), 0.2)] {
            self.facts.push(Fact::QueueShare { queue, partition, guaranteed, maximum: 1.0 });
        }
        self.submit(AppId(self.jobs), queue);
        self.jobs
    }

    /// The node is on that side of a mixed cluster.
    pub fn put_on(&mut self, node: u32, side: Side) {
        self.facts.push(Fact::Node(NodeFact { side: Some(side), ..a_node(NodeId(node)) }));
    }

    /// One more node, of another partition, that serves others, too.
    pub fn another_partition(&mut self, node: NodeId) {
        self.facts.push(Fact::Node(NodeFact { partition: PartitionId(1), ..a_node(node) }));
    }

    /// Something more happens.
    pub fn tell(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// From now on.
    pub fn refusing(&mut self, refuses: Refuses) {
        self.refuses = refuses;
    }

    /// Wants so many tasks on any nodes, instead of what it wanted before.
    pub fn asks(&mut self, app: u32, count: u32) {
        self.wants(app, count, Places::Anywhere);
    }

    /// The same at places that it names.
    pub fn asks_for_places(&mut self, app: u32, count: u32) {
        self.wants(app, count, Places::Named);
    }

    /// The same where something is of which the core knows nothing.
    pub fn asks_for_more_than_is_known(&mut self, app: u32, count: u32) {
        self.wants(app, count, Places::Unjudged);
    }

    fn wants(&mut self, app: u32, count: u32, places: Places) {
        let app = AppId(app);
        self.facts.extend([Fact::AsksReplaced { app }, Fact::Asked { app, phase: ONE, count, places }]);
    }

    /// The job holds so many containers on the node.
    pub fn fill(&mut self, node: u32, app: u32, count: u32) {
        (0..count).for_each(|_| self.start(AppId(app), NodeId(node)));
        self.plan();
    }

    /// Every job, and then everything is placed that can be.
    pub fn everybody_asks(&mut self, each: u32) {
        (0..self.jobs).for_each(|app| self.asks(app, each));
        self.plan();
        while self.core.has_more() {
            self.plan();
        }
    }

    pub fn heartbeat(&mut self, node: u32) {
        self.beats(node, 0);
    }

    /// A heartbeat of a node on which so many containers are paused.
    pub fn beats(&mut self, node: u32, paused: u32) {
        self.facts.push(Fact::Heartbeat { node: NodeId(node), paused, waiting: 0 });
    }

    /// All containers of the job are done, and it wants no more.
    pub fn ends(&mut self, app: u32) {
        let containers = &self.core.cluster().jobs()[&AppId(app)].containers;
        self.facts.extend(containers.iter().map(|id| Fact::Completed { container: *id, exit: Exit::Succeeded }));
        self.asks(app, 0);
    }

    pub fn first_container_ends(&mut self) {
        let container = self.running.pop_front().unwrap();
        self.facts.push(Fact::Completed { container, exit: Exit::Succeeded });
    }

    /// Containers on each node, in the order of their handles.
    pub fn on_each_node(&self) -> Vec<u32> {
        let nodes = self.core.cluster().nodes();
        (0_u32..).map_while(|node| nodes.get(&NodeId(node))).map(|node| node.containers.len() as u32).collect()
    }

    /// Containers of the job.
    pub fn holds(&self, app: u32) -> u32 {
        self.core.cluster().jobs()[&AppId(app)].containers.len() as u32
    }

    /// Containers given out so far.
    pub fn placed(&self) -> u32 {
        self.started
    }

    /// Steps after so long until there is nothing more to do; what the first one looked at.
    pub fn step(&mut self, after_ms: u64) -> Visits {
        self.now += after_ms;
        let mut first = None;
        loop {
            let mut decisions = Vec::new();
            self.core.step(Millis(self.now), &std::mem::take(&mut self.facts), &mut decisions);
            first.get_or_insert(self.core.visits());
            let before = self.started;
            decisions.into_iter().for_each(|decision| self.carry_out(decision));
            self.most_at_once = self.most_at_once.max(self.started - before);
            if self.facts.is_empty() {
                return first.unwrap_or_default();
            }
        }
    }

    /// The same, when the next plan is due.
    pub fn plan(&mut self) -> Visits {
        self.step(10 * PLAN_INTERVAL)
    }

    fn start(&mut self, app: AppId, node: NodeId) {
        let (container, phase, state) = (ContainerId(self.started), ONE, Found::New);
        let found = ContainerFact { container, app, node, phase, is_master: false, state };
        self.facts.extend([Fact::Allocated(found), Fact::Launched { container }]);
        self.running.push_back(container);
        self.started += 1;
    }

    fn carry_out(&mut self, decision: Decision) {
        let reason = (self.refuses)(&decision);
        self.refused += u32::from(reason.is_some());
        match (decision, reason) {
            (Decision::Assign { app, node, .. }, Some(reason)) => {
                self.facts.push(Fact::AssignRejected { app, node, reason });
            }
            (Decision::Assign { app, node, count, .. }, None) => (0..count).for_each(|_| self.start(app, node)),
            (Decision::Kill { container, .. }, None) => {
                self.running.retain(|running| *running != container);
                self.facts.push(Fact::Completed { container, exit: Exit::Killed });
            }
            (Decision::Suspend { container, .. }, None) => self.facts.push(Fact::Demoted { container }),
            (Decision::Resume { container }, None) => self.facts.push(Fact::Promoted { container }),
            (Decision::Resume { container }, Some(reason)) => {
                self.facts.push(Fact::ContainerRejected { container, reason });
            }
            (other, _) => panic!("not asked for: {other:?}"),
        }
    }
}
