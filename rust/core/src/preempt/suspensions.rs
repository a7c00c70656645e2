//! Suspensions end by a deadline (law 6).

use super::settings_of;
use crate::decision::Cause;
use crate::settings::Settings;
use crate::state::{Claim, Cluster, For, Node};
use crate::units::{ContainerId, Millis};

/// First the container's room is claimed where it is, later it is killed.
pub fn end_suspensions(cluster: &mut Cluster, settings: &Settings) {
    let now = cluster.now();
    // No deadline of any queue is before this.
    let earliest = Millis(now.0.saturating_sub(settings.shortest_max_suspension().0));
    let overdue = cluster.suspended_since(earliest).filter(|(_, container)| !cluster.is_parked(container));
    let mut overdue: Vec<_> = overdue.map(|(id, c)| (id, c.since, c.node, c.app, c.resource())).collect();
    overdue.sort_unstable_by_key(|(id, ..)| *id);
    for (id, since, node, app, resource) in overdue {
        let deadline = settings_of(cluster, settings, app).max_suspension;
        let spent = now.since(since);
        if spent >= deadline + deadline {
            kill(cluster, id, Cause::SuspendedTooLong);
        } else if spent >= deadline {
            let waits = |claim: &Claim| claim.purpose == For::Resume(id);
            let needs =
                |node: &Node| !node.decommissioning && !node.claims.iter().any(waits) && !node.loans.contains_key(&id);
            if cluster.nodes().get(&node).is_some_and(needs) {
                cluster.claim(node, Claim::new(app, For::Resume(id), resource, now, Vec::new()));
            }
        }
    }
}

/// Proposes to kill the container, unless something stands against it: that it was refused to go on a moment ago does not.
pub fn kill(cluster: &mut Cluster, id: ContainerId, cause: Cause) {
    let now = cluster.now();
    if cluster.containers().get(&id).is_some_and(|c| !c.is_master && !c.proposed && c.kept_until <= now) {
        cluster.kill(id, cause);
    }
}
