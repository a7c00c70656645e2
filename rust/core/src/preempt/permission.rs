//! Whether a container may be taken at all (laws 3, 5 and 6): whoever wants it, and whatever is bought with it.

use super::how::{how, Candidate, How};
use super::victims;
use crate::estimate;
use crate::settings::{ClusterSettings, QueueSettings, Settings};
use crate::state::{Cluster, Container, Job, Node, State};
use crate::units::{ContainerId, Millis, PartitionId};

/// How the container on a live node of the partition may go now, and the run time that it probably has left; `None` if it may
/// not.
pub(super) fn may_take(
    cluster: &Cluster,
    settings: &Settings,
    queue: &QueueSettings,
    job: &Job,
    (id, container): (ContainerId, &Container),
    partition: PartitionId,
) -> Option<(How, Millis)> {
    let now = cluster.now();
    // What is parked is suspended anyway, or runs on where that is impossible; nobody takes it.
    // What borrows runs in room that is nobody's to take, and goes when the lender wants it back.
    let stays = container.lender.is_some()
        || container.is_master
        || container.proposed
        || container.barred_until > now
        || job.has_parked(container);
    if container.state != State::Running || stays {
        return None;
    }
    let node = cluster.nodes().get(&container.node)?;
    if node.partition != partition || !node.is_live(now) || node.decommissioning {
        return None;
    }
    let phase = job.phases.get(&container.phase)?;
    let done = job.progress_of(id, container.phase);
    let left = estimate::task_left(phase, job.worked(id, container, now), done, queue.default_task);
    // Patience keeps jobs from taking in turns (law 8). Under orders over all jobs nobody takes from its own queue, and what
    // began last is meant to go; they have a bound of their own.
    let killed = phase.kill_rounds(container);
    let in_crowd = victims::order(queue.victims).over_all_jobs().is_some();
    if in_crowd && queue.gp.max_kills.is_some_and(|most| killed >= most) {
        return None;
    }
    let candidate = Candidate {
        mode: settings.cluster.mode,
        ran: container.run_time(now),
        running_for: container.running_for(now)?,
        left,
        suspensions: container.suspensions,
        kill_rounds: if in_crowd { 0 } else { killed },
        node_can_suspend: node.can_suspend,
        memory_fits: container.resource().memory_mb <= room_for_suspended_mb(&settings.cluster, node),
    };
    how(queue, &candidate).map(|how| (how, left))
}

/// Memory that may still be suspended on the node, in MiB, after what this step proposes.
pub fn room_for_suspended_mb(cluster: &ClusterSettings, node: &Node) -> i64 {
    node.most_suspended_mb(cluster.max_suspended_memory) - node.suspended_memory_mb - node.leaving.memory_mb
}
