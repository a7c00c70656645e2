//! Section 1.9: the solvers of the resource allocation problem.

use super::common::{any_problem, job, response};
use hiatus_core::flex::{moldable, Aggregate, Penalty, Problem, Solver};
use proptest::prelude::*;

/// The least value over every allocation within the bounds.
fn enumerate(problem: &Problem) -> f64 {
    fn assign(problem: &Problem, bounds: &[(u32, u32)], room: u32, completion: &mut Vec<f64>, best: &mut f64) {
        let at = completion.len();
        let Some(&(min, max)) = bounds.get(at) else {
            *best = best.min(problem.value(completion));
            return;
        };
        for slots in min..=max.min(room) {
            completion.push(problem.jobs[at].work / f64::from(slots));
            assign(problem, bounds, room - slots, completion, best);
            completion.pop();
        }
    }
    let bounds: Vec<(u32, u32)> = problem.bounds().iter().map(|b| (b.min, b.max)).collect();
    let mut best = f64::INFINITY;
    assign(problem, &bounds, problem.slots, &mut Vec::new(), &mut best);
    if problem.jobs.is_empty() {
        0.0
    } else {
        best
    }
}

#[test]
fn flex_1_9_solver_follows_the_shape_of_the_costs() {
    let solver = |aggregate, penalty: Penalty| {
        let jobs = vec![job(60.0, 1, 20, penalty), job(30.0, 1, 20, Penalty::Response { weight: 1.0 })];
        moldable(&Problem { slots: 20, aggregate, jobs }).expect("valid").solver
    };
    let lateness = Penalty::Lateness { deadline: 5.0, weight: 1.0 };
    assert_eq!(solver(Aggregate::Sum, Penalty::Response { weight: 1.0 }), Solver::Marginal);
    assert_eq!(solver(Aggregate::Mean, lateness.clone()), Solver::Marginal);
    // The paper counts tardiness among the non-convex; max(0, C / s − d) is convex in s.
    assert_eq!(solver(Aggregate::Sum, Penalty::Tardiness { deadline: 5.0, weight: 1.0 }), Solver::Marginal);
    assert_eq!(solver(Aggregate::Sum, Penalty::Tardy { deadline: 5.0, weight: 1.0 }), Solver::Programme);
    assert_eq!(solver(Aggregate::Max, lateness), Solver::WorstOff);
    // A deadline that no allocation, or every one, meets makes the costs constant, hence convex.
    assert_eq!(solver(Aggregate::Sum, Penalty::Tardy { deadline: 0.1, weight: 1.0 }), Solver::Marginal);
    assert_eq!(solver(Aggregate::Sum, Penalty::Tardy { deadline: 61.0, weight: 1.0 }), Solver::Marginal);
}

#[test]
fn flex_1_9_slots_go_where_they_save_most() {
    // Work 8 and 2, response: 1/s marginals. 2 : 1 by square roots.
    let problem = response(9, Aggregate::Sum, &[(8.0, 1, 9), (2.0, 1, 9)]);
    assert_eq!(moldable(&problem).expect("valid").slots, [6, 3]);
}

#[test]
fn flex_1_9_the_printed_minimax_reduction_would_be_wrong() {
    // Greedy on G(s) = Σ F(i) as printed would feed the job that is best off; the corrected one equalises.
    let problem = response(10, Aggregate::Max, &[(8.0, 1, 9), (2.0, 1, 9)]);
    let best = moldable(&problem).expect("valid");
    assert_eq!((best.slots, best.value), (vec![8, 2], 1.0));
}

#[test]
fn flex_1_9_a_knapsack_of_deadlines() {
    // 10 slots: the deadlines need 6, 5 and 5 of them; greedy by saving per slot would take the 6.
    let tardy = |work, weight| job(work, 0, 10, Penalty::Tardy { deadline: 1.0, weight });
    let jobs = vec![tardy(6.0, 7.0), tardy(5.0, 5.0), tardy(5.0, 5.0)];
    let best = moldable(&Problem { slots: 10, aggregate: Aggregate::Sum, jobs }).expect("valid");
    assert_eq!((best.slots, best.value, best.solver), (vec![0, 5, 5], 7.0, Solver::Programme));
}

#[test]
fn flex_1_9_a_million_slots_are_shared_in_grains() {
    let problem = response(1_000_000, Aggregate::Sum, &[(8e6, 1, 1_000_000), (2e6, 1, 1_000_000)]);
    let best = moldable(&problem).expect("valid");
    let ratio = f64::from(best.slots[0]) / f64::from(best.slots[1]);
    assert!((ratio - 2.0).abs() < 0.01, "{:?}", best.slots);
    assert!(best.grain > 1 && best.slots.iter().sum::<u32>() <= 1_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn flex_1_9_solvers_equal_enumeration(problem in any_problem(0..5, 0u32..12)) {
        let found = moldable(&problem).expect("valid");
        let best = enumerate(&problem);
        prop_assert!(found.value == best || (found.value - best).abs() <= 1e-9 * best.abs().max(1.0),
            "{:?} or {}", found, best);
        prop_assert_eq!(found.grain, 1);
        prop_assert!(found.slots.iter().sum::<u32>() <= problem.slots);
        for (slots, bounds) in found.slots.iter().zip(problem.bounds()) {
            prop_assert!(bounds.min <= *slots && *slots <= bounds.max);
        }
    }

    #[test]
    fn flex_1_9_convexity_is_that_of_the_whole_table(mut problem in any_problem(1..2, 1u32..40)) {
        prop_assume!(!problem.jobs.is_empty());
        problem.aggregate = Aggregate::Sum;
        let bounds = problem.bounds()[0];
        let cost = |slots: u32| problem.value(&[problem.jobs[0].work / f64::from(slots)]);
        let savings: Vec<f64> = (bounds.min..bounds.max)
            .map(|s| if cost(s) == cost(s + 1) { 0.0 } else { cost(s) - cost(s + 1) })
            .collect();
        let convex = savings.windows(2).all(|w| w[0] + 1e-9 >= w[1]);
        prop_assert_eq!(moldable(&problem).expect("valid").solver == Solver::Marginal, convex);
    }
}
