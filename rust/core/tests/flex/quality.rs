//! Section 1.10 and claim C1: how near the search comes to the best of all orderings.

use super::common::{drafts, every_ordering, problem, Dice};
use hiatus_core::flex::{default_evaluations, evaluations, lower_bound, schedule, solve, Aggregate, Metric};

const INSTANCES: usize = 200;
/// Metrics that can be 0 or negative: as the paper does, instances whose optimum is not above 0 have no ratio.
const NO_RATIO_BELOW: f64 = 1e-9;

#[derive(Default, Clone)]
struct Tally {
    compared: usize,
    optimal: usize,
    sum: f64,
    worst: f64,
}

/// Every metric, 200 random problems of 2 to 8 jobs, all orderings of each.
#[test]
fn flex_c1_ratio_to_the_best_of_all_orderings() {
    let mut tallies = vec![Tally::default(); Metric::ALL.len()];
    let mut dice = Dice::new(2010);
    for instance in 0..INSTANCES {
        let jobs = [2, 3, 4, 5, 6, 7, 7, 8][instance % 8];
        let slots = dice.whole(jobs as u32, 40);
        let drafts = drafts(&mut dice, slots, jobs);
        let problems: Vec<_> = Metric::ALL.iter().map(|&metric| problem(slots, metric, &drafts)).collect();
        let mut best = vec![f64::INFINITY; problems.len()];
        // All problems differ only in what completions cost.
        every_ordering(jobs, |order| {
            let plan = schedule(&problems[0], order).expect("valid");
            for (best, problem) in best.iter_mut().zip(&problems) {
                *best = best.min(problem.value(&plan.completion));
            }
        });
        for ((tally, problem), best) in tallies.iter_mut().zip(&problems).zip(best) {
            let found = solve(problem, &mut evaluations(default_evaluations(jobs))).expect("valid").value;
            let bound = lower_bound(problem).expect("valid");
            let slip = 1e-9 * best.abs().max(1.0);
            assert!(found >= best - slip, "better than the best: {found} < {best}");
            assert!(bound <= best + slip, "a lower bound above the best: {bound} > {best}, {problem:?}");
            if best > NO_RATIO_BELOW {
                tally.compared += 1;
                tally.optimal += usize::from(found <= best + slip);
                tally.sum += found / best;
                tally.worst = tally.worst.max(found / best);
            }
        }
    }
    println!("{:<24}{:>9}{:>9}{:>10}{:>10}", "metric", "compared", "optimal", "mean", "worst");
    for (metric, t) in Metric::ALL.iter().zip(&tallies) {
        let mean = t.sum / t.compared as f64;
        println!("{metric:<24}{:>9}{:>9}{mean:>10.5}{:>10.5}", t.compared, t.optimal, t.worst);
    }
    for (metric, tally) in Metric::ALL.iter().zip(&tallies) {
        let response =
            matches!(metric, Metric::AvgResponse | Metric::WeightedResponse | Metric::AvgStretch | Metric::AvgLateness);
        if response {
            assert!(tally.worst <= 1.001, "{metric}: {}", tally.worst);
        }
        assert!(tally.compared > INSTANCES / 4, "{metric} is hardly compared: {}", tally.compared);
    }
}

#[test]
fn flex_1_11_bounds_are_reached_where_nothing_binds() {
    let mut dice = Dice::new(7);
    for _ in 0..50 {
        let slots = dice.whole(3, 20);
        let mut jobs = drafts(&mut dice, slots, 5);
        for job in &mut jobs {
            (job.min, job.max, job.terms.alone) = (0, slots, job.work / f64::from(slots));
        }
        for metric in [Metric::AvgResponse, Metric::WeightedResponse, Metric::Makespan, Metric::MaxLateness] {
            let problem = problem(slots, metric, &jobs);
            let value = solve(&problem, &mut evaluations(1000)).expect("valid").value;
            let bound = lower_bound(&problem).expect("valid");
            assert!((value - bound).abs() <= 1e-6 * bound.abs().max(1.0), "{metric}: {value} and {bound}");
        }
        let problem = problem(slots, Metric::NumberTardy, &jobs);
        assert_eq!(problem.aggregate, Aggregate::Sum);
        let value = solve(&problem, &mut evaluations(1000)).expect("valid").value;
        assert_eq!(value, lower_bound(&problem).expect("valid"), "Moore and Hodgson");
    }
}
