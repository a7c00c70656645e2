//! One node: what it offers, what of that is in use, settling or spoken for.

use super::index::Listing;
use super::{Container, Loan};
use crate::fact::{NodeFact, Side};
use crate::units::{AppId, ContainerId, Millis, PartitionId, Resource};
use std::collections::{BTreeMap, BTreeSet};

/// What claimed room is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// New containers of the claim's application.
    Start,
    /// A container suspended there for too long.
    Resume(ContainerId),
}

/// Room on a node that is kept for somebody (law 4): freed for it by suspending or killing, or collected as containers
/// end because it fits nowhere else (what CapacityScheduler calls a reservation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Whom it is kept for.
    pub app: AppId,
    /// What for.
    pub purpose: For,
    /// How much; may be more than is free yet.
    pub resource: Resource,
    /// Since when.
    pub made: Millis,
    /// Containers suspended or killed for it.
    pub victims: Vec<ContainerId>,
    /// Those of them that still settle, with their room.
    settling: BTreeMap<ContainerId, Resource>,
    /// Whether it was made in the last step: what that had placed before found its room elsewhere.
    pub(super) fresh: bool,
}

impl Claim {
    /// Room kept from now on.
    pub fn new(app: AppId, purpose: For, resource: Resource, made: Millis, victims: Vec<ContainerId>) -> Claim {
        Claim { app, purpose, resource, made, victims, settling: BTreeMap::new(), fresh: true }
    }

    /// Whether containers had to go for it, so that it must get their room.
    pub fn is_freed(&self) -> bool {
        !self.victims.is_empty()
    }

    /// What of it is still to come, when its victims have settled: so much is not kept of the room usable now.
    fn coming(&self) -> Resource {
        self.settling.values().fold(Resource::ZERO, |sum, one| sum + *one).at_most(self.resource)
    }
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it offers.
    pub total: Resource,
    /// Its partition.
    pub partition: PartitionId,
    /// Whether its idle room may serve the default partition.
    pub shareable: bool,
    /// Whether containers can be suspended there.
    pub can_suspend: bool,
    /// Whether it is being decommissioned: nothing starts or is suspended there any more.
    pub decommissioning: bool,
    /// What its RAM and its swap hold together, in MiB, if that is known.
    pub ram_and_swap_mb: Option<i64>,
    /// On which side of a mixed cluster it is, if it is on any.
    pub side: Option<Side>,
    /// Resources of the containers that count.
    pub used: Resource,
    /// Those of ApplicationMasters among them: nobody takes them (law 3).
    pub masters: Resource,
    /// Resources of demoted containers of which the node may not know yet: free on paper, not usable.
    pub settling: Resource,
    /// Memory that suspended containers keep, in MiB.
    pub suspended_memory_mb: i64,
    /// All live containers there.
    pub containers: BTreeSet<ContainerId>,
    /// The suspended ones among them.
    pub suspended: BTreeSet<ContainerId>,
    /// Those promoted since the last heartbeat.
    pub resuming: BTreeSet<ContainerId>,
    /// Room kept for somebody.
    pub claims: Vec<Claim>,
    /// Room of suspended reduces that is lent to maps, by lender.
    pub loans: BTreeMap<ContainerId, Loan>,
    /// Applications whose containers were refused there since its last heartbeat: not proposed again until the next.
    pub refused: BTreeSet<AppId>,
    /// Proposed in this step, not yet confirmed.
    pub proposed: Resource,
    /// Resources of containers that count, proposed in this step to be suspended or killed.
    pub leaving: Resource,
    /// Heartbeats so far.
    pub heartbeats: u64,
    /// When the last one came.
    pub last_heartbeat: Millis,
    /// How many containers it said it had paused.
    pub paused: u32,
    /// Since when it says that containers given out cannot start there.
    pub waiting_since: Option<Millis>,
    /// It counts as silent if it has not reported for longer than this.
    pub(super) silent_after: Millis,
    /// As what it counts in its partition.
    pub(super) listed: Option<Listing>,
    /// Whether somebody looks when it may have fallen silent.
    pub(super) watched: bool,
}

impl Node {
    pub(super) fn new(now: Millis, silent_after: Millis) -> Node {
        Node {
            total: Resource::ZERO,
            partition: PartitionId(0),
            shareable: true,
            can_suspend: false,
            decommissioning: false,
            ram_and_swap_mb: None,
            side: None,
            used: Resource::ZERO,
            masters: Resource::ZERO,
            settling: Resource::ZERO,
            suspended_memory_mb: 0,
            containers: BTreeSet::new(),
            suspended: BTreeSet::new(),
            resuming: BTreeSet::new(),
            claims: Vec::new(),
            loans: BTreeMap::new(),
            refused: BTreeSet::new(),
            proposed: Resource::ZERO,
            leaving: Resource::ZERO,
            heartbeats: 0,
            last_heartbeat: now,
            paused: 0,
            waiting_since: None,
            silent_after,
            listed: None,
            watched: false,
        }
    }

    pub(super) fn describe(&mut self, fact: &NodeFact) {
        if self.partition != fact.partition {
            // For whom its room was kept does not look for it in the new one.
            self.claims.retain(|claim| claim.purpose != For::Start);
        }
        self.total = fact.total;
        self.partition = fact.partition;
        self.shareable = fact.shareable;
        self.can_suspend = fact.can_suspend;
        self.decommissioning = fact.decommissioning;
        if self.decommissioning {
            // Nobody will start there, and what is suspended needs none.
            self.claims.clear();
        }
        self.ram_and_swap_mb = fact.ram_and_swap_mb;
        self.side = fact.side;
    }

    pub(super) fn heartbeat(&mut self, now: Millis, paused: u32, waiting: u32) {
        self.heartbeats += 1;
        self.last_heartbeat = now;
        self.paused = paused;
        self.waiting_since = if waiting > 0 { self.waiting_since.or(Some(now)) } else { None };
        self.refused.clear();
    }

    /// Whether it can be counted on: it has reported, and not so long ago that it may be dying.
    pub fn is_live(&self, now: Millis) -> bool {
        self.heartbeats > 0 && now.since(self.last_heartbeat) <= self.silent_after
    }

    /// When it will count as silent if it does not report before.
    pub(super) fn silent_at(&self) -> Millis {
        self.last_heartbeat + self.silent_after + Millis(1)
    }

    /// Memory that its suspended containers may keep, in MiB: that fraction of what it offers, and never more than its RAM
    /// and swap hold beside running containers that use all it offers (HFSP thesis, section 6.1.2).
    pub fn most_suspended_mb(&self, fraction: f64) -> i64 {
        let by_rule = (self.total.memory_mb as f64 * fraction) as i64;
        let held = self.ram_and_swap_mb.map_or(by_rule, |held| held - self.total.memory_mb);
        by_rule.min(held)
    }

    /// Room that a new container could use at once, claims aside. What is lent is for maps only and not in it.
    pub fn usable(&self) -> Resource {
        let lent = self.loans.values().fold(Resource::ZERO, |sum, loan| sum + loan.usable());
        self.total - self.used - self.settling - self.proposed - lent
    }

    /// Whether lent room was promised in this step to the container, which is suspended there.
    pub fn is_promised(&self, id: ContainerId) -> bool {
        self.loans.values().any(|loan| loan.is_promised(id))
    }

    /// Room for borrowers only, usable now or not yet, that none of them has (law 14).
    pub fn unlent(&self) -> Resource {
        self.loans.values().fold(Resource::ZERO, |sum, loan| sum + loan.unlent())
    }

    /// Whether one lender has so much of that (law 15).
    pub fn one_lends(&self, size: Resource) -> bool {
        self.loans.values().any(|loan| size.fits_in(loan.unlent()))
    }

    /// Room that is free, or on its way, without anybody having to go for it: what settles or leaves is on its way to somebody,
    /// and what was freed for somebody is promised. Other claims, `aside` of them aside, wait for room to come by itself: it is
    /// not free, but nobody has to go for it.
    pub(crate) fn coming_beside(&self, aside: Resource) -> Resource {
        let to_be_lent = self.loans.values().filter(|loan| !loan.is_settled());
        let to_be_lent = to_be_lent.fold(Resource::ZERO, |sum, loan| sum + loan.unlent());
        let free = self.usable() + self.settling + self.leaving - self.freed_in_all() - to_be_lent;
        let waiting = self.claimed_in_all() - self.freed_in_all() - aside;
        free.at_most((free - waiting).at_least_nothing())
    }

    /// What of the usable room is kept for others than `app`.
    pub fn claimed_by_others(&self, app: AppId) -> Resource {
        self.kept(|claim| claim.app != app || claim.purpose != For::Start)
    }

    /// What of the usable room was freed for something else than new containers of `app`: that goes before room that is
    /// collected or waited for.
    pub fn freed_for_others(&self, app: AppId) -> Resource {
        self.kept(|claim| claim.is_freed() && (claim.app != app || claim.purpose != For::Start))
    }

    /// For how many new containers of that size room was freed for `app`.
    pub fn freed_for(&self, app: AppId, resource: Resource) -> u32 {
        self.starts_of(app, resource).filter(|claim| claim.is_freed()).count() as u32
    }

    /// For how many it is kept, freed or not.
    pub fn kept_for(&self, app: AppId, resource: Resource) -> u32 {
        self.starts_of(app, resource).count() as u32
    }

    fn starts_of(&self, app: AppId, resource: Resource) -> impl Iterator<Item = &Claim> {
        let own = move |claim: &&Claim| claim.app == app && claim.resource == resource && claim.purpose == For::Start;
        self.claims.iter().filter(own)
    }

    /// What of the usable room was freed for others than that suspended container.
    pub fn freed_for_all_but(&self, id: ContainerId) -> Resource {
        self.kept(|claim| claim.is_freed() && claim.purpose != For::Resume(id))
    }

    /// Room freed for somebody.
    pub fn freed_in_all(&self) -> Resource {
        self.claimed(Claim::is_freed)
    }

    /// Room kept for somebody.
    pub fn claimed_in_all(&self) -> Resource {
        self.claimed(|_| true)
    }

    /// What of the usable room is kept for somebody.
    pub fn kept_in_all(&self) -> Resource {
        self.kept(|_| true)
    }

    fn claimed(&self, which: impl Fn(&Claim) -> bool) -> Resource {
        self.claims.iter().filter(|claim| which(claim)).fold(Resource::ZERO, |sum, claim| sum + claim.resource)
    }

    fn kept(&self, which: impl Fn(&Claim) -> bool) -> Resource {
        let claims = self.claims.iter().filter(|claim| which(claim));
        claims.fold(Resource::ZERO, |sum, claim| sum + claim.resource - claim.coming())
    }

    /// The oldest claim of that application and size is served, if it was there when that was proposed.
    pub(super) fn drop_claim(&mut self, app: AppId, resource: Resource) {
        let meant = |claim: &Claim| claim.app == app && claim.resource == resource && claim.purpose == For::Start;
        if let Some(at) = self.claims.iter().position(|claim| meant(claim) && !claim.fresh) {
            self.claims.remove(at);
        }
    }

    pub(super) fn add(&mut self, id: ContainerId, container: &Container) {
        self.containers.insert(id);
        if container.is_master {
            self.masters += container.resource();
        }
        if container.state.is_suspended() {
            self.suspended.insert(id);
            self.suspended_memory_mb += container.resource().memory_mb;
            if let super::State::MustSuspend { .. } = container.state {
                self.settling += container.resource();
                // It may have gone for an older claim before.
                if let Some(claim) = self.claims.iter_mut().rfind(|claim| claim.victims.contains(&id)) {
                    claim.settling.insert(id, container.resource());
                }
            }
        } else {
            self.used += container.resource();
        }
    }

    pub(super) fn remove(&mut self, id: ContainerId, container: &Container) {
        self.containers.remove(&id);
        if container.is_master {
            self.masters -= container.resource();
        }
        if container.state.is_suspended() {
            self.suspended.remove(&id);
            self.suspended_memory_mb -= container.resource().memory_mb;
            if let super::State::MustSuspend { .. } = container.state {
                self.settled(id, container.resource());
            }
        } else {
            self.used -= container.resource();
        }
    }

    /// A demoted container's room is usable now, or used by itself again.
    pub(super) fn settled(&mut self, id: ContainerId, resource: Resource) {
        self.settling -= resource;
        for claim in &mut self.claims {
            claim.settling.remove(&id);
        }
    }
}
