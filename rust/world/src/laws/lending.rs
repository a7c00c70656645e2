//! Lending (laws 13 to 16).

use crate::world::World;
use hiatus_core::decision::Decision;
use hiatus_core::fact::{PhaseKey, TaskReport};
use hiatus_core::settings::{Mode, Settings};
use hiatus_core::state::{Cluster, Container, For, Reason};
use hiatus_core::units::{ContainerId, Millis, Resource};

/// What a task said longer ago than this must not count.
const STALE: Millis = Millis(5_000);

/// Law 13 (rule 1): nobody's map gets other room while lent room that would do lies idle.
pub(super) fn lent_room_first(world: &World, decisions: &[Decision]) {
    let (cluster, settings) = (world.core.cluster(), world.core.settings());
    for decision in decisions {
        let Decision::Assign { app, .. } = decision else { continue };
        let job = &cluster.jobs()[app];
        let assigned = job.phases.iter().filter(|(_, phase)| phase.proposed > 0);
        let maps: Vec<_> = assigned.filter(|(key, _)| job.is_map_reduce() && key.is_of_maps()).collect();
        let rules = settings.queue(cluster.queue_path(*app));
        if !rules.lend.on || !job.may_be_suspended(rules) {
            continue;
        }
        for (id, node) in cluster.nodes().iter().filter(|(_, node)| node.is_live(cluster.now())) {
            // Where the ResourceManager would start something else first, nothing is lent to the job.
            let first = |priority| {
                job.phases.iter().all(|(other, phase)| {
                    let here = other.partition == node.partition && phase.pending > 0;
                    !here || other.priority >= priority
                })
            };
            // Nor where it is confined away from, or tries some of its first tasks.
            let freely = |key: &PhaseKey| job.most_on(key, node.side) == u32::MAX;
            let here = |key: &PhaseKey| key.partition == node.partition && first(key.priority) && freely(key);
            for (key, _) in maps.iter().filter(|(key, _)| here(key)) {
                let idle = |room: Resource| key.resource.fits_in(room) && !cluster.is_refused(*app, *id);
                // A node that has become smaller may not have all that it lent.
                let there = node.total - node.used - node.settling - node.proposed;
                let lent = node.loans.values().any(|loan| idle(loan.usable().at_most(there)));
                assert!(!lent, "law 13: {app:?} gets other room than the idle one lent on {id:?}: {decisions:?}");
            }
        }
    }
}

/// Law 14 (rule 2): what runs in lent room is a map of a MapReduce job: no reduce, no ApplicationMaster.
pub(super) fn maps_only(cluster: &Cluster) {
    for (id, container) in cluster.containers().iter().filter(|(_, container)| container.lender.is_some()) {
        let is_map =
            cluster.jobs()[&container.app].is_map_reduce() && container.phase.is_of_maps() && !container.is_master;
        assert!(is_map, "law 14: {id:?} borrows and is no map: {container:?}");
    }
}

/// Law 15 (rule 3): what borrows has its room of one lender, which lends no more than it has, and is a suspended reduce.
pub(super) fn one_lender_each(cluster: &Cluster) {
    for (lender, loan) in cluster.nodes().values().flat_map(|node| &node.loans) {
        let found = &cluster.containers()[lender];
        assert!(found.state.is_suspended() && found.phase.is_of_reduces(), "law 15: {lender:?} lends: {found:?}");
        assert!(cluster.reason(found) == Some(Reason::Lent), "law 15: {lender:?} lends, but is not suspended for it");
        assert!(Resource::ZERO.fits_in(loan.unlent()), "law 15: {lender:?} lends more than it has: {loan:?}");
        for id in loan.borrowers.keys() {
            let borrower = &cluster.containers()[id];
            let its_own = borrower.lender == Some(*lender) && borrower.node == found.node;
            assert!(its_own && !borrower.state.is_suspended(), "law 15: {id:?} borrows of {lender:?}: {borrower:?}");
        }
    }
    let borrowers: usize =
        cluster.nodes().values().flat_map(|node| node.loans.values()).map(|loan| loan.borrowers.len()).sum();
    let borrowing = cluster.containers().values().filter(|container| container.lender.is_some()).count();
    assert_eq!(borrowing, borrowers, "law 15: somebody borrows of two lenders, or of none");
}

/// Law 16: nobody lends that has something to fetch, or whose job did not say so just now; nobody that borrows goes while it
/// sorts and writes what it made, nor before enough maps are done, unless the lender has waited for too long.
pub(super) fn in_time(settings: &Settings, cluster: &Cluster, decisions: &[Decision]) {
    for decision in decisions {
        let Decision::Suspend { container: id, .. } = decision else { continue };
        let container = &cluster.containers()[id];
        match container.intended {
            Some(Reason::Lent) => lends(settings, cluster, *id, container),
            Some(Reason::Recalled { by }) => goes(settings, cluster, *id, container, by),
            _ => {}
        }
    }
}

fn lends(settings: &Settings, cluster: &Cluster, id: ContainerId, reduce: &Container) {
    let (now, job, node) = (cluster.now(), &cluster.jobs()[&reduce.app], &cluster.nodes()[&reduce.node]);
    let rules = settings.queue(cluster.queue_path(reduce.app));
    let wanted = rules.lend.on && settings.cluster.mode >= Mode::Suspend && node.can_suspend && !node.decommissioning;
    assert!(wanted && reduce.phase.is_of_reduces() && job.is_map_reduce(), "law 16: {id:?} lends where nobody should");
    let last = reduce.last_report.unwrap_or_else(|| panic!("law 16: {id:?} lends and never said anything"));
    let TaskReport::Shuffle(shuffle) = last.report else { panic!("law 16: {id:?} lends after its last output") };
    assert!(shuffle.fetched == shuffle.done && shuffle.done < shuffle.total, "law 16: {id:?} lends with {shuffle:?}");
    assert!(now.since(last.at) <= STALE, "law 16: {id:?} lends on an old word");
    assert_eq!(last.maps_succeeded, job.maps_succeeded(), "law 16: {id:?} lends while there is something to fetch");
    let ran = reduce.running_for(now).unwrap_or_default();
    let least = if ran < reduce.run_time(now) { rules.min_resumed } else { rules.min_run };
    assert!(ran >= least, "law 16: {id:?} lends after {ran:?} of {least:?}");
}

fn goes(settings: &Settings, cluster: &Cluster, id: ContainerId, map: &Container, by: ContainerId) {
    let (now, lender) = (cluster.now(), &cluster.containers()[&by]);
    assert!(
        lender.state.is_suspended() && lender.node == map.node,
        "law 16: {id:?} goes for {by:?}, which needs nothing"
    );
    let kept = cluster.nodes()[&map.node]
        .claims
        .iter()
        .any(|claim| claim.purpose == For::Resume(by) && claim.victims.contains(&id));
    assert!(kept, "law 16: {id:?} goes for {by:?}, and nothing is kept for that");
    let rules = settings.queue(cluster.queue_path(lender.app));
    let overdue = now.since(lender.since) >= rules.max_suspension;
    assert!(overdue || !map.partitions(STALE, now), "law 16: {id:?} goes while it writes what it made");
}
