//! How long one epoch's decision takes (§4.2: "less than 10 milliseconds per run").

use std::hint::black_box;

use cpu_time::ThreadTime;
use hiatus_core::flex::Metric;

use super::measure::flex;
use super::workload::{draw, problem, Shape, BASE};
use crate::report::{Axis, Claim, Evidence, Plot, Report, Sample, Series, Table};
use crate::studies::study::{Setting, Study, StudyError};

/// Decisions per point; the median counts.
const REPEATS: u64 = 21;
/// What the paper allows, for both phases.
const LIMIT_MS: f64 = 10.0;
/// Jobs of the paper's largest experiment.
const LARGEST: usize = 172;
const METRICS: [Metric; 3] = [Metric::AvgResponse, Metric::NumberTardy, Metric::MaxTardiness];
const JOBS: [usize; 7] = [10, 30, 100, LARGEST, 300, 600, 1000];
const SLOTS: [u32; 3] = [100, 1000, 10_000];

pub(super) const BENCH: Study = Study {
    id: "flex-bench",
    title: "CPU milliseconds per epoch, both phases (FLEX §4.2); not the same in every run",
    run,
};

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let mut table = Table::new(
        "epoch",
        "Milliseconds of one core for two phases",
        &["metric", "jobs", "slots", "median", "slowest"],
    );
    let mut plots = Vec::new();
    let (mut evidence, mut notes) = (Evidence::default(), Vec::new());
    for metric in METRICS {
        let mut series = Vec::new();
        for slots in SLOTS {
            let mut points = Vec::new();
            for jobs in JOBS {
                let small = jobs * BASE.small / BASE.jobs;
                let times = epochs(Shape { jobs, slots, small, ..BASE }, metric, setting)?;
                let slowest = times.iter().copied().fold(0.0, f64::max);
                let median = Sample::new(times).median();
                table.row(vec![
                    metric.name().into(),
                    jobs.into(),
                    (slots as usize).into(),
                    median.into(),
                    slowest.into(),
                ]);
                if jobs == LARGEST {
                    evidence = evidence.below(&format!("{metric}, {slots} slots: median ms"), median, LIMIT_MS);
                }
                points.push((jobs as f64, median));
            }
            let within =
                points.iter().filter(|(_, median)| *median < LIMIT_MS).map(|(jobs, _)| *jobs).fold(0.0, f64::max);
            notes.push(format!("{metric}, {slots} slots: below 10 ms up to {within} jobs."));
            series.push(Series { name: format!("{slots} slots"), points });
        }
        let (x, y) = (Axis::log("jobs in each phase"), Axis::log("CPU milliseconds, both phases"));
        plots.push(Plot { name: format!("epoch-{metric}"), title: format!("One epoch, {metric}"), x, y, series });
    }
    let statement = "one FLEX run with 172 jobs takes less than 10 ms, both phases";
    let claims = vec![Claim::new("C12", statement, evidence)];
    Ok(Report { tables: vec![table], plots, claims, notes })
}

/// CPU milliseconds of several epochs with such a problem in each phase.
fn epochs(shape: Shape, metric: Metric, setting: &Setting) -> Result<Vec<f64>, StudyError> {
    let phases = [0, 1].map(|phase| problem(shape.slots, metric, &draw(shape, setting.seed, phase)));
    let epoch = |_| {
        let start = ThreadTime::now();
        for phase in &phases {
            black_box(flex(black_box(phase))?);
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    (0..REPEATS).map(epoch).collect()
}
