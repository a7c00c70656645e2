//! What an application says about its tasks counts before it asks for their containers.

use crate::one_queue;
use hiatus_core::decision::Decision;
use hiatus_core::explain;
use hiatus_core::fact::{ContainerFact, Exit, Fact, Found, PhaseKey, Places};
use hiatus_core::settings::Settings;
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, Resource};
use hiatus_core::Scheduler;

const APP: AppId = AppId(1);
const REDUCES: PhaseKey = phase(10);

const fn phase(priority: i32) -> PhaseKey {
    PhaseKey { priority, partition: PartitionId(0), resource: Resource { memory_mb: 1024, vcores: 1 } }
}

fn container(id: u32, phase: PhaseKey, is_master: bool) -> Fact {
    let (container, node) = (ContainerId(id), NodeId(1));
    Fact::Allocated(ContainerFact { container, app: APP, node, phase, is_master, state: Found::Running })
}

fn asked(phase: PhaseKey, count: u32) -> Fact {
    Fact::Asked { app: APP, phase, count, places: Places::Anywhere }
}

/// A job whose master runs and that has asked for two reduces.
fn job() -> Scheduler {
    submitted(false, &[container(1, phase(0), true), asked(REDUCES, 2)])
}

/// A job that may run on the only node, and what else is known of it.
fn submitted(unmanaged: bool, known: &[Fact]) -> Scheduler {
    let mut facts = one_queue::node(Resource::new(8192, 8));
    facts.push(Fact::Heartbeat { node: NodeId(1), paused: 0, waiting: 0 });
    facts.extend(one_queue::app(APP, unmanaged));
    facts.extend_from_slice(known);
    let mut scheduler = Scheduler::new(Settings::default());
    scheduler.step(Millis(0), &facts, &mut Vec::new());
    scheduler
}

fn tell(scheduler: &mut Scheduler, at_s: u64, facts: &[Fact]) {
    let alive = Fact::Heartbeat { node: NodeId(1), paused: 0, waiting: 0 };
    scheduler.step(Millis(at_s * 1000), &[&[alive], facts].concat(), &mut Vec::new());
}

fn says(total: u32, done: u32) -> Fact {
    Fact::Tasks { app: APP, priority: REDUCES.priority, total, done }
}

/// All reduces and those not asked for, and by which rule the job is sized.
fn known(scheduler: &Scheduler) -> (u32, i32, &'static str) {
    let explained = explain::explain(scheduler);
    let job = &explained.jobs[0];
    let reduces = job.phases.iter().find(|phase| phase.priority == REDUCES.priority).unwrap();
    (reduces.tasks, reduces.unasked, job.sizing.as_ref().unwrap().source)
}

#[test]
fn a_phase_is_not_tiny_because_little_of_it_was_asked_for_so_far() {
    let mut scheduler = job();
    assert_eq!(known(&scheduler), (2, 0, "tiny"));
    tell(&mut scheduler, 5, &[says(20, 0)]);
    assert_eq!(known(&scheduler), (20, 18, "initial"));
    tell(&mut scheduler, 10, &[asked(REDUCES, 20)]);
    assert_eq!(known(&scheduler), (20, 0, "initial"));
}

/// Before they are asked for, and whatever the size of their containers turns out to be.
#[test]
fn tasks_that_are_to_come_are_part_of_the_size() {
    let maps = phase(20);
    let mut scheduler = submitted(false, &[container(1, phase(0), true), asked(maps, 10)]);
    let size_s = |scheduler: &Scheduler| explain::explain(scheduler).jobs[0].sizing.as_ref().unwrap().estimate_s;
    // A minute each, in an eighth of the cluster.
    assert_eq!(size_s(&scheduler), 75.0);
    tell(&mut scheduler, 5, &[says(20, 0)]);
    assert_eq!(size_s(&scheduler), 225.0);
    let large = PhaseKey { resource: Resource::new(2048, 1), ..REDUCES };
    tell(&mut scheduler, 10, &[asked(large, 5)]);
    assert_eq!(size_s(&scheduler), 375.0);
}

#[test]
fn asks_that_count_new_containers_again_are_no_tasks() {
    let mut scheduler = job();
    tell(&mut scheduler, 5, &[asked(REDUCES, 20), says(20, 0)]);
    // It had not heard of its first containers when it sent this.
    let allocated = [container(2, REDUCES, false), container(3, REDUCES, false)];
    tell(&mut scheduler, 6, &[&allocated[..], &[asked(REDUCES, 20)]].concat());
    assert_eq!(known(&scheduler), (20, -2, "initial"));
    tell(&mut scheduler, 7, &[asked(REDUCES, 18)]);
    assert_eq!(known(&scheduler), (20, 0, "initial"));
}

#[test]
fn tasks_whose_output_was_lost_are_tasks_again() {
    let mut scheduler = job();
    tell(&mut scheduler, 5, &[says(2, 0), container(2, REDUCES, false), container(3, REDUCES, false)]);
    tell(&mut scheduler, 5, &[asked(REDUCES, 0)]);
    let ended = |id| Fact::Completed { container: ContainerId(id), exit: Exit::Succeeded };
    tell(&mut scheduler, 20, &[ended(2), says(2, 0)]);
    assert_eq!(known(&scheduler).0, 2, "it had not heard of that end when it spoke");
    tell(&mut scheduler, 25, &[says(2, 1)]);
    assert_eq!(known(&scheduler).0, 2);
    tell(&mut scheduler, 30, &[asked(REDUCES, 1), says(2, 0)]);
    assert_eq!(known(&scheduler), (3, 0, "tiny"));
}

#[test]
fn what_is_asked_for_before_there_is_a_master_is_that_unless_it_runs_elsewhere() {
    let managed = submitted(false, &[asked(phase(0), 1)]);
    assert!(explain::explain(&managed).jobs[0].sizing.is_none(), "a master is no task");
    let unmanaged = submitted(true, &[asked(REDUCES, 20)]);
    assert_eq!(known(&unmanaged), (20, 0, "initial"));
}

#[test]
fn what_was_done_before_the_resource_manager_restarted_is_not_to_do() {
    let mut scheduler = job();
    tell(&mut scheduler, 5, &[container(2, REDUCES, false), says(20, 15)]);
    assert_eq!(
        known(&scheduler),
        (6, 3, "initial"),
        "one of the fifteen may be the one that still holds its container"
    );
}

#[test]
fn of_several_phases_with_one_priority_nobody_knows_which_has_how_many_tasks() {
    let mut scheduler = job();
    let larger = PhaseKey { resource: Resource::new(2048, 1), ..REDUCES };
    tell(&mut scheduler, 5, &[asked(larger, 1), says(20, 0)]);
    assert_eq!(known(&scheduler), (2, 0, "tiny"));
}

#[test]
fn gap_17_a_reduce_that_waits_for_maps_is_no_longer_for_it() {
    let mut scheduler = job();
    let first = 2..=6;
    let begin = |id| [container(id, REDUCES, false), Fact::Launched { container: ContainerId(id) }];
    tell(&mut scheduler, 10, &first.clone().flat_map(begin).collect::<Vec<_>>());
    tell(&mut scheduler, 10, &[asked(REDUCES, 1)]);
    let say = |done| first.clone().map(|id| Fact::Progress { container: ContainerId(id), done }).collect::<Vec<_>>();
    for at_s in [100, 300, 500] {
        tell(&mut scheduler, at_s, &say(None));
        assert_eq!(known(&scheduler), (6, 0, "training"), "however long it waits, that tells nothing");
    }
    tell(&mut scheduler, 520, &say(Some(0.25)));
    tell(&mut scheduler, 520, &[Fact::Completed { container: ContainerId(2), exit: Exit::Succeeded }]);
    tell(&mut scheduler, 560, &[]);
    // One took 20 s, and a quarter of each of the others 60 s.
    let mean_s = (20.0 + 4.0 * 240.0) / 5.0;
    let sizing = explain::explain(&scheduler).jobs[0].sizing.clone().unwrap();
    assert_eq!((sizing.source, (sizing.estimate_s * 8.0).round()), ("final", mean_s * 6.0));
}

#[test]
fn a_task_that_begins_and_ends_between_two_heartbeats_of_its_node_is_done() {
    let mut scheduler = job();
    let (quick, app) = (ContainerId(2), APP);
    let given =
        ContainerFact { container: quick, app, node: NodeId(1), phase: REDUCES, is_master: false, state: Found::New };
    tell(&mut scheduler, 5, &[Fact::Allocated(given), Fact::Completed { container: quick, exit: Exit::Succeeded }]);
    let job = &explain::explain(&scheduler).jobs[0];
    assert_eq!(job.phases.iter().map(|phase| (phase.priority, phase.finished)).collect::<Vec<_>>(), [(10, 1)]);
}

/// How many containers the job is given for what it asks for then.
fn given(scheduler: &mut Scheduler, at_s: u64, asks: u32) -> u32 {
    let mut decisions = Vec::new();
    let facts = [Fact::Heartbeat { node: NodeId(1), paused: 0, waiting: 0 }, asked(REDUCES, asks)];
    scheduler.step(Millis(at_s * 1000), &facts, &mut decisions);
    let assigned = decisions.iter().map(|decision| match decision {
        Decision::Assign { count, .. } => *count,
        _ => 0,
    });
    assigned.sum()
}

/// Three of its tasks run, of which one was suspended from 10 s to 30 s; `tasks` are all that it has.
fn suspended_until_30_s(tasks: u32) -> Scheduler {
    let mut scheduler = job();
    let all = [2, 3, 4].map(|id| container(id, REDUCES, false));
    tell(&mut scheduler, 5, &[&all[..], &[asked(REDUCES, 0), says(tasks, 0)]].concat());
    tell(&mut scheduler, 10, &[Fact::Demoted { container: ContainerId(2) }]);
    scheduler
}

#[test]
fn a_second_attempt_waits_until_the_first_has_run_for_as_long_as_it_was_suspended() {
    let mut scheduler = suspended_until_30_s(3);
    assert_eq!(given(&mut scheduler, 20, 1), 0, "of three tasks one stands still, and it asks for a fourth container");
    assert_eq!(given(&mut scheduler, 21, 2), 1, "two more, of which one is no attempt of what stands still");
    tell(&mut scheduler, 30, &[Fact::Promoted { container: ContainerId(2) }]);
    assert_eq!(given(&mut scheduler, 31, 1), 0);
    assert_eq!(
        explain::explain(&scheduler).jobs[0].blocked_by,
        "its tasks that were suspended: it wants second attempts of those, which go on"
    );
    assert_eq!(given(&mut scheduler, 49, 1), 0);
    assert_eq!(given(&mut scheduler, 50, 1), 1, "it is slow by itself");
}

#[test]
fn it_waits_no_longer_than_there_is_a_first_attempt() {
    let mut scheduler = suspended_until_30_s(3);
    tell(&mut scheduler, 30, &[Fact::Promoted { container: ContainerId(2) }]);
    assert_eq!(given(&mut scheduler, 31, 1), 0);
    tell(&mut scheduler, 32, &[Fact::Completed { container: ContainerId(2), exit: Exit::Failed }]);
    assert_eq!(given(&mut scheduler, 33, 1), 1);
}

#[test]
fn new_tasks_do_not_wait_for_suspended_ones() {
    let mut scheduler = suspended_until_30_s(5);
    assert_eq!(given(&mut scheduler, 20, 2), 2);
}
