//! Preemption: takes room from jobs that hold more than their targets for jobs that hold less, when nothing else gives
//! them room. Two independent choices of the queue that loses: how its containers go, and which of them go first.
//!
//! By default those of the lowest-ranked job first, and of these the youngest (HFSP thesis, section 4.4.3); the first tasks
//! of a phase, from which its size is learnt, come last of a job's. Only whole sets are taken, that together let one
//! container start, or go on, on one node (law 5); what is freed is claimed for it (law 4).
//!
//! A suspended container comes before a new one, but only at home, where its memory is. Where home stays full for long,
//! although its job may run it, it is killed and so run again elsewhere (thesis, section 6.3.1).

mod books;
mod how;
mod market;

use crate::decision::Decision;
use crate::entitlement::EPSILON;
use crate::fact::PhaseKey;
use crate::plan::PartitionPlan;
use crate::settings::{QueueSettings, Settings};
use crate::state::{is_parked, Claim, Cluster, For};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, Resource};
use books::Books;
use market::{Market, Wish};

pub use market::room_for_suspended_mb;

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Frees room for the jobs below their targets, in the order of the plan.
pub fn preempt(cluster: &mut Cluster, plan: &PartitionPlan, partition: PartitionId, settings: &Settings) {
    let mut books = Books::open(cluster, partition);
    let mut market: Option<Market> = None;
    for (place, entry) in plan.entries.iter().enumerate() {
        let Some(job) = cluster.jobs.get(&entry.app) else { continue };
        if !job.may_start() || job.barred_until > cluster.now {
            continue;
        }
        let claimed = books.claimed_share(entry.app, plan.total);
        let mut missing = entry.target - job.share(plan.total, partition) - claimed;
        let wants: Vec<(PhaseKey, u32)> = job
            .phases
            .iter()
            .filter(|(key, _)| key.partition == partition)
            .map(|(key, phase)| (*key, phase.unserved()))
            .filter(|(_, wanted)| *wanted > 0)
            .collect();
        // What is kept out of its home leaves its share to new containers.
        let mut going_on = missing;
        for id in books.suspended_of(entry.app) {
            let Some(container) = cluster.containers.get(&id) else { continue };
            let (home, need) = (container.node, container.resource());
            let one = need.dominant_share(plan.total);
            let mut kept_out = false;
            if going_on + EPSILON >= one {
                going_on -= one;
                let comes_back = books.use_room(home, need) || {
                    let market = market.get_or_insert_with(|| Market::open(cluster, plan, partition, settings));
                    let wish = Wish { need, purpose: For::Resume(id), home: Some(home) };
                    let bought = market.buy(cluster, entry, wish).is_some();
                    books.look_again(cluster, home);
                    bought
                };
                if comes_back {
                    missing -= one;
                    books.comes_back(entry.app, id, need);
                }
                kept_out = !comes_back;
            }
            if plan.is_last(place) {
                wait_for_home(cluster, id, kept_out, settings);
            }
        }
        for (key, wanted) in wants {
            let one = key.resource.dominant_share(plan.total);
            let deserved = if one > 0.0 { ((missing + EPSILON) / one).max(0.0) as u32 } else { 0 };
            let due = wanted.saturating_sub(books.claims_of(entry.app, key.resource)).min(deserved);
            let short = due - books.free_places(cluster, entry.app, key.resource, due);
            for _ in 0..short {
                let market = market.get_or_insert_with(|| Market::open(cluster, plan, partition, settings));
                let wish = Wish { need: key.resource, purpose: For::Start, home: None };
                // What is only waited for must not keep the job from taking what it may take now.
                let waited = books.stop_collecting(cluster, entry.app, key.resource);
                let Some(node) = market.buy(cluster, entry, wish) else {
                    let room = waited.or_else(|| collect_room(cluster, &books, entry.app, key, partition, settings));
                    room.into_iter().for_each(|(node, claim)| books.collect(cluster, node, claim));
                    break;
                };
                books.claim_made(cluster, node, entry.app, key.resource);
                missing -= one;
            }
            if short == 0 {
                forget_waiting(cluster, entry.app, key);
            }
        }
    }
}

/// A suspended container that its job may run is kept out of its full home for a bounded time only.
fn wait_for_home(cluster: &mut Cluster, id: ContainerId, kept_out: bool, settings: &Settings) {
    let now = cluster.now;
    let Some(container) = cluster.containers.get_mut(&id) else { return };
    if !kept_out {
        container.kept_out_since = None;
        return;
    }
    let since = *container.kept_out_since.get_or_insert(now);
    let app = container.app;
    if now.since(since) >= queue_settings(cluster, settings, app).resume_locality {
        kill(cluster, id);
    }
}

/// Room to be collected for the first in order that finds none for long, as containers end on one node: the node with most
/// room that could hold it, and the claim to make there. Large asks would starve behind a stream of small ones otherwise.
fn collect_room(
    cluster: &mut Cluster,
    books: &Books,
    app: AppId,
    key: PhaseKey,
    partition: PartitionId,
    settings: &Settings,
) -> Option<(NodeId, Claim)> {
    let now = cluster.now;
    let phase = cluster.jobs.get_mut(&app)?.phases.get_mut(&key)?;
    let since = *phase.waiting_since.get_or_insert(now);
    if books.has_claims(app) || now.since(since) < settings.cluster.large_ask_delay {
        return None;
    }
    let best = cluster
        .nodes
        .iter()
        .filter(|(_, node)| node.partition == partition && node.is_live(now) && key.resource.fits_in(node.total))
        .filter(|(_, node)| !node.refused.contains(&app) && node.claims.is_empty())
        .max_by_key(|(id, node)| (node.usable(), Reverse(**id)));
    best.map(|(id, _)| (*id, Claim::new(app, For::Start, key.resource, now, Vec::new())))
}

fn forget_waiting(cluster: &mut Cluster, app: AppId, key: PhaseKey) {
    if let Some(phase) = cluster.jobs.get_mut(&app).and_then(|job| job.phases.get_mut(&key)) {
        phase.waiting_since = None;
    }
}

/// Gives back claims that nobody needs any more, or that were not used in time.
pub fn review_claims(cluster: &mut Cluster, settings: &Settings) {
    let now = cluster.now;
    let mut wanted: BTreeMap<(AppId, Resource), u32> = BTreeMap::new();
    let mut unused = Vec::new();
    let limits = &settings.cluster;
    for node in cluster.nodes.values_mut().filter(|node| !node.claims.is_empty()) {
        node.claims.retain(|claim| match claim.purpose {
            For::Resume(id) => cluster.containers.get(&id).is_some_and(|container| {
                let late = claim.is_freed() && now.since(claim.made) > limits.claim_timeout;
                container.state.is_suspended() && !late
            }),
            For::Start => {
                let left = wanted.entry((claim.app, claim.resource)).or_insert_with(|| {
                    let job = cluster.jobs.get(&claim.app).filter(|job| job.may_start());
                    let phases = job.into_iter().flat_map(|job| &job.phases);
                    phases.filter(|(key, _)| key.resource == claim.resource).map(|(_, phase)| phase.pending).sum()
                });
                let needed = *left > 0;
                *left = left.saturating_sub(1);
                // Room collected as containers end is patient; room that was taken from somebody is less so.
                let limit = if claim.is_freed() { limits.claim_timeout } else { limits.large_ask_timeout };
                let late = now.since(claim.made) > limit;
                if needed && late {
                    unused.push(claim.app);
                }
                needed && !late
            }
        });
    }
    for app in unused {
        cluster.tally.claims_expired += 1;
        if let Some(job) = cluster.jobs.get_mut(&app) {
            job.barred_until = now + settings.cluster.claim_timeout;
        }
    }
}

/// Suspensions end by a deadline (law 6): first the container's room is claimed where it is, later it is killed. And a
/// container that was given out but cannot start because suspended ones are in its way gets one of them removed.
pub fn end_suspensions(cluster: &mut Cluster, settings: &Settings) {
    let now = cluster.now;
    let suspended: Vec<(ContainerId, Millis, NodeId, AppId, Resource)> = cluster
        .suspended
        .iter()
        .filter_map(|id| cluster.containers.get(id).map(|container| (*id, container)))
        .filter(|(_, container)| !is_parked(&cluster.jobs, container))
        .map(|(id, c)| (id, c.since, c.node, c.app, c.resource()))
        .collect();
    for (id, since, node, app, resource) in suspended {
        let deadline = queue_settings(cluster, settings, app).max_suspension;
        let spent = now.since(since);
        if spent < deadline {
            continue;
        }
        if spent >= deadline + deadline {
            kill(cluster, id);
        } else if let Some(node) = cluster.nodes.get_mut(&node) {
            if !node.claims.iter().any(|claim| claim.purpose == For::Resume(id)) {
                node.claims.push(Claim::new(app, For::Resume(id), resource, now, Vec::new()));
            }
        }
    }
    let mut in_the_way = Vec::new();
    for node in cluster.nodes.values_mut() {
        if node.waiting_since.is_some_and(|since| now.since(since) >= settings.cluster.stall_timeout) {
            // What that one gives must reach the node before another has to go.
            node.waiting_since = Some(now);
            let (jobs, containers) = (&cluster.jobs, &cluster.containers);
            let parked = |id: &&ContainerId| containers.get(id).is_some_and(|container| is_parked(jobs, container));
            in_the_way.extend(node.suspended.iter().rev().min_by_key(parked));
        }
    }
    for id in in_the_way {
        kill(cluster, id);
    }
}

fn kill(cluster: &mut Cluster, id: ContainerId) {
    let now = cluster.now;
    if cluster.containers.get(&id).is_some_and(|c| !c.is_master && !c.proposed && c.barred_until <= now) {
        cluster.propose(Decision::Kill { container: id });
    }
}

fn queue_settings<'a>(cluster: &Cluster, settings: &'a Settings, app: AppId) -> &'a QueueSettings {
    let queue = cluster.jobs.get(&app).and_then(|job| cluster.queues.get(&job.queue));
    settings.queue(queue.map_or("", |queue| queue.path.as_str()))
}
