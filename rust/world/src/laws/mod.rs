//! The laws of docs/design/laws.md as observers: they look at the core after every step and carry nothing out.
//! A broken law panics with its number. Law 10 (recovery) is a scenario of its own; laws 1 and 8 are partly enforced by
//! the world itself, which refuses what breaks a limit and waits for every job to finish.

mod lasting;
mod lending;
mod room;
mod state;
mod takings;
mod unused;

use crate::job::secs;
use crate::world::{Observer, World};
use hiatus_core::decision::Decision;
use hiatus_core::fact::{Fact, PhaseKey};
use hiatus_core::settings::{Mode, Settings};
use hiatus_core::state::{Claim, Cluster, For};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use hiatus_core::Scheduler;
use lasting::Lasting;
use std::collections::BTreeMap;

/// What time-bound laws may be late by: steps come at ticks, and refused decisions are retried after a rest.
const GRACE: Millis = Millis(30_000);

/// No work may wait for that long beside room that could serve it, if nothing else was placed meanwhile.
const IDLE: Millis = Millis(120_000);

/// Room is collected for a container that was suspended for too long.
fn is_for_overdue(claim: &Claim) -> bool {
    matches!(claim.purpose, For::Resume(_)) && !claim.is_freed()
}

/// Room is collected, for whomever.
fn collects(claim: &Claim) -> bool {
    !claim.is_freed()
}

/// Whether jobs of the queue may take from each other: as its administrator said, unless a knob says otherwise.
fn preempts_within_queue(cluster: &Cluster, settings: &Settings, queue: QueueId) -> bool {
    let queue = &cluster.queues()[&queue];
    settings.queue(&queue.path).preemption_within.unwrap_or(queue.preemptable_within)
}

/// Law 12: a task starts on the side of the cluster to which its job keeps.
fn keeps_to_its_side(core: &Scheduler, app: AppId, node: NodeId, key: &PhaseKey) {
    let (Some(job), Some(node)) = (core.cluster().jobs().get(&app), core.cluster().nodes().get(&node)) else { return };
    let own = job.site.side().filter(|_| job.asks_for_tasks() && key.partition == PartitionId(0));
    assert!(own.is_none() || own == node.side, "law 12: a task of {} on {:?}, not {own:?}", job.name, node.side);
}

/// A node while decisions are carried out.
#[derive(Debug)]
struct Room {
    free: Resource,
    /// What of that is for borrowers only.
    lent: Resource,
    claims: Vec<Claim>,
}

/// Room that somebody could use, and nothing is placed.
#[derive(Debug)]
struct Idle {
    /// What was placed before.
    placed: u64,
    /// For how long that has been so, but for while all of it was being collected.
    spent: Millis,
    /// When that was looked at last, and whether some of it was being collected for nobody.
    seen: (Millis, bool),
}

#[derive(Debug, Default)]
struct Laws {
    settings: Settings,
    shadow: Scheduler,
    /// Room and claims by node while the decisions of one step are carried out.
    books: BTreeMap<NodeId, Room>,
    /// What was collected on each node as containers end, and for whom, after the step before.
    collected: BTreeMap<NodeId, Vec<(AppId, Resource)>>,
    /// If there was room for somebody and nothing was placed.
    idle: Option<Idle>,
    /// When a suspended container was last to be killed: that may be refused.
    condemned: BTreeMap<ContainerId, Millis>,
    /// Since when a container that was suspended for too long waits for no room.
    homeless: Lasting<ContainerId>,
    /// Who has lacked room that could be made.
    shortages: room::Shortages,
    /// What was freed and is not used.
    unused: unused::Unused,
    /// Since when a claim was seen that nobody needs.
    needless: Lasting<(NodeId, AppId, Millis)>,
}

impl Default for World {
    fn default() -> World {
        World::new()
    }
}

impl World {
    /// An empty cluster with a heartbeat of 1 s, whose core is held to the laws.
    pub fn new() -> World {
        World::seeded(1)
    }

    /// The same, with the seed of all chance in it.
    pub fn seeded(seed: u64) -> World {
        World::observed_by(Box::<Laws>::default(), seed)
    }
}

impl Observer for Laws {
    fn restarted(&mut self, settings: Settings) {
        *self = Laws { shadow: Scheduler::new(settings.clone()), settings, ..Laws::default() };
    }

    fn configured(&mut self, settings: Settings) {
        self.shadow.configure(settings.clone());
        self.settings = settings;
    }

    fn hindered(&mut self, app: AppId) {
        self.unused.excuse(app);
    }

    fn starting(&mut self, world: &World, app: AppId, node: NodeId, phase: &PhaseKey) {
        keeps_to_its_side(&world.core, app, node, phase);
    }

    fn placing(&mut self, world: &World, app: AppId, id: NodeId, resource: Resource, borrows: bool) {
        // Law 4: nobody starts in room that was freed for somebody else. Law 14: nobody but who borrows it starts in lent room.
        let Some(node) = world.core.cluster().nodes().get(&id) else { return };
        // What settles is on its way to those who claim it; what is claimed in this step is not free yet.
        let room = self.books.entry(id).or_insert_with(|| Room {
            free: node.total - node.used,
            // With what was promised in this step.
            lent: node.loans.values().fold(Resource::ZERO, |sum, loan| sum + loan.kept()),
            claims: node.claims.clone(),
        });
        if borrows {
            assert!(resource.fits_in(room.lent), "law 14: {app:?} borrows {resource:?} of {room:?} on {id:?}");
            room.lent -= resource;
            room.free -= resource;
            return;
        }
        let of_others = |claim: &&Claim| claim.app != app && !claim.victims.is_empty() && claim.made < world.now;
        let others = room.claims.iter().filter(of_others);
        let free = others.fold(room.free, |free, claim| free - claim.resource);
        assert!(resource.fits_in(free), "law 4: {app:?} takes {resource:?} on {id:?} at {:?}: {room:?}", world.now);
        let regular = room.free - room.lent;
        assert!(resource.fits_in(regular), "law 14: {app:?} takes {resource:?}, which is lent, on {id:?}: {room:?}");
        room.free -= resource;
        let own = |c: &Claim| c.app == app && c.resource == resource && c.purpose == For::Start;
        if let Some(at) = room.claims.iter().position(own) {
            room.claims.remove(at);
        }
    }

    fn after_step(&mut self, world: &World, facts: &[Fact], decisions: &[Decision]) {
        let cluster = world.core.cluster();
        self.books.clear();
        self.determinism(world.now, facts, decisions);
        state::proposals_are_of_this_step(cluster, decisions);
        state::masters_are_left_alone(cluster, decisions);
        state::spared_ones_run_on(world, &self.settings, decisions);
        state::counters_agree(cluster);
        state::sums_agree(world);
        if world.late.is_empty() {
            state::views_agree(world, cluster);
        }
        let takings = takings::find(cluster, decisions);
        takings::guards(&self.settings, cluster, &takings);
        takings::enough_and_no_more(world, decisions, &takings, &self.collected);
        takings::higher_claims(world, &takings);
        takings::threshold(world, &takings);
        takings::guarantees(world, &takings);
        room::masters_strand_nothing(world, &self.settings, &takings);
        takings::suspended_memory(&self.settings, cluster, decisions);
        state::parked_ones_rest(cluster, decisions);
        lending::lent_room_first(world, decisions);
        lending::maps_only(cluster);
        lending::one_lender_each(cluster);
        lending::in_time(&self.settings, cluster, decisions);
        self.suspensions_end(cluster, decisions);
        self.claims_end(cluster);
        self.no_idle_room(world);
        self.shortages.look(world, &self.settings);
        self.unused.look(world, facts);
        let claimed = cluster.nodes().iter().filter(|(_, node)| !node.claims.is_empty());
        let collected = |claims: &[Claim]| {
            claims.iter().filter(|claim| !claim.is_freed()).map(|claim| (claim.app, claim.resource)).collect()
        };
        self.collected = claimed.map(|(id, node)| (*id, collected(&node.claims))).collect();
    }
}

impl Laws {
    /// Law 9: the same facts give the same decisions.
    fn determinism(&mut self, now: Millis, facts: &[Fact], decisions: &[Decision]) {
        let mut again = Vec::new();
        self.shadow.step(now, facts, &mut again);
        assert_eq!(decisions, again, "law 9 at {now:?}");
    }

    /// Law 6: suspended containers have a living owner and do not stay so for ever, unless somebody wants it so.
    fn suspensions_end(&mut self, cluster: &Cluster, decisions: &[Decision]) {
        self.condemned.retain(|id, _| cluster.is_suspended(*id));
        let killed = decisions.iter().filter_map(|decision| match decision {
            Decision::Kill { container, .. } if cluster.is_suspended(*container) => Some((*container, cluster.now())),
            _ => None,
        });
        self.condemned.extend(killed);
        for (id, container) in cluster.suspended() {
            let job = cluster.jobs().get(&container.app);
            let queue = job.and_then(|job| cluster.queues().get(&job.queue));
            let queue = queue.unwrap_or_else(|| panic!("law 6: suspended {id:?} has no owner"));
            if job.is_some_and(|job| job.has_parked(container)) {
                continue;
            }
            let limit = self.settings.queue(&queue.path).max_suspension;
            let spent = cluster.now().since(container.since);
            if self.settings.cluster.mode < Mode::Kill {
                let node = &cluster.nodes()[&container.node];
                let claimed = node.claims.iter().any(|claim| claim.purpose == For::Resume(id));
                let live = node.is_live(cluster.now()) && !node.decommissioning;
                let waits = live && !claimed && !node.loans.contains_key(&id);
                let refused = cluster.now() <= container.barred_until + secs(12);
                if waits && !refused && spent > limit + GRACE {
                    // Its claim ends with what it was refused, or when its node is taken for somebody, and is made anew with a plan.
                    let since = self.homeless.since(id, cluster.now());
                    let bound = self.settings.cluster.plan_interval + secs(2);
                    let ends = cluster.now().since(since) <= bound;
                    assert!(ends, "law 6: {id:?} suspended for {spent:?}, and waits for no room");
                }
                continue;
            }
            // It was tried, and is tried again.
            let tried = self.condemned.get(&id).map_or(Millis(0), |at| at.since(container.since));
            assert!(spent <= tried.max(limit + limit) + GRACE, "law 6: {id:?} suspended for {spent:?}");
        }
        self.homeless.looked();
    }

    /// Law 4: claims of room that was freed end in time, and those that nobody needs at once.
    fn claims_end(&mut self, cluster: &Cluster) {
        for (id, node) in cluster.nodes() {
            for claim in &node.claims {
                let age = cluster.now().since(claim.made);
                // Claims are reviewed with every plan.
                let settings = &self.settings.cluster;
                let overdue = is_for_overdue(claim);
                let limit = if claim.is_freed() { settings.claim_timeout } else { settings.large_ask_timeout };
                let limit = limit + settings.plan_interval + secs(10);
                assert!(overdue || age <= limit, "law 4: {claim:?} on {id:?} is {age:?} old");
                let needed = match claim.purpose {
                    For::Resume(id) => cluster.is_suspended(id),
                    For::Start => cluster.jobs().get(&claim.app).is_some_and(|job| {
                        let mut phases = job.phases.iter();
                        job.may_start()
                            && phases.any(|(key, phase)| key.resource == claim.resource && phase.pending > 0)
                    }),
                };
                if !needed {
                    let key = (*id, claim.app, claim.made);
                    let spent = cluster.now().since(self.needless.since(key, cluster.now()));
                    assert!(spent <= secs(12), "law 4: nobody needs {claim:?} on {id:?} for {spent:?}");
                }
            }
        }
        self.needless.looked();
    }

    /// Law 8: where there is work and room, something is placed.
    fn no_idle_room(&mut self, world: &World) {
        let placed = world.count.placed + world.count.resumed;
        let nodes = world.core.cluster().nodes();
        let claimed =
            |node: NodeId, how: fn(&Claim) -> bool| nodes.get(&node).is_some_and(|node| node.claims.iter().any(how));
        // What is collected for a container that was suspended for too long is kept until that goes on or is killed (law 6).
        let Some(placeable) = world.placeable(|node| !claimed(node, is_for_overdue)) else {
            self.idle = None;
            return;
        };
        // While it is collected for a large ask it is no room; that may be so again and again, if what is proposed between is refused.
        let is_room = world.placeable(|node| !claimed(node, collects)).is_some();
        let before = self.idle.take().filter(|idle| idle.placed == placed);
        let mut idle = before.unwrap_or(Idle { placed, spent: Millis(0), seen: (world.now, false) });
        if let (since, true) = std::mem::replace(&mut idle.seen, (world.now, is_room)) {
            idle.spent = idle.spent + world.now.since(since);
        }
        let Idle { spent, .. } = idle;
        assert!(
            spent <= IDLE,
            "law 8: nothing placed for {spent:?} until {:?}, though there is room: {placeable:?}",
            world.now
        );
        self.idle = Some(idle);
    }
}
