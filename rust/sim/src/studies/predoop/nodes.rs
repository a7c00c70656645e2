//! Section 2.5: from 4 to 12 nodes, three workloads of 120 jobs each.

use super::testbed::METHOD;
use super::testbed::{trace, Bin, Pairs, Setup, BINS, PUBLISHED};
use crate::report::{Axis, Cell, Claim, Evidence, Report, Table};
use crate::studies::figure::{self, Curve};
use crate::studies::study::{Setting, Study, StudyError};

pub(super) const NODES: Study =
    Study { id: "predoop-nodes", title: "Four to twelve nodes (Predoop, scalability)", run };

const SIZES: [usize; 5] = [4, 6, 8, 10, 12];
const JOBS: usize = 120;

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let columns = ["nodes", "workload", "without (s)", "with (s)", "with/without", "± (95 %)"];
    let mut table = Table::new("nodes", "Mean turnaround of the first 120 jobs of bins 1 to 3", &columns);
    let (trace, mut evidence) = (trace()?, Evidence::default());
    let mut curves: Vec<_> = (1..=3).map(|bin| Curve { name: format!("bin {bin}"), points: Vec::new() }).collect();
    for size in SIZES {
        let mut mean = 0.0;
        for (bin, curve) in BINS.into_iter().zip(&mut curves) {
            let bin = Bin { jobs: JOBS, ..bin };
            let name = format!("{size} nodes, bin {}", bin.number);
            let pairs =
                Pairs::measure(&name, setting, Setup { nodes: size, ..PUBLISHED }, |rng| bin.draw(&trace, rng))?;
            let ratio = pairs.sample(|pair| pair.ratio());
            let mut row: Vec<Cell> = vec![size.into(), format!("bin {}", bin.number).as_str().into()];
            row.extend(
                [pairs.sample(|pair| pair.without.mean_s()), pairs.sample(|pair| pair.with.mean_s())]
                    .map(|of| of.mean().into()),
            );
            row.extend([ratio.mean().into(), ratio.half_width().into()]);
            table.row(row);
            mean += ratio.mean() / 3.0;
            curve.points.push((size as f64, ratio));
        }
        evidence = evidence.below(&format!("{size} nodes, mean of three"), mean, 1.0);
    }
    let claim =
        Claim::new("P6", "Mean turnaround of three workloads is better with lending, for 4 to 12 nodes", evidence);
    let mut report =
        Report { tables: vec![table], claims: vec![claim], notes: vec![METHOD.to_owned()], ..Report::default() };
    let (x, y) = (Axis::linear("nodes"), Axis::linear("turnaround, with over without"));
    figure::add(&mut report, "predoop-nodes", "Turnaround with lending over that without", x, y, &curves);
    Ok(report)
}
