//! Every index against a recomputation, after every step of a debug build.

use super::index::Listing;
use super::{Cluster, Load, Partition, Reason, SideNodes};
use crate::fact::PerSide;
use crate::units::{Millis, PartitionId};
use std::collections::{BTreeMap, BTreeSet};

impl Cluster {
    /// Whether what is derived follows from the nodes, jobs and containers as they are.
    ///
    /// # Panics
    /// If it does not: a way around the gateway was found.
    pub(crate) fn check(&self) {
        let mut partitions: BTreeMap<PartitionId, Partition> = BTreeMap::new();
        let mut sides: PerSide<SideNodes> = PerSide::default();
        for (id, node) in &self.nodes {
            let listing = Listing::of(node, self.now);
            assert_eq!(node.listed, Some(listing), "listing of {id:?}");
            listing.add(*id, &mut partitions, &mut sides);
            assert!(!node.is_live(self.now) || node.watched, "nobody looks when {id:?} falls silent");
        }
        assert_eq!((&self.partitions, &self.sides), (&partitions, &sides));
        let nodes = |which: &dyn Fn(&super::Node) -> bool| -> BTreeSet<_> {
            self.nodes.iter().filter(|(_, node)| which(node)).map(|(id, _)| *id).collect()
        };
        assert_eq!(self.claimed, nodes(&|node| !node.claims.is_empty()));
        assert_eq!(self.stalled, nodes(&|node| node.waiting_since.is_some()));
        let suspended = self.containers.iter().filter(|(_, container)| container.state.is_suspended());
        assert_eq!(self.suspended, suspended.map(|(id, container)| (container.since, *id)).collect());
        let catching_up = self.containers.iter().filter_map(|(id, c)| c.catches_up_at.map(|at| (at, *id)));
        assert_eq!(self.catching_up, catching_up.collect());
        let lent = self.containers.iter().filter(|(_, c)| c.state.is_suspended() && c.reason == Some(Reason::Lent));
        assert_eq!(self.lent, lent.map(|(id, _)| *id).collect());
        for (lender, loan) in self.nodes.values().flat_map(|node| &node.loans) {
            assert!(self.lent.contains(lender), "{lender:?} lends and is not suspended for that");
            for borrower in loan.borrowers.keys() {
                let found = self.containers.get(borrower);
                assert!(found.is_some_and(|found| found.lender == Some(*lender) && !found.state.is_suspended()));
            }
        }
        for (id, container) in &self.containers {
            let loan = container.lender.map(|lender| self.loan(lender));
            assert!(loan.is_none_or(|loan| loan.is_some_and(|loan| loan.borrowers.contains_key(id))), "{id:?} borrows");
        }
        let tasks = self.containers.iter().filter(|(_, container)| !container.is_master);
        assert_eq!(self.begun, tasks.filter_map(|(id, task)| task.began().map(|began| (began, *id))).collect());
        let parked = self.containers.iter().filter(|(_, container)| container.parked);
        assert_eq!(self.parked_containers, parked.map(|(id, _)| *id).collect());
        let jobs = |which: &dyn Fn(&super::Job) -> bool| -> BTreeSet<_> {
            self.jobs.iter().filter(|(_, job)| which(job)).map(|(app, _)| *app).collect()
        };
        assert_eq!(self.parked_jobs, jobs(&|job| job.parked));
        assert_eq!(self.pending, jobs(&|job| !job.active));
        assert_eq!(self.guests, jobs(&|job| job.phases.values().any(|phase| phase.borrowed > 0)));
        assert!(self.sited.iter().all(|app| self.jobs.contains_key(app)), "a job is gone and still has a side");
        let mut queue_users: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (app, job) in &self.jobs {
            queue_users.entry(job.queue_user()).or_default().insert(*app);
        }
        assert_eq!(self.queue_users, queue_users);
        let mut loads: BTreeMap<_, Load> = BTreeMap::new();
        self.jobs.values().for_each(|job| *loads.entry(job.queue).or_default() += Load::of(job));
        assert!(self.loads.busy().eq(loads), "loads of the queues");
        for (app, job) in &self.jobs {
            assert_eq!(job.backs_off, self.limits.backs_off(job.queue_user(), *app), "whether {app:?} backs off");
            let own = job.containers.iter().filter(|id| self.is_suspended(**id));
            assert!(job.suspended.iter().eq(own), "suspended ones of {app:?}");
            let counted: u32 = job.phases.values().map(|phase| phase.catching_up).sum();
            let own = job.containers.iter().filter_map(|id| self.containers.get(id)?.catches_up_at);
            assert_eq!(counted as usize, own.count(), "those of {app:?} that catch up");
            let mut run_times: BTreeMap<_, (Millis, u32)> = BTreeMap::new();
            let own = job.containers.iter().filter_map(|id| self.containers.get(id)).filter(|c| !c.is_master);
            for container in own {
                let (ran, running) = run_times.entry(container.phase).or_default();
                *ran = *ran + container.run_time(self.now);
                *running += u32::from(container.running_for(self.now).is_some());
            }
            for (key, phase) in &job.phases {
                let own = run_times.remove(key).unwrap_or_default();
                let counted = (phase.run_time.until(self.now), phase.run_time.running);
                assert_eq!(counted, own, "how long tasks of {app:?} have run");
            }
        }
    }
}
