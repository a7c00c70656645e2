//! Nodes that are being decommissioned.

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::decision::Decision;
use hiatus_core::explain::explain;
use hiatus_core::units::{Millis, NodeId};

/// On each of two nodes tasks of the usual job are suspended for the important one's, of which more are waiting.
fn suspended_on_both() -> World {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "fifo")
        .job(Job::new("usual").tasks(20, secs(300)))
        .job(Job::new("important").tasks(30, secs(40)).at(secs(30)).priority(1));
    world.run_until(secs(50));
    assert!((0..2).all(|node| suspended_on(&world, node) > 0));
    world
}

fn suspended_on(world: &World, node: u32) -> usize {
    world.core().cluster().nodes()[&NodeId(node)].suspended.len()
}

fn decided_on(world: &World, node: u32, since: Millis) -> Vec<Decision> {
    let there = |decision: &Decision| match decision {
        Decision::Assign { node: on, .. } | Decision::AssignLent { node: on, .. } => on.0 == node,
        Decision::Suspend { container, .. } | Decision::Resume { container } | Decision::Kill { container, .. } => {
            world.core().cluster().containers().get(container).is_some_and(|found| found.node.0 == node)
        }
    };
    world.decided.iter().filter(|(at, _)| *at > since).map(|(_, decision)| *decision).filter(there).collect()
}

#[test]
fn what_is_suspended_on_a_leaving_node_goes_first_and_nothing_else_starts_or_is_suspended_there() {
    let mut world = suspended_on_both();
    let waiting = suspended_on(&world, 0);
    world.decommission(NodeId(0));
    // By now the important job's first tasks are over, and more of them want room than both nodes have.
    world.run_until(secs(95));
    assert!(suspended_on(&world, 1) > 0, "elsewhere the important job comes first");
    let decided = decided_on(&world, 0, secs(50));
    assert!(decided.iter().all(|decision| matches!(decision, Decision::Resume { .. })), "{decided:?}");
    assert_eq!(decided.len() + suspended_on(&world, 0), waiting);
    let room = world.core().cluster().nodes()[&NodeId(0)].usable();
    assert!(suspended_on(&world, 0) == 0 || !gb(1).fits_in(room), "as many as fit");
    world.run();
}

#[test]
fn what_is_parked_runs_on_where_its_node_leaves_and_says_why() {
    let mut world = World::new()
        .nodes(1, &Node::of(gb(8)))
        .set("max-suspended-memory", "1")
        .job(Job::new("long").tasks(4, secs(100)));
    world.run_until(secs(20));
    world.decommission(NodeId(0));
    world.park("long", true);
    world.run_until(secs(30));
    assert_eq!(world.suspended("long"), 0);
    let told = explain(world.core()).not_parked_yet;
    assert!(told.len() == 4 && told.iter().all(|one| one.because == "its node is being decommissioned"), "{told:?}");
}

#[test]
fn what_was_parked_before_stays_so_on_a_node_that_leaves() {
    let mut world = World::new()
        .nodes(1, &Node::of(gb(8)))
        .set("max-suspended-memory", "1")
        .job(Job::new("long").tasks(4, secs(100)));
    world.run_until(secs(20));
    world.park("long", true);
    world.run_until(secs(30));
    assert_eq!(world.suspended("long"), 4);
    world.decommission(NodeId(0));
    world.run_until(secs(60));
    assert_eq!(world.suspended("long"), 4);
}
