//! Queues with guarantees.

use crate::world::{gb, secs, Job, Node, Queue, World};
use proptest::prelude::*;

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

/// A big job of `a` holds everything, then a small one comes there, and one in `b`.
fn two_in_a_and_one_in_b(a: Queue) -> World {
    World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(a)
        .queue(Queue::new("root.b", 0.5))
        .job(Job::new("big").queue("root.a").tasks(100, secs(600)))
        .job(Job::new("small").queue("root.a").tasks(2, secs(10)).at(secs(30)))
        .job(Job::new("b").queue("root.b").tasks(3, secs(600)).at(secs(60)))
}

/// How often containers were suspended before there was anything in `b`, and from then on.
fn taken(world: &mut World) -> (u64, u64) {
    world.run_until(secs(59));
    let within = world.count.suspended;
    world.run_until(secs(90));
    (within, world.count.suspended - within)
}

#[test]
fn law_2_disabled_preemption_protects_a_queue_from_its_own_jobs_as_well() {
    let mut world = two_in_a_and_one_in_b(Queue::new("root.a", 0.5).not_preemptable());
    assert_eq!(taken(&mut world), (0, 0));
    let explained = hiatus_core::explain::explain(world.core());
    assert_eq!(explained.queues.iter().find(|queue| queue.queue == "root.a").unwrap().spared_from, Some("everybody"));
    let small = explained.jobs.iter().find(|job| job.application == "small").unwrap();
    assert!(small.blocked_by.contains("disable_preemption"), "{}", small.blocked_by);
}

#[test]
fn law_2_disabled_intra_queue_preemption_protects_a_queue_from_its_own_jobs_alone() {
    let mut world = two_in_a_and_one_in_b(Queue::new("root.a", 0.5).not_preemptable_within());
    let (within, for_b) = taken(&mut world);
    assert!(within == 0 && for_b > 0, "{within}, {for_b}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn law_2_whatever_there_is_a_protected_queue_loses_nothing_to_its_own_jobs_and_all_of_them_end(
        nodes in 1usize..=6,
        // Both ApplicationMasters and a task have room on one node.
        node_gb in 4i64..=9,
        (task_gb, small_gb) in (1i64..=2, 1i64..=3),
        (count, at) in (1usize..=8, 10u64..=60),
        policy in prop::sample::select(vec!["fifo", "fair", "las", "srpt", "hfsp", "flex"]),
        primitive in prop::sample::select(vec!["suspend", "suspend-or-kill", "kill", "adaptive"]),
        protection in 0..2,
    ) {
        let a = Queue::new("root.a", 0.5);
        let a = if protection == 0 { a.not_preemptable() } else { a.not_preemptable_within() };
        let mut world = World::new()
            .nodes(nodes, &Node::of(gb(node_gb)))
            .set("policy", policy)
            .set("mode", "kill")
            .set("preemption", primitive)
            .set("min-run-ms", "0")
            .queue(a)
            .queue(Queue::new("root.b", 0.5))
            .job(Job::new("big").queue("root.a").sized_tasks(60, secs(20), gb(task_gb)))
            .job(Job::new("small").queue("root.a").sized_tasks(count, secs(5), gb(small_gb.min(node_gb - 2))).at(secs(at)));
        world.run();
        prop_assert_eq!((world.count.suspended, world.count.preempted), (0, 0));
    }
}

#[test]
fn a_knob_says_otherwise_for_taking_within_a_queue() {
    let under = |queue: Queue, word: &str| taken(&mut two_in_a_and_one_in_b(queue).set("preemption-within", word));
    let (within, for_b) = under(Queue::new("root.a", 0.5).not_preemptable(), "on");
    assert!(within > 0 && for_b == 0, "{within}, {for_b}");
    let (within, for_b) = under(Queue::new("root.a", 0.5), "off");
    assert!(within == 0 && for_b > 0, "{within}, {for_b}");
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
