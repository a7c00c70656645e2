//! Letting time pass: events, and steps of the core.

use crate::error::SimulationError;
use crate::faults::Faults;
use crate::job::{gb, millis, secs};
use crate::world::{Event, Step, Timing, World, TICK};
use hiatus_core::fact::{Exit, Fact, PhaseKey, Places};
use hiatus_core::recurring::Note;
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId};
use rand::Rng;
use std::time::Instant;

/// Steps at one and the same time until nothing is left to decide.
const MOST_STEPS_AT_ONCE: u32 = 10_000;

/// How long the last job may take beside all work, done one task at a time on the slowest node, waiting and faults included.
const UNREASONABLE: Millis = Millis(20_000_000);

impl World {
    /// Runs until everything submitted is finished.
    ///
    /// # Panics
    /// If a law is broken; one of them is that every job finishes.
    pub fn run(&mut self) -> &mut World {
        if let Err(error) = self.finish() {
            panic!("law 8: {error}, at {:?}: {:?}", self.now, self.unfinished());
        }
        self
    }

    /// Runs until everything submitted is finished.
    ///
    /// # Errors
    /// Jobs that never finish: [`SimulationError::Stuck`]; more events than there may be: [`SimulationError::TooMuch`].
    pub fn finish(&mut self) -> Result<&mut World, SimulationError> {
        self.finish_while(&|| true)
    }

    /// The same, for as long as that is `wanted`.
    ///
    /// # Errors
    /// See [`World::finish`], and [`SimulationError::Unwanted`].
    pub fn finish_while(&mut self, wanted: &dyn Fn() -> bool) -> Result<&mut World, SimulationError> {
        let last = self.apps.iter().map(|app| app.job.at).max().unwrap_or_default();
        let work_s = self.apps.iter().map(|app| app.job.work_s()).sum::<f64>();
        let specs = self.machines.iter().map(|machine| &machine.spec);
        let slowest = specs.map(|spec| spec.cpu_time.max(spec.io_time)).fold(1.0, f64::max);
        let work = millis(work_s * slowest);
        let deadline = self.now.max(last) + UNREASONABLE + work;
        while self.gone < self.apps.len() {
            if self.now >= deadline {
                return Err(self.stuck());
            }
            if !wanted() {
                return Err(SimulationError::Unwanted);
            }
            if self.count.events >= self.most_events {
                let (all, events) = (self.apps.len(), self.count.events);
                return Err(SimulationError::TooMuch { unfinished: all - self.gone, all, events });
            }
            self.advance();
        }
        Ok(self)
    }

    fn stuck(&self) -> SimulationError {
        let unfinished = || self.apps.iter().filter(|app| app.finished.is_none());
        let masters = self.containers.values().filter(|container| container.is_master);
        SimulationError::Stuck {
            unfinished: unfinished().count(),
            all: self.apps.len(),
            job: unfinished().next().map_or_else(String::new, |app| app.job.name.clone()),
            masters_mb: masters.map(|master| master.phase.resource.memory_mb).sum(),
            total_mb: self.machines.iter().map(|machine| machine.spec.total.memory_mb).sum(),
        }
    }

    /// Runs until that time.
    pub fn run_until(&mut self, until: Millis) -> &mut World {
        while !self.started || self.agenda.next().is_some_and(|at| at <= until) {
            self.advance();
        }
        self.now = until;
        self
    }

    /// Tells the core something more with the next step.
    pub fn tell(&mut self, fact: Fact) -> &mut World {
        self.facts.push(fact);
        self
    }

    /// Changes a property `yarn.scheduler.hiatus.<knob>` while everything runs.
    ///
    /// # Panics
    /// If the value is wrong.
    pub fn configure(&mut self, knob: &str, value: &str) -> &mut World {
        self.properties.insert(format!("{CLUSTER_PREFIX}{knob}"), value.to_string());
        let settings = self.settings();
        if let Some(observer) = &mut self.observer {
            observer.configured(settings.clone());
        }
        self.core.configure(settings);
        self
    }

    /// From now on nothing goes wrong any more, and nothing is parked.
    pub fn calm(&mut self) -> &mut World {
        self.faults = Faults::default();
        let parked: Vec<_> = self.apps.iter().filter(|app| app.parked).map(|app| app.job.name.clone()).collect();
        parked.iter().for_each(|name| self.park(name, false));
        self
    }

    /// All that happens at the next moment at which something happens, and the core's answer if it is told anything.
    fn advance(&mut self) {
        if !self.started {
            self.start();
        }
        let Some(now) = self.agenda.next() else { return };
        self.now = now;
        let mut ticked = false;
        while let Some(event) = self.agenda.pop_at(now) {
            self.count.events += 1;
            ticked |= matches!(event, Event::Tick);
            self.happen(event);
        }
        if ticked || !self.facts.is_empty() {
            self.step();
        }
    }

    /// Tells the core the facts and carries out what it decides, until it has nothing to add.
    pub(super) fn step(&mut self) {
        let mut decisions = Vec::new();
        // Each refusal rules something out until time passes, so that there is an end to it.
        for _ in 0..MOST_STEPS_AT_ONCE {
            self.garble_facts();
            let mut facts = std::mem::take(&mut self.facts);
            decisions.clear();
            let began = self.timed.then(|| (self.core.planned(), Instant::now()));
            self.core.step(self.now, &facts, &mut decisions);
            if let Some((planned, began)) = began {
                let (spent, planned) = (began.elapsed(), self.core.planned() != planned);
                self.timings.push(Timing { spent, planned });
            }
            self.remembered.extend(self.core.notes().iter().filter_map(|note| match note {
                Note::Ended(record) => Some(record.clone()),
                Note::Came { .. } => None,
            }));
            self.count.steps += 1;
            self.count.facts += facts.len() as u64;
            if self.observer.is_some() {
                self.observe(|observer, world| observer.after_step(world, &facts, &decisions));
                self.decided.extend(decisions.iter().map(|decision| (self.now, *decision)));
            }
            if self.noted {
                let (facts, decisions) = (facts.clone(), decisions.clone());
                self.steps.push(Step { now: self.now, facts, decisions });
            }
            facts.clear();
            self.facts = facts;
            for decision in &decisions {
                self.carry_out(*decision);
            }
            if self.core.reviews_admission() {
                self.admit();
            }
            if self.facts.is_empty() {
                return;
            }
        }
        panic!("law 8: decisions and refusals without end at {:?}", self.now);
    }

    pub(super) fn schedule(&mut self, at: Millis, event: Event) {
        self.agenda.schedule(at, event);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Submit(app) => self.submit(app),
            Event::Heartbeat(node, schedule) => self.node_heartbeat(node, schedule),
            Event::Answer(node) => {
                let messages = std::mem::take(&mut self.machine(node).delayed);
                self.deliver(node, messages);
            }
            Event::Launch(id) => self.launch(id),
            Event::Registered(app, attempt) => self.master_registered(app, attempt),
            Event::Timer(node, timer) => self.timer(node, timer),
            Event::Unheard(id) => self.unheard(id),
            Event::Orphaned(app, attempt) => self.orphaned(app, attempt),
            Event::Late(number) => self.facts.extend(self.late.remove(&number)),
            Event::Tick => self.tick(),
        }
    }

    fn tick(&mut self) {
        self.schedule(self.now + TICK, Event::Tick);
        self.relieve_starving();
        self.speculate();
        self.ask_again();
        if self.chance(self.faults.change_job) {
            let app = AppId(self.rng.random_range(0..self.apps.len()) as u32);
            let leaf = self.leaves()[self.rng.random_range(0..self.leaves().len())].clone();
            let priority = (self.rng.random_range(0..12) - 9).max(0);
            self.change_job(app, &leaf, priority);
        }
        if self.chance(self.faults.park_job) {
            let app = &self.apps[self.rng.random_range(0..self.apps.len())];
            let (name, parked) = (app.job.name.clone(), app.parked);
            self.park(&name, !parked);
        }
        if self.chance(self.faults.restart) {
            self.restart();
        }
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.random_bool(probability)
    }

    /// Doubles facts and invents some about the unknown, as the faults say.
    fn garble_facts(&mut self) {
        if self.faults.double_fact > 0.0 {
            let mut told = Vec::with_capacity(self.facts.len());
            for fact in std::mem::take(&mut self.facts) {
                // Heartbeats are counted, by agreement: each is told once.
                let again = !matches!(fact, Fact::Heartbeat { .. }) && self.chance(self.faults.double_fact);
                told.extend(again.then(|| fact.clone()));
                told.push(fact);
            }
            self.facts = told;
        }
        if self.chance(self.faults.unknown_fact) {
            let (app, node, container) = (AppId(u32::MAX), NodeId(u32::MAX), ContainerId(u32::MAX));
            let key = PhaseKey { priority: 1, partition: PartitionId(9), resource: gb(1) };
            let strange = [
                Fact::Completed { container, exit: Exit::Killed },
                Fact::Demoted { container },
                Fact::Heartbeat { node, paused: 1, waiting: 0 },
                Fact::Asked { app, phase: key, count: 3, places: Places::Anywhere },
                Fact::NodeRemoved { node },
                Fact::AttemptEnded { app, keep_containers: true },
                Fact::AppRemoved { app, succeeded: true },
            ];
            self.facts.push(strange[self.rng.random_range(0..strange.len())].clone());
        }
    }

    /// All nodes register right now.
    pub fn register_all(&mut self) {
        if !self.started {
            self.start();
        }
        for id in (0..self.machines.len() as u32).map(NodeId) {
            self.register(id);
        }
        self.step();
    }

    /// The node says nothing for that long.
    pub fn silence(&mut self, id: NodeId, span: Millis) {
        let at = self.now + span;
        self.put_off_heartbeat(id, at);
    }

    pub(super) fn put_off_heartbeat(&mut self, id: NodeId, at: Millis) {
        let machine = self.machine(id);
        machine.schedule += 1;
        let schedule = machine.schedule;
        self.schedule(at, Event::Heartbeat(id, schedule));
    }

    /// How long a lost node stays away.
    pub(super) fn away() -> Millis {
        secs(20)
    }
}
