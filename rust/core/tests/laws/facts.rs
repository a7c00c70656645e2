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
    let before = world.core().cluster().tally.strange_facts;
    world.tell(Fact::Demoted { container: ContainerId(9_999) }).tell(Fact::NodeRemoved { node: NodeId(77) });
    world.run();
    assert_eq!(world.core().cluster().tally.strange_facts, before + 2);
}
