//! Placing: gives a node's room to the jobs in the order of the plan. First those below their targets, then anybody, so
//! that nothing is idle while somebody wants it (law 8); claimed room goes to whom it is kept for (law 4). A job's
//! suspended containers there come before new ones: their work is done already (HFSP thesis, section 6.3.1).

use crate::decision::Decision;
use crate::entitlement::EPSILON;
use crate::plan::{PartitionPlan, Planner};
use crate::state::{Cluster, For, State};
use crate::units::{AppId, ContainerId, NodeId, PartitionId, Resource};

/// Proposes containers for all nodes that are worth a look. New demand is looked at once the plan ranks it: `fresh` says
/// that it was made in this step.
pub fn place(cluster: &mut Cluster, planner: &Planner, fresh: bool) {
    let woken: Vec<NodeId> = std::mem::take(&mut cluster.woken).into_iter().collect();
    for node in &woken {
        place_on(cluster, planner, *node);
    }
    if fresh && std::mem::take(&mut cluster.new_demand) {
        // Most room first, so that a job spreads over idle nodes instead of filling one.
        let mut others: Vec<_> = cluster
            .nodes
            .iter()
            .filter(|(id, node)| {
                let smallest = planner.of(node.partition).and_then(|plan| plan.smallest_ask).unwrap_or(Resource::ZERO);
                node.is_live(cluster.now) && woken.binary_search(id).is_err() && smallest.fits_in(node.usable())
            })
            .map(|(id, node)| (node.usable(), *id))
            .collect();
        others.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, node) in others {
            place_on(cluster, planner, node);
        }
    }
}

fn place_on(cluster: &mut Cluster, planner: &Planner, id: NodeId) {
    let Some(node) = cluster.nodes.get(&id) else { return };
    // A node that joined but has not reported yet may still be telling what runs there.
    if node.heartbeats == 0 {
        return;
    }
    let (partition, shareable) = (node.partition, node.shareable);
    serve_resume_claims(cluster, id);
    if let Some(plan) = planner.of(partition) {
        for pass in [Pass::UpToTarget, Pass::Anybody] {
            serve_in_order(cluster, plan, partition, id, pass);
        }
    }
    // Idle room of a shared partition may serve the default one, after its own.
    let default = PartitionId(0);
    if partition != default && shareable {
        if let Some(plan) = planner.of(default) {
            serve_in_order(cluster, plan, default, id, Pass::Anybody);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Jobs below their targets.
    UpToTarget,
    /// Whoever wants more.
    Anybody,
}

fn serve_resume_claims(cluster: &mut Cluster, id: NodeId) {
    let Some(node) = cluster.nodes.get(&id) else { return };
    let overdue: Vec<_> = node
        .claims
        .iter()
        .filter_map(|claim| match claim.purpose {
            For::Resume(container) => Some(container),
            For::Start => None,
        })
        .collect();
    for container in overdue {
        let freed = cluster.nodes.get(&id).map_or(Resource::ZERO, |node| node.freed_for_all_but(container));
        resume_if_room(cluster, id, container, freed);
    }
}

/// What became of a suspended container's turn.
enum Turn {
    /// It is proposed to be resumed.
    Taken,
    /// There is room, but it was refused a moment ago.
    Rests,
    /// There is no room for it.
    NoRoom,
}

/// Proposes to resume the container if it fits beside what is claimed.
fn resume_if_room(cluster: &mut Cluster, id: NodeId, container: ContainerId, claimed: Resource) -> Turn {
    let (Some(node), Some(suspended)) = (cluster.nodes.get(&id), cluster.containers.get(&container)) else {
        return Turn::NoRoom;
    };
    // A container that is still settling brings its own room along, or its room is on its way to somebody.
    let settling = matches!(suspended.state, State::MustSuspend { .. });
    if settling && node.claims.iter().any(|claim| claim.victims.contains(&container)) {
        return Turn::NoRoom;
    }
    let own = if settling { suspended.resource() } else { Resource::ZERO };
    let fits = suspended.resource().fits_in(node.usable() + own - claimed);
    if !fits || suspended.proposed {
        return Turn::NoRoom;
    }
    if suspended.barred_until > cluster.now {
        return Turn::Rests;
    }
    cluster.propose(Decision::Resume { container });
    Turn::Taken
}

fn serve_in_order(cluster: &mut Cluster, plan: &PartitionPlan, partition: PartitionId, id: NodeId, pass: Pass) {
    for (at, entry) in plan.entries.iter().enumerate() {
        let (Some(node), Some(job)) = (cluster.nodes.get(&id), cluster.jobs.get(&entry.app)) else { continue };
        if !plan.smallest_ask.is_some_and(|ask| ask.fits_in(node.usable() + node.settling)) {
            return;
        }
        // Beyond the targets a job's last place counts: the earlier ones are for their targets only.
        if !job.wants() || (pass == Pass::Anybody && !plan.is_last(at)) {
            continue;
        }
        let mut allowance = match pass {
            Pass::UpToTarget => entry.target - job.share(plan.total, partition),
            Pass::Anybody => f64::INFINITY,
        };
        // While a container that was refused waits for its next turn, its job puts nothing new into its room.
        if resume_own(cluster, id, entry.app, plan.total, &mut allowance) {
            start_new(cluster, id, entry.app, plan.total, partition, allowance);
        }
    }
}

/// Resumes the job's suspended containers on the node, longest suspended first; false if one of them could be, but has to
/// rest after a refusal.
fn resume_own(cluster: &mut Cluster, id: NodeId, app: AppId, total: Resource, allowance: &mut f64) -> bool {
    let Some(node) = cluster.nodes.get(&id) else { return true };
    let mut own: Vec<_> = node
        .suspended
        .iter()
        .filter_map(|id| cluster.containers.get(id).map(|container| (container, *id)))
        .filter(|(container, _)| container.app == app && !container.parked)
        .map(|(container, id)| (container.since, id, container.resource().dominant_share(total)))
        .collect();
    own.sort_by_key(|(since, id, _)| (*since, *id));
    let mut none_rests = true;
    for (_, container, one) in own {
        let claimed = cluster.nodes.get(&id).map_or(Resource::ZERO, |node| node.claimed_by_others(app));
        if one <= *allowance + EPSILON {
            match resume_if_room(cluster, id, container, claimed) {
                Turn::Taken => *allowance -= one,
                Turn::Rests => none_rests = false,
                Turn::NoRoom => {}
            }
        }
    }
    none_rests
}

/// Proposes as many new containers of the job as fit, in the order of its phases.
fn start_new(
    cluster: &mut Cluster,
    id: NodeId,
    app: AppId,
    total: Resource,
    partition: PartitionId,
    mut allowance: f64,
) {
    let (Some(node), Some(job)) = (cluster.nodes.get_mut(&id), cluster.jobs.get_mut(&app)) else { return };
    if !job.may_start() || node.refused.contains(&app) {
        return;
    }
    let mut count = 0;
    for (key, phase) in job.phases.iter_mut().filter(|(key, _)| key.partition == partition) {
        let one = key.resource.dominant_share(total);
        let allowed = if one > 0.0 { ((allowance + EPSILON) / one).max(0.0) as u32 } else { u32::MAX };
        let room = key.resource.times_in(node.usable() - node.claimed_by_others(app));
        let freed = key.resource.times_in(node.usable() - node.freed_for_others(app));
        let fitting = room.max(freed.min(node.freed_for(app, key.resource)));
        let more = phase.unserved().min(allowed).min(fitting);
        phase.proposed += more;
        node.proposed += key.resource.times(more);
        allowance -= f64::from(more) * one;
        count += more;
    }
    if count > 0 {
        cluster.propose(Decision::Assign { app, node: id, count });
    }
}
