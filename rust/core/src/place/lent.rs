//! Lent room goes to maps, before any other room does (Predoop, rules 1 to 3).

use super::Allocator;
use crate::fact::{PhaseKey, Side};
use crate::plan::{PartitionPlan, Planner};
use crate::settings::{QueueSettings, Settings};
use crate::state::{Cluster, Container, Job, Reason, State};
use crate::units::{AppId, ContainerId, NodeId, Resource};

/// Who gets lent room next.
enum Borrower {
    /// It is suspended there.
    Resume(ContainerId),
    /// A new map of that job.
    Start(AppId),
}

impl Allocator {
    /// Gives out what is lent, loan by loan, the oldest first: to maps that are suspended there, then to new ones, each in the
    /// order of the plan, whatever their jobs' targets: nobody else may have it.
    pub(super) fn place_lent(&mut self, cluster: &mut Cluster, planner: &mut Planner, settings: &Settings) {
        let mut lenders: Vec<_> = cluster.lent().map(|(id, container)| (container.since, id)).collect();
        lenders.sort_unstable();
        for (_, lender) in lenders {
            self.visits.containers += 1;
            while self.left > 0 {
                let Some(home) = cluster.containers().get(&lender).map(|container| container.node) else { break };
                let Some(node) = cluster.nodes().get(&home).filter(|node| node.is_live(cluster.now())) else { break };
                let (Some(loan), Some(plan)) = (node.loans.get(&lender), planner.of(node.partition)) else { break };
                // A node may have become smaller since.
                let room = loan.usable().at_most(node.total - node.used - node.settling - node.proposed);
                match next(cluster, plan, settings, home, room) {
                    Some(Borrower::Resume(id)) => cluster.resume_lent(id, lender),
                    Some(Borrower::Start(app)) => {
                        let maps = cluster.jobs().get(&app).and_then(|job| job.next_maps(node.partition));
                        let Some((key, _)) = maps else { break };
                        cluster.assign_lent(app, home, key, lender);
                        planner.hear(cluster);
                    }
                    None => break,
                }
                self.left -= 1;
            }
        }
    }
}

fn next(
    cluster: &Cluster,
    plan: &PartitionPlan,
    settings: &Settings,
    home: NodeId,
    room: Resource,
) -> Option<Borrower> {
    let node = cluster.nodes().get(&home)?;
    let found = node.suspended.iter().filter_map(|id| cluster.containers().get(id).map(|container| (*id, container)));
    let waiting = found.filter(|(_, map)| may_go_on(cluster, settings, map) && map.resource().fits_in(room));
    let first =
        waiting.min_by_key(|(id, map)| (plan.last_entry(map.app).is_none(), plan.last_entry(map.app), map.since, *id));
    first.map(|(id, _)| Borrower::Resume(id)).or_else(|| {
        let mut at = 0;
        while let Some(place) = plan.anybody(node.side).first(at, room) {
            let app = plan.entries[place].app;
            let borrows = |job: &&Job| may_borrow(cluster, settings, job) && !cluster.is_refused(app, home);
            // First tasks that are tried on both sides of a mixed cluster are counted, and borrow nothing.
            let freely = |job: &Job, key: &PhaseKey| job.most_on(key, node.side) == u32::MAX;
            let job = cluster.jobs().get(&app).filter(borrows);
            let maps = job.and_then(|job| job.next_maps(node.partition).filter(|(key, _)| freely(job, key)));
            if maps.is_some_and(|(key, _)| key.resource.fits_in(room)) {
                return Some(Borrower::Start(app));
            }
            at = place + 1;
        }
        None
    })
}

/// Whether maps of the job may run in lent room at all: they are suspended when the lender wants it back.
fn may_borrow(cluster: &Cluster, settings: &Settings, job: &Job) -> bool {
    let path = cluster.queues().get(&job.queue).map(|queue| queue.path.as_str());
    let may = |rules: &QueueSettings| rules.lend.on && job.may_be_suspended(rules);
    job.is_map_reduce() && path.is_some_and(|path| may(settings.queue(path)))
}

/// Whether it is a suspended map that lent room on its node would let go on.
pub fn may_go_on(cluster: &Cluster, settings: &Settings, container: &Container) -> bool {
    let Some(job) = cluster.jobs().get(&container.app) else { return false };
    let barred = container.proposed || container.barred_until > cluster.now() || job.has_parked(container);
    let has_turn = container.state == State::Suspended && container.reason.is_some_and(Reason::ends_with_turn);
    has_turn && !barred && container.phase.is_of_maps() && may_borrow(cluster, settings, job)
}

/// Whether room is lent on its node, usable soon if not now, that would let the suspended container go on.
pub fn lent_room_comes(cluster: &Cluster, settings: &Settings, id: ContainerId) -> bool {
    let Some(container) = cluster.containers().get(&id) else { return false };
    let Some(node) = cluster.nodes().get(&container.node) else { return false };
    may_go_on(cluster, settings, container) && node.one_lends(container.resource())
}

/// The jobs with maps that want containers which lent room on nodes of that side of the partition could hold, in the order of
/// the plan, with the size and number of those.
pub fn borrowers<'a>(
    cluster: &'a Cluster,
    plan: &'a PartitionPlan,
    settings: &'a Settings,
    side: Option<Side>,
) -> impl Iterator<Item = (AppId, Resource, u32)> + 'a {
    let line = plan.anybody(side);
    let waiting = std::iter::successors(line.first(0, plan.total), move |place| line.first(place + 1, plan.total));
    waiting.filter_map(|place| {
        let app = plan.entries[place].app;
        let job = cluster.jobs().get(&app).filter(|job| may_borrow(cluster, settings, job))?;
        job.next_maps(plan.partition()).map(|(key, count)| (app, key.resource, count))
    })
}
