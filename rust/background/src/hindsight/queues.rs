//! Queues as facts tell them, with what their ApplicationMasters held. One that was removed is known for as long as applications of
//! it are remembered: these can be simulated still.

use crate::hindsight::peak::Peak;
use hiatus_core::fact::QueueFact;
use hiatus_core::state::{Shares, UserLimits};
use hiatus_core::units::{Millis, PartitionId, QueueId};
use hiatus_world::Queue;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
struct Known {
    queue: Queue,
    /// Memory of its ApplicationMasters, in MiB.
    masters: Peak,
    /// Applications of it that are remembered.
    apps: usize,
    removed: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Queues(BTreeMap<QueueId, Known>);

impl Queues {
    /// It is there, as it is now.
    pub fn put(&mut self, id: QueueId, queue: Queue) {
        let (masters, apps) = self.0.remove(&id).map_or_else(Default::default, |known| (known.masters, known.apps));
        self.0.insert(id, Known { queue, masters, apps, removed: false });
    }

    /// It is told.
    pub fn told(&mut self, fact: &QueueFact) {
        let before = self.0.get(&fact.queue).map_or_else(|| Queue::new(&fact.path, 0.0), |known| known.queue.clone());
        let QueueFact { preemptable, preemptable_within, .. } = *fact;
        self.put(fact.queue, Queue { path: fact.path.clone(), preemptable, preemptable_within, ..before });
    }

    /// It owns nothing any more.
    pub fn removed(&mut self, id: QueueId) {
        if let Some(known) = self.0.get_mut(&id) {
            known.removed = true;
            known.queue.guaranteed = 0.0;
            known.queue.labelled.values_mut().for_each(|shares| shares.guaranteed = 0.0);
        }
        self.forget(id);
    }

    /// Its shares of that partition.
    pub fn share(&mut self, id: QueueId, partition: PartitionId, shares: Shares) {
        match self.0.get_mut(&id) {
            Some(Known { queue, .. }) if partition == PartitionId(0) => {
                (queue.guaranteed, queue.maximum) = (shares.guaranteed, shares.maximum);
            }
            Some(known) => {
                known.queue.labelled.insert(partition, shares);
            }
            None => {}
        }
    }

    /// What one user may hold of it.
    pub fn limit_users(&mut self, id: QueueId, users: UserLimits) {
        if let Some(known) = self.0.get_mut(&id) {
            known.queue.users = users;
        }
    }

    /// One more application of it is remembered.
    pub fn remember_app(&mut self, id: QueueId) {
        if let Some(known) = self.0.get_mut(&id) {
            known.apps += 1;
        }
    }

    /// One of those is forgotten.
    pub fn forget_app(&mut self, id: QueueId) {
        if let Some(known) = self.0.get_mut(&id) {
            known.apps = known.apps.saturating_sub(1);
        }
        self.forget(id);
    }

    fn forget(&mut self, id: QueueId) {
        if self.0.get(&id).is_some_and(|known| known.removed && known.apps == 0) {
            self.0.remove(&id);
        }
    }

    /// Its ApplicationMasters hold so much more; what they held before `since` does not matter any more.
    pub fn masters_hold(&mut self, id: QueueId, more_mb: i64, at: Millis, since: Millis) {
        if let Some(known) = self.0.get_mut(&id) {
            known.masters.add(more_mb, at, since);
        }
    }

    /// Its path.
    pub fn path(&self, id: QueueId) -> Option<&str> {
        self.0.get(&id).map(|known| known.queue.path.as_str())
    }

    /// All but the root, with the part of `offered_mb` that their ApplicationMasters held at most since then. Of other partitions
    /// they have what was told of them, and nothing else.
    pub fn told_of(&self, partitions: &BTreeSet<PartitionId>, offered_mb: i64, since: Millis) -> Vec<Queue> {
        // One that was removed and came again has another handle.
        let last: BTreeMap<&str, QueueId> = self.0.iter().map(|(id, known)| (known.queue.path.as_str(), *id)).collect();
        let there = |id: &QueueId, path: &str| path.contains('.') && last.get(path) == Some(id);
        let queues = self.0.iter().filter(|(id, known)| there(id, &known.queue.path));
        let told = queues.map(|(_, known)| {
            let mut queue = known.queue.clone();
            for partition in partitions.iter().filter(|partition| **partition != PartitionId(0)) {
                queue.labelled.entry(*partition).or_default();
            }
            queue.master_share(known.masters.most(since) as f64 / offered_mb.max(1) as f64)
        });
        told.collect()
    }
}
