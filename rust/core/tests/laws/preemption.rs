//! Who is taken from, and how much.

use crate::world::{gb, secs, Job, Node, World};

#[test]
fn law_5_a_small_container_is_spared_when_a_larger_one_has_to_go_anyway() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .set("max-suspended-memory", "1")
        .job(Job::new("cat").sized_tasks(1, secs(100), gb(4)))
        .job(Job::new("mouse").tasks(1, secs(100)).at(secs(5)))
        .job(Job::new("dog").sized_tasks(2, secs(10), gb(4)).at(secs(20)).priority(5));
    world.run_until(secs(28));
    assert_eq!((world.suspended("cat"), world.suspended("mouse")), (1, 0));
    world.run();
}
