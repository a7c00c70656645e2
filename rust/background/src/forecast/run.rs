//! One forward run: a copy of the core, and a model of the cluster that tells it facts and carries out what it decides. All
//! ApplicationMasters are MapReduce's here: reduces are asked for when no map waits for a container, and begin to work when all maps
//! are done. Limits that only CapacityScheduler knows, failures and arrivals there are none.

use crate::forecast::times::{kinds, Draws, Evidence};
use crate::forecast::Rules;
use hiatus_core::decision::{Decision, Reason};
use hiatus_core::fact::{ContainerFact, Exit, Fact, Found, PhaseKey, Rejection};
use hiatus_core::state::{Job, State};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, Resource};
use hiatus_core::Scheduler;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};

/// Nothing is looked at beyond.
const HORIZON: Millis = Millis(7 * 24 * 3_600_000);

/// Steps without a decision after which time may leap: what is suspended settles within two heartbeats.
const CALM: u32 = 3;

/// Decisions, and what becomes of them, at one moment.
const ROUNDS: u32 = 50;

/// What ends within this part of the time that has passed since the begin counts as one moment.
const GRAIN: u64 = 100;

/// The shortest leap over a time in which nothing ends; later ones are this part of the time that has passed.
const LEAP: Millis = Millis(10_000);
const LEAP_PART: u64 = 20;

/// Tasks tell their progress so often.
const TOLD_EVERY: Millis = Millis(5_000);

/// What became of a job.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    pub end: Option<Millis>,
    /// A container of it is suspended at the begin, or was suspended for another job.
    pub suspended: bool,
}

impl Fate {
    fn of(job: &Job) -> Fate {
        Fate { end: None, suspended: !job.suspended.is_empty() }
    }
}

/// A container that is no ApplicationMaster.
#[derive(Clone, Copy, Debug)]
struct Task {
    app: AppId,
    phase: PhaseKey,
    worked: Millis,
    /// `None`: nobody knows when it ends, and it never does.
    total: Option<Millis>,
    /// Since when it works, if it does.
    works_since: Option<Millis>,
    told: Millis,
}

impl Task {
    fn end(&self) -> Option<Millis> {
        Some(self.works_since? + self.total?.since(self.worked))
    }

    fn worked(&self, now: Millis) -> Millis {
        self.worked + self.works_since.map_or(Millis(0), |since| now.since(since))
    }
}

/// One run.
pub(crate) struct Run<'a> {
    core: Scheduler,
    draws: Draws<'a>,
    rules: Rules,
    now: Millis,
    began: Millis,
    facts: Vec<Fact>,
    told: u64,
    /// Nodes that report.
    nodes: Vec<NodeId>,
    tasks: BTreeMap<ContainerId, Task>,
    ends: BTreeSet<(Millis, ContainerId)>,
    /// Given out, and started with their node's next report.
    starting: Vec<ContainerId>,
    /// Jobs whose ApplicationMasters have something to do.
    stirred: BTreeSet<AppId>,
    next: u32,
    fates: BTreeMap<AppId, Fate>,
    /// Jobs of which the end is awaited.
    awaited: BTreeSet<AppId>,
}

impl<'a> Run<'a> {
    pub fn new(core: Scheduler, evidence: &'a Evidence, rules: &Rules, number: u64) -> Run<'a> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(rules.seed.wrapping_mul(1_000).wrapping_add(number));
        let cluster = core.cluster();
        let now = cluster.now();
        let mut nodes: Vec<NodeId> =
            cluster.nodes().iter().filter(|(_, node)| node.is_live(now)).map(|(id, _)| *id).collect();
        nodes.sort_unstable();
        let jobs = || cluster.jobs().keys().copied();
        let mut run = Run {
            draws: Draws::new(evidence, rng),
            rules: *rules,
            now,
            began: now,
            facts: Vec::new(),
            told: 0,
            nodes,
            tasks: BTreeMap::new(),
            ends: BTreeSet::new(),
            starting: Vec::new(),
            stirred: jobs().collect(),
            next: cluster.containers().keys().map(|id| id.0).max().map_or(0, |last| last + 1),
            fates: cluster.jobs().iter().map(|(app, job)| (*app, Fate::of(job))).collect(),
            awaited: jobs().filter(|app| evidence.unknown(*app).is_none()).collect(),
            core,
        };
        run.take_up();
        run
    }

    /// Containers as they are at the begin.
    fn take_up(&mut self) {
        let cluster = self.core.cluster();
        let mut there: Vec<_> = cluster.containers().iter().filter(|(_, container)| !container.is_master).collect();
        there.sort_unstable_by_key(|(id, _)| **id);
        for (id, container) in there {
            let Some(job) = cluster.jobs().get(&container.app) else { continue };
            let worked = job.worked(*id, container, self.now);
            let drawn = self.draws.total(container.app, container.phase, worked);
            // Who says how far it is knows better than what others took.
            let told = job.progress_of(*id, container.phase).filter(|done| *done > 0.0 && worked > Millis(0));
            let told = told.map(|done| Millis((worked.0 as f64 / done.min(1.0)) as u64 + 1));
            let works = !matches!(container.state, State::Allocated) && !container.state.is_suspended();
            let works_since = (works && !job.waits_for_maps(container.phase)).then_some(self.now);
            let (app, phase, total) = (container.app, container.phase, drawn.map(|drawn| told.unwrap_or(drawn)));
            let task = Task { app, phase, worked, total, works_since, told: self.now };
            self.ends.extend(task.end().map(|end| (end, *id)));
            self.tasks.insert(*id, task);
            if container.state == State::Allocated {
                self.starting.push(*id);
            }
        }
    }

    /// Runs until all has ended of which the end is awaited, or it is enough.
    pub fn ahead(mut self) -> BTreeMap<AppId, Fate> {
        let mut calm = 0;
        while !self.awaited.is_empty() && self.told < self.rules.facts && self.now.since(self.began) < HORIZON {
            self.pass(calm >= CALM);
            calm = if self.settle() { 0 } else { calm + 1 };
        }
        for app in &self.awaited {
            self.fates.entry(*app).or_default().end = None;
        }
        self.fates
    }

    /// Time passes: by a heartbeat, or to the next end.
    fn pass(&mut self, leap: bool) {
        let passed = self.now.since(self.began).0;
        let soon = self.now + self.rules.heartbeat;
        let next_end = self.ends.first().map(|(end, _)| *end);
        let far = self.now + LEAP.max(Millis(passed / LEAP_PART));
        self.now = if leap { soon.max(next_end.map_or(far, |end| end.min(far))) } else { soon };
        for id in std::mem::take(&mut self.starting) {
            self.facts.push(Fact::Launched { container: id });
            self.work(id);
        }
        // Half a heartbeat: in life nodes report at times of their own, and what ends is as often heard of too late as too early.
        let moment = self.now + Millis((self.rules.heartbeat.0 / 2).max(passed / GRAIN));
        while let Some((end, id)) = self.ends.first().copied().filter(|(end, _)| *end <= moment) {
            self.ends.remove(&(end, id));
            if let Some(task) = self.tasks.remove(&id) {
                self.facts.push(Fact::Completed { container: id, exit: Exit::Succeeded });
                self.stirred.insert(task.app);
                if let Some(fate) = self.fates.get_mut(&task.app) {
                    fate.end = fate.end.max(Some(end)); // of its last task so far
                }
            }
        }
        self.tell_progress();
        let cluster = self.core.cluster();
        for node in &self.nodes {
            let paused = cluster.nodes().get(node).map_or(0, |node| node.suspended.len() as u32);
            self.facts.push(Fact::Heartbeat { node: *node, paused, waiting: 0 });
        }
    }

    /// Sizes are learnt from first tasks: those say how far they are.
    fn tell_progress(&mut self) {
        let cluster = self.core.cluster();
        for (id, task) in &mut self.tasks {
            let (Some(total), Some(_)) = (task.total, task.works_since) else { continue };
            if self.now.since(task.told) < TOLD_EVERY {
                continue;
            }
            task.told = self.now;
            if cluster.jobs().get(&task.app).is_some_and(|job| job.is_first_task(*id, task.phase)) {
                let done = task.worked(self.now).0 as f64 / total.0.max(1) as f64;
                self.facts.push(Fact::Progress { container: *id, done: Some(done.min(1.0)) });
            }
        }
    }

    /// The core decides until it has nothing to add. Whether it decided anything.
    fn settle(&mut self) -> bool {
        let mut decided = false;
        let mut decisions = Vec::new();
        for _ in 0..ROUNDS {
            decisions.clear();
            let (facts, stirred) = (std::mem::take(&mut self.facts), std::mem::take(&mut self.stirred));
            self.told += facts.len() as u64;
            self.core.step(self.now, &facts, &mut decisions);
            let mut spent = BTreeMap::new();
            for decision in &decisions {
                self.carry_out(*decision, &mut spent);
            }
            decided |= !decisions.is_empty();
            // What they see has been told to the core.
            stirred.into_iter().for_each(|app| self.attend(app));
            if self.facts.is_empty() && self.stirred.is_empty() {
                break;
            }
        }
        decided
    }

    fn carry_out(&mut self, decision: Decision, spent: &mut BTreeMap<(AppId, PhaseKey), u32>) {
        match decision {
            Decision::Assign { app, node, count, room } => {
                let mut left = room;
                let given = (0..count).take_while(|_| self.give_out(app, node, &mut left, None, spent)).count();
                if given == 0 {
                    self.facts.push(Fact::AssignRejected { app, node, reason: Rejection::Room });
                }
            }
            Decision::AssignLent { app, node, priority } => {
                let mut left = Resource::new(i64::MAX, i64::MAX);
                if !self.give_out(app, node, &mut left, Some(priority), spent) {
                    self.facts.push(Fact::AssignRejected { app, node, reason: Rejection::Room });
                }
            }
            Decision::Suspend { container, reason } => {
                self.rest(container);
                self.facts.push(Fact::Demoted { container });
                let app = self.tasks.get(&container).map(|task| task.app);
                if let Some(fate) = app.and_then(|app| self.fates.get_mut(&app)) {
                    fate.suspended |= matches!(reason, Reason::Preempted { .. });
                }
            }
            Decision::Resume { container } => {
                self.facts.push(Fact::Promoted { container });
                self.work(container);
            }
            Decision::Kill { container, .. } => {
                self.rest(container);
                self.facts.push(Fact::Completed { container, exit: Exit::Killed });
                // Its work is missing in what the job has to do, and asked for again.
                self.stirred.extend(self.tasks.remove(&container).map(|task| task.app));
            }
        }
    }

    /// Gives the application one container on the node, as YARN would: what comes first in its order and fits.
    fn give_out(
        &mut self,
        app: AppId,
        node: NodeId,
        left: &mut Resource,
        priority: Option<i32>,
        spent: &mut BTreeMap<(AppId, PhaseKey), u32>,
    ) -> bool {
        let cluster = self.core.cluster();
        let (Some(job), Some(home)) = (cluster.jobs().get(&app), cluster.nodes().get(&node)) else { return false };
        let fits = |key: &PhaseKey| {
            let wanted = job.phases.get(key).map_or(0, |phase| phase.pending);
            let taken = spent.get(&(app, *key)).copied().unwrap_or(0);
            let there = key.partition == home.partition || (home.shareable && key.partition.0 == 0);
            there && wanted > taken && key.resource.fits_in(*left)
        };
        let key = job.phases.keys().find(|key| priority.is_none_or(|only| only == key.priority) && fits(key)).copied();
        let Some(phase) = key else { return false };
        let is_master = !job.asks_for_tasks();
        *left -= phase.resource;
        *spent.entry((app, phase)).or_default() += 1;
        let container = ContainerId(self.next);
        self.next += 1;
        self.facts.push(Fact::Allocated(ContainerFact { container, app, node, phase, is_master, state: Found::New }));
        self.starting.push(container);
        if !is_master {
            let total = self.draws.total(app, phase, Millis(0));
            let task = Task { app, phase, worked: Millis(0), total, works_since: None, told: self.now };
            self.tasks.insert(container, task);
        }
        self.stirred.insert(app);
        true
    }

    /// The container works from now on, unless it waits for maps.
    fn work(&mut self, id: ContainerId) {
        let Some(task) = self.tasks.get_mut(&id) else { return };
        let job = self.core.cluster().jobs().get(&task.app);
        if task.works_since.is_none() && !job.is_some_and(|job| job.waits_for_maps(task.phase)) {
            task.works_since = Some(self.now);
            self.ends.extend(task.end().map(|end| (end, id)));
        }
    }

    fn rest(&mut self, id: ContainerId) {
        let Some(task) = self.tasks.get_mut(&id) else { return };
        if let Some(end) = task.end() {
            self.ends.remove(&(end, id));
        }
        task.worked = task.worked(self.now);
        task.works_since = None;
    }

    /// The ApplicationMaster does what is to be done: reduces begin to work, tasks are asked for, the job ends.
    fn attend(&mut self, app: AppId) {
        let Some(job) = self.core.cluster().jobs().get(&app) else { return };
        if !job.is_map_reduce() || job.master.is_none() {
            return;
        }
        let maps_wait = job.phases.iter().any(|(key, phase)| key.is_of_maps() && phase.pending > 0);
        let mut over = self.awaited.contains(&app);
        let (master, mut asks) = (job.master, Vec::new());
        for key in kinds(job, self.core.cluster()) {
            let known = job.phases.get(&key);
            let unasked = job.unasked(key);
            if unasked > 0 && !(key.is_of_reduces() && maps_wait) {
                let count = known.map_or(0, |phase| phase.pending) + unasked.unsigned_abs();
                let places = known.map_or_else(|| key.places(), |phase| phase.places);
                asks.push(Fact::Asked { app, phase: key, count, places });
            }
            let masters = u32::from(master.is_some_and(|(_, of)| of == key));
            over &= unasked <= 0 && known.is_none_or(|phase| phase.left() <= masters);
        }
        let may_work = |id: &&ContainerId| !self.core.cluster().is_suspended(**id) && !self.starting.contains(id);
        let waiting: Vec<_> = match job.maps_to_do() {
            0 => job.containers.iter().filter(may_work).copied().collect(),
            _ => Vec::new(),
        };
        self.facts.extend(asks);
        waiting.into_iter().for_each(|id| self.work(id));
        if over {
            self.awaited.remove(&app);
            self.facts.extend(master.map(|(container, _)| Fact::Completed { container, exit: Exit::Succeeded }));
            self.facts.push(Fact::AppRemoved { app, succeeded: true });
            if let Some(fate) = self.fates.get_mut(&app) {
                fate.end = Some(fate.end.unwrap_or(self.now));
            }
        }
    }
}
