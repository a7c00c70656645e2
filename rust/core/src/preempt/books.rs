//! What is spoken for and what is free, gathered once per plan: the jobs ask for it again and again.

use crate::state::{is_parked, Claim, Cluster, For, Node, State};
use crate::units::{AppId, ContainerId, NodeId, PartitionId, Resource};
use std::collections::BTreeMap;

/// Claims by job, and room that is nobody's.
pub(super) struct Books {
    /// Sizes of the new containers that each job has room claimed for.
    starts: BTreeMap<AppId, Vec<Resource>>,
    /// The same for its suspended containers.
    resumes: BTreeMap<AppId, Vec<Resource>>,
    /// Nodes of the partition on which room is collected for a job as containers end, and not there yet.
    collecting: BTreeMap<AppId, NodeId>,
    /// Suspended containers by job, longest suspended first, parked ones aside.
    suspended: BTreeMap<AppId, Vec<ContainerId>>,
    /// Live nodes of the partition with room that nobody claims.
    free: BTreeMap<NodeId, Resource>,
}

impl Books {
    pub(super) fn open(cluster: &Cluster, partition: PartitionId) -> Books {
        let (starts, resumes, collecting) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let suspended = suspended(cluster, partition);
        let mut books = Books { starts, resumes, collecting, suspended, free: BTreeMap::new() };
        for (id, node) in &cluster.nodes {
            for claim in &node.claims {
                if is_collecting(node, claim) && node.partition == partition {
                    books.collecting.insert(claim.app, *id);
                    continue;
                }
                let of_purpose = if claim.purpose == For::Start { &mut books.starts } else { &mut books.resumes };
                of_purpose.entry(claim.app).or_default().push(claim.resource);
            }
            if node.partition == partition && node.is_live(cluster.now) {
                books.free.extend(free(node).map(|room| (*id, room)));
            }
        }
        books
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
        let id = *self.collecting.get(&app)?;
        let node = cluster.nodes.get_mut(&id)?;
        let mut claims = node.claims.iter();
        let at =
            claims.position(|claim| claim.app == app && claim.resource == resource && is_collecting(node, claim))?;
        let claim = node.claims.remove(at);
        self.collecting.remove(&app);
        self.look_again(cluster, id);
        Some((id, claim))
    }

    /// Room is collected for the claim on that node.
    pub(super) fn collect(&mut self, cluster: &mut Cluster, id: NodeId, claim: Claim) {
        self.collecting.insert(claim.app, id);
        if let Some(node) = cluster.nodes.get_mut(&id) {
            node.claims.push(claim);
        }
        self.look_again(cluster, id);
    }

    /// Something was just claimed on the node.
    pub(super) fn look_again(&mut self, cluster: &Cluster, id: NodeId) {
        self.free.remove(&id);
        self.free.extend(cluster.nodes.get(&id).and_then(free).map(|room| (id, room)));
    }

    /// Notes that the suspended container has room on its node now, or a claim to some.
    pub(super) fn comes_back(&mut self, app: AppId, id: ContainerId, resource: Resource) {
        self.resumes.entry(app).or_default().push(resource);
        if let Some(suspended) = self.suspended.get_mut(&app) {
            suspended.retain(|other| *other != id);
        }
    }

    /// Whether the job has room claimed anywhere.
    pub(super) fn has_claims(&self, app: AppId) -> bool {
        self.starts.contains_key(&app) || self.collecting.contains_key(&app)
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

    /// Suspended containers of the job that are not on their way back, longest suspended first.
    pub(super) fn suspended_of(&self, app: AppId) -> Vec<ContainerId> {
        self.suspended.get(&app).cloned().unwrap_or_default()
    }

    /// Whether the node has so much room that nobody claims; then it is spoken for.
    pub(super) fn use_room(&mut self, node: NodeId, need: Resource) -> bool {
        let Some(room) = self.free.get_mut(&node).filter(|room| need.fits_in(**room)) else { return false };
        *room -= need;
        true
    }

    /// How many containers of that size, up to `enough`, would find room without taking anything from anybody.
    pub(super) fn free_places(&self, cluster: &Cluster, app: AppId, resource: Resource, enough: u32) -> u32 {
        let mut places = 0;
        for (id, room) in &self.free {
            if places >= enough {
                break;
            }
            let refused = cluster.nodes.get(id).is_some_and(|node| node.refused.contains(&app));
            places += if refused { 0 } else { resource.times_in(*room).min(enough) };
        }
        places.min(enough)
    }
}

/// Suspended containers by job that could come back and are not on their way yet.
fn suspended(cluster: &Cluster, partition: PartitionId) -> BTreeMap<AppId, Vec<ContainerId>> {
    let mut by_job: BTreeMap<AppId, Vec<ContainerId>> = BTreeMap::new();
    let found = cluster.suspended.iter().filter_map(|id| cluster.containers.get(id).map(|found| (*id, found)));
    for (id, container) in found {
        let home = cluster.nodes.get(&container.node).filter(|node| node.partition == partition);
        let claimed = |node: &Node| node.claims.iter().any(|claim| claim.purpose == For::Resume(id));
        let parked = is_parked(&cluster.jobs, container);
        let stays = container.proposed || parked || container.state != State::Suspended;
        if !stays && home.is_some_and(|node| node.is_live(cluster.now) && !claimed(node)) {
            by_job.entry(container.app).or_default().push(id);
        }
    }
    for ids in by_job.values_mut() {
        ids.sort_by_key(|id| (cluster.containers.get(id).map(|found| found.since), *id));
    }
    by_job
}

/// Whether the claim waits for room to come by itself, and it is not there yet.
fn is_collecting(node: &Node, claim: &Claim) -> bool {
    claim.purpose == For::Start && !claim.is_freed() && !claim.resource.fits_in(node.usable())
}

/// The node's room that nobody claims, if there is any.
fn free(node: &Node) -> Option<Resource> {
    let room = node.usable() - node.kept_in_all();
    (room.memory_mb > 0).then_some(room)
}
