//! Laws 17 and 20. Who was first stays first.
//!
//! Law 17. Two jobs of like size, of whose later stages nobody knows (Spark, Tez): what they take from each other in turns is bounded by what
//! there is to learn. Each stage that begins may change the order once, and then moves no more containers than the cluster has.

use crate::world::{gb, secs, Faults, Job, Node, World};
use hiatus_core::units::{Millis, Resource};
use proptest::prelude::*;

/// Two such jobs and their cluster.
#[derive(Clone, Copy, Debug)]
struct Pair {
    stages: usize,
    /// Of each stage of the first, and how many more the other has.
    tasks: usize,
    more: usize,
    task_s: u64,
    /// When the other comes.
    later_s: u64,
    /// Containers, ApplicationMasters aside.
    slots: i64,
    /// Tasks tell their progress.
    progress: bool,
}

/// How often they are suspended, and how often they may be.
fn suspensions(pair: Pair) -> (u64, u64) {
    let Pair { stages, tasks, more, task_s, later_s, slots, progress } = pair;
    let job = |name: &str, tasks: usize| (0..stages).fold(Job::new(name), |job, _| job.tasks(tasks, secs(task_s)));
    let world = World::new()
        .set("policy", "hfsp")
        .set("min-run-ms", "0")
        .set("min-resumed-ms", "0")
        .set("max-suspended-memory", "2")
        .node(Node::of(gb(slots + 2)))
        .job(job("one", tasks))
        .job(job("other", tasks + more).at(secs(later_s)));
    let mut world = if progress { world.telling_progress() } else { world };
    world.run();
    assert_eq!(world.count.preempted + world.count.expired, 0);
    (world.count.suspended, 2 * stages as u64 * slots as u64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_17_jobs_of_like_size_without_totals_change_their_order_once_a_stage_at_most(
        (stages, tasks, task_s) in (2..6usize, 4..24usize, 5..40u64),
        (more, later_s, slots) in (0..3usize, 0..60u64, 4..13i64),
        progress in any::<bool>(),
    ) {
        let (suspended, most) = suspensions(Pair { stages, tasks, more, task_s, later_s, slots, progress });
        prop_assert!(suspended <= most, "{suspended} suspensions, {most} are what two jobs of {stages} stages may need");
    }
}

/// Jobs that come to have virtually as much left, but for the last digit, found among 60,000 random pairs.
#[test]
fn law_17_rounding_changes_no_order() {
    let pair = Pair { stages: 3, tasks: 15, more: 2, task_s: 18, later_s: 31, slots: 4, progress: false };
    let pairs = [pair, Pair { tasks: 11, task_s: 21, later_s: 3, ..pair }, Pair { stages: 4, later_s: 3, ..pair }];
    for pair in pairs {
        let (suspended, most) = suspensions(pair);
        assert!(suspended <= most, "{suspended} suspensions, {most} may be, of {pair:?}");
    }
}

/// Jobs that are alike.
#[derive(Clone, Copy, Debug)]
struct Likes {
    jobs: u64,
    /// Between one and the next. ApplicationMasters of jobs that come together all begin before any task.
    apart_s: u64,
    /// Of each.
    tasks: usize,
    task_s: u64,
    /// As many reduces follow, of so many seconds and MiB each; they are asked for when all maps are done.
    reduces: usize,
    reduce_s: u64,
    reduce_mb: i64,
    default_task_s: u64,
    /// Tasks tell their progress, and jobs how many tasks they have.
    told: bool,
    /// ApplicationMasters hear late of their newest containers, and ask for them again.
    hears_late: bool,
}

impl Likes {
    fn new(jobs: u64, tasks: usize, task_s: u64) -> Likes {
        Likes {
            jobs,
            apart_s: 2,
            tasks,
            task_s,
            reduces: 0,
            reduce_s: 0,
            reduce_mb: 1024,
            default_task_s: 60,
            told: true,
            hears_late: false,
        }
    }
}

/// When each is done, in s, on sixteen containers.
fn ends(policy: &str, preemption: &str, likes: Likes) -> Vec<f64> {
    let Likes { jobs, apart_s, tasks, task_s, reduces, reduce_s, reduce_mb, default_task_s, told, hears_late } = likes;
    let reduces = |job: Job| match reduces {
        0 => job,
        _ => job.sized_tasks(reduces, secs(reduce_s), Resource::new(reduce_mb, 0)),
    };
    let names: Vec<String> = (0..jobs).map(|at| format!("job {at}")).collect();
    let world = World::new()
        .set("policy", policy)
        .set("preemption", preemption)
        .set("default-task-ms", &(default_task_s * 1000).to_string())
        .node(Node::of(gb(jobs as i64)))
        .nodes(4, &Node::of(gb(4)));
    let world = (0..jobs).zip(&names).fold(world, |world, (at, name)| {
        let job = Job::new(name).tasks(tasks, secs(task_s)).launch_delay(Millis(if hears_late { 1_300 } else { 1 }));
        world.job(reduces(job).at(secs(apart_s * at)))
    });
    let ask_again = if hears_late { 1.0 } else { 0.0 };
    let world = world.faults(Faults { ask_again, ..Faults::default() });
    let mut world = if told { world.telling_progress() } else { world };
    world.run();
    names.iter().zip(0..).map(|(name, at)| world.sojourn(name).seconds() + (apart_s * at) as f64).collect()
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

#[test]
fn law_20_equal_jobs_end_in_the_order_of_arrival_whatever_is_guessed_of_them() {
    for (policy, preemption) in
        [("hfsp", "wait"), ("hfsp", "suspend"), ("srpt", "wait"), ("srpt", "suspend"), ("flex", "wait")]
    {
        for (task_s, default_task_s) in [(20, 60), (70, 60), (200, 1), (200, 60), (200, 3600), (900, 60)] {
            let ends = ends(policy, preemption, Likes { default_task_s, ..Likes::new(3, 21, task_s) });
            let in_turn = |pair: &[f64]| pair[0] < pair[1] + 10.0;
            assert!(
                ends.windows(2).all(in_turn),
                "{policy}, {preemption}, {task_s} s, {default_task_s} s guessed: {ends:?}"
            );
        }
    }
}

/// What the tasks of one job took when they ended tells what those of all take, however its size was guessed before.
#[test]
fn law_20_equal_jobs_that_tell_nothing_end_in_the_order_of_arrival() {
    let likes = [(21, 20), (21, 62), (21, 900), (32, 200), (32, 400), (40, 58), (40, 62), (40, 90), (40, 400)];
    for (tasks, task_s) in likes {
        let ends = ends("hfsp", "wait", Likes { told: false, ..Likes::new(3, tasks, task_s) });
        assert!(ends.windows(2).all(|pair| pair[0] < pair[1] + 10.0), "{tasks} of {task_s} s: {ends:?}");
    }
}

/// For a moment such a job seems to have more to do, by as many tasks as it was just given containers; that costs nobody his place.
#[test]
fn law_20_equal_jobs_that_ask_again_for_what_they_have_not_heard_of_end_in_the_order_of_arrival() {
    for (tasks, task_s) in [(21, 62), (21, 200), (32, 62), (40, 90)] {
        let likes = Likes { told: false, hears_late: true, ..Likes::new(3, tasks, task_s) };
        let ends = ends("hfsp", "wait", likes);
        assert!(ends.windows(2).all(|pair| pair[0] < pair[1] + 10.0), "{tasks} of {task_s} s: {ends:?}");
    }
}

/// Training ahead of its turn, or a size that was learnt a little larger, would cost one of them a whole wave.
#[test]
fn law_20_equal_jobs_of_two_waves_end_when_they_would_under_fifo() {
    for task_s in [20, 200] {
        let likes = Likes::new(6, 32, task_s);
        let (first_come, served) = (ends("fifo", "wait", likes), ends("hfsp", "wait", likes));
        for (first_come, served) in first_come.iter().zip(&served) {
            assert!(*served <= first_come + 10.0, "{task_s} s: {served:?} and {first_come:?}");
        }
    }
}

/// One task that trains ahead of its turn costs a job whose tasks fill their waves to the last a wave more, and others nothing.
#[test]
fn law_20_equal_jobs_of_any_size_hardly_end_later_than_under_fifo() {
    let all = (2..7)
        .flat_map(|jobs| (1..100).step_by(7).map(move |tasks| Likes { apart_s: 0, ..Likes::new(jobs, tasks, 62) }));
    let slower: Vec<f64> = all
        .map(|likes| {
            let slower = mean(&ends("hfsp", "wait", likes)) / mean(&ends("fifo", "wait", likes));
            assert!(slower <= 1.1, "{slower} times fifo's mean: {likes:?}");
            slower
        })
        .collect();
    assert!(mean(&slower) <= 1.01, "{}", mean(&slower));
}

/// What a job says is to come counts from then on, in all jobs alike: one whose reduces begin has no more left than before. What they take
/// nobody knows, and their containers may be larger than those of maps.
#[test]
fn law_20_a_job_keeps_its_place_when_its_reduces_begin() {
    for (policy, preemption) in [("hfsp", "wait"), ("hfsp", "suspend"), ("srpt", "wait"), ("srpt", "suspend")] {
        for (task_s, reduce_s, reduce_mb) in [(20, 20, 1024), (20, 200, 1024), (100, 5, 512)] {
            let likes = Likes { reduces: 8, reduce_s, reduce_mb, ..Likes::new(4, 21, task_s) };
            let (first_come, served) = (ends("fifo", "wait", likes), ends(policy, preemption, likes));
            assert!(
                mean(&served) <= 1.03 * mean(&first_come) + 5.0,
                "{policy}, {preemption}, {likes:?}: {served:?}, and {first_come:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_20_no_like_job_ends_later_than_under_equal_sharing_by_more_than_two_tasks(
        (jobs, tasks, task_s) in (2..7u64, 1..60usize, 5..400u64),
        (reduces, reduce_s, reduce_mb) in (0..20usize, 5..200u64, prop::sample::select(vec![512i64, 1024])),
        default_task_s in prop::sample::select(vec![1u64, 60, 3600]),
        policy in prop::sample::select(vec!["hfsp", "srpt"]),
        told in any::<bool>(),
    ) {
        // Where an ApplicationMaster takes the room of a task, that goes on when the master's job is done. Of reduces that are to come nobody
        // knows where jobs tell nothing.
        let reduces = if told { reduces } else { 0 };
        let likes = Likes { jobs, apart_s: 2, tasks, task_s, reduces, reduce_s, reduce_mb, default_task_s, told, hears_late: false };
        let (shared, served) = (ends("fair", "wait", likes), ends(policy, "wait", likes));
        for (shared, served) in shared.iter().zip(&served) {
            prop_assert!(*served <= shared + 2.0 * task_s.max(reduce_s) as f64 + 20.0, "{policy}, {likes:?}: {served:?} and {shared:?}");
        }
    }
}
