//! What refusals tell of limits. CapacityScheduler refuses a container beyond a limit of its queue or its user, or against
//! the application's own constraints, and does not say which. So a refused job backs off; and where two jobs of one user in one
//! queue are refused and none is served in between, it is the user or the queue that may have no more: all its jobs there
//! back off. Nothing is proposed to who backs off, nor freed for it, until its user holds less in that queue, queues or nodes change,
//! or the backoff is over.

use crate::units::{AppId, Millis, QueueId, UserId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// How long who was refused backs off at first: the limit may be another soon because others hold more or less, and nobody tells.
const FIRST_BACKOFF: Millis = Millis(100);

/// How often that doubles while refusals go on.
const DOUBLINGS: u32 = 4;

/// Whom a limit is for: a user in a leaf queue.
pub type QueueUser = (QueueId, UserId);

/// One user in one queue.
#[derive(Clone, Debug, Default)]
struct Refused {
    /// Jobs that were refused and back off, and until when.
    jobs: BTreeMap<AppId, Millis>,
    /// How many in a row.
    in_a_row: u32,
    /// How often in a row a backoff was over and had been in vain.
    backoffs: u32,
    /// Until when all jobs back off.
    all: Option<Millis>,
}

/// Who backs off.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    refused: BTreeMap<QueueUser, Refused>,
    ends: BinaryHeap<Reverse<(Millis, QueueUser)>>,
}

impl Limits {
    /// Whether the job backs off.
    pub fn backs_off(&self, queue_user: QueueUser, app: AppId) -> bool {
        self.refused.get(&queue_user).is_some_and(|refused| refused.all.is_some() || refused.jobs.contains_key(&app))
    }

    /// The job was refused. True if all jobs of its user in its queue back off from now on.
    pub fn refuse(&mut self, queue_user: QueueUser, app: AppId, now: Millis) -> bool {
        let refused = self.refused.entry(queue_user).or_default();
        let until = now + Millis(FIRST_BACKOFF.0 << refused.backoffs.min(DOUBLINGS));
        let before = refused.jobs.insert(app, until);
        refused.in_a_row += u32::from(before.is_none());
        self.ends.push(Reverse((until, queue_user)));
        if refused.in_a_row < 2 || refused.all.is_some() {
            return false;
        }
        refused.all = Some(until);
        true
    }

    /// The user holds less there than before, so that it may be given more: whether anybody of it was refused.
    pub fn forget(&mut self, queue_user: QueueUser) -> bool {
        self.refused.remove(&queue_user).is_some()
    }

    /// The user was given something there: what was refused before was so for other reasons than its limit. Whether all its
    /// jobs backed off.
    pub fn given(&mut self, queue_user: QueueUser) -> bool {
        let Some(refused) = self.refused.get_mut(&queue_user) else { return false };
        (refused.in_a_row, refused.backoffs) = (0, 0);
        refused.all.take().is_some()
    }

    /// All limits may be others now; who backed off.
    pub fn forget_all(&mut self) -> BTreeSet<QueueUser> {
        self.ends.clear();
        std::mem::take(&mut self.refused).into_keys().collect()
    }

    /// The next user one of whose backoffs is over.
    pub fn due(&mut self, now: Millis) -> Option<QueueUser> {
        while let Some(Reverse((at, queue_user))) = self.ends.peek().copied().filter(|Reverse((at, _))| *at <= now) {
            self.ends.pop();
            let Some(refused) = self.refused.get_mut(&queue_user) else { continue };
            refused.jobs.retain(|_, until| *until > at);
            if refused.all.take_if(|until| *until <= at).is_some() {
                // Two of them find out whether the limit still stands.
                refused.jobs.clear();
                refused.in_a_row = 0;
                refused.backoffs += 1;
            }
            return Some(queue_user);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE_USER: QueueUser = (QueueId(1), UserId(2));

    #[test]
    fn one_refused_job_rests_alone_and_a_second_one_makes_its_user_rest() {
        let mut limits = Limits::default();
        assert!(!limits.refuse(QUEUE_USER, AppId(1), Millis(0)));
        assert!(limits.backs_off(QUEUE_USER, AppId(1)) && !limits.backs_off(QUEUE_USER, AppId(2)));
        assert!(limits.refuse(QUEUE_USER, AppId(2), Millis(0)));
        assert!(limits.backs_off(QUEUE_USER, AppId(3)) && !limits.backs_off((QueueId(2), UserId(2)), AppId(3)));
    }

    #[test]
    fn a_users_rest_is_over_when_it_holds_less_or_after_a_time_that_doubles() {
        let mut limits = Limits::default();
        limits.refuse(QUEUE_USER, AppId(1), Millis(0));
        limits.refuse(QUEUE_USER, AppId(2), Millis(0));
        assert_eq!(limits.due(Millis(99)), None);
        assert_eq!(limits.due(Millis(100)), Some(QUEUE_USER));
        assert!(!limits.backs_off(QUEUE_USER, AppId(1)) && !limits.backs_off(QUEUE_USER, AppId(3)));
        limits.refuse(QUEUE_USER, AppId(1), Millis(1_000));
        while limits.due(Millis(1_199)).is_some() {}
        assert!(limits.backs_off(QUEUE_USER, AppId(1)), "twice as long this time");
        assert!(limits.forget(QUEUE_USER) && !limits.backs_off(QUEUE_USER, AppId(1)));
    }

    #[test]
    fn a_job_that_its_own_constraints_keep_out_does_not_hold_up_its_users_others() {
        let mut limits = Limits::default();
        limits.refuse(QUEUE_USER, AppId(1), Millis(0));
        limits.given(QUEUE_USER);
        assert!(limits.backs_off(QUEUE_USER, AppId(1)) && !limits.backs_off(QUEUE_USER, AppId(2)));
        assert!(!limits.refuse(QUEUE_USER, AppId(3), Millis(1)), "nobody was refused since somebody was served");
        while limits.due(Millis(1_000)).is_some() {}
        assert!(!limits.backs_off(QUEUE_USER, AppId(1)));
    }
}
