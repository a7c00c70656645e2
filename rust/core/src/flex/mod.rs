//! FLEX: slot allocations that minimise a chosen metric (Wolf et al., *FLEX: A Slot Allocation Scheduling Optimizer
//! for MapReduce Workloads*, Middleware 2010).
//!
//! ```text
//! Problem ─► orderings ─► malleable packing ─► local search ─► Solution
//!            (rap, rules)  (mps)               (search)
//! ```
//!
//! A [`Problem`] is the snapshot of one phase at the start of an epoch; [`Solution::targets`] are the slots each job
//! shall hold until the next epoch decides anew, and [`schedule`] is the whole plan. Everything is a pure function of
//! its arguments: time is counted in seconds after the snapshot, and the budget is a closure, not a clock.

mod bounds;
mod exhaustive;
mod metric;
mod mps;
mod orderings;
mod penalty;
mod problem;
mod rap;
mod search;
mod steps;

use serde::{Deserialize, Serialize};

pub use bounds::lower_bound;
pub use exhaustive::MAX_JOBS as MAX_EXHAUSTIVE_JOBS;
pub use metric::{Metric, MissingTerm, Terms, UnknownMetric};
pub use mps::{Interval, Schedule};
pub use orderings::Rule;
pub use penalty::{Aggregate, Penalty, Step};
pub use problem::{read_steps, Job, Problem, ProblemError};
pub use rap::{moldable, Moldable, Solver};

use mps::Packer;
use problem::Instance;
use search::{Best, Search};

/// Time, in seconds.
pub type Seconds = f64;
/// Work: slots × seconds.
pub type SlotSeconds = f64;

/// Jobs packed by the local search of one default budget. About 2 ms (measured: `docs/experiments-flex.md`), so that two
/// phases stay within the paper's 10 ms, and within 1 % of its epoch of 500 ms.
const DEFAULT_PACKINGS: usize = 60_000;

/// The best ordering found and what it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// The objective's value (infinite if a job that costs by the second cannot run).
    pub value: f64,
    /// The jobs by priority, as places in [`Problem::jobs`]; those that cannot run last.
    pub order: Vec<usize>,
    /// What gave the ordering.
    pub rule: Rule,
    /// Whether local search improved on the rule.
    pub polished: bool,
    /// Slots of each job from now on (interval 1), within the normalised bounds; together all slots, if the jobs can
    /// use them.
    pub targets: Vec<u32>,
    /// When each job completes, in seconds after the snapshot; infinity if it cannot run.
    pub completion: Vec<Seconds>,
    /// Orderings packed.
    pub evaluations: usize,
}

/// Minimises the objective: the best packing of all the orderings tried, then local search while `go_on` (asked
/// before each packing) returns true.
///
/// # Errors
/// When the problem does not pass [`Problem::check`].
pub fn solve(problem: &Problem, go_on: &mut dyn FnMut() -> bool) -> Result<Solution, ProblemError> {
    let instance = Instance::new(problem)?;
    let mut search = Search::new(&instance);
    let best = search.run(go_on);
    Ok(solution(&instance, &mut search, best))
}

/// The best packing of all orderings, by branch and bound.
///
/// # Errors
/// When the problem does not pass [`Problem::check`], or has more jobs that can run than [`MAX_EXHAUSTIVE_JOBS`].
pub fn solve_exhaustively(problem: &Problem) -> Result<Solution, ExhaustiveError> {
    let instance = Instance::new(problem)?;
    let jobs = instance.runnable.len();
    if jobs > MAX_EXHAUSTIVE_JOBS {
        return Err(ExhaustiveError::TooManyJobs { jobs });
    }
    let mut search = Search::new(&instance);
    let mut best = search.run(&mut evaluations(default_evaluations(jobs)));
    let found = best.score.objective;
    exhaustive::improve(&instance, &mut best.order, &mut best.score);
    if best.score.objective < found {
        best.rule = Rule::Exhaustive;
        best.polished = false;
    }
    Ok(solution(&instance, &mut search, best))
}

/// Why there is no exhaustive search.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExhaustiveError {
    /// The problem itself is at fault.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// It would take too long.
    #[error("an exhaustive search takes at most {MAX_EXHAUSTIVE_JOBS} jobs, not {jobs}: solve without it")]
    TooManyJobs {
        /// Jobs that can run.
        jobs: usize,
    },
}

/// The whole schedule of an ordering. Jobs missing in `order` come last; unknown and repeated ones are ignored.
///
/// # Errors
/// When the problem does not pass [`Problem::check`].
pub fn schedule(problem: &Problem, order: &[usize]) -> Result<Schedule, ProblemError> {
    let instance = Instance::new(problem)?;
    let mut runnable = vec![false; problem.jobs.len()];
    for &job in &instance.runnable {
        runnable[job] = true;
    }
    let all = order.iter().chain(&instance.runnable);
    let order: Vec<usize> = all.copied().filter(|&job| runnable.get_mut(job).is_some_and(std::mem::take)).collect();
    Ok(Packer::new(&instance).schedule(&order))
}

/// A budget of `count` evaluations.
pub fn evaluations(count: usize) -> impl FnMut() -> bool {
    let mut left = count;
    move || {
        let go_on = left > 0;
        left = left.saturating_sub(1);
        go_on
    }
}

/// The number of evaluations that take about 2 ms with so many jobs.
pub fn default_evaluations(jobs: usize) -> usize {
    DEFAULT_PACKINGS / jobs.max(1)
}

fn solution(instance: &Instance, search: &mut Search, best: Best) -> Solution {
    let completion = search.packer.completions(&best.order).to_vec();
    let targets = search.packer.first_interval(&best.order);
    let parked = (0..completion.len()).filter(|&job| instance.bounds[job].max == 0);
    Solution {
        value: instance.problem.value(&completion),
        order: best.order.iter().copied().chain(parked).collect(),
        rule: best.rule,
        polished: best.polished,
        targets,
        completion,
        evaluations: search.evaluations,
    }
}
