//! The ResourceManager's books: containers, CapacityScheduler's refusals, and how decisions are carried out.

use crate::app::{App, Life};
use crate::held::Whose;
use crate::node_manager::Message;
use crate::spec::Node;
use crate::task::Attempt;
use crate::world::{Container, Event, World};
use hiatus_core::decision::Decision;
use hiatus_core::fact::{ContainerFact, Exit, Fact, Found, PhaseKey, Rejection};
use hiatus_core::state::{Job, UserLimits};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, Resource};
use rand::Rng;
use std::collections::BTreeSet;

/// CapacityScheduler's `minimum-allocation-mb`.
const LEAST_MB: i64 = 1024;

impl World {
    /// The container's task is done, or has to be done again.
    pub(super) fn settle(&mut self, id: ContainerId, done: bool) {
        let Some(container) = self.containers.get_mut(&id) else { return };
        let (app, task, ran) = (container.app, container.task.take(), container.ran);
        let Some(task) = task else { return };
        let rival = self.rival(app, task);
        if rival.is_some() && !done {
            // The other attempt goes on.
            return;
        }
        let stage_is_done = self.app_mut(app).settle(task, done);
        if let (Some(ran), true) = (ran.filter(|_| done), self.speculation.is_some()) {
            let app = self.app_mut(app);
            app.note(Attempt { task, ran, done: 1.0, data: app.time(task).0 as f64 });
        }
        if let Some(rival) = rival {
            self.lost_the_race(rival);
        }
        if task.stage == 0 && done {
            self.offer_outputs(app);
        }
        if stage_is_done {
            self.open_next_stage(app, task.stage);
        }
    }

    /// The container is over for the ResourceManager; a process that still runs is told so.
    pub(super) fn complete(&mut self, id: ContainerId, exit: Exit) {
        let ran = self.ran(id);
        let Some(container) = self.containers.get(&id) else { return };
        let (app, node, is_master) = (container.app, container.node, container.is_master);
        if container.task.is_some() && exit != Exit::Succeeded && ran > Millis(0) {
            let spent = &mut self.app_mut(app).spent;
            spent.lost_tasks += 1;
            spent.wasted_s += ran.seconds();
        }
        self.settle(id, exit == Exit::Succeeded);
        self.note_suspension(id);
        self.set_counted(id, false);
        self.containers.remove(&id);
        self.app_mut(app).containers.remove(&id);
        let machine = self.machine(node);
        if machine.manager.processes.contains_key(&id) {
            machine.outbox.push(Message::Kill(id));
        }
        let fact = Fact::Completed { container: id, exit };
        if self.chance(self.faults.late_fact) {
            self.last_late += 1;
            self.late.insert(self.last_late, fact);
            let at = self.now + Millis(self.rng.random_range(1..3_000));
            self.schedule(at, Event::Late(self.last_late));
        } else {
            self.facts.push(fact);
        }
        if is_master {
            let keep_containers = self.faults.fail_master > 0.0 && self.rng.random_bool(0.3);
            self.attempt_ended(app, keep_containers);
        } else {
            self.progress(app);
        }
    }

    /// Whether the container counts against its node.
    pub(super) fn set_counted(&mut self, id: ContainerId, counted: bool) {
        let now = self.now;
        let Some(container) = self.containers.get_mut(&id).filter(|container| container.counted != counted) else {
            return;
        };
        (container.counted, container.since) = (counted, now);
        let (app, node, size, is_master) =
            (container.app, container.node, container.phase.resource, container.is_master);
        let machine = self.machine(node);
        machine.counted = if counted { machine.counted + size } else { machine.counted - size };
        self.held.hold(self.whose(app, node), is_master, if counted { size.memory_mb } else { -size.memory_mb });
    }

    /// If the container is suspended, that is over now, and so long its memory was held.
    fn note_suspension(&mut self, id: ContainerId) {
        let Some(container) = self.containers.get(&id).filter(|container| !container.counted) else { return };
        let (app, held_s) = (container.app, self.now.since(container.since).seconds());
        let held_mb_s = container.phase.resource.memory_mb as f64 * held_s;
        self.app_mut(app).spent.suspended_mb_s += held_mb_s;
    }

    /// The memory of those containers is whose it is now, or nobody's, before that changes.
    pub(super) fn hold(&mut self, which: impl Fn(&Container) -> bool, counts: bool) {
        let which = |container: &&Container| container.counted && which(container);
        let held = self.containers.values().filter(which);
        let held: Vec<_> = held.map(|c| (self.whose(c.app, c.node), c.is_master, c.phase.resource.memory_mb)).collect();
        for (whose, is_master, memory_mb) in held {
            self.held.hold(whose, is_master, if counts { memory_mb } else { -memory_mb });
        }
    }

    fn allocate(&mut self, app: AppId, node: NodeId, phase: PhaseKey) {
        self.next_container += 1;
        let id = ContainerId(self.next_container);
        let found = self.app_mut(app);
        let is_master = phase == found.master_key();
        *found.asks.entry(phase).or_default() -= 1;
        found.patience = found.job.patience;
        found.gave_back = false;
        found.containers.insert(id);
        let task = if is_master { None } else { found.take(phase) };
        if is_master {
            found.master = Some(id);
        }
        let delay = if is_master { Millis(1) } else { found.job.launch_delay };
        let (counted, since, launched, parked, ran) = (false, self.now, false, false, None);
        self.containers
            .insert(id, Container { app, node, phase, is_master, counted, since, launched, parked, task, ran });
        self.set_counted(id, true);
        let state = Found::New;
        self.facts.push(Fact::Allocated(ContainerFact { container: id, app, node, phase, is_master, state }));
        self.count.placed += 1;
        if is_master || task.is_some() {
            self.schedule(self.now + delay, Event::Launch(id));
        } else {
            // Nothing left to do for it: the ApplicationMaster gives it back.
            self.complete(id, Exit::Killed);
        }
    }

    pub(super) fn room(&self, node: NodeId) -> Resource {
        let machine = &self.machines[node.0 as usize];
        machine.spec.total - machine.counted
    }

    /// Whose memory a container of that application is on that node.
    pub(super) fn whose(&self, app: AppId, node: NodeId) -> Whose {
        let (app, partition) = (&self.apps[app.0 as usize], self.machines[node.0 as usize].spec.partition);
        Whose { queue: app.queue, user: app.job.user, partition }
    }

    /// Whether the application's queue and those above it may grow by that much.
    pub(super) fn within_maximum(&self, app: AppId, node: NodeId, more: Resource) -> bool {
        let Whose { queue, partition, .. } = self.whose(app, node);
        let total = self.held.offered(partition).memory_mb as f64;
        self.held.lineage(queue).iter().all(|above| {
            let maximum = self.queues[above.0 as usize].shares(partition).maximum;
            let grown_mb = self.held.of_queue(*above, partition) + more.memory_mb;
            maximum >= 1.0 || grown_mb as f64 <= maximum * total + 0.5
        })
    }

    /// Whether the application's user may be given such a container of its queue: as CapacityScheduler counts, who is at its limit
    /// may not exceed it by more than one container.
    fn within_user_limit(&self, app: AppId, key: &PhaseKey, node: NodeId) -> bool {
        let whose = self.whose(app, node);
        let (queue, partition) = (&self.queues[whose.queue.0 as usize], whose.partition);
        if queue.users == UserLimits::default() || key.partition != partition {
            return true;
        }
        let active = self.active[whose.queue.0 as usize].iter().map(|other| &self.apps[other.0 as usize]);
        let asking: BTreeSet<_> =
            active.filter(|other| other.asks.values().any(|count| *count > 0)).map(|other| other.job.user).collect();
        let of_active: i64 = asking.iter().map(|user| self.held.of_user(Whose { user: *user, ..whose })).sum();
        let guaranteed = queue.shares(partition).guaranteed * self.held.offered(partition).memory_mb as f64;
        let holds = (self.held.of_users(whose.queue, partition) + LEAST_MB) as f64;
        let part = (of_active + LEAST_MB) as f64 / asking.len().max(1) as f64;
        let limit = part.max(queue.users.sure * guaranteed.max(holds)).min(queue.users.cap(guaranteed));
        let limit = (limit / LEAST_MB as f64).ceil() as i64 * LEAST_MB;
        self.held.of_user(whose) <= limit
    }

    /// Why CapacityScheduler would not give the application's next container out on the node, or which it would. Its turn there ends at
    /// the first of its asks, as in `RegularContainerAllocator.assignContainers`, which passes over other partitions' alone. Unlike there, an
    /// ApplicationMaster may start beyond its user's limit, and does not count: without one, tasks do not end.
    fn next_ask(&mut self, app: AppId, node: NodeId) -> Result<PhaseKey, Rejection> {
        let machine = &self.machines[node.0 as usize];
        let found = &self.apps[app.0 as usize];
        if !machine.registered || found.life != Life::Active {
            return Err(Rejection::Gone);
        }
        if found.shuns(node) {
            return Err(Rejection::Locality);
        }
        let (own, lends) = (machine.spec.partition, machine.spec.shareable);
        // Where its first ask for the node's own partition may not have more, its first for the default one is looked at.
        let guest = Some(PartitionId(0)).filter(|default| lends && *default != own);
        let mut reason = Rejection::Gone;
        for key in [Some(own), guest].into_iter().flatten().filter_map(|partition| found.first_ask(partition)) {
            if !key.resource.fits_in(self.room(node)) {
                return Err(Rejection::Room);
            }
            let is_master = key == found.master_key();
            let within =
                self.within_maximum(app, node, key.resource) && (is_master || self.within_user_limit(app, &key, node));
            if !within {
                reason = Rejection::Limit;
            } else if found.patience > 0 && !is_master {
                self.app_mut(app).patience -= 1;
                return Err(Rejection::Locality);
            } else {
                return Ok(key);
            }
        }
        Err(reason)
    }

    /// What could be placed right now by the ResourceManager's own books on such a node, and where: the first that is found.
    pub(super) fn placeable(&self, there: impl Fn(NodeId) -> bool) -> Option<(AppId, PhaseKey, NodeId)> {
        let nodes = 0..self.machines.len() as u32;
        let live = |node: &NodeId| {
            let machine = &self.machines[node.0 as usize];
            let reports = self.now.since(machine.last_heartbeat) <= self.heartbeat + self.heartbeat;
            machine.registered && reports && !machine.spec.decommissioning
        };
        nodes.map(NodeId).filter(live).filter(|node| there(*node)).find_map(|node| {
            let Node { partition, side, .. } = self.machines[node.0 as usize].spec;
            let room = self.room(node);
            let known = self.core.cluster().nodes().get(&node);
            let lent = known.map_or(Resource::ZERO, |node| node.unlent());
            // Lent room is for what the ResourceManager would give the job next, where that is a map (law 14), and all of it of one
            // lender (law 15).
            let borrows = |app: AppId, key: &PhaseKey| {
                let job = self.core.cluster().jobs().get(&app);
                job.and_then(|job| job.next_maps(partition)).is_some_and(|(next, _)| next == *key)
                    && known.is_some_and(|node| node.one_lends(key.resource))
            };
            let may_start = |app: AppId, key: &PhaseKey| {
                let wanted = |job: &Job| job.phases.get(key).is_none_or(|phase| job.wanted(*key, phase) > 0);
                self.core.cluster().jobs().get(&app).is_none_or(|job| wanted(job) && job.most_on(key, side) > 0)
            };
            let runs = |(_, app): &(usize, &App)| app.life == Life::Active && !app.parked;
            self.apps.iter().enumerate().filter(runs).find_map(|(id, app)| {
                let id = AppId(id as u32);
                let fits = |key: &PhaseKey| {
                    (key.resource.fits_in(room - lent) || (key.resource.fits_in(room) && borrows(id, key)))
                        && may_start(id, key)
                        && self.within_maximum(id, node, key.resource)
                        && self.within_user_limit(id, key, node)
                };
                let first = app.first_ask(partition).filter(|_| !app.shuns(node));
                first.filter(fits).map(|key| (id, key, node))
            })
        })
    }

    pub(super) fn carry_out(&mut self, decision: Decision) {
        if self.chance(self.faults.ignore) {
            if let Decision::Assign { app, .. } | Decision::AssignLent { app, .. } = decision {
                self.observe(|observer, _| observer.hindered(app));
            }
            return;
        }
        match decision {
            Decision::Assign { app, node, count, room } => self.assign(app, node, count, room),
            Decision::AssignLent { app, node, priority } => self.assign_lent(app, node, priority),
            Decision::Suspend { container, .. } => self.suspend(container),
            Decision::Resume { container } => self.resume(container),
            Decision::Kill { container, .. } => self.kill(container),
        }
    }

    fn assign(&mut self, app: AppId, node: NodeId, count: u32, mut room: Resource) {
        for _ in 0..count {
            let refused = self.chance(self.faults.refuse_assign);
            let next = if refused { Err(self.any_reason(app)) } else { self.next_ask(app, node) };
            match next {
                Ok(key) if !key.resource.fits_in(room) => {
                    return self.facts.push(Fact::AssignRejected { app, node, reason: Rejection::Room });
                }
                Ok(key) => {
                    room -= key.resource;
                    self.observe(|observer, world| {
                        observer.starting(world, app, node, &key);
                        observer.placing(world, app, node, key.resource, false);
                    });
                    self.allocate(app, node, key);
                }
                Err(reason) => return self.facts.push(Fact::AssignRejected { app, node, reason }),
            }
        }
    }

    /// One container of that priority; nothing if CapacityScheduler would give out another one first.
    fn assign_lent(&mut self, app: AppId, node: NodeId, priority: i32) {
        let refused = self.chance(self.faults.refuse_assign);
        let next = if refused { Err(self.any_reason(app)) } else { self.next_ask(app, node) };
        match next {
            Ok(key) if key.priority == priority => {
                self.observe(|observer, world| observer.placing(world, app, node, key.resource, true));
                self.allocate(app, node, key);
            }
            Ok(_) => self.facts.push(Fact::AssignRejected { app, node, reason: Rejection::Room }),
            Err(reason) => self.facts.push(Fact::AssignRejected { app, node, reason }),
        }
    }

    fn any_reason(&mut self, app: AppId) -> Rejection {
        self.observe(|observer, _| observer.hindered(app));
        [Rejection::Room, Rejection::Limit, Rejection::Locality, Rejection::Gone][self.rng.random_range(0..4)]
    }

    fn suspend(&mut self, id: ContainerId) {
        let refused = self.refuse_suspends || self.chance(self.faults.refuse_container);
        match self.containers.get(&id) {
            Some(container) if container.counted && container.launched && !refused => {
                let (app, node) = (container.app, container.node);
                self.set_counted(id, false);
                self.app_mut(app).spent.suspensions += 1;
                self.machine(node).outbox.push(Message::Demote(id));
                self.facts.push(Fact::Demoted { container: id });
                self.count.suspended += 1;
            }
            _ => self.refuse(id, Rejection::Gone),
        }
    }

    fn resume(&mut self, id: ContainerId) {
        let Some(container) = self.containers.get(&id).filter(|container| !container.counted) else {
            return self.refuse(id, Rejection::Gone);
        };
        let (app, node, size) = (container.app, container.node, container.phase.resource);
        if self.chance(self.faults.refuse_container) || !size.fits_in(self.room(node)) {
            return self.refuse(id, Rejection::Room);
        }
        if !self.within_maximum(app, node, size) {
            return self.refuse(id, Rejection::Limit);
        }
        let lent = self.core.cluster().nodes().get(&node).is_some_and(|node| node.is_promised(id));
        self.observe(|observer, world| observer.placing(world, app, node, size, lent));
        self.note_suspension(id);
        self.set_counted(id, true);
        self.machine(node).outbox.push(Message::Promote(id));
        self.facts.push(Fact::Promoted { container: id });
        self.count.resumed += 1;
    }

    fn kill(&mut self, id: ContainerId) {
        match self.containers.get(&id).map(|container| container.counted) {
            Some(counted) if !self.chance(self.faults.refuse_container) => {
                self.count.preempted += u64::from(counted);
                self.count.expired += u64::from(!counted);
                self.complete(id, Exit::Killed);
            }
            _ => self.refuse(id, Rejection::Gone),
        }
    }

    fn refuse(&mut self, container: ContainerId, reason: Rejection) {
        self.facts.push(Fact::ContainerRejected { container, reason });
    }

    /// The ResourceManager dies and comes back with work-preserving recovery: nodes and ApplicationMasters tell it what
    /// there is, and demotions that had not reached their nodes never happened.
    pub fn restart(&mut self) {
        self.restart_core();
        self.late.clear();
        for node in (0..self.machines.len() as u32).map(NodeId) {
            self.set_registered(node, false);
            let machine = self.machine(node);
            machine.delayed.clear();
            machine.outbox.retain(|message| matches!(message, Message::Kill(_)));
        }
        let live: Vec<_> =
            (0..self.apps.len() as u32).map(AppId).filter(|id| self.apps[id.0 as usize].is_live()).collect();
        for id in live {
            self.tell_app(id);
            let app = &self.apps[id.0 as usize];
            let asks: Vec<_> = app.asks.iter().map(|(key, count)| (*key, *count)).collect();
            if app.life == Life::Active {
                self.facts.push(Fact::AppActive { app: id, active: true });
                if self.tells_progress {
                    self.tell_tasks(id);
                }
            }
            for (key, count) in asks {
                self.ask(id, key, count);
            }
            self.tell_blacklist(id);
        }
        // What was given out but never reached its node is lost.
        let reached = |id: &ContainerId, node: NodeId| {
            let machine = &self.machines[node.0 as usize];
            machine.manager.processes.contains_key(id) || machine.ended.iter().any(|(ended, _)| ended == id)
        };
        let lost: Vec<_> = self.containers.iter().filter(|(id, c)| !reached(id, c.node)).map(|(id, _)| *id).collect();
        for id in lost {
            self.complete(id, Exit::Killed);
        }
    }
}
