//! Whether a container may be taken at all (laws 3, 5 and 6): whoever wants it, and whatever is freed with it.

use super::how::{how, Beneficiary, Candidate, How};
use super::no_victim_reason::NoVictimReason;
use crate::estimate;
use crate::fact::PhaseKey;
use crate::settings::{ClusterSettings, QueueSettings, Settings};
use crate::state::{Cluster, Container, For, Job, Node, State};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId};

/// Which containers are looked at, and for what.
#[derive(Clone, Copy)]
pub(super) struct VictimFilter<'a> {
    pub settings: &'a Settings,
    /// On whose nodes.
    pub partition: PartitionId,
    /// Those of other partitions there, and not its own.
    pub guests: bool,
    /// So much suspended memory of their node goes on when one is taken, in MiB.
    pub returning_mb: i64,
}

/// Rounds of kills that try nobody's patience under orders over all jobs.
const GLOBAL_ORDER_ROUNDS: u32 = 64;

/// How a container may go, and for whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permission {
    pub how: How,
    /// What keeps it from jobs of its own queue, if only others may take it.
    pub not_for_own: Option<NoVictimReason>,
}

/// How the container on a live node of the partition may be taken now, or what keeps it.
pub(super) fn may_take(
    cluster: &Cluster,
    filter: VictimFilter<'_>,
    queue: &QueueSettings,
    job: &Job,
    (id, container): (ContainerId, &Container),
) -> Result<Permission, NoVictimReason> {
    let now = cluster.now();
    // What is parked is suspended anyway, or runs on where that is impossible; nobody takes it.
    // What borrows runs in room that is nobody's to take, and goes when the lender wants it back.
    let stays = container.lender.is_some()
        || container.is_master
        || container.proposed
        || container.barred_until > now
        || job.has_parked(container);
    if container.state != State::Running || stays {
        return Err(NoVictimReason::Busy);
    }
    let here = |node: &&Node| node.partition == filter.partition && node.is_live(now) && !node.decommissioning;
    let node = cluster.nodes().get(&container.node).filter(here).ok_or(NoVictimReason::Busy)?;
    let phase = job.phases.get(&container.phase).ok_or(NoVictimReason::Busy)?;
    // Patience keeps jobs from taking in turns (law 8). Under orders over all jobs what began last is meant to go, and they have a
    // bound of their own; but where that is off, work that is killed again and again must end as well.
    let killed = phase.kill_rounds(container);
    let over_all_jobs = queue.victims.is_over_all_jobs();
    if over_all_jobs && queue.gp.max_kills.is_some_and(|most| killed >= most) {
        return Err(NoVictimReason::Killed);
    }
    let candidate = Candidate {
        mode: filter.settings.cluster.mode,
        ran: container.run_time(now),
        running_for: container.running_for(now).ok_or(NoVictimReason::Busy)?,
        left: &|| time_left(queue, job, (id, container), now),
        resumed: container.suspensions > 0,
        overdue: container.suspensions > 0 && container.stood_still >= queue.max_suspension,
        in_spare_room: container.in_spare_room,
        worn: container.is_worn(queue.suspension_budget, now),
        kill_rounds: if over_all_jobs { killed.saturating_sub(GLOBAL_ORDER_ROUNDS) } else { killed },
        may_be_suspended: job.may_be_suspended(queue),
        node_can_suspend: node.can_suspend,
        memory_fits: container.resource().memory_mb
            <= room_for_suspended_mb(&filter.settings.cluster, node) + filter.returning_mb,
    };
    let for_own = match preempts_within_queue(cluster, queue, job.queue) {
        true => how(queue, &candidate, Beneficiary::OwnQueue).map(|how| (how, None)),
        false => Err(NoVictimReason::ProtectedWithin),
    };
    let for_others = |why| how(queue, &candidate, Beneficiary::OtherQueue).map(|how| (how, Some(why))).map_err(|_| why);
    let (how, not_for_own) = for_own.or_else(for_others)?;
    Ok(Permission { how, not_for_own })
}

/// Whether jobs of the queue may take from each other: as its administrator told CapacityScheduler, unless a knob says otherwise.
pub fn preempts_within_queue(cluster: &Cluster, rules: &QueueSettings, queue: QueueId) -> bool {
    let told = || cluster.queues().get(&queue).is_some_and(|queue| queue.preemptable_within);
    rules.preemption_within.unwrap_or_else(told)
}

/// Run time that the container probably has left.
pub(super) fn time_left(
    queue: &QueueSettings,
    job: &Job,
    (id, container): (ContainerId, &Container),
    now: Millis,
) -> Millis {
    let Some(phase) = job.phases.get(&container.phase) else { return Millis(0) };
    let before = estimate::first_or_default(job, container.phase.priority, queue);
    estimate::task_left(phase, job.worked(id, container, now), job.progress_of(id, container.phase), before)
}

/// Whether room on the node may be freed, or kept, for one more new container of that kind, as far as the job's site goes. The
/// other side's idle room it may use; nobody goes for it there.
pub(super) fn may_start_on(cluster: &Cluster, app: AppId, key: &PhaseKey, id: NodeId) -> bool {
    let side = cluster.nodes().get(&id).and_then(|node| node.side);
    let own = cluster.jobs().get(&app).and_then(|job| job.site.verdict).and_then(|verdict| verdict.side);
    let spills = own.is_some_and(|own| side != Some(own) && cluster.sides()[Some(own)].holds(key.resource));
    if spills && key.partition == PartitionId(0) && cluster.jobs().get(&app).is_some_and(|job| job.asks_for_tasks()) {
        return false;
    }
    match cluster.most_on(app, key, id) {
        0 => false,
        u32::MAX => true,
        // It tries both sides, some tasks on each.
        most => {
            let claims = cluster.claimed().filter(|(_, node)| node.side == side).flat_map(|(_, node)| &node.claims);
            let own = claims.filter(|claim| claim.app == app && claim.purpose == For::Start).count();
            own < most as usize
        }
    }
}

/// Memory that may still be suspended on the node, in MiB, after what this step proposes.
pub fn room_for_suspended_mb(cluster: &ClusterSettings, node: &Node) -> i64 {
    node.most_suspended_mb(cluster.max_suspended_memory) - node.suspended_memory_mb - node.leaving.memory_mb
}
