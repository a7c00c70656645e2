//! What counts against limits: what partitions offer, and what queues and users hold of that. It is counted as it changes, because
//! every placing asks for it.

use crate::spec::Queue;
use hiatus_core::units::{PartitionId, QueueId, Resource, UserId};
use std::sync::Arc;

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

/// Memory in MiB, of containers that count.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Held {
    /// Each queue, and those above it.
    lineages: Arc<[Vec<QueueId>]>,
    offered: Amounts<PartitionId, Resource>,
    by_queue: Amounts<(QueueId, PartitionId), i64>,
    by_user: Amounts<(QueueId, PartitionId, UserId), i64>,
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

    /// The same queues, and nothing is held or offered.
    pub fn emptied(&self) -> Held {
        Held { lineages: self.lineages.clone(), ..Held::default() }
    }

    /// The queue, and those above it.
    pub fn lineage(&self, queue: QueueId) -> &[QueueId] {
        &self.lineages[queue.0 as usize]
    }

    /// The partition offers so much more.
    pub fn offer(&mut self, partition: PartitionId, more: Resource) {
        self.offered.change(partition, |offered| offered + more);
    }

    /// What the nodes of the partition offer that the ResourceManager knows.
    pub fn offered(&self, partition: PartitionId) -> Resource {
        self.offered.of(partition)
    }

    /// So much more is held. ApplicationMasters do not count against what a user may hold.
    pub fn hold(&mut self, Whose { queue, user, partition }: Whose, is_master: bool, more_mb: i64) {
        for above in &self.lineages[queue.0 as usize] {
            self.by_queue.change((*above, partition), |held_mb| held_mb + more_mb);
        }
        if !is_master {
            self.by_user.change((queue, partition, user), |held_mb| held_mb + more_mb);
        }
    }

    /// What the queue and those below it hold of the partition.
    pub fn of_queue(&self, queue: QueueId, partition: PartitionId) -> i64 {
        self.by_queue.of((queue, partition))
    }

    /// What users hold of the partition in that leaf queue.
    pub fn of_users(&self, queue: QueueId, partition: PartitionId) -> i64 {
        let users = self.by_user.from((queue, partition, UserId(0)));
        let users = users.take_while(|((of, there, _), _)| (*of, *there) == (queue, partition));
        users.map(|(_, held_mb)| held_mb).sum()
    }

    /// What the user holds of the partition in that leaf queue.
    pub fn of_user(&self, Whose { queue, user, partition }: Whose) -> i64 {
        self.by_user.of((queue, partition, user))
    }
}

/// Amounts by key, in their order. What is nothing has no entry. There are few, and the observers of the laws count them anew at every
/// step: a tree would be built each time.
#[derive(Debug, PartialEq)]
struct Amounts<K, V>(Vec<(K, V)>);

impl<K, V> Default for Amounts<K, V> {
    fn default() -> Self {
        Amounts(Vec::new())
    }
}

impl<K: Ord + Copy, V: Default + PartialEq + Copy> Amounts<K, V> {
    fn of(&self, key: K) -> V {
        self.0.binary_search_by_key(&key, |(key, _)| *key).map_or(V::default(), |at| self.0[at].1)
    }

    /// All of that key and those after it.
    fn from(&self, key: K) -> impl Iterator<Item = &(K, V)> {
        self.0[self.0.partition_point(|(other, _)| *other < key)..].iter()
    }

    fn change(&mut self, key: K, change: impl Fn(V) -> V) {
        match self.0.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => {
                let amount = change(self.0[at].1);
                if amount == V::default() {
                    self.0.remove(at);
                } else {
                    self.0[at].1 = amount;
                }
            }
            Err(at) => {
                let amount = change(V::default());
                if amount != V::default() {
                    self.0.insert(at, (key, amount));
                }
            }
        }
    }
}
