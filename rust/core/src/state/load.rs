//! What the jobs of each queue hold and want together, kept as they change: observers read it as often as they like, however many
//! jobs there are.

use super::{Job, Phase};
use crate::fact::PhaseKey;
use crate::units::{Millis, QueueId};
use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Neg};

/// Numbers of the jobs of one queue, or of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Applications that are not over.
    pub jobs: i64,
    /// Containers that count, ApplicationMasters among them.
    pub running: i64,
    /// Containers wanted.
    pub pending: i64,
    /// Memory of those, in MiB.
    pub pending_mb: i64,
    /// Containers suspended, or being so.
    pub suspended: i64,
    /// Memory that those keep, in MiB.
    pub suspended_mb: i64,
}

impl Load {
    /// What one job adds to its queue.
    pub(super) fn of(job: &Job) -> Load {
        let phases = job.phases.iter().map(|(key, phase)| Load::of_phase(key, phase));
        phases.fold(Load { jobs: 1, ..Load::default() }, Add::add)
    }

    /// What one of its phases adds.
    pub(super) fn of_phase(key: &PhaseKey, phase: &Phase) -> Load {
        Load {
            jobs: 0,
            running: i64::from(phase.held) + i64::from(phase.borrowed),
            pending: i64::from(phase.pending),
            pending_mb: i64::from(phase.pending) * key.resource.memory_mb,
            suspended: i64::from(phase.suspended),
            suspended_mb: i64::from(phase.suspended) * key.resource.memory_mb,
        }
    }
}

impl Add for Load {
    type Output = Load;

    fn add(self, other: Load) -> Load {
        Load {
            jobs: self.jobs + other.jobs,
            running: self.running + other.running,
            pending: self.pending + other.pending,
            pending_mb: self.pending_mb + other.pending_mb,
            suspended: self.suspended + other.suspended,
            suspended_mb: self.suspended_mb + other.suspended_mb,
        }
    }
}

impl AddAssign for Load {
    fn add_assign(&mut self, other: Load) {
        *self = *self + other;
    }
}

impl Neg for Load {
    type Output = Load;

    fn neg(self) -> Load {
        Load {
            jobs: -self.jobs,
            running: -self.running,
            pending: -self.pending,
            pending_mb: -self.pending_mb,
            suspended: -self.suspended,
            suspended_mb: -self.suspended_mb,
        }
    }
}

/// A queue's load, and for how long its containers have been suspended together.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueLoad {
    /// What its jobs hold and want now.
    pub now: Load,
    suspended_time: Millis,
    counted_until: Millis,
}

impl QueueLoad {
    /// For how long its containers have been suspended, one after the other, until `now`; never less than before.
    pub fn suspended_time(&self, now: Millis) -> Millis {
        let each = now.since(self.counted_until).0;
        self.suspended_time + Millis(each * self.now.suspended.unsigned_abs())
    }

    fn change(&mut self, by: Load, now: Millis) {
        self.suspended_time = self.suspended_time(now);
        self.counted_until = now;
        self.now += by;
    }
}

/// The loads of all queues that ever had a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Loads(BTreeMap<QueueId, QueueLoad>);

impl Loads {
    /// A job changed, and perhaps its queue. Most changes leave its load as it is, and cost nothing more.
    pub fn moved(&mut self, (from, before): (QueueId, Load), (to, after): (QueueId, Load), now: Millis) {
        if from == to {
            return self.change(to, after + -before, now);
        }
        self.change(from, -before, now);
        self.change(to, after, now);
    }

    /// A job of the queue came, changed or went.
    pub fn change(&mut self, queue: QueueId, by: Load, now: Millis) {
        if by != Load::default() {
            self.0.entry(queue).or_default().change(by, now);
        }
    }

    pub fn of(&self, queue: QueueId) -> QueueLoad {
        self.0.get(&queue).copied().unwrap_or_default()
    }

    /// What there is of each queue that has jobs.
    #[cfg(debug_assertions)]
    pub fn busy(&self) -> impl Iterator<Item = (QueueId, Load)> + '_ {
        self.0.iter().filter(|(_, load)| load.now != Load::default()).map(|(queue, load)| (*queue, load.now))
    }
}
