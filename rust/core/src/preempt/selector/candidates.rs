//! Which containers may be taken, and in what order those of one job, or on one node, go.

use super::super::no_victim_reason::NoVictimReason;
use super::super::permission::{may_take, time_left, VictimFilter};
use super::super::victims::{self, VictimInfo};
use super::{pool, Victim, VictimKey, VictimSearch, VictimSelector};
use crate::entitlement::EPSILON;
use crate::settings::QueueSettings;
use crate::state::{Cluster, Container, Job};
use crate::units::{ContainerId, NodeId};
use std::cmp::Reverse;

impl<'a> VictimSelector<'a> {
    /// Containers of the partition, where nothing goes on for what is taken.
    pub(super) fn own_filter(&self) -> VictimFilter<'a> {
        VictimFilter { settings: self.settings, partition: self.partition, guests: false, returning_mb: 0 }
    }

    /// What may be taken for that search on one node, in the order in which it goes.
    pub(super) fn victims_at(&mut self, cluster: &Cluster, home: NodeId, search: &VictimSearch) -> Vec<Victim> {
        let filter = VictimFilter { returning_mb: search.returning_mb(), ..self.own_filter() };
        let mut here: Vec<(ContainerId, &Container)> = cluster.on_node(home).collect();
        here.sort_by_key(|(_, container)| container.app);
        let mut guests = Vec::new();
        let mut ranked = Vec::new();
        let mut pooled = Vec::new();
        for own in here.chunk_by(|(_, a), (_, b)| a.app == b.app) {
            let Some((app, job)) = own.first().and_then(|(_, a)| Some((a.app, cluster.jobs().get(&a.app)?))) else {
                continue;
            };
            guests.extend(self.victims_among(cluster, job, own, VictimFilter { guests: true, ..filter }));
            if self.rules(cluster, job.queue).victims.is_over_all_jobs() {
                if self.is_candidate(cluster, app, job) {
                    pooled.extend(pool::with_begin(cluster, self.victims_among(cluster, job, own, filter)));
                }
            } else if let Some(place) = self.plan.last_entry(app) {
                if self.spare_of(app, job).above_kept_from_higher > EPSILON {
                    ranked.push((place, job, own));
                }
            }
        }
        guests.sort_by_key(|(key, _)| *key);
        pooled.sort_by_key(|(began, victim)| Reverse((*began, victim.id)));
        self.sort_by_rank(cluster, &mut ranked);
        let mut victims: Vec<Victim> = guests.into_iter().map(|(_, victim)| victim).collect();
        victims.extend(pooled.into_iter().map(|(_, victim)| victim));
        for (place, job, own) in ranked {
            // What goes on may take the room of reduces that wait for maps, whatever their job has left: nothing is lost, and jobs could else
            // wait for each other, each with reduces where a map of the other is at home.
            let waits =
                |victim: &Victim| cluster.containers().get(&victim.id).is_some_and(|one| cluster.waits_for_maps(one));
            let pays = self.pays(cluster, search, self.plan.entries[place].app, job.queue, job.priority);
            let own = self.victims_among(cluster, job, own, filter);
            let mut own: Vec<_> = own.filter(|(_, victim)| pays || waits(victim)).collect();
            own.sort_by_key(|(key, _)| *key);
            victims.extend(own.into_iter().map(|(_, victim)| victim));
        }
        victims
    }

    /// Those of the job's containers on live nodes of the partition that may be taken; guests there, if those are meant.
    pub(super) fn of_job<'b>(
        &'b self,
        cluster: &'b Cluster,
        job: &'b Job,
        filter: VictimFilter<'b>,
    ) -> impl Iterator<Item = (VictimKey, Victim)> + use<'a, 'b> {
        let containers = job.containers.iter().filter_map(|id| Some((*id, cluster.containers().get(id)?)));
        self.of_those(cluster, job, containers, filter).filter_map(Result::ok)
    }

    /// The same of those of its containers: a job may have thousands, and of those a node has few.
    fn victims_among<'b>(
        &'b self,
        cluster: &'b Cluster,
        job: &'b Job,
        containers: &'b [(ContainerId, &'b Container)],
        filter: VictimFilter<'b>,
    ) -> impl Iterator<Item = (VictimKey, Victim)> + use<'a, 'b> {
        self.of_those(cluster, job, containers.iter().copied(), filter).filter_map(Result::ok)
    }

    /// Of those containers what may be taken, and what keeps each of the others.
    pub(super) fn of_those<'b, T: Iterator<Item = (ContainerId, &'b Container)>>(
        &'b self,
        cluster: &'b Cluster,
        job: &'b Job,
        containers: T,
        filter: VictimFilter<'b>,
    ) -> impl Iterator<Item = Result<(VictimKey, Victim), NoVictimReason>> + use<'a, 'b, T> {
        let queue = self.rules(cluster, job.queue);
        let order = victims::order(queue.victims);
        let meant = move |(_, container): &(ContainerId, &Container)| {
            (container.phase.partition != filter.partition) == filter.guests
        };
        containers.filter(meant).map(move |(id, container)| {
            let victim = self.victim(cluster, queue, job, (id, container), filter)?;
            let left = || time_left(queue, job, (id, container), cluster.now());
            let by_rule = order.key(VictimInfo { memory_mb: victim.resource.memory_mb, left: &left });
            let trains = job.is_first_task(id, container.phase) && !job.waits_for_maps(container.phase);
            let key = (container.executor(cluster.now()), trains, by_rule, Reverse((container.allocated, id)));
            Ok((key, victim))
        })
    }

    /// The container as a victim, or what keeps it.
    pub(super) fn victim(
        &self,
        cluster: &Cluster,
        queue: &QueueSettings,
        job: &Job,
        (id, container): (ContainerId, &Container),
        filter: VictimFilter<'_>,
    ) -> Result<Victim, NoVictimReason> {
        let may = may_take(cluster, filter, queue, job, (id, container))?;
        let guest = container.phase.partition != self.partition;
        let resource = container.resource();
        Ok(Victim {
            id,
            app: container.app,
            queue: job.queue,
            priority: job.priority,
            node: container.node,
            resource,
            share: if guest { 0.0 } else { resource.dominant_share(self.plan.total) },
            how: may.how,
            not_for_own: may.not_for_own,
            over_all_jobs: queue.victims.is_over_all_jobs().then_some(queue.gp.candidates),
        })
    }
}
