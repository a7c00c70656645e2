//! A ResourceManager that dies and comes back (law 10).

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::state::{ByHandle, Cluster};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Everything but estimates and times: what must be the same after a recovery.
fn known(cluster: &Cluster) -> String {
    let mut text = String::new();
    for (id, node) in in_order(cluster.nodes()) {
        writeln!(text, "{id:?}: {:?} of {:?}, {} MB suspended", node.used, node.total, node.suspended_memory_mb)
            .unwrap();
    }
    for (id, container) in in_order(cluster.containers()) {
        let (app, node, suspended) = (container.app, container.node, container.state.is_suspended());
        writeln!(text, "{id:?}: {app:?} {node:?} {:?} {suspended} {}", container.phase, container.is_master).unwrap();
    }
    for (id, job) in in_order(cluster.jobs()) {
        writeln!(text, "{id:?}: {} in {:?}, {}", job.name, job.queue, job.active).unwrap();
        let phases = job.phases.iter().filter(|(_, phase)| phase.left() > 0);
        for (key, phase) in phases {
            let counters = (phase.pending, phase.held, phase.borrowed, phase.suspended);
            writeln!(text, "  {key:?}: {counters:?}").unwrap();
        }
    }
    text
}

fn in_order<K: Ord, V>(all: &ByHandle<K, V>) -> BTreeMap<&K, &V> {
    all.iter().collect()
}

fn interrupted() -> World {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .job(Job::new("big").tasks(60, secs(60)))
        .job(Job::new("small").tasks(4, secs(60)).at(secs(30)));
    world.run_until(secs(50));
    assert!(world.suspended("big") > 0);
    world
}

#[test]
fn law_10_the_state_rebuilt_from_node_reports_equals_the_one_lost() {
    let mut world = interrupted();
    let before = known(world.core().cluster());
    world.restart();
    world.register_all();
    assert_eq!(known(world.core().cluster()), before);
}

#[test]
fn law_10_jobs_finish_and_suspended_containers_are_resumed_after_a_restart() {
    let mut world = interrupted();
    let before = world.count;
    world.restart();
    world.run();
    assert!(world.count.resumed > before.resumed && world.count.expired == 0);
}

#[test]
fn law_10_a_demotion_that_had_not_reached_its_node_never_happened() {
    let mut world = World::new()
        .heartbeat(secs(6))
        .node(Node::of(gb(8)))
        .job(Job::new("big").tasks(60, secs(200)))
        .job(Job::new("small").tasks(2, secs(5)).at(secs(61)));
    world.run_until(secs(63));
    assert_eq!(world.suspended("big"), 1);
    world.restart();
    world.register_all();
    assert_eq!(world.suspended("big"), 0);
    world.run();
}
