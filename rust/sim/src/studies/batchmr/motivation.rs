//! Section 2.1 (Figure 1): each program alone, on the physical machines and on the virtual ones.

use super::testbed::METHOD;
use super::testbed::{self, hybrid, Program, Work};
use crate::report::{Cell, Claim, Evidence, Report, Table};
use crate::studies::ensemble;
use crate::studies::study::{Setting, Study, StudyError};
use hiatus_core::fact::Side;

pub(super) const MOTIVATION: Study = Study {
    id: "batchmr-motivation",
    title: "Programs alone on ten physical machines and on forty virtual ones (BatchMR, Figure 1)",
    run,
};

const MACHINES: usize = 10;

/// Programs with their sizes in the three sets; of Pi what 10^5, 10^6 and 10^9 points are worth here.
const READING: [(Program, [f64; 3]); 3] = [
    (Program::Sort, [20.0, 40.0, 80.0]),
    (Program::Grep, [10.0, 20.0, 40.0]),
    (Program::WordCount, [10.0, 20.0, 40.0]),
];
const COMPUTING: [(Program, [f64; 3]); 2] = [(Program::Kmeans, [5.0, 10.0, 20.0]), (Program::Pi, [7.0, 40.0, 160.0])];

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let mut table = Table::new(
        "times",
        "Times alone, in seconds",
        &["program", "set", "physical", "virtual", "virtual over physical"],
    );
    let mut ratio = |program: Program, set: usize, size: f64| -> Result<f64, StudyError> {
        let time = |side| {
            let job = Work { program, size }.job(set, &mut ensemble::chance(setting.seed, set as u64));
            Ok::<_, StudyError>(testbed::run(hybrid(MACHINES).only(side), &[job], &[])?.makespan_s)
        };
        let (physical, virtual_) = (time(Side::Physical)?, time(Side::Virtual)?);
        let name: Cell = format!("{program:?}").as_str().into();
        table.row(vec![name, (set + 1).into(), physical.into(), virtual_.into(), (virtual_ / physical).into()]);
        Ok(virtual_ / physical)
    };
    let mut means = |programs: &[(Program, [f64; 3])], invert: bool| -> Result<[f64; 3], StudyError> {
        let mut means = [0.0; 3];
        for (set, mean) in means.iter_mut().enumerate() {
            for (program, sizes) in programs {
                let found = ratio(*program, set, sizes[set])?;
                *mean += if invert { 1.0 / found } else { found } / programs.len() as f64;
            }
        }
        Ok(means)
    };
    let (reading, computing) = (means(&READING, false)?, means(&COMPUTING, true)?);
    let b1 = Evidence::default()
        .at_least("set 1", reading[0], 1.5)
        .above("set 2 over set 1", reading[1] / reading[0], 1.0)
        .above("set 3 over set 2", reading[2] / reading[1], 1.0)
        .at_least("set 3", reading[2], 1.8);
    let b2 = Evidence::default()
        .at_least("set 1", computing[0], 1.7)
        .above("set 2 over set 1", computing[1] / computing[0], 1.0)
        .above("set 3 over set 2", computing[2] / computing[1], 1.0)
        .at_least("set 3", computing[2], 2.5)
        .within("mean", computing.iter().sum::<f64>() / 3.0, 1.5, 2.5);
    let claims = vec![
        Claim::new(
            "B1",
            "Reading and writing: physical machines are faster, and the gap grows (the paper: 1.75, about 2)",
            b1,
        ),
        Claim::new("B2", "Computing: virtual machines are faster, and the gap grows (the paper: about 2, about 3)", b2),
    ];
    Ok(Report { tables: vec![table], claims, notes: vec![METHOD.to_owned()], ..Report::default() })
}
