//! BatchMR's placer at work: where tasks start in a cluster of physical and virtual nodes (law 12, which an observer checks in
//! every scenario, too).

use crate::world::{gb, secs, Job, Node, Queue, Stage, Times, World};
use hiatus_core::batchmr::Reason;
use hiatus_core::explain::explain;
use hiatus_core::fact::{Run, Side};
use hiatus_core::units::{Millis, NodeId, PartitionId};

const GB: u64 = 1 << 30;
const TAG: &str = "hiatus.input-bytes=1073741824";

/// Two physical nodes (0 and 1) and two virtual ones (2 and 3) of eight places; computing is as fast there, input and output take
/// twice as long.
fn mixed() -> World {
    let virtual_ = Node::of(gb(8)).on(Side::Virtual).slower(1.0, 2.0);
    World::new().nodes(2, &Node::of(gb(8)).on(Side::Physical)).nodes(2, &virtual_).set("batchmr-placer", "on")
}

fn run(side: Side, seconds: u64) -> Run {
    Run { same_class: true, side, at_ms: 0, took: secs(seconds), nodes: 2, input: GB }
}

/// A job of which both kinds of runs are known: it loses so many per cent on virtual nodes.
fn known(name: &str, loses: u64) -> Job {
    Job::new(name).tag(TAG).ran([run(Side::Physical, 100), run(Side::Virtual, 100 + loses)])
}

fn reason(world: &World, name: &str) -> Option<Reason> {
    world.core().cluster().jobs()[&world.app_id(name)].site.verdict.map(|verdict| verdict.reason)
}

/// Nodes with tasks of the job.
fn task_nodes(world: &World, name: &str) -> Vec<u32> {
    let job = &world.core().cluster().jobs()[&world.app_id(name)];
    let tasks = job.containers.iter().map(|id| &world.core().cluster().containers()[id]);
    let mut nodes: Vec<u32> = tasks.filter(|task| !task.is_master).map(|task| task.node.0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

#[test]
fn a_job_whose_earlier_runs_lost_much_on_virtual_nodes_runs_on_physical_ones_and_any_other_on_virtual_ones() {
    let mut world = mixed().job(known("io", 41).tasks(40, secs(50))).job(known("cpu", 40).tasks(40, secs(50)));
    world.run_until(secs(20));
    assert_eq!((reason(&world, "io"), reason(&world, "cpu")), (Some(Reason::RuleP), Some(Reason::RuleV)));
    assert_eq!((task_nodes(&world, "io"), task_nodes(&world, "cpu")), (vec![0, 1], vec![2, 3]));
    world.run();
}

#[test]
fn without_the_knob_nobody_is_placed_and_nobody_looks() {
    let mut world = mixed().set("batchmr-placer", "off").job(known("io", 100).tasks(40, secs(50)));
    world.run_until(secs(20));
    assert_eq!((reason(&world, "io"), task_nodes(&world, "io")), (None, vec![0, 1, 2, 3]));
    world.run();
}

#[test]
fn switched_off_while_jobs_run_it_lets_them_go() {
    let mut world = mixed().job(known("io", 100).tasks(60, secs(50)));
    world.run_until(secs(20));
    assert_eq!(task_nodes(&world, "io"), [0, 1]);
    world.configure("batchmr-placer", "off");
    world.run_until(secs(25));
    assert_eq!((reason(&world, "io"), task_nodes(&world, "io")), (None, vec![0, 1, 2, 3]));
    world.run();
}

#[test]
fn an_unknown_job_tries_some_tasks_on_each_side_and_goes_on_where_they_took_less() {
    for (name, io, expected, nodes) in
        [("io", 1.0, Reason::SampleP, vec![0, 1]), ("cpu", 0.0, Reason::SampleV, vec![2, 3])]
    {
        let mut world = mixed().set("batchmr-samples", "3").job(Job::new(name).io(io).tasks(60, secs(20)));
        world.run_until(secs(15));
        let started = world.containers_of(name, |container| !container.is_master);
        assert_eq!((reason(&world, name), started), (None, 6), "three on each side, and nobody else: {name}");
        let on_physical = |node: &u32| *node < 2;
        let tried = task_nodes(&world, name);
        assert!(tried.iter().any(on_physical) && !tried.iter().all(on_physical), "{name} on {tried:?}");
        world.run_until(secs(60));
        assert_eq!((reason(&world, name), task_nodes(&world, name)), (Some(expected), nodes), "{name}");
        world.run();
        let spent = world.app(name).spent;
        assert_eq!((spent.lost_tasks, spent.wasted_s), (0, 0.0), "nothing is done twice");
    }
}

#[test]
fn samples_that_take_too_long_are_not_waited_for() {
    let mut world = mixed().set("batchmr-sampling-timeout-ms", "30000").job(Job::new("long").tasks(40, secs(1000)));
    world.run_until(secs(25));
    assert_eq!(world.held("long"), 9);
    world.run_until(secs(40));
    assert_eq!(reason(&world, "long"), Some(Reason::SampleV), "nothing is known: virtual is the default");
    assert_eq!(world.held("long"), 1 + 4 + 16, "its side is full beside what it tried on the other");
    world.run();
}

#[test]
fn a_single_task_has_nothing_to_try_and_runs_on_a_virtual_node() {
    let mut world = mixed().job(Job::new("one").tasks(1, secs(20)));
    world.run_until(secs(10));
    assert_eq!(reason(&world, "one"), Some(Reason::SampleV));
    assert!(task_nodes(&world, "one").iter().all(|node| *node >= 2));
    world.run();
}

#[test]
fn a_users_own_label_wins() {
    let labelled = Node::of(gb(8)).on(Side::Virtual).exclusive_partition(1);
    let mut world = mixed().node(labelled).job(known("io", 100).partition(1).tasks(4, secs(20)));
    world.run_until(secs(10));
    assert_eq!((reason(&world, "io"), task_nodes(&world, "io")), (Some(Reason::Label), vec![4]));
    world.run();
}

#[test]
fn a_lending_partition_of_its_side_serves_a_job_too_and_one_of_the_other_side_does_not() {
    let lent = |side| Node::of(gb(8)).on(side).shared_partition(1);
    let larger = mixed().node(lent(Side::Physical)).node(lent(Side::Virtual)).set("batchmr-cluster-size", "0.5");
    let mut world = larger.job(known("io", 100).tasks(60, secs(50)));
    world.run_until(secs(20));
    assert_eq!(task_nodes(&world, "io"), [0, 1, 4]);
    world.run();
}

#[test]
fn nothing_is_taken_where_the_beneficiary_may_not_run() {
    // Small jobs come before big ones; each big one fills a side, and the small one belongs to the virtual side, where who gives first
    // has most left.
    let mut world = mixed()
        .set("policy", "srpt")
        .job(known("big-io", 100).tasks(60, secs(200)))
        .job(known("big-cpu", 0).tasks(80, secs(200)))
        .job(known("small", 0).tasks(7, secs(30)).at(secs(30)));
    world.run_until(secs(50));
    assert_eq!((world.suspended("big-io"), world.suspended("big-cpu") > 0), (0, true));
    world.run();
    assert!(world.sojourn("small") < secs(60), "{:?}", world.sojourn("small"));
}

#[test]
fn jobs_of_one_side_do_not_use_up_the_targets_of_the_other() {
    // The first job in order wants more than there is, on the physical side; the next two share out the virtual one by rank, and
    // the later of them gives way to the earlier.
    let mut world = mixed()
        .set("policy", "fifo")
        .job(known("first", 100).tasks(100, secs(300)).priority(2))
        .job(known("later", 0).tasks(100, secs(300)))
        .job(known("second", 0).tasks(8, secs(20)).priority(1).at(secs(40)));
    world.run_until(secs(60));
    assert!(world.suspended("later") > 0, "its target is what the others leave of its own side");
    assert_eq!(world.suspended("first"), 0);
    world.run();
}

#[test]
fn idle_room_of_the_other_side_is_used_where_that_is_wanted_and_nobody_there_wants_it() {
    let of = |spill: &str| {
        let io = known("io", 100).tasks(200, secs(50));
        mixed().set("batchmr-spill", spill).job(io).job(known("cpu", 0).tasks(60, secs(20)).at(secs(60)))
    };
    let mut world = of("on");
    world.run_until(secs(30));
    assert_eq!(task_nodes(&world, "io"), [0, 1, 2, 3]);
    world.run_until(secs(150));
    assert_eq!(task_nodes(&world, "cpu").first(), Some(&2), "who belongs there comes first there");
    world.run();
    let mut world = of("off");
    world.run_until(secs(30));
    assert_eq!(task_nodes(&world, "io"), [0, 1]);
    world.run();
}

#[test]
fn who_uses_the_other_sides_idle_room_takes_nothing_there() {
    // The job at home there wants no more than it has, and comes last.
    let mut world = mixed()
        .set("batchmr-spill", "on")
        .set("policy", "fifo")
        .job(known("at-home", 0).tasks(12, secs(200)))
        .job(known("io", 100).tasks(60, secs(50)).priority(1).at(secs(20)));
    world.run_until(secs(60));
    assert!(task_nodes(&world, "io").iter().any(|node| *node >= 2), "it uses what is idle");
    assert_eq!(world.suspended("at-home"), 0);
    world.run();
}

#[test]
fn a_side_that_is_lost_keeps_nobody() {
    let mut world = mixed().job(known("io", 100).tasks(60, secs(50)));
    world.run_until(secs(20));
    world.lose_node(NodeId(0));
    world.lose_node(NodeId(1));
    world.run_until(secs(30));
    assert_eq!(task_nodes(&world, "io"), [2, 3]);
    world.run();
}

#[test]
fn a_container_too_large_for_its_side_runs_on_the_other() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(4)).on(Side::Physical))
        .nodes(2, &Node::of(gb(8)).on(Side::Virtual))
        .set("batchmr-placer", "on")
        .job(known("io", 100).sized_tasks(4, secs(20), gb(6)));
    world.run_until(secs(15));
    assert_eq!(task_nodes(&world, "io"), [2, 3]);
    world.run();
}

#[test]
fn law_8_a_side_on_which_application_masters_leave_no_room_keeps_nobody() {
    // Nobody takes a master's room: its own keeps the job from its side for as long as it lives.
    let ran = [(Side::Physical, 100), (Side::Virtual, 200)].map(|(side, took)| Run { nodes: 1, ..run(side, took) });
    let job = Job { master: gb(9), ..Job::new("io").tag(TAG).ran(ran).sized_tasks(4, secs(20), gb(12)) };
    let mut world = World::new()
        .node(Node::of(gb(12)).on(Side::Physical))
        .node(Node::of(gb(20)).on(Side::Virtual))
        .set("batchmr-placer", "on")
        .job(job);
    world.run_until(secs(15));
    assert_eq!((reason(&world, "io"), task_nodes(&world, "io")), (None, vec![1]));
    world.run();
}

#[test]
fn each_queue_says_for_itself_whether_its_jobs_are_placed() {
    let mut world = mixed()
        .queue(Queue::new("root.a", 0.5))
        .queue(Queue::new("root.b", 0.5))
        .set("batchmr-placer", "off")
        .property("yarn.scheduler.capacity.root.a.hiatus.batchmr-placer", "on")
        .job(known("placed", 100).queue("root.a").tasks(8, secs(50)))
        .job(known("free", 100).queue("root.b").tasks(20, secs(50)));
    world.run_until(secs(20));
    assert_eq!((reason(&world, "placed"), reason(&world, "free")), (Some(Reason::RuleP), None));
    world.run();
}

#[test]
fn a_job_moved_to_a_queue_without_the_placer_may_use_all_nodes_at_once_and_moved_back_keeps_to_its_side_again() {
    let mut world = mixed()
        .queue(Queue::new("root.a", 0.5))
        .queue(Queue::new("root.b", 0.5))
        .set("batchmr-placer", "off")
        .property("yarn.scheduler.capacity.root.a.hiatus.batchmr-placer", "on")
        .job(known("io", 100).queue("root.a").tasks(200, secs(20)));
    let app = world.app_id("io");
    world.run_until(secs(15));
    assert_eq!((reason(&world, "io"), task_nodes(&world, "io")), (Some(Reason::RuleP), vec![0, 1]));
    world.change_job(app, "root.b", 0);
    world.run_until(secs(18));
    assert_eq!((reason(&world, "io"), task_nodes(&world, "io")), (None, vec![0, 1, 2, 3]));
    world.change_job(app, "root.a", 0);
    world.run_until(secs(60));
    assert_eq!((reason(&world, "io"), task_nodes(&world, "io")), (Some(Reason::RuleP), vec![0, 1]));
    world.run();
}

#[test]
fn a_large_ask_for_a_label_waits_no_longer_for_being_on_what_would_be_the_wrong_side() {
    let large = |partition| Stage {
        times: Times::Same { count: 2, each: secs(20) },
        size: gb(7),
        partition: Some(PartitionId(partition)),
        slowstart: 1.0,
    };
    let late = known("io", 100).at(secs(30)).priority(1);
    // One asks for the label alone; the other's first tasks do not, and keep to physical nodes.
    let jobs = [
        (late.clone().partition(1).stage(large(1)), Reason::Label),
        (late.tasks(4, secs(20)).stage(large(1)), Reason::RuleP),
    ];
    for (job, expected) in jobs {
        let run = |placer: &str| {
            // Small tasks that end one after the other: seven places of one node are never free by themselves.
            let uneven = (0..400).map(|task| secs(10 + 7 * task % 20)).collect();
            let small = Stage { times: Times::Each(uneven), size: gb(1), partition: None, slowstart: 1.0 };
            let labelled = Node::of(gb(8)).on(Side::Virtual).exclusive_partition(1);
            let mut world = mixed()
                .nodes(2, &labelled)
                .set("batchmr-placer", placer)
                .set("policy", "fifo")
                .set("mode", "order")
                .job(Job::new("small").partition(1).stage(small))
                .job(job.clone());
            world.run_until(secs(60));
            let reason = reason(&world, "io");
            world.run();
            (reason, world.sojourn("io"))
        };
        let ((on, placed), (off, free)) = (run("on"), run("off"));
        assert_eq!((on, off), (Some(expected), None));
        assert!(placed <= free, "{expected:?}: {placed:?}, without the placer {free:?}");
    }
}

#[test]
fn placed_or_not_a_job_of_one_node_class_waits_no_longer_than_before() {
    let finish = |placer: &str| -> Millis {
        let plain = World::new().nodes(2, &Node::of(gb(8))).set("batchmr-placer", placer);
        let mut world = plain.job(known("io", 100).tasks(40, secs(50)));
        world.run();
        world.sojourn("io")
    };
    assert_eq!(finish("on"), finish("off"), "without two sides there is nothing to choose");
}

#[test]
fn the_explanation_tells_the_verdict_and_what_was_compared() {
    let mut world = mixed().job(known("io", 100).tasks(40, secs(50))).job(Job::new("new").tasks(40, secs(50)));
    world.run_until(secs(10));
    let told = explain(world.core()).jobs;
    let site = |name: &str| &told.iter().find(|job| job.application == name).unwrap().site;
    let (io, new) = (site("io"), site("new"));
    assert_eq!((io.side, io.reason, io.runs), (Some("physical"), Some(Reason::RuleP), 2));
    assert_eq!(io.times.map(|times| times.virtual_s), Some(200.0));
    assert_eq!((new.side, new.reason, new.sampling), (None, None, true));
    world.run();
}
