//! Law 24: within a queue a container is taken only of a job that has much more left to do than the beneficiary (`preemption-threshold`).

use crate::stage;
use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::explain::explain;
use proptest::prelude::*;

const POLICIES: [&str; 5] = ["hfsp", "srpt", "las", "fair", "flex"];

/// Two hours of work of the whole cluster in like jobs that come two seconds apart, and small ones beside them. Tasks tell their progress:
/// of those that do not, the first that end speak for all others, however small their jobs are.
fn beside(count: usize, policy: &str, spare_mb: i64, task_s: u64) -> World {
    let mut node = gb(8);
    node.memory_mb += spare_mb;
    let mut world = World::new()
        .nodes(4, &Node::of(node))
        .set("policy", policy)
        .telling_progress()
        .set("max-suspended-memory", "1");
    let tasks = (32 * 7_200 / task_s) as usize / count;
    for number in 0..count {
        let job = Job::new(&format!("big {number}")).tasks(tasks, secs(task_s)).at(secs(2 * number as u64));
        world = world.job(job);
    }
    for number in 0..5 {
        let at = secs(200 + 60 * number);
        world = world.job(Job::new(&format!("small {number}")).tasks(4, secs(8)).at(at));
    }
    world
}

/// Mean sojourn of the small ones, in seconds; with how many suspensions.
fn small_s(world: &mut World) -> (f64, u64) {
    world.run();
    let all_s: f64 = (0..5).map(|number| world.sojourn(&format!("small {number}")).seconds()).sum();
    (all_s / 5.0, world.count.suspended)
}

#[test]
fn law_24_small_jobs_are_served_beside_many_big_ones_as_beside_one() {
    for policy in POLICIES {
        let (alone_s, _) = small_s(&mut beside(1, policy, 0, 400));
        // Under LAS the order of ten like jobs changes with each of their turns, under fair each has three containers: not shown.
        let most = if matches!(policy, "las" | "fair") { 5 } else { 10 };
        for (count, spare_mb) in [(2, 0), (3, 0), (5, 300), (10, 0)].into_iter().filter(|(count, _)| *count <= most) {
            let (many_s, suspended) = small_s(&mut beside(count, policy, spare_mb, 400));
            assert!(many_s <= 1.5 * alone_s, "{policy}, {count} big: {many_s} s, {alone_s} s beside one");
            // For their tasks and masters, and for what goes on at home in its turn.
            assert!(suspended <= 5 * 5 * (4 + 1), "{policy}, {count} big: {suspended} suspended");
        }
    }
}

#[test]
fn law_24_why_nothing_is_taken_is_told_with_its_knob() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "srpt")
        .job(Job::new("first").tasks(80, secs(100)))
        .job(Job::new("hardly smaller").tasks(50, secs(100)).at(secs(130)));
    world.run_until(secs(150));
    let jobs = explain(world.core()).jobs;
    let second = jobs.iter().find(|job| job.application == "hardly smaller").unwrap();
    assert!(second.blocked_by.contains("preemption-threshold"), "{second:?}");
    assert_eq!(world.count.suspended, 1, "its ApplicationMaster's room");
}

/// The first in order has more left than the job whose reduce runs where its task is suspended, and does nothing there.
#[test]
fn law_24_what_goes_on_takes_the_room_of_reduces_that_wait_for_maps() {
    let mut world = World::new()
        .node(Node::of(gb(4)))
        .set("policy", "fifo")
        .job(Job::new("first").tasks(2, secs(1_000)))
        .job(Job::new("second").stage(stage(&[5, 500], 1.0)).stage(stage(&[100], 0.5)).at(secs(10)));
    world.run_until(secs(30));
    let tasks = world.core().cluster().containers().iter().filter(|(_, one)| !one.is_master);
    let tasks: Vec<_> = tasks.map(|(id, _)| *id).collect();
    tasks.iter().for_each(|task| world.park_container(*task, true));
    world.run_until(secs(60));
    assert_eq!(world.held("second"), 3, "its ApplicationMaster, the longer map and the reduce");
    world.park_container(tasks[0], false);
    world.run_until(secs(75));
    assert_eq!((world.held("first"), world.suspended("second")), (2, 1), "the reduce makes room for the task");
    world.park_container(tasks[1], false);
    world.run();
    assert_eq!((world.count.expired, world.count.preempted), (0, 0));
}

/// A node keeps half its size suspended. What goes on there changes places with what goes, so that this is no more than before.
#[test]
fn a_suspended_container_goes_on_where_its_node_may_keep_no_more() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .set("preemption-threshold", "1")
        .set("min-resumed-ms", "0")
        .job(Job::new("usual").tasks(20, secs(300)))
        .job(Job::new("urgent").tasks(3, secs(60)).at(secs(30)).priority(2));
    world.run_until(secs(60));
    assert_eq!(world.suspended("usual"), 4, "three tasks and a master: half the node");
    world.run();
    assert_eq!((world.count.expired, world.count.preempted), (0, 0));
    assert_eq!(world.count.resumed, world.count.suspended);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever like jobs suspend of each other as they come to their ends, the last one ends no later for it than by one task; under LAS,
    /// whose order changes as they run, than by two.
    #[test]
    fn law_24_like_jobs_lose_nothing_by_suspending_each_other(
        policy in prop::sample::select(POLICIES.to_vec()),
        count in 2..6usize,
        tasks in 8..60usize,
        task_s in 20..400u64,
        apart_s in 0..120u64,
        spare_mb in 0..1_000i64,
    ) {
        let last_s = |preemption: &str| {
            let mut node = gb(4);
            node.memory_mb += spare_mb;
            let mut world = World::new().nodes(4, &Node::of(node)).set("policy", policy).set("preemption", preemption);
            for number in 0..count {
                let job = Job::new(&format!("like {number}")).tasks(tasks, secs(task_s));
                world = world.job(job.at(secs(apart_s * number as u64)));
            }
            world.run();
            prop_assert_eq!((world.count.expired, world.count.preempted), (0, 0));
            let ends = (0..count).map(|number| world.app(&format!("like {number}")).finished.unwrap());
            Ok(ends.max().unwrap().seconds())
        };
        let (suspend_s, wait_s) = (last_s("suspend")?, last_s("wait")?);
        let later_s = task_s as f64 * if policy == "las" { 2.0 } else { 1.0 };
        prop_assert!(suspend_s <= wait_s + later_s + 10.0, "{suspend_s} s, {wait_s} s where nothing is taken");
    }
}
