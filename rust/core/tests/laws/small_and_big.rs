//! A small job that arrives behind a big one.

use crate::world::{gb, secs, Faults, Job, Node, World};
use hiatus_core::units::Millis;

fn cluster(policy: &str) -> World {
    World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", policy)
        .job(Job::new("big").tasks(60, secs(60)))
        .job(Job::new("small").tasks(4, secs(5)).at(secs(30)))
}

#[test]
fn under_fifo_it_waits_for_the_last_tasks_of_the_big_one() {
    let mut world = cluster("fifo");
    world.run();
    assert!(world.sojourn("small") > secs(180), "{:?}", world.sojourn("small"));
    assert_eq!(world.count.suspended, 0);
}

#[test]
fn under_srpt_it_does_not_wait_and_takes_no_more_than_it_can_use() {
    let mut world = cluster("srpt");
    world.run();
    assert!(world.sojourn("small") < secs(20), "{:?}", world.sojourn("small"));
    // Its ApplicationMaster and its four tasks, each in the room of one container.
    assert_eq!((world.count.suspended, world.count.preempted), (5, 0));
}

#[test]
fn under_las_and_fair_it_does_not_wait_either() {
    for policy in ["las", "fair"] {
        let mut world = cluster(policy);
        world.run();
        assert!(world.sojourn("small") < secs(20), "{policy}: {:?}", world.sojourn("small"));
        assert_eq!(world.count.preempted, 0, "{policy}");
    }
}

#[test]
fn the_big_one_loses_little_more_than_what_the_small_one_used() {
    let mut alone = World::new().nodes(2, &Node::of(gb(8))).job(Job::new("big").tasks(60, secs(60)));
    let alone = alone.run().sojourn("big");
    let mut world = cluster("srpt");
    let together = world.run().sojourn("big");
    assert!(together <= alone + secs(60), "{together:?} against {alone:?}");
    assert_eq!((world.count.expired, world.count.resumed), (0, world.count.suspended));
}

/// docs/design/suspension-protocol.md: room given away before the node knows of the demotion is not usable, and nothing wakes the
/// container that waits for it.
#[test]
fn the_stall_cannot_happen_even_with_slow_heartbeats_and_a_fast_application_master() {
    let heartbeat = secs(6);
    for n in 0..20 {
        let at = secs(60) + Millis(n * 307);
        let small = Job::new("small").tasks(2, secs(5)).at(at).launch_delay(Millis(0));
        let mut world = World::new()
            .heartbeat(heartbeat)
            .nodes(2, &Node::of(gb(8)))
            .job(Job::new("big").tasks(60, secs(300)))
            .job(small);
        world.run_until(at + secs(60));
        let bound = heartbeat + heartbeat + secs(1);
        let master = world.app("small").first_master.unwrap();
        assert!(master.since(at) <= bound, "submitted at {at:?}, ApplicationMaster started at {master:?}");
        let task = world.app("small").first_task.unwrap();
        assert!(task.since(master) <= bound + secs(1), "ApplicationMaster at {master:?}, first task at {task:?}");
        assert_eq!(world.count.stalled, 0);
    }
}

/// The first heartbeat after a demotion proves nothing: its answer, which carries the demotion, may get lost.
#[test]
fn the_stall_cannot_happen_even_when_answers_to_heartbeats_get_lost() {
    for seed in 0..20 {
        let mut world = World::seeded(seed)
            .faults(Faults { lose_answer: 0.3, ..Faults::default() })
            .nodes(2, &Node::of(gb(8)))
            .job(Job::new("big").tasks(60, secs(60)))
            .job(Job::new("small").tasks(4, secs(5)).at(secs(30)).launch_delay(Millis(0)));
        world.run();
        assert_eq!(world.count.stalled, 0, "seed {seed}");
    }
}

#[test]
fn a_more_important_job_comes_first_under_fifo() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "fifo")
        .job(Job::new("usual").tasks(60, secs(60)))
        .job(Job::new("urgent").tasks(4, secs(5)).at(secs(30)).priority(9));
    world.run();
    assert!(world.sojourn("urgent") < secs(20), "{:?}", world.sojourn("urgent"));
}

#[test]
fn two_runs_make_the_same_decisions() {
    let decisions = || {
        let mut world = cluster("srpt");
        world.run();
        world.decided
    };
    assert_eq!(decisions(), decisions());
}
