//! Applications as the ResourceManager and their ApplicationMasters see them.

use crate::app::Life;
use crate::node_manager::Process;
use crate::nodes::TASK_TIMEOUT;
use crate::world::{Event, Machine, World};
use hiatus_core::admit::Admission;
use hiatus_core::fact::{AppFact, Exit, Fact, PhaseKey};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// For how long MapReduce lets a map wait before it kills a reduce for it whatever the headroom
/// (`mapreduce.job.reducer.unconditional-preempt.delay.sec`, by default).
const HANGING: Millis = Millis(300_000);

impl World {
    pub(super) fn submit(&mut self, id: AppId) {
        self.tell_app(id);
        self.wait(id);
    }

    /// The application waits to be let in, with an ask for its ApplicationMaster.
    fn wait(&mut self, id: AppId) {
        self.set_life(id, Life::Pending);
        self.ask(id, self.apps[id.0 as usize].master_key(), 1);
        self.activate();
    }

    fn set_life(&mut self, id: AppId, life: Life) {
        let (before, queue) = (self.apps[id.0 as usize].life, self.apps[id.0 as usize].queue.0 as usize);
        if life == Life::Active {
            self.active[queue].insert(id);
        } else {
            self.active[queue].remove(&id);
        }
        self.gone += usize::from(life == Life::Gone && before != Life::Gone);
        if life == Life::Pending {
            self.pending.insert(id);
        } else {
            self.pending.remove(&id);
        }
        self.app_mut(id).life = life;
    }

    pub(super) fn tell_app(&mut self, id: AppId) {
        let fact = self.app_fact(id);
        self.facts.push(fact);
        let runs = self.apps[id.0 as usize].job.runs.iter();
        self.facts.extend(runs.map(|run| Fact::Ran { app: id, run: *run }));
        let earlier = self.apps[id.0 as usize].job.earlier.iter();
        self.facts.extend(earlier.flat_map(|record| record.facts(id)));
        if self.remembers {
            let class = self.apps[id.0 as usize].job.class();
            let known = self.remembered.iter().filter(|record| record.class == class);
            self.facts.extend(known.flat_map(|record| record.facts(id)));
        }
        if self.apps[id.0 as usize].parked {
            self.facts.push(Fact::AppParked { app: id, parked: true });
        }
    }

    /// What the ResourceManager tells of an application when it comes.
    pub fn app_fact(&self, id: AppId) -> Fact {
        let app = &self.apps[id.0 as usize];
        Fact::App(AppFact {
            app: id,
            queue: app.queue,
            user: app.job.user,
            priority: app.job.priority,
            told_at_ms: self.now.0,
            name: app.job.name.clone(),
            class: app.job.class(),
            tags: app.job.tags.clone(),
            unmanaged: false,
            application_type: app.job.application_type.clone(),
        })
    }

    /// Lets pending applications run as far as their queues' ApplicationMaster shares go, as CapacityScheduler: of a higher priority first,
    /// then as the core has them, of whom it has not spoken yet last.
    pub(super) fn activate(&mut self) {
        let mut pending: Vec<_> = self.pending.iter().copied().collect();
        let waits = |admission: &Admission| match admission {
            Admission::Waits { app, .. } => Some(*app),
            Admission::GivesWay { .. } | Admission::Holds { .. } => None,
        };
        let order: BTreeMap<AppId, usize> =
            self.admissions.iter().filter_map(waits).enumerate().map(|(place, app)| (app, place)).collect();
        pending.sort_by_key(|id| {
            (Reverse(self.apps[id.0 as usize].job.priority), order.get(id).copied().unwrap_or(usize::MAX))
        });
        self.let_in(&pending, &BTreeSet::new());
    }

    /// The core has spoken of admission: first in its order, then beyond the limit whom it has room for, without counting whoever gives
    /// way.
    pub(super) fn admit(&mut self) {
        self.admissions = self.core.admissions();
        self.activate();
        let (mut giving_way, mut beyond) = (BTreeSet::new(), Vec::new());
        for admission in &self.admissions {
            match admission {
                Admission::GivesWay { app } => giving_way.extend(Some(*app)),
                Admission::Waits { app, beyond: true } if self.pending.contains(app) => beyond.push(*app),
                Admission::Waits { .. } | Admission::Holds { .. } => {}
            }
        }
        self.let_in(&beyond, &giving_way);
    }

    /// Lets those run, one after the other, as far as their queues' ApplicationMaster shares go; what those of `uncounted` hold does not
    /// count.
    fn let_in(&mut self, waiting: &[AppId], uncounted: &BTreeSet<AppId>) {
        let memory_mb = self.held.offered(PartitionId(0)).memory_mb as f64;
        let mut counted: BTreeMap<QueueId, i64> = BTreeMap::new();
        for id in waiting.iter().copied() {
            let (queue, master_mb) = (self.apps[id.0 as usize].queue, self.apps[id.0 as usize].job.master.memory_mb);
            let inside = &self.active[queue.0 as usize];
            let of = |app: &AppId| self.apps[app.0 as usize].job.master.memory_mb;
            let held_mb = counted.entry(queue).or_insert_with(|| inside.difference(uncounted).map(of).sum());
            let limit_mb = (self.queues[queue.0 as usize].master_share * memory_mb) as i64;
            if *held_mb + master_mb <= limit_mb || *held_mb == 0 {
                *held_mb += master_mb;
                self.set_life(id, Life::Active);
                self.facts.push(Fact::AppActive { app: id, active: true });
            }
        }
    }

    pub(super) fn ask(&mut self, app: AppId, phase: PhaseKey, count: u32) {
        self.app_mut(app).asks.insert(phase, count);
        self.facts.push(Fact::Asked { app, phase, count, places: phase.places() });
    }

    pub(super) fn master_registered(&mut self, id: AppId, attempt: u32) {
        let app = self.app_mut(id);
        if app.attempt == attempt && app.master.is_some() {
            app.registered = true;
            self.registered.insert(id);
            self.tell_blacklist(id);
            if self.tells_progress {
                self.tell_tasks(id);
            }
            self.progress(id);
        }
    }

    /// How many tasks of each kind the job has, asked for or not.
    pub(super) fn tell_tasks(&mut self, app: AppId) {
        let tasks = self.apps[app.0 as usize].tasks();
        self.facts.extend(tasks.map(|(priority, total, done)| Fact::Tasks { app, priority, total, done }));
    }

    /// Where the ApplicationMaster wants nothing.
    pub(super) fn tell_blacklist(&mut self, id: AppId) {
        let app = &self.apps[id.0 as usize];
        let nodes = app.job.blacklist.iter().filter(|_| app.registered);
        self.facts.extend(nodes.map(|node| Fact::Blacklisted { app: id, node: *node }));
    }

    /// The ApplicationMaster looks at its tasks: asks for what is missing, or ends the job.
    pub(super) fn progress(&mut self, id: AppId) {
        let now = self.now;
        let app = self.app_mut(id);
        if !app.registered || app.finished.is_some() {
            return;
        }
        if app.is_done() {
            app.finished = Some(now);
            if let Some(master) = app.master {
                self.end_process(master, Exit::Succeeded);
            }
            return;
        }
        let headroom = self.headroom(id);
        for (key, count) in self.apps[id.0 as usize].wanted(headroom) {
            if self.app_mut(id).asks.get(&key).copied().unwrap_or(0) != count {
                self.ask(id, key, count);
            }
        }
        self.give_back(id);
    }

    /// ApplicationMasters that fetch new containers say at the same time what they want, and count those among it. What they asked so the
    /// last time they mend first.
    pub(super) fn ask_again(&mut self) {
        if self.faults.ask_again == 0.0 {
            return;
        }
        let registered: Vec<_> = self.registered.iter().copied().collect();
        for id in registered {
            self.progress(id);
            if !self.chance(self.faults.ask_again) {
                continue;
            }
            let app = &self.apps[id.0 as usize];
            let mut asks = app.asks.clone();
            let held = app.containers.iter().filter_map(|id| self.containers.get(id));
            for unheard in held.filter(|container| !container.launched && !container.is_master) {
                *asks.entry(unheard.phase).or_default() += 1;
            }
            for (key, count) in asks {
                if self.apps[id.0 as usize].asks.get(&key) != Some(&count) {
                    self.ask(id, key, count);
                }
            }
        }
    }

    /// How many tasks more the job could start by the ResourceManager's books; it matters only to early reduces.
    fn headroom(&self, id: AppId) -> u32 {
        let job = &self.apps[id.0 as usize].job;
        let Some(first) = job.stages.first() else { return 0 };
        let (early, partition) = (job.shuffle.is_some(), first.partition.unwrap_or(job.partition));
        let nodes = (0..self.machines.len() as u32).map(NodeId).filter(|_| early);
        let serves = |machine: &Machine| machine.registered && machine.spec.partition == partition;
        let registered = nodes.filter(|node| serves(&self.machines[node.0 as usize]));
        registered.map(|node| first.size.times_in(self.room(node))).fold(0, u32::saturating_add)
    }

    /// What the first stage has done so far can be fetched by tasks of the second that hold containers, if those come early.
    pub(super) fn offer_outputs(&mut self, id: AppId) {
        if self.apps[id.0 as usize].job.shuffle.is_none() {
            return;
        }
        let (now, (done, _)) = (self.now, self.apps[id.0 as usize].maps());
        let containers: Vec<_> = self.apps[id.0 as usize].containers.iter().copied().collect();
        for container in containers {
            let Some(found) = self.containers.get(&container) else { continue };
            if found.task.is_some_and(|task| task.stage == 1) {
                let node = found.node;
                self.machine(node).manager.offer(now, container, done);
            }
        }
    }

    /// Jobs whose maps starve give back one more container, though they got nothing for the last one: it may have been too small, or
    /// went to somebody else. Those with early reduces do where the ResourceManager's books have no room, all after [`HANGING`].
    pub(super) fn relieve_starving(&mut self) {
        let now = self.now;
        let registered: Vec<_> = self.registered.iter().copied().collect();
        for id in registered {
            let app = self.app_mut(id);
            let blocked = app.finished.is_none() && app.blocks_itself().is_some();
            app.blocked_since = blocked.then(|| app.blocked_since.unwrap_or(now));
            let Some(since) = app.blocked_since else { continue };
            let early = app.job.shuffle.is_some();
            if now.since(since) >= HANGING || (early && self.headroom(id) == 0) {
                self.app_mut(id).gave_back = false;
                self.give_back(id);
            }
        }
    }

    /// One container of a stage that waits for an earlier one goes back if that needs room and has none.
    fn give_back(&mut self, id: AppId) {
        let app = self.app_mut(id);
        if app.gave_back {
            return;
        }
        let Some(stage) = app.blocks_itself() else { return };
        let containers = self.apps[id.0 as usize].containers.iter().rev().copied();
        let of_stage = |container: &ContainerId| {
            self.containers.get(container).and_then(|found| found.task).is_some_and(|task| task.stage == stage)
        };
        if let Some(container) = containers.into_iter().find(of_stage) {
            self.app_mut(id).gave_back = true;
            self.complete(container, Exit::Killed);
        }
    }

    /// The stage before is done: tasks that hold their containers already begin to work.
    pub(super) fn open_next_stage(&mut self, id: AppId, done: usize) {
        let now = self.now;
        if !self.apps[id.0 as usize].is_open(done + 1) {
            return;
        }
        let waiting: Vec<_> = self.apps[id.0 as usize].containers.iter().copied().collect();
        for container in waiting {
            let Some(found) = self.containers.get(&container) else { continue };
            if found.task.is_some_and(|task| task.stage == done + 1) {
                let node = found.node;
                self.machine(node).manager.open(now, container);
                self.start_timers(node);
            }
        }
    }

    /// An attempt is over. The next one waits for its turn like a new application.
    pub(super) fn attempt_ended(&mut self, id: AppId, keep_containers: bool) {
        self.registered.remove(&id);
        let app = self.app_mut(id);
        app.attempt += 1;
        app.registered = false;
        app.blocked_since = None;
        app.master = None;
        app.asks.clear();
        let over = app.finished.is_some();
        if over || !keep_containers {
            let containers: Vec<_> = app.containers.iter().copied().collect();
            for container in containers {
                self.complete(container, Exit::Killed);
            }
        }
        self.set_life(id, if over { Life::Gone } else { Life::Pending });
        let keep_containers = keep_containers && !over;
        self.facts.push(Fact::AttemptEnded { app: id, keep_containers });
        if keep_containers {
            let attempt = self.apps[id.0 as usize].attempt;
            self.schedule(self.now + TASK_TIMEOUT, Event::Orphaned(id, attempt));
        }
        if over {
            self.facts.push(Fact::AppRemoved { app: id, succeeded: over });
            self.activate();
        } else {
            self.wait(id);
        }
    }

    /// Tasks that reach no ApplicationMaster give up, but for suspended ones, which will. Without that they may keep the room that others
    /// need to end, whose ApplicationMasters are all that may run in the queue: no next attempt could ever start.
    pub(super) fn orphaned(&mut self, id: AppId, attempt: u32) {
        let app = &self.apps[id.0 as usize];
        if app.attempt != attempt || app.registered {
            return;
        }
        let gives_up = |id: &ContainerId| {
            let found = self.containers.get(id).filter(|found| !found.is_master);
            let process = found.and_then(|found| self.machines[found.node.0 as usize].manager.processes.get(id));
            process.is_some_and(Process::is_running)
        };
        let giving_up: Vec<_> = app.containers.iter().copied().filter(gives_up).collect();
        for container in giving_up {
            self.end_process(container, Exit::Failed);
        }
        self.schedule(self.now + TASK_TIMEOUT, Event::Orphaned(id, attempt));
    }

    /// Fails the job's ApplicationMaster.
    pub fn fail_master(&mut self, name: &str) {
        if let Some(master) = self.app(name).master {
            self.end_process(master, Exit::Failed);
        }
    }

    /// Moves the job to another queue, with another priority.
    pub fn change_job(&mut self, app: AppId, queue: &str, priority: i32) {
        let to: QueueId = self.queue_id(queue);
        self.hold(|container| container.app == app, false);
        let found = self.app_mut(app);
        found.job.queue = queue.to_string();
        found.job.priority = priority;
        let (from, is_active, is_live) = (found.queue, found.life == Life::Active, found.is_live());
        found.queue = to;
        self.hold(|container| container.app == app, true);
        if is_active {
            self.active[from.0 as usize].remove(&app);
            self.active[to.0 as usize].insert(app);
        }
        if is_live {
            self.facts.push(Fact::AppChanged { app, queue: to, priority });
        }
    }

    /// The job's queue does not let it run any more.
    pub fn deactivate(&mut self, name: &str) {
        let app = self.app_id(name);
        self.set_life(app, Life::Ahead);
        self.facts.push(Fact::AppActive { app, active: false });
    }

    /// Puts the job aside, or takes it up again.
    pub fn park(&mut self, name: &str, parked: bool) {
        let app = self.app_id(name);
        self.app_mut(app).parked = parked;
        if self.app(name).is_live() {
            self.facts.push(Fact::AppParked { app, parked });
        }
    }

    /// Puts one container aside, or takes it up again.
    pub fn park_container(&mut self, container: ContainerId, parked: bool) {
        if let Some(found) = self.containers.get_mut(&container) {
            found.parked = parked;
            self.facts.push(Fact::ContainerParked { container, parked });
        }
    }

    /// Ends the application as `yarn application -kill` does.
    pub fn kill_job(&mut self, name: &str) {
        let (id, now) = (self.app_id(name), self.now);
        self.app_mut(id).finished = Some(now);
        self.attempt_ended(id, false);
    }
}
