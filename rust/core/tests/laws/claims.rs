//! Room that is kept for somebody: it goes to whom it was freed for, or is given back.

use crate::direct::Direct;
use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::decision::Decision;
use hiatus_core::fact::Rejection;
use hiatus_core::units::{AppId, Millis, NodeId, Resource};

/// A full node of heartbeats of 6 s, on which room was just freed for the small job's ApplicationMaster.
fn freeing() -> World {
    let mut world = World::new()
        .heartbeat(secs(6))
        .node(Node::of(gb(8)))
        .job(Job::new("big").tasks(60, secs(200)))
        .job(Job::new("small").tasks(2, secs(5)).at(secs(60)));
    world.run_until(secs(63));
    assert_eq!((world.claims(), world.suspended("big")), (1, 1));
    world
}

#[test]
fn law_4_an_application_that_may_not_run_gives_its_room_back() {
    let mut world = freeing();
    world.deactivate("small");
    world.run_until(secs(80));
    assert_eq!((world.claims(), world.suspended("big")), (0, 0));
}

#[test]
fn law_4_a_job_that_goes_away_gives_its_room_back() {
    let mut world = freeing();
    world.kill_job("small");
    world.run_until(secs(80));
    assert_eq!((world.claims(), world.suspended("big")), (0, 0));
    world.run();
}

#[test]
fn law_4_an_overdue_suspended_container_does_not_take_what_was_freed_for_another_job() {
    let mut world = World::new()
        .heartbeat(secs(6))
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .set("min-run-ms", "0")
        .set("max-suspension-ms", "20000")
        .set("max-suspended-memory", "1")
        .job(Job::new("big").tasks(60, secs(200)))
        .job(Job::new("first").tasks(1, secs(300)).at(secs(30)).priority(1))
        .job(Job::new("second").tasks(1, secs(300)).at(secs(45)).priority(1));
    // The observers see who gets the room.
    world.run_until(secs(80));
    assert!(world.held("second") > 0);
}

#[test]
fn law_18_a_job_that_lacks_only_containers_suspended_for_too_long_takes_of_a_later_one() {
    // What ends first goes to those of the job that comes last: they were given out before the other's.
    let mut world = World::new()
        .node(Node::of(gb(12)))
        .set("policy", "fifo")
        .set("min-run-ms", "0")
        .set("min-resumed-ms", "1000")
        .set("max-suspension-ms", "20000")
        .job(Job::new("last").tasks(4, secs(600)))
        .job(Job::new("middle").tasks(4, secs(600)).at(secs(5)).priority(1))
        .job(Job::new("first").tasks(2, secs(100)).at(secs(30)).priority(2))
        .job(Job::new("long").tasks(4, secs(400)).at(secs(30)).priority(2));
    world.run_until(secs(100));
    assert_eq!((world.suspended("last"), world.suspended("middle")), (4, 2));
    world.run_until(secs(200));
    assert_eq!((world.suspended("middle"), world.held("long")), (0, 5));
}

#[test]
fn law_4_a_resume_uses_up_what_was_freed_for_its_job_there() {
    // Under LAS the jobs take turns: the one that was suspended comes back to its own node.
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "las")
        .set("min-run-ms", "1000")
        .set("min-resumed-ms", "1000")
        .job(Job::new("one").tasks(40, secs(60)))
        .job(Job::new("two").tasks(40, secs(60)).at(secs(20)));
    for now in 20..400 {
        world.run_until(secs(now));
        for node in world.core().cluster().nodes().values() {
            let kept = node.claims.iter().filter(|claim| claim.is_freed());
            let kept = kept.fold(gb(0), |sum, claim| sum + claim.resource);
            let room = node.usable() + node.settling;
            assert!(kept.fits_in(room), "at {now} s {kept:?} kept of {room:?}: {node:?}");
        }
    }
    world.run();
}

#[test]
fn a_silent_node_is_not_waited_for() {
    let mut world = World::new()
        .nodes(3, &Node::of(gb(8)))
        .job(Job::new("big").tasks(60, secs(200)).at(secs(20)))
        .job(Job::new("small").tasks(2, secs(5)).at(secs(60)));
    world.run_until(secs(5));
    // A node with free room falls silent: YARN takes ten minutes to declare it lost.
    world.silence(NodeId(2), secs(600));
    world.run();
    assert!(world.sojourn("small") < secs(30), "{:?}", world.sojourn("small"));
}

#[test]
fn room_on_a_node_that_has_fallen_silent_is_not_waited_for() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "srpt")
        .set("preemption", "wait")
        .set("large-ask-delay-ms", "1000")
        .set("large-ask-timeout-ms", "600000")
        .job(Job::new("big").tasks(14, secs(100)))
        .job(Job::new("large").at(secs(20)).sized_tasks(1, secs(5), gb(6)));
    world.run_until(secs(40));
    let collected = |world: &World| world.core().cluster().claimed().map(|(id, _)| id).collect::<Vec<_>>();
    let home = collected(&world);
    assert_eq!(home.len(), 1, "room is collected on one node: {home:?}");
    world.silence(home[0], secs(600));
    world.run_until(secs(60));
    assert!(!collected(&world).contains(&home[0]), "{:?}", collected(&world));
    world.run();
    assert!(world.sojourn("large") < secs(150), "{:?}", world.sojourn("large"));
}

#[test]
fn new_demand_is_served_before_the_next_heartbeat() {
    let mut world = World::new()
        .heartbeat(secs(6))
        .nodes(2, &Node::of(gb(8)))
        .set("plan-interval-ms", "1000")
        .job(Job::new("first").tasks(1, secs(100)).at(Millis(21_300)))
        .job(Job::new("second").tasks(1, secs(5)).at(Millis(21_500)));
    world.run_until(secs(30));
    let started = world.app("second").first_master.unwrap();
    assert!(started.since(Millis(21_500)) <= secs(2), "{started:?}");
}

#[test]
fn law_4_room_freed_for_one_job_does_not_wait_until_that_freed_for_the_next_has_settled() {
    let mut world = World::new()
        .heartbeat(secs(6))
        .node(Node::of(gb(8)))
        .set("min-run-ms", "0")
        .set("max-suspended-memory", "1")
        .job(Job::new("big").tasks(60, secs(500)));
    let smalls = ["one", "two", "three", "four", "five"];
    for (number, name) in smalls.into_iter().enumerate() {
        world = world.job(Job::new(name).tasks(0, secs(1)).at(secs(61 + 5 * number as u64)));
    }
    world.run_until(secs(120));
    let waits = smalls.map(|name| world.app(name).first_master.map(|at| at.since(world.app(name).job.at)));
    assert!(waits.iter().all(|wait| wait.is_some_and(|wait| wait <= secs(12))), "{waits:?}");
}

#[test]
fn law_4_room_that_is_collected_and_never_enough_is_given_back() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("mode", "order")
        .set("policy", "fifo")
        .set("large-ask-timeout-ms", "20000")
        .job(Job::new("endless").tasks(5, secs(2_000)))
        .job(Job::new("large").sized_tasks(1, secs(20), gb(4)).at(secs(10)).priority(1))
        .job(Job::new("small").tasks(2, secs(20)).at(secs(20)));
    world.run_until(secs(30));
    assert_eq!((world.claims(), world.held("small")), (1, 0));
    world.run_until(secs(60));
    assert!(world.held("small") > 0 && world.core().cluster().tally().claims_expired > 0);
    world.run();
}

#[test]
fn law_4_room_that_is_collected_yields_to_a_job_that_comes_earlier_in_the_order() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("mode", "order")
        .set("policy", "fifo")
        .job(Job::new("endless").tasks(5, secs(2_000)))
        .job(Job::new("large").sized_tasks(1, secs(20), gb(4)).at(secs(10)).priority(1))
        .job(Job::new("urgent").tasks(0, secs(20)).at(secs(20)).priority(2));
    world.run_until(secs(18));
    assert_eq!(world.claims(), 1);
    world.run_until(secs(24));
    assert!(world.app("urgent").first_master.is_some());
}

#[test]
fn law_8_a_job_that_waits_for_room_to_come_by_itself_takes_it_as_soon_as_it_may() {
    // All containers are too young to be taken when the small job comes: room is collected for it.
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .set("min-run-ms", "20000")
        .set("large-ask-delay-ms", "3000")
        .job(Job::new("big").tasks(60, secs(200)))
        .job(Job::new("small").tasks(1, secs(5)).at(secs(5)).priority(1));
    world.run_until(secs(15));
    assert_eq!((world.claims(), world.suspended("big")), (1, 0));
    world.run_until(secs(40));
    assert!(world.app("small").first_task.is_some(), "{:?}", world.app("small"));
}

/// One job fills all nodes, another comes before it and wants five containers, each of which the ResourceManager refuses.
fn refused(reason: fn(&Decision) -> Option<Rejection>) -> Direct {
    let mut cluster = Direct::with(&[("policy", "fifo"), ("min-run-ms", "0")], 4, 2);
    cluster.asks(1, 40);
    cluster.plan();
    cluster.refusing(reason);
    cluster
}

/// Every second all nodes report, for so long; how often anything was suspended by then.
fn suspended_after(cluster: &mut Direct, seconds: u64) -> u64 {
    for _ in 0..seconds {
        (0..4).for_each(|node| cluster.heartbeat(node));
        cluster.step(1_000);
    }
    cluster.core.cluster().tally().suspended
}

/// Another resource may be what the job lacks, or one certain host: the core does not know.
#[test]
fn law_5_nothing_is_taken_for_what_the_core_cannot_judge_and_what_room_there_is_is_offered() {
    let mut cluster = refused(|_| None);
    cluster.asks_for_more_than_is_known(0, 5);
    assert_eq!(suspended_after(&mut cluster, 120), 0);
    cluster.first_container_ends();
    cluster.plan();
    assert_eq!(cluster.holds(0), 1);
}

#[test]
fn law_5_less_and_less_is_taken_for_who_is_refused_each_time() {
    let refusals: [fn(&Decision) -> Option<Rejection>; 2] = [
        |decision| matches!(decision, Decision::Assign { app: AppId(0), .. }).then_some(Rejection::Room),
        |decision| matches!(decision, Decision::Assign { app: AppId(0), .. }).then_some(Rejection::Locality),
    ];
    for refuses in refusals {
        let mut cluster = refused(refuses);
        cluster.asks(0, 5);
        let first = suspended_after(&mut cluster, 60);
        assert!(first > 0);
        let hour = suspended_after(&mut cluster, 3_600);
        assert!(hour <= 8 * first, "{first} in a minute, {hour} in an hour");
        // Whoever is served begins anew.
        cluster.refusing(|_| None);
        cluster.ends(1);
        cluster.plan();
        assert_eq!(cluster.holds(0), 5);
    }
}

#[test]
fn law_4_room_freed_for_a_second_container_is_not_given_back_because_the_first_found_some() {
    // Beside the big task there is room for the master and one of the two tasks, which is placed as room is freed for the other.
    let mut world = World::new()
        .node(Node::of(Resource::new(6_656, 0)))
        .set("policy", "srpt")
        .set("max-suspended-memory", "1")
        .job(Job::new("big").sized_tasks(20, secs(200), gb(3)))
        .job(Job::new("small").tasks(2, secs(10)).at(secs(60)));
    world.run_until(secs(66));
    assert_eq!((world.held("small"), world.count.suspended, world.count.resumed), (3, 1, 0));
}
