//! Queues that lose job by job, from the last in order.

use super::super::no_victim_reason::{NoVictimReason, ReasonCounts};
use super::{Victim, VictimSearch, VictimSelector};
use crate::entitlement::EPSILON;
use crate::estimate;
use crate::plan::Entry;
use crate::state::{Cluster, Job};
use crate::units::{AppId, NodeId, QueueId};
use std::cmp::Ordering;
use std::ops::Range;

/// A queue whose jobs may lose something.
pub(super) struct QueueVictims {
    queue: QueueId,
    /// Those of its places in the plan that were not looked at yet.
    unseen: Range<usize>,
    /// Places that are next, the next one last: in a queue whose order is not that of its ranks.
    next: Vec<usize>,
    /// Jobs that were looked at and may still have something to spare, in the order in which they give.
    jobs: Vec<JobVictims>,
    /// It has nothing to spare any more for queues that do not share so many of it and those above it, or more: that of a queue's
    /// parent is no bar to that parent's other children.
    closed: usize,
}

/// A job that has anything to spare, and what of it may be taken once somebody wanted to know.
struct JobVictims {
    app: AppId,
    priority: i32,
    /// How many containers it has.
    containers: u32,
    victims: Option<Vec<Victim>>,
    /// What keeps its others.
    reasons: ReasonCounts,
}

/// What decides where the job with most left to do gives first: of a lower priority any does before one of a higher.
struct WorkLeft {
    priority: i32,
    /// In seconds of the whole partition.
    left_s: f64,
}

impl WorkLeft {
    /// The last to give comes first.
    fn cmp(&self, other: &WorkLeft) -> Ordering {
        other.priority.cmp(&self.priority).then(self.left_s.total_cmp(&other.left_s))
    }
}

impl QueueVictims {
    /// The queue with its places in the plan.
    pub fn of(queue: QueueId, places: Range<usize>) -> QueueVictims {
        QueueVictims { queue, unseen: places, next: Vec::new(), jobs: Vec::new(), closed: usize::MAX }
    }
}

impl VictimSelector<'_> {
    pub(super) fn take_from_queue(
        &mut self,
        cluster: &mut Cluster,
        search: &mut VictimSearch,
        losing: usize,
    ) -> Option<NodeId> {
        let queue = self.losing_queues[losing].queue;
        let other_queue = !search.is_of(queue);
        let apart = search.apart_from(cluster, queue).count();
        if other_queue && (apart >= self.losing_queues[losing].closed || !self.has_spare(cluster, search, queue)) {
            let preemptable = cluster.queues().get(&queue).is_some_and(|queue| queue.preemptable);
            search.reasons.note(if preemptable { NoVictimReason::Entitled } else { NoVictimReason::Protected });
            return None;
        }
        let spared = search.spared;
        let mut at = 0;
        loop {
            if at == self.losing_queues[losing].jobs.len() && !self.look_further(cluster, losing) {
                // Nobody there could spare anything for another queue; what they have only gets less.
                if other_queue && search.spared == spared && !search.elsewhere && !search.too_large {
                    self.losing_queues[losing].closed = apart;
                }
                return None;
            }
            let JobVictims { app, priority, containers, ref victims, .. } = self.losing_queues[losing].jobs[at];
            let all_taken = victims.as_ref().is_some_and(|all| all.iter().all(|one| self.taken.contains(&one.id)));
            let has_none = self.spare.get(&app).is_none_or(|spare| spare.above_kept_from_higher <= EPSILON);
            if all_taken || has_none {
                self.losing_queues[losing].jobs.remove(at);
                continue;
            }
            if !self.pays(cluster, search, app, queue, priority) {
                search.hardly_more = true;
                search.reasons.add(NoVictimReason::HardlyMore, containers);
            } else if self.spare_for(cluster, search, app, queue, priority) > EPSILON {
                let victims = self.losing_queues[losing].jobs[at].victims.take();
                let victims = victims.unwrap_or_else(|| self.victims_of(cluster, losing, at));
                search.reasons.add_all(&self.losing_queues[losing].jobs[at].reasons);
                let freed = self.take_from(cluster, search, &victims);
                self.losing_queues[losing].jobs[at].victims = Some(victims);
                if freed.is_some() {
                    return freed;
                }
            }
            at += 1;
        }
    }

    /// Takes up the queue's next job that has any to spare; false if there is none left.
    fn look_further(&mut self, cluster: &Cluster, losing: usize) -> bool {
        while let Some(place) = self.next_job(cluster, losing) {
            let Entry { app, .. } = self.plan.entries[place];
            let Some(job) = cluster.jobs().get(&app) else { continue };
            if self.spare_of(app, job).above_kept_from_higher > EPSILON {
                let (priority, containers) = (job.priority, job.containers.len() as u32);
                let reasons = ReasonCounts::default();
                self.losing_queues[losing].jobs.push(JobVictims { app, priority, containers, victims: None, reasons });
                return true;
            }
        }
        false
    }

    /// What of the job may be taken, in the order in which it goes; notes what keeps the rest.
    fn victims_of(&mut self, cluster: &Cluster, losing: usize, at: usize) -> Vec<Victim> {
        let Some(job) = cluster.jobs().get(&self.losing_queues[losing].jobs[at].app) else { return Vec::new() };
        self.visits.containers += job.containers.len() as u64;
        let (mut own, mut kept) = (Vec::new(), ReasonCounts::default());
        // All are fetched before any is judged: that waits for memory once, not for each.
        let all = job.containers.iter().filter_map(|id| Some((*id, cluster.containers().get(id)?)));
        let containers: Vec<_> = all.filter(|(_, container)| !container.is_master).collect();
        for found in self.of_those(cluster, job, containers.into_iter(), self.own_filter()) {
            match found {
                Ok(victim) => own.push(victim),
                Err(reason) => kept.note(reason),
            }
        }
        self.losing_queues[losing].jobs[at].reasons = kept;
        own.sort_by_key(|(key, _)| *key);
        own.into_iter().map(|(_, victim)| victim).collect()
    }

    /// The last place of the queue's next job that gives.
    fn next_job(&mut self, cluster: &Cluster, at: usize) -> Option<usize> {
        let losing = &self.losing_queues[at];
        if losing.next.is_empty() && !losing.unseen.is_empty() {
            let is_last = |place: &usize| self.plan.is_last_entry(*place);
            let unseen = losing.unseen.clone();
            let (next, seen) = if self.order_of(cluster, losing.queue).largest_job_first() {
                let of_queue = unseen.clone().filter(is_last);
                let mut jobs: Vec<_> = of_queue.map(|place| (self.work_left(cluster, place), place)).collect();
                jobs.sort_by(|(a, place), (b, other)| a.cmp(b).then(place.cmp(other)));
                (jobs.into_iter().map(|(_, place)| place).collect(), unseen.start)
            } else {
                let next = unseen.clone().rev().find(is_last);
                (next.into_iter().collect(), next.unwrap_or(unseen.start))
            };
            let losing = &mut self.losing_queues[at];
            (losing.next, losing.unseen) = (next, unseen.start..seen);
        }
        self.losing_queues[at].next.pop()
    }

    fn work_left(&self, cluster: &Cluster, place: usize) -> WorkLeft {
        let entry = &self.plan.entries[place];
        let rules = self.rules(cluster, entry.queue);
        let of = |job: &Job| WorkLeft {
            priority: job.priority,
            left_s: estimate::remaining_seconds(job, cluster, rules, self.plan.total),
        };
        cluster.jobs().get(&entry.app).map_or(WorkLeft { priority: 0, left_s: 0.0 }, of)
    }

    /// Puts jobs, with their places in the plan and what of them is meant, into the order in which they give.
    pub(super) fn sort_by_rank<T>(&self, cluster: &Cluster, jobs: &mut [(usize, &Job, T)]) {
        jobs.sort_by(|(a, ..), (b, ..)| {
            let (of_a, of_b) = (self.plan.entries[*a].queue, self.plan.entries[*b].queue);
            let by_rank = b.cmp(a);
            if of_a == of_b && self.order_of(cluster, of_a).largest_job_first() {
                return self.work_left(cluster, *b).cmp(&self.work_left(cluster, *a)).then(by_rank);
            }
            by_rank
        });
    }
}
