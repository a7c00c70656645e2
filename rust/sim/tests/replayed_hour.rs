//! An hour of a busy cluster as the ResourceManager would have recorded it: the same decisions come out of the log, byte for byte.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use hiatus_core::decision::Decision;
use hiatus_core::fact::{Exit, Fact, Found, PhaseKey, Rejection};
use hiatus_core::units::{Millis, Resource};
use hiatus_sim::cluster::testbed::{Room, Testbed};
use hiatus_sim::cluster::{Preemption, World};
use hiatus_sim::recorded::replay::{replay, Replayed};
use hiatus_sim::workload::cluster::{Bins, Mix};
use hiatus_wire::convert;
use hiatus_wire::layout::{self, Record, ABI};
use hiatus_wire::log::Log;
use hiatus_wire::session::Session;

/// As the Java side writes it; nothing of history, tasks' own reports and parking, of which this cluster has none.
fn write(fact: &Fact, out: &mut Vec<u8>) {
    let reason = |reason: Rejection| {
        use Rejection::{Gone, Limit, Locality, Observed, Room};
        [Locality, Limit, Room, Gone, Observed].iter().position(|one| *one == reason).unwrap() as u32
    };
    match fact {
        Fact::Node(fact) => {
            let (node, memory_mb, vcores) = (fact.node.0, fact.total.memory_mb, fact.total.vcores);
            let flags = u32::from(fact.shareable) | u32::from(fact.can_suspend) << 1;
            let partition = fact.partition.0;
            layout::Node { node, memory_mb, vcores, partition, flags, ram_and_swap_mb: 0 }.write("", out);
        }
        Fact::Heartbeat { node, paused, waiting } => {
            layout::Heartbeat { node: node.0, paused: *paused, waiting: *waiting }.write("", out);
        }
        Fact::Queue(fact) => {
            let flags = u32::from(fact.parent.is_some())
                | u32::from(fact.preemptable) << 1
                | u32::from(fact.preemptable_within) << 2;
            let parent = fact.parent.map_or(0, |parent| parent.0);
            layout::Queue { queue: fact.queue.0, parent, flags }.write(&fact.path, out);
        }
        Fact::QueueShare { queue, partition, guaranteed, maximum } => {
            let (queue, partition) = (queue.0, partition.0);
            layout::QueueShare { queue, partition, guaranteed: *guaranteed, maximum: *maximum }.write("", out);
        }
        Fact::UserLimits { queue, sure, most } => {
            layout::UserLimits { queue: queue.0, sure: *sure, most: *most }.write("", out);
        }
        Fact::App(fact) => {
            let flags = u32::from(fact.unmanaged);
            let (told_at_ms, job_class) = (fact.told_at_ms.cast_signed(), fact.class.0.cast_signed());
            let (app, queue, user, priority) = (fact.app.0, fact.queue.0, fact.user.0, fact.priority);
            let lines: Vec<&str> =
                [&fact.name, &fact.application_type].into_iter().chain(&fact.tags).map(String::as_str).collect();
            layout::App { app, queue, user, priority, told_at_ms, flags, job_class }.write(&lines.join("\n"), out);
        }
        Fact::AppActive { app, active } => {
            layout::AppActive { app: app.0, active: u32::from(*active) }.write("", out);
        }
        Fact::AttemptEnded { app, keep_containers } => {
            layout::AttemptEnded { app: app.0, keep_containers: u32::from(*keep_containers) }.write("", out);
        }
        Fact::AppRemoved { app, succeeded } => {
            layout::AppRemoved { app: app.0, succeeded: u32::from(*succeeded) }.write("", out);
        }
        Fact::AsksReplaced { app } => layout::AsksReplaced { app: app.0 }.write("", out),
        Fact::Asked { app, phase, count, places } => {
            let PhaseKey { priority, partition, resource } = *phase;
            let (app, partition, memory_mb, vcores) = (app.0, partition.0, resource.memory_mb, resource.vcores);
            let (count, places) = (*count, *places as u32);
            layout::Asked { app, priority, partition, memory_mb, vcores, count, places }.write("", out);
        }
        Fact::Allocated(fact) => {
            let (container, app, node) = (fact.container.0, fact.app.0, fact.node.0);
            let PhaseKey { priority, partition, resource } = fact.phase;
            let (partition, memory_mb, vcores) = (partition.0, resource.memory_mb, resource.vcores);
            let flags = u32::from(fact.is_master);
            let found = [Found::New, Found::Running, Found::Suspended].iter().position(|one| *one == fact.state);
            let found = found.unwrap() as u32;
            layout::Allocated { container, app, node, priority, partition, memory_mb, vcores, flags, found }
                .write("", out);
        }
        Fact::Launched { container } => layout::Launched { container: container.0 }.write("", out),
        Fact::Demoted { container } => layout::Demoted { container: container.0 }.write("", out),
        Fact::Promoted { container } => layout::Promoted { container: container.0 }.write("", out),
        Fact::Completed { container, exit } => {
            let exit = [Exit::Succeeded, Exit::Failed, Exit::Killed].iter().position(|one| one == exit).unwrap() as u32;
            layout::Completed { container: container.0, exit }.write("", out);
        }
        Fact::AssignRejected { app, node, reason: why } => {
            layout::AssignRejected { app: app.0, node: node.0, reason: reason(*why) }.write("", out);
        }
        Fact::ContainerRejected { container, reason: why } => {
            layout::ContainerRejected { container: container.0, reason: reason(*why) }.write("", out);
        }
        Fact::Progress { container, done } => {
            layout::Progress { container: container.0, done: done.unwrap_or(-1.0) }.write("", out);
        }
        Fact::Tasks { app, priority, total, done } => {
            layout::Tasks { app: app.0, priority: *priority, total: *total, done: *done }.write("", out);
        }
        other => panic!("this cluster has none of {other:?}"),
    }
}

/// Runs the cluster for that long.
fn cluster(policy: &str, preemption: Preemption, span: Millis) -> World {
    let testbed = Testbed {
        nodes: 5,
        room: Room::Pool(Resource::new(4096, 4)),
        heartbeat: Millis(1_000),
        properties: Vec::new(),
        ..Testbed::thesis(policy, preemption)
    };
    let jobs = Bins { jobs: 200, ..Bins::of(Mix::Test) }.draw(7, 0);
    let mut world = testbed.world(&jobs, 1).unwrap().noted();
    world.run_until(span);
    world
}

/// Its log, if a core that is spoken to in records decides as the cluster's did.
fn log(world: &World, properties: &str) -> Vec<u8> {
    let (mut log, mut facts, mut answers, mut decided) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    layout::Begun { abi: ABI, at_ms: 1_763_733_600_000, now_ms: 0 }.write("", &mut log);
    layout::Configured {}.write(properties, &mut log);
    let mut core = Session::new(properties).unwrap();
    for step in &world.steps {
        facts.clear();
        answers.clear();
        decided.clear();
        step.facts.iter().for_each(|fact| write(fact, &mut facts));
        core.step(step.now.0.cast_signed(), &facts, &mut answers).unwrap();
        step.decisions.iter().for_each(|decision| convert::decision(*decision, &mut decided));
        assert_eq!(answers, decided, "at {:?}", step.now);
        layout::Stepped { now_ms: step.now.0.cast_signed() }.write("", &mut log);
        log.extend_from_slice(&facts);
        log.extend_from_slice(&answers);
        layout::Answered {}.write("", &mut log);
    }
    layout::Ended {}.write("", &mut log);
    log
}

fn the_same_once_more(policy: &str, preemption: Preemption, span: Millis) {
    let world = cluster(policy, preemption, span);
    let decisions = || world.steps.iter().flat_map(|step| &step.decisions);
    let taken = decisions().filter(|one| matches!(one, Decision::Suspend { .. } | Decision::Kill { .. })).count();
    assert!(taken > 10, "{taken} decisions to take anything back");
    let log = log(&world, &serde_json::to_string(world.properties()).unwrap());
    let mut done = Replayed::default();
    replay(&mut Log::open(&log[..]).unwrap(), &mut done).unwrap();
    println!("{policy}: {done:?}, {taken} suspended or killed, {} bytes", log.len());
    assert_eq!(done.steps, world.steps.len() as u64);
    assert_eq!(done.decisions, decisions().count() as u64);
    assert!(done.lasted_ms >= span.0.cast_signed() - 2_000, "{done:?}");
}

const HOUR: Millis = Millis(3_600_000);

#[test]
fn an_hour_of_a_busy_cluster_is_the_same_once_more() {
    the_same_once_more("hfsp", Preemption::Adaptive, HOUR);
}

#[test]
#[ignore = "long"]
fn an_hour_is_the_same_once_more_under_every_policy() {
    for policy in ["hfsp", "srpt", "las", "fair", "fifo", "flex"] {
        the_same_once_more(policy, Preemption::Suspend, HOUR);
        the_same_once_more(policy, Preemption::Adaptive, HOUR);
    }
}
