use super::*;
use crate::cluster::testbed::{Room, Testbed};
use crate::cluster::Preemption;
use crate::studies::distance::mixes::Mix;
use crate::workload::cluster::{gb, secs, Job};
use hiatus_core::units::Resource;
use proptest::prelude::*;
use std::collections::BTreeMap;

const TASK_MB: i64 = 2048;

fn pool(tasks: i64) -> Pool {
    Pool { memory_mb: tasks * TASK_MB, master_start: secs(4), task_start: secs(1) }
}

/// Without any start times.
fn bare(tasks: i64) -> Pool {
    Pool { master_start: secs(0), task_start: secs(0), ..pool(tasks) }
}

fn job(at_s: u64, stages: &[(usize, u64)]) -> Job {
    let job = Job { master: Resource::new(1, 0), ..Job::new("job") }.at(secs(at_s));
    stages.iter().fold(job, |job, &(count, each_s)| job.sized_tasks(count, secs(each_s), gb(2)))
}

/// Mean sojourn in the simulator, where an ended task's place is free from the node's next heartbeat on.
fn simulated_s(jobs: &[Job], heartbeat: Millis) -> f64 {
    let testbed = Testbed {
        nodes: 5,
        room: Room::Pool(gb(16) + Resource::new(8, 0)),
        heartbeat,
        master_start: secs(4).since(heartbeat),
        properties: Vec::new(),
        ..Testbed::thesis("fifo", Preemption::Wait)
    };
    testbed.world(jobs, 1).unwrap().run().outcome().mean_sojourn_s(|_| true)
}

#[test]
fn a_job_alone_takes_its_waves_of_tasks_after_its_applicationmaster() {
    // 60 tasks in 40 places: two waves of 61 s.
    let alone = [job(0, &[(60, 60)])];
    assert_eq!(Order::ALL.map(|order| pool(40).mean_s(&alone, order)), [126.0; 4]);
    // 20 maps and two reduces: one wave each.
    assert_eq!(pool(40).mean_s(&[job(7, &[(20, 10), (2, 30)])], Order::Fifo), 4.0 + 11.0 + 31.0);
}

#[test]
fn who_goes_first_is_what_the_orders_differ_in() {
    // On one place: 10 s at 0 s, 6 s at 1 s, 2 s at 2 s.
    let jobs = [job(0, &[(1, 10)]), job(1, &[(1, 6)]), job(2, &[(1, 2)])];
    let sojourns = |order| bare(1).sojourns_s(&jobs, order);
    assert_eq!(sojourns(Order::Srpt), [18.0, 8.0, 2.0]);
    assert_eq!(sojourns(Order::Sjf), [10.0, 17.0, 10.0]);
    assert_eq!(sojourns(Order::Fifo), [10.0, 15.0, 16.0]);
    // Sharing, the third would end at 7.5 s, the second at 14.5 s, the first at 18 s.
    assert_eq!(sojourns(Order::Fsp), [18.0, 8.0, 2.0]);
}

#[test]
fn fsp_goes_by_who_would_end_first_and_srpt_by_what_is_left() {
    // Three places. At 6 s 12 s of work are left of the wide job, 7 s of the narrow one; shared, the wide one has two places and ends
    // after 6 s more, the narrow one after 7 s.
    let jobs = [job(0, &[(3, 10)]), job(6, &[(1, 7)])];
    assert_eq!(bare(3).sojourns_s(&jobs, Order::Srpt), [14.0, 7.0]);
    assert_eq!(bare(3).sojourns_s(&jobs, Order::Fsp), [10.0, 11.0]);
}

#[test]
fn containers_take_room_by_their_size() {
    // Four GiB: two maps of 1 GiB beside a reduce of 2 GiB of another job, which waits for none of them.
    let small = Job::new("small").sized_tasks(2, secs(10), gb(1));
    let large = Job::new("large").sized_tasks(2, secs(10), gb(2));
    assert_eq!(bare(2).sojourns_s(&[small, large], Order::Srpt), [10.0, 20.0]);
}

#[test]
fn it_agrees_with_the_simulator_within_two_percent_where_both_do_the_same() {
    let (alone, sixty) = ([job(0, &[(60, 60)])], Mix::Like.draw(105.0, 1, 0));
    // Between two tasks a place is empty for half a heartbeat in the mean. On a busy cluster that is load, and sixty jobs wait for it.
    let cases = [("alone", &alone[..], secs(1)), ("sixty", &sixty[..], Millis(100))];
    for (what, jobs, heartbeat) in cases {
        let (bound_s, simulated_s) = (pool(40).mean_s(jobs, Order::Fifo), simulated_s(jobs, heartbeat));
        assert!((simulated_s / bound_s - 1.0).abs() < 0.02, "{what}: {bound_s} s, simulated {simulated_s} s");
    }
}

#[test]
fn on_every_mix_the_ideal_is_the_best_of_the_four() {
    let mixes = [(Mix::Mixed, 205.0), (Mix::Short, 33.0), (Mix::Reduces, 80.0), (Mix::Like, 105.0), (Mix::Wave, 200.0)];
    for (mix, gap_s) in mixes {
        for draw in 0..3 {
            let jobs = mix.draw(gap_s, 1, draw);
            let [ideal_s, others @ ..] = Order::ALL.map(|order| pool(40).mean_s(&jobs, order));
            assert!(
                others.iter().all(|other_s| ideal_s <= other_s * 1.0001),
                "{mix:?} {draw}: {ideal_s} s, {others:?}"
            );
        }
    }
}

/// Seconds of each job's tasks, when they come, and places.
fn tiny() -> impl Strategy<Value = (Vec<(u64, Vec<u64>)>, i64)> {
    (prop::collection::vec((0..4u64, prop::collection::vec(1..4u64, 1..3)), 1..4), 1..3i64)
}

fn jobs_of(tiny: &[(u64, Vec<u64>)]) -> Vec<Job> {
    let tasks = |times: &Vec<u64>| Stage {
        times: workload::Times::Each(times.iter().copied().map(secs).collect()),
        size: gb(2),
        partition: None,
        slowstart: 1.0,
    };
    tiny.iter().map(|(at_s, times)| job(*at_s, &[]).stage(tasks(times))).collect()
}

/// The smallest sum of ends that any schedule reaches: each second every choice of tasks is tried.
fn best_sum_of_ends(
    tiny: &[(u64, Vec<u64>)],
    places: usize,
    now: u64,
    known: &mut BTreeMap<(u64, Vec<Vec<u64>>), u64>,
) -> u64 {
    let left: Vec<Vec<u64>> = tiny.iter().map(|(_, times)| times.clone()).collect();
    if left.iter().flatten().all(|left| *left == 0) {
        return 0;
    }
    if let Some(best) = known.get(&(now, left.clone())) {
        return *best;
    }
    let tasks: Vec<(usize, usize)> = (0..tiny.len())
        .filter(|job| tiny[*job].0 <= now)
        .flat_map(|job| (0..tiny[job].1.len()).map(move |task| (job, task)))
        .filter(|(job, task)| tiny[*job].1[*task] > 0)
        .collect();
    let runs = places.min(tasks.len()) as u32;
    let choices = (0u32..1 << tasks.len()).filter(|choice| choice.count_ones() == runs);
    let after = choices.map(|choice| {
        let mut next = tiny.to_vec();
        let chosen = tasks.iter().enumerate().filter(|(place, _)| choice & (1 << place) != 0);
        chosen.for_each(|(_, (job, task))| next[*job].1[*task] -= 1);
        let ended = tiny
            .iter()
            .zip(&next)
            .filter(|((_, was), (_, is))| was.iter().any(|left| *left > 0) && is.iter().all(|left| *left == 0));
        ended.count() as u64 * (now + 1) + best_sum_of_ends(&next, places, now + 1, known)
    });
    let best = after.min().unwrap_or_default();
    known.insert((now, left), best);
    best
}

proptest! {
    #[test]
    fn on_one_place_the_ideal_is_the_best_that_there_is((tiny, _) in tiny()) {
        let jobs = jobs_of(&tiny);
        let came: f64 = tiny.iter().map(|(at_s, _)| *at_s as f64).sum();
        let best_s = (best_sum_of_ends(&tiny, 1, 0, &mut BTreeMap::new()) as f64 - came) / jobs.len() as f64;
        let ideal_s = bare(1).mean_s(&jobs, Order::Srpt);
        prop_assert!((ideal_s - best_s).abs() < 1e-6, "{} s, best {}", ideal_s, best_s);
    }

    #[test]
    fn on_several_places_nothing_is_better_than_the_best_and_the_ideal_is_near_it((tiny, places) in tiny()) {
        let jobs = jobs_of(&tiny);
        let came: f64 = tiny.iter().map(|(at_s, _)| *at_s as f64).sum();
        let best_s = (best_sum_of_ends(&tiny, places as usize, 0, &mut BTreeMap::new()) as f64 - came) / jobs.len() as f64;
        for order in Order::ALL {
            let found_s = bare(places).mean_s(&jobs, order);
            prop_assert!(found_s >= best_s - 1e-6, "{}: {} s, best {}", order.name(), found_s, best_s);
        }
        let ideal_s = bare(places).mean_s(&jobs, Order::Srpt);
        prop_assert!(ideal_s <= best_s * 1.5, "{} s, best {}", ideal_s, best_s);
    }
}
