//! Section 2.3 (Figure 4): three sets of five jobs, first come first served on the physical machines, and placed on both sides.

use super::testbed::METHOD;
use super::testbed::{self, hybrid, Program, Work};
use super::training::History;
use crate::report::{Cell, Claim, Evidence, Report, Table};
use crate::studies::ensemble;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::Job;
use hiatus_core::batchmr::rules::{ask, Question};
use hiatus_core::fact::{PerSide, Run, Side};
use hiatus_core::settings::Settings;
use hiatus_core::units::Millis;
use std::hint::black_box;
use std::time::Instant;

pub(super) const PLACEMENT: Study = Study {
    id: "batchmr-placement",
    title: "Three sets of jobs, on physical machines alone and placed in the hybrid cluster (BatchMR, Figure 4)",
    run,
};

pub(super) const MACHINES: usize = 10;
pub(super) const REPETITIONS: usize = 5;
/// The three sets.
pub(super) const SETS: [[(Program, f64); 5]; 3] = [
    [
        (Program::Sort, 10.0),
        (Program::Kmeans, 5.0),
        (Program::Grep, 10.0),
        (Program::WordCount, 10.0),
        (Program::Pi, 7.0),
    ],
    [
        (Program::Sort, 20.0),
        (Program::Kmeans, 10.0),
        (Program::Grep, 20.0),
        (Program::WordCount, 20.0),
        (Program::Pi, 80.0),
    ],
    [
        (Program::Sort, 40.0),
        (Program::Kmeans, 20.0),
        (Program::Grep, 40.0),
        (Program::WordCount, 40.0),
        (Program::Pi, 160.0),
    ],
];
/// Records among which B9 asks.
const RECORDS: usize = 1_000;

/// A set's jobs, told of what is known of earlier ones.
pub(super) fn jobs(work: &[(Program, f64)], history: Option<&History>, seed: u64) -> Vec<Job> {
    let mut rng = ensemble::chance(seed, 2);
    let job = |(at, (program, size)): (usize, &(Program, f64))| {
        let job = Work { program: *program, size: *size }.job(at, &mut rng);
        match history {
            Some(history) => history.with(job),
            None => job,
        }
    };
    work.iter().enumerate().map(job).collect()
}

/// The placer is on.
pub(super) fn placed() -> Vec<(&'static str, String)> {
    vec![("batchmr-placer", "on".to_owned())]
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let history = History::trained(setting.seed)?;
    let columns = ["set", "physical (s)", "placed (s)", "speed-up", "mean physical (s)", "mean placed (s)"];
    let mut table = Table::new("sets", "Until all five jobs are done, and the mean time of a job", &columns);
    let repetitions = setting.runs(REPETITIONS);
    let mut speed_ups = Vec::new();
    for (set, work) in SETS.iter().enumerate() {
        let runs = ensemble::runs(&format!("set {}", set + 1), repetitions, |number| {
            let seed = setting.seed + number;
            let physical = testbed::run(hybrid(MACHINES).only(Side::Physical), &jobs(work, None, seed), &[])?;
            let placed = testbed::run(hybrid(MACHINES), &jobs(work, Some(&history), seed), &placed())?;
            Ok::<_, StudyError>([physical.makespan_s, placed.makespan_s, physical.mean_s(), placed.mean_s()])
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mean = |at: usize| runs.iter().map(|run| run[at]).sum::<f64>() / runs.len() as f64;
        let speed_up = mean(0) / mean(1);
        let cells = [mean(0), mean(1), speed_up, mean(2), mean(3)].map(Cell::from);
        table.row([(set + 1).into()].into_iter().chain(cells).collect());
        speed_ups.push(speed_up);
    }
    let (right, known) = placed_right(setting, &history)?;
    let b5 = Evidence::default()
        .at_least("set 1", speed_ups[0], 1.0)
        .above("set 2 over set 1", speed_ups[1] / speed_ups[0], 1.0)
        .above("set 3 over set 2", speed_ups[2] / speed_ups[1], 1.0);
    let b8 = Evidence::default().at_least(&format!("of {known} jobs"), right, 0.9);
    let b9 = Evidence::default().below(&format!("a query among {RECORDS} records (ms)"), query_ms(), 1.0);
    let claims = vec![
        Claim::new(
            "B5",
            "The placer is never slower than first come first served on physical machines; more so in larger sets",
            b5,
        ),
        Claim::new("B8", "Known jobs are placed right: reading on physical, computing on virtual machines", b8),
        Claim::new("B9", "The rules' answer takes less than a millisecond", b9)
            .remark("wall time, on the machine that made this"),
    ];
    Ok(Report { tables: vec![table], claims, notes: vec![METHOD.to_owned()], ..Report::default() })
}

/// Jobs of sizes near the trained ones, one after the other: which part is placed where its program belongs, and of how many.
fn placed_right(setting: &Setting, history: &History) -> Result<(f64, usize), StudyError> {
    let programs = [Program::Sort, Program::Grep, Program::WordCount, Program::Kmeans];
    let work: Vec<_> = programs.iter().flat_map(|program| [28.0, 30.0, 34.0, 36.0].map(|gb| (*program, gb))).collect();
    let sides = ensemble::runs("known jobs", work.len(), |at| {
        let one = &work[at as usize..=at as usize];
        let finished = testbed::run(hybrid(MACHINES), &jobs(one, Some(history), setting.seed + at), &placed())?;
        Ok::<_, StudyError>(finished.verdicts[0].and_then(|verdict| verdict.side) == Some(one[0].0.side()))
    });
    let sides = sides.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok((sides.iter().filter(|right| **right).count() as f64 / sides.len() as f64, sides.len()))
}

/// Mean wall time of a query, in ms.
fn query_ms() -> f64 {
    let run = |at: usize| Run {
        same_class: true,
        side: Side::BOTH[at % 2],
        at_ms: at as u64,
        took: Millis(1000 + at as u64),
        nodes: 10,
        input: 1 << 30,
    };
    let runs: Vec<Run> = (0..RECORDS).map(run).collect();
    let (rules, question) = (Settings::default(), Question { input: 1 << 30, nodes: PerSide::both(10) });
    let (began, times) = (Instant::now(), 100);
    for _ in 0..times {
        black_box(ask(&rules.queue("root").placer, question, black_box(&runs)));
    }
    began.elapsed().as_secs_f64() * 1000.0 / f64::from(times)
}
