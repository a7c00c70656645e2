//! Nodes: their heartbeats, the answers to them, what they run, and how they are lost.

use crate::node_manager::{Fetching, Message, NodeManager, Process, Timer, Work};
use crate::world::{Container, Event, World};
use hiatus_core::fact::{ContainerFact, Exit, Fact, Found, TaskReport};
use hiatus_core::predoop::Shuffle;
use hiatus_core::units::{ContainerId, Millis, NodeId, PartitionId, Resource};
use rand::Rng;
use std::collections::BTreeSet;

/// The part of a map's time after which it sorts and writes what it made.
const READS: f64 = 0.9;

/// What a task of that stage would say of where it is.
fn report(stage: usize, process: &Process, (done, total): (u32, u32), now: Millis) -> Option<TaskReport> {
    match stage {
        0 => {
            let part = process.done(now);
            Some(TaskReport::Map { read: (part / READS).min(1.0), partitions: part >= READS })
        }
        1 if process.gated => {
            let fetched = process.fetched(now).unwrap_or(done);
            Some(TaskReport::Shuffle(Shuffle { fetched, done, total }))
        }
        1 => Some(TaskReport::Shuffle(Shuffle { fetched: total, done: total, total })),
        _ => None,
    }
}

/// MapReduce's `mapreduce.task.timeout`.
pub(super) const TASK_TIMEOUT: Millis = Millis(600_000);

/// Work of an ApplicationMaster: it ends when its job does.
pub(super) const ENDLESS: Millis = Millis(u64::MAX / 4);

impl World {
    pub(super) fn node_heartbeat(&mut self, id: NodeId, schedule: u32) {
        if self.machine(id).schedule != schedule {
            return;
        }
        let mut next = self.now + self.heartbeat;
        if !self.machine(id).registered {
            self.register(id);
        } else if self.chance(self.faults.lose_node) {
            return self.lose_node(id);
        } else {
            next = self.report(id);
        }
        if self.chance(self.faults.silence) {
            next = next + Millis(self.rng.random_range(3_000..20_000));
        }
        self.schedule(next, Event::Heartbeat(id, schedule));
    }

    /// Everything a node says in a heartbeat, and the answer to it; when its next one is due.
    fn report(&mut self, id: NodeId) -> Millis {
        let now = self.now;
        let machine = self.machine(id);
        machine.last_heartbeat = now;
        let (mut started, mut ended) = (std::mem::take(&mut machine.started), std::mem::take(&mut machine.ended));
        let (paused, waiting) = (machine.manager.paused(), machine.manager.waiting());
        // What is decided from now on is in the answer to the next heartbeat.
        let answer = std::mem::take(&mut machine.outbox);
        for container in started.drain(..) {
            if let Some(found) = self.containers.get_mut(&container) {
                found.launched = true;
                self.facts.push(Fact::Launched { container });
            }
        }
        for (container, exit) in ended.drain(..) {
            self.complete(container, exit);
        }
        if self.chance(self.faults.change_node) {
            self.change_node(id);
        }
        if self.tells_progress {
            self.tell_progress(id);
        }
        self.facts.push(Fact::Heartbeat { node: id, paused, waiting });
        let machine = self.machine(id);
        if machine.ended.is_empty() {
            machine.ended = ended;
        }
        if machine.started.is_empty() {
            machine.started = started;
        }
        if self.chance(self.faults.lose_answer) {
            // The node repeats the heartbeat and gets the same answer; the scheduler does not hear of it.
            self.machine(id).delayed = answer;
            self.schedule(now + self.heartbeat, Event::Answer(id));
            return now + self.heartbeat + self.heartbeat;
        }
        self.deliver(id, answer);
        now + self.heartbeat
    }

    /// What ApplicationMasters would say, if somebody asked them, of the tasks from which phases are sized: how far they are,
    /// and how many are done by now.
    fn tell_progress(&mut self, node: NodeId) {
        let jobs = &self.core.cluster().jobs();
        let mut told = BTreeSet::new();
        for (id, process) in &self.machines[node.0 as usize].manager.processes {
            let Some(found) = self.containers.get(id) else { continue };
            let Some(task) = found.task else { continue };
            if self.tells_tasks {
                let maps = self.apps[found.app.0 as usize].maps();
                self.facts.extend(
                    report(task.stage, process, maps, self.now)
                        .map(|report| Fact::TaskReport { container: *id, report }),
                );
            }
            if jobs.get(&found.app).is_some_and(|job| job.is_first_task(*id, found.phase)) {
                let done = (!process.gated).then(|| process.done(self.now));
                self.facts.push(Fact::Progress { container: *id, done });
                told.insert(found.app);
            }
        }
        told.into_iter().for_each(|app| self.tell_tasks(app));
    }

    /// A node joins, or comes back to a restarted ResourceManager, and tells what it runs.
    pub(super) fn register(&mut self, id: NodeId) {
        let now = self.now;
        self.set_registered(id, true);
        let machine = self.machine(id);
        machine.last_heartbeat = now;
        machine.started.clear();
        let processes: Vec<_> = machine.manager.processes.iter().map(|(id, p)| (*id, p.guaranteed)).collect();
        let ended = std::mem::take(&mut machine.ended);
        self.facts.push(self.node_fact(id));
        for (container, guaranteed) in processes {
            if !self.containers.contains_key(&container) {
                self.machine(id).outbox.push(Message::Kill(container));
                continue;
            }
            self.set_counted(container, guaranteed);
            let Some(found) = self.containers.get_mut(&container) else { continue };
            found.launched = true;
            let state = if guaranteed { Found::Running } else { Found::Suspended };
            let (app, phase, is_master, parked) = (found.app, found.phase, found.is_master, found.parked);
            self.facts.push(Fact::Allocated(ContainerFact { container, app, node: id, phase, is_master, state }));
            if parked {
                self.facts.push(Fact::ContainerParked { container, parked });
            }
        }
        for (container, exit) in ended {
            self.complete(container, exit);
        }
        self.activate();
    }

    /// Loses the node with all it runs. It comes back empty.
    pub fn lose_node(&mut self, id: NodeId) {
        let (now, resume_ms_per_gb) = (self.now, self.resume_ms_per_gb);
        self.set_registered(id, false);
        let machine = self.machine(id);
        let empty = NodeManager::new(machine.spec.total).resume_cost(resume_ms_per_gb);
        let lost_manager = std::mem::replace(&mut machine.manager, empty);
        machine.outbox.clear();
        machine.delayed.clear();
        machine.started.clear();
        machine.ended.clear();
        self.facts.push(Fact::NodeRemoved { node: id });
        let lost: Vec<_> = self.containers.iter().filter(|(_, c)| c.node == id).map(|(id, _)| *id).collect();
        for container in lost {
            if let (Some(found), Some(process)) =
                (self.containers.get_mut(&container), lost_manager.processes.get(&container))
            {
                found.ran.get_or_insert(process.ran(now));
            }
            self.complete(container, Exit::Killed);
        }
        self.put_off_heartbeat(id, now + World::away());
    }

    /// Whether the ResourceManager knows the node, and counts what it offers.
    pub(super) fn set_registered(&mut self, id: NodeId, registered: bool) {
        self.offer(id, false);
        self.machine(id).registered = registered;
        self.offer(id, true);
    }

    /// What the node offers is counted, or not any more.
    fn offer(&mut self, id: NodeId, counts: bool) {
        let machine = &self.machines[id.0 as usize];
        if machine.registered {
            let total = machine.spec.total;
            self.held.offer(machine.spec.partition, if counts { total } else { Resource::ZERO - total });
        }
    }

    /// More or less memory, or lent to another partition.
    fn change_node(&mut self, id: NodeId) {
        let (resize, more) = (self.rng.random_bool(0.5), self.rng.random_bool(0.5));
        if resize {
            let extra = if more { Resource::new(2048, 0) } else { Resource::ZERO };
            self.resize(id, self.machines[id.0 as usize].base.total + extra);
        } else if id.0 > 1 && self.machine(id).base.partition == PartitionId(0) {
            self.relabel(id, u32::from(more));
        }
    }

    /// The node offers that much from now on, whatever it has given out.
    pub fn resize(&mut self, id: NodeId, total: Resource) {
        self.offer(id, false);
        let machine = self.machine(id);
        machine.spec.total = total;
        machine.manager.total = total;
        self.offer(id, true);
        let fact = self.node_fact(id);
        self.facts.push(fact);
    }

    /// Puts the node into another partition, with all it runs.
    pub fn relabel(&mut self, id: NodeId, partition: u32) {
        self.offer(id, false);
        self.hold(|container| container.node == id, false);
        self.machine(id).spec.partition = PartitionId(partition);
        self.hold(|container| container.node == id, true);
        self.offer(id, true);
        let fact = self.node_fact(id);
        self.facts.push(fact);
    }

    /// The node is being decommissioned from now on.
    pub fn decommission(&mut self, id: NodeId) {
        self.machine(id).spec.decommissioning = true;
        let fact = self.node_fact(id);
        self.facts.push(fact);
    }

    pub(super) fn deliver(&mut self, id: NodeId, messages: Vec<Message>) {
        let now = self.now;
        for message in messages {
            let placed = self.machine(id).manager.obey(now, message);
            if let (false, Message::Promote(container)) = (placed, message) {
                self.watch_for_stall(id, container);
            }
            self.start_timers(id);
        }
    }

    /// The ApplicationMaster (or, for itself, the ResourceManager) starts what was allocated.
    pub(super) fn launch(&mut self, id: ContainerId) {
        let now = self.now;
        let Some(container) = self.containers.get(&id) else { return };
        let (node, app) = (container.node, &self.apps[container.app.0 as usize]);
        let work = match container.task {
            Some(task) => {
                let spec = &self.machines[node.0 as usize].spec;
                let slower = app.job.io * spec.io_time + (1.0 - app.job.io) * spec.cpu_time;
                let time = Millis((app.time(task).0 as f64 * slower).round() as u64);
                let ((done, total), shuffle) = (app.maps(), app.job.shuffle.filter(|_| task.stage == 1));
                let fetching = shuffle.map(|shuffle| Fetching::new(shuffle.fetch, done, total));
                Work { time: self.task_start + time, gated: !app.is_open(task.stage), fetching }
            }
            None => ENDLESS.into(),
        };
        let size = container.phase.resource;
        let machine = self.machine(node);
        // A NodeManager reports a queued container as running.
        machine.started.push(id);
        if !machine.manager.start(now, id, size, work) {
            self.watch_for_stall(node, id);
        }
        self.start_timers(node);
    }

    /// A guaranteed container queues on the node. That is the stall if it would run there, did the node only know what the
    /// ResourceManager had demoted before; later demotions are for a node that became smaller meanwhile. What it was told to kill may
    /// still be on its way: that is waited for and comes by itself.
    fn watch_for_stall(&mut self, node: NodeId, id: ContainerId) {
        self.schedule(self.now + TASK_TIMEOUT, Event::Unheard(id));
        let manager = &self.machines[node.0 as usize].manager;
        let (Some(waiting), Some(given)) = (manager.processes.get(&id), self.containers.get(&id)) else { return };
        let room = |stays: &dyn Fn(&Container, &Process) -> bool| {
            let running = manager.processes.iter().filter(|(_, process)| process.is_running());
            let staying =
                running.filter(|(id, process)| self.containers.get(id).is_some_and(|known| stays(known, process)));
            staying.fold(manager.total, |room, (_, process)| room - process.resource)
        };
        let as_decided = room(&|known, _| known.counted);
        let demoted_before = |known: &Container| !known.counted && known.since <= given.since;
        let as_the_node_knows = room(&|known, process| known.counted || (process.guaranteed && demoted_before(known)));
        if waiting.resource.fits_in(as_decided) && !waiting.resource.fits_in(as_the_node_knows) {
            self.count.stalled += 1;
        }
    }

    /// An attempt that still waits to be started has failed for its ApplicationMaster, if its node became too small for it: all else there
    /// may wait for just this one. Elsewhere law 8 is to find what never starts.
    pub(super) fn unheard(&mut self, id: ContainerId) {
        let Some(container) = self.containers.get(&id).filter(|container| !container.is_master) else { return };
        let machine = &self.machines[container.node.0 as usize];
        let process = machine.manager.processes.get(&id);
        let waits = process.is_some_and(|process| process.guaranteed && !process.is_running());
        if waits && !machine.counted.fits_in(machine.spec.total) {
            self.complete(id, Exit::Killed);
        }
    }

    pub(super) fn start_timers(&mut self, id: NodeId) {
        let now = self.now;
        let mut timers = std::mem::take(&mut self.machine(id).manager.timers);
        for timer in timers.drain(..) {
            if timer.run == 1 {
                self.first_run(timer.container);
            }
            if timer.at < now + ENDLESS {
                self.schedule(timer.at, Event::Timer(id, timer));
            }
        }
        self.machine(id).manager.timers = timers;
    }

    fn first_run(&mut self, id: ContainerId) {
        let now = self.now;
        let Some((app, is_master)) = self.containers.get(&id).map(|found| (found.app, found.is_master)) else { return };
        let found = self.app_mut(app);
        if is_master {
            found.first_master.get_or_insert(now);
            let attempt = found.attempt;
            self.schedule(now + self.master_start, Event::Registered(app, attempt));
        } else {
            found.first_task.get_or_insert(now);
        }
    }

    /// A task is done, unless it was interrupted.
    pub(super) fn timer(&mut self, node: NodeId, timer: Timer) {
        let process = self.machine(node).manager.processes.get(&timer.container);
        if !process.is_some_and(|process| process.run == timer.run && process.is_running()) {
            return;
        }
        let exit = if self.chance(self.faults.fail_task) { Exit::Failed } else { Exit::Succeeded };
        self.end_process_on(node, timer.container, exit);
        let Some(app) = self.containers.get(&timer.container).map(|container| container.app) else { return };
        if exit == Exit::Succeeded {
            self.settle(timer.container, true);
            self.progress(app);
        }
        let master = self.app_mut(app).master.filter(|_| self.apps[app.0 as usize].finished.is_none());
        if let (Some(master), true) = (master, self.chance(self.faults.fail_master)) {
            self.end_process(master, Exit::Failed);
        }
    }

    /// A process ends by itself; the ResourceManager hears of it with the node's next heartbeat.
    pub(super) fn end_process(&mut self, id: ContainerId, exit: Exit) {
        if let Some(node) = self.containers.get(&id).map(|container| container.node) {
            self.end_process_on(node, id, exit);
        }
    }

    fn end_process_on(&mut self, node: NodeId, id: ContainerId, exit: Exit) {
        let now = self.now;
        let machine = self.machine(node);
        if let Some(process) = machine.manager.end(now, id) {
            machine.ended.push((id, exit));
            if let Some(found) = self.containers.get_mut(&id) {
                found.ran = Some(process.ran(now));
            }
        }
        self.start_timers(node);
    }

    /// How long the container has run, as far as its node knows.
    pub(super) fn ran(&self, id: ContainerId) -> Millis {
        let Some(container) = self.containers.get(&id) else { return Millis(0) };
        let process: Option<&Process> = self.machines[container.node.0 as usize].manager.processes.get(&id);
        container.ran.or_else(|| process.map(|process| process.ran(self.now))).unwrap_or_default()
    }
}
