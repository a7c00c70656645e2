//! Section 2.2: WordCount and Sort, each of five sizes.

use super::testbed::METHOD;
use super::testbed::{Pairs, Program, PUBLISHED, SPREAD};
use crate::report::{Axis, Cell, Claim, Evidence, Report, Table};
use crate::studies::figure::{self, Curve};
use crate::studies::study::{Setting, Study, StudyError};

pub(super) const PROGRAMS: Study =
    Study { id: "predoop-programs", title: "WordCount and Sort of five sizes (Predoop, single applications)", run };

const INPUTS_GB: [f64; 5] = [8.0, 10.0, 12.0, 14.0, 16.0];
/// Jobs of a workload: the slides do not say.
const JOBS: usize = 10;

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let columns = [
        "program",
        "input (GB)",
        "without (s)",
        "with (s)",
        "with/without",
        "± (95 %)",
        "idle without",
        "idle with",
        "suspensions",
    ];
    let mut table = Table::new("programs", "Mean turnaround of ten jobs that are submitted at once", &columns);
    let (mut evidence, mut curves) = (Evidence::default(), Vec::new());
    for program in [Program::WordCount, Program::Sort] {
        let mut points = Vec::new();
        for input in INPUTS_GB {
            let name = format!("{program:?} {input} GB");
            let pairs = Pairs::measure(&name, setting, PUBLISHED, |rng| {
                (0..JOBS).map(|number| program.job(number, input, SPREAD, rng)).collect()
            })?;
            let ratio = pairs.sample(|pair| pair.ratio());
            let mut row: Vec<Cell> = vec![format!("{program:?}").as_str().into(), input.into()];
            row.extend(
                [pairs.sample(|pair| pair.without.mean_s()), pairs.sample(|pair| pair.with.mean_s())]
                    .map(|of| of.mean().into()),
            );
            row.extend([ratio.mean().into(), ratio.half_width().into()]);
            row.extend(
                [pairs.sample(|pair| pair.without.idle), pairs.sample(|pair| pair.with.idle)]
                    .map(|of| of.mean().into()),
            );
            row.push(pairs.sample(|pair| pair.with.suspensions as f64).mean().into());
            table.row(row);
            evidence = evidence.below(&name, ratio.mean(), 1.0);
            points.push((input, ratio));
        }
        curves.push(Curve { name: format!("{program:?}"), points });
    }
    let claim = Claim::new("P3", "Mean turnaround is better with lending, at every size of both programs", evidence);
    let mut report =
        Report { tables: vec![table], claims: vec![claim], notes: vec![METHOD.to_owned()], ..Report::default() };
    let (x, y) = (Axis::linear("input (GB)"), Axis::linear("turnaround, with over without"));
    figure::add(&mut report, "predoop-programs", "Turnaround with lending over that without", x, y, &curves);
    Ok(report)
}
