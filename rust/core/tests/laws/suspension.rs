//! The life of suspended containers.

use crate::direct::Direct;
use crate::stage;
use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::decision::Decision;
use hiatus_core::explain::explain;
use hiatus_core::fact::{Fact, PhaseKey, Rejection};
use hiatus_core::units::{ContainerId, NodeId};

#[test]
fn suspended_containers_resume_at_home_before_new_ones_start() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .job(Job::new("big").tasks(60, secs(60)))
        .job(Job::new("small").tasks(4, secs(5)).at(secs(30)));
    while world.app("small").finished.is_none() {
        let next = world.now() + secs(1);
        world.run_until(next);
    }
    assert!(world.suspended("big") > 0);
    let big = world.app_id("big");
    let before = world.decided.len();
    let next = world.now() + secs(10);
    world.run_until(next);
    assert_eq!(world.suspended("big"), 0);
    let of_big = |decision: &Decision| matches!(decision, Decision::Assign { app, .. } if *app == big);
    let after: Vec<_> = world.decided[before..].iter().map(|(_, decision)| *decision).collect();
    assert!(!after.iter().any(of_big), "{after:?}");
    world.run();
    assert_eq!(world.count.resumed, world.count.suspended);
}

/// The important job needs so long that what it had suspended could only go on elsewhere.
fn kept_out_by_an_important_job(mode: &str) -> World {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .set("mode", mode)
        .set("max-suspension-ms", "20000")
        .job(Job::new("usual").tasks(6, secs(600)))
        .job(Job::new("important").tasks(3, secs(400)).at(secs(30)).priority(1));
    world.run();
    world
}

#[test]
fn law_6_what_cannot_be_resumed_by_its_deadline_is_killed_and_run_again_where_that_is_allowed() {
    let world = kept_out_by_an_important_job("kill");
    let times = |which: &dyn Fn(&Decision) -> bool| -> Vec<_> {
        world.decided.iter().filter(|(_, decision)| which(decision)).map(|(at, _)| *at).collect()
    };
    let suspended = times(&|decision| matches!(decision, Decision::Suspend { .. }));
    let killed = times(&|decision| matches!(decision, Decision::Kill { .. }));
    assert!(!killed.is_empty() && world.count.expired == killed.len() as u64, "{:?}", world.count);
    assert!(killed[0].since(suspended[0]) >= secs(40) && killed[0].since(suspended[0]) <= secs(45));
}

#[test]
fn law_6_in_the_mode_suspend_it_waits_for_room_at_home_and_nothing_is_killed() {
    let world = kept_out_by_an_important_job("suspend");
    assert_eq!((world.count.expired, world.count.preempted), (0, 0));
    assert!(world.count.suspended > 0 && world.count.resumed == world.count.suspended, "{:?}", world.count);
}

/// A limit of CapacityScheduler keeps it from going on, at every heartbeat: that must not keep it from its end.
#[test]
fn law_6_what_is_refused_to_go_on_again_and_again_is_killed_nevertheless() {
    let knobs = [("mode", "kill"), ("policy", "fifo"), ("min-run-ms", "0"), ("max-suspension-ms", "60000")];
    let mut cluster = Direct::with(&[knobs.as_slice(), &[("plan-interval-ms", "6000")]].concat(), 1, 1);
    cluster.asks(0, 10);
    cluster.heartbeat(0);
    cluster.step(6_000);
    let production = cluster.production_job();
    cluster.asks(production, 8);
    for _ in 0..4 {
        cluster.heartbeat(0);
        cluster.step(6_000);
    }
    assert!(cluster.core.cluster().suspended().count() > 0);
    cluster.refusing(|decision| matches!(decision, Decision::Resume { .. }).then_some(Rejection::Limit));
    cluster.ends(production);
    // A heartbeat between two plans, just when the rest after the last refusal is over.
    cluster.step(5_000);
    for _ in 0..20 {
        cluster.heartbeat(0);
        cluster.step(5_000);
        cluster.step(5_000);
    }
    assert_eq!(cluster.core.cluster().suspended().count(), 0);
}

#[test]
fn law_5_nothing_is_suspended_before_its_minimum_run_time_or_beyond_its_budget() {
    // The observers check every suspension; here there are many.
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "las")
        .set("min-run-ms", "8000")
        .set("min-resumed-ms", "4000")
        .set("preemption-threshold", "1")
        .set("suspension-budget-ms", "30000");
    for n in 0..6 {
        world = world.job(Job::new(&format!("job{n}")).tasks(30, secs(20)).at(secs(7 * n)));
    }
    world.run();
    assert!(world.count.suspended > 10, "{:?}", world.count);
}

/// What tasks of hours have been suspended for is a small part of what they run.
#[test]
fn tasks_of_hours_keep_small_jobs_out_no_more_for_having_been_suspended_before() {
    let names: Vec<String> = (0..20).map(|n| format!("small {n}")).collect();
    let world = World::new()
        .nodes(2, &Node::of(gb(5)))
        .set("suspension-budget-ms", "60000")
        .job(Job::new("hours").tasks(9, secs(20_000)));
    let mut world = (0..)
        .zip(&names)
        .fold(world, |world, (n, name)| world.job(Job::new(name).tasks(4, secs(20)).at(secs(900 + 300 * n))));
    world.run();
    assert!(
        names.iter().all(|name| world.sojourn(name) <= secs(60)),
        "{:?}",
        names.iter().map(|name| world.sojourn(name)).collect::<Vec<_>>()
    );
    assert!(world.count.suspended > 20, "{:?}", world.count);
}

#[test]
fn law_6_the_containers_of_a_killed_application_go_with_it() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .job(Job::new("big").tasks(60, secs(60)))
        .job(Job::new("small").tasks(4, secs(60)).at(secs(30)));
    world.run_until(secs(50));
    assert!(world.suspended("big") > 0);
    world.kill_job("big");
    world.run_until(secs(52));
    assert_eq!((world.held("big"), world.suspended("big")), (0, 0));
    assert!(world.core().cluster().suspended().next().is_none());
    world.run();
}

#[test]
fn a_lost_node_takes_its_suspended_containers_along_and_their_work_is_done_again() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .job(Job::new("big").tasks(30, secs(60)))
        .job(Job::new("small").tasks(4, secs(60)).at(secs(30)));
    world.run_until(secs(50));
    for node in [0, 1] {
        world.lose_node(NodeId(node));
        let next = world.now() + secs(60);
        world.run_until(next);
    }
    world.run();
}

#[test]
fn a_failed_application_master_comes_back_and_its_job_finishes() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .job(Job::new("big").tasks(30, secs(60)))
        .job(Job::new("small").tasks(4, secs(60)).at(secs(30)));
    world.run_until(secs(50));
    world.fail_master("big");
    world.run_until(secs(60));
    world.fail_master("small");
    world.run();
    assert_eq!(world.app("big").attempt, 2);
}

/// Should a container ever be stuck behind suspended ones, they go one by one, each with time to help.
#[test]
fn a_stall_costs_one_suspended_container_at_a_time() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("stall-timeout-ms", "5000")
        .job(Job::new("big").tasks(60, secs(300)))
        .job(Job::new("small").tasks(3, secs(200)).at(secs(90)));
    world.run_until(secs(110));
    assert_eq!(world.suspended("big"), 4);
    world.silence(NodeId(0), secs(20));
    world.tell(Fact::Heartbeat { node: NodeId(0), paused: 4, waiting: 1 });
    world.run_until(secs(114));
    assert_eq!(world.count.expired, 0);
    world.run_until(secs(119));
    assert_eq!(world.count.expired, 1);
    world.run();
}

/// What went on when its node still had the room cannot, and nothing there need ever end: reduces that wait for just that map.
#[test]
fn a_stall_on_a_node_that_became_smaller_suspends_the_newest_there() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("stall-timeout-ms", "5000")
        .job(Job::new("big").tasks(7, secs(300)))
        .job(Job::new("late").tasks(1, secs(5)).at(secs(400)));
    world.run_until(secs(60));
    world.resize(NodeId(0), gb(7));
    world.silence(NodeId(0), secs(20));
    world.tell(Fact::Heartbeat { node: NodeId(0), paused: 0, waiting: 1 });
    world.run_until(secs(63));
    assert_eq!((world.held("big"), world.suspended("big")), (8, 0));
    world.run_until(secs(67));
    assert_eq!((world.held("big"), world.suspended("big"), world.count.expired), (7, 1, 0));
    world.run();
}

/// A job of which nothing is left but suspended containers: it was parked, and others have filled its nodes since.
fn pushed_out(knobs: &[(&str, &str)]) -> World {
    let world = World::new().nodes(2, &Node::of(gb(8))).set("policy", "fifo").set("max-suspended-memory", "1");
    let mut world = knobs.iter().fold(world, |world, (knob, value)| world.set(knob, value));
    world = world.job(Job::new("first").tasks(6, secs(300))).job(Job::new("second").tasks(30, secs(600)).at(secs(30)));
    world.run_until(secs(20));
    world.park("first", true);
    world.run_until(secs(100));
    assert_eq!((world.held("first"), world.suspended("first"), world.held("second")), (1, 6, 15));
    world
}

#[test]
fn a_job_with_nothing_but_suspended_containers_gets_their_room_back() {
    let mut world = pushed_out(&[]);
    world.park("first", false);
    world.run_until(secs(115));
    assert_eq!((world.held("first"), world.suspended("first"), world.suspended("second")), (7, 0, 6));
    world.run();
    assert_eq!(world.count.expired, 0);
}

#[test]
fn p_04_a_container_kept_out_of_its_home_is_run_again_elsewhere_after_a_while_and_not_before() {
    let mut world = pushed_out(&[("mode", "kill"), ("resume-locality-ms", "40000"), ("preemption", "wait")]);
    world.park("first", false);
    world.run_until(secs(138));
    assert_eq!((world.suspended("first"), world.count.expired), (6, 0));
    world.run_until(secs(145));
    assert_eq!((world.suspended("first"), world.count.expired), (0, 6));
    world.run();
}

#[test]
fn p_04_what_was_parked_while_it_was_kept_out_begins_to_wait_when_it_is_woken() {
    let mut world = pushed_out(&[("mode", "kill"), ("resume-locality-ms", "40000"), ("preemption", "wait")]);
    world.park("first", false);
    world.run_until(secs(110));
    world.park("first", true);
    world.run_until(secs(300));
    world.park("first", false);
    world.run_until(secs(338));
    assert_eq!((world.suspended("first"), world.count.expired), (6, 0));
    world.run_until(secs(345));
    assert_eq!((world.suspended("first"), world.count.expired), (0, 6));
}

#[test]
fn p_04_a_job_that_may_not_run_more_waits_for_its_home_without_loss() {
    // The urgent job needs all there is: what it suspended could not run elsewhere either.
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "fifo")
        .set("resume-locality-ms", "20000")
        .job(Job::new("usual").tasks(15, secs(300)))
        .job(Job::new("urgent").tasks(15, secs(200)).at(secs(30)).priority(5));
    world.run_until(secs(150));
    assert!(world.suspended("usual") > 0);
    world.run();
    assert_eq!(world.count.expired, 0);
}

#[test]
fn law_6_a_node_keeps_no_more_than_its_ram_and_swap_hold_beside_what_runs() {
    let suspended_where = |node: Node| {
        let mut world = World::new()
            .nodes(1, &node)
            .set("max-suspended-memory", "1")
            .job(Job::new("big").tasks(60, secs(600)))
            .job(Job::new("small").tasks(4, secs(60)).at(secs(90)));
        world.run_until(secs(110));
        world.suspended("big")
    };
    assert_eq!(suspended_where(Node::of(gb(8))), 5, "unknown: the knob alone counts");
    assert_eq!(suspended_where(Node::of(gb(8)).ram_and_swap(gb(11))), 3);
    assert_eq!(suspended_where(Node::of(gb(8)).ram_and_swap(gb(100))), 5);
    assert_eq!(suspended_where(Node::of(gb(8)).ram_and_swap(gb(8))), 0);
}

#[test]
fn queues_and_nodes_tell_what_is_suspended_and_the_load_of_a_queue_for_how_long() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(4)))
        .set("max-suspended-memory", "0.5")
        .set("policy", "fifo")
        .job(Job::new("low").tasks(7, secs(300)))
        .job(Job::new("high").tasks(2, secs(60)).at(secs(20)).priority(1));
    world.run_until(secs(30));
    let told = explain(world.core());
    let suspended = world.suspended("low");
    assert!(suspended >= 2);
    let [queue] = told.queues.as_slice() else { panic!("one queue expected: {:?}", told.queues) };
    assert_eq!((queue.jobs, queue.suspended as usize), (2, suspended));
    assert!((queue.held - queue.entitled).abs() < 1e-9 && queue.held > 0.9, "{queue:?}");
    assert_eq!(told.nodes.iter().map(|node| node.suspended).sum::<usize>(), suspended);
    assert!(told
        .nodes
        .iter()
        .all(|node| node.most_suspended_mb == 2 * 1024 && node.suspended_mb <= node.most_suspended_mb));

    let cluster = world.core().cluster();
    let id = *cluster.queues().iter().find(|(_, found)| found.path == queue.queue).expect("it is there").0;
    let (before, then) = (cluster.load(id), cluster.now());
    assert_eq!((before.now.suspended as usize, before.now.suspended_mb), (suspended, 1024 * suspended as i64));
    assert_eq!(before.now.jobs, 2);
    world.run_until(secs(40));
    let cluster = world.core().cluster();
    let passed = cluster.now().since(then).0 * suspended as u64;
    assert_eq!(cluster.load(id).suspended_time(cluster.now()).0, before.suspended_time(then).0 + passed);
    world.run();
    let cluster = world.core().cluster();
    assert_eq!((cluster.load(id).now.suspended, cluster.load(id).now.running), (0, 0));
}

/// Reason, owner and what is waited for, of all that is suspended.
fn told(world: &World) -> Vec<(&'static str, Option<String>, &'static str)> {
    explain(world.core()).suspended.into_iter().map(|found| (found.reason, found.by, found.waits_for)).collect()
}

#[test]
fn a_suspension_has_a_reason_with_an_owner_and_a_rule_for_its_end() {
    let mut world = World::new()
        .node(Node::of(gb(4)))
        .set("policy", "fifo")
        .job(Job::new("low").tasks(3, secs(300)))
        .job(Job::new("high").tasks(1, secs(60)).at(secs(20)).priority(1));
    world.run_until(secs(30));
    assert_eq!(told(&world), vec![("preempted", Some("high".to_owned()), "its job's turn"); 2]);
    world.park("low", true);
    world.run_until(secs(32));
    assert_eq!(told(&world), vec![("parked", None, "being woken by hand"); 2]);
    world.park("low", false);
    world.run_until(secs(34));
    assert_eq!(told(&world), vec![("preempted", Some("high".to_owned()), "its job's turn"); 2]);
    world.restart();
    world.run_until(secs(40));
    assert_eq!(told(&world), vec![("found", None, "its job's turn"); 2]);
    world.run();
}

/// A job of three maps, the last of 100 s, and three reduces that are asked for early, on a node for its ApplicationMaster and three tasks.
fn early_reduces() -> World {
    World::new()
        .node(Node::of(gb(4)))
        .set("resume-locality-ms", "40000")
        .job(Job::new("job").stage(stage(&[20, 20, 100], 1.0)).stage(stage(&[5; 3], 0.05)))
}

/// Of those that run.
fn last_of(world: &World, is: fn(&PhaseKey) -> bool) -> ContainerId {
    let containers = world.core().cluster().containers().iter();
    let running = containers.filter(|(_, one)| is(&one.phase) && !one.state.is_suspended());
    running.map(|(id, _)| *id).max().unwrap()
}

/// They could do nothing before it is done.
#[test]
fn reduces_wait_while_a_map_of_their_job_is_suspended() {
    let mut world = early_reduces();
    world.run_until(secs(10));
    let last = last_of(&world, PhaseKey::is_of_maps);
    world.park_container(last, true);
    world.run_until(secs(50));
    assert_eq!((world.held("job"), world.suspended("job")), (1, 1), "the ApplicationMaster");
    world.park_container(last, false);
    world.run_until(secs(60));
    assert_eq!((world.held("job"), world.suspended("job")), (4, 0), "the map and two reduces, too");
    world.run();
}

/// A reduce and a map were put aside, in that order, and the reduces, which cannot end before the map, have its room.
#[test]
fn law_8_a_map_whose_room_its_own_reduces_have_is_run_again_after_a_while() {
    let mut world = early_reduces();
    world.run_until(secs(30));
    assert_eq!(world.held("job"), 4, "the ApplicationMaster, the last map and two reduces");
    let (map, reduce) = (last_of(&world, PhaseKey::is_of_maps), last_of(&world, PhaseKey::is_of_reduces));
    world.park_container(reduce, true);
    world.run_until(secs(40));
    world.park_container(map, true);
    world.run_until(secs(45));
    world.park_container(reduce, false);
    world.run_until(secs(50));
    assert_eq!((world.held("job"), world.suspended("job")), (4, 1), "the ApplicationMaster and three reduces");
    world.park_container(map, false);
    world.run_until(secs(85));
    assert_eq!((world.suspended("job"), world.count.expired), (1, 0));
    world.run_until(secs(95));
    assert_eq!((world.suspended("job"), world.count.expired), (0, 1));
    world.run();
}
