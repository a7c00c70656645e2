//! The value of each scheme over that of a reference, over many runs.

use hiatus_core::flex::{default_evaluations, evaluations, solve, solve_exhaustively, Metric, Problem, Solution};

use super::schemes::{fair, fifo, violations};
use super::workload::{draw, problem, Shape};
use crate::report::{Cell, Sample};
use crate::studies::ensemble;
use crate::studies::study::StudyError;

/// Values that are not above this have no ratio: the paper leaves such experiments out.
const NO_RATIO_BELOW: f64 = 1e-9;

/// What the schemes are compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reference {
    /// The best packing over all orderings.
    Optimum,
    /// FLEX itself, where all orderings are too many.
    Flex,
}

/// Ratios to the reference, one per run that has one.
#[derive(Debug)]
pub(super) struct Ratios {
    pub fifo: Ratio,
    pub fair: Ratio,
    pub flex: Ratio,
    /// The values themselves, FIFO, FAIR and FLEX: means of all runs.
    pub values: [f64; 3],
    /// Runs whose reference is not above 0.
    pub left_out: usize,
    /// Runs in which FLEX equals the reference, to nine digits.
    pub equal: usize,
    /// Breaches of C8, C13 and C14 in all runs.
    pub violations: [usize; 3],
}

/// Average and worst of one scheme.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratio {
    pub mean: f64,
    pub worst: f64,
}

/// The columns of [`Ratios::cells`].
pub(super) const COLUMNS: [&str; 7] =
    ["FIFO mean", "FIFO worst", "FAIR mean", "FAIR worst", "FLEX mean", "FLEX worst", "runs"];

impl Ratios {
    /// Average and worst of each scheme, and the number of runs compared.
    pub fn cells(&self, runs: usize) -> impl Iterator<Item = Cell> {
        let values = [self.fifo, self.fair, self.flex].into_iter().flat_map(|ratio| [ratio.mean, ratio.worst]);
        let compared = runs - self.left_out;
        values.map(Cell::from).chain([compared.into()])
    }
}

impl Ratio {
    fn of(values: Vec<f64>) -> Ratio {
        let worst = values.iter().copied().fold(f64::NAN, f64::max);
        Ratio { mean: Sample::new(values).mean(), worst }
    }
}

struct Run {
    values: [f64; 3],
    reference: f64,
    violations: [usize; 3],
}

/// FLEX as the scheduler runs it: with the budget of one epoch.
pub(super) fn flex(problem: &Problem) -> Result<Solution, StudyError> {
    Ok(solve(problem, &mut evaluations(default_evaluations(problem.jobs.len())))?)
}

/// Runs all schemes on `runs` random problems.
pub(super) fn ratios(
    label: &str,
    shape: Shape,
    metric: Metric,
    reference: Reference,
    seed: u64,
    runs: usize,
) -> Result<Ratios, StudyError> {
    let run = |run| -> Result<Run, StudyError> {
        let problem = problem(shape.slots, metric, &draw(shape, seed, run));
        let solution = flex(&problem)?;
        let reference = match reference {
            Reference::Optimum => solve_exhaustively(&problem)?.value,
            Reference::Flex => solution.value,
        };
        let value = |completion: Vec<f64>| problem.value(&completion);
        let values = [value(fifo(&problem)?), value(fair(&problem)), solution.value];
        Ok(Run { values, reference, violations: violations(&problem, &solution)? })
    };
    let all: Vec<Run> = ensemble::runs(label, runs, run).into_iter().collect::<Result<_, _>>()?;
    let compared: Vec<&Run> = all.iter().filter(|run| run.reference > NO_RATIO_BELOW).collect();
    let ratio = |scheme: usize| Ratio::of(compared.iter().map(|run| run.values[scheme] / run.reference).collect());
    let breaches = |claim: usize| all.iter().map(|run| run.violations[claim]).sum();
    Ok(Ratios {
        fifo: ratio(0),
        fair: ratio(1),
        flex: ratio(2),
        values: [0, 1, 2].map(|scheme| all.iter().map(|run| run.values[scheme]).sum::<f64>() / runs as f64),
        left_out: runs - compared.len(),
        equal: compared.iter().filter(|run| run.values[2] <= run.reference * (1.0 + 1e-9)).count(),
        violations: [breaches(0), breaches(1), breaches(2)],
    })
}
