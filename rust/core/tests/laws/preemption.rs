//! Who is taken from, and how much.

use crate::stage;
use crate::world::{gb, secs, Job, Node, Stage, Times, World};
use hiatus_core::units::{NodeId, PartitionId};

#[test]
fn law_5_a_small_container_is_spared_when_a_larger_one_has_to_go_anyway() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "fifo")
        .set("max-suspended-memory", "1")
        .job(Job::new("cat").sized_tasks(1, secs(100), gb(4)))
        .job(Job::new("mouse").tasks(1, secs(100)).at(secs(5)))
        .job(Job::new("dog").sized_tasks(2, secs(10), gb(4)).at(secs(20)).priority(5));
    world.run_until(secs(28));
    assert_eq!((world.suspended("cat"), world.suspended("mouse")), (1, 0));
    world.run();
}

/// A small job that comes at `at` while the first tasks of a big one, of 60 s, run everywhere.
fn taken_at(at: u64, preemption: &str) -> (u64, u64) {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("mode", "kill")
        .set("preemption", preemption)
        .job(Job::new("big").tasks(60, secs(60)))
        .job(Job::new("small").tasks(4, secs(5)).at(secs(at)));
    world.run_until(secs(at + 4));
    (world.count.suspended, world.count.preempted)
}

#[test]
fn the_primitive_is_the_losing_queues_choice_also_where_nodes_can_suspend() {
    assert_eq!(taken_at(30, "wait"), (0, 0));
    assert_eq!(taken_at(30, "suspend"), (5, 0));
    assert_eq!(taken_at(30, "suspend-or-kill"), (5, 0));
    assert_eq!(taken_at(30, "kill"), (0, 5));
}

#[test]
fn gap_22_adaptive_kills_what_has_just_begun_waits_for_what_is_almost_done_and_suspends_the_rest() {
    // Tasks begin at about 3 s, and what takes their places at about 63 s.
    assert_eq!(taken_at(6, "adaptive"), (0, 5));
    assert_eq!(taken_at(30, "adaptive"), (5, 0));
    assert_eq!(taken_at(56, "adaptive"), (0, 0));
}

/// A job of three older containers of 1 GiB, which are almost done, and two younger ones of 2 GiB, which are not: how many
/// of each are suspended for one of 1 GiB.
fn victim_under(victims: &str) -> (usize, usize) {
    let mut job = Job::new("mixed").sized_tasks(2, secs(600), gb(2)).tasks(4, secs(40)).at_once();
    job.stages[1].times = Times::Each(vec![secs(1), secs(40), secs(40), secs(40)]);
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .telling_progress()
        .set("policy", "fifo")
        .set("victims", victims)
        .job(job)
        .job(Job::new("urgent").tasks(0, secs(1)).at(secs(30)).priority(5));
    world.run_until(secs(29));
    assert_eq!(world.held("mixed"), 6);
    world.run_until(secs(31));
    let of = |size| world.containers_of("mixed", |container| !container.counted && container.phase.resource == size);
    (of(gb(1)), of(gb(2)))
}

#[test]
fn p_08_of_the_last_job_the_youngest_the_smallest_or_the_most_advanced_goes_first() {
    assert_eq!(victim_under("youngest"), (0, 1));
    assert_eq!(victim_under("smallest-memory"), (1, 0));
    assert_eq!(victim_under("nearest-to-completion"), (1, 0));
}

#[test]
fn p_08_or_those_of_the_job_with_most_left_to_do_whatever_its_rank() {
    let suspended_under = |victims: &str| {
        let mut world = World::new()
            .nodes(2, &Node::of(gb(8)))
            .set("policy", "fifo")
            .set("victims", victims)
            .job(Job::new("large").tasks(9, secs(600)))
            .job(Job::new("little").tasks(5, secs(600)).at(secs(10)))
            .job(Job::new("urgent").tasks(11, secs(60)).at(secs(30)).priority(5));
        world.run_until(secs(29));
        assert_eq!((world.held("large"), world.held("little")), (10, 6));
        world.run_until(secs(40));
        (world.suspended("large"), world.suspended("little"))
    };
    // Nodes may keep eight of the twelve that the urgent job could use.
    let (large, little) = suspended_under("youngest");
    let (more, fewer) = suspended_under("largest-job");
    assert!(more > large && fewer < little && large + little == 8, "{large} {little}, {more} {fewer}");
}

#[test]
fn law_8_jobs_that_kill_each_others_work_end_nevertheless() {
    // The one that got less goes first: each overtakes the other before a task of 60 s is done.
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .set("policy", "las")
        .set("mode", "kill")
        .set("preemption", "kill")
        .set("min-run-ms", "0")
        .job(Job::new("one").tasks(14, secs(60)))
        .job(Job::new("two").tasks(14, secs(60)).at(secs(20)));
    world.run();
    assert!(world.count.preempted > 0);
}

#[test]
fn law_8_jobs_that_kill_each_others_work_as_it_begins_end_nevertheless() {
    // Room for one task. The heartbeat that tells that it began finds its job ahead: it goes, and has run for no time at all.
    let late = |name| Job::new(name).sized_tasks(2, secs(30), gb(8)).launch_delay(secs(4));
    let mut world = World::new()
        .node(Node::of(gb(12)))
        .heartbeat(secs(2))
        .set("policy", "las")
        .set("mode", "kill")
        .set("preemption", "kill")
        .set("min-run-ms", "0")
        .set("plan-interval-ms", "0")
        .set("preemption-threshold", "1")
        .job(late("one"))
        .job(late("two").at(secs(20)));
    world.run();
    assert!(world.count.preempted > 0);
}

#[test]
fn law_8_what_is_lost_with_its_node_was_not_killed_and_protects_nothing() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .set("policy", "fifo")
        .set("max-suspended-memory", "1")
        .job(Job::new("service").tasks(30, secs(5_000)))
        .job(Job::new("small").tasks(4, secs(5)).at(secs(1_000)).priority(1));
    world.run_until(secs(20));
    let cluster = world.core().cluster();
    let master = cluster.jobs()[&world.app_id("service")].master.map(|(master, _)| cluster.containers()[&master].node);
    let other = if master == Some(NodeId(0)) { NodeId(1) } else { NodeId(0) };
    for round in 1..=12 {
        world.lose_node(other);
        world.run_until(secs(20 + 60 * round));
    }
    world.run_until(secs(1_012));
    assert!(world.count.suspended >= 4, "{}", world.count.suspended);
}

#[test]
fn law_8_reduces_that_hold_what_a_map_needs_anew_are_given_up_one_by_one() {
    // One is too small for it, and MapReduce lets the map wait for 300 s before it gives up the next.
    let stage = |times_s: &[u64], size| Stage { size, partition: Some(PartitionId(1)), ..stage(times_s, 0.0) };
    let mut world = World::new()
        .node(Node::of(gb(4)))
        .nodes(2, &Node::of(gb(4)).exclusive_partition(1))
        .job(Job::new("job").stage(stage(&[10, 60], gb(4))).stage(stage(&[5; 8], gb(1))));
    world.run_until(secs(30));
    let with = |count| {
        [NodeId(1), NodeId(2)].into_iter().find(|node| world.containers_of("job", |one| one.node == *node) == count)
    };
    let (of_map, of_reduces) = (with(1).unwrap(), with(4).unwrap());
    assert_ne!(of_map, of_reduces);
    world.lose_node(of_map);
    world.relabel(of_map, 2);
    world.run();
    assert!(world.sojourn("job") > secs(300));
}
