//! Node labels.

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::units::NodeId;

fn labelled(node: Node) -> World {
    World::new().node(Node::of(gb(8))).node(node).job(Job::new("plain").tasks(40, secs(100)))
}

#[test]
fn an_exclusive_partition_serves_its_own_jobs_only() {
    let mut world = labelled(Node::of(gb(8)).exclusive_partition(1))
        .job(Job::new("own").partition(1).tasks(4, secs(20)).at(secs(20)));
    world.run_until(secs(30));
    assert!(world.nodes_of("plain").iter().eq([NodeId(0)].iter()));
    assert!(world.nodes_of("own").iter().eq([NodeId(1)].iter()));
    world.run();
    assert_eq!(world.count.suspended, 0);
}

#[test]
fn a_shared_partition_lends_what_it_does_not_need() {
    let mut world = labelled(Node::of(gb(8)).shared_partition(1));
    world.run_until(secs(30));
    assert_eq!(world.nodes_of("plain").len(), 2);
    world.run();
}

#[test]
fn a_shared_partition_takes_back_what_it_lent() {
    let mut world =
        labelled(Node::of(gb(8)).shared_partition(1)).job(Job::new("own").partition(1).tasks(4, secs(20)).at(secs(30)));
    world.run_until(secs(60));
    assert!(world.app("own").first_task.is_some_and(|at| at < secs(45)), "{:?}", world.app("own").first_task);
    world.run();
    assert_eq!(world.count.preempted, 0);
}
