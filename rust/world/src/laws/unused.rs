//! Law 22: what was freed for a job is used by it as soon as it is there. Whatever keeps it from that the core must have known before.

use super::lasting::Lasting;
use crate::world::World;
use hiatus_core::fact::{Fact, Rejection};
use hiatus_core::state::{Claim, Cluster, For, Node};
use hiatus_core::units::{AppId, Millis, NodeId, Resource};
use std::collections::BTreeSet;

/// For so long such room may lie idle beside two heartbeats of its node, one of which a refusal takes: a job backs off after limits were tried.
const LATE: Millis = Millis(3_000);

/// A claim: where, whose, how large, and since when.
type Key = (NodeId, AppId, Resource, Millis);

/// Which freed room lies idle: since when, and since how many heartbeats of its node.
#[derive(Debug, Default)]
pub(super) struct Unused {
    idle: Lasting<Key, (Millis, u64)>,
    /// To whom something happened of which the core could know nothing.
    excused: BTreeSet<AppId>,
}

impl Unused {
    /// The application was refused, or not offered, what it could have had.
    pub(super) fn excuse(&mut self, app: AppId) {
        self.excused.insert(app);
    }

    /// Looks what lies idle now.
    ///
    /// # Panics
    /// If something has for too long.
    pub(super) fn look(&mut self, world: &World, facts: &[Fact]) {
        let cluster = world.core.cluster();
        // Limits and delays for locality are the ResourceManager's own: how much of each there is it does not say before.
        self.excused.extend(facts.iter().filter_map(|fact| match fact {
            Fact::AssignRejected { app, reason: Rejection::Limit | Rejection::Locality, .. } => Some(*app),
            _ => None,
        }));
        let excused = std::mem::take(&mut self.excused);
        for (id, node) in cluster.claimed() {
            for claim in node.claims.iter().filter(|claim| is_ready(cluster, node, claim)) {
                let key = (id, claim.app, claim.resource, claim.made);
                if excused.contains(&claim.app) {
                    self.idle.forget(&key);
                }
                let (since, beats) = self.idle.since(key, (cluster.now(), node.heartbeats));
                let (spent, limit) = (cluster.now().since(since), world.heartbeat + world.heartbeat + LATE);
                assert!(
                    spent <= limit || node.heartbeats <= beats + 2,
                    "law 22: room freed for {} on {id:?} has lain idle for {spent:?} until {:?}: {claim:?}; it asks for {:?}",
                    cluster.jobs()[&claim.app].name,
                    cluster.now(),
                    cluster.jobs()[&claim.app].asks(node.partition).collect::<Vec<_>>()
                );
            }
        }
        self.idle.looked();
    }
}

/// Whether the room is there, and its job could start in it: it is for what the job asks for first. What comes behind that waits for it.
fn is_ready(cluster: &Cluster, node: &Node, claim: &Claim) -> bool {
    let Some(job) = cluster.jobs().get(&claim.app).filter(|job| job.may_start() && !job.backs_off) else {
        return false;
    };
    // What of its own is suspended there goes on first.
    if job.suspended.iter().any(|id| node.suspended.contains(id)) {
        return false;
    }
    let room = node.usable() - node.freed_for_others(claim.app);
    let there = node.is_live(cluster.now()) && claim.is_freed() && claim.resource.fits_in(room);
    let first = job.asks(node.partition).map(|(key, _)| key.resource).next();
    there && claim.purpose == For::Start && first == Some(claim.resource)
}
