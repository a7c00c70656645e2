//! An application whose containers do not end with their tasks is as large as what it tells of its stages, however old they are.

use crate::one_queue;
use hiatus_core::decision::Decision;
use hiatus_core::explain::{self, JobExplanation};
use hiatus_core::fact::{ContainerFact, Exit, Fact, Found, PhaseKey, Places};
use hiatus_core::settings::Settings;
use hiatus_core::stages::{Executor, Stage, ANY_CONTAINER};
use hiatus_core::units::{AppId, ContainerId, Millis, NodeId, PartitionId, Resource};
use hiatus_core::Scheduler;

/// Comes first, and has most to do.
const BIG: AppId = AppId(1);
const SMALL: AppId = AppId(2);
const EXECUTORS: i32 = 1;

fn runs(app: AppId, id: u32) -> [Fact; 2] {
    runs_with(app, id, if id == 0 { 0 } else { EXECUTORS })
}

/// The same, asked for with that priority.
fn runs_with(app: AppId, id: u32, priority: i32) -> [Fact; 2] {
    let container = ContainerId(10 * app.0 + id);
    let phase = PhaseKey { priority, partition: PartitionId(0), resource: Resource::new(1024, 1) };
    let fact = ContainerFact { container, app, node: NodeId(1), phase, is_master: id == 0, state: Found::Running };
    [Fact::Allocated(fact), Fact::Launched { container }]
}

/// A queue with both applications, of a master and three executors each, on a node for sixteen such.
fn both() -> Scheduler {
    let mut facts = one_queue::node(Resource::new(16_384, 16));
    for app in [BIG, SMALL] {
        facts.extend(one_queue::app(app, false));
        facts.extend((0..4).flat_map(|id| runs(app, id)));
    }
    let mut scheduler = Scheduler::new(Settings::default());
    tell(&mut scheduler, 0, &facts);
    scheduler
}

fn tell(scheduler: &mut Scheduler, at_s: u64, facts: &[Fact]) {
    let alive = Fact::Heartbeat { node: NodeId(1), paused: 0, waiting: 0 };
    scheduler.step(Millis(at_s * 1000), &[facts, &[alive]].concat(), &mut Vec::new());
}

/// So many tasks of 10 s, two at a time in an executor, of which so many are done.
fn stage(app: AppId, tasks: u32, done: u32) -> Fact {
    stage_of(app, EXECUTORS, tasks, done)
}

/// The same of containers of that request priority.
fn stage_of(app: AppId, priority: i32, tasks: u32, done: u32) -> Fact {
    let each = Millis(10_000);
    Fact::Stage { app, stage: Stage { first: true, more: true, priority, tasks, running: 0, done, each, slots: 2 } }
}

fn explained(scheduler: &Scheduler, app: AppId) -> JobExplanation {
    let jobs = explain::explain(scheduler).jobs;
    jobs.into_iter().find(|job| job.application == app.0.to_string()).unwrap()
}

/// By which rule the application is sized, its size and what is left of it, in seconds of a container.
fn known(scheduler: &Scheduler, app: AppId) -> (&'static str, f64, f64) {
    let job = explained(scheduler, app);
    let sizing = job.sizing.unwrap();
    let of_container = |partition_s: f64| (partition_s * 16.0).round();
    (sizing.source, of_container(sizing.estimate_s), of_container(job.remaining_s))
}

#[test]
fn its_size_is_what_it_tells_and_not_the_age_of_its_executors() {
    let mut scheduler = both();
    tell(&mut scheduler, 5, &[stage(BIG, 100, 20)]);
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 400.0));
    for at_s in (10..4_000).step_by(10) {
        tell(&mut scheduler, at_s, &[stage(BIG, 100, 20)]);
    }
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 400.0));
    tell(&mut scheduler, 4_000, &[stage(BIG, 100, 90)]);
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 50.0));
}

#[test]
fn what_any_container_may_do_counts_once_whatever_they_were_asked_for() {
    let mut scheduler = both();
    tell(&mut scheduler, 5, &[stage_of(BIG, ANY_CONTAINER, 100, 20)]);
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 400.0));
    // A vertex that comes later has a container of its own, then more of them than there are of the first one's.
    let later = |id| runs_with(BIG, id, EXECUTORS + 1);
    tell(&mut scheduler, 10, &later(4));
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 400.0));
    tell(&mut scheduler, 15, &[later(5), later(6), later(7)].concat());
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 400.0));
    let ends = |id| Fact::Completed { container: ContainerId(10 * BIG.0 + id), exit: Exit::Succeeded };
    tell(&mut scheduler, 18, &[ends(4), ends(5), ends(6), ends(7), stage_of(BIG, ANY_CONTAINER, 100, 60)]);
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 200.0));
}

#[test]
fn who_has_least_left_comes_first_whoever_came_first() {
    let mut scheduler = both();
    let ranks = |scheduler: &Scheduler| [BIG, SMALL].map(|app| explained(scheduler, app).rank);
    tell(&mut scheduler, 5, &[]);
    assert_eq!(ranks(&scheduler), [1, 2], "few containers, of which nothing is known: by arrival");
    tell(&mut scheduler, 10, &[stage(BIG, 1000, 20), stage(SMALL, 40, 20)]);
    assert_eq!(ranks(&scheduler), [2, 1]);
    tell(&mut scheduler, 20, &[stage(BIG, 1000, 999), stage(SMALL, 40, 20)]);
    assert_eq!(ranks(&scheduler), [1, 2], "what is nearly done is done first");
}

#[test]
fn who_falls_silent_is_guessed_again() {
    let mut scheduler = both();
    tell(&mut scheduler, 5, &[stage(BIG, 100, 20)]);
    tell(&mut scheduler, 20, &[]);
    assert_eq!(known(&scheduler, BIG).0, "told");
    tell(&mut scheduler, 21, &[]);
    assert_ne!(known(&scheduler, BIG).0, "told");
    tell(&mut scheduler, 22, &[stage(BIG, 100, 20)]);
    assert_eq!(known(&scheduler, BIG), ("told", 500.0, 400.0));
}

#[test]
fn a_new_attempt_begins_with_nothing_told() {
    let mut scheduler = both();
    tell(&mut scheduler, 5, &[stage(BIG, 100, 20)]);
    tell(&mut scheduler, 6, &[Fact::AttemptEnded { app: BIG, keep_containers: true }]);
    assert_ne!(known(&scheduler, BIG).0, "told");
}

#[test]
fn what_cannot_be_changes_nothing() {
    let mut scheduler = both();
    tell(&mut scheduler, 5, &[stage(BIG, 10, 20)]);
    assert_ne!(known(&scheduler, BIG).0, "told");
}

/// Which of BIG's five executors go, oldest first in number, when SMALL, which comes before it, asks for so many containers on a full
/// node. Of each executor is told what it is worth.
fn taken(wanted: u32, worth: &[(u32, Executor)]) -> Vec<u32> {
    let mut facts = one_queue::node(Resource::new(7 * 1024, 7));
    facts.extend([BIG, SMALL].into_iter().flat_map(|app| one_queue::app(app, false)));
    facts.extend((0..6).flat_map(|id| runs(BIG, id)));
    facts.extend(runs(SMALL, 0));
    let mut scheduler = Scheduler::new(Settings::default());
    tell(&mut scheduler, 0, &facts);
    let executor = |(id, executor): &(u32, Executor)| Fact::Executor {
        container: ContainerId(10 * BIG.0 + id),
        executor: *executor,
    };
    let told: Vec<Fact> = worth.iter().map(executor).chain([stage(BIG, 1_000, 10)]).collect();
    tell(&mut scheduler, 60, &told);
    let phase = PhaseKey { priority: EXECUTORS, partition: PartitionId(0), resource: Resource::new(1024, 1) };
    let asked = Fact::Asked { app: SMALL, phase, count: wanted, places: Places::Anywhere };
    let mut decisions = Vec::new();
    scheduler.step(Millis(61_000), &[asked], &mut decisions);
    let suspended = |decision: &Decision| match decision {
        Decision::Suspend { container, .. } => Some(container.0 - 10 * BIG.0),
        _ => None,
    };
    decisions.iter().filter_map(suspended).collect()
}

#[test]
fn executors_that_idle_are_taken_first_and_those_that_keep_something_last() {
    use Executor::{Busy, Idle, Keeps};
    assert_eq!(taken(1, &[]), [5], "the youngest");
    assert_eq!(taken(1, &[(2, Idle), (3, Busy)]), [2]);
    assert_eq!(taken(2, &[(5, Keeps), (2, Idle)]), [2, 4]);
}
