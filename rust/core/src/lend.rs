//! Lending (Predoop): a reduce that has fetched all there is, and will wait for long, is suspended, and its room lent to maps. It
//! goes on when enough new output exists. Who borrows its room is suspended then, and goes on in its turn.
//!
//! What tasks say counts for a few seconds, and only against their own job: who says nothing, or what cannot be, lends nothing.
//! That a lender goes on depends on nobody's word but for those few seconds: maps that end are seen by themselves.

use crate::fact::TaskReport;
use crate::place::{borrowers, may_go_on};
use crate::plan::{PartitionPlan, Planner};
use crate::predoop::{self, Running};
use crate::preempt::room_for_suspended_mb;
use crate::settings::{LendSettings, Mode, QueueSettings, Settings};
use crate::state::{Claim, Cluster, Container, For, Job, Loan, Node, Reason, State};
use crate::units::{AppId, ContainerId, Millis, Resource};
use crate::visits::Visits;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What a task said longer ago than this counts for nothing.
pub const STALE_AFTER: Millis = Millis(5_000);

/// Ends the loans of those that are to go on, and keeps their rooms for them.
pub fn end_loans(cluster: &mut Cluster, planner: &Planner, settings: &Settings) {
    let mut lenders: Vec<_> = cluster.lent().map(|(id, container)| (container.since, id)).collect();
    lenders.sort_unstable();
    for (_, id) in lenders {
        let Some(lender) = cluster.containers().get(&id) else { continue };
        let Some(node) = cluster.nodes().get(&lender.node) else { continue };
        let Some(loan) = node.loans.get(&id) else {
            // It is to go on and could not yet: it gets the next room on its node.
            let waits = |claim: &Claim| claim.purpose == For::Resume(id);
            if !node.decommissioning && !node.claims.iter().any(waits) {
                cluster.recall(id, Vec::new());
            }
            continue;
        };
        let Some(job) = cluster.jobs().get(&lender.app) else { continue };
        let rules = settings.queue(cluster.queue_path(lender.app));
        let overdue = cluster.now().since(lender.since) >= rules.max_suspension;
        if overdue || is_due(cluster, planner, settings, (node, job, loan), &rules.lend) {
            match victims(cluster, settings, node, loan) {
                Some(victims) => cluster.recall(id, victims),
                None if overdue => cluster.recall(id, Vec::new()),
                None => {}
            }
        }
    }
}

/// Whether the lender is to go on (model of resuming, conditions 1 and 2).
fn is_due(
    cluster: &Cluster,
    planner: &Planner,
    settings: &Settings,
    (node, job, loan): (&Node, &Job, &Loan),
    rules: &LendSettings,
) -> bool {
    if !node.is_live(cluster.now()) {
        return false;
    }
    let enough = !rules.on || job.maps_to_do() == 0 || loan.terms.are_met(rules.resume_part, job.maps_succeeded());
    if !enough {
        let unused = loan.unused_for(cluster.now()).is_some_and(|unused| unused >= predoop::LEAST_UNUSED);
        return unused && !is_wanted(cluster, planner, settings, node, loan);
    }
    let borrowers = || loan.borrowers.keys().filter_map(|id| cluster.containers().get(id));
    let writes = borrowers().any(|map| map.partitions(STALE_AFTER, cluster.now()));
    let all_end_soon = || borrowers().next().is_some() && borrowers().all(|map| ends_soon(cluster, map, rules));
    !(writes || rules.wait && all_end_soon())
}

/// Whether a map waits for room that the lender's would do for.
fn is_wanted(cluster: &Cluster, planner: &Planner, settings: &Settings, node: &Node, loan: &Loan) -> bool {
    let fits = |need: Resource| need.fits_in(loan.room);
    let mut here = node.suspended.iter().filter_map(|id| cluster.containers().get(id));
    here.any(|map| may_go_on(cluster, settings, map) && fits(map.resource()))
        || planner
            .of(node.partition)
            .is_some_and(|plan| borrowers(cluster, plan, settings, node.side).any(|(_, need, _)| fits(need)))
}

/// Whether the map will be done before a reduce would be worth lending.
fn ends_soon(cluster: &Cluster, map: &Container, rules: &LendSettings) -> bool {
    let Some(job) = cluster.jobs().get(&map.app) else { return false };
    let left = running(map, cluster.now()).and_then(|running| running.left());
    let average = predoop::map_average(job.maps_succeeded(), job.maps_time(), &[]);
    left.is_some() && !predoop::is_long(left, rules.threshold, average) && average.is_some()
}

/// Borrowers that have to go so that the lender can come back, those last begun first; none if there is room. `None` if that
/// cannot be now.
fn victims(cluster: &Cluster, settings: &Settings, node: &Node, loan: &Loan) -> Option<Vec<ContainerId>> {
    let mut room = node.usable() - node.kept_in_all() + loan.usable();
    if !loan.is_settled() {
        room += loan.room;
    }
    let now = cluster.now();
    let mut borrowers: Vec<_> =
        loan.borrowers.keys().filter_map(|id| cluster.containers().get(id).map(|c| (c, *id))).collect();
    borrowers.sort_unstable_by_key(|(map, id)| Reverse((map.began(), *id)));
    let mut victims = Vec::new();
    for (map, id) in borrowers {
        if loan.room.fits_in(room) {
            break;
        }
        if map.state != State::Running
            || map.proposed
            || map.barred_until > now
            || !cluster.may_be_suspended(map, settings)
        {
            continue;
        }
        room += map.resource();
        victims.push(id);
    }
    let can = victims.is_empty() || (settings.cluster.mode >= Mode::Suspend && node.can_suspend && node.is_live(now));
    (can && loan.room.fits_in(room)).then_some(victims)
}

/// A reduce that could lend.
struct Candidate {
    id: ContainerId,
    room: Resource,
    /// L_min; for ever comes first.
    idle: Option<Millis>,
}

/// Suspends reduces that wait, as many as there are maps for their rooms; what was looked at for that.
pub fn lend(cluster: &mut Cluster, planner: &Planner, settings: &Settings) -> Visits {
    let mut visits = Visits::default();
    if !settings.any_lending() || settings.cluster.mode < Mode::Suspend {
        return visits;
    }
    for (_, plan) in planner.all() {
        let mut wanted = wanted(cluster, plan, settings);
        let mut served = BTreeSet::new();
        let mut candidates = candidates(cluster, plan, settings, &mut visits);
        candidates.sort_by_key(|reduce| (reduce.idle.is_some(), Reverse(reduce.idle), reduce.id));
        for Candidate { id, room, .. } in candidates {
            let Some(node) = cluster.containers().get(&id).and_then(|reduce| cluster.nodes().get(&reduce.node)) else {
                continue;
            };
            let swapped = change_places(cluster, settings, node, room, &served);
            // With maps that are suspended there it changes places: the node keeps no more for what they have. Where reduces held all
            // the room that the last maps wait for, and lent none because as much is suspended as may be, all would wait for ever.
            let beside: i64 = swapped.iter().map(|(_, memory_mb)| memory_mb).sum();
            let keeps = room.memory_mb - beside <= room_for_suspended_mb(&settings.cluster, node);
            if keeps && (!swapped.is_empty() || take(&mut wanted, room)) {
                served.extend(swapped.iter().map(|(map, _)| *map));
                cluster.suspend(id, Reason::Lent);
            }
        }
    }
    visits
}

/// Maps suspended on the node that would go on in such a room, largest first, with their memory in MiB; none while room is lent there
/// that nobody uses yet, and none of those that others lend for already.
fn change_places(
    cluster: &Cluster,
    settings: &Settings,
    node: &Node,
    mut room: Resource,
    served: &BTreeSet<ContainerId>,
) -> Vec<(ContainerId, i64)> {
    if node.loans.values().any(|loan| !loan.is_used()) {
        return Vec::new();
    }
    let here = node.suspended.iter().filter_map(|id| cluster.containers().get(id).map(|map| (*id, map)));
    let waiting = here.filter(|(id, map)| !served.contains(id) && may_go_on(cluster, settings, map));
    let mut waiting: Vec<_> = waiting.map(|(id, map)| (Reverse(map.resource()), id)).collect();
    waiting.sort_unstable();
    let mut fitting = Vec::new();
    for (Reverse(map), id) in waiting {
        if map.fits_in(room) {
            room -= map;
            fitting.push((id, map.memory_mb));
        }
    }
    fitting
}

/// Sizes of the maps that want containers, in order, with how many of each find no room yet: neither kept for them nor lent already.
/// Nobody lends for jobs that keep to one side of a mixed cluster; they borrow what is lent there anyway.
fn wanted(cluster: &Cluster, plan: &PartitionPlan, settings: &Settings) -> Vec<(Resource, u32)> {
    let kept =
        |app: AppId, size: Resource| -> u32 { cluster.claimed().map(|(_, node)| node.freed_for(app, size)).sum() };
    let maps = borrowers(cluster, plan, settings, None)
        .map(|(app, size, count)| (size, count.saturating_sub(kept(app, size))));
    let mut wanted: Vec<_> = maps.collect();
    let here = |node: &Node| node.partition == plan.partition();
    let of_partition = |container: &Container| cluster.nodes().get(&container.node).is_some_and(here);
    for loan in cluster.lent().filter(|(_, lender)| of_partition(lender)).filter_map(|(id, _)| cluster.loan(id)) {
        take(&mut wanted, loan.unlent());
    }
    wanted
}

/// Whether the first of those that fit wants the room; as many of its kind as fit are served.
fn take(wanted: &mut [(Resource, u32)], room: Resource) -> bool {
    let Some((size, count)) = wanted.iter_mut().find(|(size, count)| *count > 0 && size.fits_in(room)) else {
        return false;
    };
    *count = count.saturating_sub(size.times_in(room));
    true
}

/// Reduces on live nodes of the partition that wait for long (preempting model, condition 4).
fn candidates(cluster: &Cluster, plan: &PartitionPlan, settings: &Settings, visits: &mut Visits) -> Vec<Candidate> {
    let mut running_maps: BTreeMap<AppId, Option<Vec<Running>>> = BTreeMap::new();
    let mut found = Vec::new();
    for (id, reduce) in cluster.waiting_reduces() {
        visits.containers += 1;
        let Some(job) = cluster.jobs().get(&reduce.app) else { continue };
        let rules = settings.queue(cluster.queue_path(reduce.app));
        let here = cluster.nodes().get(&reduce.node).is_some_and(|node| node.partition == plan.partition());
        let may = rules.lend.on && job.may_be_suspended(rules) && may_lend(cluster, job, reduce, rules);
        if !here || !may {
            continue;
        }
        let maps = running_maps.entry(reduce.app).or_insert_with(|| {
            visits.containers += job.containers.len() as u64;
            running_maps_of(cluster, job)
        });
        let now = cluster.now();
        let (Some(maps), Some(from)) = (maps, idle_from(reduce, now)) else { continue };
        let idle = predoop::least_idle(now, from, maps);
        let average = predoop::map_average(job.maps_succeeded(), job.maps_time(), maps);
        if from <= now && predoop::is_long(idle, rules.lend.threshold, average) {
            found.push(Candidate { id, room: reduce.resource(), idle });
        }
    }
    found
}

/// Whether the reduce that said that it waits may be suspended, and still waits as far as anybody can see.
fn may_lend(cluster: &Cluster, job: &Job, reduce: &Container, rules: &QueueSettings) -> bool {
    let now = cluster.now();
    let fresh = reduce
        .last_report
        .is_some_and(|last| now.since(last.at) <= STALE_AFTER && last.maps_succeeded == job.maps_succeeded());
    let stays =
        reduce.proposed || reduce.barred_until > now || job.has_parked(reduce) || reduce.state != State::Running;
    let resumed = reduce.running_for(now).is_some_and(|running| running < reduce.run_time(now));
    let least = if resumed { rules.min_resumed } else { rules.min_run };
    let node = cluster.nodes().get(&reduce.node);
    let can = node.is_some_and(|node| node.can_suspend && !node.decommissioning && node.is_live(now));
    fresh && !stays && can && reduce.running_for(now).is_some_and(|running| running >= least)
}

/// t_s, as the reduce tells.
fn idle_from(reduce: &Container, now: Millis) -> Option<Millis> {
    match reduce.last_report.map(|last| (last.report, last.rate)) {
        Some((TaskReport::Shuffle(shuffle), rate)) => predoop::idle_from(now, shuffle, rate),
        _ => None,
    }
}

/// The job's running maps; `None` if one of them, and not just begun, does not say how far it is.
fn running_maps_of(cluster: &Cluster, job: &Job) -> Option<Vec<Running>> {
    let containers = job.containers.iter().filter_map(|id| cluster.containers().get(id));
    let maps = containers.filter(|map| map.phase.is_of_maps() && !map.is_master);
    maps.filter(|map| map.running_for(cluster.now()).is_some()).map(|map| running(map, cluster.now())).collect()
}

/// How far a map that runs is; `None` if it has run for a while and did not say so lately.
fn running(map: &Container, now: Millis) -> Option<Running> {
    let elapsed = map.run_time(now);
    match map.last_report.filter(|last| now.since(last.at) <= STALE_AFTER).map(|last| last.report) {
        Some(TaskReport::Map { read, .. }) => Some(Running { elapsed, read }),
        _ => (elapsed <= STALE_AFTER).then_some(Running { elapsed, read: 0.0 }),
    }
}
