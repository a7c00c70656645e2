//! Law 21. YARN's priorities come first, whatever the policy: it orders those of one priority, in what the higher ones leave.

use crate::world::{secs, Job, Node, Queue, World};
use hiatus_core::settings::{PolicyKind, Word};
use hiatus_core::units::{Millis, Resource};
use proptest::prelude::*;

/// MiB of memory; virtual cores do not count.
fn mb(memory_mb: i64) -> Resource {
    Resource::new(memory_mb, 0)
}

/// Two nodes of 4.5 GiB: eight containers, and half of one as room for an ApplicationMaster on each.
fn cluster(policy: &str) -> World {
    knobs(World::new().nodes(2, &Node::of(mb(4_608))), policy)
}

fn knobs(world: World, policy: &str) -> World {
    world.set("policy", policy).set("min-run-ms", "0").set("min-resumed-ms", "0").set("max-suspended-memory", "8")
}

fn job(name: &str, tasks: usize, task_s: u64) -> Job {
    Job { master: mb(256), ..Job::new(name) }.sized_tasks(tasks, secs(task_s), mb(1_024))
}

/// What is left to the low one is what the high one does not want, however much more that has to do.
#[test]
fn law_21_the_higher_priority_has_all_it_wants_under_every_policy() {
    for policy in PolicyKind::NAMES {
        let mut world = cluster(policy)
            .job(job("low", 40, 30).priority(1))
            .job(job("high", 400, 60).at(secs(40)).priority(9))
            .job(job("some", 2, 60).at(secs(42)).priority(10));
        world.run_until(secs(60));
        let held = ["low", "high", "some"].map(|name| world.held(name));
        assert_eq!(held, [1, 7, 3], "{policy}: with their ApplicationMasters");
        assert_eq!(world.suspended("some") + world.count.preempted as usize, 0, "{policy}");
    }
}

/// By every policy but `fifo` the small one would go first; with an equal priority it does.
#[test]
fn law_21_nothing_of_a_higher_priority_is_suspended_for_a_lower_one() {
    for policy in PolicyKind::NAMES.iter().filter(|policy| **policy != "fifo") {
        for (priority, suspended) in [(9, false), (1, true)] {
            let mut world = cluster(policy)
                .job(job("big", 400, 60).priority(priority))
                .job(job("small", 4, 5).at(secs(40)).priority(1));
            world.run_until(secs(58));
            assert_eq!(world.count.suspended > 0, suspended, "{policy}, {priority}");
        }
    }
}

/// What it has beyond its target nobody else of its priority wanted. A lower one waits for the ends of that.
#[test]
fn law_21_nor_is_what_it_holds_above_its_target() {
    for (priority, suspended) in [(9, 0), (1, 4)] {
        let mut world = cluster("flex")
            .set("flex-max-share", "0.5")
            .job(job("big", 400, 60).priority(priority))
            .job(job("small", 4, 30).at(secs(40)).priority(1));
        world.run_until(secs(58));
        assert_eq!(world.count.suspended, suspended, "{priority}");
        world.run_until(secs(110));
        assert!(world.app("small").first_task.is_some(), "{priority}");
    }
}

#[test]
fn law_21_a_change_of_priority_counts_at_once() {
    for policy in PolicyKind::NAMES {
        let mut world =
            cluster(policy).job(job("one", 400, 60).priority(5)).job(job("other", 400, 60).at(secs(10)).priority(1));
        world.run_until(secs(40));
        assert_eq!((world.held("one"), world.held("other")), (9, 1), "{policy}");
        let other = world.app_id("other");
        world.change_job(other, "root.default", 6);
        world.run_until(secs(60));
        assert_eq!((world.held("one"), world.held("other")), (1, 9), "{policy}");
        world.change_job(other, "root.default", 4);
        world.run_until(secs(80));
        assert_eq!((world.held("one"), world.held("other")), (9, 1), "{policy}");
    }
}

/// Priorities stand within a queue, as CapacityScheduler has them.
#[test]
fn a_priority_counts_for_nothing_in_another_queue() {
    let mut world = cluster("srpt")
        .queue(Queue::new("root.a", 0.5))
        .queue(Queue::new("root.b", 0.5))
        .job(job("low", 400, 60).queue("root.a").priority(1))
        .job(job("high", 400, 60).at(secs(40)).queue("root.b").priority(9));
    world.run_until(secs(70));
    assert_eq!((world.held("low"), world.held("high")), (5, 5));
}

/// What another queue is entitled to is taken from the lowest priority, be another job the largest.
#[test]
fn another_queue_takes_from_the_lowest_priority_first() {
    for victims in ["youngest", "largest-job"] {
        let mut world = cluster("fair")
            .set("victims", victims)
            .queue(Queue::new("root.a", 0.5))
            .queue(Queue::new("root.b", 0.5))
            .job(job("high", 5, 900).queue("root.a").priority(9))
            .job(job("low", 3, 100).queue("root.a").at(secs(5)).priority(1))
            .job(job("other", 400, 60).at(secs(40)).queue("root.b"));
        world.run_until(secs(70));
        assert_eq!((world.suspended("high"), world.suspended("low")), (1, 3), "{victims}");
    }
}

/// A task of 3,500 MiB beside five of 1 GiB on two nodes: there is room for all of that, but nowhere in one piece.
#[test]
fn law_21_a_lower_priority_keeps_nothing_of_its_target_from_a_higher_one() {
    for policy in PolicyKind::NAMES {
        let mut world = cluster(policy)
            .job(job("low", 5, 200).priority(1))
            .job(job("high", 0, 0).sized_tasks(1, secs(30), mb(3_500)).at(secs(40)).priority(2));
        world.run_until(secs(60));
        assert_eq!((world.held("high"), world.suspended("low") > 0), (2, true), "{policy}");
    }
}

/// When the job called `high` ends, on one node of so many containers and with what else there is.
fn end_of_high(policy: &str, slots: i64, jobs: &[Job]) -> Millis {
    // With room for four ApplicationMasters.
    let mut world = knobs(World::new().node(Node::of(mb(1_024 * slots + 1_024))), policy).jobs(jobs);
    world.run();
    world.app("high").finished.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A job hardly notices those of lower priorities: their ApplicationMasters have room, and what they hold it takes within
    /// two heartbeats.
    #[test]
    fn law_21_jobs_of_lower_priorities_hardly_put_one_off(
        policy in prop::sample::select(PolicyKind::NAMES),
        slots in 2..8i64,
        (tasks, task_s, at) in (1..40usize, 1..60u64, 0..80u64),
        lower in prop::collection::vec((1..60usize, 1..90u64, 0..120u64, 0..3), 1..4),
    ) {
        let high = job("high", tasks, task_s).at(secs(at)).priority(3);
        let low = lower.iter().enumerate().map(|(id, (tasks, task_s, at, priority))| {
            job(&format!("low{id}"), *tasks, *task_s).at(secs(*at)).priority(*priority)
        });
        let alone = end_of_high(policy, slots, std::slice::from_ref(&high));
        let among = end_of_high(policy, slots, &low.chain([high]).collect::<Vec<_>>());
        let waves = (tasks as u64).div_ceil(slots as u64);
        prop_assert!(among <= alone + secs(8 + 2 * waves), "{among:?} among others, {alone:?} alone");
    }
}
