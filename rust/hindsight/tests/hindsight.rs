//! What is said of a simulated cluster on which the core only looked on, against the same cluster with the settings in force.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use hiatus_core::fact::{Fact, QueueFact};
use hiatus_core::settings::Settings;
use hiatus_core::units::{AppId, Millis, PartitionId, QueueId};
use hiatus_core::Scheduler;
use hiatus_hindsight::setting::{placing, Properties};
use hiatus_hindsight::{saved, Bounds, Hindsight, Latest, LeftOut, Onlooker, Past};
use hiatus_world::job::{gb, secs, Job};
use hiatus_world::{Node, SimulationError, World};
use std::time::{Duration, Instant};

/// Hiatus as it is configured, looking on.
fn observing() -> Properties {
    Properties::from([("mode", "observe"), ("policy", "srpt")].map(|(knob, value)| (property(knob), value.to_owned())))
}

fn property(knob: &str) -> String {
    format!("yarn.scheduler.hiatus.{knob}")
}

/// Big jobs, and small ones that come while those fill the cluster.
fn jobs() -> Vec<Job> {
    let big = |n: u64| Job::new(&format!("big{n}")).tasks(100, secs(120)).tasks(2, secs(60)).at(secs(10 + 800 * n));
    let small = |n: u64| Job::new(&format!("small{n}")).tasks(4, secs(20)).at(secs(70 + 150 * n));
    (0..3).map(big).chain((0..16).map(small)).collect()
}

fn world(settings: &Properties) -> World {
    let world = World::new().telling_progress().nodes(4, &Node::of(gb(8))).jobs(&jobs()).noted();
    settings.iter().fold(world, |world, (key, value)| world.property(key, value))
}

/// The cluster under stock's order: what is looked on at.
fn stock() -> World {
    let mut world = world(&placing(&observing()));
    world.run();
    world
}

fn looked_on(world: &World, bounds: Bounds) -> Onlooker {
    let mut onlooker = Onlooker::new(bounds);
    for step in &world.steps {
        onlooker.step(step.now);
        step.facts.iter().for_each(|fact| onlooker.hear(fact));
    }
    onlooker
}

fn past(world: &World) -> Past {
    Past { properties: observing(), ..looked_on(world, Bounds::NONE).past() }
}

fn mean_s(world: &World, name: &str) -> f64 {
    world.outcome().mean_sojourn_s(|job| job.name.starts_with(name))
}

fn near(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 0.06
}

#[test]
fn what_the_settings_would_have_saved_is_what_they_save_with_the_same_jobs() {
    let real = stock();
    let mut configured = world(&observing());
    configured.run();
    let saved = saved(&past(&real)).unwrap().unwrap();
    assert_eq!((saved.all.jobs, saved.small.jobs, saved.left_out), (19, 10, LeftOut::default()));
    assert!((saved.all.real_s - mean_s(&real, "")).abs() < 1.0, "{saved:?} {}", mean_s(&real, ""));
    assert!(near(saved.all.simulated_s, mean_s(&real, "")), "{saved:?} {}", mean_s(&real, ""));
    assert!(near(saved.all.configured_s, mean_s(&configured, "")), "{saved:?} {}", mean_s(&configured, ""));
    println!("{saved:?}, truth {} and {}", mean_s(&real, ""), mean_s(&configured, ""));
    // All of those with least work are small ones.
    assert!(saved.small.configured_s < 0.5 * saved.small.simulated_s, "{saved:?}");
    assert!(saved.suspensions > 0 && saved.kills == 0, "{saved:?}");
}

#[test]
fn of_what_placed_itself_nothing_else_is_simulated() {
    let settings = Properties::from([(property("policy"), "srpt".to_owned())]);
    let mut real = world(&settings);
    real.run();
    let saved = saved(&Past { properties: settings, ..past(&real) }).unwrap().unwrap();
    assert_eq!(saved.all.simulated_s, saved.all.configured_s);
    assert!(near(saved.all.simulated_s, mean_s(&real, "")), "{saved:?} {}", mean_s(&real, ""));
}

#[test]
fn jobs_are_forgotten_after_the_window_and_beyond_the_size_those_that_ended_first() {
    let real = stock();
    let ends = |past: &Past| past.jobs.iter().map(|past| past.job.at + past.sojourn).min().unwrap();
    let last = real.outcome().makespan;
    let whole = past(&real);
    let late = looked_on(&real, Bounds { window: secs(600), ..Bounds::NONE }).past();
    assert!(ends(&whole).0 < last.0 - 600_000 && ends(&late).0 >= last.0 - 600_000);
    // 200 tasks and their masters are more than that together; the last big job and what came beside it are not.
    let few = looked_on(&real, Bounds { size: 250, ..Bounds::NONE }).past();
    assert!(ends(&few) > ends(&whole) && few.jobs.iter().any(|past| past.job.work_s() > 10_000.0), "{:?}", few.jobs);
    // A job of a hundred tasks does not fit: it is left out, and hides none of the small ones that run beside it.
    let none = looked_on(&real, Bounds { size: 101, ..Bounds::NONE }).past();
    assert!(none.jobs.len() == 16 && none.jobs.iter().all(|past| past.job.work_s() < 1_000.0), "{:?}", none.jobs);
    assert_eq!(none.left_out, LeftOut { size: 3, ..LeftOut::default() });
}

#[test]
fn who_begins_to_look_on_in_the_middle_knows_cluster_and_queues_and_the_jobs_that_come_later() {
    let mut real = world(&placing(&observing()));
    real.run_until(secs(500));
    let (mut onlooker, before) = (Onlooker::of(real.core().cluster(), Bounds::NONE), real.steps.len());
    real.run();
    for step in &real.steps[before..] {
        onlooker.step(step.now);
        step.facts.iter().for_each(|fact| onlooker.hear(fact));
    }
    let (part, whole) = (onlooker.past(), past(&real));
    assert_eq!((part.nodes.len(), part.queues.len()), (whole.nodes.len(), whole.queues.len()));
    assert_eq!(part.nodes[0].total, whole.nodes[0].total);
    let later: Vec<_> = whole.jobs.iter().filter(|past| past.job.at > secs(500)).cloned().collect();
    assert!(later.len() > 10);
    assert_eq!(part.jobs, later);
}

#[test]
fn a_queue_that_is_removed_owns_nothing_and_stands_there_once_if_it_comes_again() {
    let mut onlooker = looked_on(&stock(), Bounds::NONE);
    let queue =
        |id| QueueFact { queue: QueueId(id), parent: Some(QueueId(0)), path: "root.default".into(), preemptable: true };
    let share = |id| Fact::QueueShare { queue: QueueId(id), partition: PartitionId(0), guaranteed: 0.7, maximum: 1.0 };
    onlooker.hear(&Fact::QueueRemoved { queue: QueueId(1) });
    let guaranteed =
        |onlooker: &Onlooker| onlooker.past().queues.iter().map(|queue| queue.guaranteed).collect::<Vec<_>>();
    assert_eq!(guaranteed(&onlooker), [0.0]);
    [Fact::Queue(queue(5)), share(5)].iter().for_each(|fact| onlooker.hear(fact));
    assert_eq!(guaranteed(&onlooker), [0.7]);
    assert_eq!(saved(&onlooker.past()).unwrap().unwrap().all.jobs, 19);
}

#[test]
fn a_job_whose_queue_is_gone_is_left_out_and_without_jobs_there_is_no_answer() {
    let mut past = past(&stock());
    let all = past.jobs.len();
    let first = std::sync::Arc::make_mut(&mut past.jobs[0]);
    first.job.queue = "root.gone".into();
    let saved_of_others = saved(&past).unwrap().unwrap();
    assert_eq!((saved_of_others.all.jobs, saved_of_others.left_out.gone), (all - 1, 1));
    past.jobs.clear();
    assert_eq!(saved(&past).unwrap(), None);
}

#[test]
fn a_job_that_its_queue_may_not_hold_any_more_is_left_out_and_makes_nothing_impossible() {
    let mut past = past(&stock());
    let all = past.jobs.len();
    let first = std::sync::Arc::make_mut(&mut past.jobs[0]);
    first.job.stages[0].size = gb(8);
    past.queues.iter_mut().for_each(|queue| queue.maximum = 0.25);
    let saved = saved(&past).unwrap().unwrap();
    assert_eq!((saved.all.jobs, saved.left_out.gone), (all - 1, 1));
}

#[test]
fn a_job_that_moved_counts_in_its_new_queue() {
    let real = stock();
    let mut onlooker = Onlooker::new(Bounds::NONE);
    let moved = Fact::AppChanged { app: AppId(0), queue: QueueId(7), priority: 3 };
    let to = QueueFact { queue: QueueId(7), parent: Some(QueueId(0)), path: "root.other".into(), preemptable: true };
    for step in &real.steps {
        onlooker.step(step.now);
        step.facts.iter().for_each(|fact| onlooker.hear(fact));
        if step.facts.iter().any(|fact| matches!(fact, Fact::App(app) if app.app == AppId(0))) {
            [Fact::Queue(to.clone()), moved.clone()].iter().for_each(|fact| onlooker.hear(fact));
        }
    }
    let past = onlooker.past();
    let of_other = past.jobs.iter().filter(|past| past.job.queue == "root.other");
    assert_eq!(of_other.map(|past| past.job.priority).collect::<Vec<_>>(), [3]);
}

#[test]
fn what_is_looked_on_at_was_placed_by_stock_however_the_mode_is_written() {
    let mut settings = observing();
    settings.insert(property("mode"), " observe ".to_owned());
    settings.insert(property("batchmr-placer"), "on".to_owned());
    let placing = placing(&settings);
    assert_eq!(placing[&property("policy")], "fifo");
    assert_eq!(placing[&property("batchmr-placer")], "off", "CapacityScheduler knows no sides");
}

#[test]
fn a_simulation_ends_after_as_many_events_as_it_may_take() {
    let mut world = world(&observing()).at_most(1_000);
    assert!(matches!(world.finish().err().unwrap(), SimulationError::TooMuch { events: 1_000.., .. }));
}

fn core(more: &[(&str, &str)]) -> (Scheduler, Properties) {
    let mut properties = observing();
    properties.extend(more.iter().map(|(knob, value)| (property(knob), (*value).to_owned())));
    (Scheduler::new(Settings::parse(&properties).unwrap()), properties)
}

#[test]
fn the_thread_answers_while_the_core_looks_on_and_not_otherwise() {
    let begun = |more| {
        let (core, properties) = core(more);
        Hindsight::begin(&core, properties).unwrap()
    };
    assert!(matches!(begun(&[("hindsight-interval-ms", "0")]).latest(), Latest::Off));
    assert!(matches!(begun(&[("mode", "suspend")]).latest(), Latest::Placing));

    let (mut core, properties) = core(&[("hindsight-interval-ms", "60000")]);
    let mut hindsight = Hindsight::begin(&core, properties.clone()).unwrap();
    let mut decisions = Vec::new();
    for step in stock().steps {
        core.step(step.now, &step.facts, &mut decisions);
        hindsight.look(&core, &step.facts);
        // What is looked at otherwise is begun anew, and what is not goes on.
        hindsight.configure(&core, properties.clone()).unwrap();
    }
    let patience = Instant::now() + Duration::from_secs(300);
    while matches!(hindsight.latest(), Latest::Awaited) && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    let Latest::Made { at, saved, .. } = hindsight.latest() else { panic!("{:?}", hindsight.latest()) };
    assert!(at >= Millis(60_000) && saved.all.jobs >= 1 && saved.all.real_s > 0.0, "{saved:?}");
}
