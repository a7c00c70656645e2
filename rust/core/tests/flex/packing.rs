//! Section 1.8: the malleable packing scheme.

use super::common::{any_problem, assert_lawful, every_ordering, figure_3, response};
use hiatus_core::flex::{evaluations, schedule, solve, solve_exhaustively, Aggregate, Interval};
use proptest::prelude::*;

fn interval(start: f64, end: f64, slots: &[u32]) -> Interval {
    Interval { start, end, slots: slots.to_vec() }
}

#[test]
fn flex_1_8_maxima_first_then_one_partial_then_minima() {
    let problem = response(10, Aggregate::Sum, &[(12.0, 1, 4), (40.0, 2, 8), (6.0, 1, 5)]);
    let plan = schedule(&problem, &[0, 1, 2]).expect("valid");
    // At 3 s job 1 has 40 − 15 left and job 2 has 6 − 3, which its two slots finish first.
    assert_eq!(plan.intervals[0], interval(0.0, 3.0, &[4, 5, 1]));
    assert_eq!(plan.intervals[1], interval(3.0, 4.5, &[0, 8, 2]));
    assert_eq!(plan.intervals[2], interval(4.5, 6.125, &[0, 8, 0]));
    assert_eq!(plan.completion, [3.0, 6.125, 4.5]);
}

#[test]
fn flex_1_8_jobs_need_not_finish_in_priority_order() {
    let problem = response(10, Aggregate::Sum, &[(100.0, 0, 9), (1.0, 1, 1)]);
    assert_eq!(schedule(&problem, &[0, 1]).expect("valid").completion, [100.0 / 9.0, 1.0]);
}

#[test]
fn flex_1_8_demand_below_the_slots_leaves_the_rest_idle() {
    let problem = response(100, Aggregate::Sum, &[(6.0, 0, 2), (6.0, 5, 3)]);
    let plan = schedule(&problem, &[0, 1]).expect("valid");
    assert_eq!(plan.intervals, [interval(0.0, 2.0, &[2, 3]), interval(2.0, 3.0, &[2, 0])]);
}

#[test]
fn flex_1_8_jobs_that_complete_together_end_one_interval() {
    let problem = response(4, Aggregate::Sum, &[(4.0, 2, 2), (4.0, 2, 2)]);
    assert_eq!(schedule(&problem, &[1, 0]).expect("valid").intervals, [interval(0.0, 2.0, &[2, 2])]);
}

#[test]
fn flex_1_8_an_ordering_may_be_incomplete_or_wrong() {
    let problem = response(2, Aggregate::Sum, &[(2.0, 0, 2), (4.0, 0, 2)]);
    let expected = schedule(&problem, &[1, 0]).expect("valid");
    assert_eq!(schedule(&problem, &[1]).expect("valid"), expected);
    assert_eq!(schedule(&problem, &[7, 1, 1]).expect("valid"), expected);
}

/// Lemma 1 of the paper says that some ordering's packing is an optimal schedule. These two say: not in general.
#[test]
fn flex_1_8_lemma_1_counterexample_maxima_bind() {
    let problem = response(2, Aggregate::Max, &[(2.0, 0, 1), (2.0, 0, 1), (2.0, 0, 1)]);
    assert_eq!(solve_exhaustively(&problem).expect("valid").value, 4.0);
    // Malleable schedules may rotate the jobs: each pair runs for a second, and each job has had its 2 slot-seconds.
    let rotated = [(1.0, [1, 1, 0]), (1.0, [1, 0, 1]), (1.0, [0, 1, 1])];
    assert_eq!(work_done(&rotated), [2.0, 2.0, 2.0]);
    assert_eq!(rotated.iter().map(|(span, _)| span).sum::<f64>(), 3.0);
}

#[test]
fn flex_1_8_lemma_1_counterexample_positive_minima() {
    let problem = response(5, Aggregate::Max, &[(2.0, 1, 2), (2.0, 1, 2), (2.0, 1, 2)]);
    assert_eq!(solve_exhaustively(&problem).expect("valid").value, 1.5);
    let rotated = [(0.4, [2, 2, 1]), (0.4, [2, 1, 2]), (0.4, [1, 2, 2])];
    assert!(work_done(&rotated).iter().all(|done| (done - 2.0).abs() < 1e-12));
    assert!((rotated.iter().map(|(span, _)| span).sum::<f64>() - 1.2).abs() < 1e-12);
}

fn work_done(plan: &[(f64, [u32; 3])]) -> [f64; 3] {
    [0, 1, 2].map(|job| plan.iter().map(|(span, slots)| span * f64::from(slots[job])).sum())
}

proptest! {
    #[test]
    fn flex_1_8_packing_equals_figure_3(
        problem in any_problem(0..9, 0u32..40), shuffle in prop::collection::vec(any::<u32>(), 9)
    ) {
        let mut order: Vec<usize> = (0..problem.jobs.len()).collect();
        order.sort_by_key(|&job| shuffle[job]);
        let plan = schedule(&problem, &order).expect("valid");
        for (job, (fast, plain)) in plan.completion.iter().zip(figure_3(&problem, &order)).enumerate() {
            prop_assert!(*fast == plain || (fast - plain).abs() <= 1e-9 * plain, "job {}: {} or {}", job, fast, plain);
        }
        assert_lawful(&problem, &plan);
    }

    #[test]
    fn flex_1_8_exhaustive_search_equals_every_ordering(problem in any_problem(0..6, 0u32..40)) {
        let mut best = f64::INFINITY;
        every_ordering(problem.jobs.len(), |order| {
            best = best.min(problem.value(&figure_3(&problem, order)));
        });
        let found = solve_exhaustively(&problem).expect("valid");
        prop_assert!(found.value == best || (found.value - best).abs() <= 1e-9 * best.abs().max(1.0),
            "{} or {}", found.value, best);
        let replayed = schedule(&problem, &found.order).expect("valid");
        prop_assert_eq!(replayed.completion, found.completion);
        let solved = solve(&problem, &mut evaluations(100)).expect("valid");
        prop_assert!(solved.value >= found.value || (solved.value - found.value).abs() <= 1e-9 * best.abs().max(1.0));
    }
}
