//! What must hold for every workload.

use hiatus_sim::studies::single::{mean_sojourn, Moment, PolicyKind, PolicyKind::*};
use hiatus_sim::workload::{exactly_estimated, Job, Workload};
use proptest::prelude::*;

/// Rounding allowed between two ways to compute one time; workloads here last some hundred seconds.
const SAME: f64 = 1e-6;

/// Small workloads with everything that makes trouble: bursts of simultaneous arrivals, equal sizes, sizes of 0,
/// estimates far off, unequal weights.
fn workloads() -> impl Strategy<Value = Workload> {
    let gap = prop_oneof![2 => Just(0.0), 3 => 0.0..5.0, 1 => (0..4u8).prop_map(f64::from)];
    let size = prop_oneof![4 => 0.01..10.0, 2 => (0..6u8).prop_map(f64::from), 1 => 10.0..100.0];
    let factor = prop_oneof![2 => Just(1.0), 3 => 0.05..20.0];
    let weight = prop_oneof![Just(1.0), 0.1..5.0];
    prop::collection::vec((gap, size, factor, weight), 1..40).prop_map(|rows| {
        let mut arrival = 0.0;
        let job = |(gap, size, factor, weight): (f64, f64, f64, f64)| {
            arrival += gap;
            Job { arrival, size, estimate: size * factor, weight }
        };
        rows.into_iter().map(job).collect()
    })
}

fn same(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn shares_add_up_to_1_and_go_to_jobs_that_are_there(jobs in workloads()) {
        for policy in PolicyKind::ALL {
            let mut present = vec![false; jobs.len()];
            let mut shares = Vec::new();
            policy.observe(&jobs, |now, moment, state| {
                match moment {
                    Moment::Arrival(id) => present[id as usize] = true,
                    Moment::Completion(id) => present[id as usize] = false,
                    Moment::Internal => {}
                }
                shares.clear();
                state.allocation(&mut shares);
                let total: f64 = shares.iter().map(|(_, share)| share).sum();
                let expected = if present.contains(&true) { 1.0 } else { 0.0 };
                assert!((total - expected).abs() < SAME, "{policy} at {now}: shares add up to {total}");
                assert!(shares.iter().all(|&(id, share)| present[id as usize] && share > 0.0), "{policy}: {shares:?}");
            });
            assert!(!present.contains(&true), "{policy}: a job never completed");
        }
    }

    #[test]
    fn what_a_job_is_given_is_its_size(jobs in workloads()) {
        for policy in PolicyKind::ALL {
            let mut given = vec![0.0; jobs.len()];
            let (mut before, mut shares) = (0.0, Vec::new());
            policy.observe(&jobs, |now, moment, state| {
                shares.iter().for_each(|&(id, share): &(u32, f64)| given[id as usize] += share * (now - before));
                if let Moment::Completion(id) = moment {
                    let (given, size) = (given[id as usize], jobs[id as usize].size);
                    assert!((given - size).abs() < SAME, "{policy}: job {id} of size {size} was given {given}");
                }
                before = now;
                shares.clear();
                state.allocation(&mut shares);
            });
        }
    }

    #[test]
    fn all_policies_are_busy_at_the_same_times(jobs in workloads()) {
        let last = |policy: PolicyKind| policy.completions(&jobs).into_iter().fold(0.0, f64::max);
        for policy in PolicyKind::ALL {
            prop_assert!((last(policy) - last(Fifo)).abs() < SAME, "{policy}");
        }
    }

    #[test]
    fn s_01_srpt_has_the_least_mean_sojourn_time(jobs in workloads()) {
        let best = mean_sojourn(&jobs, &Srpt.completions(&jobs));
        for policy in PolicyKind::ALL {
            let mean = mean_sojourn(&jobs, &policy.completions(&jobs));
            prop_assert!(best <= mean * (1.0 + 1e-9) + SAME, "{policy}: {mean} < {best}");
        }
    }

    #[test]
    fn s_02_with_exact_estimates_late_handling_makes_no_difference(jobs in workloads()) {
        let exact = exactly_estimated(&jobs);
        for (clairvoyant, family) in [(Fsp, &[Fspe, FspePs, FspeLas, FspeDc][..]), (Srpt, &[Srpte, SrptePs, SrpteLas])] {
            let expected = clairvoyant.completions(&exact);
            for policy in family {
                let found = policy.completions(&exact);
                prop_assert!(same(&found, &expected), "{policy}: {found:?}, not {expected:?}");
            }
        }
    }

    #[test]
    fn s_02_with_exact_estimates_no_job_is_late(jobs in workloads()) {
        let exact = exactly_estimated(&jobs);
        // A job that becomes late changes who is served; a virtual completion of a job already done does not.
        for policy in [Fspe, FspePs, FspeLas, FspeDc, Srpte, SrptePs, SrpteLas] {
            let (mut before, mut shares) = (Vec::new(), Vec::new());
            policy.observe(&exact, |now, moment, state| {
                shares.clear();
                state.allocation(&mut shares);
                assert!(moment != Moment::Internal || before == shares, "{policy}: a job is late at {now}");
                std::mem::swap(&mut before, &mut shares);
            });
        }
    }

    #[test]
    fn s_03_fsp_completes_no_job_later_than_ps(jobs in workloads()) {
        let (fsp, ps) = (Fsp.completions(&jobs), Ps.completions(&jobs));
        prop_assert!(fsp.iter().zip(&ps).all(|(fsp, ps)| *fsp <= ps + SAME), "{fsp:?} {ps:?}");
    }

    /// Powers of two: of other weights rounding may break a tie, and who of two equals is late first is another order.
    #[test]
    fn equal_weights_are_no_weights(jobs in workloads(), weight in (-3..4).prop_map(|power| 2f64.powi(power))) {
        let equal: Workload = jobs.iter().map(|job| Job { weight, ..*job }).collect();
        prop_assert!(same(&Psbs.completions(&equal), &FspePs.completions(&equal)));
        prop_assert!(same(&Gps.completions(&equal), &Ps.completions(&equal)));
    }

    #[test]
    fn only_weighted_policies_look_at_weights(jobs in workloads()) {
        let unweighted: Workload = jobs.iter().map(|job| Job { weight: 1.0, ..*job }).collect();
        for policy in PolicyKind::ALL.into_iter().filter(|policy| !matches!(policy, Psbs | Gps)) {
            prop_assert_eq!(policy.completions(&jobs), policy.completions(&unweighted));
        }
    }

    #[test]
    fn blind_and_clairvoyant_policies_do_not_look_at_estimates(jobs in workloads()) {
        let exact = exactly_estimated(&jobs);
        for policy in [Fifo, Ps, Gps, Las, Srpt, Fsp] {
            prop_assert_eq!(policy.completions(&jobs), policy.completions(&exact));
        }
    }
}
