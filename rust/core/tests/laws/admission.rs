//! Law 26: a small job is let in beside big ones, whatever `maximum-am-resource-percent` says; room for a container of
//! each is left; and those that wait come by priority and then by the policy's order.

use crate::world::{gb, secs, Job, Life, Node, Queue, World};
use hiatus_core::explain::explain;
use hiatus_core::recurring::{Record, Tasks};
use hiatus_core::units::Millis;
use proptest::prelude::*;

/// Big jobs, one a second, where ApplicationMasters may hold that part of the queue.
fn bigs(world: World, count: u32, master_share: f64) -> World {
    let queue = Queue::new("root.default", 1.0).master_share(master_share);
    let big = |id: u32| Job::new(&format!("big{id}")).tasks(200, secs(60)).at(secs(id.into()));
    (0..count).map(big).fold(world.queue(queue), World::job)
}

fn let_in(world: &World) -> usize {
    world.apps().iter().filter(|app| app.life == Life::Active).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_26_a_small_job_is_let_in_beside_big_ones_and_room_is_left_for_a_container_of_each(
        policy in prop::sample::select(vec!["hfsp", "srpt"]),
        (nodes, node_gb) in (1..6usize, 8..17i64),
        part in 0.0..1.0f64,
        master_share in 0.01..0.3f64,
        at in 40..400u32,
    ) {
        let containers = nodes as i64 * node_gb;
        let most = containers / 4;
        let count = 1 + (part * (most - 2) as f64) as u32;
        let world = World::new().nodes(nodes, &Node::of(gb(node_gb))).set("policy", policy);
        let small = Job::new("small").tasks(2, secs(5)).at(secs(at.into()));
        let mut world = bigs(world, count, master_share).job(small);
        let by_limit = (master_share * containers as f64) as i64;
        for now in 1..430 {
            world.run_until(secs(now));
            let inside = let_in(&world) as i64;
            prop_assert!(inside <= most.max(by_limit).max(1), "{inside} of {containers} at {now} s");
        }
        let started = world.app("small").first_master.map(|began| began.since(secs(at.into())));
        prop_assert!(started.is_some_and(|waited| waited <= secs(10)), "{count} big ones, {containers} containers, at {at} s: {started:?}");
    }
}

#[test]
fn law_26_at_a_share_of_nothing_and_where_all_keep_what_they_run_the_limit_holds() {
    let world = || World::new().nodes(2, &Node::of(gb(8)));
    let mut strict = bigs(world().set("max-am-share", "0"), 12, 0.2);
    strict.run_until(secs(100));
    assert_eq!(let_in(&strict), 3);
    let jobs = explain(strict.core()).jobs;
    let last = jobs.iter().find(|job| job.application == "big11").map(|job| job.blocked_by.to_string());
    assert!(last.as_ref().is_some_and(|why| why.starts_with("being let in")), "{last:?}");
    // Everybody has an equal share, and runs; who has just come, and waits for its share, does not count yet.
    let mut fair = bigs(world().set("policy", "fair"), 12, 0.2);
    fair.run_until(secs(100));
    assert_eq!(let_in(&fair), 4);
}

/// When the ApplicationMasters of those that had to wait for the first started, in the order in which they came.
fn waiting(policy: &str, jobs: [Job; 4]) -> [Millis; 4] {
    let world = World::new().node(Node::of(gb(8))).set("policy", policy).set("max-am-share", "0");
    let names = jobs.each_ref().map(|job| job.name.clone());
    let mut world =
        jobs.map(|job| job.tasks(4, secs(10)).at(secs(5))).into_iter().fold(bigs(world, 1, 0.0), World::job);
    world.run();
    names.map(|name| world.app(&name).first_master.unwrap())
}

#[test]
fn those_that_wait_come_by_priority_and_then_by_what_is_known_of_their_sizes() {
    let ran = |each: u64| {
        let tasks = vec![Tasks { priority: 20, count: 4, time: Millis(4 * each * 1_000) }];
        move |job: Job| {
            let class = job.class();
            job.recalls(&[Record { class, at_ms: 1, input: 0, sides: vec![], tasks: tasks.clone() }])
        }
    };
    let jobs = || {
        [
            ran(900)(Job::new("long-1")),
            Job::new("tagged").tag("hiatus.size=400"),
            ran(10)(Job::new("short-1")),
            Job::new("urgent").priority(5).tag("hiatus.size=99999"),
        ]
    };
    for policy in ["hfsp", "srpt"] {
        let [long, tagged, short, urgent] = waiting(policy, jobs());
        assert!(urgent < short && short < tagged && tagged < long, "{policy}: {:?}", (urgent, short, tagged, long));
    }
    let [long, tagged, short, urgent] = waiting("fifo", jobs());
    assert!(urgent < long && long < tagged && tagged < short, "{:?}", (urgent, long, tagged, short));
}

#[test]
fn who_is_let_in_stays_in_when_the_resource_manager_comes_back() {
    let mut world = bigs(World::new().nodes(2, &Node::of(gb(16))), 7, 0.1);
    world.run_until(secs(300));
    assert_eq!(let_in(&world), 7);
    world.restart();
    world.run_until(secs(360));
    assert_eq!(let_in(&world), 7);
    world.run();
}
