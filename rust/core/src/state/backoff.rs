//! Whose limits are reached: jobs of a user in a queue that was refused a container for a limit back off, until it may have become another.

use super::{Cluster, Job, QueueUser};
use crate::units::AppId;
use std::collections::BTreeSet;

impl Cluster {
    /// The job's limits are those of another user or queue from now on, or of nobody: it came, moved or went.
    pub(super) fn change_queue_user(&mut self, app: AppId, before: Option<QueueUser>, after: Option<QueueUser>) {
        if let Some(jobs) = before.and_then(|queue_user| self.queue_users.get_mut(&queue_user)) {
            jobs.remove(&app);
        }
        if let Some(queue_user) =
            before.filter(|queue_user| self.queue_users.get(queue_user).is_some_and(BTreeSet::is_empty))
        {
            self.queue_users.remove(&queue_user);
        }
        if let Some(queue_user) = after {
            self.queue_users.entry(queue_user).or_default().insert(app);
            self.update_backoff(queue_user, app); // of the others' limits nothing changed
        }
    }

    /// The jobs of a user in a leaf queue.
    pub fn jobs_of(&self, queue_user: QueueUser) -> impl Iterator<Item = AppId> + '_ {
        self.queue_users.get(&queue_user).into_iter().flatten().copied()
    }

    /// The limit of the job's user in its queue may have become another: who backs off for it now.
    pub(super) fn update_backoffs(&mut self, queue_user: QueueUser) {
        for app in self.queue_users.get(&queue_user).cloned().unwrap_or_default() {
            self.update_backoff(queue_user, app);
        }
    }

    fn update_backoff(&mut self, queue_user: QueueUser, app: AppId) {
        let backs_off = self.limits.backs_off(queue_user, app);
        if self.jobs.get(&app).is_some_and(|job| job.backs_off != backs_off) {
            self.with_job(app, |job, _| job.backs_off = backs_off);
            // Nodes with room are worth a look for it again.
            self.new_demand |= !backs_off;
            self.replan |= !backs_off;
        }
    }

    /// The user of that job holds less in its queue than before.
    pub(super) fn held_less(&mut self, app: AppId) {
        let Some(queue_user) = self.jobs.get(&app).map(Job::queue_user) else { return };
        if self.limits.forget(queue_user) {
            self.update_backoffs(queue_user);
        }
    }

    /// It holds more: so that was not its limit.
    pub(super) fn held_more(&mut self, app: AppId) {
        let Some(queue_user) = self.jobs.get(&app).map(Job::queue_user) else { return };
        if self.limits.given(queue_user) {
            self.update_backoffs(queue_user);
        }
    }

    /// Queues or nodes changed: all limits may be others.
    pub(super) fn other_limits(&mut self) {
        for queue_user in self.limits.forget_all() {
            self.update_backoffs(queue_user);
        }
    }
}
