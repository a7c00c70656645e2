//! One round of freeing: each job below its target, in the order of the plan, gets room by what ends, by what is free, and else by
//! taking it from others. Its suspended containers come first, at home; then new ones, kind by kind.

use super::no_victim_reason::NoVictimReason;
use super::pending_claims::PendingClaims;
use super::selector::{RoomRequest, VictimSelector};
use super::settings_of;
use super::suspensions::{self, reduces_have_its_room};
use super::users::{UserRoom, VictimScope};
use crate::decision::Cause;
use crate::entitlement::{containers_within, EPSILON};
use crate::fact::{PhaseKey, Places};
use crate::place::{lent_room_comes, MOST_CONTAINERS};
use crate::plan::{Entry, PartitionPlan};
use crate::settings::Settings;
use crate::state::{Claim, Cluster, For, QueueUser, Room};
use crate::units::{AppId, ContainerId, NodeId, PartitionId, Resource};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a round came to.
#[derive(Default)]
pub(super) struct Freed {
    /// For whom no room could be made, and why, in the order in which that was tried.
    pub no_victims: Vec<(AppId, NoVictimReason)>,
    /// What is kept for jobs that would be started something else first, for which there is no room: by job and size.
    pub useless: Vec<(AppId, Resource)>,
}

/// A round in one partition.
pub(super) struct FreeingRound<'r, 'a> {
    plan: &'a PartitionPlan,
    partition: PartitionId,
    settings: &'a Settings,
    selector: &'r mut VictimSelector<'a>,
    pending_claims: PendingClaims,
    users: UserRoom,
    freed: Freed,
}

/// What a job lacks of its target at one of its places.
struct Lack<'a> {
    place: usize,
    entry: &'a Entry,
    queue_user: QueueUser,
    /// How much, as a fraction of the partition, after what was freed.
    missing: f64,
}

impl<'r, 'a> FreeingRound<'r, 'a> {
    /// A round that takes victims by that selector.
    pub fn new(
        cluster: &Cluster,
        plan: &'a PartitionPlan,
        settings: &'a Settings,
        selector: &'r mut VictimSelector<'a>,
    ) -> FreeingRound<'r, 'a> {
        let partition = plan.partition();
        let pending_claims = PendingClaims::new(cluster, partition);
        let (users, freed) = (UserRoom::default(), Freed::default());
        FreeingRound { plan, partition, settings, selector, pending_claims, users, freed }
    }

    /// Frees room for all jobs that lack some.
    pub fn run(mut self, cluster: &mut Cluster) -> Freed {
        for (place, entry) in self.plan.entries.iter().enumerate() {
            if cluster.proposals().len() >= MOST_CONTAINERS as usize {
                // The rest is for the next plan.
                cluster.request_plan();
                break;
            }
            self.free_for(cluster, place, entry);
        }
        self.freed
    }

    fn free_for(&mut self, cluster: &mut Cluster, place: usize, entry: &Entry) {
        let Some(job) = cluster.jobs().get(&entry.app) else { return };
        if !job.wants() || !job.may_start() || job.backs_off || job.barred_until > cluster.now() {
            return;
        }
        let claimed = self.pending_claims.claimed_share(entry.app, self.plan.total);
        let missing = entry.target - job.share(self.plan.total, self.partition) - claimed;
        let mut lack = Lack { place, entry, queue_user: job.queue_user(), missing };
        let asks: Vec<(PhaseKey, u32)> =
            job.asks(self.partition).take_while(|(key, _)| job.phases[key].places != Places::Unjudged).collect();
        self.free_for_suspended(cluster, &mut lack);
        self.free_for_new(cluster, &mut lack, asks);
    }

    /// Room for the job's suspended containers, each at home.
    fn free_for_suspended(&mut self, cluster: &mut Cluster, lack: &mut Lack<'_>) {
        let app = lack.entry.app;
        // What is kept out of its home leaves its share to new containers.
        let mut going_on = lack.missing;
        for id in self.pending_claims.suspended_of(cluster, app) {
            let Some(container) = cluster.containers().get(&id) else { continue };
            let (home, need) = (container.node, container.resource());
            let one = need.dominant_share(self.plan.total);
            let mut kept_out = reduces_have_its_room(cluster, container);
            if going_on + EPSILON >= one {
                let in_turn = going_on - lack.entry.ahead + EPSILON >= one;
                going_on -= one;
                kept_out = !self.comes_back(cluster, lack.place, in_turn, id, home, need);
                if kept_out {
                    self.freed.no_victims.push((app, NoVictimReason::AtHome));
                } else {
                    lack.missing -= one;
                    self.users.used(lack.queue_user, one);
                    self.pending_claims.comes_back(app, id, need);
                }
            }
            if self.plan.is_last_entry(lack.place) {
                let kept_out = kept_out && !lent_room_comes(cluster, self.settings, id);
                wait_for_home(cluster, id, kept_out, self.settings);
            }
        }
    }

    /// Whether the suspended container has room at home now, or a claim to some; victims go for it only in its job's turn.
    fn comes_back(
        &mut self,
        cluster: &mut Cluster,
        place: usize,
        in_turn: bool,
        id: ContainerId,
        home: NodeId,
        need: Resource,
    ) -> bool {
        if goes_on_next(cluster, id, home, need) {
            return true;
        }
        let waited = stop_waiting(cluster, id, home);
        let request = RoomRequest { need, purpose: For::Resume(id), kind: None, scope: VictimScope::Anybody };
        let free = self.pending_claims.use_room(cluster, home, need);
        let comes_back = free || in_turn && self.selector.take_victims_at(cluster, place, request, home);
        if let Some(claim) = waited.filter(|_| !comes_back) {
            cluster.claim(home, claim);
        }
        if !free {
            self.pending_claims.look_again(cluster, home);
        }
        comes_back
    }

    /// Room for new containers, kind by kind. That for one kind is of use when all kinds before it have theirs: the ResourceManager starts
    /// those first.
    fn free_for_new(&mut self, cluster: &mut Cluster, lack: &mut Lack<'_>, asks: Vec<(PhaseKey, u32)>) {
        let app = lack.entry.app;
        let mut provided = true;
        let mut kept: BTreeMap<Resource, u32> = BTreeMap::new();
        for (key, wanted) in asks {
            if !provided {
                cluster.wait_for_room(app, key, false);
                // A kind that comes before it may have been asked for since.
                let has_claims =
                    self.pending_claims.claims_of(app, key.resource) > 0 && !kept.contains_key(&key.resource);
                if has_claims && self.plan.is_last_entry(lack.place) {
                    self.freed.useless.push((app, key.resource));
                }
                continue;
            }
            let one = key.resource.dominant_share(self.plan.total);
            let deserved = if one > 0.0 { containers_within(lack.missing, one) } else { 0 };
            let of_kinds_before = kept.entry(key.resource).or_default();
            let claims = self.pending_claims.claims_of(app, key.resource).saturating_sub(*of_kinds_before);
            *of_kinds_before += wanted;
            let lacking = wanted.saturating_sub(claims);
            let due = lacking.min(deserved).min(cluster.most_anywhere(app, &key));
            let short = due - self.pending_claims.free_places(cluster, app, &key, due);
            let all_freed = (0..short).all(|_| self.free_for_one(cluster, lack, key, one));
            provided = all_freed && due == lacking;
            if short == 0 {
                cluster.wait_for_room(app, key, false);
            }
        }
    }

    /// Room for one new container of that kind, and of the size `one`; false if there is none to be had.
    fn free_for_one(&mut self, cluster: &mut Cluster, lack: &mut Lack<'_>, key: PhaseKey, one: f64) -> bool {
        let app = lack.entry.app;
        let Some(job) = cluster.jobs().get(&app) else { return false };
        let scope = self.users.scope(cluster, self.plan, self.partition, &self.pending_claims, job, one);
        let anybody = scope == VictimScope::Anybody;
        if !(anybody && self.pending_claims.take_over(cluster, self.plan, lack.place, &key)) {
            // What is only waited for must not keep the job from taking what it may take now.
            let waited = self.pending_claims.stop_collecting(cluster, app, key.resource);
            let request = RoomRequest { need: key.resource, purpose: For::Start, kind: Some(key), scope };
            let in_turn = lack.missing - lack.entry.ahead + EPSILON >= one;
            let node = match in_turn {
                true => self.selector.take_victims(cluster, lack.place, request),
                false => Err(NoVictimReason::AheadOfTurn),
            };
            match node {
                Ok(node) => self.pending_claims.claim_made(cluster, node, app, key.resource),
                Err(reason) => {
                    self.freed.no_victims.push((app, reason));
                    let collect =
                        || collect_room(cluster, &self.pending_claims, app, key, self.partition, self.settings);
                    let room = waited.or_else(|| anybody.then(collect).flatten());
                    room.into_iter().for_each(|(node, claim)| self.pending_claims.collect(cluster, node, claim));
                    return false;
                }
            }
        }
        if anybody {
            self.users.used(lack.queue_user, one);
        }
        lack.missing -= one;
        true
    }
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
