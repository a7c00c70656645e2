//! §4.1, "much larger experiments": too many jobs for an exhaustive search, so FIFO and FAIR over FLEX itself.

use hiatus_core::flex::{lower_bound, Metric};

use super::measure::{flex, ratios, Reference};
use super::workload::{draw, problem, Shape, BASE};
use crate::report::{number, Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble;
use crate::studies::study::{Setting, Study, StudyError};

/// Experiments per point.
const RUNS: usize = 40;
/// Slots per job, as in the base case.
const SLOTS_PER_JOB: u32 = 10;

pub(super) const LARGER: Study =
    Study { id: "flex-larger", title: "FIFO and FAIR over FLEX with up to 500 jobs (FLEX §4.1)", run };

/// The base case with more jobs.
fn shape(jobs: u32) -> Shape {
    let small = jobs as usize * BASE.small / BASE.jobs;
    Shape { jobs: jobs as usize, slots: jobs * SLOTS_PER_JOB, small, ..BASE }
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let runs = setting.runs(RUNS);
    let columns = [
        "metric",
        "jobs",
        "slots",
        "FIFO / FLEX mean",
        "worst",
        "FAIR / FLEX mean",
        "worst",
        "FLEX / bound mean",
        "runs",
    ];
    let mut table = Table::new("larger", "Values over FLEX's: 80 % small jobs, slack 75 %", &columns);
    let mut evidence = Evidence::default();
    for metric in [Metric::AvgResponse, Metric::AvgStretch, Metric::TotalTardiness, Metric::NumberTardy] {
        for jobs in [20, 40, 172, 500] {
            let shape = shape(jobs);
            let r = ratios(&format!("{metric}, {jobs} jobs"), shape, metric, Reference::Flex, setting.seed, runs)?;
            let above = |run| -> Result<f64, StudyError> {
                let problem = problem(shape.slots, metric, &draw(shape, setting.seed, run));
                Ok(flex(&problem)?.value / lower_bound(&problem)?)
            };
            let above = ensemble::runs("lower bounds", runs, above).into_iter().collect::<Result<Vec<_>, _>>()?;
            // A bound of 0 bounds nothing.
            let above = Sample::new(above.into_iter().filter(|ratio| ratio.is_finite()).collect());
            table.row(vec![
                metric.name().into(),
                (jobs as usize).into(),
                (shape.slots as usize).into(),
                r.fifo.mean.into(),
                r.fifo.worst.into(),
                r.fair.mean.into(),
                r.fair.worst.into(),
                above.mean().into(),
                (runs - r.left_out).into(),
            ]);
            let text = format!("{metric}, {jobs} jobs: FAIR, with FIFO {},", number(r.fifo.mean));
            evidence = evidence.above(&text, r.fair.mean.min(r.fifo.mean), 1.0);
        }
    }
    let statement = "the conclusions of the small experiments hold in much larger ones: FAIR and FIFO above FLEX";
    let notes = vec![
        "FLEX with the budget of one epoch. The bound forgets the minima that FLEX must keep, so FLEX / bound is no \
         measure of its distance from the optimum, only a limit to it."
            .to_owned(),
    ];
    Ok(Report {
        tables: vec![table],
        claims: vec![Claim::new("larger", statement, evidence)],
        notes,
        ..Report::default()
    })
}
