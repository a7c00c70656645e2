//! What a debug build compares with a fresh look at everything.

use super::{view, Planner};
use crate::settings::Settings;
use crate::state::Cluster;
use crate::units::{PartitionId, Resource};
use crate::view::JobView;
use std::collections::BTreeMap;

impl Planner {
    /// Whether what was seen of jobs is what a fresh look at all of them sees.
    ///
    /// # Panics
    /// If it is not.
    pub(super) fn check_views(&self, cluster: &Cluster, settings: &Settings, partition: PartitionId, total: Resource) {
        let orderings = self.orderings.iter().filter(|((of, _), _)| *of == partition);
        let seen: BTreeMap<_, _> =
            orderings.flat_map(|((_, queue), s)| s.jobs().map(|view| (view.app, (*queue, view)))).collect();
        for (app, job) in cluster.jobs() {
            let queue = cluster.queues().get(&job.queue);
            let fresh =
                queue.and_then(|queue| view::of(*app, job, partition, total, settings.queue(&queue.path), cluster));
            let known = seen.get(app).map(|(queue, view)| (*queue, JobView { changed: true, ..(*view).clone() }));
            assert_eq!(known, fresh.map(|view| (job.queue, view)), "what was seen of {app:?}");
        }
        assert!(seen.keys().all(|app| cluster.jobs().contains_key(app)), "a job is gone and still seen");
    }

    /// Whether everybody waits in line with what it asks for now.
    ///
    /// # Panics
    /// If not.
    pub(crate) fn check(&self, cluster: &Cluster) {
        for plan in self.plans.values() {
            for (place, entry) in plan.entries.iter().enumerate() {
                let job = cluster.jobs().get(&entry.app);
                for (side, line) in plan.anybody.all().filter(|(_, line)| line.is_open()) {
                    let below_target = job.and_then(|job| plan.ask_below_target(job, entry, side));
                    assert_eq!(plan.below_target[side].ask(place), below_target, "{entry:?} on {side:?}");
                    let anybody =
                        job.filter(|_| plan.is_last_entry(place)).and_then(|job| plan.ask(job, side, |_| true));
                    assert_eq!(line.ask(place), anybody, "{entry:?} on {side:?}");
                }
            }
        }
    }
}
