//! The policy in a simulated YARN cluster: heartbeats, ApplicationMasters, suspension. The laws are watched at every step.

use crate::world::{gb, secs, Faults, Job, Node, Stage, Times, World};
use hiatus_core::explain::{explain, JobExplanation, SuspendedExplanation};
use hiatus_core::units::{NodeId, PartitionId};

fn cluster() -> World {
    World::new().nodes(2, &Node::of(gb(8))).set("policy", "hfsp")
}

fn explained(world: &World, name: &str) -> JobExplanation {
    let jobs = explain(world.core()).jobs;
    let of_name: Vec<_> = jobs.into_iter().filter(|job| job.application == name).collect();
    assert_eq!(of_name.len(), 1, "one line per job");
    of_name.into_iter().next().unwrap()
}

#[test]
fn a_tiny_job_does_not_wait_behind_a_big_one_and_nothing_is_killed() {
    let mut world =
        cluster().job(Job::new("big").tasks(60, secs(60))).job(Job::new("tiny").tasks(4, secs(5)).at(secs(100)));
    world.run();
    assert!(world.sojourn("tiny") < secs(20), "{:?}", world.sojourn("tiny"));
    assert_eq!((world.count.suspended, world.count.preempted), (5, 0));
}

#[test]
fn who_suspended_a_container_is_told_even_when_that_one_is_gone_on() {
    let mut world =
        cluster().job(Job::new("big").tasks(60, secs(60))).job(Job::new("tiny").tasks(4, secs(30)).at(secs(100)));
    world.run_until(secs(115));
    assert_eq!((world.claims(), world.suspended("big")), (0, 5));
    let suspended = explain(world.core()).suspended;
    let told = |one: &SuspendedExplanation| one.by.as_deref() == Some("tiny") && one.waits_for == "its job's turn";
    assert!(suspended.len() == 5 && suspended.iter().all(told), "{suspended:?}");
}

#[test]
fn h_04_a_new_job_trains_at_once_and_the_rest_of_it_waits_for_its_turn() {
    let mut world = cluster()
        .set("training-preempts", "on")
        .set("preemption-threshold", "1")
        .job(Job::new("first").tasks(100, secs(30)))
        .job(Job::new("second").tasks(80, secs(30)).at(secs(100)));
    world.run_until(secs(110));
    // T is a quarter of 16 containers; the ApplicationMaster comes on top.
    assert_eq!(world.held("second"), 5);
    let second = explained(&world, "second");
    assert_eq!(second.sizing.as_ref().map(|sizing| sizing.source), Some("training"), "{second:?}");
    assert!(second.blocked_by.ends_with("until its first tasks have told its size"), "{second:?}");
    // Four train until about 132 s, the fifth after them.
    world.run_until(secs(170));
    assert_eq!(explained(&world, "second").sizing.map(|sizing| sizing.source), Some("final"));
    world.run();
    assert_eq!(world.count.preempted, 0);
    let errors = explain(world.core()).estimates;
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().all(|error| (0.8..1.25).contains(&error.ratio)), "{errors:?}");
}

#[test]
fn h_10_training_tasks_are_not_taken_from_the_last_in_order() {
    let mut world = cluster()
        .set("training-preempts", "on")
        .set("preemption-threshold", "1")
        .set("max-suspended-memory", "1") // nobody is spared because memory is full
        .job(Job::new("first").tasks(100, secs(50)))
        .job(Job::new("second").tasks(200, secs(50)).at(secs(100)))
        .job(Job::new("tiny").tasks(4, secs(10)).at(secs(125)));
    world.run_until(secs(130));
    // Of the second, which ranks last, all that train go on, also the one beyond T; the rest is the first's.
    assert_eq!((world.held("tiny"), world.held("second")), (5, 6));
    let cluster = world.core().cluster();
    let phases = cluster.jobs()[&world.app_id("second")].phases.values();
    let first: Vec<_> = phases.flat_map(|phase| phase.first.iter().take(5)).map(|task| task.container).collect();
    assert_eq!(first.len(), 5);
    assert!(first.iter().all(|task| !cluster.containers()[task].state.is_suspended()));
    world.run();
}

#[test]
fn h_10_half_of_what_there_is_may_train_although_others_come_first_until_the_time_out() {
    let held = |nodes, at_s| {
        // Nothing is kept for training: they have what they have because the cluster was empty.
        let cluster = World::new().nodes(nodes, &Node::of(gb(8))).set("policy", "hfsp").set("training-share", "0");
        let mut world = cluster.set("max-suspended-memory", "2").job(Job::new("large").tasks(100, secs(120)));
        for tiny in ["one", "two", "three", "four"] {
            world = world.job(Job::new(tiny).tasks(4, secs(120)).at(secs(20)));
        }
        world.run_until(secs(at_s));
        let held = world.held("large");
        world.run();
        held
    };
    // Beside its master, the five that train, or half, in whole containers, of the three that masters leave.
    assert_eq!([held(2, 50), held(1, 50)], [6, 2]);
    // They have told what they can.
    assert_eq!([held(2, 80), held(1, 80)], [1, 1]);
}

#[test]
fn h_10_a_lost_training_task_is_replaced_by_the_next() {
    let mut world = cluster().job(Job::new("job").tasks(30, secs(40)));
    world.run_until(secs(20));
    let node = *world.nodes_of("job").iter().next_back().unwrap();
    world.lose_node(node);
    world.run_until(secs(70));
    let job = explained(&world, "job");
    assert_eq!(job.sizing.map(|sizing| sizing.source), Some("final"));
    world.run();
}

#[test]
fn h_c15_with_one_of_four_nodes_lost_jobs_age_by_a_quarter_slower_from_the_next_heartbeat_on() {
    // Nothing of it is done before 60 s, so that its first estimate stays.
    let large = Job::new("large").tasks(400, secs(60)).tag("hiatus.size=24000");
    let mut world = World::new().nodes(4, &Node::of(gb(8))).set("policy", "hfsp").job(large);
    let left = |world: &mut World, at: u64, slots: f64| {
        world.run_until(secs(at));
        explained(world, "large").sizing.unwrap().virtual_remaining_s * slots
    };
    let before = left(&mut world, 10, 32.0) - left(&mut world, 20, 32.0);
    world.lose_node(NodeId(3));
    let after = left(&mut world, 22, 24.0) - left(&mut world, 38, 24.0);
    // Plans are at most a second old.
    assert!((before - 320.0).abs() <= 32.0 && (after - 16.0 * 24.0).abs() <= 24.0, "{before} {after}");
}

#[test]
fn hints_and_their_mistakes_are_explained() {
    let mut world = cluster()
        .job(Job::new("hinted").tasks(40, secs(30)).tag("hiatus.size=1200").tag("hiatus.weight=7"))
        .job(Job::new("wrong").tasks(40, secs(30)).tag("hiatus.size=large"));
    world.run_until(secs(20));
    let hinted = explained(&world, "hinted");
    assert_eq!(hinted.wrong_hints, ["hiatus.weight=7: counts as 1, the most here"]);
    let hinted = hinted.sizing.unwrap();
    assert_eq!((hinted.source, (hinted.estimate_s * 16.0).round()), ("hint", 1200.0));
    assert_eq!(explained(&world, "wrong").wrong_hints.len(), 1);
    world.run();
}

#[test]
fn of_a_size_that_was_told_a_partition_counts_what_other_partitions_leave() {
    let reduces = Stage {
        times: Times::Same { count: 10, each: secs(30) },
        size: gb(1),
        partition: Some(PartitionId(1)),
        slowstart: 1.0,
    };
    let mut world = cluster()
        .nodes(1, &Node::of(gb(8)).exclusive_partition(1))
        .job(Job::new("job").tasks(20, secs(30)).stage(reduces).tag("hiatus.size=900"));
    world.run_until(secs(75));
    let jobs = explain(world.core()).jobs;
    let labelled = jobs.into_iter().find(|job| job.partition == 1).and_then(|job| job.sizing).unwrap();
    assert_eq!(labelled.source, "hint");
    let slot_s = labelled.estimate_s * 8.0;
    assert!((250.0..330.0).contains(&slot_s), "20 maps took some 600 s of 900: {slot_s}");
    world.run();
}

#[test]
fn h_12_rules_change_while_jobs_run() {
    let mut world = cluster().job(Job::new("job").tasks(30, secs(40)));
    world.run_until(secs(20));
    world.configure("untrained-factor", "4").configure("training-tasks", "3");
    world.run();
}

#[test]
fn laws_hold_while_everything_goes_wrong() {
    for seed in 0..12 {
        let mut world = World::seeded(seed).nodes(3, &Node::of(gb(8))).set("policy", "hfsp").faults(Faults::ALL);
        for job in 0..8 {
            let tasks = [2, 5, 12, 30][job % 4];
            let new = Job::new(&format!("job{job}")).tasks(tasks, secs(20)).tasks(job, secs(10));
            world = world.job(new.at(secs(25 * job as u64)));
        }
        world.run_until(secs(250)).calm().run();
    }
}
