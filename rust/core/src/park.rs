//! Parking: what was put aside by hand is suspended as far as its nodes, their memory and the mode allow. It is a human's
//! order: no minimum run time, no budget of suspended time and no queue's `preemption` or `suspend-types` stand against it, and no
//! deadline ends it.

use crate::preempt::room_for_suspended_mb;
use crate::settings::{ClusterSettings, Mode};
use crate::state::{Cluster, Container, Reason, State};
use crate::units::ContainerId;

/// Suspends what is parked and still counts.
pub fn park(cluster: &mut Cluster, settings: &ClusterSettings) {
    let counting: Vec<ContainerId> = running(cluster).map(|(id, _)| id).collect();
    for container in counting {
        let found = cluster.containers().get(&container).filter(|found| !found.proposed);
        if found.is_some_and(|found| obstacle(cluster, settings, found).is_none()) {
            cluster.suspend(container, Reason::Parked);
        }
    }
}

/// Containers that are parked and still count.
pub fn running(cluster: &Cluster) -> impl Iterator<Item = (ContainerId, &Container)> {
    let with_their_jobs = cluster.parked_jobs().flat_map(|job| &job.containers);
    let found = |id: &ContainerId| cluster.containers().get(id).map(|container| (*id, container));
    let alone = cluster.parked_containers().iter().filter_map(found).filter(|(_, container)| {
        let job = cluster.jobs().get(&container.app);
        !container.is_master && job.is_some_and(|job| !job.parked)
    });
    let counts = |(_, container): &(ContainerId, &Container)| !container.is_master && !container.state.is_suspended();
    with_their_jobs.filter_map(found).chain(alone).filter(counts)
}

/// Why a container that is parked cannot be suspended now.
pub fn obstacle(cluster: &Cluster, settings: &ClusterSettings, container: &Container) -> Option<&'static str> {
    let node = cluster.nodes().get(&container.node)?;
    if settings.mode < Mode::Suspend {
        Some("the mode allows no suspension")
    } else if !node.can_suspend {
        Some("its node cannot suspend")
    } else if node.decommissioning {
        Some("its node is being decommissioned")
    } else if container.state != State::Running {
        Some("it is about to start")
    } else if container.barred_until > cluster.now() {
        Some("it was refused a moment ago")
    } else if container.resource().memory_mb > room_for_suspended_mb(settings, node) {
        Some("suspended containers keep as much of its node's memory as they may")
    } else {
        None
    }
}
