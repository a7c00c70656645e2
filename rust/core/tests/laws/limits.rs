//! CapacityScheduler's limits and refusals, modes, and asks that are hard to place.

use crate::direct::{Direct, BETWEEN_PLANS};
use crate::world::{gb, secs, Job, Life, Node, Queue, World};
use hiatus_core::decision::Decision;
use hiatus_core::fact::Rejection;
use hiatus_core::units::NodeId;
use std::collections::BTreeMap;

fn full() -> World {
    World::new()
        .nodes(2, &Node::of(gb(8)))
        .job(Job::new("big").tasks(60, secs(60)))
        .job(Job::new("small").tasks(4, secs(5)).at(secs(30)))
}

#[test]
fn mode_order_never_suspends() {
    let mut world = full().set("mode", "order");
    world.run();
    assert_eq!((world.count.suspended, world.count.preempted), (0, 0));
    assert!(world.sojourn("small") < secs(110), "it is next when containers end: {:?}", world.sojourn("small"));
}

#[test]
fn where_nodes_cannot_suspend_mode_suspend_waits_and_mode_kill_kills() {
    let rigid = |mode: &str| {
        World::new()
            .nodes(2, &Node::of(gb(8)).rigid())
            .set("mode", mode)
            .set("preemption", "kill")
            .job(Job::new("big").tasks(60, secs(60)))
            .job(Job::new("small").tasks(4, secs(5)).at(secs(30)))
    };
    let mut waits = rigid("suspend");
    waits.run();
    assert_eq!((waits.count.suspended, waits.count.preempted), (0, 0));
    let mut kills = rigid("kill");
    kills.run();
    assert_eq!((kills.count.suspended, kills.count.preempted), (0, 5));
    assert!(kills.sojourn("small") < waits.sojourn("small"));
}

#[test]
fn in_a_mixed_cluster_each_node_does_what_it_can() {
    let mut world = full().set("mode", "kill").set("preemption", "suspend-or-kill").node(Node::of(gb(8)).rigid());
    world = world.job(Job::new("middle").tasks(12, secs(20)).at(secs(90)));
    world.run();
    assert!(world.count.suspended > 0 && world.count.preempted > 0, "{:?}", world.count);
}

#[test]
fn law_1_a_refused_suspension_is_not_retried_blindly() {
    let mut world = full();
    world.refuse_suspends = true;
    world.run_until(secs(60));
    let mut tries: BTreeMap<_, u32> = BTreeMap::new();
    for (_, decision) in &world.decided {
        if let Decision::Suspend { container, .. } = decision {
            *tries.entry(*container).or_default() += 1;
        }
    }
    // At 30, 40, 50 and 60 s: with a rest of 10 s after each refusal.
    assert!(!tries.is_empty() && tries.values().all(|tries| *tries <= 4), "{tries:?}");
    world.refuse_suspends = false;
    world.run();
}

#[test]
fn a_job_beyond_the_application_master_share_holds_and_takes_nothing() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(Queue::new("root.default", 1.0).master_share(0.05))
        .set("max-am-share", "0")
        .job(Job::new("big").tasks(60, secs(60)))
        .job(Job::new("small").tasks(4, secs(5)).at(secs(30)));
    world.run_until(secs(100));
    assert_eq!(world.app("small").life, Life::Pending);
    assert_eq!((world.held("small"), world.claims(), world.count.suspended), (0, 0, 0));
    world.run();
}

#[test]
fn law_8_a_large_ask_does_not_starve_behind_a_stream_of_small_ones() {
    for mode in ["order", "suspend"] {
        let mut world = World::new()
            .nodes(2, &Node::of(gb(8)))
            .set("mode", mode)
            .set("policy", "fifo")
            .job(Job::new("stream").tasks(600, secs(11)))
            .job(Job::new("large").sized_tasks(2, secs(20), gb(7)).at(secs(40)).priority(1));
        world.run();
        let waited = world.app("large").first_task.unwrap().since(secs(40));
        assert!(waited < secs(45), "mode {mode}: {waited:?}");
    }
}

#[test]
fn delay_scheduling_is_left_to_capacity_scheduler() {
    let mut world = full().job(Job::new("picky").tasks(4, secs(5)).at(secs(40)).patience(4));
    world.run();
    let rejected = world.core().cluster().tally().rejected;
    assert_eq!(rejected, 0, "declined offers are no refusals");
}

#[test]
fn a_queue_at_its_maximum_does_not_stop_the_others() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(Queue::new("root.a", 0.5).maximum(0.5))
        .queue(Queue::new("root.b", 0.5))
        .job(Job::new("a").queue("root.a").tasks(60, secs(60)))
        .job(Job::new("b").queue("root.b").tasks(60, secs(60)).at(secs(10)));
    world.run_until(secs(9));
    assert_eq!(world.held("a"), 8);
    world.run_until(secs(30));
    assert_eq!(world.held("b"), 8);
    world.run();
}

/// Found by fuzzing (seed 10000043609): it was refused there at each heartbeat, and rested whenever its own nodes had theirs.
#[test]
fn law_8_a_limit_of_another_partition_keeps_nobody_from_its_own() {
    let mut cluster = Direct::new("order", 1, 1);
    let production = cluster.production_job();
    cluster.asks(production, 10);
    cluster.heartbeat(0);
    cluster.plan();
    cluster.another_partition(NodeId(1));
    cluster.refusing(|decision| {
        let as_guest = matches!(decision, Decision::Assign { node: NodeId(1), .. });
        as_guest.then_some(Rejection::Limit)
    });
    cluster.asks(0, 1);
    cluster.heartbeat(1);
    cluster.plan();
    assert_eq!((cluster.refused, cluster.placed()), (1, 10));
    cluster.first_container_ends();
    cluster.heartbeat(0);
    cluster.step(BETWEEN_PLANS);
    assert_eq!((cluster.refused, cluster.placed()), (1, 11));
}
