//! What is spoken for and what is free, gathered once per plan: the jobs ask for it again and again.

use crate::state::{Cluster, For, Node};
use crate::units::{AppId, NodeId, PartitionId, Resource};
use std::collections::BTreeMap;

/// Claims by job, and room that is nobody's.
pub(super) struct Books {
    /// Sizes of the containers that each job has room claimed for.
    starts: BTreeMap<AppId, Vec<Resource>>,
    /// Live nodes of the partition with room that nobody claims.
    free: BTreeMap<NodeId, Resource>,
}

impl Books {
    pub(super) fn open(cluster: &Cluster, partition: PartitionId) -> Books {
        let mut books = Books { starts: BTreeMap::new(), free: BTreeMap::new() };
        for (id, node) in &cluster.nodes {
            for claim in node.claims.iter().filter(|claim| claim.purpose == For::Start) {
                books.starts.entry(claim.app).or_default().push(claim.resource);
            }
            if node.partition == partition && node.is_live(cluster.now) {
                books.free.extend(free(node).map(|room| (*id, room)));
            }
        }
        books
    }

    /// Notes a claim that was just made on the node.
    pub(super) fn claim_made(&mut self, cluster: &Cluster, id: NodeId, app: AppId, resource: Resource) {
        self.starts.entry(app).or_default().push(resource);
        self.free.remove(&id);
        self.free.extend(cluster.nodes.get(&id).and_then(free).map(|room| (id, room)));
    }

    /// Whether the job has room claimed anywhere.
    pub(super) fn has_claims(&self, app: AppId) -> bool {
        self.starts.contains_key(&app)
    }

    /// For how many containers of that size the job has room claimed.
    pub(super) fn claims_of(&self, app: AppId, resource: Resource) -> u32 {
        self.starts.get(&app).map_or(0, |sizes| sizes.iter().filter(|size| **size == resource).count() as u32)
    }

    /// How much the job's claims will give it, as a fraction of `total`.
    pub(super) fn claimed_share(&self, app: AppId, total: Resource) -> f64 {
        self.starts.get(&app).map_or(0.0, |sizes| sizes.iter().map(|size| size.dominant_share(total)).sum())
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

/// The node's room that nobody claims, if there is any.
fn free(node: &Node) -> Option<Resource> {
    let room = node.usable() - node.kept_in_all();
    (room.memory_mb > 0).then_some(room)
}
