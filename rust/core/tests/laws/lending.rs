//! Idle reduces lend their rooms to maps (Predoop). The observers check laws 13 to 16 after every step.

use crate::world::{gb, secs, Job, Node, Shuffle, Stage, Times, World};
use hiatus_core::explain::explain;
use hiatus_core::fact::{Fact, TaskReport};
use hiatus_core::predoop;
use hiatus_core::units::{ContainerId, Millis, Resource};
use std::collections::BTreeMap;

/// Reduces are asked for as soon as a map is done, and fetch what it made at once.
const EARLY: Shuffle = Shuffle { fetch: Millis(0), ramp_up: 1.0 };

fn map_reduce(name: &str, maps: &[u64], reduces: usize, reduce_s: u64) -> Job {
    let times = Times::Each(maps.iter().map(|map| secs(*map)).collect());
    let mut job = Job::new(name)
        .stage(Stage { times, size: gb(1), partition: None, slowstart: 1.0 })
        .tasks(reduces, secs(reduce_s))
        .shuffle(EARLY);
    job.stages[1].slowstart = 0.05;
    job
}

/// FIFO, where nothing is suspended but what lends and what had borrowed.
fn lending() -> World {
    World::new()
        .telling_tasks()
        .set("policy", "fifo")
        .set("preemption", "wait")
        .set("lend", "maps")
        .set("min-run-ms", "0")
        .set("min-resumed-ms", "0")
        .set("max-suspended-memory", "1")
}

/// Six maps of about a minute and a reduce, with room for three tasks: the reduce waits for the last three maps.
fn one_idle_reduce() -> World {
    lending().node(Node::of(gb(4))).job(map_reduce("job", &[60, 60, 62, 60, 60, 60], 1, 30))
}

/// Pairs of borrower and lender.
fn loans(world: &World) -> Vec<(ContainerId, ContainerId)> {
    let containers = world.core().cluster().containers();
    let mut loans: Vec<_> =
        containers.iter().filter_map(|(id, found)| found.lender.map(|lender| (*id, lender))).collect();
    loans.sort_unstable();
    loans
}

fn reduce_of(world: &World, name: &str) -> ContainerId {
    let cluster = world.core().cluster();
    let containers = cluster.jobs()[&world.app_id(name)].containers.iter();
    let mut reduces = containers.filter(|id| cluster.containers()[id].phase.is_of_reduces());
    *reduces.next().unwrap()
}

fn nothing_was_lost(world: &World) {
    assert_eq!((world.count.preempted, world.count.expired), (0, 0));
    assert!(world.apps().iter().all(|app| app.spent.lost_tasks == 0));
    assert_eq!(world.count.suspended, world.count.resumed);
}

#[test]
fn law_14_an_idle_reduce_is_suspended_and_a_map_runs_in_its_room() {
    let mut world = one_idle_reduce();
    world.run_until(secs(80));
    assert_eq!((world.held("job"), world.suspended("job")), (4, 1));
    assert_eq!(loans(&world).len(), 1);
    let suspended = explain(world.core()).suspended;
    assert_eq!((suspended[0].reason, suspended[0].waits_for), ("lent", "enough maps of its job to be done"));
    world.run();
    nothing_was_lost(&world);
    let with = world.sojourn("job");
    let without = one_idle_reduce().set("lend", "off").run().sojourn("job");
    assert!(with + secs(40) < without, "{with:?}, without lending {without:?}");
}

#[test]
fn p10_a_lender_comes_back_when_d_r_of_the_missing_maps_is_done_and_no_borrower_writes() {
    let mut world = one_idle_reduce();
    world.run_until(secs(100));
    let lender = reduce_of(&world, "job");
    assert!(world.core().cluster().is_suspended(lender));
    // Its own two maps are done soon after 120 s; what borrowed began some seconds later, and writes by then.
    while world.core().cluster().is_suspended(lender) {
        let next = world.now() + Millis(200);
        world.run_until(next);
    }
    assert!(world.now() > secs(120) && world.now() < secs(130), "{:?}", world.now());
    assert_eq!(world.core().cluster().tally().recalled, 0);
}

#[test]
fn off_is_the_default_and_a_job_that_does_not_tell_lends_nothing() {
    for mut world in [
        one_idle_reduce().set("lend", "off"),
        World::new().set("policy", "fifo").set("lend", "maps").node(Node::of(gb(4))).job(map_reduce(
            "job",
            &[60, 60, 62, 60, 60, 60],
            1,
            30,
        )),
        one_idle_reduce().set("mode", "order"),
    ] {
        world.run();
        assert_eq!(world.count.suspended, 0);
    }
}

/// Three jobs with uneven maps, one after the other, on nodes of three tasks.
fn uneven_jobs() -> World {
    let maps: Vec<u64> = (0..30).map(|map| 20 + (map * 37) % 90).collect();
    let jobs = ["one", "two", "three"].map(|name| map_reduce(name, &maps, 4, 20));
    lending().nodes(4, &Node::of(gb(4))).jobs(&jobs)
}

#[test]
fn who_borrowed_is_suspended_when_the_lender_comes_back_and_goes_on_in_its_turn() {
    let mut world = uneven_jobs();
    world.run();
    let tally = *world.core().cluster().tally();
    assert!(tally.lent > 5 && tally.recalled > 0, "{tally:?}");
    assert_eq!(tally.suspended, tally.lent + tally.recalled);
    nothing_was_lost(&world);
    let mean = |world: &World| world.outcome().mean_sojourn_s(|_| true);
    let without = mean(uneven_jobs().set("lend", "off").run());
    assert!(mean(&world) < without, "{} s, {without} s without lending", mean(&world));
}

#[test]
fn a_loan_that_nobody_wants_lasts_until_it_was_unused_for_twice_what_a_resume_takes() {
    let world = uneven_jobs().set("lend-threshold", "0").set("lend-resume-part", "1");
    let mut world = world.set("max-suspension-ms", "3600000");
    // When each loan was last seen used, or was not there yet; and its terms.
    let (mut last, mut early) = (BTreeMap::<ContainerId, (Millis, predoop::Terms)>::new(), 0);
    while world.now() < secs(1_000) {
        let (before, now) = (world.now(), world.now() + Millis(100));
        world.run_until(now);
        let cluster = world.core().cluster();
        last.retain(|lender, (used, terms)| {
            let job = cluster.containers().get(lender).map(|reduce| &cluster.jobs()[&reduce.app]);
            let ended = cluster.loan(*lender).is_none();
            if ended && job.is_some_and(|job| job.maps_to_do() > 0 && !terms.are_met(1.0, job.maps_succeeded())) {
                early += 1;
                let unused = now.since(*used);
                assert!(unused >= predoop::LEAST_UNUSED, "{lender:?} lends no more at {now:?}, unused for {unused:?}");
            }
            !ended
        });
        for (lender, loan) in cluster.nodes().values().flat_map(|node| &node.loans) {
            let (used, _) = last.entry(*lender).or_insert((before, loan.terms));
            if loan.is_used() {
                *used = now;
            }
        }
    }
    assert!(early > 0, "no loan ends early: this test shows nothing");
    world.run();
    nothing_was_lost(&world);
}

#[test]
fn p10_no_deadlock_on_one_node_with_d_r_of_100_percent_and_all_maps_pending() {
    for room in [3, 4, 5] {
        for part in ["0", "0.4", "1"] {
            let mut world = lending().set("lend-resume-part", part).node(Node::of(gb(room))).job(map_reduce(
                "job",
                &[30, 60, 20, 45, 70, 30],
                2,
                10,
            ));
            world.run();
            assert_eq!((world.count.preempted, world.count.expired), (0, 0));
        }
    }
}

/// Found by `hiatus reproduce predoop-idle`: reduces held all the room of a node, on which as much was suspended as may be, and there
/// the last map of their job, for five minutes, until it was killed.
#[test]
fn p10_where_reduces_hold_all_room_the_maps_they_wait_for_change_places_with_one() {
    for (map_mb, reduce_mb, reduces, suspended) in [(1024, 1024, 3, "0.25"), (512, 1536, 2, "0.375")] {
        for shape in 0..60 {
            let maps: Vec<u64> = (0..7).map(|map| 20 + (shape * 7 + map * 13) % 60).collect();
            let mut job = map_reduce("job", &maps, reduces, 20);
            job.stages[0].size = Resource::new(map_mb, 0);
            job.stages[1].size = Resource::new(reduce_mb, 0);
            let world = lending().set("lend-threshold", "0").set("max-suspended-memory", suspended);
            let mut world = world.node(Node::of(gb(4))).job(job);
            world.run();
            nothing_was_lost(&world);
            assert!(world.now() < secs(400), "maps of {maps:?} s take until {:?}", world.now());
        }
    }
}

#[test]
fn law_6_a_loan_ends_by_its_deadline() {
    let mut world = lending()
        .set("max-suspension-ms", "40000")
        .set("min-resumed-ms", "30000")
        .node(Node::of(gb(4)))
        .job(map_reduce("job", &[60, 60, 62, 600, 600, 600], 1, 30));
    world.run_until(secs(100));
    let lender = reduce_of(&world, "job");
    assert!(world.core().cluster().is_suspended(lender));
    world.run_until(secs(115));
    assert!(!world.core().cluster().is_suspended(lender));
    world.run();
    assert_eq!((world.count.preempted, world.count.expired), (0, 0));
}

/// Found by fuzzing: reduces held all room but what one lent to the last map. When that one's time was over the map was suspended,
/// another lent it its room, and before that could be used the map was killed for being kept out of its home; again and again.
#[test]
fn law_8_a_map_to_which_the_next_reduce_lends_is_not_kept_out_of_its_home() {
    let mut world = lending()
        .set("preemption", "suspend")
        .set("resume-locality-ms", "0")
        .set("max-suspension-ms", "20000")
        .node(Node::of(gb(1)))
        .nodes(2, &Node::of(gb(3)))
        .job(map_reduce("job", &[10, 10, 10, 10, 10, 90], 6, 10));
    world.run_until(secs(60));
    let mut containers = world.core().cluster().containers().values();
    let home = containers.find(|one| one.phase.is_of_maps()).unwrap().node;
    world.lose_node(home);
    world.relabel(home, 2);
    world.run();
    assert_eq!((world.count.preempted, world.count.expired), (0, 0));
    assert!(world.count.suspended > 6, "reduces lend in turns");
}

#[test]
fn a_lender_that_is_parked_lends_no_more_and_is_woken_like_any_other() {
    let mut world = one_idle_reduce();
    world.run_until(secs(80));
    let lender = reduce_of(&world, "job");
    world.park_container(lender, true);
    world.run_until(secs(82));
    assert!(loans(&world).is_empty() && world.core().cluster().loan(lender).is_none());
    world.run_until(secs(150));
    assert!(world.core().cluster().is_suspended(lender));
    world.park_container(lender, false);
    world.run();
    nothing_was_lost(&world);
}

#[test]
fn lenders_come_back_when_lending_is_switched_off() {
    let mut world = one_idle_reduce();
    world.run_until(secs(80));
    assert_eq!(loans(&world).len(), 1);
    world.configure("lend", "off");
    world.run_until(secs(90));
    assert_eq!((loans(&world).len(), world.core().cluster().tally().recalled), (0, 1));
    assert!(!world.core().cluster().is_suspended(reduce_of(&world, "job")));
    world.run();
    nothing_was_lost(&world);
}

#[test]
fn law_10_after_a_restart_what_lent_goes_on_and_nothing_is_lost() {
    let mut world = uneven_jobs();
    for at in [60, 100, 140] {
        world.run_until(secs(at));
        world.restart();
    }
    world.run();
    assert_eq!((world.count.preempted, world.count.expired), (0, 0));
}

#[test]
fn words_that_cannot_be_true_or_are_of_another_kind_of_task_are_counted_and_change_nothing() {
    let mut world = one_idle_reduce();
    world.run_until(secs(66));
    let (strange, reduce) = (world.core().cluster().tally().strange_facts, reduce_of(&world, "job"));
    let shuffle = |fetched, done, total| TaskReport::Shuffle(predoop::Shuffle { fetched, done, total });
    let job = &world.core().cluster().jobs()[&world.app_id("job")];
    let (master, _) = job.master.unwrap();
    for (container, report) in [
        (reduce, shuffle(9, 3, 6)),
        (reduce, shuffle(3, 9, 6)),
        (reduce, TaskReport::Map { read: 0.5, partitions: false }),
        (reduce, TaskReport::Map { read: f64::NAN, partitions: false }),
        (master, shuffle(3, 3, 6)),
        (ContainerId(u32::MAX), shuffle(3, 3, 6)),
    ] {
        world.tell(Fact::TaskReport { container, report });
    }
    let told = world.core().cluster().containers()[&reduce].last_report;
    world.run_until(secs(66) + Millis(10));
    assert_eq!(world.core().cluster().tally().strange_facts, strange + 6);
    let now = world.core().cluster().containers()[&reduce].last_report;
    assert!(now.is_none_or(|now| told.is_none_or(|told| told.report == now.report)), "{told:?}, {now:?}");
}

#[test]
fn a_queue_that_does_not_lend_does_not_borrow_either() {
    let mut world = lending()
        .set("lend", "off")
        .property("yarn.scheduler.capacity.root.a.hiatus.lend", "maps")
        .queue(crate::world::Queue::new("root.a", 0.5))
        .queue(crate::world::Queue::new("root.b", 0.5))
        .nodes(2, &Node::of(gb(4)))
        .job(map_reduce("lends", &[60, 60, 62, 600, 600], 2, 30).queue("root.a"))
        .job(map_reduce("other", &[60; 20], 2, 30).queue("root.b"));
    while world.now() < secs(600) {
        let next = world.now() + secs(1);
        world.run_until(next);
        let (cluster, other) = (world.core().cluster(), world.app_id("other"));
        assert!(loans(&world).iter().all(|(borrower, _)| cluster.containers()[borrower].app != other));
        assert!(cluster.lent().all(|(_, lender)| lender.app != other));
    }
    world.run();
}
