//! Suspensions end by a deadline (law 6): with the next room at home, and where killing is allowed by a kill, so that the task is run again
//! elsewhere.

use super::settings_of;
use crate::decision::Cause;
use crate::settings::{Mode, Settings};
use crate::state::{Claim, Cluster, Container, For, Node, Reason};
use crate::units::{ContainerId, Millis, Resource};

/// First the container's room is claimed where it is; in the mode `kill` it is killed later.
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
        if spent >= deadline + deadline && may_kill(cluster, settings, id) {
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

/// Whether the suspended container may be killed, so that it is run again elsewhere: where that is allowed, or reduces of its own job
/// wait for it in its room.
pub fn may_kill(cluster: &Cluster, settings: &Settings, id: ContainerId) -> bool {
    let stuck = || cluster.containers().get(&id).is_some_and(|container| reduces_have_its_room(cluster, container));
    settings.cluster.mode == Mode::Kill || stuck()
}

/// Whether a map lacks at home what reduces of its own job have there. These wait for it, and do not end before it: it is kept out,
/// whatever its job holds, and nothing is taken from them for it (law 2). But what had borrowed of one goes on when the next lends.
pub(super) fn reduces_have_its_room(cluster: &Cluster, map: &Container) -> bool {
    let borrowed = matches!(map.reason, Some(Reason::Recalled { .. }));
    let is_map =
        !borrowed && map.phase.is_of_maps() && cluster.jobs().get(&map.app).is_some_and(|job| job.is_map_reduce());
    let Some(home) = cluster.nodes().get(&map.node).filter(|_| is_map) else { return false };
    let reduce =
        |other: &&Container| other.app == map.app && other.phase.is_of_reduces() && !other.state.is_suspended();
    let reduces = cluster.on_node(map.node).map(|(_, other)| other).filter(reduce);
    let theirs = reduces.fold(Resource::ZERO, |sum, reduce| sum + reduce.resource());
    let (need, room) = (map.resource(), home.usable());
    !need.fits_in(room) && need.fits_in(room + theirs)
}

/// Proposes to kill the container, unless something stands against it: that it was refused to go on a moment ago does not.
pub fn kill(cluster: &mut Cluster, id: ContainerId, cause: Cause) {
    let now = cluster.now();
    if cluster.containers().get(&id).is_some_and(|c| !c.is_master && !c.proposed && c.kept_until <= now) {
        cluster.kill(id, cause);
    }
}
