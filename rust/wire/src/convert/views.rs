//! What the core knows, as records.

use crate::layout::{self, Record as _};
use hiatus_core::admit::Admission;
use hiatus_core::policy::EstimatesOff;
use hiatus_core::units::NodeId;
use hiatus_core::Scheduler;
use std::collections::BTreeMap;

/// Appends what the core knows of nodes and applications, and its counters.
pub fn views(scheduler: &Scheduler, out: &mut Vec<u8>) {
    let cluster = scheduler.cluster();
    node_views(scheduler, cluster.nodes().keys().copied(), out);
    for (id, job) in cluster.jobs() {
        layout::AppView {
            app: id.0,
            pending: job.phases.values().map(|phase| phase.pending).sum(),
            counted: job.phases.values().map(|phase| phase.held + phase.borrowed).sum(),
            suspended: job.phases.values().map(|phase| phase.suspended).sum(),
        }
        .write("", out);
    }
    tally_view(scheduler, out);
}

/// Appends who is let in next, and who need not count.
pub fn admissions(scheduler: &Scheduler, out: &mut Vec<u8>) {
    for admission in scheduler.admissions() {
        let (app, what) = match admission {
            Admission::GivesWay { app } => (app, 0),
            Admission::Holds { app } => (app, 1),
            Admission::Waits { app, beyond: false } => (app, 2),
            Admission::Waits { app, beyond: true } => (app, 3),
        };
        layout::Admission { app: app.0, what }.write("", out);
    }
}

/// What happened since the core was made, and the loads of the queues: as much work as there are queues, however many jobs there are.
pub fn tally_view(scheduler: &Scheduler, out: &mut Vec<u8>) {
    let (cluster, planner) = (scheduler.cluster(), scheduler.planner());
    let tally = cluster.tally();
    let (mut all, mut by_queue) = (EstimatesOff::default(), BTreeMap::<_, EstimatesOff>::new());
    for (queue, error) in planner.estimate_errors() {
        all.add(&error);
        by_queue.entry(queue).or_default().add(&error);
    }
    layout::TallyView {
        suspended: tally.suspended.cast_signed(),
        resumed: tally.resumed.cast_signed(),
        rejected: tally.rejected.cast_signed(),
        strange_facts: tally.strange_facts.cast_signed(),
        claims_expired: tally.claims_expired.cast_signed(),
        wasted_ms: tally.wasted.0.cast_signed(),
        starvation_firings: scheduler.starvation_firings().cast_signed(),
        estimates: all.phases,
        estimate_off: all.factor(),
    }
    .write("", out);
    for id in cluster.queues().keys() {
        let load = cluster.load(*id);
        let off = by_queue.get(id).copied().unwrap_or_default();
        layout::QueueLoad {
            queue: id.0,
            jobs: load.now.jobs,
            running: load.now.running,
            pending: load.now.pending,
            pending_mb: load.now.pending_mb,
            suspended: load.now.suspended,
            suspended_mb: load.now.suspended_mb,
            suspended_ms: load.suspended_time(cluster.now()).0.cast_signed(),
            estimates: off.phases,
            estimate_off: off.factor(),
        }
        .write("", out);
    }
}

/// What the core knows of these nodes; nothing of those that it does not know.
pub fn node_views(scheduler: &Scheduler, nodes: impl Iterator<Item = NodeId>, out: &mut Vec<u8>) {
    let cluster = scheduler.cluster();
    for (id, node) in nodes.filter_map(|id| cluster.nodes().get(&id).map(|node| (id, node))) {
        layout::NodeView {
            node: id.0,
            used_memory_mb: node.used.memory_mb,
            used_vcores: node.used.vcores,
            counted: (node.containers.len() - node.suspended.len()) as u32,
            suspended: node.suspended.len() as u32,
        }
        .write("", out);
    }
}
