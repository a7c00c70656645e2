//! What users may be given beyond what they hold: room that is freed for one who may hold no more is refused, and was freed in vain.

use super::pending_claims::PendingClaims;
use crate::entitlement::EPSILON;
use crate::plan::PartitionPlan;
use crate::state::{Cluster, Job, QueueUser};
use crate::units::PartitionId;
use std::collections::BTreeMap;

/// Whose containers may go for one more of a job's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum VictimScope {
    /// Anybody's.
    Anybody,
    /// Its own user's, which may hold no more.
    OwnUser {
        /// Whose.
        queue_user: QueueUser,
        /// What has to go at least, as a fraction of the partition: what it holds beyond its limit.
        least: f64,
    },
}

/// What the limit of each user leaves, as a fraction of the partition, once somebody asked.
#[derive(Default)]
pub(super) struct UserRoom {
    left: BTreeMap<QueueUser, f64>,
}

impl UserRoom {
    /// Whose containers may go for one more of the job's, of that size.
    pub fn scope(
        &mut self,
        cluster: &Cluster,
        plan: &PartitionPlan,
        partition: PartitionId,
        pending_claims: &PendingClaims,
        job: &Job,
        one: f64,
    ) -> VictimScope {
        let queue_user = job.queue_user();
        let Some(limit) = plan.limit_of(queue_user) else { return VictimScope::Anybody };
        let left = *self.left.entry(queue_user).or_insert_with(|| {
            let jobs = cluster.jobs_of(queue_user).filter_map(|app| Some((app, cluster.jobs().get(&app)?)));
            let held = jobs.map(|(app, job)| {
                let guests = cluster.borrowed_share(job, plan.total, partition);
                job.share(plan.total, partition) + guests + pending_claims.claimed_share(app, plan.total)
            });
            limit - held.sum::<f64>()
        });
        if left + EPSILON >= one {
            VictimScope::Anybody
        } else {
            VictimScope::OwnUser { queue_user, least: -left }
        }
    }

    /// Its user holds one more, or will.
    pub fn used(&mut self, queue_user: QueueUser, one: f64) {
        self.left.entry(queue_user).and_modify(|left| *left -= one);
    }
}
