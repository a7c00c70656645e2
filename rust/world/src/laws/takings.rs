//! What is taken from jobs for others: by whom, from whom, and whether it was allowed and needed (laws 2, 5 and 6).

use super::preempts_within_queue;
use crate::world::World;
use hiatus_core::decision::Decision;
use hiatus_core::entitlement::EPSILON;
use hiatus_core::plan::PartitionPlan;
use hiatus_core::settings::{Candidates, GpClass, Mode, Primitive, Settings};
use hiatus_core::state::{Claim, Cluster, Container, For, Queue, QueueUser, Reason};
use hiatus_core::units::{AppId, ContainerId, NodeId, PartitionId, QueueId, Resource};
use std::collections::{BTreeMap, BTreeSet};

/// What a container's taking was for.
pub(super) struct Taking<'a> {
    id: ContainerId,
    pub container: &'a Container,
    pub claim: &'a Claim,
    pub killed: bool,
}

/// Containers that are taken from a job for another one: those that are suspended and not parked, and those killed while
/// they count.
pub(super) fn find<'a>(cluster: &'a Cluster, decisions: &[Decision]) -> Vec<Taking<'a>> {
    let mut takings = Vec::new();
    for decision in decisions {
        let (Decision::Suspend { container: id, .. } | Decision::Kill { container: id, .. }) = decision else {
            continue;
        };
        let container = &cluster.containers()[id];
        let suspends = matches!(decision, Decision::Suspend { .. });
        if container.state.is_suspended() {
            assert!(!suspends, "law 7: {id:?} is suspended already");
            continue;
        }
        // Parking and lending have laws of their own.
        if suspends && !matches!(container.intended, Some(Reason::Preempted { .. })) {
            continue;
        }
        let claim = &cluster.nodes()[&container.node].claims.iter().rfind(|claim| claim.victims.contains(id));
        let claim = claim.unwrap_or_else(|| panic!("law 5: {id:?} taken for nobody"));
        takings.push(Taking { id: *id, container, claim, killed: !suspends });
    }
    takings
}

/// Law 5: minimum run times, budget of suspensions, modes.
pub(super) fn guards(settings: &Settings, cluster: &Cluster, takings: &[Taking]) {
    let mode = settings.cluster.mode;
    for Taking { id, container, claim, killed } in takings {
        let queue = settings.queue(cluster.queue_path(container.app));
        let ran = container.running_for(cluster.now()).unwrap_or_default();
        let other_queue = cluster.jobs()[&container.app].queue != cluster.jobs()[&claim.app].queue;
        let least = match container.suspensions {
            0 => queue.min_run,
            // Law 23: who stood still for as long as it may gets on for a while.
            _ if container.stood_still >= queue.max_suspension => queue.min_resumed,
            _ if other_queue || container.in_spare_room => queue.min_run.min(queue.min_resumed),
            _ => queue.min_resumed,
        };
        let (how, node) = (queue.preemption, &cluster.nodes()[&container.node]);
        let cheap = *killed && how == Primitive::Adaptive && container.run_time(cluster.now()) < queue.kill_before;
        assert!(ran >= least || cheap, "law 5: {id:?} taken after {ran:?} of {least:?} for {claim:?}");
        assert!(container.barred_until <= cluster.now(), "law 5: {id:?} taken again right after a refusal");
        if *killed {
            let escalates = other_queue && matches!(how, Primitive::SuspendOrKill | Primitive::Adaptive);
            let instead = escalates || how == Primitive::SuspendOrKill && !node.can_suspend;
            let wanted = how == Primitive::Kill || instead || cheap;
            assert!(mode == Mode::Kill && wanted, "law 5: {mode:?} and {how:?} kill {id:?}");
        } else {
            let worn = container.preempted_for >= queue.suspension_budget + container.run_time(cluster.now());
            assert!(other_queue || !worn, "law 5: {id:?} suspended for too long");
            assert!(mode >= Mode::Suspend && how != Primitive::Wait, "law 5: {mode:?} and {how:?} suspend {id:?}");
            assert!(node.can_suspend, "law 5: {id:?} suspended where that is impossible");
        }
    }
}

/// What the claim's user holds of the queue on nodes of the partition, and what else was freed for it there. What goes on may do so
/// whatever its user holds: of that only what was freed before counts.
fn held_by_user(cluster: &Cluster, plan: &PartitionPlan, partition: PartitionId, claim: &Claim) -> f64 {
    let own = |app: &AppId| is_of(cluster, *app, cluster.jobs()[&claim.app].queue_user());
    let nodes = cluster.nodes().values().filter(|node| node.partition == partition);
    let freed = nodes.flat_map(|node| &node.claims).filter(|other| other.is_freed() && own(&other.app));
    let goes_on_later = |other: &Claim| {
        other.made == cluster.now()
            && other.purpose != For::Start
            && plan.last_entry(other.app) > plan.last_entry(claim.app)
    };
    let freed = freed.filter(|other| !goes_on_later(other));
    let freed: f64 = freed.map(|other| other.resource.dominant_share(plan.total)).sum();
    let jobs = cluster.jobs().iter().filter(|(app, _)| own(app));
    let held =
        jobs.map(|(_, job)| job.share(plan.total, partition) + cluster.borrowed_share(job, plan.total, partition));
    held.sum::<f64>() + freed - claim.resource.dominant_share(plan.total)
}

/// What the claim's user may hold soon, beside that: what it has suspended, and what is collected for it.
fn coming_to_user(cluster: &Cluster, plan: &PartitionPlan, partition: PartitionId, claim: &Claim) -> f64 {
    let queue_user = cluster.jobs()[&claim.app].queue_user();
    let nodes = cluster.nodes().values().filter(|node| node.partition == partition);
    let collected = nodes.flat_map(|node| &node.claims).filter(|other| !other.is_freed());
    let collected = collected.filter(|other| is_of(cluster, other.app, queue_user)).map(|other| other.resource);
    let collected: f64 = collected.map(|resource| resource.dominant_share(plan.total)).sum();
    let jobs = cluster.jobs().values().filter(|job| job.queue_user() == queue_user);
    let suspended = jobs.flat_map(|job| &job.suspended).map(|id| cluster.containers()[id].resource());
    collected + suspended.map(|resource| resource.dominant_share(plan.total)).sum::<f64>()
}

fn is_of(cluster: &Cluster, app: AppId, queue_user: QueueUser) -> bool {
    cluster.jobs().get(&app).is_some_and(|job| job.queue_user() == queue_user)
}

/// Law 5: what is taken lets what it was taken for start, and nothing is taken in vain. Room that was `collected` for others is
/// not free, even if they get some elsewhere later in the same step, unless they come later in the order.
pub(super) fn enough_and_no_more(
    world: &World,
    decisions: &[Decision],
    takings: &[Taking],
    collected: &BTreeMap<NodeId, Vec<(AppId, Resource)>>,
) {
    let cluster = world.core.cluster();
    let nodes: BTreeSet<_> = takings.iter().map(|taking| taking.container.node).collect();
    for node_id in nodes {
        let node = &cluster.nodes()[&node_id];
        let plan = plan_of(world, node.partition);
        let here = || takings.iter().filter(|taking| taking.container.node == node_id);
        let taken = here().fold(Resource::ZERO, |sum, taking| sum + taking.container.resource());
        // What parked containers leave goes to whoever wants it.
        // What is lent is nobody's else; what was lent and is wanted back is kept by a claim.
        let left =
            node.total - node.used - node.proposed - node.unlent() + leaving_otherwise(cluster, decisions, node_id);
        let room = left + taken - node.freed_in_all();
        assert!(
            Resource::ZERO.fits_in(room),
            "law 5: not enough on {node_id:?}: {room:?}, {:?}, {decisions:?}",
            node.claims
        );
        for Taking { id, claim, .. } in here() {
            let others = here().filter(|other| other.id != *id && claim.victims.contains(&other.id));
            let others = others.fold(Resource::ZERO, |sum, other| sum + other.container.resource());
            let alone = here().all(|other| claim.victims.contains(&other.id));
            let free = left - node.freed_in_all() + claim.resource;
            let first = |app: AppId| plan.last_entry(claim.app).is_none_or(|place| !plan.is_before(place, app));
            let before = collected.get(&node_id).into_iter().flatten().filter(|(app, _)| first(*app));
            let before = before.fold(Resource::ZERO, |sum, (_, resource)| sum + *resource);
            // Claims stand in the order in which they were made; what is collected for one with an earlier place is made anew when its
            // later place has its turn.
            let own = node.claims.iter().position(|other| std::ptr::eq(other, *claim)).unwrap_or(usize::MAX);
            let stands =
                |(at, other): &(usize, &Claim)| !other.is_freed() && *at != own && (*at < own || first(other.app));
            let earlier = node.claims.iter().enumerate().filter(stands).map(|(_, other)| other);
            let new = earlier.filter(|other| other.made == cluster.now());
            let new = new.fold(Resource::ZERO, |sum, other| sum + other.resource);
            let free = free.at_most((free - before - new).at_least_nothing());
            // Its user may hold no more, or would with what of its own is about to go on: nothing that is free helps it, but what its
            // own containers leave.
            let of_user = held_by_user(cluster, plan, node.partition, claim);
            let limit = plan.limit_of(cluster.jobs()[&claim.app].queue_user()).unwrap_or(f64::INFINITY);
            let one = claim.resource.dominant_share(plan.total);
            let limited = claim.purpose == For::Start
                && of_user + one + coming_to_user(cluster, plan, node.partition, claim) > limit + EPSILON;
            let free = if limited { free.at_most(Resource::ZERO) } else { free };
            let without = if alone { free + others } else { others.at_most(free + others) };
            assert!(
                !claim.resource.fits_in(without),
                "law 5: {id:?} taken in vain for {claim:?}: {free:?} free, its user at {of_user} of {limit}"
            );
            let job = &cluster.jobs()[&claim.app];
            let gone = takings.iter().filter(|other| is_of(cluster, other.container.app, job.queue_user()));
            let gone = gone.filter(|other| cluster.nodes()[&other.container.node].partition == node.partition);
            let gone: f64 = gone.map(|taking| taking.container.resource().dominant_share(plan.total)).sum();
            assert!(
                claim.purpose != For::Start || of_user - gone <= limit + EPSILON,
                "law 5: {id:?} taken for {:?}, whose user may hold no more: {of_user} of {limit}, {gone} go",
                claim.app
            );
            let asked = match claim.purpose {
                For::Start => job.phases.iter().any(|(key, phase)| {
                    key.resource == claim.resource && phase.pending > 0 && job.most_on(key, node.side) > 0
                }),
                For::Resume(id) => cluster.is_suspended(id),
            };
            assert!(job.may_start() && asked, "law 5: nobody asked for {claim:?}");
            assert!(claim.resource.fits_in(node.total), "law 5: {claim:?} never fits {node_id:?}");
        }
    }
}

/// Room of the containers on the node that are suspended in this step, and not taken: they are parked, had borrowed it, or the node
/// offers less than it has given out.
fn leaving_otherwise(cluster: &Cluster, decisions: &[Decision], node: NodeId) -> Resource {
    let leaving = decisions.iter().filter_map(|decision| match decision {
        Decision::Suspend { container, .. } => cluster.containers().get(container),
        _ => None,
    });
    let otherwise = |container: &Container| {
        matches!(container.intended, Some(Reason::Parked | Reason::Recalled { .. } | Reason::Overcommitted))
    };
    leaving
        .filter(|container| container.node == node && otherwise(container))
        .fold(Resource::ZERO, |sum, container| sum + container.resource())
}

/// Law 6: suspended memory stays under its cap, where anything is suspended and where it can be.
pub(super) fn suspended_memory(settings: &Settings, cluster: &Cluster, decisions: &[Decision]) {
    let mut suspending: BTreeMap<NodeId, i64> = BTreeMap::new();
    for decision in decisions {
        if let Decision::Suspend { container, .. } = decision {
            let container = &cluster.containers()[container];
            // What is recalled changes places with its lender, whose memory it may keep.
            if !matches!(container.intended, Some(Reason::Recalled { .. })) {
                *suspending.entry(container.node).or_default() += container.resource().memory_mb;
            }
        }
    }
    for (id, more) in suspending {
        let node = &cluster.nodes()[&id];
        // A lender may change places with a map that is suspended there: until that goes on both are.
        let lends = decisions.iter().any(|decision| {
            let Decision::Suspend { container, .. } = decision else { return false };
            let container = &cluster.containers()[container];
            container.node == id && container.intended == Some(Reason::Lent)
        });
        let waiting = node.suspended.iter().map(|id| &cluster.containers()[id]).filter(|one| one.phase.is_of_maps());
        let swapped: i64 = waiting.filter(|_| lends).map(|one| one.resource().memory_mb).sum();
        let more = more - swapped;
        assert!(node.can_suspend && settings.cluster.mode >= Mode::Suspend, "law 6: suspended on {node:?}");
        // What goes on in the victims' room changes places with them.
        let returns = |claim: &Claim| match claim.purpose {
            For::Resume(id) if cluster.is_suspended(id) => claim.resource.memory_mb,
            _ => 0,
        };
        let all = node.suspended_memory_mb + more - node.claims.iter().map(returns).sum::<i64>();
        let held = node.ram_and_swap_mb.is_none_or(|held| all + node.total.memory_mb <= held);
        assert!(held, "law 6: more than RAM and swap hold on {node:?}");
        let cap = node.total.memory_mb as f64 * settings.cluster.max_suspended_memory;
        assert!(all as f64 <= cap, "law 6: more than {cap} MB suspended");
    }
}

/// Law 2: only a job below its target takes, only from one above its own or from one that comes after it and above what that keeps,
/// and never from itself. The last container taken may cross that, as targets are fractions and containers not. Where
/// the order of victims is over all jobs, other queues may take whatever the job's target, if its queue says so, and its own
/// only what it gives way with; and nobody takes of production work (GP, claims G9 and G10).
pub(super) fn higher_claims(world: &World, takings: &[Taking]) {
    let cluster = world.core.cluster();
    let mut taken: BTreeMap<(AppId, PartitionId), f64> = BTreeMap::new();
    let same_queue =
        |taking: &Taking| cluster.jobs()[&taking.container.app].queue == cluster.jobs()[&taking.claim.app].queue;
    let rules_of = |taking: &Taking| world.core.settings().queue(cluster.queue_path(taking.container.app));
    let is_over_all = |taking: &Taking| rules_of(taking).victims.is_over_all_jobs();
    let whatever_its_target = |taking: &Taking| {
        !same_queue(taking) && is_over_all(taking) && rules_of(taking).gp.candidates == Candidates::NonProduction
    };
    // Those of one step go together: that each could be spared must hold in some order, and this one shows it if any does. What
    // goes to other queues comes first, for that may not cross the target, unless no target counts; the largest comes last of the
    // others, for that may.
    let mut takings: Vec<&Taking> = takings.iter().collect();
    let total_there = |taking: &Taking| plan_of(world, cluster.nodes()[&taking.container.node].partition).total;
    let share = |taking: &Taking| taking.container.resource().dominant_share(total_there(taking));
    takings.sort_by(|a, b| {
        let group = |taking: &Taking| (whatever_its_target(taking), same_queue(taking));
        group(a).cmp(&group(b)).then(share(a).total_cmp(&share(b)))
    });
    for taking in takings {
        let Taking { id, container, claim, .. } = taking;
        assert_ne!(container.app, claim.app, "law 2: {id:?} taken for its own job");
        let partition = cluster.nodes()[&container.node].partition;
        let plan = plan_of(world, partition);
        let beneficiary = &cluster.jobs()[&claim.app];
        assert!(
            beneficiary.share(plan.total, partition) < plan.target(claim.app) + EPSILON,
            "law 2: {:?} has enough",
            claim.app
        );
        assert!(
            !same_queue(taking) || cluster.jobs()[&container.app].priority <= beneficiary.priority,
            "law 21: {id:?} of a higher priority taken for {:?}",
            claim.app
        );
        // Guests from another partition have no claim to stay.
        if container.phase.partition == partition {
            let all = taken.entry((container.app, partition)).or_default();
            let one = container.resource().dominant_share(plan.total);
            let before = cluster.jobs()[&container.app].share(plan.total, partition) - *all;
            *all += one;
            // The last container taken may leave less than one short of the target: nothing to claim.
            let over_all = is_over_all(taking);
            let comes_after = !same_queue(taking) || plan.last_entry(container.app) > plan.last_entry(claim.app);
            let yields = comes_after && rules_of(taking).victims.is_by_rank();
            let outranked = same_queue(taking) && cluster.jobs()[&container.app].priority < beneficiary.priority;
            let kept = match yields {
                true if outranked => plan.keeps_from_higher(container.app),
                true => plan.keeps(container.app),
                false => plan.target(container.app),
            };
            let spare = before - kept;
            let allowed = match same_queue(taking) {
                true => spare > 0.0 && (!over_all || gives_way(world, container.app)),
                false => spare > 0.0 || whatever_its_target(taking),
            };
            assert!(!over_all || !is_production(world, container), "G9: {id:?} is of production work");
            assert!(
                allowed,
                "law 2: {:?} taken below what it may keep: {spare} above it, {one} taken for {:?}",
                container.app, claim.app
            );
        }
    }
}

/// Law 24: within a queue, and a priority, a container is taken only of a job that has much more left to do, as the queue's threshold says
/// and its policy knows, and for one that goes on of a job that has no less left, or what waits for maps; but where the order of victims
/// is over all jobs.
pub(super) fn threshold(world: &World, takings: &[Taking]) {
    let (cluster, settings) = (world.core.cluster(), world.core.settings());
    for Taking { id, container, claim, .. } in takings {
        let (of_victim, beneficiary) = (&cluster.jobs()[&container.app], &cluster.jobs()[&claim.app]);
        let rules = settings.queue(cluster.queue_path(container.app));
        let over_all = rules.victims.is_over_all_jobs();
        let equals = of_victim.queue == beneficiary.queue && of_victim.priority == beneficiary.priority;
        let partition = cluster.nodes()[&container.node].partition;
        let guest = container.phase.partition != partition;
        if !equals || over_all || guest {
            continue;
        }
        let idle = claim.purpose != For::Start && cluster.waits_for_maps(container);
        let remaining = |app: AppId| world.core.planner().remaining(cluster, settings, partition, app);
        let (of_beneficiary, of_victim) = (remaining(claim.app), remaining(container.app));
        assert!(
            idle || of_beneficiary.may_take_of(&of_victim, rules, claim.purpose == For::Start),
            "law 24: {id:?} of a job with {of_victim:?} taken for {:?} with {of_beneficiary:?}",
            claim.app
        );
    }
}

/// Whether the starvation rule has the job give way.
fn gives_way(world: &World, app: AppId) -> bool {
    world.core.watches().any(|(_, watch)| watch.suspects(app))
}

/// Whether the container is of production work: as its queue says, or by guarantee.
fn is_production(world: &World, container: &Container) -> bool {
    let cluster = world.core.cluster();
    let leaves: Vec<_> = cluster
        .queues()
        .iter()
        .filter(|(id, _)| cluster.queues().values().all(|other| other.parent != Some(**id)))
        .map(|(_, queue)| queue)
        .collect();
    let partition = cluster.nodes()[&container.node].partition;
    let guaranteed = |queue: &&Queue| queue.shares(partition).guaranteed;
    let mean = leaves.iter().map(guaranteed).sum::<f64>() / leaves.len() as f64;
    let queue = &cluster.queues()[&cluster.jobs()[&container.app].queue];
    match world.core.settings().queue(&queue.path).gp.class {
        Some(class) => class == GpClass::Production,
        None => guaranteed(&queue) > mean + EPSILON,
    }
}

/// Law 2: no queue is taken below its guarantee, of what can be used, by another, nor touched at all where its administrator forbids it,
/// be it for another queue or for a job of its own.
pub(super) fn guarantees(world: &World, takings: &[Taking]) {
    let cluster = world.core.cluster();
    let above = |queue: QueueId| std::iter::successors(Some(queue), |queue| cluster.queues()[queue].parent);
    let mut taken: BTreeMap<(QueueId, PartitionId), f64> = BTreeMap::new();
    for Taking { id, container, claim, .. } in takings {
        let (from, to) = (cluster.jobs()[&container.app].queue, cluster.jobs()[&claim.app].queue);
        let partition = cluster.nodes()[&container.node].partition;
        if from == to {
            assert!(
                preempts_within_queue(cluster, world.core.settings(), from),
                "law 2: {id:?} taken for {:?} of its own queue, which is protected",
                claim.app
            );
            continue;
        }
        if container.phase.partition != partition {
            continue;
        }
        assert!(cluster.queues()[&from].preemptable, "law 2: {id:?} taken from a protected queue");
        let total = plan_of(world, partition).total;
        for queue in above(from).filter(|queue| above(to).all(|other| other != *queue)) {
            *taken.entry((queue, partition)).or_default() += container.resource().dominant_share(total);
        }
    }
    for ((queue, partition), taken) in taken {
        let PartitionPlan { total, usable, ref entitled, .. } = *plan_of(world, partition);
        let jobs = cluster.jobs().values().filter(|job| above(job.queue).any(|above| above == queue));
        let held: f64 = jobs.map(|job| job.share(total, partition)).sum();
        let guaranteed = cluster.queues()[&queue].shares(partition).guaranteed * usable;
        // What first jobs of others need to get on comes before (law 23).
        let guaranteed = guaranteed.min(entitled.get(&queue).copied().unwrap_or(0.0));
        let left = held - taken;
        assert!(left >= guaranteed - EPSILON, "law 2: {queue:?} taken down to {left} of {guaranteed}");
    }
}

fn plan_of(world: &World, partition: PartitionId) -> &PartitionPlan {
    world.core.planner().of(partition).unwrap_or_else(|| panic!("law 2: {partition:?} without a plan"))
}
