//! What the thesis promises, on random jobs in an ideal pool.

use crate::pool::{Job, Live, Pool};
use hiatus_core::view::TaskView;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Jobs as (arrival in s, tasks, seconds of each).
fn jobs(raw: &[(u32, usize, u32)]) -> Vec<Job> {
    raw.iter().map(|(at, tasks, each)| Job::at(f64::from(*at)).phase(*tasks, f64::from(*each))).collect()
}

/// Arrivals within 5 min, up to 30 tasks of up to 40 s.
fn any_jobs() -> impl Strategy<Value = Vec<(u32, usize, u32)>> {
    prop::collection::vec((0u32..300, 1usize..30, 1u32..40), 1..15)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn targets_fit_the_entitlement_and_do_not_fall_within_a_plan(raw in any_jobs(), slots in 1u32..16) {
        let (mut pool, mut hfsp) = (Pool::new(slots, jobs(&raw)), Live::of("hfsp", &[]));
        pool.tick = 5_000;
        while pool.done.iter().any(Option::is_none) {
            prop_assert!(pool.now < 100_000_000);
            let (views, targets) = hfsp.step(&mut pool);
            let mut last = BTreeMap::new();
            for target in targets {
                let before = last.insert(target.app, target.share).unwrap_or(0.0);
                prop_assert!(target.share >= before - 1e-9, "falls from {before} to {}", target.share);
            }
            prop_assert_eq!(last.len(), views.len());
            let demand: f64 = views.iter().map(|job| job.demand).sum();
            let given: f64 = last.values().sum();
            prop_assert!((given - demand.min(1.0)).abs() < 1e-6, "{given} of {demand}");
            prop_assert!(views.iter().all(|job| last[&job.app] <= job.demand + 1e-9));
        }
    }

    #[test]
    fn h_c14_what_is_learnt_of_a_phase_is_learnt_once(raw in any_jobs(), slots in 1u32..16) {
        let (mut pool, mut hfsp) = (Pool::new(slots, jobs(&raw)), Live::of("hfsp", &[]));
        let mut sizes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        while pool.done.iter().any(Option::is_none) {
            let (views, _) = hfsp.step(&mut pool);
            for view in views {
                let (source, size, _) = hfsp.sizing(view.app.0, &pool);
                let seen = sizes.entry(view.app.0).or_default();
                if source == "final" && seen.last().is_none_or(|last| (last - size).abs() > 1e-9) {
                    seen.push(size);
                }
            }
        }
        prop_assert!(sizes.values().all(|seen| seen.len() <= 1), "{sizes:?}");
    }

    #[test]
    fn h_c16_training_stays_under_its_cap_and_ends_in_time(raw in any_jobs(), slots in 4u32..16) {
        let (mut pool, mut hfsp) = (Pool::new(slots, jobs(&raw)), Live::of("hfsp", &[("training-timeout-ms", "10000")]));
        let cap = (0.25 * f64::from(slots)).floor().max(1.0);
        while pool.done.iter().any(Option::is_none) {
            let (views, targets) = hfsp.step(&mut pool);
            let mut places: BTreeMap<_, Vec<f64>> = BTreeMap::new();
            for target in &targets {
                places.entry(target.app).or_default().push(target.share * f64::from(slots));
            }
            let early: f64 = places.values().filter(|places| places.len() > 1).map(|places| places[0]).sum();
            prop_assert!(early <= cap + 1e-6, "{early} slots for training");
            for view in &views {
                let first = &view.phases[0].first;
                let over = |task: &TaskView| match task {
                    TaskView::Finished { .. } => true,
                    TaskView::Running { worked, .. } => worked.0 >= 10_000,
                };
                if first.len() >= 5 && first[..5].iter().all(over) {
                    prop_assert_eq!(hfsp.sizing(view.app.0, &pool).0, "final");
                }
            }
        }
    }

    #[test]
    fn h_c13_an_endless_stream_of_tiny_jobs_does_not_starve_a_large_one(
        tasks in 20usize..40, each in 5u32..15, slots in 8u32..16,
    ) {
        // Tiny jobs come twice as fast as the pool can serve them.
        let large = Job::at(0.0).phase(tasks, f64::from(each));
        let work = tasks as f64 * f64::from(each);
        let (every, bound) = (2.0 * 4.0 / f64::from(slots), 2.0 * work + 200.0);
        let mut all = vec![large];
        all.extend((0..(bound / every) as u32).map(|n| Job::at(f64::from(n) * every).phase(4, 4.0)));
        let (mut pool, mut hfsp) = (Pool::new(slots, all), Live::of("hfsp", &[]));
        pool.tick = 1_000;
        // Of at least eight slots T is two: it is done in less than the time that one would need, after it is late.
        while pool.done[0].is_none() {
            prop_assert!((pool.now as f64) < bound * 1000.0, "starved");
            hfsp.step(&mut pool);
        }
    }

    #[test]
    fn h_c13_a_large_job_is_done_when_it_is_so_under_fair_sharing_and_its_training_is_over(
        tasks in 20usize..100, each in 5u32..40, small in 5usize..12,
    ) {
        // Small jobs arrive for ever, as many as the pool can serve: under shortest first the large one would starve.
        let slots = 4;
        let every = small as f64 * 4.0 / f64::from(slots);
        let large = Job::at(0.0).phase(tasks, f64::from(each));
        let sized = |job: Job, size: f64| job.tag(&format!("hiatus.size={size}"));
        let work = tasks as f64 * f64::from(each);
        let mut all = vec![sized(large, work)];
        let endless = (4.0 * work / f64::from(slots) / every) as u32 + 20;
        all.extend((0..endless).map(|n| sized(Job::at(f64::from(n) * every).phase(small, 4.0), small as f64 * 4.0)));
        let known = [("training-share", "0"), ("after-training", "retain-ageing")];
        let (mut pool, mut hfsp) = (Pool::new(slots, all), Live::of("hfsp", &known));
        pool.tick = 1_000;
        let mut fair = None;
        while pool.done[0].is_none() {
            prop_assert!(pool.now < 10_000_000);
            hfsp.step(&mut pool);
            if pool.done[0].is_none() {
                // There may be more to do than its hint said.
                let virtually_done = hfsp.sizing(0, &pool).2 == 0.0;
                fair = fair.or(Some(pool.now as f64 / 1000.0)).filter(|_| virtually_done);
            }
        }
        // One task of it, and of a job before it, may be on its way when fair sharing would have been done.
        let slack = 2.0 * f64::from(each) + 30.0;
        prop_assert!(fair.is_none_or(|fair| pool.done[0].unwrap() <= fair + slack), "{fair:?} {:?}", pool.done[0]);
    }
}
