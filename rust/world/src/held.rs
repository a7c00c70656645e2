//! What counts against limits: what partitions offer, and what queues and users hold of that. It is counted as it changes, because
//! every placing asks for it.

use super::Queue;
use hiatus_core::units::{PartitionId, QueueId, Resource, UserId};
use std::collections::BTreeMap;

/// Whose memory it is, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose {
    /// The leaf queue.
    pub queue: QueueId,
    /// The user.
    pub user: UserId,
    /// The partition of the node.
    pub partition: PartitionId,
}

/// Memory in MiB, of containers that count. What is nothing has no entry.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Held {
    /// Each queue, and those above it.
    lineages: Vec<Vec<QueueId>>,
    offered: BTreeMap<PartitionId, Resource>,
    by_queue: BTreeMap<(QueueId, PartitionId), i64>,
    by_user: BTreeMap<(QueueId, PartitionId, UserId), i64>,
}

impl Held {
    /// Nothing is held or offered yet. A queue's handle is its place among `queues`.
    pub fn new(queues: &[Queue]) -> Held {
        let above = |path: &str| {
            let numbered = queues.iter().enumerate().filter(|(_, queue)| queue.is_or_holds(path));
            numbered.map(|(id, _)| QueueId(id as u32)).collect()
        };
        Held { lineages: queues.iter().map(|queue| above(&queue.path)).collect(), ..Held::default() }
    }

    /// The queue, and those above it.
    pub fn lineage(&self, queue: QueueId) -> &[QueueId] {
        &self.lineages[queue.0 as usize]
    }

    /// The partition offers so much more.
    pub fn offer(&mut self, partition: PartitionId, more: Resource) {
        let offered = self.offered(partition) + more;
        put(&mut self.offered, partition, offered);
    }

    /// What the nodes of the partition offer that the ResourceManager knows.
    pub fn offered(&self, partition: PartitionId) -> Resource {
        self.offered.get(&partition).copied().unwrap_or_default()
    }

    /// So much more is held. ApplicationMasters do not count against what a user may hold.
    pub fn hold(&mut self, Whose { queue, user, partition }: Whose, is_master: bool, more_mb: i64) {
        for above in &self.lineages[queue.0 as usize] {
            let key = (*above, partition);
            let held_mb = self.by_queue.get(&key).copied().unwrap_or_default() + more_mb;
            put(&mut self.by_queue, key, held_mb);
        }
        if !is_master {
            let held_mb = self.of_user(Whose { queue, user, partition }) + more_mb;
            put(&mut self.by_user, (queue, partition, user), held_mb);
        }
    }

    /// What the queue and those below it hold of the partition.
    pub fn of_queue(&self, queue: QueueId, partition: PartitionId) -> i64 {
        self.by_queue.get(&(queue, partition)).copied().unwrap_or_default()
    }

    /// What users hold of the partition in that leaf queue.
    pub fn of_users(&self, queue: QueueId, partition: PartitionId) -> i64 {
        let users = (queue, partition, UserId(0))..=(queue, partition, UserId(u32::MAX));
        self.by_user.range(users).map(|(_, held_mb)| held_mb).sum()
    }

    /// What the user holds of the partition in that leaf queue.
    pub fn of_user(&self, Whose { queue, user, partition }: Whose) -> i64 {
        self.by_user.get(&(queue, partition, user)).copied().unwrap_or_default()
    }
}

fn put<K: Ord, V: Default + PartialEq>(amounts: &mut BTreeMap<K, V>, key: K, amount: V) {
    if amount == V::default() {
        amounts.remove(&key);
    } else {
        amounts.insert(key, amount);
    }
}
