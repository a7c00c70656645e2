//! What CapacityScheduler's limits of users leave of a queue: nothing is taken for who would be refused.

use super::bounds::{Bound, Bounded, Bounds};
use crate::entitlement::EPSILON;
use crate::state::{Cluster, UserLimits};
use crate::units::{PartitionId, QueueId, UserId};
use crate::view::JobView;
use std::collections::BTreeMap;

/// What the jobs of one user hold and could use of a partition, as fractions of it.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    demand: f64,
    masters: f64,
    asks: bool,
}

/// The users of a queue in one partition, where limits may stand against them.
#[derive(Clone, Debug)]
pub(super) struct Users {
    limits: UserLimits,
    guaranteed: f64,
    /// Of each job of the queue, in its order, whose it is.
    of_jobs: Vec<UserId>,
    uses: BTreeMap<UserId, Use>,
}

impl Users {
    /// Those of the queue's jobs; `None` where no limit can stand against anybody.
    pub fn of<'a>(
        cluster: &Cluster,
        partition: PartitionId,
        queue: QueueId,
        jobs: impl Iterator<Item = &'a JobView> + Clone,
    ) -> Option<Users> {
        let queue = cluster.queues().get(&queue)?;
        let (limits, shares) = (queue.users, queue.shares(partition));
        if limits.sure >= 1.0 && limits.cap(shares.guaranteed) + EPSILON >= shares.maximum {
            return None;
        }
        let of_jobs = jobs.clone().map(|view| cluster.jobs().get(&view.app).map(|job| job.user));
        let of_jobs: Vec<UserId> = of_jobs.collect::<Option<_>>()?;
        let mut uses: BTreeMap<UserId, Use> = BTreeMap::new();
        for (user, job) in of_jobs.iter().zip(jobs) {
            let all = uses.entry(*user).or_default();
            all.demand += job.demand;
            all.masters += job.masters;
            all.asks |= job.demand > job.held + EPSILON;
        }
        Some(Users { limits, guaranteed: shares.guaranteed, of_jobs, uses })
    }

    /// Binds the jobs of who wants more than it may hold while the queue holds what it is entitled to. Who that is, and how much.
    pub fn bind<'a>(
        &self,
        jobs: impl Iterator<Item = &'a JobView>,
        entitled: f64,
        bounds: &mut Bounds,
    ) -> impl Iterator<Item = (UserId, f64)> {
        let asking = self.uses.values().filter(|all| all.asks).count();
        let limit = self.limits.limit(self.guaranteed, entitled, asking);
        let limited = self.uses.iter().filter(|(_, all)| all.demand > limit + EPSILON);
        let left: BTreeMap<UserId, f64> = limited.map(|(user, all)| (*user, limit - all.masters)).collect();
        for (user, job) in self.of_jobs.iter().zip(jobs).filter(|_| !left.is_empty()) {
            let found = bounds.jobs.entry(job.app).or_insert_with(|| Bounded::of(job));
            found.user = left.contains_key(user).then_some(*user);
        }
        bounds.left.extend(left.iter().map(|(user, left)| (Bound::User(*user), *left)));
        left.into_keys().map(move |user| (user, limit))
    }
}
