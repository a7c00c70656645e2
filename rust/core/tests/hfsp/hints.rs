//! What a user says about a job's size is a first estimate, and no more.

use crate::pool::{Job, Live, Pool};
use proptest::prelude::*;

/// A new job of so many tasks of 10 s.
fn new(tasks: usize) -> Job {
    Job::at(0.0).phase(tasks, 10.0)
}

fn run_until(hfsp: &mut Live, pool: &mut Pool, ms: u64) -> Vec<u32> {
    let mut order = Vec::new();
    while pool.now <= ms {
        order = hfsp.step(pool).1.iter().map(|target| target.app.0).collect();
    }
    order
}

#[test]
fn training_replaces_a_hint() {
    let mut hfsp = Live::of("hfsp", &[("training-share", "1")]);
    let mut pool = Pool::new(5, vec![new(20).tag("hiatus.size=4000")]);
    run_until(&mut hfsp, &mut pool, 0);
    assert_eq!(hfsp.sizing(0, &pool), ("hint", 4000.0, 4000.0));
    run_until(&mut hfsp, &mut pool, 10_000);
    assert_eq!(hfsp.sizing(0, &pool), ("final", 200.0, 150.0));
}

#[test]
fn a_hint_that_is_used_up_is_lost_and_makes_nobody_late() {
    let late = Job::at(0.0).uneven([vec![500; 5], vec![60_000; 3]].concat());
    let liar = Job::at(0.0).phase(20, 60.0).tag("hiatus.size=0.001");
    let mut pool = Pool::new(1, vec![Job::at(0.0).phase(9, 60.0).tag("hiatus.size=540"), liar, late]);
    let mut hfsp = Live::of("hfsp", &[("training-share", "0")]);
    let order = run_until(&mut hfsp, &mut pool, 10_500);
    assert_eq!(order, [2, 1, 0], "its hint makes it late no more than the first");
    let (source, size, left) = hfsp.sizing(1, &pool);
    // It had half a tick ahead of all others, and is taken for what is known of tasks by then: those of 0.5 s.
    assert!(source == "training" && size >= 20.0 * 0.5 && left > 0.5 * size, "{source} {size} {left}");
}

#[test]
fn what_a_job_that_is_done_had_said_of_itself_ages_nobody_less() {
    let left = |tag: &str| {
        // Its only task is done before the next plan: nothing is learnt from it.
        let brief = Job::at(0.0).phase(1, 1.0).tag(tag);
        let mut pool = Pool::new(2, vec![brief, Job::at(30.0).phase(40, 60.0)]);
        pool.tick = 10_000;
        let mut hfsp = Live::of("hfsp", &[]);
        run_until(&mut hfsp, &mut pool, 300_000);
        assert!(pool.done[0].is_some());
        hfsp.sizing(1, &pool).2
    };
    assert_eq!(left("hiatus.size=1e15"), left("hiatus.size=1"));
}

#[test]
fn what_the_first_phase_leaves_of_a_hint_is_the_next_ones() {
    let mut hfsp = Live::of("hfsp", &[]);
    let mut pool = Pool::new(5, vec![new(20).phase(10, 10.0).tag("hiatus.size=300")]);
    run_until(&mut hfsp, &mut pool, 40_500);
    let (source, size, _) = hfsp.sizing(0, &pool);
    assert_eq!((source, size), ("hint", 300.0), "200 were learnt");
    run_until(&mut hfsp, &mut pool, 51_000);
    assert_eq!(hfsp.sizing(0, &pool).0, "final");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_hint_gains_a_job_no_more_than_a_first_estimate_and_costs_others_no_more(
        raw in prop::collection::vec((0u32..300, 1usize..30, 1u32..40), 1..15),
        tasks in 100usize..300, each in 5u32..20, at in 0u32..300,
        hint in -3.0..9.0f64, slots in 4u32..16,
    ) {
        // Whatever it says, a large job is at its turn again when its first tasks have told its size: it may have had all
        // the pool for so long.
        let job = |(at, tasks, each): &(u32, usize, u32)| Job::at(f64::from(*at)).phase(*tasks, f64::from(*each));
        let run = |tag: &str| {
            let mut all = raw.iter().map(job).collect::<Vec<_>>();
            all.push(Job::at(f64::from(at)).phase(tasks, f64::from(each)).tag(tag));
            let mut pool = Pool::new(slots, all);
            pool.tick = 1_000;
            Live::of("hfsp", &[]).run(&mut pool)
        };
        let (silent, hinted) = (run("none"), run(&format!("hiatus.size={}", 10f64.powf(hint))));
        let training = 2.0 * 60.0;
        let gain = silent.last().unwrap() - hinted.last().unwrap();
        // One that is done within that time has not had to wait at all.
        let alone = f64::from(each) * (tasks as f64 / f64::from(slots)).ceil();
        prop_assert!(gain <= training || alone <= training, "{gain} s by a hint: {silent:?} {hinted:?}");
        let others = |done: &[f64]| done.iter().take(raw.len()).sum::<f64>() / raw.len() as f64;
        let loss = others(&hinted) - others(&silent);
        prop_assert!(loss <= training, "the others lose {loss} s: {silent:?} {hinted:?}");
    }
}
