//! What jobs and queues can spare: what they hold beyond what they may keep from who needs room.

use super::{NodeCandidates, Victim, VictimSearch, VictimSelector};
use crate::entitlement::EPSILON;
use crate::estimate::left::Remaining;
use crate::fact::PhaseKey;
use crate::plan::Entry;
use crate::settings::Candidates;
use crate::state::{Cluster, Job, Phase};
use crate::units::{AppId, QueueId};
use std::collections::BTreeMap;

/// What a job holds beyond what it may keep, as fractions of the partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spare {
    /// Above its target: anybody who is below its own may have that.
    pub above_target: f64,
    /// Above what it keeps from those that come before it.
    pub above_kept: f64,
    /// Above what it keeps from those of a higher priority: there is nobody to whom it gives more.
    pub above_kept_from_higher: f64,
    /// The job's last place in the plan.
    last_entry: Option<usize>,
}

/// What queues hold beyond what they may keep from others.
#[derive(Clone, Debug)]
pub(super) struct QueueSpare {
    /// What each, parents included, holds above its entitlement, as a fraction of the partition.
    pub above_entitled: BTreeMap<QueueId, f64>,
    /// The smallest container of each leaf queue, likewise: who has less to spare than that can lose nothing.
    smallest: BTreeMap<QueueId, f64>,
}

impl VictimSelector<'_> {
    /// What the job can spare for that search. In its own queue it gives up what it does not keep to those that come before it, and to
    /// others what is above its target; to those of a higher priority all but its ApplicationMaster. To another queue, which has more to
    /// claim than its own, it gives what it does not keep. Where victims go in another order than that of the plan, only what is above its
    /// target is spared: who lost more would take it back from who comes after it.
    pub(super) fn spare_for(
        &self,
        cluster: &Cluster,
        search: &VictimSearch,
        app: AppId,
        queue: QueueId,
        priority: i32,
    ) -> f64 {
        let Some(spare) = self.spare.get(&app) else { return 0.0 };
        let by_rank = self.rules(cluster, queue).victims.is_by_rank();
        match search.is_of(queue) {
            _ if !by_rank => spare.above_target,
            true if priority < search.priority => spare.above_kept_from_higher,
            true if spare.last_entry <= search.last_entry => spare.above_target,
            _ => spare.above_kept,
        }
    }

    /// Whether it pays that the job loses a container to that search (law 24). Neither priorities, guarantees of queues nor the starvation
    /// rule ask for sizes.
    pub(super) fn pays(
        &mut self,
        cluster: &Cluster,
        search: &VictimSearch,
        app: AppId,
        queue: QueueId,
        priority: i32,
    ) -> bool {
        let rules = self.rules(cluster, queue);
        if !search.is_of(queue) || priority < search.priority || rules.preemption_threshold >= 1.0 {
            return true;
        }
        let of_victim = self.remaining(cluster, app);
        self.remaining(cluster, search.app).may_take_of(&of_victim, rules, search.is_new())
    }

    /// What the job has left.
    pub(super) fn remaining(&mut self, cluster: &Cluster, app: AppId) -> Remaining {
        let (planner, settings, partition) = (self.planner, self.settings, self.partition);
        *self.remaining.entry(app).or_insert_with(|| planner.remaining(cluster, settings, partition, app))
    }

    /// Whether the victim's job, and its queue against others, can spare it. Targets are fractions and containers are not: the last
    /// container taken may leave its job less than one short, which entitles it to nothing, so nothing flaps. A queue keeps its
    /// whole share against others (law 2); but that each of its jobs has a part of a container too much does not keep from them
    /// what it has too much (law 11).
    ///
    /// Where the order is over all jobs, a job gives to its own queue only what the starvation rule asks of it, up to less
    /// than a container more; and to others also what is below its target, if its queue says so: nobody there takes it back.
    pub(super) fn can_spare(
        &mut self,
        cluster: &Cluster,
        search: &VictimSearch,
        candidates: &NodeCandidates,
        victim: &Victim,
    ) -> bool {
        let taken = |from: &dyn Fn(&Victim) -> bool| -> f64 {
            candidates.victims.iter().filter(|taken| from(taken)).map(|taken| taken.share).sum()
        };
        let of_job = taken(&|other| other.app == victim.app);
        let spare = self.spare_for(cluster, search, victim.app, victim.queue, victim.priority) - of_job;
        let guest = victim.share == 0.0;
        if search.is_of(victim.queue) {
            let gives = self.giving.get(&victim.app).copied().unwrap_or(0.0) - of_job;
            let gives_way = victim.over_all_jobs.is_none() || gives > EPSILON;
            return guest || (spare > EPSILON && gives_way);
        }
        let enough = |spare: f64| spare + EPSILON >= victim.share;
        let preemptable = cluster.queues().get(&victim.queue).is_some_and(|queue| queue.preemptable);
        if guest {
            return preemptable;
        }
        let whatever_its_target = victim.over_all_jobs == Some(Candidates::NonProduction);
        let QueueSpare { above_entitled, .. } = self.queue_spare(cluster);
        preemptable
            && (whatever_its_target || spare > EPSILON)
            && search.apart_from(cluster, victim.queue).all(|queue| {
                let within = |other: &Victim| cluster.lineage(other.queue).any(|above| above == queue);
                enough(above_entitled.get(&queue).copied().unwrap_or(0.0) - taken(&within))
            })
    }

    /// Whether the queue, and all above it that are not the beneficiary's, hold so much more than they are entitled to as one of its
    /// containers.
    pub(super) fn has_spare(&mut self, cluster: &Cluster, search: &VictimSearch, queue: QueueId) -> bool {
        let QueueSpare { above_entitled, smallest } = self.queue_spare(cluster);
        let one = smallest.get(&queue).copied().unwrap_or(0.0);
        let has_spare = |spare: &f64| *spare > EPSILON && *spare + EPSILON >= one;
        search.apart_from(cluster, queue).all(|queue| above_entitled.get(&queue).is_some_and(has_spare))
    }

    pub(super) fn queue_spare(&mut self, cluster: &Cluster) -> &mut QueueSpare {
        let (plan, partition) = (self.plan, self.partition);
        self.queue_spare.get_or_insert_with(|| {
            let above_entitled = plan.entitled.iter().map(|(queue, share)| (*queue, -share)).collect();
            let mut spare = QueueSpare { above_entitled, smallest: BTreeMap::new() };
            for (app, job) in cluster.jobs() {
                let held = job.share(plan.total, partition);
                // What runs on though it is parked cannot be taken, and the others do not give for it.
                let held = if job.parked { held.min(plan.target(*app)) } else { held };
                cluster.lineage(job.queue).for_each(|queue| *spare.above_entitled.entry(queue).or_default() += held);
                let holds = |(key, phase): &(&PhaseKey, &Phase)| key.partition == partition && phase.held > 0;
                let sizes = job.phases.iter().filter(holds).map(|(key, _)| key.resource.dominant_share(plan.total));
                let smallest = spare.smallest.entry(job.queue).or_insert(f64::INFINITY);
                *smallest = sizes.fold(*smallest, f64::min);
            }
            spare
        })
    }

    /// What the job can spare; below zero where it holds less than that.
    pub(super) fn spare_of(&mut self, app: AppId, job: &Job) -> Spare {
        let (plan, partition) = (self.plan, self.partition);
        *self.spare.entry(app).or_insert_with(|| {
            let held = job.share(plan.total, partition);
            let last_entry = plan.last_entry(app);
            let entry = last_entry.and_then(|place| plan.entries.get(place));
            let above = |kept: fn(&Entry) -> f64| held - entry.map_or(0.0, kept);
            Spare {
                above_target: above(|entry| entry.target),
                above_kept: above(|entry| entry.keeps),
                above_kept_from_higher: above(|entry| entry.keeps_from_higher),
                last_entry,
            }
        })
    }
}
