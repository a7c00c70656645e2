//! `hiatus flex`: solves one slot allocation problem from a file and prints the schedule as JSON.

mod file;
mod gantt;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use hiatus_core::flex::{
    default_evaluations, evaluations, lower_bound, schedule, solve, solve_exhaustively, ExhaustiveError, Metric,
    ProblemError, Rule, Schedule, Solution,
};
use serde::Serialize;

use file::{FileError, Named};

/// Budgets of one epoch that a user at a terminal waits for.
const PATIENCE: usize = 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "The file: {\"slots\": 100, \"metric\": \"total-tardiness\", \"jobs\": [{\"id\": \"a\", \
    \"work\": 1200, \"min\": 1, \"max\": 50, \"weight\": 2, \"deadline\": 30, \"steps\": [[30, 1], [60, 5]]}, …]}. \
    Work is in slot-seconds, deadlines and step deadlines are in seconds. Only slots, jobs, id and work must be there: \
    min is 0, max is all slots and weight is 1 unless given; a deadline or steps are needed by the metrics that use \
    them. A job may have a metric of its own; \"objective\": \"minisum\" or \"minimax\" replaces the metric's. The \
    result is JSON whatever --format says.")]
pub(crate) struct Args {
    /// The problem to solve.
    #[arg(long, value_name = "FILE.json")]
    problem: PathBuf,
    /// Replaces the file's metric: avg-response (the default), weighted-response, max-weighted-response, avg-stretch,
    /// max-stretch, makespan, number-tardy, weighted-number-tardy, total-tardiness, weighted-tardiness, max-tardiness,
    /// max-weighted-tardiness, avg-lateness, weighted-lateness, max-lateness, max-weighted-lateness or sla.
    #[arg(long)]
    metric: Option<Metric>,
    /// Search all orderings, of at most 12 jobs.
    #[arg(long)]
    exhaustive: bool,
    /// Draw the schedule.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Why there is no schedule.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlexError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: FileError },
    #[error("{}: {source}", path.display())]
    Exhaustive { path: PathBuf, source: ExhaustiveError },
    #[error("cannot write {}: {source}", path.display())]
    Plot { path: PathBuf, source: io::Error },
}

/// What is printed. Times are in seconds from now; null for a job that never completes.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    metric: Metric,
    objective: &'static str,
    value: f64,
    lower_bound: f64,
    ordering: Ordering<'a>,
    intervals: Vec<IntervalOut>,
    completion_times: serde_json::Map<String, serde_json::Value>,
    evaluations: usize,
    time_taken_ms: f64,
}

#[derive(Debug, Serialize)]
struct Ordering<'a> {
    rule: Rule,
    polished: bool,
    jobs: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct IntervalOut {
    start: f64,
    end: f64,
    slots: serde_json::Map<String, serde_json::Value>,
}

pub(crate) fn run(args: &Args) -> Result<(), super::CliError> {
    let named = read(&args.problem, args.metric)?;
    for warning in named.warnings() {
        eprintln!("warning: {}: {warning}", args.problem.display());
    }
    let start = Instant::now();
    let solution = find(&named, args)?;
    let time_taken_ms = start.elapsed().as_secs_f64() * 1e3;
    let invalid = |source| at(&args.problem, FileError::from_problem(source));
    let schedule = schedule(&named.problem, &solution.order).map_err(invalid)?;
    let answer = Answer {
        metric: named.metric,
        objective: if named.problem.aggregate.is_minimax() { "minimax" } else { "minisum" },
        value: solution.value,
        lower_bound: lower_bound(&named.problem).map_err(invalid)?,
        ordering: Ordering {
            rule: solution.rule,
            polished: solution.polished,
            jobs: solution.order.iter().map(|&job| named.ids[job].as_str()).collect(),
        },
        intervals: intervals(&named.ids, &schedule),
        completion_times: by_id(&named.ids, &schedule.completion),
        evaluations: solution.evaluations,
        time_taken_ms,
    };
    if let Some(path) = &args.plot {
        let title = format!("{} {}", named.metric, crate::report::number(solution.value));
        let write = |source| FlexError::Plot { path: path.clone(), source };
        let svg = gantt::draw(&title, &named.ids, named.problem.slots, &solution.order, &schedule).map_err(write)?;
        fs::write(path, svg).map_err(write)?;
    }
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &answer).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn at(path: &Path, source: FileError) -> FlexError {
    FlexError::File { path: path.to_owned(), source }
}

fn read(path: &Path, metric: Option<Metric>) -> Result<Named, FlexError> {
    let text = fs::read_to_string(path).map_err(|source| at(path, FileError::Read(source)))?;
    file::parse(&text, metric).map_err(|source| at(path, source))
}

fn find(named: &Named, args: &Args) -> Result<Solution, FlexError> {
    let invalid = |source: ProblemError| at(&args.problem, FileError::from_problem(source));
    if !args.exhaustive {
        let budget = PATIENCE * default_evaluations(named.ids.len());
        return solve(&named.problem, &mut evaluations(budget)).map_err(invalid);
    }
    solve_exhaustively(&named.problem).map_err(|error| match error {
        ExhaustiveError::Problem(source) => invalid(source),
        source => FlexError::Exhaustive { path: args.problem.clone(), source },
    })
}

fn intervals(ids: &[String], schedule: &Schedule) -> Vec<IntervalOut> {
    let out = |interval: &hiatus_core::flex::Interval| {
        let held = ids.iter().zip(&interval.slots).filter(|(_, &slots)| slots > 0);
        let slots = held.map(|(id, &slots)| (id.clone(), slots.into())).collect();
        IntervalOut { start: interval.start, end: interval.end, slots }
    };
    schedule.intervals.iter().map(out).collect()
}

fn by_id(ids: &[String], values: &[f64]) -> serde_json::Map<String, serde_json::Value> {
    ids.iter().cloned().zip(values.iter().map(|&value| value.into())).collect()
}
