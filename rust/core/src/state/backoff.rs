//! Whose limits are reached: jobs of a user in a queue that was refused a container for a limit back off, until it may have become another.

use super::{Cluster, Holder, Job};
use crate::units::AppId;
use std::collections::BTreeSet;

impl Cluster {
    /// The job's limits are those of another holder from now on, or of nobody: it came, moved or went.
    pub(super) fn change_holder(&mut self, app: AppId, before: Option<Holder>, after: Option<Holder>) {
        if let Some(jobs) = before.and_then(|holder| self.holders.get_mut(&holder)) {
            jobs.remove(&app);
        }
        if let Some(holder) = before.filter(|holder| self.holders.get(holder).is_some_and(BTreeSet::is_empty)) {
            self.holders.remove(&holder);
        }
        if let Some(holder) = after {
            self.holders.entry(holder).or_default().insert(app);
            self.update_backoff(holder, app); // of the others' limits nothing changed
        }
    }

    /// The jobs of a user in a leaf queue.
    pub fn jobs_of(&self, holder: Holder) -> impl Iterator<Item = AppId> + '_ {
        self.holders.get(&holder).into_iter().flatten().copied()
    }

    /// The limit of the job's user in its queue may have become another: who backs off for it now.
    pub(super) fn update_backoffs(&mut self, holder: Holder) {
        for app in self.holders.get(&holder).cloned().unwrap_or_default() {
            self.update_backoff(holder, app);
        }
    }

    fn update_backoff(&mut self, holder: Holder, app: AppId) {
        let backs_off = self.limits.backs_off(holder, app);
        if self.jobs.get(&app).is_some_and(|job| job.backs_off != backs_off) {
            self.with_job(app, |job, _| job.backs_off = backs_off);
            // Nodes with room are worth a look for it again.
            self.new_demand |= !backs_off;
            self.replan |= !backs_off;
        }
    }

    /// The user of that job holds less in its queue than before.
    pub(super) fn held_less(&mut self, app: AppId) {
        let Some(holder) = self.jobs.get(&app).map(Job::holder) else { return };
        if self.limits.forget(holder) {
            self.update_backoffs(holder);
        }
    }

    /// It holds more: so that was not its limit.
    pub(super) fn held_more(&mut self, app: AppId) {
        let Some(holder) = self.jobs.get(&app).map(Job::holder) else { return };
        if self.limits.given(holder) {
            self.update_backoffs(holder);
        }
    }

    /// Queues or nodes changed: all limits may be others.
    pub(super) fn other_limits(&mut self) {
        for holder in self.limits.forget_all() {
            self.update_backoffs(holder);
        }
    }
}
