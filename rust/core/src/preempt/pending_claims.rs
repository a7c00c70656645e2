//! Claims that wait for their room while more is freed, and what is free beside them: the jobs ask for it again and again in one plan.

use super::permission::may_start_on;
use crate::fact::PhaseKey;
use crate::plan::PartitionPlan;
use crate::state::{Claim, Cluster, For, Node, Reason, Rooms, State};
use crate::units::{AppId, ContainerId, NodeId, PartitionId, Resource};
use std::collections::{BTreeMap, BTreeSet};

/// Claims by job, and room that is nobody's.
pub(super) struct PendingClaims {
    partition: PartitionId,
    /// Sizes of the new containers that each job has room claimed for.
    starts: BTreeMap<AppId, Vec<Resource>>,
    /// The same for its suspended containers.
    resumes: BTreeMap<AppId, Vec<Resource>>,
    /// For whom, and on which nodes of the partition, room is collected as containers end, and not there yet.
    collecting: BTreeSet<(AppId, NodeId)>,
    /// Those of them on whose node memory is free or on its way, with how much, in MiB: jobs ask by the thousand, and most nodes
    /// have little.
    ripening: BTreeMap<(AppId, NodeId), i64>,
    /// Suspended containers for which there is room, or a claim to some, since this began.
    back: BTreeSet<ContainerId>,
    /// Room that suspended containers will use, by node.
    promised: BTreeMap<NodeId, Resource>,
}

impl PendingClaims {
    pub(super) fn new(cluster: &Cluster, partition: PartitionId) -> PendingClaims {
        let mut pending_claims = PendingClaims {
            partition,
            starts: BTreeMap::new(),
            resumes: BTreeMap::new(),
            collecting: BTreeSet::new(),
            ripening: BTreeMap::new(),
            back: BTreeSet::new(),
            promised: BTreeMap::new(),
        };
        for (id, node) in cluster.claimed().filter(|(_, node)| node.partition == partition) {
            for claim in &node.claims {
                if is_collecting(node, claim) {
                    pending_claims.collecting.insert((claim.app, id));
                    continue;
                }
                // Who waits at home for what ends there may take victims, and counts when it has.
                if claim.purpose != For::Start && !claim.is_freed() {
                    continue;
                }
                let of_purpose =
                    if claim.purpose == For::Start { &mut pending_claims.starts } else { &mut pending_claims.resumes };
                of_purpose.entry(claim.app).or_default().push(claim.resource);
            }
            pending_claims.look_again(cluster, id);
        }
        pending_claims
    }

    /// Notes a claim for a new container that was just made on the node.
    pub(super) fn claim_made(&mut self, cluster: &Cluster, id: NodeId, app: AppId, resource: Resource) {
        self.starts.entry(app).or_default().push(resource);
        self.look_again(cluster, id);
    }

    /// Gives up the room of that size that is collected for the job.
    pub(super) fn stop_collecting(
        &mut self,
        cluster: &mut Cluster,
        app: AppId,
        resource: Resource,
    ) -> Option<(NodeId, Claim)> {
        let (id, at) = self.collecting_for(app).find_map(|id| {
            let node = cluster.nodes().get(&id)?;
            let meant = |claim: &Claim| claim.app == app && claim.resource == resource && is_collecting(node, claim);
            Some((id, node.claims.iter().position(meant)?))
        })?;
        let claim = cluster.take_claim(id, at)?;
        self.forget_collecting(app, id);
        self.look_again(cluster, id);
        Some((id, claim))
    }

    /// Whether a container at that place of the order finds room that is collected for its job, or for one later in the order, and
    /// of which enough is there or on its way: then that is the job's. Claims do not outlive the rank of their jobs.
    pub(super) fn take_over(
        &mut self,
        cluster: &mut Cluster,
        plan: &PartitionPlan,
        place: usize,
        key: &PhaseKey,
    ) -> bool {
        let need = key.resource;
        let Some(beneficiary) = plan.entries.get(place).map(|entry| entry.app) else { return false };
        let enough = self.ripening.iter().filter(|(_, coming_mb)| **coming_mb >= need.memory_mb);
        let found = enough.map(|(key, _)| key).find_map(|(app, id)| {
            let own = *app == beneficiary;
            let node = cluster.nodes().get(id).filter(|_| own || plan.is_before(place, *app))?;
            let gives = |claim: &Claim| {
                let meant = claim.app == *app && is_collecting(node, claim) && (!own || claim.resource == need);
                meant && need.fits_in(node.coming_beside(claim.resource))
            };
            let welcome = node.is_live(cluster.now())
                && !cluster.is_refused(beneficiary, *id)
                && may_start_on(cluster, beneficiary, key, *id);
            Some((*app, *id, node.claims.iter().position(gives).filter(|_| welcome)?))
        });
        let Some((app, id, at)) = found else { return false };
        let Some(claim) = cluster.take_claim(id, at) else { return false };
        self.forget_collecting(app, id);
        let of_beneficiary = || Claim::new(beneficiary, For::Start, need, cluster.now(), Vec::new());
        let claim = if app == beneficiary { claim } else { of_beneficiary() };
        cluster.claim(id, claim);
        self.claim_made(cluster, id, beneficiary, need);
        true
    }

    fn forget_collecting(&mut self, app: AppId, id: NodeId) {
        self.collecting.remove(&(app, id));
        self.ripening.remove(&(app, id));
    }

    /// Room is collected for the claim on that node.
    pub(super) fn collect(&mut self, cluster: &mut Cluster, id: NodeId, claim: Claim) {
        self.collecting.insert((claim.app, id));
        cluster.claim(id, claim);
        self.look_again(cluster, id);
    }

    /// What is claimed on the node has just changed.
    pub(super) fn look_again(&mut self, cluster: &Cluster, id: NodeId) {
        self.promised.remove(&id);
        let Some(node) = cluster.nodes().get(&id) else { return };
        for claim in node.claims.iter().filter(|claim| self.collecting.contains(&(claim.app, id))) {
            match node.coming_beside(claim.resource).memory_mb {
                coming_mb if coming_mb > 0 => drop(self.ripening.insert((claim.app, id), coming_mb)),
                _ => drop(self.ripening.remove(&(claim.app, id))),
            }
        }
    }

    /// Notes that the suspended container has room on its node now, or a claim to some.
    pub(super) fn comes_back(&mut self, app: AppId, id: ContainerId, resource: Resource) {
        self.resumes.entry(app).or_default().push(resource);
        self.back.insert(id);
    }

    /// Whether the job has room claimed anywhere.
    pub(super) fn has_claims(&self, app: AppId) -> bool {
        self.starts.contains_key(&app) || self.collecting_for(app).next().is_some()
    }

    fn collecting_for(&self, app: AppId) -> impl Iterator<Item = NodeId> + '_ {
        self.collecting.range((app, NodeId(u32::MIN))..=(app, NodeId(u32::MAX))).map(|(_, node)| *node)
    }

    /// For how many containers of that size the job has room claimed.
    pub(super) fn claims_of(&self, app: AppId, resource: Resource) -> u32 {
        self.starts.get(&app).map_or(0, |sizes| sizes.iter().filter(|size| **size == resource).count() as u32)
    }

    /// How much the job's claims will give it, as a fraction of `total`.
    pub(super) fn claimed_share(&self, app: AppId, total: Resource) -> f64 {
        let sizes = self.starts.get(&app).into_iter().chain(self.resumes.get(&app)).flatten();
        sizes.map(|size| size.dominant_share(total)).fold(0.0, |sum, one| sum + one)
    }

    /// Suspended containers of the job that could come back and are not on their way, in the order in which they go on.
    pub(super) fn suspended_of(&self, cluster: &Cluster, app: AppId) -> Vec<ContainerId> {
        let Some(job) = cluster.jobs().get(&app).filter(|job| !job.suspended.is_empty()) else { return Vec::new() };
        let mut waiting = Vec::new();
        for id in job.suspended.iter().filter(|id| !self.back.contains(id)) {
            let Some(container) = cluster.containers().get(id) else { continue };
            let home = cluster.nodes().get(&container.node).filter(|node| node.partition == self.partition);
            let claimed =
                |node: &Node| node.claims.iter().any(|claim| claim.purpose == For::Resume(*id) && claim.is_freed());
            let lent = container.reason == Some(Reason::Lent);
            let stays = lent
                || container.proposed
                || container.barred_until > cluster.now()
                || job.has_parked(container)
                || container.state != State::Suspended;
            if !stays && home.is_some_and(|node| node.is_live(cluster.now()) && !claimed(node)) {
                waiting.push((container.resume_order(cluster.now()), *id));
            }
        }
        waiting.sort_unstable();
        waiting.into_iter().map(|(_, id)| id).collect()
    }

    /// Whether the node has so much room that nobody claims; then it is promised.
    pub(super) fn use_room(&mut self, cluster: &Cluster, id: NodeId, need: Resource) -> bool {
        let live = |node: &&Node| node.partition == self.partition && node.is_live(cluster.now());
        let Some(node) = cluster.nodes().get(&id).filter(live) else { return false };
        let promised = self.promised.entry(id).or_default();
        let fits = need.fits_in(node.usable() - node.kept_in_all() - *promised);
        if fits {
            *promised += need;
        }
        fits
    }

    /// How many containers of that size, up to `enough`, would find room without taking anything from anybody.
    pub(super) fn free_places(&self, cluster: &Cluster, app: AppId, key: &PhaseKey, enough: u32) -> u32 {
        let (partition, job) = (cluster.partitions().get(&self.partition), cluster.jobs().get(&app));
        let (Some(partition), Some(job)) = (partition, job) else { return 0 };
        let sides = partition.rooms.all().map(|(side, rooms)| {
            let enough = enough.min(job.most_on(key, side));
            self.free_places_among(cluster, app, key, enough, rooms)
        });
        sides.fold(0, u32::saturating_add).min(enough)
    }

    fn free_places_among(&self, cluster: &Cluster, app: AppId, key: &PhaseKey, enough: u32, rooms: &Rooms) -> u32 {
        let (mut places, mut last) = (0, None);
        while places < enough {
            last = rooms.next(last, |usable| key.resource.fits_in(usable));
            let Some(room) = last else { break };
            let starts = |node: &&Node| node.is_live(cluster.now()) && !cluster.is_refused(app, room.node);
            let Some(node) = cluster.nodes().get(&room.node).filter(starts) else { continue };
            let promised = self.promised.get(&room.node).copied().unwrap_or_default();
            let free = node.usable() - node.kept_in_all() - promised;
            places += key.resource.times_in(free).min(enough);
        }
        places.min(enough)
    }
}

/// Whether the claim waits for room to come by itself, and it is not there yet.
fn is_collecting(node: &Node, claim: &Claim) -> bool {
    claim.purpose == For::Start && !claim.is_freed() && !claim.resource.fits_in(node.usable())
}
