//! The policy `flex` on jobs in an ideal pool: epochs (1.4), work (1.5), minima (1.2), and what users and
//! administrators ask for. Numbers by hand.

use crate::pool::{Job, Live, Pool, ONE};
use hiatus_core::fact::PhaseKey;
use hiatus_core::hints::Hints;
use hiatus_core::policy::{create, Supply, Target};
use hiatus_core::settings::{PolicyKind, Settings};
use hiatus_core::units::{AppId, Millis, PartitionId, Resource};
use hiatus_core::view::{JobView, PhaseView, TaskView, UnderWay};
use hiatus_core::waterline::{waterline, Bounds};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Slots of each job by the last target, and the jobs in their order, at the next tick.
fn slots_of(live: &mut Live, pool: &mut Pool) -> (Vec<(u32, f64)>, Vec<JobView>) {
    let (views, targets) = live.step(pool);
    let slots = f64::from(pool.slots);
    let mut last: Vec<(u32, f64)> = Vec::new();
    for Target { app, share, .. } in targets {
        last.retain(|(other, _)| *other != app.0);
        last.push((app.0, (share * slots * 1e6).round() / 1e6));
    }
    (last, views)
}

fn first_slots(knobs: &[(&str, &str)], slots: u32, jobs: Vec<Job>) -> Vec<(u32, f64)> {
    slots_of(&mut Live::of("flex", knobs), &mut Pool::new(slots, jobs)).0
}

fn until(live: &mut Live, pool: &mut Pool, ms: u64) {
    while pool.now < ms {
        live.step(pool);
    }
}

#[test]
fn flex_1_8_the_first_interval_gives_the_shortest_its_maximum_and_the_others_their_minima() {
    let jobs = || [40, 20, 30].map(|tasks| Job::at(0.0).phase(tasks, 10.0)).to_vec();
    assert_eq!(first_slots(&[], 12, jobs()), [(1, 10.0), (2, 1.0), (0, 1.0)]);
    // Half of the slots shared as under FAIR: two for each of three jobs.
    assert_eq!(first_slots(&[("flex-slack", "0.5")], 12, jobs()), [(1, 8.0), (2, 2.0), (0, 2.0)]);
    assert_eq!(first_slots(&[("flex-slack", "0")], 12, jobs()), [(1, 4.0), (2, 4.0), (0, 4.0)]);
}

#[test]
fn flex_1_2_what_jobs_are_sure_of_beside_the_slack_is_the_administrators_choice() {
    let jobs = || [40, 20, 30].map(|tasks| Job::at(0.0).phase(tasks, 10.0)).to_vec();
    let slots = |share| first_slots(&[("flex-slack", "1"), ("flex-sure-share", share)], 12, jobs());
    assert_eq!(slots("0.25"), [(1, 10.0), (2, 1.0), (0, 1.0)]);
    assert_eq!(slots("0.1"), [(1, 11.0), (2, 0.0), (0, 1.0)], "the earliest is");
    assert_eq!(slots("0"), [(1, 12.0), (2, 0.0), (0, 0.0)], "the metric alone counts");
}

#[test]
fn flex_1_2_no_more_slots_than_tasks_left_nor_than_the_queue_allows() {
    let jobs = || vec![Job::at(0.0).phase(3, 10.0), Job::at(0.0).phase(40, 10.0)];
    assert_eq!(first_slots(&[], 12, jobs()), [(0, 3.0), (1, 9.0)]);
    assert_eq!(first_slots(&[("flex-max-share", "0.5")], 12, jobs()), [(0, 3.0), (1, 6.0)]);
}

#[test]
fn flex_1_4_what_an_epoch_decided_holds_until_the_next() {
    let long = || Job::at(0.0).phase(40, 10.0);
    let mut pool = Pool::new(10, vec![long(), long(), Job::at(0.5).phase(20, 1.0)]);
    pool.tick = 250;
    let mut live = Live::of("flex", &[("flex-epoch-ms", "1000"), ("default-task-ms", "1000")]);
    let decided = slots_of(&mut live, &mut pool).0;
    assert_eq!(decided, [(0, 9.0), (1, 1.0)]);
    until(&mut live, &mut pool, 1_000);
    assert_eq!(slots_of(&mut live, &mut pool).0, [(2, 8.0), (0, 1.0), (1, 1.0)], "its tasks are fewer");
}

#[test]
fn flex_1_4_between_epochs_a_newcomer_gets_what_is_left() {
    let mut pool = Pool::new(10, vec![Job::at(0.0).phase(4, 10.0), Job::at(0.5).phase(20, 1.0)]);
    pool.tick = 250;
    let mut live = Live::of("flex", &[("flex-epoch-ms", "60000")]);
    until(&mut live, &mut pool, 500);
    assert_eq!(slots_of(&mut live, &mut pool).0, [(0, 4.0), (1, 6.0)]);
}

#[test]
fn flex_1_5_work_is_the_average_task_time_by_the_tasks_left() {
    let mut pool = Pool::new(2, vec![Job::at(0.0).uneven(vec![4_000, 8_000, 5_000, 5_000, 5_000])]);
    let mut live = Live::of("flex", &[]);
    assert_eq!(slots_of(&mut live, &mut pool).0, [(0, 2.0)]);
    assert_eq!(live.sizing(0, &pool), ("default", 300.0, 300.0));
    until(&mut live, &mut pool, 4_500);
    // One task took 4 s: 4 s for each of four, of which one has run for its 4 s.
    assert_eq!(live.sizing(0, &pool), ("average", 20.0, 12.0));
    until(&mut live, &mut pool, 8_500);
    // Two took 6 s on average; the third has run for 4 s.
    assert_eq!(live.sizing(0, &pool), ("average", 30.0, 14.0));
}

#[test]
fn flex_5_6_before_the_first_completion_hints_and_earlier_jobs_tell() {
    let hinted = Job::at(0.0).phase(10, 9.0).tag("hiatus.size=70");
    let mut pool = Pool::new(1, vec![Job::at(0.0).phase(1, 3.0), hinted, Job::at(4.0).phase(10, 9.0)]);
    let mut live = Live::of("flex", &[]);
    live.step(&mut pool);
    assert_eq!(live.sizing(1, &pool), ("hint", 70.0, 70.0));
    until(&mut live, &mut pool, 8_000);
    let (source, size, _) = live.sizing(2, &pool);
    assert_eq!((source, size), ("earlier jobs", 30.0));
    let mut deaf = Live::of("flex", &[("hints", "ignore")]);
    deaf.step(&mut Pool::new(1, vec![Job::at(0.0).phase(10, 9.0).tag("hiatus.size=50")]));
    assert_eq!(deaf.sizing(0, &pool).0, "default");
}

#[test]
fn tasks_that_never_end_do_not_look_nearly_done() {
    let mut pool = Pool::new(4, vec![Job::at(0.0).phase(4, 36_000.0)]);
    let mut live = Live::of("flex", &[]);
    until(&mut live, &mut pool, 600_000);
    let (source, _, left) = live.sizing(0, &pool);
    assert!(source == "default" && left > 2_000.0, "{left}");
}

#[test]
fn flex_1_3_the_earlier_deadline_goes_first_and_a_deadline_that_is_lost_last() {
    let job = |deadline: f64| Job::at(0.0).phase(10, 10.0).tag(&format!("hiatus.deadline=+{deadline}"));
    let knobs = [("flex-metric", "number-tardy"), ("default-task-ms", "10000"), ("flex-slack", "1")];
    // Ten slots less one for each other: either of the first two can be in time, the last cannot.
    let slots = first_slots(&knobs, 10, vec![job(60.0), job(30.0), job(5.0)]);
    assert_eq!(slots, [(1, 8.0), (0, 1.0), (2, 1.0)]);
}

#[test]
fn deadlines_come_from_the_queue_where_a_job_brings_none() {
    let order = |deadline| {
        let knobs = [("flex-metric", "max-lateness"), ("flex-deadline-s", deadline)];
        let jobs = vec![Job::at(0.0).phase(10, 10.0), Job::at(0.0).phase(10, 10.0).tag("hiatus.deadline=+700")];
        first_slots(&knobs, 10, jobs).iter().map(|(job, _)| *job).collect::<Vec<_>>()
    };
    assert_eq!(order("600"), [0, 1]);
    assert_eq!(order("800"), [1, 0]);
    assert_eq!(order("0"), [1, 0], "who has none cannot be late");
}

#[test]
fn weights_and_agreements_count_as_the_job_or_its_queue_says() {
    let jobs = |tag: &str| vec![Job::at(0.0).phase(10, 10.0), Job::at(0.0).phase(20, 10.0).tag(tag)];
    let first_of = |knobs: &[(&str, &str)], tag| first_slots(knobs, 10, jobs(tag))[0].0;
    let first = |knobs: &[(&str, &str)], tag| {
        first_of(&[knobs, &[("hints-max-weight", "4"), ("hints-max-penalty", "5")]].concat(), tag)
    };
    assert_eq!(first(&[("flex-metric", "weighted-response")], "hiatus.weight=1"), 0);
    assert_eq!(first(&[("flex-metric", "weighted-response")], "hiatus.weight=4"), 1);
    assert_eq!(first(&[("flex-metric", "weighted-response"), ("flex-weight", "9")], "hiatus.weight=4"), 0);
    assert_eq!(first(&[("flex-metric", "weighted-response"), ("hints", "ignore")], "hiatus.weight=4"), 0);
    // The second needs some 130 s of the pool's 10 slots, the first 60 s.
    let sla = [("flex-metric", "sla"), ("flex-sla", "250:1")];
    assert_eq!(first(&sla, "hiatus.sla=250:1"), 0);
    assert_eq!(first(&sla, "hiatus.sla=150:5"), 1);
    // By default nobody is worth more than one.
    assert_eq!(first_of(&[("flex-metric", "weighted-response")], "hiatus.weight=4"), 0);
    let either_is_late = [("flex-metric", "sla"), ("flex-sla", "100:3")];
    assert_eq!(first(&either_is_late, "hiatus.sla=150:1e300"), 1);
    assert_eq!(first_of(&either_is_late, "hiatus.sla=150:1e300"), 0);
}

#[test]
fn jobs_may_have_metrics_of_their_own_unless_they_have_no_maximum() {
    let jobs = |tag: &str| vec![Job::at(0.0).phase(10, 10.0), Job::at(0.0).phase(20, 10.0).tag(tag)];
    let run = |metric: &str, tag: &str| {
        let knobs = [("flex-metric", metric), ("hints-metric", "honour")];
        let (mut live, mut pool) = (Live::of("flex", &knobs), Pool::new(10, jobs(tag)));
        let first = slots_of(&mut live, &mut pool).0[0].0;
        (first, live.policy.unusable_hint(AppId(1)))
    };
    assert_eq!(run("avg-response", "hiatus.metric=avg-response"), (0, None));
    assert_eq!(run("makespan", "hiatus.metric=max-lateness").1, None);
    let wrong = "hiatus.metric=number-tardy: has no maximum, which makespan asks for; ignored";
    assert_eq!(run("makespan", "hiatus.metric=number-tardy").1.as_deref(), Some(wrong));
}

#[test]
fn c13_an_endless_stream_of_short_jobs_does_not_starve_a_long_one() {
    let mut jobs = vec![Job::at(0.0).phase(40, 10.0)];
    jobs.extend((0..400).map(|n| Job::at(f64::from(n) * 2.0).phase(4, 4.0)));
    let mut pool = Pool::new(8, jobs);
    let mut live = Live::of("flex", &[]);
    while pool.done[0].is_none() {
        // It is always sure of a quarter at most and a slot at least, and is the first of those that are.
        assert!(pool.now < 420_000, "starved");
        live.step(&mut pool);
    }
}

#[test]
fn law_8_a_job_that_is_only_its_master_so_far_is_sure_of_it() {
    let one = 0.1;
    let masterless = JobView { demand: 2.0 * one, phases: Vec::new(), ..view(1, 0, 0.0, 0.0, vec![]) };
    let busy = |app| view(app, 0, 0.0, 0.0, vec![phase(one, 20, 0, 0)]);
    let targets = plan(&Settings::default(), &[busy(0), masterless, busy(2)], 1.0, Millis(0));
    assert!(targets[..2].iter().any(|target| target.app.0 == 1 && target.share >= 2.0 * one), "{targets:?}");
}

fn phase(one: f64, pending: u32, held: u32, finished: u32) -> PhaseView {
    let key = PhaseKey { priority: 20, partition: PartitionId(0), resource: ONE };
    let first = vec![
        TaskView::Running { worked: Millis(u64::from(held) * 700), runs: true, progress: None };
        held.min(9) as usize
    ];
    let finished_time = Millis(u64::from(finished) * 3_000);
    PhaseView {
        key,
        one,
        gated: false,
        pending,
        unasked: 0,
        held,
        suspended: 0,
        finished,
        finished_time,
        earlier_s: None,
        told: None,
        first,
        others: UnderWay::default(),
    }
}

fn view(app: u32, at: u64, masters: f64, held: f64, phases: Vec<PhaseView>) -> JobView {
    let tasks: f64 = phases.iter().map(|phase| f64::from(phase.left()) * phase.one).sum();
    JobView {
        app: AppId(app),
        submitted: Millis(at),
        priority: 0,
        held: held + masters,
        demand: tasks + masters,
        masters,
        attained: 0.0,
        remaining: 0.0,
        hints: Hints::default(),
        phases,
        changed: true,
    }
}

fn plan(settings: &Settings, jobs: &[JobView], entitled: f64, now: Millis) -> Vec<Target> {
    let settings = settings.queue("root.default");
    let total = Resource::new(100 * 1024, 0);
    create(PolicyKind::Flex).plan(&Supply { now, total, entitled, attainable: entitled, settings }, jobs)
}

/// Submission, the ApplicationMaster's part, phases as [`phase`] takes them, and a tag.
type RawJob = (u64, f64, Vec<(f64, u32, u32, u32)>, &'static str);

/// Jobs as the policy may see them, degenerate ones included: containers of several sizes, or of none.
fn any_jobs() -> impl Strategy<Value = Vec<JobView>> {
    let tag = prop_oneof![
        Just(""),
        Just("hiatus.deadline=+30"),
        Just("hiatus.weight=3"),
        Just("hiatus.metric=number-tardy"),
        Just("hiatus.sla=10:1/20:4"),
        Just("hiatus.deadline=never"),
    ];
    let one = prop_oneof![4 => Just(0.01), 2 => Just(0.025), 1 => Just(0.3), 1 => Just(0.0)];
    let phases = prop::collection::vec((one, 0u32..40, 0u32..10, 0u32..10), 0..3);
    let job = (0u64..100_000, prop_oneof![Just(0.0), Just(0.01)], phases, tag);
    prop::collection::vec(job, 0..14).prop_map(|jobs| {
        let job = |(app, (at, masters, raw, tag)): (usize, RawJob)| {
            let held = raw.iter().map(|(one, _, held, _)| f64::from(*held) * one).sum();
            let phases = raw.into_iter().map(|(one, pending, held, done)| phase(one, pending, held, done)).collect();
            let hints = Hints::read(&[tag.to_string()], 0);
            JobView { hints, ..view(app as u32, at, masters, held, phases) }
        };
        jobs.into_iter().enumerate().map(job).collect()
    })
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let metric = prop::sample::select(hiatus_core::flex::Metric::NAMES.to_vec());
    (metric, 0.0..=1.0f64, prop_oneof![Just("0"), Just("40")], prop_oneof![Just("none"), Just("5:1/50:2")]).prop_map(
        |(metric, slack, deadline, sla)| {
            let slack = slack.to_string();
            let knobs =
                [("flex-metric", metric), ("flex-slack", &slack), ("flex-deadline-s", deadline), ("flex-sla", sla)];
            let own = |(knob, value): (&str, &str)| (format!("yarn.scheduler.hiatus.{knob}"), value.to_string());
            Settings::parse(&knobs.map(own).into_iter().collect()).expect("within their ranges")
        },
    )
}

proptest! {
    #[test]
    fn targets_use_what_the_jobs_can_use_and_all_others_stay_within_their_demand(
        jobs in any_jobs(), settings in any_settings(), entitled in 0.0..=1.0f64
    ) {
        let targets = plan(&settings, &jobs, entitled, Millis(120_000));
        let mut last = BTreeMap::new();
        for target in &targets {
            let before = last.insert(target.app, target.share).unwrap_or(0.0);
            prop_assert!(target.share >= before - 1e-9, "falls from {before} to {}", target.share);
        }
        prop_assert_eq!(last.len(), jobs.len(), "every job has a place");
        let masters: f64 = jobs.iter().map(|job| job.masters).sum();
        let demand: f64 = jobs.iter().map(|job| job.demand).sum();
        let given: f64 = last.values().sum();
        prop_assert!((given - demand.min(entitled).max(masters)).abs() < 1e-6, "{given} of {demand} and {entitled}");
        for job in &jobs {
            let share = last[&job.app];
            prop_assert!(job.masters - 1e-9 <= share && share <= job.demand.max(job.masters) + 1e-9, "{share} of {job:?}");
        }
    }

    #[test]
    fn c8_c13_c14_minima_are_kept_and_fair_gives_the_targets_back(
        tasks in prop::collection::vec(1u32..60, 1..14), slots in 28u32..100, slack in 0.0..=1.0f64,
    ) {
        let one = 1.0 / f64::from(slots);
        let jobs: Vec<JobView> =
            tasks.iter().enumerate().map(|(app, tasks)| view(app as u32, 0, 0.0, 0.0, vec![phase(one, *tasks, 0, 0)])).collect();
        let key = "yarn.scheduler.hiatus.flex-slack".to_string();
        let settings = Settings::parse(&BTreeMap::from([(key, slack.to_string())])).unwrap();
        let entitled = jobs.iter().map(|job| job.demand).sum::<f64>().min(1.0);
        let targets = plan(&settings, &jobs, entitled, Millis(0));
        let given: BTreeMap<u32, u32> =
            targets.iter().map(|target| (target.app.0, (target.share / one).round() as u32)).collect();
        // Twice as many slots as jobs: each is sure of one, and of its fair part of what the slack leaves.
        let whole: Vec<Bounds> = tasks.iter().map(|tasks| Bounds { min: 1, max: *tasks }).collect();
        let used = (entitled / one).round() as u32;
        let shared = ((1.0 - slack) * f64::from(used)) as u32;
        let minima = waterline(shared.max(tasks.len().min(used as usize / 2) as u32), &whole);
        let given: Vec<u32> = given.into_values().collect();
        for (given, minimum) in given.iter().zip(&minima) {
            prop_assert!(given >= minimum, "{given} below {minimum}");
        }
        let revised: Vec<Bounds> =
            given.iter().zip(&tasks).map(|(min, tasks)| Bounds { min: *min, max: *tasks }).collect();
        prop_assert_eq!(waterline(used, &revised), given);
    }

    #[test]
    fn law_9_same_facts_same_decisions(jobs in any_jobs(), settings in any_settings(), entitled in 0.0..=1.0f64) {
        let once = || plan(&settings, &jobs, entitled, Millis(50_000));
        prop_assert_eq!(once(), once());
    }
}
