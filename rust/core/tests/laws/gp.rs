//! Global Preemption: of all jobs of the queues that lose, what began last goes first; and long jobs give way when they starve
//! others. The claims' numbers are those of the specification of GP.

use crate::direct::Direct;
use crate::world::{gb, secs, Job, Node, Queue, Stage, Times, World};
use hiatus_core::explain::explain;
use hiatus_core::fact::Fact;
use hiatus_core::units::{ContainerId, PartitionId};

/// 32 slots for tasks, of which production work is guaranteed 80 %, beside a node for ApplicationMasters.
fn slots() -> World {
    World::new()
        .node(Node::of(gb(16)))
        .nodes(4, &Node::of(gb(8)).exclusive_partition(1))
        .set("policy", "fair")
        .set("mode", "kill")
        .set("preemption", "kill")
        .set("victims", "gp")
        .queue(Queue::new("root.production", 0.8))
        .queue(Queue::new("root.other", 0.2))
}

/// So many tasks of so many seconds in slots.
fn job(name: &str, queue: &str, tasks: u32, seconds: u64, at: u64) -> Job {
    let times = Times::Same { count: tasks, each: secs(seconds) };
    let stage = Stage { times, size: gb(1), partition: Some(PartitionId(1)), slowstart: 1.0 };
    Job::new(name).queue(queue).stage(stage).at(secs(at))
}

/// Two jobs of the other queue in 28 of the slots, the young one with these tags, and production work that needs ten.
fn burst_beside(tags: &[&str]) -> World {
    let young = tags.iter().fold(job("young", "root.other", 12, 2_000, 100), |young, tag| young.tag(tag));
    let old = job("old", "root.other", 16, 2_000, 0);
    slots().job(old).job(young).job(job("burst", "root.production", 10, 20, 200))
}

fn burst() -> World {
    burst_beside(&[])
}

fn lost(world: &World, name: &str) -> u64 {
    world.app(name).spent.lost_tasks
}

/// Tasks that the old and the young job have lost for the burst.
fn lost_for_the_burst(mut world: World) -> (u64, u64) {
    world.run_until(secs(215));
    (lost(&world, "old"), lost(&world, "young"))
}

#[test]
fn algorithm_1_of_all_jobs_those_that_began_last_go_and_no_more_than_are_needed() {
    assert_eq!(lost_for_the_burst(burst()), (0, 6));
}

#[test]
fn evenly_of_every_job_an_equal_part_goes() {
    assert_eq!(lost_for_the_burst(burst().set("victims", "evenly")), (3, 3));
}

#[test]
fn rounded_down_jobs_of_few_tasks_are_spared_and_rounded_up_each_gives_one() {
    let small = || burst().job(job("small", "root.other", 1, 2_000, 150));
    let lost_by = |mut world: World| {
        world.run_until(secs(215));
        ["old", "young", "small"].map(|name| lost(&world, name))
    };
    assert_eq!(lost_by(small().set("victims", "evenly")), [4, 3, 0]);
    assert_eq!(lost_by(small().set("victims", "from-each")), [3, 3, 1]);
}

#[test]
fn section_5_1_only_jobs_above_their_shares_give_if_the_queue_says_so() {
    // 22 slots are left to the other queue, eleven for each job.
    for victims in ["gp", "evenly", "from-each"] {
        assert_eq!(lost_for_the_burst(burst().set("victims", victims).set("gp-candidates", "overshare")), (5, 1));
    }
}

#[test]
fn with_suspension_nothing_is_lost() {
    let mut world = burst().set("preemption", "suspend").set("max-suspended-memory", "1");
    world.run_until(secs(215));
    assert_eq!((world.suspended("old"), world.suspended("young"), world.count.preempted), (0, 6, 0));
}

#[test]
fn a_suspension_does_not_make_a_container_young_again() {
    let mut cluster = Direct::new("order", 1, 2);
    let first = ContainerId(0);
    cluster.asks(0, 1);
    cluster.plan();
    cluster.asks(1, 1);
    cluster.plan();
    let order = |cluster: &Direct| cluster.core.cluster().last_begun(None).collect::<Vec<_>>();
    let before = order(&cluster);
    cluster.tell(Fact::Demoted { container: first });
    cluster.tell(Fact::Promoted { container: first });
    cluster.plan();
    assert_eq!((before[1].1, order(&cluster)), (first, before));
}

#[test]
fn section_5_11_of_those_that_began_at_once_the_larger_handle_goes_first() {
    let mut cluster = Direct::new("order", 1, 1);
    cluster.asks(0, 3);
    cluster.plan();
    let order: Vec<_> = cluster.core.cluster().last_begun(None).map(|(_, id)| id.0).collect();
    assert_eq!(order, [2, 1, 0]);
}

#[test]
fn g9_nothing_is_taken_of_production_work() {
    let class = "yarn.scheduler.capacity.root.other.hiatus.gp-class";
    assert_eq!(lost_for_the_burst(burst().property(class, "production")), (0, 0));
    // By its guarantee this queue is production work, too, and the burst's is not.
    let mut world =
        slots().job(job("production", "root.production", 32, 300, 0)).job(job("other", "root.other", 6, 20, 100));
    world.run_until(secs(250));
    assert_eq!((lost(&world, "production"), world.held("other")), (0, 1));
}

#[test]
fn a_job_may_say_what_it_is_only_where_its_queue_allows_that() {
    let burst = || burst_beside(&["hiatus.gp-class=production"]);
    assert_eq!(lost_for_the_burst(burst()), (0, 6));
    assert_eq!(lost_for_the_burst(burst().set("hints-gp-class", "honour")), (6, 0));
}

#[test]
fn section_5_12_what_was_killed_as_often_as_it_may_be_is_left_alone() {
    let after_bursts = |most: &str| {
        let mut world = burst().set("gp-max-kills", most);
        for n in 1..3 {
            world = world.job(job(&format!("burst{n}"), "root.production", 10, 20, 200 + 60 * n));
        }
        world.run_until(secs(335));
        (lost(&world, "old"), lost(&world, "young"))
    };
    assert_eq!(after_bursts("0"), (0, 18));
    // The second burst takes those that the first one left.
    assert_eq!(after_bursts("1"), (6, 12));
}

/// A job of long tasks in all slots, and two that wait for 36; the rule's times a tenth of the defaults.
fn starving() -> World {
    slots()
        .set("gp-starvation", "on")
        .set("gp-interval-ms", "1000")
        .set("gp-period-ms", "18000")
        .set("gp-timeout-ms", "36000")
        .set("gp-long-task-ms", "50000")
        .job(job("long", "root.other", 32, 2_000, 0))
        .job(job("one", "root.other", 18, 20, 100))
        .job(job("two", "root.other", 18, 20, 100))
}

#[test]
fn section_1_4_a_long_job_that_starves_others_gives_half_of_its_overflow() {
    let mut world = starving();
    world.run_until(secs(115));
    assert_eq!(lost(&world, "long"), 0, "they have not waited for long enough");
    world.run_until(secs(125));
    // 32 slots less its share of 10.67, the half of that, rounded up.
    assert_eq!((lost(&world, "long"), world.count.preempted), (11, 11));
    let told = explain(world.core());
    let of_slots = told.starvation.iter().find(|found| found.partition == 1).unwrap();
    assert_eq!((of_slots.firings, of_slots.busy_time, told.counters.starvation_firings), (1, 1.0, 1));
    assert_eq!(told.counters.killed, 11);
}

#[test]
fn g10_without_a_shortage_only_that_rule_takes_anything() {
    let never = |mut world: World, why: &str| {
        world.run_until(secs(400));
        assert_eq!((world.count.preempted, world.count.suspended), (0, 0), "{why}");
        let told = explain(world.core()).starvation;
        let why_not = told.iter().find(|found| found.partition == 1).map(|found| found.unfulfilled.clone());
        assert!(why_not.is_none_or(|texts| !texts.is_empty()), "{why}");
    };
    never(starving().set("gp-starvation", "off"), "the rule is off");
    never(starving().set("gp-long-task-ms", "1000000"), "1: nobody is long");
    never(starving().set("gp-busy-share", "1"), "2: never more than everything is busy");
    never(starving().set("gp-quality", "0.4"), "3: half as much more would have to wait");
    never(starving().set("gp-single-job", "0.4"), "4: each of two is half of what waits");
}

#[test]
fn what_the_rule_takes_goes_to_jobs_below_their_shares_first_in_order_first() {
    let mut world = starving();
    world.run_until(secs(128));
    // An ApplicationMaster each.
    let (one, two) = (world.held("one") - 1, world.held("two") - 1);
    assert_eq!((one.max(two), one.min(two)), (10, 1), "a share is ten whole containers");
}

#[test]
fn law_8_jobs_that_each_starve_the_other_end_nevertheless() {
    // Everybody is a long job, and starves the other within seconds: they kill each other's tasks in turns, before one of them is done.
    let mut world = slots()
        .set("policy", "las")
        .set("min-run-ms", "0")
        .set("gp-starvation", "on")
        .set("gp-interval-ms", "100")
        .set("gp-period-ms", "1000")
        .set("gp-timeout-ms", "0")
        .set("gp-long-task-ms", "0")
        .job(job("one", "root.other", 40, 60, 0))
        .job(job("two", "root.other", 40, 60, 20));
    world.run();
    assert!(world.count.preempted > 0);
}
