//! Every policy agrees with the naive simulator on random workloads without ties.

use hiatus_sim::studies::single::PolicyKind;
use hiatus_sim::workload::{Sizes, Synthesis, Workload};

use crate::naive;

#[track_caller]
fn agrees(jobs: &Workload, what: &str) {
    for policy in PolicyKind::ALL {
        let (found, expected) = (policy.completions(jobs), naive::completions(policy, jobs));
        for (id, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let apart = (found - expected).abs();
            assert!(apart < 1e-5, "{what}, {policy}: job {id} completes at {found}, not {expected}");
        }
    }
}

fn workload(shape: f64, sigma: f64, njobs: usize, seed: u64) -> Workload {
    Synthesis { sizes: Sizes::Weibull { shape }, sigma, njobs, weight_alpha: 1.0, ..Synthesis::default() }.draw(seed, 0)
}

#[test]
fn on_two_thousand_jobs() {
    agrees(&workload(0.5, 0.5, 2_000, 1), "shape 0.5, sigma 0.5");
}

/// On these two workloads the thesis' simulator completes three jobs of FSPE+LAS seconds apart from ours: its service
/// comes in quanta, and which of two nearly simultaneous things is first may depend on them.
#[test]
fn where_a_simulator_that_counts_in_quanta_decides_otherwise() {
    for (seed, shape) in [(3, 0.5), (5, 2.0)] {
        let synthesis = Synthesis { sizes: Sizes::Weibull { shape }, njobs: 2_500, ..Synthesis::default() };
        agrees(&synthesis.draw(seed, 0), &format!("shape {shape}, seed {seed}"));
    }
}

#[test]
fn on_many_small_workloads_of_every_shape_and_error() {
    for (seed, shape) in [0.25, 0.35, 0.5, 1.0, 2.0, 4.0].into_iter().enumerate() {
        for sigma in [0.0, 0.125, 0.5, 1.0, 2.0, 4.0] {
            agrees(&workload(shape, sigma, 120, seed as u64), &format!("shape {shape}, sigma {sigma}"));
        }
    }
}
