//! Law 27: of an application that neither its type nor its tag lets be suspended nothing is, but by hand; and whom that keeps waiting is
//! told so.

use crate::stage;
use crate::world::{gb, secs, Job, Life, Node, Queue, Shuffle, World};
use hiatus_core::explain::{explain, JobExplanation};
use hiatus_core::fact::Fact;
use hiatus_core::units::{Millis, NodeId};

/// Long tasks everywhere.
fn big(application_type: &str) -> Job {
    Job::new("big").of_type(application_type).tasks(60, secs(300))
}

/// That job, and a small one that comes when it has run for a while: what was suspended and killed for it by then.
fn taken(world: World, big: Job) -> (World, (u64, u64)) {
    let small = Job::new("small").queue(&big.queue).tasks(4, secs(5)).at(secs(30));
    let mut world = world.nodes(2, &Node::of(gb(8))).job(big).job(small);
    world.run_until(secs(40));
    let taken = (world.count.suspended, world.count.preempted);
    (world, taken)
}

fn suspended(world: World, big: Job) -> u64 {
    taken(world, big).1 .0
}

fn explained(world: &World, name: &str) -> JobExplanation {
    explain(world.core()).jobs.into_iter().find(|job| job.application == name).unwrap()
}

#[test]
fn law_27_nothing_is_suspended_of_a_type_that_is_not_listed_and_who_waits_for_it_is_told() {
    for (application_type, of_it) in [("MAPREDUCE", 5), ("SPARK", 5), ("spark", 5), ("YARN", 0), ("Apache Flink", 0)] {
        let (world, taken) = taken(World::new(), big(application_type));
        assert_eq!(taken, (of_it, 0), "{application_type}");
        if of_it == 0 {
            let blocked = explained(&world, "small").blocked_by;
            assert_eq!(blocked, "containers of applications that may not be suspended (suspend-types)");
            let because = format!("its type {application_type} is none of suspend-types");
            assert_eq!(explained(&world, "big").spared_because, Some(because));
            assert_eq!(explained(&world, "small").spared_because, None);
        }
    }
}

#[test]
fn law_27_types_are_listed_for_the_cluster_or_a_queue() {
    let world = |key: &str, types: &str| World::new().property(key, types);
    let of_cluster = "yarn.scheduler.hiatus.suspend-types";
    let of_queue = "yarn.scheduler.capacity.root.default.hiatus.suspend-types";
    for key in [of_cluster, of_queue] {
        assert_eq!(suspended(world(key, "TEZ, yarn"), big("YARN")), 5);
        assert_eq!(suspended(world(key, "*"), big("YARN")), 5);
        assert_eq!(suspended(world(key, "TEZ"), big("MAPREDUCE")), 0);
    }
    assert_eq!(suspended(world(of_cluster, "*").property(of_queue, "TEZ"), big("YARN")), 0);
}

#[test]
fn law_27_anybody_may_say_that_it_can_be_suspended_and_not_that_it_must_not() {
    let (can, must_not) = ("hiatus.suspend=yes", "hiatus.suspend=no");
    assert_eq!(suspended(World::new(), big("YARN").tag(can)), 5);
    assert_eq!(suspended(World::new().set("hints", "ignore"), big("YARN").tag(can)), 0);
    assert_eq!(suspended(World::new(), big("MAPREDUCE").tag(must_not)), 5);
    let (world, taken) = taken(World::new().set("hints-suspend", "honour"), big("MAPREDUCE").tag(must_not));
    assert_eq!(taken, (0, 0));
    assert_eq!(explained(&world, "big").spared_because.as_deref(), Some("its tag hiatus.suspend says so"));
}

#[test]
fn law_27_what_may_not_be_suspended_is_killed_only_where_that_was_asked_for_in_place_of_suspending() {
    for (preemption, killed) in [("wait", 0), ("suspend", 0), ("suspend-or-kill", 0), ("adaptive", 0), ("kill", 5)] {
        let world = World::new().set("mode", "kill").set("preemption", preemption);
        assert_eq!(taken(world, big("YARN")).1, (0, killed), "{preemption}");
    }
    let of_mode = |mode| taken(World::new().set("mode", mode).set("preemption", "kill"), big("YARN")).1;
    assert_eq!(of_mode("suspend"), (0, 0));
}

/// A queue without a job, and then with one, beside that job.
fn two_queues(preemption: &str, big: Job) -> (u64, u64) {
    let world = World::new().queue(Queue::new("root.a", 0.5)).queue(Queue::new("root.b", 0.5));
    let world = world.nodes(2, &Node::of(gb(8))).set("mode", "kill").set("preemption", preemption);
    let mut world = world.job(big.queue("root.a")).job(Job::new("b").queue("root.b").tasks(4, secs(5)).at(secs(30)));
    world.run_until(secs(40));
    (world.count.suspended, world.count.preempted)
}

#[test]
fn law_27_another_queues_guarantee_suspends_nothing_either_and_kills_where_the_queue_says_so() {
    for preemption in ["suspend", "suspend-or-kill", "adaptive"] {
        assert_eq!(two_queues(preemption, big("SPARK")), (5, 0), "{preemption}");
    }
    for (preemption, killed) in [("suspend", 0), ("suspend-or-kill", 5), ("adaptive", 5)] {
        assert_eq!(two_queues(preemption, big("YARN")), (0, killed), "{preemption}");
    }
}

#[test]
fn law_27_orders_over_all_jobs_pass_over_it() {
    let world = || {
        let queues = World::new().queue(Queue::new("root.a", 0.5)).queue(Queue::new("root.b", 0.5));
        queues.nodes(2, &Node::of(gb(8))).set("policy", "fair")
    };
    for victims in ["gp", "evenly", "from-each"] {
        // The younger of two, of which half the cluster goes.
        let spared = Job::new("spared").of_type("YARN").queue("root.a").tasks(6, secs(300)).at(secs(10));
        let other = Job::new("other").queue("root.a").tasks(8, secs(300));
        let b = Job::new("b").queue("root.b").tasks(5, secs(60)).at(secs(60));
        let mut world = world().set("victims", victims).set("gp-class", "non-production").job(other).job(spared).job(b);
        world.run_until(secs(59));
        assert_eq!((world.held("other"), world.held("spared")), (9, 7), "{victims}");
        world.run_until(secs(80));
        assert!(world.suspended("other") > 0 && world.suspended("spared") == 0, "{victims}");
    }
}

#[test]
fn law_27_who_may_not_be_suspended_neither_lends_nor_borrows() {
    let loans = |types: &str| {
        let shuffle = Shuffle { fetch: Millis(0), ramp_up: 1.0 };
        let mut job = Job::new("job").stage(stage(&[60, 60, 62, 60, 60, 60], 1.0)).tasks(1, secs(30)).shuffle(shuffle);
        job.stages[1].slowstart = 0.05;
        let world = World::new().telling_tasks().set("policy", "fifo").set("lend", "maps").set("min-run-ms", "0");
        let mut world =
            world.set("max-suspended-memory", "1").set("suspend-types", types).node(Node::of(gb(4))).job(job);
        world.run();
        explain(world.core()).counters.lent
    };
    assert_eq!((loans("MAPREDUCE"), loans("SPARK")), (1, 0));
}

#[test]
fn law_27_nor_does_it_go_from_a_node_that_became_smaller() {
    let suspended = |application_type: &str| {
        let job = Job::new("big").of_type(application_type).tasks(7, secs(300));
        let mut world = World::new().node(Node::of(gb(8))).set("stall-timeout-ms", "5000").job(job);
        world.run_until(secs(60));
        world.resize(NodeId(0), gb(7));
        world.silence(NodeId(0), secs(20));
        world.tell(Fact::Heartbeat { node: NodeId(0), paused: 0, waiting: 1 });
        world.run_until(secs(67));
        world.suspended("big")
    };
    assert_eq!((suspended("SPARK"), suspended("YARN")), (1, 0));
}

#[test]
fn law_27_who_parks_it_by_hand_is_obeyed() {
    let mut world = World::new().nodes(2, &Node::of(gb(8))).set("max-suspended-memory", "1").job(big("YARN"));
    world.run_until(secs(20));
    world.park("big", true);
    world.run_until(secs(25));
    assert_eq!((world.held("big"), world.suspended("big")), (1, 15));
    world.park("big", false);
    world.run_until(secs(30));
    assert_eq!((world.held("big"), world.suspended("big")), (16, 0));
}

#[test]
fn law_27_what_was_suspended_before_its_queue_forbade_it_goes_on_in_its_turn() {
    let (mut world, taken) = taken(World::new(), big("SPARK"));
    assert_eq!(taken, (5, 0));
    world.configure("suspend-types", "MAPREDUCE");
    world.run_until(secs(60));
    assert_eq!((world.suspended("big"), world.count.preempted), (0, 0));
}

#[test]
fn masters_of_jobs_that_keep_what_they_run_count_in_admission() {
    let let_in = |application_type: &str| {
        let world = World::new().nodes(2, &Node::of(gb(8))).queue(Queue::new("root.default", 1.0).master_share(0.1));
        let one = |id: u32| {
            Job::new(&format!("job{id}")).of_type(application_type).tasks(200, secs(60)).at(secs(u64::from(id) * 10))
        };
        let mut world = (0..6).map(one).fold(world, World::job);
        world.run_until(secs(70));
        world.apps().iter().filter(|app| app.life == Life::Active).count()
    };
    // A tenth is one master of 16, a quarter are four.
    assert_eq!((let_in("SPARK"), let_in("YARN")), (4, 1));
}
