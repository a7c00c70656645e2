//! Queues whose containers go in one order whatever their jobs, to other queues; and jobs that give way to their own by the
//! starvation rule.

use super::super::victims::OverAll;
use super::{Victim, VictimKey, VictimSearch, VictimSelector};
use crate::entitlement::EPSILON;
use crate::plan::Entry;
use crate::settings::{Candidates, GpClass};
use crate::state::{Cluster, Job};
use crate::units::{AppId, ContainerId, Millis, NodeId, QueueId};
use std::cmp::Reverse;

/// The victims of all queues of one such order.
pub(super) struct GlobalVictimPool {
    order: OverAll,
    pub queues: Vec<QueueId>,
    /// Those that were looked at and may be taken, in the order in which they go.
    victims: Vec<Victim>,
    /// How far what began last was looked at.
    looked_at: Option<(Millis, ContainerId)>,
    /// There is nobody left to look at.
    seen: bool,
}

impl GlobalVictimPool {
    /// The pool of that order among all.
    pub fn of(all: &mut Vec<GlobalVictimPool>, order: OverAll) -> &mut GlobalVictimPool {
        let at = all.iter().position(|pool| pool.order == order).unwrap_or_else(|| {
            all.push(GlobalVictimPool { order, queues: Vec::new(), victims: Vec::new(), looked_at: None, seen: false });
            all.len() - 1
        });
        &mut all[at]
    }
}

/// Victims with when they began.
pub(super) fn with_begin<T: Iterator<Item = (VictimKey, Victim)>>(
    cluster: &Cluster,
    victims: T,
) -> impl Iterator<Item = (Millis, Victim)> + use<'_, T> {
    let began = |id: &ContainerId| cluster.containers().get(id).and_then(|container| container.began());
    victims.filter_map(move |(_, victim)| Some((began(&victim.id)?, victim)))
}

impl VictimSelector<'_> {
    pub(super) fn take_from_pool(
        &mut self,
        cluster: &mut Cluster,
        search: &mut VictimSearch,
        at: usize,
    ) -> Option<NodeId> {
        let other = |queue: &QueueId| !search.is_of(*queue);
        let others: Vec<QueueId> = self.pools[at].queues.iter().copied().filter(other).collect();
        if !others.into_iter().any(|queue| self.has_spare(cluster, search, queue)) {
            return None;
        }
        let mut victims = std::mem::take(&mut self.pools[at].victims);
        victims.retain(|victim| !self.taken.contains(&victim.id));
        let mut freed = self.take_from(cluster, search, &victims);
        while freed.is_none() {
            let seen = victims.len();
            self.look_at_more(cluster, at, &mut victims);
            if victims.len() == seen {
                break;
            }
            freed = self.take_from(cluster, search, &victims[seen..]);
        }
        self.pools[at].victims = victims;
        freed
    }

    /// Looks for the next victims of the pool; adds none if there are none left.
    fn look_at_more(&mut self, cluster: &Cluster, at: usize, victims: &mut Vec<Victim>) {
        if self.pools[at].seen {
            return;
        }
        match self.pools[at].order {
            OverAll::LastBegun => {
                for (began, id) in cluster.last_begun(self.pools[at].looked_at) {
                    self.visits.containers += 1;
                    self.pools[at].looked_at = Some((began, id));
                    let Some(container) = cluster.containers().get(&id) else { continue };
                    let Some(job) = cluster.jobs().get(&container.app) else { continue };
                    if !self.pools[at].queues.contains(&job.queue) || container.phase.partition != self.partition {
                        continue;
                    }
                    let queue = self.rules(cluster, job.queue);
                    let Ok(victim) = self.victim(cluster, queue, job, (id, container), self.own_filter()) else {
                        continue;
                    };
                    if self.is_candidate(cluster, container.app, job) {
                        victims.push(victim);
                        return;
                    }
                }
            }
            order @ (OverAll::EqualParts | OverAll::EqualPartsOfEach) => {
                victims.extend(self.equal_parts(cluster, &self.pools[at].queues.clone(), order))
            }
        }
        self.pools[at].seen = true;
    }

    /// Containers of the queues' jobs by which part of what its job may lose each is, counted from what began last.
    fn equal_parts(&mut self, cluster: &Cluster, queues: &[QueueId], order: OverAll) -> Vec<Victim> {
        let mut in_order = Vec::new();
        for (place, Entry { app, queue, .. }) in self.plan.entries.iter().enumerate() {
            if !queues.contains(queue) || !self.plan.is_last_entry(place) {
                continue;
            }
            let (app, Some(job)) = (*app, cluster.jobs().get(app)) else { continue };
            let mut own = self.of_job_in_pool(cluster, app, job);
            own.sort_by_key(|(began, victim)| Reverse((*began, victim.id)));
            let all = match self.rules(cluster, job.queue).gp.candidates {
                Candidates::OverShare => self.spare_of(app, job).above_target,
                Candidates::NonProduction => own.iter().map(|(_, victim)| victim.share).sum(),
            };
            let mut given = 0.0;
            for (began, victim) in own.into_iter().filter(|_| all > EPSILON) {
                let before = given / all;
                given += victim.share;
                let part = if order == OverAll::EqualPartsOfEach { before } else { given / all };
                in_order.push((part, Reverse((began, victim.id)), victim));
            }
        }
        self.visits.containers += in_order.len() as u64;
        in_order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        in_order.into_iter().map(|(.., victim)| victim).collect()
    }

    /// Those of the job's containers that may be taken, with when they began; none of a job that is no candidate.
    pub(super) fn of_job_in_pool(&mut self, cluster: &Cluster, app: AppId, job: &Job) -> Vec<(Millis, Victim)> {
        if !self.is_candidate(cluster, app, job) {
            return Vec::new();
        }
        with_begin(cluster, self.of_job(cluster, job, self.own_filter())).collect()
    }

    /// Whether the job may lose anything at all; from then on it is known what it holds above its target.
    pub(super) fn is_candidate(&mut self, cluster: &Cluster, app: AppId, job: &Job) -> bool {
        self.spare_of(app, job);
        self.classes.of(cluster, job) == GpClass::NonProduction
    }

    /// What jobs give way with goes to whoever wants it, what began last first.
    pub(super) fn take_from_giving(&mut self, cluster: &mut Cluster, search: &mut VictimSearch) -> Option<NodeId> {
        let given = self.given.take().unwrap_or_else(|| {
            let mut given = Vec::new();
            for app in self.giving.keys().copied().collect::<Vec<_>>() {
                let Some(job) = cluster.jobs().get(&app) else { continue };
                given.extend(self.of_job_in_pool(cluster, app, job));
            }
            self.visits.containers += given.len() as u64;
            given.sort_by_key(|(began, victim)| Reverse((*began, victim.id)));
            given.into_iter().map(|(_, victim)| victim).collect()
        });
        let freed = self.take_from(cluster, search, &given);
        self.given = Some(given);
        freed
    }
}
