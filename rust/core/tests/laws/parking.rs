//! Putting jobs and containers aside by hand.

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::explain::{explain, NotParkedExplanation};
use hiatus_core::units::ContainerId;

/// Ten tasks of a long job, beside room for six more containers.
fn long_job() -> World {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("max-suspended-memory", "1")
        .set("max-suspension-ms", "20000")
        .job(Job::new("long").tasks(10, secs(600)));
    world.run_until(secs(20));
    assert_eq!(world.held("long"), 11);
    world
}

fn a_task(world: &World) -> ContainerId {
    let job = &world.core().cluster().jobs()[&world.app_id("long")];
    job.containers.iter().copied().find(|id| job.master.is_none_or(|(master, _)| master != *id)).unwrap()
}

fn not_parked_yet(world: &World) -> Vec<NotParkedExplanation> {
    explain(world.core()).not_parked_yet
}

#[test]
fn law_6_a_parked_job_is_suspended_but_for_its_master_and_no_deadline_ends_that() {
    let mut world = long_job();
    world.park("long", true);
    world.run_until(secs(25));
    assert_eq!((world.held("long"), world.suspended("long")), (1, 10));
    world.run_until(secs(400));
    assert_eq!((world.held("long"), world.suspended("long"), world.count.expired), (1, 10, 0));
    assert_eq!(explain(world.core()).jobs[0].blocked_by, "being woken by hand");
}

#[test]
fn law_6_a_woken_job_goes_on_where_it_was_and_has_not_waited_too_long() {
    let mut world = long_job();
    world.park("long", true);
    world.run_until(secs(200));
    world.park("long", false);
    world.run_until(secs(205));
    assert_eq!((world.held("long"), world.suspended("long")), (11, 0));
    world.run();
    assert_eq!((world.count.suspended, world.count.resumed, world.count.expired), (10, 10, 0));
}

#[test]
fn what_a_parked_job_held_goes_to_the_others_and_its_asks_rest() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "fifo")
        .set("max-suspended-memory", "1")
        .job(Job::new("first").tasks(60, secs(100)))
        .job(Job::new("second").tasks(60, secs(100)).at(secs(30)));
    world.run_until(secs(60));
    assert_eq!((world.held("first"), world.held("second")), (16, 0));
    world.park("first", true);
    world.run_until(secs(70));
    assert_eq!((world.held("first"), world.suspended("first"), world.held("second")), (1, 15, 15));
    world.run_until(secs(300));
    assert_eq!(world.held("first"), 1);
    world.park("first", false);
    world.run();
}

#[test]
fn law_6_parking_keeps_the_memory_cap_and_says_what_it_could_not_suspend() {
    let mut world = long_job();
    world.configure("max-suspended-memory", "0.25");
    world.park("long", true);
    world.run_until(secs(25));
    assert_eq!((world.held("long"), world.suspended("long")), (7, 4));
    let left = not_parked_yet(&world);
    assert_eq!(left.len(), 6);
    assert!(left.iter().all(|left| left.because.starts_with("suspended containers keep as much")), "{left:?}");
}

#[test]
fn where_nothing_can_be_suspended_parked_containers_run_on_and_that_is_said() {
    for (node, mode, because) in [
        (Node::of(gb(8)).rigid(), "kill", "its node cannot suspend"),
        (Node::of(gb(8)), "order", "the mode allows no suspension"),
    ] {
        let mut world = World::new().nodes(2, &node).set("mode", mode).job(Job::new("long").tasks(10, secs(60)));
        world.run_until(secs(20));
        world.park("long", true);
        world.run_until(secs(25));
        assert_eq!((world.held("long"), world.count.preempted), (11, 0));
        let left = not_parked_yet(&world);
        assert!(left.len() == 10 && left.iter().all(|left| left.because == because), "{left:?}");
    }
}

#[test]
fn a_single_container_is_parked_while_its_job_goes_on() {
    let mut world = long_job();
    let task = a_task(&world);
    world.park_container(task, true);
    world.run_until(secs(400));
    assert_eq!((world.held("long"), world.suspended("long"), world.count.expired), (10, 1, 0));
    let suspended = explain(world.core()).suspended;
    assert!(suspended.len() == 1 && suspended[0].container == task.0 && suspended[0].parked, "{suspended:?}");
    assert_eq!((suspended[0].by.as_ref(), suspended[0].why), (None, "it was put aside by hand"));
    world.park("long", true);
    world.run_until(secs(410));
    world.park("long", false);
    world.run_until(secs(420));
    assert_eq!((world.held("long"), world.suspended("long")), (10, 1), "it was parked by itself, too");
    world.park_container(task, false);
    world.run_until(secs(425));
    assert_eq!(world.suspended("long"), 0);
    world.run();
}

#[test]
fn a_suspended_container_of_a_busy_job_that_is_parked_is_not_counted_on() {
    // The job could use two more containers than the pool has: the parked one is none of them.
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .job(Job::new("long").tasks(7, secs(600)))
        .job(Job::new("other").tasks(7, secs(600)).at(secs(10)));
    world.run_until(secs(20));
    let task = a_task(&world);
    world.park_container(task, true);
    world.run_until(secs(40));
    let jobs = explain(world.core()).jobs;
    assert!((jobs[0].target - 7.0 / 8.0).abs() < 1e-9, "{jobs:?}");
    assert_eq!((world.held("long"), world.held("other")), (7, 1));
}

#[test]
fn law_3_an_application_master_cannot_be_parked() {
    let mut world = long_job();
    let (master, _) = world.core().cluster().jobs()[&world.app_id("long")].master.unwrap();
    world.park_container(master, true);
    world.run_until(secs(30));
    assert_eq!((world.held("long"), world.suspended("long")), (11, 0));
    assert!(not_parked_yet(&world).is_empty());
}

#[test]
fn law_10_what_is_parked_stays_so_over_a_restart() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("max-suspended-memory", "1")
        .job(Job::new("night").tasks(5, secs(300)))
        .job(Job::new("long").tasks(5, secs(300)));
    world.run_until(secs(10));
    let task = a_task(&world);
    world.park("night", true);
    world.park_container(task, true);
    world.run_until(secs(20));
    world.restart();
    world.run_until(secs(100));
    assert_eq!((world.held("night"), world.held("long"), world.suspended("long")), (1, 5, 1));
    world.park("night", false);
    world.park_container(task, false);
    world.run();
}

#[test]
fn law_6_what_was_about_to_be_resumed_is_not_once_it_is_parked() {
    // Room is kept for what was suspended too long. It comes between two plans, right after the order to park.
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .set("max-suspended-memory", "1")
        .set("max-suspension-ms", "20000")
        .set("plan-interval-ms", "5000")
        .job(Job::new("low").tasks(7, secs(300)))
        .job(Job::new("high").tasks(7, secs(22)).at(secs(30)).priority(1))
        .job(Job::new("next").tasks(1, secs(10)).at(secs(56)));
    world.run_until(secs(57));
    assert_eq!((world.suspended("low"), world.claims()), (7, 7));
    world.park("low", true);
    world.run_until(secs(100));
    assert_eq!((world.held("low"), world.suspended("low")), (1, 7));
}
