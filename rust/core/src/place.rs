//! Placing: gives a node's room to the jobs in the order of the plan. First those below their targets, then anybody, so
//! that nothing is idle while somebody wants it (law 8); claimed room goes to whom it is kept for (law 4). A job's
//! suspended containers there come before new ones: their work is done already (HFSP thesis, section 6.3.1).
//!
//! Who is served next on a node is found in the plan's waiting lines, and where new demand may be served in the partition's
//! rooms: neither jobs that do not fit nor nodes without room are looked at. What is left when a step has proposed its most is
//! for the next one.
//!
//! New tasks that any node is as good for spread: the roomiest node gives a job its even part, then whichever is the roomiest
//! after that, before who comes later gets any. Who names places has reasons to be there: what it is offered it may take whole.

mod lent;

use crate::entitlement::{containers_within, EPSILON};
use crate::fact::{PhaseKey, Places, Side};
use crate::line::Line;
use crate::plan::{PartitionPlan, Planner};
use crate::settings::Settings;
use crate::state::{Cluster, Container, For, Node, Reason, Room, Rooms, State};
use crate::units::{AppId, ContainerId, NodeId, PartitionId, Resource};
use crate::visits::Visits;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use lent::{borrowers, lent_room_comes, may_go_on};

/// New containers that one step proposes at most: whoever carries it out holds the scheduler meanwhile.
pub const MOST_CONTAINERS: u32 = 500;

/// What placing has not finished, from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allocator {
    /// Somebody wants something that not all nodes with room were looked at for yet.
    sweeping: bool,
    /// Containers that this step may still propose.
    left: u32,
    visits: Visits,
    /// What one job is given on one node, while that is found out.
    given: Vec<(PhaseKey, u32)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Jobs below their targets.
    UpToTarget,
    /// Whoever wants more.
    Anybody,
}

impl Pass {
    fn line(self, plan: &PartitionPlan, side: Option<Side>) -> &Line {
        match self {
            Pass::UpToTarget => plan.below_target(side),
            Pass::Anybody => plan.anybody(side),
        }
    }
}

/// What became of the try to resume a container.
enum ResumeOutcome {
    /// It is proposed to be resumed.
    Proposed,
    /// There is room, but it was refused a moment ago.
    BackingOff,
    /// There is no room for it.
    NoRoom,
}

impl Allocator {
    /// Whether the last step was cut short.
    pub fn has_more(&self, cluster: &Cluster) -> bool {
        self.sweeping || cluster.has_woken()
    }

    /// What was looked at since this was last asked.
    pub fn visits(&mut self) -> Visits {
        std::mem::take(&mut self.visits)
    }

    /// Proposes containers for all nodes that are worth a look. `new_demand`: since the last plan somebody asked for something.
    pub fn place(&mut self, cluster: &mut Cluster, planner: &mut Planner, settings: &Settings, new_demand: bool) {
        self.left = MOST_CONTAINERS;
        self.sweeping |= new_demand;
        self.place_lent(cluster, planner, settings);
        while let Some(node) = cluster.next_woken() {
            // What a part leaves is for whom the sweep finds.
            self.sweeping |= !self.place_on(cluster, planner, node);
            if self.left == 0 {
                cluster.wake(node);
                return;
            }
        }
        if self.sweeping {
            self.sweeping = !self.sweep(cluster, planner);
        }
    }

    /// Looks at all nodes with room for somebody, most room first; one that gave a part comes again with what it has left. False
    /// if the step was full before the end.
    fn sweep(&mut self, cluster: &mut Cluster, planner: &mut Planner) -> bool {
        let mut homes = homes(cluster);
        let mut last: BTreeMap<(PartitionId, Option<Side>), Room> = BTreeMap::new();
        loop {
            let next_of = |partition: PartitionId, side: Option<Side>, rooms: &Rooms| {
                let plans = [planner.of(partition), planner.of(PartitionId(0))];
                let serves = |room| plans.iter().flatten().any(|plan| plan.anybody(side).may_fit(room));
                let pool = (partition, side);
                rooms.next(last.get(&pool).copied(), serves).map(|room| (room, pool))
            };
            let roomiest = |(room, _): &(Room, _)| (room.usable, Reverse(room.node));
            let partitions = cluster.partitions().iter();
            let all = partitions.flat_map(|(id, found)| found.rooms.all().map(|(side, rooms)| (*id, side, rooms)));
            let next = all.filter_map(|(id, side, rooms)| next_of(id, side, rooms)).max_by_key(roomiest);
            let home = homes.last().copied().filter(|home| next.is_none_or(|(room, _)| roomier(home, &room)));
            let node = match (home, next) {
                (Some(home), _) => {
                    homes.pop();
                    home.node
                }
                (None, Some((room, pool))) => {
                    last.insert(pool, room);
                    room.node
                }
                (None, None) => return true,
            };
            if !self.place_on(cluster, planner, node) && home.is_some() {
                // Its suspended containers have not had their turn.
                if let Some(left) = cluster.nodes().get(&node).map(|found| Room { usable: found.usable(), node }) {
                    homes.insert(homes.partition_point(|other| !roomier(other, &left)), left);
                }
            }
            if self.left == 0 {
                return false;
            }
        }
    }

    /// False if a job got only its part, so that the rest of the room is not yet for who comes later.
    fn place_on(&mut self, cluster: &mut Cluster, planner: &mut Planner, id: NodeId) -> bool {
        self.visits.nodes += 1;
        let Some(node) = cluster.nodes().get(&id) else { return true };
        // A node that joined but has not reported yet may still be telling what runs there, and one that fell silent starts
        // nothing, however often its containers end.
        if !node.is_live(cluster.now()) {
            return true;
        }
        if node.decommissioning {
            resume_all(cluster, id);
            return true;
        }
        let (partition, shareable) = (node.partition, node.shareable);
        serve_resume_claims(cluster, id);
        let own = [Pass::UpToTarget, Pass::Anybody].map(|pass| (partition, pass));
        // Idle room of a shared partition may serve the default one, after its own.
        let default = PartitionId(0);
        let guests = (partition != default && shareable).then_some((default, Pass::Anybody));
        own.into_iter().chain(guests).all(|(of, pass)| self.serve_in_order(cluster, planner, of, id, pass))
    }

    /// Goes on as [`Allocator::place_on`] does.
    fn serve_in_order(
        &mut self,
        cluster: &mut Cluster,
        planner: &mut Planner,
        partition: PartitionId,
        id: NodeId,
        pass: Pass,
    ) -> bool {
        let mut known = known_there(cluster, planner, partition, id, pass);
        let mut at = 0;
        while self.left > 0 {
            let (Some(node), Some(plan)) = (cluster.nodes().get(&id), planner.of(partition)) else { break };
            // Whoever has nothing there yet gets no room that is kept for anybody.
            let waiting = pass.line(plan, node.side).first(at, node.usable() - node.kept_in_all());
            while known.last().is_some_and(|place| *place < at) {
                known.pop();
            }
            let Some(place) = waiting.into_iter().chain(known.last().copied()).min() else { break };
            self.visits.jobs += 1;
            let (app, total) = (plan.entries[place].app, plan.total);
            let Some(job) = cluster.jobs().get(&app) else { break };
            let mut allowance = match pass {
                Pass::UpToTarget => plan.entries[place].target - job.share(total, partition),
                Pass::Anybody => f64::INFINITY,
            };
            // While a container that was refused waits for its next turn, its job puts nothing new into its room.
            if resume_own(cluster, id, app, total, &mut allowance) {
                let whole = self.start_new(cluster, id, app, total, partition, allowance);
                planner.hear(cluster);
                if !whole {
                    return false;
                }
            }
            at = place + 1;
        }
        true
    }

    /// Proposes as many new containers of the job as fit, in the order of its phases. False if those are only its part.
    fn start_new(
        &mut self,
        cluster: &mut Cluster,
        id: NodeId,
        app: AppId,
        total: Resource,
        partition: PartitionId,
        mut allowance: f64,
    ) -> bool {
        let (Some(node), Some(job)) = (cluster.nodes().get(&id), cluster.jobs().get(&app)) else { return true };
        let unwelcome = node.partition != partition && job.no_guest_until > cluster.now();
        if !job.may_start() || job.backs_off || cluster.is_refused(app, id) || unwelcome {
            return true;
        }
        // Room that comes back when all were looked at goes to whoever wants it. Whom a limit may stop is refused once, not once a part.
        let new_demand = self.sweeping || cluster.has_new_demand();
        let spreads = new_demand && node.partition == partition && job.barred_until <= cluster.now();
        let over = cluster.partitions().get(&partition).filter(|_| spreads).map(|found| found.nodes as u32);
        let mut whole = true;
        self.given.clear();
        let mut usable = node.usable();
        for (key, phase) in job.phases.iter().filter(|(key, _)| key.partition == partition) {
            let one = key.resource.dominant_share(total);
            let allowed = containers_within(allowance, one);
            let room = key.resource.times_in(usable - node.claimed_by_others(app));
            let freed = key.resource.times_in(usable - node.freed_for_others(app));
            let fitting = room.max(freed.min(node.freed_for(app, key.resource)));
            let unserved = job.unserved(*key, phase);
            let most = unserved.min(allowed).min(fitting).min(self.left).min(job.most_on(key, node.side));
            let more = over.filter(|_| phase.places == Places::Anywhere).map_or(most, |nodes| {
                let even = unserved.min(allowed).saturating_add(phase.proposed).div_ceil(nodes);
                most.min(even.max(node.kept_for(app, key.resource)))
            });
            whole &= more == most;
            if more > 0 {
                self.given.push((*key, more));
                self.left -= more;
                usable -= key.resource.times(more);
                allowance -= f64::from(more) * one;
            }
            // The ResourceManager starts nothing of a later kind there, unless it passes this one over: what fits it would go on with.
            if more < unserved && (phase.places != Places::Unjudged || key.resource.fits_in(usable)) {
                break;
            }
        }
        if !self.given.is_empty() {
            cluster.assign(app, id, &self.given);
        }
        whole
    }
}

/// Places in the line of jobs that may find room on the node which others do not: it is kept for them, or one of their
/// suspended containers is at home there. Last first.
fn known_there(cluster: &Cluster, planner: &Planner, partition: PartitionId, id: NodeId, pass: Pass) -> Vec<usize> {
    let (Some(node), Some(plan)) = (cluster.nodes().get(&id), planner.of(partition)) else { return Vec::new() };
    let at_home = node.suspended.iter().filter_map(|id| cluster.containers().get(id)).map(|container| container.app);
    let mut apps: Vec<AppId> = at_home.chain(node.claims.iter().map(|claim| claim.app)).collect();
    apps.sort_unstable();
    apps.dedup();
    let wanting = apps.into_iter().filter(|app| cluster.jobs().get(app).is_some_and(|job| job.wants()));
    let mut places: Vec<usize> = match pass {
        Pass::UpToTarget => wanting.flat_map(|app| plan.places(app)).collect(),
        // Beyond the targets a job's last place counts: the earlier ones are for their targets only.
        Pass::Anybody => wanting.filter_map(|app| plan.last_entry(app)).collect(),
    };
    places.sort_unstable_by_key(|place| Reverse(*place));
    places
}

/// Nodes on which a suspended container may find room again, least room first.
fn homes(cluster: &Cluster) -> Vec<Room> {
    let finds_room = |node: &Node, container: &Container| container.resource().fits_in(node.usable());
    let mut homes: Vec<Room> = cluster
        .suspended()
        .filter_map(|(_, container)| cluster.nodes().get(&container.node).map(|node| (node, container)))
        .filter(|(node, container)| node.is_live(cluster.now()) && has_turn(container) && finds_room(node, container))
        .map(|(node, container)| Room { usable: node.usable(), node: container.node })
        .collect();
    homes.sort_unstable_by_key(|room| (room.usable, Reverse(room.node)));
    homes.dedup();
    homes
}

/// Resumes what it can on a node that leaves, whoever's it is, longest suspended first: what is not done by then is lost. What
/// somebody parked stays.
fn resume_all(cluster: &mut Cluster, id: NodeId) {
    let Some(node) = cluster.nodes().get(&id) else { return };
    let found = node.suspended.iter().filter_map(|id| cluster.containers().get(id).map(|container| (*id, container)));
    let mut waiting: Vec<_> = found
        .filter(|(_, container)| !cluster.is_parked(container))
        .map(|(id, container)| (container.since, id))
        .collect();
    waiting.sort_unstable();
    for (_, container) in waiting {
        resume_if_room(cluster, id, container, Resource::ZERO, false);
    }
}

/// Whether the suspended container goes on with its job's turn.
fn has_turn(container: &Container) -> bool {
    container.reason.is_none_or(Reason::ends_with_turn)
}

fn roomier(a: &Room, b: &Room) -> bool {
    (a.usable, Reverse(a.node)) >= (b.usable, Reverse(b.node))
}

fn serve_resume_claims(cluster: &mut Cluster, id: NodeId) {
    let Some(node) = cluster.nodes().get(&id).filter(|node| !node.claims.is_empty()) else { return };
    let overdue: Vec<_> = node
        .claims
        .iter()
        .filter_map(|claim| match claim.purpose {
            For::Resume(container) => Some(container),
            For::Start => None,
        })
        .collect();
    for container in overdue {
        let freed = cluster.nodes().get(&id).map_or(Resource::ZERO, |node| node.freed_for_all_but(container));
        resume_if_room(cluster, id, container, freed, false);
    }
}

/// Proposes to resume the container if it fits beside what is claimed; `spare` if that is beyond its job's target.
fn resume_if_room(
    cluster: &mut Cluster,
    id: NodeId,
    container: ContainerId,
    claimed: Resource,
    spare: bool,
) -> ResumeOutcome {
    let (Some(node), Some(suspended)) = (cluster.nodes().get(&id), cluster.containers().get(&container)) else {
        return ResumeOutcome::NoRoom;
    };
    // A container that is still settling brings its own room along, or its room is on its way to somebody.
    let settling = matches!(suspended.state, State::MustSuspend { .. });
    if settling && node.claims.iter().any(|claim| claim.victims.contains(&container)) {
        return ResumeOutcome::NoRoom;
    }
    let own = if settling { suspended.resource() } else { Resource::ZERO };
    let fits = suspended.resource().fits_in(node.usable() + own - claimed);
    if !fits || suspended.proposed {
        return ResumeOutcome::NoRoom;
    }
    if suspended.barred_until > cluster.now() {
        return ResumeOutcome::BackingOff;
    }
    cluster.resume(container, spare);
    ResumeOutcome::Proposed
}

/// Resumes the job's suspended containers on the node, in the order in which they go on; false if one of them could be, but has to
/// rest after a refusal.
fn resume_own(cluster: &mut Cluster, id: NodeId, app: AppId, total: Resource, allowance: &mut f64) -> bool {
    let Some(node) = cluster.nodes().get(&id) else { return true };
    let mut own: Vec<_> = node
        .suspended
        .iter()
        .filter_map(|id| cluster.containers().get(id).map(|container| (container, *id)))
        .filter(|(container, _)| container.app == app && !container.parked && has_turn(container))
        .map(|(container, id)| (container.resume_order(cluster.now()), id, container.resource().dominant_share(total)))
        .collect();
    own.sort_by_key(|(order, id, _)| (*order, *id));
    let mut none_backs_off = true;
    for (_, container, one) in own {
        let claimed = cluster.nodes().get(&id).map_or(Resource::ZERO, |node| node.claimed_by_others(app));
        if one <= *allowance + EPSILON {
            match resume_if_room(cluster, id, container, claimed, allowance.is_infinite()) {
                ResumeOutcome::Proposed => *allowance -= one,
                ResumeOutcome::BackingOff => none_backs_off = false,
                ResumeOutcome::NoRoom => {}
            }
        }
    }
    none_backs_off
}
