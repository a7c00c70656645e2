//! Queues with guarantees.

use crate::world::{gb, secs, Job, Node, Queue, World};

fn halves(of_a: Queue) -> World {
    World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(of_a)
        .queue(Queue::new("root.b", 0.5))
        .job(Job::new("a").queue("root.a").tasks(100, secs(60)))
        .job(Job::new("b").queue("root.b").tasks(100, secs(60)).at(secs(30)))
}

#[test]
fn law_2_a_queue_gets_its_guarantee_back_and_not_more() {
    let mut world = halves(Queue::new("root.a", 0.5));
    world.run_until(secs(29));
    assert_eq!(world.held("a"), 16, "idle guarantees are lent");
    // The suspended half is as much as nodes may keep, and as much as the guarantee.
    for now in 40..80 {
        world.run_until(secs(now));
        assert!(world.held("b") <= 8, "{} at {now} s", world.held("b"));
    }
    assert_eq!((world.held("a"), world.held("b")), (8, 8));
}

#[test]
fn knobs_of_a_queue_that_does_not_exist_are_told() {
    let knob = |path: &str| format!("yarn.scheduler.capacity.{path}.hiatus.policy");
    let mut world = halves(Queue::new("root.a", 0.5));
    world = world.property(&knob("root.a"), "fair").property(&knob("root.aa"), "fair");
    world.run_until(secs(1));
    assert_eq!(hiatus_core::explain::explain(world.core()).unknown_queues, ["root.aa"]);
}

#[test]
fn law_2_a_queue_with_disabled_preemption_is_only_waited_for() {
    let mut world = halves(Queue::new("root.a", 0.5).not_preemptable());
    world.run_until(secs(59));
    assert_eq!((world.held("a"), world.held("b"), world.count.suspended), (16, 0, 0));
    world.run_until(secs(140));
    assert_eq!(world.held("b"), 8, "what ends goes to the queue below its guarantee");
}

#[test]
fn law_2_a_queue_below_its_guarantee_gives_nothing_to_others() {
    // Two jobs in `a`: the first holds more than its part, the second has nothing yet. `b` must not profit from that.
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "fair")
        .queue(Queue::new("root.a", 0.5))
        .queue(Queue::new("root.b", 0.3))
        .queue(Queue::new("root.c", 0.2))
        .job(Job::new("c").queue("root.c").tasks(100, secs(60)))
        .job(Job::new("a1").queue("root.a").tasks(100, secs(60)).at(secs(20)))
        .job(Job::new("a2").queue("root.a").tasks(100, secs(60)).at(secs(25)))
        .job(Job::new("b").queue("root.b").tasks(100, secs(60)).at(secs(26)));
    world.run_until(secs(200));
    assert!(world.held("a1") + world.held("a2") >= 8 && world.held("b") >= 4);
}

#[test]
fn a_job_moved_to_another_queue_shares_there() {
    let mut world = halves(Queue::new("root.a", 0.5));
    world.run_until(secs(100));
    let app = world.app_id("a");
    world.change_job(app, "root.b", 0);
    world.run_until(secs(300));
    // Nobody is left in `a`: together they may use everything.
    assert_eq!(world.held("a") + world.held("b"), 16);
    world.run();
}

#[test]
fn parents_share_among_themselves_before_their_children_do() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(Queue::new("root.a", 0.5))
        .queue(Queue::new("root.a.x", 0.25))
        .queue(Queue::new("root.a.y", 0.25))
        .queue(Queue::new("root.b", 0.5))
        .job(Job::new("b").queue("root.b").tasks(100, secs(60)))
        .job(Job::new("x").queue("root.a.x").tasks(100, secs(60)).at(secs(20)));
    world.run_until(secs(60));
    assert_eq!((world.held("x"), world.held("b")), (8, 8), "x has what y leaves idle, b keeps its own");
}
