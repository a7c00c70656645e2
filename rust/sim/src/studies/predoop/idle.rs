//! Section 2.1: for how long reduces hold containers and wait, as more and more WordCounts run side by side.

use super::testbed::METHOD;
use super::testbed::{Pairs, Program, Run, Setup, Thresholds, PUBLISHED, SPREAD};
use crate::report::{Claim, Evidence, Report, Table};
use crate::studies::study::{Setting, Study, StudyError};

pub(super) const IDLE: Study = Study {
    id: "predoop-idle",
    title: "The part of their containers' time in which reduces wait, of 5, 15 and 20 WordCounts (Predoop, motivation)",
    run,
};

pub(super) const CAUSES: Study = Study {
    id: "predoop-causes",
    title: "What decides how much lending gives: one thing changed at a time, ten WordCounts",
    run: causes,
};

/// Jobs, and the slides' part of the reduces' time that is idle, in per cent.
const JOBS: [(usize, f64); 3] = [(5, 31.2), (15, 31.8), (20, 44.5)];
/// Input of each: the slides do not say.
const INPUT_GB: f64 = 8.0;

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let columns = [
        "jobs",
        "idle, slides",
        "idle without lending",
        "± (95 %)",
        "idle with lending",
        "± (95 %)",
        "turnaround with/without",
        "± (95 %)",
        "suspensions",
        "killed",
    ];
    let mut table = Table::new("idle", "Idle time over held time of reduces, suspensions aside", &columns);
    let (mut p1, mut p2) = (Evidence::default(), Evidence::default());
    let mut before = 0.0;
    for (jobs, published) in JOBS {
        let pairs = Pairs::measure(&format!("{jobs} jobs"), setting, PUBLISHED, |rng| {
            (0..jobs).map(|number| Program::WordCount.job(number, INPUT_GB, SPREAD, rng)).collect()
        })?;
        let (without, with) = (pairs.sample(|pair| pair.without.idle), pairs.sample(|pair| pair.with.idle));
        let ratio = pairs.sample(|pair| pair.ratio());
        let count = |of: fn(&Run) -> u64| pairs.sample(|pair| of(&pair.with) as f64).mean();
        table.row(vec![
            jobs.into(),
            (published / 100.0).into(),
            without.mean().into(),
            without.half_width().into(),
            with.mean().into(),
            with.half_width().into(),
            ratio.mean().into(),
            ratio.half_width().into(),
            count(|run| run.suspensions).into(),
            count(|run| run.killed).into(),
        ]);
        p1 = p1.within(&format!("{jobs} jobs"), without.mean(), 0.2, 0.55);
        if before > 0.0 {
            p1 = p1.at_least(&format!("{jobs} jobs over fewer"), without.mean() / before, 1.0);
        }
        before = without.mean();
        p2 = p2.at_most(&format!("{jobs} jobs, with over without"), with.mean() / without.mean(), 0.5);
    }
    let claims = vec![
        Claim::new(
            "P1",
            "Reduces are idle for 20 to 55 % of what they hold, the more the more jobs (slides: 31.2, 31.8, 44.5 %)",
            p1,
        ),
        Claim::new("P2", "With lending the idle part of what they hold is at most half", p2),
    ];
    Ok(Report { tables: vec![table], claims, notes: vec![METHOD.to_owned()], ..Report::default() })
}

const fn at(lend: f64, resume: f64) -> Setup {
    Setup { thresholds: Thresholds { lend, resume }, ..PUBLISHED }
}

/// What is changed: the setting, and σ of the maps' times.
const CHANGES: [(&str, Setup, f64); 10] = [
    ("nothing", PUBLISHED, SPREAD),
    ("maps take almost alike (σ 0.05)", PUBLISHED, 0.05),
    ("4 nodes", Setup { nodes: 4, ..PUBLISHED }, SPREAD),
    ("jobs share the cluster (policy fair)", Setup { knobs: &[("policy", "fair")], ..PUBLISHED }, SPREAD),
    (
        "reduces may run at once, and lend at once",
        Setup { knobs: &[("min-run-ms", "0"), ("min-resumed-ms", "0")], ..PUBLISHED },
        SPREAD,
    ),
    ("nodes keep twice their memory suspended", Setup { knobs: &[("max-suspended-memory", "2")], ..PUBLISHED }, SPREAD),
    ("D_p 0: lends whenever it waits", at(0.0, 0.4), SPREAD),
    ("the same, and D_r 100 %", at(0.0, 1.0), SPREAD),
    (
        "the same, nodes keep twice their memory",
        Setup { knobs: &[("max-suspended-memory", "2")], ..at(0.0, 1.0) },
        SPREAD,
    ),
    (
        "the same, jobs share the cluster",
        Setup { knobs: &[("max-suspended-memory", "2"), ("policy", "fair")], ..at(0.0, 1.0) },
        SPREAD,
    ),
];

fn causes(setting: &Setting) -> Result<Report, StudyError> {
    let columns =
        ["changed", "idle without", "idle with", "turnaround with/without", "± (95 %)", "suspensions", "killed"];
    let mut table = Table::new("causes", "Ten WordCounts of 8 GB, with and without lending", &columns);
    for (name, setup, spread) in CHANGES {
        let pairs = Pairs::measure(name, setting, setup, |rng| {
            (0..10).map(|number| Program::WordCount.job(number, INPUT_GB, spread, rng)).collect()
        })?;
        let ratio = pairs.sample(|pair| pair.ratio());
        table.row(vec![
            name.into(),
            pairs.sample(|pair| pair.without.idle).mean().into(),
            pairs.sample(|pair| pair.with.idle).mean().into(),
            ratio.mean().into(),
            ratio.half_width().into(),
            pairs.sample(|pair| pair.with.suspensions as f64).mean().into(),
            pairs.sample(|pair| pair.with.killed as f64).mean().into(),
        ]);
    }
    Ok(Report { tables: vec![table], notes: vec![METHOD.to_owned()], ..Report::default() })
}
