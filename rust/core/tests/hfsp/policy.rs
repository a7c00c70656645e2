//! The policy's rules one by one, on jobs in an ideal pool.

use crate::pool::{mean_sojourn, Job, Live, Pool, ONE};
use hiatus_core::policy::{Supply, Target};
use hiatus_core::units::{AppId, Millis};
use hiatus_core::view::JobView;

fn apps(targets: &[Target]) -> Vec<u32> {
    targets.iter().map(|target| target.app.0).collect()
}

/// The targets of the first plan, in slots.
fn first_plan(hfsp: &mut Live, slots: u32, jobs: Vec<Job>) -> Vec<(u32, f64)> {
    let (_, targets) = hfsp.step(&mut Pool::new(slots, jobs));
    targets.iter().map(|target| (target.app.0, (target.share * f64::from(slots) * 1e6).round() / 1e6)).collect()
}

#[test]
fn h_02_fewer_tasks_than_t_are_tiny_and_as_many_are_not() {
    let mut hfsp = Live::of("hfsp", &[]);
    let mut pool = Pool::new(2, vec![Job::at(0.0).phase(4, 10.0), Job::at(0.0).phase(5, 10.0)]);
    hfsp.step(&mut pool);
    assert_eq!(hfsp.sizing(0, &pool), ("tiny", 0.0, 0.0));
    assert_eq!(hfsp.sizing(1, &pool), ("initial", 300.0, 300.0));
}

/// A job of so many tasks in all of which the first, by which it is judged, are shorter than the others by far.
fn deceptive(first: &[u64], tasks: usize) -> Job {
    Job::at(0.0).uneven([first, &vec![60_000; tasks - first.len()]].concat())
}

#[test]
fn h_02_tiny_comes_before_late_and_late_before_the_rest() {
    let late = deceptive(&[500; 5], 8);
    let rest = Job::at(0.0).phase(9, 60.0).tag("hiatus.size=540");
    let tiny = Job::at(10.0).phase(1, 5.0);
    let mut pool = Pool::new(1, vec![rest, late, tiny]);
    let mut hfsp = Live::of("hfsp", &[("training-share", "0")]);
    let mut last = Vec::new();
    while pool.now <= 10_500 {
        last = apps(&hfsp.step(&mut pool).1);
    }
    assert_eq!(last, [2, 1, 0]);
}

#[test]
fn h_03_s_i_comes_from_earlier_jobs_and_s_f_from_the_first_tasks_once() {
    let uneven: Vec<u64> = [vec![10_000; 5], vec![50_000; 15]].concat();
    let mut pool = Pool::new(10, vec![Job::at(0.0).phase(1, 30.0), Job::at(40.0).uneven(uneven)]);
    let mut hfsp = Live::of("hfsp", &[("training-share", "0.5"), ("after-training", "replace")]);
    while pool.now <= 40_000 {
        hfsp.step(&mut pool);
    }
    assert_eq!(hfsp.sizing(1, &pool).1, 600.0, "20 tasks of the 30 s of the only earlier job");
    while pool.now <= 50_000 {
        hfsp.step(&mut pool);
    }
    let (source, size, left) = hfsp.sizing(1, &pool);
    assert_eq!((source, size), ("final", 200.0));
    assert_eq!(left, 150.0, "S_f is what is left");
    while pool.done[1].is_none() {
        assert_eq!(hfsp.sizing(1, &pool).1, 200.0, "the other tasks take longer, but there is one update only");
        hfsp.step(&mut pool);
    }
}

#[test]
fn h_03_progress_gives_743_4() {
    let five = vec![10_000, 12_000, 14_000, 120_000, 80_000];
    let tasks: Vec<u64> = [five, vec![47_000; 15]].concat();
    let mut pool = Pool::new(5, vec![Job::at(0.0).uneven(tasks)]);
    (pool.reports, pool.tick) = (true, 1_000);
    let mut hfsp = Live::of("hfsp", &[("training-share", "1"), ("after-training", "replace")]);
    while hfsp.policy.sizing(AppId(0)).is_none_or(|sizing| sizing.source != "final") {
        hfsp.step(&mut pool);
    }
    let (_, size, left) = hfsp.sizing(0, &pool);
    assert!((size - 20.0 * 47.2).abs() < 1e-6 && (left - 743.4).abs() < 1e-6, "{size}, {left}");
}

#[test]
fn h_04_training_comes_first_smallest_first_within_its_cap() {
    let new = |tasks| Job::at(0.0).phase(tasks, 10.0);
    let hinted = new(25).tag("hiatus.size=900");
    let plan = first_plan(
        &mut Live::of("hfsp", &[("training-share", "0.35"), ("training-preempts", "on")]),
        20,
        vec![new(40), hinted, new(20)],
    );
    // T is 7 of 20 slots: five for the smallest, here by a hint, two for the next, none for the largest.
    assert_eq!(plan[..2], [(1, 5.0), (2, 2.0)]);
    assert_eq!(plan[2..], [(1, 18.0), (2, 2.0), (0, 0.0)]);
}

#[test]
fn gap_46_t_may_be_a_number_of_containers_whatever_the_size_of_the_cluster() {
    for slots in [30, 300] {
        let jobs = [100, 50, 500].map(|tasks| Job::at(0.0).phase(tasks, 10.0)).to_vec();
        let plan =
            first_plan(&mut Live::of("hfsp", &[("training-slots", "7"), ("training-preempts", "on")]), slots, jobs);
        assert_eq!(plan[..2], [(1, 5.0), (0, 2.0)]);
    }
}

#[test]
fn gap_17_tasks_that_wait_for_maps_train_nothing() {
    let ahead = |gated| {
        let jobs = vec![Job::at(0.0).phase(40, 10.0), Job::at(0.0).phase(20, 10.0)];
        let mut hfsp = Live::of("hfsp", &[("training-slots", "5"), ("training-preempts", "on")]);
        let settings = hfsp.settings.clone();
        let (_, targets) = Pool::new(20, jobs).step(&settings, &mut |supply, jobs| {
            let mut jobs = jobs.to_vec();
            jobs[1].phases[0].gated = gated;
            hfsp.policy.plan(supply, &jobs)
        });
        targets[0].app.0
    };
    assert_eq!([ahead(false), ahead(true)], [1, 0], "the smaller one trains first, if it can");
}

#[test]
fn law_2_what_trains_of_a_job_that_may_not_run_is_kept_from_nobody() {
    // It was parked, and cannot be suspended.
    let jobs = vec![Job::at(0.0).phase(10, 30.0), Job::at(0.5).phase(20, 30.0)];
    let mut hfsp = Live::of("hfsp", &[]);
    let settings = hfsp.settings.clone();
    let mut pool = Pool::new(10, jobs);
    hfsp.step(&mut pool);
    let (_, targets) = pool.step(&settings, &mut |supply, jobs| {
        assert_eq!(jobs[0].held, 1.0);
        let parked = JobView { demand: 0.0, ..jobs[0].clone() };
        hfsp.policy.plan(supply, &[parked, jobs[1].clone()])
    });
    let whole: f64 = targets.iter().rfind(|target| target.app == AppId(1)).unwrap().share;
    assert_eq!(whole, 1.0);
}

#[test]
fn h_04_jobs_in_training_alone_may_fill_the_cluster() {
    let plan =
        first_plan(&mut Live::of("hfsp", &[]), 8, vec![Job::at(0.0).phase(6, 10.0), Job::at(0.0).phase(6, 10.0)]);
    let last = |app| plan.iter().rfind(|(other, _)| *other == app).unwrap().1;
    assert_eq!((last(0), last(1)), (6.0, 2.0));
}

#[test]
fn h_04_the_cap_is_one_container_at_least_and_nothing_at_zero() {
    let jobs = || vec![Job::at(0.0).phase(9, 9.0), Job::at(0.0).phase(8, 9.0)];
    assert_eq!(first_plan(&mut Live::of("hfsp", &[("training-preempts", "on")]), 3, jobs())[0], (1, 1.0));
    assert_eq!(first_plan(&mut Live::of("hfsp", &[("training-share", "0")]), 3, jobs()), [(1, 3.0), (0, 0.0)]);
}

#[test]
fn h_06_who_is_really_done_still_takes_a_virtual_share() {
    // The first is done at 10, virtually at 20: until then the second ages at half speed.
    let job = |size| Job::at(0.0).phase(1, size).tag(&format!("hiatus.size={size}"));
    let mut pool = Pool::new(1, vec![job(10.0), job(40.0)]);
    let mut hfsp = Live::of("hfsp", &[]);
    let mut left = Vec::new();
    for end in [10_000, 20_000, 30_000] {
        while pool.now <= end {
            hfsp.step(&mut pool);
        }
        left.push(hfsp.sizing(1, &pool).2);
    }
    assert_eq!(left, [35.0, 30.0, 20.0]);
}

#[test]
fn h_07_late_jobs_go_one_after_the_other_or_share() {
    // Judged by one task each, the second needs 3.5 s, the first 10.5 s; the third trains on.
    let jobs = || vec![deceptive(&[1_500], 8), deceptive(&[500], 8), deceptive(&[], 8).tag("hiatus.size=480")];
    let targets = |knobs: &[(&str, &str)]| {
        let knobs = [knobs, &[("training-tasks", "1"), ("training-preempts", "on")]].concat();
        let (mut hfsp, mut pool) = (Live::of("hfsp", &knobs), Pool::new(4, jobs()));
        while pool.now <= 10_000 {
            hfsp.step(&mut pool);
        }
        let targets = hfsp.step(&mut pool).1;
        targets.iter().map(|target| (target.app.0, target.share * 4.0)).collect::<Vec<_>>()
    };
    assert_eq!(targets(&[]), [(1, 3.0), (0, 0.0), (2, 1.0)]);
    let mut shared = targets(&[("late-jobs", "shared")]);
    shared[..2].sort_by_key(|target| target.0);
    assert_eq!(shared, [(0, 1.5), (1, 1.5), (2, 1.0)]);
}

#[test]
fn a_small_late_job_does_not_wait_for_the_end_of_a_large_one() {
    let small = Job::at(20.0).phase(12, 5.0);
    let mut pool = Pool::new(4, vec![deceptive(&[500; 5], 100), small]);
    let mut hfsp = Live::of("hfsp", &[("training-share", "0.5")]);
    while pool.done[1].is_none() && pool.now <= 120_000 {
        hfsp.step(&mut pool);
    }
    assert!(pool.done[1].is_some(), "it is late as the large one is, which has an hour and a half left");
}

#[test]
fn gap_11_ageing_may_count_on_when_training_ends() {
    let left = |rule| {
        let other = Job::at(0.0).phase(20, 500.0).tag("hiatus.size=10000");
        let mut pool = Pool::new(5, vec![Job::at(0.0).phase(20, 20.0), other]);
        let mut hfsp = Live::of("hfsp", &[("after-training", rule), ("training-share", "1")]);
        while pool.now <= 20_000 {
            hfsp.step(&mut pool);
        }
        hfsp.sizing(0, &pool).2
    };
    // Virtually it had 20 s of 2.5 slots, 50 of 400 slot-seconds; in reality its five first tasks are done.
    assert_eq!(left("retain-ageing"), 350.0);
    assert_eq!(left("replace"), 300.0);
}

#[test]
fn weights_make_a_job_age_faster_as_far_as_its_queue_allows() {
    let left = |knobs: &[(&str, &str)]| {
        let job = |weight| Job::at(0.0).phase(9, 100.0).tag("hiatus.size=900").tag(&format!("hiatus.weight={weight}"));
        let mut pool = Pool::new(4, vec![job(1), job(3)]);
        let mut hfsp = Live::of("hfsp", &[knobs, &[("default-task-ms", "100000")]].concat());
        while pool.now <= 10_000 {
            hfsp.step(&mut pool);
        }
        [0, 1].map(|job| hfsp.sizing(job, &pool).2)
    };
    assert_eq!(left(&[("hints-max-weight", "3")]), [890.0, 870.0]);
    assert_eq!(left(&[]), [880.0, 880.0], "nobody is worth more than one by default");
    assert_eq!(left(&[("hints-max-weight", "3"), ("hints", "ignore")]), [880.0, 880.0]);
}

#[test]
fn jobs_age_in_what_application_masters_leave() {
    let left = |masters: f64| {
        let mut pool = Pool::new(4, vec![Job::at(0.0).phase(9, 100.0).tag("hiatus.size=900")]);
        let mut hfsp = Live::of("hfsp", &[]);
        let settings = hfsp.settings.clone();
        while pool.now <= 10_000 {
            pool.step(&settings, &mut |supply, jobs| {
                let with_master = JobView { masters, ..jobs[0].clone() };
                hfsp.policy.plan(supply, &[with_master])
            });
        }
        hfsp.sizing(0, &pool).2
    };
    assert_eq!([left(0.0), left(0.5)], [860.0, 880.0]);
}

#[test]
fn untrained_factor_pushes_untrained_jobs_back() {
    let order = |factor| {
        let known = Job::at(0.0).phase(9, 100.0).tag("hiatus.size=900");
        let mut hfsp = Live::of("hfsp", &[("untrained-factor", factor), ("training-share", "0")]);
        apps(&hfsp.step(&mut Pool::new(4, vec![known, Job::at(0.0).phase(9, 100.0)])).1)
    };
    assert_eq!(order("1"), [1, 0]);
    assert_eq!(order("2"), [0, 1]);
}

#[test]
fn gap_49_a_phase_that_grows_to_t_tasks_leaves_the_tiny_class_for_good() {
    // Reduces are asked for in steps.
    let pool = Pool::new(4, vec![Job::at(0.0).phase(1, 5.0)]);
    let mut hfsp = Live::of("hfsp", &[]);
    let settings = hfsp.settings.clone();
    let total = ONE.times(pool.slots);
    let mut sized = |tasks| {
        let mut view = pool.view(0, total).unwrap();
        view.phases[0].pending = tasks;
        let settings = settings.queue("root.default");
        hfsp.policy.plan(&Supply { now: Millis(0), total, entitled: 1.0, attainable: 1.0, settings }, &[view]);
        hfsp.sizing(0, &pool)
    };
    assert_eq!(sized(4), ("tiny", 0.0, 0.0));
    assert_eq!(sized(5), ("initial", 300.0, 300.0));
    assert_eq!(sized(20), ("initial", 1200.0, 1200.0));
    assert_eq!(sized(3), ("initial", 180.0, 180.0));
}

#[test]
fn endless_executors_neither_block_nor_starve() {
    // A service holds all it can get for ever (here: an hour) and reports nothing; jobs of 20 tasks come every 30 s and
    // would fill two thirds of the pool.
    let mut jobs = vec![Job::at(0.0).phase(20, 3600.0)];
    jobs.extend((0..60).map(|n| Job::at(100.0 + 30.0 * f64::from(n)).phase(20, 10.0)));
    let (mut pool, mut hfsp) = (Pool::new(10, jobs.clone()), Live::of("hfsp", &[]));
    let mut held = 0;
    while pool.now < 1_900_000 {
        let (views, _) = hfsp.step(&mut pool);
        held += views.iter().filter(|job| job.app.0 == 0).map(|job| job.phases[0].held).sum::<u32>();
    }
    let done: Vec<f64> = pool.done[1..].iter().map(|done| done.unwrap()).collect();
    let mean = mean_sojourn(&jobs[1..], &done);
    assert!(mean < 60.0, "others wait {mean} s");
    let part = f64::from(held) / (1_900_000.0 / 500.0 * 10.0);
    assert!(part > 0.3, "the service holds {part} of the pool");
}

#[test]
fn few_tasks_that_run_for_ever_are_not_tiny_for_ever() {
    let mut pool = Pool::new(4, vec![Job::at(0.0).phase(4, 3600.0), Job::at(70.0).phase(20, 5.0)]);
    let mut hfsp = Live::of("hfsp", &[]);
    while pool.done[1].is_none() && pool.now < 1_000_000 {
        hfsp.step(&mut pool);
    }
    assert!(pool.done[1].is_some_and(|done| done < 200.0), "{:?}", pool.done);
}
