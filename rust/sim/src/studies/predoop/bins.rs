//! Section 2.3: four mixes of the SWIM project's trace of Facebook's cluster.

use super::testbed::METHOD;
use super::testbed::{trace, Pairs, BINS as MIXES, PUBLISHED};
use crate::report::{Cell, Claim, Evidence, Report, Table};
use crate::studies::study::{Setting, Study, StudyError};

pub(super) const BINS: Study =
    Study { id: "predoop-bins", title: "Four mixes of Facebook's trace of 2010 (Predoop, mixed workloads)", run };

/// The most that the abstract of the published chapter claims: turnaround shorter by so much.
const PUBLISHED_MOST: f64 = 0.6657;

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let columns = [
        "bin",
        "jobs",
        "without (s)",
        "with (s)",
        "with/without",
        "± (95 %)",
        "faster jobs",
        "idle without",
        "idle with",
        "suspensions",
    ];
    let mut table = Table::new("bins", "Mean turnaround", &columns);
    let (trace, mut evidence) = (trace()?, Evidence::default());
    for bin in MIXES {
        let name = format!("bin {}", bin.number);
        let pairs = Pairs::measure(&name, setting, PUBLISHED, |rng| bin.draw(&trace, rng))?;
        let ratio = pairs.sample(|pair| pair.ratio());
        let mut row: Vec<Cell> = vec![name.as_str().into(), bin.jobs.into()];
        row.extend(
            [pairs.sample(|pair| pair.without.mean_s()), pairs.sample(|pair| pair.with.mean_s())]
                .map(|of| of.mean().into()),
        );
        row.extend([ratio.mean().into(), ratio.half_width().into(), pairs.sample(|pair| pair.faster()).mean().into()]);
        row.extend(
            [pairs.sample(|pair| pair.without.idle), pairs.sample(|pair| pair.with.idle)].map(|of| of.mean().into()),
        );
        row.push(pairs.sample(|pair| pair.with.suspensions as f64).mean().into());
        table.row(row);
        evidence = evidence.within(&name, ratio.mean(), 1.0 - PUBLISHED_MOST, 1.0 - f64::EPSILON);
    }
    let claim = Claim::new(
        "P4",
        "Mean turnaround is better with lending in every bin, by no more than the published 66.57 %",
        evidence,
    );
    Ok(Report { tables: vec![table], claims: vec![claim], notes: vec![METHOD.to_owned()], ..Report::default() })
}
