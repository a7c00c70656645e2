//! A node, a queue that has all of it, and who may run there.

use hiatus_core::fact::{AppFact, Fact, NodeFact, QueueFact};
use hiatus_core::units::{AppId, JobClass, NodeId, PartitionId, QueueId, Resource, UserId};

const QUEUE: QueueId = QueueId(1);

/// The node is number 1.
pub fn node(total: Resource) -> Vec<Fact> {
    let partition = PartitionId(0);
    vec![
        Fact::Node(NodeFact {
            node: NodeId(1),
            total,
            partition,
            shareable: false,
            can_suspend: true,
            decommissioning: false,
            ram_and_swap_mb: None,
            side: None,
        }),
        Fact::Queue(QueueFact {
            queue: QUEUE,
            parent: None,
            path: "root".into(),
            preemptable: true,
            preemptable_within: true,
        }),
        Fact::QueueShare { queue: QUEUE, partition, guaranteed: 1.0, maximum: 1.0 },
    ]
}

/// An application that may run, called by its number.
pub fn app(app: AppId, unmanaged: bool) -> [Fact; 2] {
    let fact = AppFact {
        app,
        queue: QUEUE,
        user: UserId(1),
        priority: 0,
        told_at_ms: 0,
        name: app.0.to_string(),
        class: JobClass(0),
        tags: Vec::new(),
        unmanaged,
        application_type: "SPARK".into(),
    };
    [Fact::App(fact), Fact::AppActive { app, active: true }]
}
