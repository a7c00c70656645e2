//! Queues that lose job by job, from the last in order.

use super::super::refusal::{Refusal, Refusals};
use super::{Market, Sale, Victim};
use crate::entitlement::EPSILON;
use crate::estimate;
use crate::plan::Entry;
use crate::state::{Cluster, Job};
use crate::units::{AppId, NodeId, QueueId};
use std::cmp::Ordering;
use std::ops::Range;

/// A queue whose jobs may lose something.
pub(super) struct Loser {
    queue: QueueId,
    /// Those of its places in the plan that were not looked at yet.
    unseen: Range<usize>,
    /// Places that are next, the next one last: in a queue whose order is not that of its ranks.
    next: Vec<usize>,
    /// Jobs that were looked at and may still have something to spare, in the order in which they give.
    sellers: Vec<Seller>,
    /// It has nothing to spare any more for queues that do not share so many of it and those above it, or more: that of a queue's
    /// parent is no bar to that parent's other children.
    closed: usize,
}

/// A job that has anything to spare, and what of it may be taken once somebody wanted to know.
struct Seller {
    app: AppId,
    priority: i32,
    /// How many containers it has.
    containers: u32,
    victims: Option<Vec<Victim>>,
    /// What keeps its others.
    refusals: Refusals,
}

/// What decides where the job with most left to do gives first: of a lower priority any does before one of a higher.
struct ToDo {
    priority: i32,
    /// In seconds of the whole partition.
    left_s: f64,
}

impl ToDo {
    /// The last to give comes first.
    fn cmp(&self, other: &ToDo) -> Ordering {
        other.priority.cmp(&self.priority).then(self.left_s.total_cmp(&other.left_s))
    }
}

impl Loser {
    /// The queue with its places in the plan.
    pub fn of(queue: QueueId, places: Range<usize>) -> Loser {
        Loser { queue, unseen: places, next: Vec::new(), sellers: Vec::new(), closed: usize::MAX }
    }
}

impl Market<'_> {
    pub(super) fn buy_from(&mut self, cluster: &mut Cluster, sale: &mut Sale, loser: usize) -> Option<NodeId> {
        let queue = self.losers[loser].queue;
        let other_queue = !sale.is_of(queue);
        let apart = sale.apart_from(cluster, queue).count();
        if other_queue && (apart >= self.losers[loser].closed || !self.has_spare(cluster, sale, queue)) {
            let preemptable = cluster.queues().get(&queue).is_some_and(|queue| queue.preemptable);
            sale.refusals.note(if preemptable { Refusal::Entitled } else { Refusal::Protected });
            return None;
        }
        let spared = sale.spared;
        let mut at = 0;
        loop {
            if at == self.losers[loser].sellers.len() && !self.look_further(cluster, loser) {
                // Nobody there could spare anything for another queue; what they have only gets less.
                if other_queue && sale.spared == spared && !sale.elsewhere && !sale.too_large {
                    self.losers[loser].closed = apart;
                }
                return None;
            }
            let Seller { app, priority, containers, ref victims, .. } = self.losers[loser].sellers[at];
            let all_taken = victims.as_ref().is_some_and(|all| all.iter().all(|one| self.taken.contains(&one.id)));
            let has_none = self.spare.get(&app).is_none_or(|spare| spare.above_kept_from_higher <= EPSILON);
            if all_taken || has_none {
                self.losers[loser].sellers.remove(at);
                continue;
            }
            if !self.pays(cluster, sale, app, queue, priority) {
                sale.hardly_more = true;
                sale.refusals.add(Refusal::HardlyMore, containers);
            } else if self.spare_for(cluster, sale, app) > EPSILON {
                let victims = self.losers[loser].sellers[at].victims.take();
                let victims = victims.unwrap_or_else(|| self.in_turn(cluster, loser, at));
                sale.refusals.add_all(&self.losers[loser].sellers[at].refusals);
                let sold = self.buy_among(cluster, sale, &victims);
                self.losers[loser].sellers[at].victims = Some(victims);
                if sold.is_some() {
                    return sold;
                }
            }
            at += 1;
        }
    }

    /// Takes up the queue's next job that has any to spare; false if there is none left.
    fn look_further(&mut self, cluster: &Cluster, loser: usize) -> bool {
        while let Some(place) = self.next_seller(cluster, loser) {
            let Entry { app, .. } = self.plan.entries[place];
            let Some(job) = cluster.jobs().get(&app) else { continue };
            if self.spare_of(app, job).above_kept_from_higher > EPSILON {
                let (priority, containers) = (job.priority, job.containers.len() as u32);
                let refusals = Refusals::default();
                self.losers[loser].sellers.push(Seller { app, priority, containers, victims: None, refusals });
                return true;
            }
        }
        false
    }

    /// What of the job may be taken, in the order in which it goes; notes what keeps the rest.
    fn in_turn(&mut self, cluster: &Cluster, loser: usize, at: usize) -> Vec<Victim> {
        let Some(job) = cluster.jobs().get(&self.losers[loser].sellers[at].app) else { return Vec::new() };
        self.visits.containers += job.containers.len() as u64;
        let (mut own, mut kept) = (Vec::new(), Refusals::default());
        // All are fetched before any is judged: that waits for memory once, not for each.
        let all = job.containers.iter().filter_map(|id| Some((*id, cluster.containers().get(id)?)));
        let containers: Vec<_> = all.filter(|(_, container)| !container.is_master).collect();
        for found in self.of_those(cluster, job, containers.into_iter(), self.look()) {
            match found {
                Ok(victim) => own.push(victim),
                Err(refusal) => kept.note(refusal),
            }
        }
        self.losers[loser].sellers[at].refusals = kept;
        own.sort_by_key(|(turn, _)| *turn);
        own.into_iter().map(|(_, victim)| victim).collect()
    }

    /// The last place of the queue's next job that gives.
    fn next_seller(&mut self, cluster: &Cluster, at: usize) -> Option<usize> {
        let loser = &self.losers[at];
        if loser.next.is_empty() && !loser.unseen.is_empty() {
            let is_last = |place: &usize| self.plan.is_last(*place);
            let unseen = loser.unseen.clone();
            let (next, seen) = if self.order_of(cluster, loser.queue).most_left_first() {
                let of_queue = unseen.clone().filter(is_last);
                let mut sellers: Vec<_> = of_queue.map(|place| (self.to_do(cluster, place), place)).collect();
                sellers.sort_by(|(a, place), (b, other)| a.cmp(b).then(place.cmp(other)));
                (sellers.into_iter().map(|(_, place)| place).collect(), unseen.start)
            } else {
                let next = unseen.clone().rev().find(is_last);
                (next.into_iter().collect(), next.unwrap_or(unseen.start))
            };
            let loser = &mut self.losers[at];
            (loser.next, loser.unseen) = (next, unseen.start..seen);
        }
        self.losers[at].next.pop()
    }

    fn to_do(&self, cluster: &Cluster, place: usize) -> ToDo {
        let entry = &self.plan.entries[place];
        let rules = self.rules(cluster, entry.queue);
        let of = |job: &Job| ToDo {
            priority: job.priority,
            left_s: estimate::remaining_seconds(job, cluster, rules, self.plan.total),
        };
        cluster.jobs().get(&entry.app).map_or(ToDo { priority: 0, left_s: 0.0 }, of)
    }

    /// Puts jobs, with their places in the plan, into the order in which they give.
    pub(super) fn sort_by_rank(&self, cluster: &Cluster, jobs: &mut [(usize, &Job)]) {
        jobs.sort_by(|(a, _), (b, _)| {
            let (of_a, of_b) = (self.plan.entries[*a].queue, self.plan.entries[*b].queue);
            let by_rank = b.cmp(a);
            if of_a == of_b && self.order_of(cluster, of_a).most_left_first() {
                return self.to_do(cluster, *b).cmp(&self.to_do(cluster, *a)).then(by_rank);
            }
            by_rank
        });
    }
}
