//! The schemes FLEX is compared with, as completion times; and the laws its own schedules must keep.

use hiatus_core::flex::{schedule, Problem, ProblemError, Solution};
use hiatus_core::waterline::{waterline, Bounds};

/// FIFO (§4: "does not obey the minimum constraints but does take advantage of the maximum constraints"): packing in
/// order of arrival with all minima 0.
pub(super) fn fifo(problem: &Problem) -> Result<Vec<f64>, ProblemError> {
    let mut without_minima = problem.clone();
    without_minima.jobs.iter_mut().for_each(|job| job.min = 0);
    let arrivals: Vec<usize> = (0..problem.jobs.len()).collect();
    Ok(schedule(&without_minima, &arrivals)?.completion)
}

/// FAIR: the waterline, drawn anew whenever a job completes.
pub(super) fn fair(problem: &Problem) -> Vec<f64> {
    let mut left: Vec<f64> = problem.jobs.iter().map(|job| job.work).collect();
    let mut active: Vec<usize> = (0..left.len()).collect();
    let mut completion = vec![f64::INFINITY; left.len()];
    let mut now = 0.0;
    loop {
        let bounds: Vec<Bounds> = active.iter().map(|&job| bounds_of(problem, job)).collect();
        let shares = waterline(problem.slots, &bounds);
        let span = |(&job, &slots): (&usize, &u32)| left[job] / f64::from(slots);
        let spans: Vec<f64> = active.iter().zip(&shares).map(span).collect();
        let shortest = spans.iter().copied().fold(f64::INFINITY, f64::min);
        if shortest.is_infinite() {
            return completion;
        }
        now += shortest;
        for (&job, &slots) in active.iter().zip(&shares) {
            left[job] -= f64::from(slots) * shortest;
        }
        for (&job, &span) in active.iter().zip(&spans) {
            if span == shortest {
                completion[job] = now;
            }
        }
        active.retain(|&job| completion[job].is_infinite());
    }
}

fn bounds_of(problem: &Problem, job: usize) -> Bounds {
    Bounds { min: problem.jobs[job].min, max: problem.jobs[job].max }
}

/// How often a solution breaks claim C8 (bounds kept and no slot wasted, in every interval), C13 (every job holds a
/// slot) and C14 (FAIR gives the targets back when they are its minima).
pub(super) fn violations(problem: &Problem, solution: &Solution) -> Result<[usize; 3], ProblemError> {
    let bounds = problem.bounds();
    let plan = schedule(problem, &solution.order)?;
    let broken = |interval: &&hiatus_core::flex::Interval| {
        let active = |job: &usize| plan.completion[*job] >= interval.end;
        let jobs: Vec<usize> = (0..bounds.len()).filter(active).collect();
        let demand: u64 = jobs.iter().map(|&job| u64::from(bounds[job].max)).sum();
        let given: u64 = interval.slots.iter().map(|&slots| u64::from(slots)).sum();
        let kept = |&job: &usize| (bounds[job].min..=bounds[job].max).contains(&interval.slots[job]);
        given != demand.min(u64::from(problem.slots)) || !jobs.iter().all(kept)
    };
    let starved = solution.targets.iter().filter(|&&slots| slots == 0).count();
    let revised = |(job, &min): (usize, &u32)| Bounds { min, max: problem.jobs[job].max };
    let revised: Vec<Bounds> = solution.targets.iter().enumerate().map(revised).collect();
    let changed = waterline(problem.slots, &revised) != solution.targets;
    Ok([plan.intervals.iter().filter(broken).count(), starved, usize::from(changed)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::flex::{Aggregate, Job, Penalty};

    fn problem(jobs: &[(f64, u32, u32)]) -> Problem {
        let job = |&(work, min, max)| Job { work, min, max, age: 0.0, penalty: Penalty::Response { weight: 1.0 } };
        Problem { slots: 10, aggregate: Aggregate::Mean, jobs: jobs.iter().map(job).collect() }
    }

    #[test]
    fn flex_1_6_fair_shares_anew_when_a_job_completes() {
        // 5 and 5 until 2 s, then 10 for the second job's last 20.
        assert_eq!(fair(&problem(&[(10.0, 1, 10), (30.0, 1, 10)])), [2.0, 4.0]);
    }

    #[test]
    fn flex_1_7_fifo_ignores_minima_and_keeps_maxima() {
        assert_eq!(fifo(&problem(&[(20.0, 1, 10), (30.0, 5, 10)])), Ok(vec![2.0, 5.0]));
        assert_eq!(fifo(&problem(&[(20.0, 1, 4), (30.0, 5, 10)])), Ok(vec![5.0, 5.0]));
    }

    #[test]
    fn a_broken_solution_is_noticed() {
        let problem = problem(&[(20.0, 1, 10), (30.0, 5, 10)]);
        let mut solution = hiatus_core::flex::solve(&problem, &mut || true).expect("valid");
        assert_eq!(violations(&problem, &solution), Ok([0, 0, 0]));
        solution.targets = vec![0, 9];
        assert_eq!(violations(&problem, &solution), Ok([0, 1, 1]));
    }
}
