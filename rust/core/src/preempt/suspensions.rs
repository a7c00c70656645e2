//! Suspensions end by a deadline (law 6), and whoever is in the way of a container that was given out goes.

use super::settings_of;
use crate::decision::Cause;
use crate::settings::Settings;
use crate::state::{Claim, Cluster, For, Node};
use crate::units::{ContainerId, Millis};

/// First the container's room is claimed where it is, later it is killed. And a container that was given out but cannot start
/// because suspended ones are in its way gets one of them removed.
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
    let long = |node: &Node| node.waiting_since.is_some_and(|since| now.since(since) >= settings.cluster.stall_timeout);
    let stalled: Vec<_> = cluster.stalled().filter(|(_, node)| long(node)).map(|(id, _)| id).collect();
    for id in stalled {
        let parked = |id: &&ContainerId| cluster.containers().get(id).is_some_and(|found| cluster.is_parked(found));
        let suspended = cluster.nodes().get(&id).into_iter().flat_map(|node| node.suspended.iter().rev());
        let in_the_way = suspended.min_by_key(parked).copied();
        cluster.restart_stall(id);
        if let Some(container) = in_the_way {
            kill(cluster, container, Cause::InTheWay);
        }
    }
}

/// Proposes to kill the container, unless something stands against it: that it was refused to go on a moment ago does not.
pub(super) fn kill(cluster: &mut Cluster, id: ContainerId, cause: Cause) {
    let now = cluster.now();
    if cluster.containers().get(&id).is_some_and(|c| !c.is_master && !c.proposed && c.kept_until <= now) {
        cluster.kill(id, cause);
    }
}
