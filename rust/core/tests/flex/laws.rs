//! What holds for every problem: minima, maxima, no slot wasted (C8), nobody starved (C13), FAIR's answer (C14), the
//! same answer twice, and no panic on degenerate input.

use super::common::{any_problem, assert_lawful, response};
use hiatus_core::flex::{
    default_evaluations, evaluations, lower_bound, schedule, solve, Aggregate, Job, Penalty, Problem, Solution,
};
use hiatus_core::waterline::{waterline, Bounds};
use proptest::prelude::*;

fn solved(problem: &Problem) -> Solution {
    solve(problem, &mut evaluations(default_evaluations(problem.jobs.len()))).expect("valid")
}

proptest! {
    #[test]
    fn flex_c8_targets_keep_the_bounds_and_use_all_slots(problem in any_problem(0..10, 0u32..60)) {
        let solution = solved(&problem);
        let plan = schedule(&problem, &solution.order).expect("valid");
        assert_lawful(&problem, &plan);
        prop_assert_eq!(&plan.completion, &solution.completion);
        if let Some(first) = plan.intervals.first() {
            prop_assert_eq!(&first.slots, &solution.targets);
        }
        let bounds = problem.bounds();
        let demand: u32 = bounds.iter().map(|b| b.max).sum();
        prop_assert_eq!(solution.targets.iter().sum::<u32>(), problem.slots.min(demand));
        for (target, b) in solution.targets.iter().zip(&bounds) {
            prop_assert!(b.min <= *target && *target <= b.max);
        }
        let mut order = solution.order.clone();
        order.sort_unstable();
        prop_assert_eq!(order, (0..problem.jobs.len()).collect::<Vec<_>>());
    }

    #[test]
    fn flex_c13_a_minimum_starves_nobody(mut problem in any_problem(1..10, 10u32..60)) {
        for job in &mut problem.jobs {
            job.min = job.min.max(1);
        }
        let solution = solved(&problem);
        for (job, target) in problem.jobs.iter().zip(&solution.targets) {
            prop_assert!(*target >= 1 || job.max == 0);
        }
    }

    #[test]
    fn flex_c14_targets_as_revised_minima_come_back_from_fair(problem in any_problem(0..10, 0u32..60)) {
        let targets = solved(&problem).targets;
        let revised = targets.iter().zip(&problem.jobs).map(|(&min, job)| Bounds { min, max: job.max });
        prop_assert_eq!(waterline(problem.slots, &revised.collect::<Vec<_>>()), targets);
    }

    #[test]
    fn law_9_same_problem_same_answer(problem in any_problem(0..8, 0u32..40)) {
        prop_assert_eq!(solved(&problem), solved(&problem));
    }

    #[test]
    fn flex_1_11_no_solution_is_below_the_bound(problem in any_problem(0..8, 0u32..40)) {
        let (value, bound) = (solved(&problem).value, lower_bound(&problem).expect("valid"));
        prop_assert!(bound <= value || bound - value <= 1e-9 * value.abs().max(1.0), "{} above {}", bound, value);
    }

    #[test]
    fn more_budget_is_never_worse(problem in any_problem(0..8, 0u32..40)) {
        let value = |budget| solve(&problem, &mut evaluations(budget)).expect("valid").value;
        prop_assert!(value(1000) <= value(10) && value(10) <= value(0));
    }
}

#[test]
fn degenerate_no_jobs() {
    let solution = solved(&Problem { slots: 10, aggregate: Aggregate::Max, jobs: Vec::new() });
    assert_eq!((solution.value, solution.targets, solution.order), (0.0, vec![], vec![]));
}

#[test]
fn degenerate_no_slots_and_no_demand() {
    for problem in [
        response(0, Aggregate::Sum, &[(1.0, 1, 5), (2.0, 0, 5)]),
        response(9, Aggregate::Sum, &[(1.0, 1, 0), (2.0, 0, 0)]),
    ] {
        let solution = solved(&problem);
        assert_eq!(solution.targets, [0, 0]);
        assert_eq!(solution.value, f64::INFINITY);
        assert_eq!(lower_bound(&problem), Ok(f64::INFINITY));
        assert!(schedule(&problem, &solution.order).expect("valid").intervals.is_empty());
    }
}

#[test]
fn degenerate_a_job_that_cannot_run_does_not_hide_the_others() {
    let problem = response(4, Aggregate::Sum, &[(9.0, 0, 0), (8.0, 0, 4), (4.0, 0, 4)]);
    let solution = solved(&problem);
    assert_eq!(solution.targets, [0, 0, 4], "the shortest that can run goes first");
    assert_eq!(solution.order, [2, 1, 0]);
}

#[test]
fn degenerate_equal_everything_goes_in_the_given_order() {
    let solution = solved(&response(10, Aggregate::Mean, &[(5.0, 0, 10); 6]));
    assert_eq!(solution.order, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn degenerate_minimum_above_maximum_and_above_the_slots() {
    let solution = solved(&response(10, Aggregate::Mean, &[(5.0, 9, 3), (5.0, 90, 200)]));
    assert_eq!(solution.targets, [2, 8], "3 and 10, scaled to 10");
}

#[test]
fn degenerate_a_million_slots() {
    let jobs: Vec<Job> = (0..50u32)
        .map(|i| Job {
            work: 1e6 * f64::from(i + 1),
            min: 10_000,
            max: u32::MAX,
            age: 0.0,
            penalty: Penalty::Tardy { deadline: f64::from(i), weight: 1.0 },
        })
        .collect();
    let solution = solved(&Problem { slots: 1_000_000, aggregate: Aggregate::Sum, jobs });
    assert_eq!(solution.targets.iter().sum::<u32>(), 1_000_000);
    assert!(solution.targets.iter().all(|&t| t >= 10_000));
}
