//! Preemption: takes room for jobs that hold less than their targets from jobs that come after them, or hold more than their own,
//! when nothing else gives them room. Two choices of the queue that loses, independent of each other: how its containers go
//! ([`how`], the primitive), and which of them go first ([`victims`]). The same for all: whether a container may go at all
//! ([`permission`]), and the choice of whole sets ([`selector`]).
//!
//! By default containers of the lowest-ranked job go first, and of these the youngest (HFSP thesis, section 4.4.3); the first tasks
//! of a phase, from which its size is learnt, come last of a job's. Or by one order over all jobs of all queues that want it
//! so (Global Preemption), for other queues; then the starvation rule says who gives way within a queue. Only whole sets are taken, that together let one
//! container start, or go on, on one node (law 5); what is freed is claimed for it (law 4).
//!
//! A suspended container comes before a new one, but only at home, where its memory is. Where home stays full for long,
//! although its job may run it, it is killed and so run again elsewhere (thesis, section 6.3.1).

mod claims;
mod gp_class;
mod how;
mod no_victim_reason;
mod pending_claims;
mod permission;
mod selector;
mod snapshot;
mod starvation;
mod suspensions;
mod users;
mod victims;

use crate::decision::Cause;
use crate::entitlement::{containers_within, EPSILON};
use crate::fact::{PhaseKey, Places};
use crate::place::{lent_room_comes, MOST_CONTAINERS};
use crate::plan::{PartitionPlan, Planner};
use crate::settings::{QueueSettings, Settings};
use crate::state::{Claim, Cluster, Container, For, Reason, Room};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, Resource};
use crate::visits::Visits;
use pending_claims::PendingClaims;
use selector::{RoomRequest, VictimSelector};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use users::{UserRoom, VictimScope};

pub use claims::review_claims;
pub use no_victim_reason::NoVictimReason;
pub use permission::{preempts_within_queue, room_for_suspended_mb};
pub use starvation::Watch;
pub use suspensions::{end_suspensions, kill};

/// Containers that may be looked at in vain without any consequence.
const LOOKS_FOR_NOTHING: u64 = 1_000;

/// So many looked at in vain cost a millisecond of backoff: what takes a hundredth of that time.
const LOOKS_PER_MS_OF_BACKOFF: u64 = 100;

/// Takes room, and remembers where there was none to take.
#[derive(Clone, Debug, Default)]
pub struct Preemptor {
    /// Until when nobody looks for victims in a partition: many were looked at in vain a moment ago.
    backs_off_until: BTreeMap<PartitionId, Millis>,
    /// Who looks whether long jobs starve others, by partition.
    watches: BTreeMap<PartitionId, Watch>,
    /// For whom no room could be made when it was last tried, and why: by job.
    no_victims: BTreeMap<PartitionId, Vec<(AppId, NoVictimReason)>>,
    /// What is kept for jobs that would be started something else first, for which there is no room: by job and size.
    useless: BTreeMap<PartitionId, Vec<(AppId, Resource)>>,
}

impl Preemptor {
    /// Frees room for the jobs below their targets, in the order of the plan; what it looked at for that.
    pub fn preempt(
        &mut self,
        cluster: &mut Cluster,
        planner: &Planner,
        plan: &PartitionPlan,
        settings: &Settings,
    ) -> Visits {
        let partition = plan.partition();
        let giving = self.watch(cluster, plan, partition, settings);
        let mut selector = VictimSelector::new(cluster, planner, plan, settings, giving);
        if self.backs_off_until.get(&partition).is_some_and(|until| *until > cluster.now()) {
            selector.back_off();
        }
        if let Some(useless) = self.useless.remove(&partition) {
            cluster.retain_claims(|cluster, node, claim| {
                let here = cluster.nodes().get(&node).is_some_and(|node| node.partition == partition);
                !here || claim.purpose != For::Start || !useless.contains(&(claim.app, claim.resource))
            });
        }
        let mut useless = Vec::new();
        let mut reasons = free_room(cluster, plan, partition, settings, &mut selector, &mut useless);
        if !useless.is_empty() {
            // Nobody takes room and gives it back in one step: what was freed for some would have been for nothing.
            self.useless.insert(partition, useless);
            cluster.request_plan();
        }
        // People ask of many jobs at once. Of one job's the first counts.
        reasons.sort_by_key(|(app, _)| *app);
        reasons.dedup_by_key(|(app, _)| *app);
        self.no_victims.insert(partition, reasons);
        if let Some(watch) = self.watches.get_mut(&partition) {
            watch.gave(selector.giving());
        }
        let visits = selector.visits();
        if !selector.took_any() && visits.containers > LOOKS_FOR_NOTHING {
            let backoff = Millis(visits.containers / LOOKS_PER_MS_OF_BACKOFF);
            self.backs_off_until.insert(partition, cluster.now() + backoff);
        }
        visits
    }

    /// Looks whether long jobs starve others, where that is wanted; what those give way with.
    fn watch(
        &mut self,
        cluster: &Cluster,
        plan: &PartitionPlan,
        partition: PartitionId,
        settings: &Settings,
    ) -> BTreeMap<AppId, f64> {
        if !settings.any_starvation_rule() {
            self.watches.clear();
            return BTreeMap::new();
        }
        let (watch, now) = (self.watches.entry(partition).or_default(), cluster.now());
        if watch.is_due(now) {
            watch.see(now, &snapshot::of(cluster, plan, partition, settings), &settings.cluster.starvation);
        }
        watch.giving()
    }

    /// Why no room could be made for the job when that was last tried; `None` if there was, or it needed none.
    pub fn no_victim_reason(&self, app: AppId, partition: PartitionId) -> Option<NoVictimReason> {
        let of_partition = self.no_victims.get(&partition)?;
        let at = of_partition.binary_search_by_key(&app, |(other, _)| *other).ok()?;
        of_partition.get(at).map(|(_, reason)| *reason)
    }

    /// Who looks whether long jobs starve others, by partition.
    pub fn watches(&self) -> impl Iterator<Item = (PartitionId, &Watch)> {
        self.watches.iter().map(|(partition, watch)| (*partition, watch))
    }
}

/// Frees it; for whom it could not, and why, in the order in which that was tried. What is kept for whom and `useless` is said, too.
fn free_room(
    cluster: &mut Cluster,
    plan: &PartitionPlan,
    partition: PartitionId,
    settings: &Settings,
    selector: &mut VictimSelector<'_>,
    useless: &mut Vec<(AppId, Resource)>,
) -> Vec<(AppId, NoVictimReason)> {
    let mut reasons = Vec::new();
    let mut pending_claims = PendingClaims::new(cluster, partition);
    let mut users = UserRoom::default();
    for (place, entry) in plan.entries.iter().enumerate() {
        if cluster.proposals().len() >= MOST_CONTAINERS as usize {
            // The rest is for the next plan.
            cluster.request_plan();
            return reasons;
        }
        let Some(job) = cluster.jobs().get(&entry.app) else { continue };
        if !job.wants() || !job.may_start() || job.backs_off || job.barred_until > cluster.now() {
            continue;
        }
        let claimed = pending_claims.claimed_share(entry.app, plan.total);
        let queue_user = job.queue_user();
        let mut missing = entry.target - job.share(plan.total, partition) - claimed;
        let wants: Vec<(PhaseKey, u32)> =
            job.asks(partition).take_while(|(key, _)| job.phases[key].places != Places::Unjudged).collect();
        // What is kept out of its home leaves its share to new containers.
        let mut going_on = missing;
        for id in pending_claims.suspended_of(cluster, entry.app) {
            let Some(container) = cluster.containers().get(&id) else { continue };
            let (home, need) = (container.node, container.resource());
            let one = need.dominant_share(plan.total);
            let mut kept_out = reduces_have_its_room(cluster, container);
            if going_on + EPSILON >= one {
                let in_turn = going_on - entry.ahead + EPSILON >= one;
                going_on -= one;
                let comes_back = goes_on_next(cluster, id, home, need) || {
                    let waited = stop_waiting(cluster, id, home);
                    let request =
                        RoomRequest { need, purpose: For::Resume(id), kind: None, scope: VictimScope::Anybody };
                    let free = pending_claims.use_room(cluster, home, need);
                    let comes_back = free || in_turn && selector.take_victims_at(cluster, place, request, home);
                    if let Some(claim) = waited.filter(|_| !comes_back) {
                        cluster.claim(home, claim);
                    }
                    if !free {
                        pending_claims.look_again(cluster, home);
                    }
                    comes_back
                };
                if comes_back {
                    missing -= one;
                    users.used(queue_user, one);
                    pending_claims.comes_back(entry.app, id, need);
                }
                kept_out = !comes_back;
                if kept_out {
                    reasons.push((entry.app, NoVictimReason::AtHome));
                }
            }
            if plan.is_last_entry(place) {
                let kept_out = kept_out && !lent_room_comes(cluster, settings, id);
                wait_for_home(cluster, id, kept_out, settings);
            }
        }
        // Room for one kind is of use when all kinds before it have theirs: the ResourceManager starts those first.
        let mut provided = true;
        let mut kept: BTreeMap<Resource, u32> = BTreeMap::new();
        for (key, wanted) in wants {
            if !provided {
                cluster.wait_for_room(entry.app, key, false);
                // A kind that comes before it may have been asked for since.
                let has_claims =
                    pending_claims.claims_of(entry.app, key.resource) > 0 && !kept.contains_key(&key.resource);
                if has_claims && plan.is_last_entry(place) {
                    useless.push((entry.app, key.resource));
                }
                continue;
            }
            let one = key.resource.dominant_share(plan.total);
            let deserved = if one > 0.0 { containers_within(missing, one) } else { 0 };
            let of_kinds_before = kept.entry(key.resource).or_default();
            let claims = pending_claims.claims_of(entry.app, key.resource).saturating_sub(*of_kinds_before);
            *of_kinds_before += wanted;
            let lacking = wanted.saturating_sub(claims);
            let due = lacking.min(deserved).min(cluster.most_anywhere(entry.app, &key));
            let short = due - pending_claims.free_places(cluster, entry.app, &key, due);
            provided = due == lacking;
            for _ in 0..short {
                let Some(job) = cluster.jobs().get(&entry.app) else { return reasons };
                let scope = users.scope(cluster, plan, partition, &pending_claims, job, one);
                if scope == VictimScope::Anybody && pending_claims.take_over(cluster, plan, place, &key) {
                    users.used(queue_user, one);
                    missing -= one;
                    continue;
                }
                // What is only waited for must not keep the job from taking what it may take now.
                let waited = pending_claims.stop_collecting(cluster, entry.app, key.resource);
                let request = RoomRequest { need: key.resource, purpose: For::Start, kind: Some(key), scope };
                let in_turn = missing - entry.ahead + EPSILON >= one;
                let freed = if in_turn {
                    selector.take_victims(cluster, place, request)
                } else {
                    Err(NoVictimReason::AheadOfTurn)
                };
                let node = match freed {
                    Ok(node) => node,
                    Err(reason) => {
                        reasons.push((entry.app, reason));
                        provided = false;
                        let collect = || collect_room(cluster, &pending_claims, entry.app, key, partition, settings);
                        let room = waited.or_else(|| (scope == VictimScope::Anybody).then(collect).flatten());
                        room.into_iter().for_each(|(node, claim)| pending_claims.collect(cluster, node, claim));
                        break;
                    }
                };
                pending_claims.claim_made(cluster, node, entry.app, key.resource);
                if scope == VictimScope::Anybody {
                    users.used(queue_user, one);
                }
                missing -= one;
            }
            if short == 0 {
                cluster.wait_for_room(entry.app, key, false);
            }
        }
    }
    reasons
}

/// Whether a map lacks at home what reduces of its own job have there. These wait for it, and do not end before it: it is kept out,
/// whatever its job holds, and nothing is taken from them for it (law 2). But what had borrowed of one goes on when the next lends.
fn reduces_have_its_room(cluster: &Cluster, map: &Container) -> bool {
    let borrowed = matches!(map.reason, Some(Reason::Recalled { .. }));
    let is_map = !borrowed && map.phase.is_of_maps() && cluster.jobs().get(&map.app).is_some_and(|job| job.map_reduce);
    let Some(home) = cluster.nodes().get(&map.node).filter(|_| is_map) else { return false };
    let reduce =
        |other: &&Container| other.app == map.app && other.phase.is_of_reduces() && !other.state.is_suspended();
    let reduces = cluster.on_node(map.node).map(|(_, other)| other).filter(reduce);
    let theirs = reduces.fold(Resource::ZERO, |sum, reduce| sum + reduce.resource());
    let (need, room) = (map.resource(), home.usable());
    !need.fits_in(room) && need.fits_in(room + theirs)
}

/// Whether the room for which the suspended container waits at home is there: it keeps its claim to that until the next heartbeat.
fn goes_on_next(cluster: &Cluster, id: ContainerId, home: NodeId, need: Resource) -> bool {
    let Some(node) = cluster.nodes().get(&home) else { return false };
    let waits = node.claims.iter().any(|claim| claim.purpose == For::Resume(id));
    waits && need.fits_in(node.usable() - node.kept_in_all() + need)
}

/// Gives up the claim with which the suspended container waits at home for what ends there.
fn stop_waiting(cluster: &mut Cluster, id: ContainerId, home: NodeId) -> Option<Claim> {
    let claims = &cluster.nodes().get(&home)?.claims;
    let at = claims.iter().position(|claim| claim.purpose == For::Resume(id) && !claim.is_freed())?;
    cluster.take_claim(home, at)
}

/// A suspended container that its job may run is kept out of its full home for a bounded time only: where it may be killed, and at last,
/// for twice as long as a container may be suspended, anywhere. Jobs could else wait for each other for ever.
fn wait_for_home(cluster: &mut Cluster, id: ContainerId, kept_out: bool, settings: &Settings) {
    let Some(since) = cluster.keep_out(id, kept_out) else { return };
    let Some(container) = cluster.containers().get(&id) else { return };
    let (now, rules) = (cluster.now(), settings_of(cluster, settings, container.app));
    let waited = now.since(since);
    let overdue = waited >= rules.max_suspension + rules.max_suspension;
    if waited >= rules.resume_locality && (overdue || suspensions::may_kill(cluster, settings, id)) {
        suspensions::kill(cluster, id, Cause::KeptOut);
    }
}

/// Room to be collected for the first in order that finds none for long, as containers end on one node: the node with most
/// room that could hold it, and the claim to make there. Large asks would starve behind a stream of small ones otherwise.
fn collect_room(
    cluster: &mut Cluster,
    pending_claims: &PendingClaims,
    app: AppId,
    key: PhaseKey,
    partition: PartitionId,
    settings: &Settings,
) -> Option<(NodeId, Claim)> {
    let now = cluster.now();
    let since = cluster.wait_for_room(app, key, true)?;
    if pending_claims.has_claims(app) || now.since(since) < settings.cluster.large_ask_delay {
        return None;
    }
    let may_hold = |room: &Room| {
        cluster.nodes().get(&room.node).is_some_and(|node| {
            key.resource.fits_in(node.total) && !cluster.is_refused(app, room.node) && node.claims.is_empty()
        })
    };
    let rooms = cluster.partitions().get(&partition)?.rooms.all();
    let own = rooms.filter(|(side, _)| cluster.jobs().get(&app).is_some_and(|job| job.most_on(&key, *side) > 0));
    let best = own.filter_map(|(_, rooms)| rooms.all().find(may_hold));
    let best = best.max_by_key(|room| (room.usable, Reverse(room.node)));
    best.map(|room| (room.node, Claim::new(app, For::Start, key.resource, now, Vec::new())))
}

fn settings_of<'a>(cluster: &Cluster, settings: &'a Settings, app: AppId) -> &'a QueueSettings {
    settings.queue(cluster.queue_path(app))
}
