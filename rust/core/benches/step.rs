//! What a step of the core costs: `cargo bench -p hiatus-core --bench step [-- --nodes 10000 --jobs 5000]`. Nodes of ten
//! containers, three queues; the driver plays ResourceManager, nodes and masters, and carries out whatever is decided. Only
//! [`Scheduler::step`] is timed, by the CPU time of its thread, and counted. `-- --copies`: what a copy of the scheduler costs
//! instead, which forecasts make under their caller's lock.

use cpu_time::ThreadTime;
use hiatus_core::decision::Decision;
use hiatus_core::fact::{AppFact, ContainerFact, Exit, Fact, Found, NodeFact, PhaseKey, Places, QueueFact, Rejection};
use hiatus_core::settings::Settings;
use hiatus_core::units::{AppId, ContainerId, JobClass, Millis, NodeId, PartitionId, QueueId, Resource, UserId};
use hiatus_core::Scheduler;
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::collections::BTreeMap;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SLOTS: u32 = 10;
const ROUND: Millis = Millis(1_000);
const QUEUES: &[(&str, f64)] = &[("root.a", 0.5), ("root.b", 0.3), ("root.c", 0.2)];

/// What asks and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// Applications want a fifth more than there is; every container lives ten rounds on average.
    Churn,
    /// The same, but they want half of what there is.
    Half,
    /// Everything is taken, nothing ends, everybody wants more.
    Full,
    /// Room everywhere, and whoever asks is at a limit of its user or queue.
    Limited,
    /// Room for half a container on every node, and asks for whole ones.
    Fragmented,
}

impl Load {
    const ALL: [Load; 5] = [Load::Churn, Load::Half, Load::Full, Load::Limited, Load::Fragmented];

    fn fill(self) -> f64 {
        match self {
            Load::Churn | Load::Full | Load::Fragmented => 1.2,
            Load::Half | Load::Limited => 0.5,
        }
    }

    fn ends(self) -> bool {
        matches!(self, Load::Churn | Load::Half | Load::Limited)
    }
}

#[derive(Default)]
struct App {
    want: u32,
    asked: u32,
    held: u32,
}

/// Times of steps, and what they allocated.
#[derive(Default)]
struct Steps {
    spent: Vec<Duration>,
    allocations: usize,
}

impl Steps {
    fn quantiles(&mut self) -> [f64; 3] {
        self.spent.sort_unstable();
        [0.5, 0.99, 1.0].map(|part| {
            let at = ((self.spent.len() as f64 * part) as usize).min(self.spent.len().saturating_sub(1));
            self.spent.get(at).map_or(0.0, |spent| spent.as_secs_f64() * 1e6)
        })
    }
}

struct Driver {
    core: Scheduler,
    load: Load,
    now: Millis,
    nodes: u32,
    apps: Vec<App>,
    containers: BTreeMap<ContainerId, (AppId, NodeId)>,
    ends: BTreeMap<u64, Vec<ContainerId>>,
    last: u32,
    round: u64,
    chance: u64,
    facts: Vec<Fact>,
    decisions: Vec<Decision>,
    heartbeats: Steps,
    plans: Steps,
    placed: u64,
}

impl Driver {
    fn new(policy: &str, load: Load, nodes: u32, jobs: u32) -> Driver {
        let key = |name: &str| format!("yarn.scheduler.hiatus.{name}");
        let settings = BTreeMap::from([(key("policy"), policy.to_string())]);
        let settings = Settings::parse(&settings).unwrap_or_else(|error| panic!("{error}"));
        let mut driver = Driver {
            core: Scheduler::new(settings),
            load,
            now: Millis(0),
            nodes,
            apps: (0..jobs).map(|_| App::default()).collect(),
            containers: BTreeMap::new(),
            ends: BTreeMap::new(),
            last: 0,
            round: 0,
            chance: 1,
            facts: Vec::new(),
            decisions: Vec::new(),
            heartbeats: Steps::default(),
            plans: Steps::default(),
            placed: 0,
        };
        driver.begin();
        driver
    }

    fn begin(&mut self) {
        for (id, (path, guaranteed)) in [("root", 1.0)].iter().chain(QUEUES).enumerate() {
            let (queue, parent) = (QueueId(id as u32), (id > 0).then_some(QueueId(0)));
            let fact = QueueFact { queue, parent, path: path.to_string(), preemptable: true, preemptable_within: true };
            self.facts.push(Fact::Queue(fact));
            let (partition, guaranteed) = (PartitionId(0), *guaranteed);
            self.facts.push(Fact::QueueShare { queue, partition, guaranteed, maximum: 1.0 });
        }
        let half = if self.load == Load::Fragmented { 512 } else { 0 };
        for node in (0..self.nodes).map(NodeId) {
            let total = Resource::new(i64::from(SLOTS) * 1024 + half, i64::from(SLOTS) + 1);
            let (partition, shareable, can_suspend) = (PartitionId(0), true, true);
            self.facts.push(Fact::Node(NodeFact {
                node,
                total,
                partition,
                shareable,
                can_suspend,
                decommissioning: false,
                ram_and_swap_mb: None,
                side: None,
            }));
            self.facts.push(Fact::Heartbeat { node, paused: 0, waiting: 0 });
        }
        let want = (f64::from(self.nodes * SLOTS) * self.load.fill() / self.apps.len() as f64) as u32;
        for (id, app) in self.apps.iter_mut().enumerate() {
            app.want = want.max(1);
            let queue = QueueId(1 + id as u32 % QUEUES.len() as u32);
            let app = AppId(id as u32);
            let fact = AppFact {
                app,
                queue,
                user: UserId(id as u32 % 7),
                priority: 0,
                told_at_ms: 0,
                name: format!("app{id}"),
                class: JobClass(0),
                tags: Vec::new(),
                unmanaged: true,
                application_type: "SPARK".to_string(),
            };
            self.facts.extend([Fact::App(fact), Fact::AppActive { app, active: true }]);
        }
    }

    fn next_chance(&mut self) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance
    }

    fn ask(&mut self, id: u32, count: u32) {
        let app = AppId(id);
        let phase = PhaseKey { priority: 20, partition: PartitionId(0), resource: Resource::new(1024, 1) };
        self.apps[id as usize].asked = count;
        self.facts.extend([Fact::AsksReplaced { app }, Fact::Asked { app, phase, count, places: Places::Anywhere }]);
    }

    /// Steps until there is nothing more to do now.
    fn steps(&mut self) {
        loop {
            let planned = self.core.planned();
            self.decisions.clear();
            let facts = std::mem::take(&mut self.facts);
            let region = Region::new(ALLOCATOR);
            let began = ThreadTime::now();
            self.core.step(self.now, &facts, &mut self.decisions);
            let spent = began.elapsed();
            let steps = if self.core.planned() == planned { &mut self.heartbeats } else { &mut self.plans };
            steps.spent.push(spent);
            steps.allocations += region.change().allocations;
            self.facts = facts;
            self.facts.clear();
            for decision in std::mem::take(&mut self.decisions) {
                self.carry_out(decision);
            }
            if self.facts.is_empty() {
                return;
            }
        }
    }

    fn carry_out(&mut self, decision: Decision) {
        match decision {
            Decision::Assign { app, node, .. } if self.load == Load::Limited && self.at_limit(app) => {
                self.facts.push(Fact::AssignRejected { app, node, reason: Rejection::Limit });
            }
            Decision::Assign { app, node, count, .. } => {
                for _ in 0..count {
                    self.start(app, node);
                }
            }
            Decision::Suspend { container, .. } => self.facts.push(Fact::Demoted { container }),
            Decision::Resume { container } => self.facts.push(Fact::Promoted { container }),
            Decision::Kill { container, .. } => self.end(container),
            Decision::AssignLent { .. } => unreachable!("no queue of the benchmark lends"),
        }
    }

    /// Users may hold what their applications have asked for at first, less a quarter.
    fn at_limit(&self, app: AppId) -> bool {
        let app = &self.apps[app.0 as usize];
        app.held * 4 >= app.want * 3
    }

    fn start(&mut self, app: AppId, node: NodeId) {
        let (container, found) = (ContainerId(self.last), &mut self.apps[app.0 as usize]);
        self.last += 1;
        self.placed += 1;
        found.held += 1;
        found.asked = found.asked.saturating_sub(1);
        self.containers.insert(container, (app, node));
        let phase = PhaseKey { priority: 20, partition: PartitionId(0), resource: Resource::new(1024, 1) };
        let state = Found::New;
        self.facts.push(Fact::Allocated(ContainerFact { container, app, node, phase, is_master: false, state }));
        self.facts.push(Fact::Launched { container });
        if self.load.ends() {
            let at = self.round + 1 + self.next_chance() % 20;
            self.ends.entry(at).or_default().push(container);
        }
    }

    fn end(&mut self, container: ContainerId) {
        let Some((app, _)) = self.containers.remove(&container) else { return };
        self.apps[app.0 as usize].held -= 1;
        self.facts.push(Fact::Completed { container, exit: Exit::Succeeded });
    }

    /// All applications ask, at one and the same moment.
    fn morning(&mut self) {
        for id in 0..self.apps.len() as u32 {
            self.ask(id, self.apps[id as usize].want);
        }
        self.steps();
        while self.core.has_more() {
            self.now = self.now + Millis(10);
            self.steps();
        }
    }

    /// A heartbeat of each node, spread over a second, in which containers end and their applications ask again.
    fn round(&mut self) {
        self.round += 1;
        let ending = self.ends.remove(&self.round).unwrap_or_default();
        let mut ending = ending.into_iter();
        let each = ending.len() / self.nodes as usize + 1;
        let begun = self.now;
        for node in 0..self.nodes {
            self.now = begun + Millis(ROUND.0 * u64::from(node) / u64::from(self.nodes));
            for container in ending.by_ref().take(each).collect::<Vec<_>>() {
                let app = self.containers.get(&container).map(|(app, _)| *app);
                self.end(container);
                if let Some(AppId(id)) = app {
                    self.ask(id, self.apps[id as usize].want.saturating_sub(self.apps[id as usize].held));
                }
            }
            self.facts.push(Fact::Heartbeat { node: NodeId(node), paused: 0, waiting: 0 });
            self.steps();
        }
        self.now = begun + ROUND;
    }
}

fn measure(policy: &str, load: Load, nodes: u32, jobs: u32) {
    let before = Region::new(ALLOCATOR);
    let mut driver = Driver::new(policy, load, nodes, jobs);
    driver.steps();
    let (placed, began) = (driver.placed, driver.heartbeats.spent.len() + driver.plans.spent.len());
    driver.morning();
    let all = driver.heartbeats.spent.iter().chain(&driver.plans.spent).skip(began);
    let (morning, longest) =
        all.fold((Duration::ZERO, Duration::ZERO), |(sum, most), one| (sum + *one, most.max(*one)));
    let burst = (driver.placed - placed) as f64 / morning.as_secs_f64();
    let bytes = before.change().bytes_allocated as isize - before.change().bytes_deallocated as isize;
    for _ in 0..3 {
        driver.round();
    }
    (driver.heartbeats, driver.plans, driver.placed) = (Steps::default(), Steps::default(), 0);
    for _ in 0..3 {
        driver.round();
    }
    let spent: Duration = driver.heartbeats.spent.iter().chain(&driver.plans.spent).sum();
    let [p50, p99, _] = driver.heartbeats.quantiles();
    let [plan50, plan99, plan_most] = driver.plans.quantiles();
    let beats = driver.heartbeats.spent.len().max(1);
    println!(
        "| {policy} | {load:?} | {nodes} × {jobs} | {:.2} M | {:.1} | {p50:.1} | {p99:.1} | {:.1} | {:.1} | {:.1} | {:.2} | {:.0} | {} |",
        burst / 1e6,
        longest.as_secs_f64() * 1e3,
        plan50 / 1e3,
        plan99 / 1e3,
        plan_most / 1e3,
        driver.heartbeats.allocations as f64 / beats as f64,
        driver.placed as f64 / spent.as_secs_f64() / 1e3,
        bytes / 1024 / 1024,
    );
}

/// Copies of a full cluster, after each of which it works on.
const COPIES: usize = 50;

fn measure_copies(policy: &str, nodes: u32, jobs: u32) {
    let mut driver = Driver::new(policy, Load::Full, nodes, jobs);
    driver.steps();
    driver.morning();
    let (mut copies, mut kept) = (Steps::default(), 0);
    for _ in 0..COPIES {
        let region = Region::new(ALLOCATOR);
        let began = ThreadTime::now();
        let copy = driver.core.clone();
        copies.spent.push(began.elapsed());
        let change = region.change();
        copies.allocations += change.allocations;
        kept = change.bytes_allocated - change.bytes_deallocated;
        drop(copy);
        driver.now = driver.now + ROUND;
        driver.facts.push(Fact::Heartbeat { node: NodeId(0), paused: 0, waiting: 0 });
        driver.steps();
    }
    let cluster = driver.core.cluster();
    let (jobs, containers) = (cluster.jobs().len(), cluster.containers().len());
    let [p50, p99, most] = copies.quantiles().map(|us| us / 1e3);
    println!(
        "| {policy} | {nodes} | {jobs} | {containers} | {} | {p50:.2} | {p99:.2} | {most:.2} | {} | {:.2} |",
        nodes as usize + jobs + containers,
        copies.allocations / COPIES,
        kept as f64 / 1024.0 / 1024.0,
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| arguments.iter().position(|given| given == name).and_then(|at| arguments.get(at + 1));
    let number = |name: &str, default| option(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (nodes, jobs) = (number("--nodes", 10_000), number("--jobs", 5_000));
    if arguments.iter().any(|given| given == "--copies") {
        println!("| policy | nodes | jobs | containers | in all | copy p50, ms | p99 | max | allocations | MiB |");
        println!("|---|---|---|---|---|---|---|---|---|---|");
        // The largest cluster, and one of 20,000 things in all: the default of `forecast-max-size`.
        for (nodes, jobs) in [(nodes, jobs), (nodes / 6, jobs / 3)] {
            measure_copies(option("--policy").map_or("hfsp", String::as_str), nodes, jobs);
        }
        return;
    }
    println!("| policy | load | nodes × jobs | burst, decisions/s | longest step of it, ms | heartbeat p50, µs | p99 | plan p50, ms | p99 | max | allocations a heartbeat | thousand containers/s | MiB |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for policy in
        option("--policy").map_or(vec!["hfsp", "flex", "srpt", "fair", "las", "fifo"], |one| vec![one.as_str()])
    {
        for load in Load::ALL
            .into_iter()
            .filter(|load| option("--load").is_none_or(|one| one.eq_ignore_ascii_case(&format!("{load:?}"))))
        {
            measure(policy, load, nodes, jobs);
        }
    }
}
