//! What is said of a simulated cluster on which the core only looked on, against the same cluster with the settings in force.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

mod thread;

use hiatus_background::hindsight::setting::{placing, Properties};
use hiatus_background::hindsight::{Bounds, Hindsight, Latest, LeftOut, Onlooker, Past, Saved, Unanswered};
use hiatus_core::fact::{AppFact, ContainerFact, Exit, Fact, Found, NodeFact, PhaseKey, QueueFact};
use hiatus_core::settings::Settings;
use hiatus_core::units::{AppId, ContainerId, JobClass, Millis, NodeId, PartitionId, QueueId, Resource, UserId};
use hiatus_core::Scheduler;
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

fn saved(past: &Past) -> Result<Saved, Unanswered> {
    hiatus_background::hindsight::saved(past, &|| true)
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
    let saved = saved(&past(&real)).unwrap();
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
    let saved = saved(&Past { properties: settings, ..past(&real) }).unwrap();
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
    let queue = |id| QueueFact {
        queue: QueueId(id),
        parent: Some(QueueId(0)),
        path: "root.default".into(),
        preemptable: true,
        preemptable_within: true,
    };
    let share = |id| Fact::QueueShare { queue: QueueId(id), partition: PartitionId(0), guaranteed: 0.7, maximum: 1.0 };
    onlooker.hear(&Fact::QueueRemoved { queue: QueueId(1) });
    let guaranteed =
        |onlooker: &Onlooker| onlooker.past().queues.iter().map(|queue| queue.guaranteed).collect::<Vec<_>>();
    assert_eq!(guaranteed(&onlooker), [0.0]);
    [Fact::Queue(queue(5)), share(5)].iter().for_each(|fact| onlooker.hear(fact));
    assert_eq!(guaranteed(&onlooker), [0.7]);
    assert_eq!(saved(&onlooker.past()).unwrap().all.jobs, 19);
}

#[test]
fn a_job_whose_queue_is_gone_or_that_fits_no_node_is_left_out_and_without_jobs_there_is_no_answer() {
    let mut past = past(&stock());
    let all = past.jobs.len();
    let first = std::sync::Arc::make_mut(&mut past.jobs[0]);
    first.job.queue = "root.gone".into();
    let saved_of_others = saved(&past).unwrap();
    assert_eq!((saved_of_others.all.jobs, saved_of_others.left_out.gone), (all - 1, 1));
    std::sync::Arc::make_mut(&mut past.jobs[1]).job.stages[0].size = gb(9);
    let saved_of_others = saved(&past).unwrap();
    assert_eq!((saved_of_others.all.jobs, saved_of_others.left_out.gone), (all - 2, 2));
    past.nodes.clear();
    let Err(Unanswered::NoJob(left_out)) = saved(&past) else { panic!("nothing runs without nodes") };
    assert_eq!(left_out, LeftOut { gone: all as u64, ..LeftOut::default() });
    past.jobs.clear();
    assert!(matches!(saved(&past), Err(Unanswered::NoJob(left_out)) if left_out.all() == 0));
}

#[test]
fn a_job_that_its_queue_may_not_hold_any_more_is_left_out_and_makes_nothing_impossible() {
    let mut past = past(&stock());
    let all = past.jobs.len();
    let first = std::sync::Arc::make_mut(&mut past.jobs[0]);
    first.job.stages[0].size = gb(8);
    past.queues.iter_mut().for_each(|queue| queue.maximum = 0.25);
    let saved = saved(&past).unwrap();
    assert_eq!((saved.all.jobs, saved.left_out.gone), (all - 1, 1));
}

#[test]
fn a_job_that_moved_counts_in_its_new_queue() {
    let real = stock();
    let mut onlooker = Onlooker::new(Bounds::NONE);
    let moved = Fact::AppChanged { app: AppId(0), queue: QueueId(7), priority: 3 };
    let to = QueueFact {
        queue: QueueId(7),
        parent: Some(QueueId(0)),
        path: "root.other".into(),
        preemptable: true,
        preemptable_within: true,
    };
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

#[test]
fn jobs_are_forgotten_after_the_window_though_nothing_happens() {
    let real = stock();
    let mut onlooker = looked_on(&real, Bounds { window: secs(600), ..Bounds::NONE });
    onlooker.hear(&Fact::QueueRemoved { queue: QueueId(1) });
    assert!(!onlooker.past().jobs.is_empty() && onlooker.past().queues.len() == 1);
    onlooker.step(real.now() + secs(601));
    assert!(onlooker.past().jobs.is_empty());
    assert!(onlooker.past().queues.is_empty(), "nor is a queue known any more that was removed");
}

#[test]
fn of_many_nodes_the_last_part_of_the_time_is_told_and_who_is_left_out_is_of_that() {
    let empty = |at| Job::new("empty").at(at);
    let late = stock().outcome().makespan.0 - 100_000;
    let mut real = world(&placing(&observing())).job(empty(secs(20))).job(empty(Millis(late)));
    real.run();
    let whole = looked_on(&real, Bounds::NONE).past();
    // 600 s of four nodes that report every second.
    let part = looked_on(&real, Bounds { beats: 2_400, ..Bounds::NONE }).past();
    let since = whole.jobs.iter().map(|past| past.job.at + past.sojourn).max().unwrap().0 - 600_000;
    let of_part = |at: Millis| at.0 >= since;
    let later: Vec<_> = whole.jobs.iter().filter(|past| of_part(past.job.at)).cloned().collect();
    let before = whole.jobs.iter().filter(|past| !of_part(past.job.at) && of_part(past.job.at + past.sojourn));
    let before = before.count() as u64;
    assert!(later.len() >= 2 && later.len() < whole.jobs.len() && before >= 1, "{} {before}", later.len());
    assert_eq!(part.jobs, later);
    assert_eq!(whole.left_out, LeftOut { without_tasks: 2, ..LeftOut::default() });
    assert_eq!(part.left_out, LeftOut { without_tasks: 1, before, ..LeftOut::default() });
}

/// Facts of a made-up cluster, told one by one.
struct Told(Onlooker);

impl Told {
    /// A node with 8 GiB of the default partition, and one of partition 1; `root.a`. What is told next was not there before.
    fn cluster(bounds: Bounds) -> Told {
        let mut told = Told(Onlooker::new(bounds));
        told.step(0);
        for n in 0..2 {
            let node = Node::of(gb(8));
            told.hear(Fact::Node(NodeFact {
                node: NodeId(n),
                total: node.total,
                partition: PartitionId(n),
                shareable: false,
                can_suspend: true,
                decommissioning: false,
                ram_and_swap_mb: None,
                side: None,
            }));
        }
        let queue = |queue, path: &str| QueueFact {
            queue,
            parent: None,
            path: path.to_owned(),
            preemptable: true,
            preemptable_within: true,
        };
        told.hear(Fact::Queue(queue(QueueId(1), "root.a")));
        told.step(0);
        told
    }

    fn step(&mut self, s: u64) {
        self.0.step(secs(s));
    }

    fn hear(&mut self, fact: Fact) {
        self.0.hear(&fact);
    }

    fn app(&mut self, app: u32) {
        self.hear(Fact::App(AppFact {
            app: AppId(app),
            queue: QueueId(1),
            user: UserId(0),
            priority: 0,
            told_at_ms: 0,
            name: format!("job{app}"),
            class: JobClass(0),
            tags: Vec::new(),
            unmanaged: false,
            application_type: "SPARK".to_string(),
        }));
    }

    fn allocated(&mut self, app: u32, container: u32, resource: Resource, state: Found) {
        let is_master = container == app;
        let phase = PhaseKey { priority: i32::from(!is_master), partition: PartitionId(0), resource };
        let (app, node, container) = (AppId(app), NodeId(0), ContainerId(container));
        self.hear(Fact::Allocated(ContainerFact { container, app, node, phase, is_master, state }));
    }

    fn completed(&mut self, container: u32) {
        self.hear(Fact::Completed { container: ContainerId(container), exit: Exit::Killed });
    }
}

#[test]
fn application_masters_count_as_a_part_of_the_default_partition_while_they_are_remembered() {
    let mut told = Told::cluster(Bounds { window: secs(600), ..Bounds::NONE });
    for app in 0..3 {
        told.app(app);
        told.allocated(app, app, gb(1), Found::New);
    }
    let share = |told: &Told| told.0.past().queues[0].master_share;
    assert_eq!(share(&told), 3.0 / 8.0);
    told.step(100);
    told.completed(1);
    told.completed(2);
    told.step(700);
    assert_eq!(share(&told), 3.0 / 8.0);
    told.step(701);
    assert_eq!(share(&told), 1.0 / 8.0, "what was longer ago than the window is of another time");
}

#[test]
fn who_moves_takes_its_application_master_along() {
    let mut told = Told::cluster(Bounds { window: secs(600), ..Bounds::NONE });
    let to = QueueFact {
        queue: QueueId(2),
        parent: None,
        path: "root.b".to_owned(),
        preemptable: true,
        preemptable_within: true,
    };
    told.hear(Fact::Queue(to));
    told.app(0);
    told.allocated(0, 0, gb(1), Found::New);
    told.step(100);
    told.hear(Fact::AppChanged { app: AppId(0), queue: QueueId(2), priority: 0 });
    let shares = |told: &Told| told.0.past().queues.iter().map(|queue| queue.master_share).collect::<Vec<_>>();
    told.step(701);
    assert_eq!(shares(&told), [0.0, 1.0 / 8.0]);
    told.completed(0);
    told.step(1302);
    assert_eq!(shares(&told), [0.0, 0.0]);
}

#[test]
fn a_container_that_is_resized_makes_its_job_none_that_was_there_before() {
    let mut told = Told::cluster(Bounds::NONE);
    told.app(0);
    for (container, size) in [(0, gb(1)), (1, gb(1))] {
        told.allocated(0, container, size, Found::New);
        told.hear(Fact::Launched { container: ContainerId(container) });
    }
    told.step(10);
    // As the ResourceManager tells it.
    told.completed(1);
    told.allocated(0, 2, gb(2), Found::Running);
    told.step(30);
    told.completed(2);
    told.completed(0);
    told.hear(Fact::AppRemoved { app: AppId(0), succeeded: true });
    // One that is found after a restart, its ApplicationMaster or a task first.
    for (app, first) in [(3, 3), (4, 5)] {
        told.app(app);
        told.allocated(app, first, gb(1), Found::Running);
        told.hear(Fact::AppRemoved { app: AppId(app), succeeded: true });
    }
    let past = told.0.past();
    assert_eq!(past.left_out, LeftOut { before: 2, ..LeftOut::default() });
    let work = |past: &Past| past.jobs.iter().map(|past| past.job.work_s()).collect::<Vec<_>>();
    assert_eq!(work(&past), [30.0], "it worked all along");
    assert_eq!(past.jobs[0].job.application_type, "SPARK", "which says whether it may be suspended");
}

#[test]
fn shares_of_a_labelled_partition_are_of_that() {
    let mut told = Told::cluster(Bounds::NONE);
    let share = |partition, guaranteed, maximum| Fact::QueueShare { queue: QueueId(1), partition, guaranteed, maximum };
    told.hear(share(PartitionId(0), 1.0, 1.0));
    let shares = |told: &Told, partition| {
        let shares = told.0.past().queues[0].shares(PartitionId(partition));
        (shares.guaranteed, shares.maximum)
    };
    assert_eq!((shares(&told, 0), shares(&told, 1)), ((1.0, 1.0), (0.0, 0.0)), "of what is not told it has nothing");
    told.hear(share(PartitionId(1), 0.25, 0.5));
    assert_eq!((shares(&told, 0), shares(&told, 1)), ((1.0, 1.0), (0.25, 0.5)));
}

/// Two ApplicationMasters may hold all that their queue may: neither job finds room for a task.
#[test]
fn what_cannot_be_simulated_is_told_without_the_names_of_jobs() {
    let mut past = past(&stock());
    past.queues.iter_mut().for_each(|queue| (queue.maximum, queue.master_share) = (2.0 / 32.0, 1.0));
    let Err(Unanswered::Impossible(stuck)) = saved(&past) else { panic!("jobs wait for ever") };
    assert!(matches!(stuck, SimulationError::Stuck { .. }), "{stuck}");
    assert!(!stuck.to_string().contains("big") && !stuck.to_string().contains("small"), "{stuck}");
}

#[test]
fn a_simulation_that_nobody_wants_any_more_is_given_up() {
    let past = past(&stock());
    let given_up = hiatus_background::hindsight::saved(&past, &|| false);
    assert!(matches!(given_up, Err(Unanswered::Impossible(SimulationError::Unwanted))), "{given_up:?}");
}
