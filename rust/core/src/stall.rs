//! Containers that were given out and cannot start: whoever is in their way goes.

use crate::decision::Cause;
use crate::park;
use crate::preempt;
use crate::settings::{Primitive, Settings};
use crate::state::{Cluster, Container, Node, Reason};
use crate::units::{ContainerId, NodeId};

/// Where some have waited for `stall-timeout-ms` because suspended ones are in their way, one of these is removed; where none is
/// suspended, and the node has become too small for what it has given out, the newest is.
pub fn end_stalls(cluster: &mut Cluster, settings: &Settings) {
    let now = cluster.now();
    let long = |node: &Node| node.waiting_since.is_some_and(|since| now.since(since) >= settings.cluster.stall_timeout);
    let stalled: Vec<_> = cluster.stalled().filter(|(_, node)| long(node)).map(|(id, _)| id).collect();
    for id in stalled {
        let parked = |id: &&ContainerId| cluster.containers().get(id).is_some_and(|found| cluster.is_parked(found));
        let suspended = cluster.nodes().get(&id).into_iter().flat_map(|node| node.suspended.iter().rev());
        let in_the_way = suspended.min_by_key(parked).copied();
        cluster.restart_stall(id);
        if let Some(container) = in_the_way {
            preempt::kill(cluster, container, Cause::InTheWay);
        } else if let Some(container) = newest_beyond_total(cluster, settings, id) {
            cluster.suspend(container, Reason::Overcommitted);
        }
    }
}

/// Who went on or began last on a node that has become smaller than what it has given out, and so is probably who cannot start.
fn newest_beyond_total(cluster: &Cluster, settings: &Settings, id: NodeId) -> Option<ContainerId> {
    let node = cluster.nodes().get(&id).filter(|node| !node.used.fits_in(node.total))?;
    let found = node.containers.iter().filter_map(|id| cluster.containers().get(id).map(|container| (*id, container)));
    let may_go = |(_, container): &(ContainerId, &Container)| {
        let rules = settings.queue(cluster.queue_path(container.app));
        let stays = container.is_master || container.proposed || container.lender.is_some();
        !stays
            && cluster.may_be_suspended(container, settings)
            && rules.preemption != Primitive::Wait
            && park::obstacle(cluster, &settings.cluster, container).is_none()
    };
    found.filter(may_go).max_by_key(|(id, container)| (container.since, *id)).map(|(id, _)| id)
}
