//! Vectors whose completion times are known exactly, by the ids of the specification.

use hiatus_sim::studies::single::{mean_sojourn, PolicyKind, PolicyKind::*};
use hiatus_sim::workload::Job;

use crate::job;

/// Completion times agree to the digits in which the vectors are printed.
#[track_caller]
fn completes(policy: PolicyKind, jobs: &[Job], expected: &[f64], tolerance: f64) {
    let found = policy.completions(jobs);
    let agrees = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() <= tolerance);
    assert!(agrees && found.len() == expected.len(), "{policy}: completes at {found:?}, not {expected:?}");
}

#[track_caller]
fn exactly(policy: PolicyKind, jobs: &[Job], expected: &[f64]) {
    completes(policy, jobs, expected, 1e-12);
}

#[test]
fn g_1_two_jobs_of_figures_2_1_to_2_3() {
    let jobs = [Job::exact(0.0, 4.0), Job::exact(1.0, 2.0)];
    for (policy, expected, mean) in [
        (Fifo, [4.0, 6.0], 4.5),
        (Ps, [6.0, 5.0], 5.0),
        (Las, [6.0, 4.0], 4.5),
        (Srpt, [6.0, 3.0], 4.0),
        (Fsp, [6.0, 3.0], 4.0),
    ] {
        exactly(policy, &jobs, &expected);
        assert_eq!(mean_sojourn(&jobs, &policy.completions(&jobs)), mean, "{policy}");
    }
}

#[test]
fn g_2_virtual_and_real_progress_of_figure_4_2() {
    let jobs = [Job::exact(0.0, 3.0), Job::exact(0.0, 4.0), Job::exact(3.0, 3.0)];
    exactly(Ps, &jobs, &[7.5, 9.5, 10.0]);
    exactly(Fsp, &jobs, &[3.0, 7.0, 10.0]);
    exactly(Srpt, &jobs, &[3.0, 10.0, 6.0]);
}

#[test]
fn g_3_a_long_job_and_two_short_ones() {
    let jobs = [Job::exact(0.0, 30.0), Job::exact(10.0, 10.0), Job::exact(15.0, 10.0)];
    for (policy, expected, mean) in
        [(Ps, [50.0, 37.5, 42.5], 35.0), (Srpt, [50.0, 20.0, 30.0], 25.0), (Fsp, [50.0, 20.0, 30.0], 25.0)]
    {
        exactly(policy, &jobs, &expected);
        assert!((mean_sojourn(&jobs, &policy.completions(&jobs)) - mean).abs() < 1e-12, "{policy}");
    }
}

#[test]
fn g_4_starvation() {
    let jobs = [Job::exact(0.0, 15.0), Job::exact(0.0, 10.0), Job::exact(10.0, 10.0), Job::exact(20.0, 10.0)];
    exactly(Srpt, &jobs, &[45.0, 10.0, 20.0, 30.0]);
    exactly(Fsp, &jobs, &[25.0, 10.0, 35.0, 45.0]);
    exactly(Las, &jobs, &[45.0, 40.0, 40.0, 40.0]);
}

#[test]
fn s_04_in_an_endless_stream_only_srpt_starves_the_first_job() {
    let mut jobs = vec![Job::exact(0.0, 15.0)];
    jobs.extend((0..500).map(|i| Job::exact(10.0 * f64::from(i), 10.0)));
    for policy in [Fsp, Fspe, FspePs] {
        assert!((policy.completions(&jobs)[0] - 25.0).abs() < 1e-9, "{policy}");
    }
    assert_eq!(Srpt.completions(&jobs)[0], 5015.0, "served when the stream ends");
}

#[test]
fn g_5_estimates_without_late_jobs_for_long() {
    let jobs = [job(0.0, 10.0, 15.0), job(1.0, 12.0, 4.0), job(2.0, 5.0, 7.0), job(10.0, 2.0, 3.0)];
    exactly(Fifo, &jobs, &[10.0, 22.0, 27.0, 29.0]);
    exactly(Ps, &jobs, &[26.0, 29.0, 19.0, 18.0]);
    exactly(Las, &jobs, &[27.0, 29.0, 17.0, 12.0]);
    for policy in [Srpt, Fsp] {
        exactly(policy, &jobs, &[17.0, 29.0, 7.0, 12.0]);
    }
    for policy in [Srpte, Fspe, FspePs, FspeLas, FspeDc] {
        exactly(policy, &jobs, &[29.0, 13.0, 20.0, 15.0]);
    }
    for policy in [SrptePs, SrpteLas] {
        exactly(policy, &jobs, &[29.0, 21.0, 19.0, 14.0]);
    }
}

#[test]
fn g_6_estimates_with_late_jobs() {
    let jobs = [job(0.0, 10.0, 2.0), job(0.5, 3.0, 3.3), job(1.2, 1.0, 0.9), job(6.0, 4.0, 2.7), job(7.3, 0.6, 0.5)];
    for (policy, expected, mean) in [
        (Fifo, [10.0, 13.0, 14.0, 18.0, 18.6], 11.72),
        (Ps, [18.6, 8.5667, 4.2, 15.35, 9.4167], 8.2267),
        (Las, [18.6, 10.6, 3.0, 12.6, 7.9], 7.54),
        (Srpt, [18.6, 4.5, 2.2, 10.6, 7.9], 5.76),
        (Fsp, [18.6, 4.5, 2.2, 10.6, 7.9], 5.76),
        (Srpte, [10.0, 18.6, 11.6, 15.6, 10.6], 10.28),
        (Fspe, [11.0, 14.0, 2.2, 18.6, 14.6], 9.08),
        (FspePs, [17.8833, 14.6833, 2.2, 18.6, 10.3333], 9.74),
        (Psbs, [17.8833, 14.6833, 2.2, 18.6, 10.3333], 9.74),
        (FspeLas, [18.6, 13.0, 2.2, 14.0, 8.9], 8.34),
        (FspeDc, [18.6, 12.6667, 2.2, 17.3333, 9.3667], 9.0333),
        (SrptePs, [18.2, 11.0, 4.1, 18.6, 8.6], 9.1),
        (SrpteLas, [18.6, 10.8, 4.0, 17.5, 8.5], 8.88),
    ] {
        completes(policy, &jobs, &expected, 5e-5);
        assert!((mean_sojourn(&jobs, &policy.completions(&jobs)) - mean).abs() <= 5e-5, "{policy}");
    }
}

#[test]
fn g_7_weights() {
    let weigh = |jobs: &[Job], weights: &[f64]| -> Vec<Job> {
        jobs.iter().zip(weights).map(|(job, &weight)| Job { weight, ..*job }).collect()
    };
    let two = [Job::exact(0.0, 3.0), Job::exact(0.0, 2.0)];
    exactly(Psbs, &weigh(&two, &[2.0, 1.0]), &[3.0, 5.0]);
    exactly(Psbs, &weigh(&two, &[1.0, 1.0]), &[5.0, 2.0]);
    let late = [job(0.0, 6.0, 1.0), job(0.0, 5.0, 2.0), job(1.0, 1.0, 1.2)];
    completes(Psbs, &weigh(&late, &[2.0, 1.0, 1.0]), &[7.9778, 12.0, 7.5778], 5e-5);
    completes(Psbs, &weigh(&late, &[1.0, 1.0, 1.0]), &[8.95, 12.0, 6.75], 5e-5);
    exactly(Gps, &weigh(&late, &[2.0, 1.0, 1.0]), &[10.0, 12.0, 5.0]);
}

#[test]
fn gap_04_a_job_that_is_done_leaves_before_anything_else_happens() {
    // Were internal events first, the third job would end at 10 with nothing left to do since 8.
    let jobs = [job(0.0, 10.0, 2.0), job(1.0, 1.0, 1.0), job(2.0, 2.0, 2.0), job(4.0, 3.0, 3.0)];
    assert_eq!(FspeLas.completions(&jobs)[2], 8.0);
}

#[test]
fn figure_3_1_an_over_estimated_job_delays_only_itself() {
    let exact = [Job::exact(0.0, 5.0), Job::exact(1.0, 4.5), Job::exact(6.0, 4.0)];
    let over = [Job { estimate: 9.0, ..exact[0] }, exact[1], exact[2]];
    exactly(Srpte, &exact, &[5.0, 9.5, 13.5]);
    exactly(Srpte, &over, &[13.5, 5.5, 10.0]);
}

#[test]
fn figure_3_1_jobs_behind_an_under_estimated_job_wait_for_its_end() {
    let exact = [Job::exact(0.0, 10.0), Job::exact(4.0, 1.0), Job::exact(6.0, 1.0)];
    exactly(Srpte, &exact, &[12.0, 5.0, 7.0]);
    let under = [Job { estimate: 3.0, ..exact[0] }, exact[1], exact[2]];
    exactly(Srpte, &under, &[10.0, 11.0, 12.0]);
}

#[test]
fn jobs_that_need_nothing_complete_when_their_turn_comes() {
    let jobs = [Job::exact(0.0, 2.0), Job::exact(1.0, 0.0), Job::exact(1.0, 1.0)];
    exactly(Fifo, &jobs, &[2.0, 2.0, 3.0]);
    for policy in PolicyKind::ALL.into_iter().filter(|policy| *policy != Fifo) {
        assert_eq!(policy.completions(&jobs)[1], 1.0, "{policy}");
    }
    for policy in PolicyKind::ALL {
        exactly(policy, &[Job::exact(3.0, 0.0)], &[3.0]);
        assert!(policy.completions(&[]).is_empty());
    }
}
