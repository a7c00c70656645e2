//! Facts that surprise: told twice, told late, or changing what was already counted.

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::fact::Fact;
use hiatus_core::units::{ContainerId, NodeId};

fn busy() -> World {
    let mut world = World::new().nodes(3, &Node::of(gb(8))).job(Job::new("job").tasks(40, secs(30)));
    world.run_until(secs(20));
    assert!(world.held("job") > 20);
    world
}

#[test]
fn law_7_a_submission_told_again_changes_nothing() {
    let mut world = busy();
    let again = world.app_fact(world.app_id("job"));
    world.tell(again).run();
}

#[test]
fn law_7_a_node_that_changes_its_partition_keeps_its_containers() {
    let mut world = busy();
    world.relabel(NodeId(2), 1);
    world.run_until(secs(25));
    world.relabel(NodeId(2), 0);
    world.run();
}

#[test]
fn facts_about_the_unknown_are_counted_and_change_nothing() {
    let mut world = busy();
    let before = world.core().cluster().tally().strange_facts;
    world.tell(Fact::Demoted { container: ContainerId(9_999) }).tell(Fact::NodeRemoved { node: NodeId(77) });
    world.run();
    assert_eq!(world.core().cluster().tally().strange_facts, before + 2);
}

#[test]
fn law_8_the_first_heartbeat_that_could_serve_an_application_does() {
    // One node that reports every 15 s; the application comes when it counts as silent, and no plan gives anybody anything.
    let mut world =
        World::new().heartbeat(secs(15)).node(Node::of(gb(8))).job(Job::new("late").tasks(2, secs(5)).at(secs(12)));
    world.run_until(secs(17));
    assert!(world.held("late") > 0, "its ApplicationMaster is given out at the heartbeat at 15 s");
    world.run();
}
