//! The cluster as a whole: what it consists of, and how a scenario is built.

use crate::agenda::Agenda;
use crate::app::App;
use crate::faults::Faults;
use crate::held::Held;
use crate::job::{secs, Job};
use crate::node_manager::{Message, NodeManager, Timer};
use crate::spec::{Node, Queue};
use crate::speculation::{Speculation, LEAST_CAP};
use crate::task::TaskId;
use hiatus_core::admit::Admission;
use hiatus_core::decision::Decision;
use hiatus_core::fact::{Exit, Fact, PhaseKey, QueueFact};
use hiatus_core::recurring::Record;
use hiatus_core::settings::{Settings, CLUSTER_PREFIX};
use hiatus_core::state::{Shares, UserLimits};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use hiatus_core::Scheduler;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The ResourceManager calls the core at least this often, heartbeats or not.
pub(super) const TICK: Millis = Millis(1_000);

/// What happens when.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Submit(AppId),
    /// A node reports, unless it was put off since.
    Heartbeat(NodeId, u32),
    /// A lost answer arrives after all.
    Answer(NodeId),
    Launch(ContainerId),
    Registered(AppId, u32),
    Timer(NodeId, Timer),
    /// Its ApplicationMaster has not heard of what should run in that container for `TASK_TIMEOUT`.
    Unheard(ContainerId),
    /// What that attempt of the application left behind has reached no ApplicationMaster for as long.
    Orphaned(AppId, u32),
    Late(u64),
    Tick,
}

/// A container as the ResourceManager's books have it.
#[derive(Clone, Debug)]
pub struct Container {
    /// Its application.
    pub app: AppId,
    /// Its node.
    pub node: NodeId,
    /// Its phase.
    pub phase: PhaseKey,
    /// Whether it is the ApplicationMaster.
    pub is_master: bool,
    /// It counts: the ResourceManager did not demote it.
    pub counted: bool,
    /// Since when it does, or does not.
    pub(super) since: Millis,
    /// The node said that it runs.
    pub launched: bool,
    /// Somebody put it aside, by itself.
    pub parked: bool,
    pub(super) task: Option<TaskId>,
    /// How long it ran, once it has ended.
    pub(super) ran: Option<Millis>,
}

/// A machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What it is now.
    pub spec: Node,
    /// The ResourceManager knows it.
    pub registered: bool,
    /// Its NodeManager.
    pub manager: NodeManager,
    /// When it last reported.
    pub last_heartbeat: Millis,
    /// What it was at first.
    pub(super) base: Node,
    /// Resources of its containers that count, in the ResourceManager's books.
    pub(super) counted: Resource,
    pub(super) outbox: Vec<Message>,
    pub(super) delayed: Vec<Message>,
    pub(super) started: Vec<ContainerId>,
    pub(super) ended: Vec<(ContainerId, Exit)>,
    /// Heartbeats scheduled under an earlier number do not happen.
    pub(super) schedule: u32,
}

/// What happened, by count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Events of the simulated cluster.
    pub events: u64,
    /// Steps of the core.
    pub steps: u64,
    /// Facts told to the core.
    pub facts: u64,
    /// Containers given out.
    pub placed: u64,
    /// Containers suspended.
    pub suspended: u64,
    /// Containers resumed.
    pub resumed: u64,
    /// Containers killed that were running and counted.
    pub preempted: u64,
    /// Suspended containers killed.
    pub expired: u64,
    /// Guaranteed containers that arrived before the demotion that was to make room for them.
    pub stalled: u64,
}

/// What one step of the core took.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Wall time.
    pub spent: Duration,
    /// Order and targets were computed anew.
    pub planned: bool,
}

/// One step of the core.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The time that it was given.
    pub now: Millis,
    /// What it was told.
    pub facts: Vec<Fact>,
    /// What it decided.
    pub decisions: Vec<Decision>,
}

/// Who looks at a cluster after each step of its core, and carries nothing out.
pub(super) trait Observer: Send {
    /// A fresh core begins, with these settings.
    fn restarted(&mut self, settings: Settings);

    /// Other settings are in force from the next step on.
    fn configured(&mut self, settings: Settings);

    /// The core was told these facts and decided this, of which nothing is carried out yet.
    fn after_step(&mut self, world: &World, facts: &[Fact], decisions: &[Decision]);

    /// A task of the application is about to be given room there that is not lent.
    fn starting(&mut self, world: &World, app: AppId, node: NodeId, phase: &PhaseKey);

    /// A container of the application is about to take that much there, of lent room if it `borrows`: it starts or goes on.
    fn placing(&mut self, world: &World, app: AppId, node: NodeId, room: Resource, borrows: bool);

    /// A fault keeps from the application what it was to be given.
    fn hindered(&mut self, app: AppId);
}

/// The cluster.
pub struct World {
    pub(super) core: Scheduler,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) now: Millis,
    pub(super) agenda: Agenda<Event>,
    pub(super) facts: Vec<Fact>,
    pub(super) late: BTreeMap<u64, Fact>,
    pub(super) last_late: u64,
    pub(super) queues: Vec<Queue>,
    pub(super) held: Held,
    /// The applications that may run, by queue.
    pub(super) active: Vec<BTreeSet<AppId>>,
    pub(super) pending: BTreeSet<AppId>,
    /// What the core said last of those that wait, and of those that they need not wait for.
    pub(super) admissions: Vec<Admission>,
    /// Those whose ApplicationMaster is up.
    pub(super) registered: BTreeSet<AppId>,
    pub(super) machines: Vec<Machine>,
    pub(super) speculation: Option<Speculation>,
    pub(super) backups_at_a_time: usize,
    pub(super) heartbeat: Millis,
    pub(super) master_start: Millis,
    pub(super) task_start: Millis,
    pub(super) resume_ms_per_gb: u64,
    pub(super) tells_progress: bool,
    pub(super) tells_tasks: bool,
    pub(super) apps: Vec<App>,
    pub(super) gone: usize,
    pub(super) containers: BTreeMap<ContainerId, Container>,
    pub(super) next_container: u32,
    pub(super) faults: Faults,
    pub(super) rng: Xoshiro256PlusPlus,
    pub(super) observer: Option<Box<dyn Observer>>,
    pub(super) started: bool,
    /// Every Suspend is refused.
    pub refuse_suspends: bool,
    /// What happened so far.
    pub count: Count,
    /// All decisions so far, with their times, unless nobody observes.
    pub decided: Vec<(Millis, Decision)>,
    /// What steps took, if that is asked for.
    pub timings: Vec<Timing>,
    /// All steps so far, if that is asked for.
    pub steps: Vec<Step>,
    pub(super) remembered: Vec<Record>,
    pub(super) remembers: bool,
    pub(super) timed: bool,
    pub(super) noted: bool,
    pub(super) most_events: u64,
}

/// Building a scenario.
impl World {
    /// An empty cluster with a heartbeat of 1 s that somebody observes, with the seed of all chance in it.
    pub(super) fn observed_by(observer: Box<dyn Observer>, seed: u64) -> World {
        World {
            core: Scheduler::default(),
            properties: BTreeMap::new(),
            now: Millis(0),
            agenda: Agenda::new(),
            facts: Vec::new(),
            late: BTreeMap::new(),
            last_late: 0,
            queues: Vec::new(),
            held: Held::default(),
            active: Vec::new(),
            pending: BTreeSet::new(),
            admissions: Vec::new(),
            registered: BTreeSet::new(),
            machines: Vec::new(),
            speculation: None,
            backups_at_a_time: LEAST_CAP,
            heartbeat: secs(1),
            master_start: Millis(500),
            task_start: Millis(0),
            resume_ms_per_gb: 0,
            tells_progress: false,
            tells_tasks: false,
            apps: Vec::new(),
            gone: 0,
            containers: BTreeMap::new(),
            next_container: 0,
            faults: Faults::default(),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            observer: Some(observer),
            started: false,
            refuse_suspends: false,
            count: Count::default(),
            decided: Vec::new(),
            timings: Vec::new(),
            steps: Vec::new(),
            remembered: Vec::new(),
            remembers: false,
            timed: false,
            noted: false,
            most_events: u64::MAX,
        }
    }

    /// Sets a property `yarn.scheduler.hiatus.<knob>`.
    pub fn set(self, knob: &str, value: &str) -> World {
        self.property(&format!("{CLUSTER_PREFIX}{knob}"), value)
    }

    /// Sets any property.
    pub fn property(mut self, key: &str, value: &str) -> World {
        self.properties.insert(key.to_string(), value.to_string());
        self
    }

    /// How often nodes report.
    pub fn heartbeat(self, heartbeat: Millis) -> World {
        World { heartbeat, ..self }
    }

    /// How long an ApplicationMaster needs from its start to its first asks, and a task from its start to its work.
    pub fn start_times(self, master_start: Millis, task_start: Millis) -> World {
        World { master_start, task_start, ..self }
    }

    /// What continuing a paused container costs, in ms per GiB of its memory.
    pub fn resume_cost(mut self, ms_per_gb: u64) -> World {
        self.resume_ms_per_gb = ms_per_gb;
        self.machines.iter_mut().for_each(|machine| machine.manager.resume_ms_per_gb = ms_per_gb);
        self
    }

    /// Tasks tell their progress with each heartbeat.
    pub fn telling_progress(self) -> World {
        World { tells_progress: true, ..self }
    }

    /// Every task tells with each heartbeat where it is, too.
    pub fn telling_tasks(self) -> World {
        World { tells_tasks: true, ..self.telling_progress() }
    }

    /// What is remembered of jobs is told of those of their class that come later.
    pub fn remembering(self) -> World {
        World { remembers: true, ..self }
    }

    /// One more node.
    pub fn node(mut self, spec: Node) -> World {
        let manager = NodeManager::new(spec.total).resume_cost(self.resume_ms_per_gb);
        self.machines.push(Machine {
            base: spec.clone(),
            spec,
            registered: false,
            manager,
            last_heartbeat: Millis(0),
            counted: Resource::ZERO,
            outbox: Vec::new(),
            delayed: Vec::new(),
            started: Vec::new(),
            ended: Vec::new(),
            schedule: 0,
        });
        self
    }

    /// `count` such nodes.
    pub fn nodes(self, count: usize, spec: &Node) -> World {
        (0..count).fold(self, |world, _| world.node(spec.clone()))
    }

    /// A queue; parents come before children. Without any there is `root.default`.
    pub fn queue(mut self, queue: Queue) -> World {
        self.add_queue(queue);
        self
    }

    /// The same, in place.
    pub fn add_queue(&mut self, queue: Queue) {
        self.queues.push(queue);
    }

    /// One more job.
    pub fn job(mut self, job: Job) -> World {
        self.apps.push(App::new(job));
        self
    }

    /// More jobs.
    pub fn jobs(self, jobs: &[Job]) -> World {
        jobs.iter().fold(self, |world, job| world.job(job.clone()))
    }

    /// What goes wrong.
    pub fn faults(self, faults: Faults) -> World {
        World { faults, ..self }
    }

    /// ApplicationMasters back up slow tasks by that rule.
    pub fn speculating(self, rule: Speculation) -> World {
        World { speculation: Some(rule), ..self }
    }

    /// In any case so many tasks of a stage may be backed up at a time, instead of ten.
    pub fn backups_at_a_time(self, backups_at_a_time: usize) -> World {
        World { backups_at_a_time, ..self }
    }

    /// Without its observer, for measurements.
    pub fn unobserved(self) -> World {
        World { observer: None, ..self }
    }

    /// Notes what each step takes.
    pub fn timed(self) -> World {
        World { timed: true, ..self }
    }

    /// Notes all steps.
    pub fn noted(self) -> World {
        World { noted: true, ..self }
    }

    /// Ends with [`crate::SimulationError::TooMuch`] after so many events.
    pub fn at_most(self, most_events: u64) -> World {
        World { most_events, ..self }
    }

    /// Lets the observer look.
    pub(super) fn observe(&mut self, look: impl FnOnce(&mut dyn Observer, &World)) {
        if let Some(mut observer) = self.observer.take() {
            look(&mut *observer, self);
            self.observer = Some(observer);
        }
    }

    pub(super) fn start(&mut self) {
        self.started = true;
        if self.queues.is_empty() {
            self.queues.push(Queue::new("root.default", 1.0));
        }
        self.queues.insert(0, Queue::new("root", 1.0));
        self.held = Held::new(&self.queues);
        self.active = vec![BTreeSet::new(); self.queues.len()];
        for id in 0..self.apps.len() {
            self.apps[id].queue = self.queue_id(&self.apps[id].job.queue);
        }
        self.restart_core();
        for id in 0..self.machines.len() {
            // Spread over the interval, as they are in life.
            let offset = Millis(self.heartbeat.0 * id as u64 / self.machines.len() as u64);
            self.agenda.schedule(Millis(1) + offset, Event::Heartbeat(NodeId(id as u32), 0));
        }
        for id in 0..self.apps.len() {
            self.agenda.schedule(self.apps[id].job.at, Event::Submit(AppId(id as u32)));
        }
        self.agenda.schedule(TICK, Event::Tick);
    }

    /// # Panics
    /// If a property is wrong: see [`World::check`].
    pub(super) fn settings(&self) -> Settings {
        Settings::parse(&self.properties).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A fresh core that knows settings, queues and nodes.
    pub(super) fn restart_core(&mut self) {
        let settings = self.settings();
        self.core = Scheduler::new(settings.clone());
        self.admissions.clear();
        if let Some(observer) = &mut self.observer {
            observer.restarted(settings);
        }
        self.facts.clear();
        let labels = self.machines.iter().map(|machine| machine.spec.partition);
        let partitions: BTreeSet<_> = labels.chain([PartitionId(0), PartitionId(1)]).collect();
        for (id, queue) in self.queues.iter().enumerate() {
            let parent = queue.path.rsplit_once('.').map(|(parent, _)| self.queue_id(parent));
            let id = QueueId(id as u32);
            let Queue { preemptable, preemptable_within, .. } = *queue;
            let path = queue.path.clone();
            self.facts.push(Fact::Queue(QueueFact { queue: id, parent, path, preemptable, preemptable_within }));
            let share = |partition| {
                let Shares { guaranteed, maximum } = queue.shares(partition);
                Fact::QueueShare { queue: id, partition, guaranteed, maximum }
            };
            self.facts.extend(partitions.iter().map(|partition| share(*partition)));
            let UserLimits { sure, most } = queue.users;
            self.facts.push(Fact::UserLimits { queue: id, sure, most });
        }
    }
}
