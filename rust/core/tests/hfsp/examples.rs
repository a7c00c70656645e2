//! The numbers of the thesis' chapter 4: worked examples and figures.

use crate::pool::{mean_sojourn, Job, Live, Pool};
use hiatus_core::policy::{Supply, Target};
use hiatus_core::settings::Settings;
use hiatus_core::units::AppId;
use hiatus_core::view::JobView;

/// Two jobs of one task on one slot, in the order that `first` says at each moment.
fn in_order(sizes: [f64; 2], first: impl Fn(u64) -> u32) -> Vec<f64> {
    let jobs = sizes.map(|size| Job::at(0.0).phase(1, size)).to_vec();
    let mut plan = |supply: &Supply<'_>, jobs: &[JobView]| {
        let mut order: Vec<_> =
            jobs.iter().map(|job| Target { app: job.app, share: 1.0, keeps: 0.0, ahead: 0.0 }).collect();
        order.sort_by_key(|target| target.app != AppId(first(supply.now.0)));
        order
    };
    Pool::new(1, jobs).run(&Settings::default(), &mut plan)
}

/// HFSP that goes by first estimates, given as hints: a job of one task is neither tiny nor trained before it is done.
fn untrained() -> Live {
    Live::of("hfsp", &[("training-share", "0")])
}

/// The same under HFSP with these estimates.
fn by_estimates(sizes: [f64; 2], estimates: [f64; 2]) -> f64 {
    let job = |(size, estimate)| Job::at(0.0).phase(1, size).tag(&format!("hiatus.size={estimate}"));
    let jobs: Vec<Job> = sizes.into_iter().zip(estimates).map(job).collect();
    let done = untrained().run(&mut Pool::new(1, jobs.clone()));
    mean_sojourn(&jobs, &done)
}

fn mean(done: &[f64]) -> f64 {
    done.iter().sum::<f64>() / done.len() as f64
}

#[test]
fn fig_4_1_right_order_3_5_inverted_4_and_flapping_4_5() {
    assert_eq!(by_estimates([3.0, 2.0], [3.0, 2.0]), 3.5);
    assert_eq!(by_estimates([3.0, 2.0], [2.0, 3.0]), 4.0);
    // What continuous re-estimation would do: the jobs take turns.
    let flapping = in_order([3.0, 2.0], |now| (now / 1000 % 2) as u32);
    assert_eq!((flapping.clone(), mean(&flapping)), (vec![5.0, 4.0], 4.5));
}

#[test]
fn fig_4_4a_similar_sizes_an_error_costs_no_more_than_processor_sharing() {
    assert_eq!(by_estimates([1.0, 2.0], [1.0, 2.0]), 2.0);
    assert_eq!(by_estimates([1.0, 2.0], [2.0, 1.0]), 2.5);
}

#[test]
fn fig_4_4b_different_sizes_an_error_costs_a_lot() {
    assert_eq!(by_estimates([1.0, 10.0], [1.0, 10.0]), 6.0);
    let late_for_ever = in_order([1.0, 10.0], |_| 1);
    assert_eq!((late_for_ever.clone(), mean(&late_for_ever)), (vec![11.0, 10.0], 10.5));
    // A hint that is used up, here after two seconds of fair sharing, is lost.
    assert_eq!(by_estimates([1.0, 10.0], [10.0, 1.0]), 7.0);
}

#[test]
fn g_2_real_service_follows_the_virtual_order() {
    let job = |at, size: f64| Job::at(at).phase(1, size).tag(&format!("hiatus.size={size}"));
    let done = untrained().run(&mut Pool::new(1, vec![job(0.0, 3.0), job(0.0, 4.0), job(3.0, 3.0)]));
    assert_eq!(done, [3.0, 7.0, 10.0]);
}
