//! Law 23: a queue with a job never stands still for ever, however little it is guaranteed; and what has stood still for as long as it may
//! gets on for a while.

use crate::world::{gb, secs, Job, Node, Queue, World};
use hiatus_core::explain::explain;
use hiatus_core::units::{Millis, Resource};
use proptest::prelude::*;

/// MiB of memory; virtual cores do not count.
fn mb(memory_mb: i64) -> Resource {
    Resource::new(memory_mb, 0)
}

/// A queue of that guarantee beside one that never has enough.
fn poor_beside_greedy(guaranteed: f64, node: Resource, policy: &str, each: Millis) -> World {
    World::new()
        .node(Node::of(node))
        .set("policy", policy)
        .queue(Queue::new("root.greedy", 1.0 - guaranteed))
        .queue(Queue::new("root.poor", guaranteed))
        .job(Job { master: mb(256), ..Job::new("endless") }.queue("root.greedy").at(secs(20)).tasks(4_000, each))
}

fn tasks_running(world: &World, name: &str) -> usize {
    world.containers_of(name, |container| container.counted && !container.is_master)
}

#[test]
fn law_23_a_queue_of_one_percent_whose_master_is_more_than_that_goes_on() {
    for policy in ["hfsp", "fair", "fifo", "srpt", "las"] {
        let first = Job { master: mb(256), ..Job::new("first") }.queue("root.poor").tasks(1, secs(300));
        let world = poor_beside_greedy(0.01, mb(8_704), policy, Millis(1_500));
        let mut world = world.set("max-suspension-ms", "2000").job(first);
        world.run_until(secs(10));
        assert_eq!(tasks_running(&world, "first"), 1);
        for now in (11..120).map(secs) {
            world.run_until(now);
            assert_eq!(tasks_running(&world, "first"), 1, "{policy}, at {now:?}");
        }
        let queues = explain(world.core()).queues;
        let poor = queues.iter().find(|queue| queue.queue == "root.poor").map(|queue| (queue.least, queue.entitled));
        let (least, entitled) = poor.unwrap();
        assert!((least - 1_280.0 / 8_704.0).abs() < 1e-9 && entitled >= least - 1e-9, "{least}, {entitled}");
    }
}

#[test]
fn law_23_what_has_stood_still_for_as_long_as_it_may_runs_for_a_while() {
    // The smaller job comes first and holds all but what is overdue.
    let mut world = World::new()
        .node(Node::of(gb(4)))
        .set("policy", "fifo")
        .set("min-run-ms", "0")
        .set("max-suspension-ms", "5000")
        .set("min-resumed-ms", "20000")
        .job(Job::new("late").tasks(1, secs(400)))
        .job(Job::new("first").at(secs(10)).priority(1).tasks(60, secs(4)));
    world.run_until(secs(10));
    let (mut ran, mut spans, mut stood_still) = (0_u64, Vec::new(), false);
    for now in (11..200).map(secs) {
        world.run_until(now);
        let runs = tasks_running(&world, "late") == 1;
        match (runs, stood_still) {
            (true, true) => ran += 1,
            (false, true) if ran > 0 => spans.push(std::mem::take(&mut ran)),
            (false, _) => stood_still = true,
            _ => {}
        }
    }
    assert!(stood_still && spans.iter().all(|span| *span >= 19), "{spans:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// However small the queue's part, and whatever its policy makes of it: its job, which is there first, never stops.
    #[test]
    fn law_23_a_queue_with_a_job_never_stands_still(
        guaranteed in 0.0..0.05_f64,
        policy in prop::sample::select(vec!["hfsp", "fair", "fifo", "srpt", "las"]),
        node_gb in 6_i64..14, each in prop::sample::select(vec![Millis(700), secs(5), secs(3_000)]),
        tasks in 1_usize..4, task_s in 20_u64..200,
        most in prop::sample::select(vec!["2000", "20000", "600000"]),
    ) {
        let mut world = poor_beside_greedy(guaranteed, gb(node_gb), policy, each)
            .set("max-suspension-ms", most)
            .set("max-suspended-memory", "4");
        let job = Job { master: mb(256), ..Job::new("poor") };
        world = world.job(job.queue("root.poor").tasks(tasks, secs(task_s)));
        let mut still = 0;
        for now in (0..300).map(secs) {
            world.run_until(now);
            let waits = world.app("poor").registered && world.app("poor").tasks_left() > 0;
            let runs = tasks_running(&world, "poor") > 0;
            still = if runs || !waits { 0 } else { still + 1 };
            prop_assert!(still <= 20, "nothing of the queue has run for {still} s until {now:?}");
        }
    }
}
