//! Section 2.4 (Figure 5): the sets of jobs where some machines are slow and some tasks have more data than others, with slow tasks
//! backed up by each of three rules; in the hybrid cluster without the placer, and with it.

use super::placement::{jobs, placed, MACHINES, SETS};
use super::testbed::METHOD;
use super::testbed::{hybrid, Finished, Testbed};
use super::training::History;
use crate::cluster::Speculation;
use crate::report::{Cell, Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{Job, Times};
use hiatus_core::fact::Side;
use hiatus_core::units::Millis;
use rand::Rng;

pub(super) const SPECULATION: Study = Study {
    id: "batchmr-speculation",
    title: "Slow tasks backed up by Hadoop's own rule, LATE's and BatchMR's (BatchMR, Figure 5)",
    run,
};

const REPETITIONS: usize = 40;
/// The part of a job's tasks that have more data than the others, and how many times as much.
const LARGE: f64 = 0.05;
const LARGE_TIMES: u64 = 4;

/// Who backs up, as in the tables.
const RULES: [(&str, Option<Speculation>); 4] = [
    ("none", None),
    ("Hadoop", Some(Speculation::Hadoop)),
    ("LATE", Some(Speculation::Late)),
    ("BatchMR", Some(Speculation::BatchMr)),
];
const HADOOP: usize = 1;
const LATE: usize = 2;
const BATCHMR: usize = 3;

/// A part of the job's tasks has several times the data of the others.
fn skewed(mut job: Job, rng: &mut impl Rng) -> Job {
    for stage in &mut job.stages {
        if let Times::Each(times) = &mut stage.times {
            for time in times.iter_mut().filter(|_| rng.random_bool(LARGE)) {
                *time = Millis(time.0 * LARGE_TIMES);
            }
        }
    }
    job
}

/// What became of a set under each rule, repetition by repetition.
type OfRules = [Vec<Finished>; 4];

fn under_each(
    setting: &Setting,
    set: usize,
    testbed: &Testbed,
    history: Option<&History>,
) -> Result<OfRules, StudyError> {
    let mut all: OfRules = Default::default();
    for (of_rule, (name, speculation)) in all.iter_mut().zip(RULES) {
        let testbed = Testbed { speculation, ..testbed.clone() };
        let runs = ensemble::runs(&format!("set {}, {name}", set + 1), setting.runs(REPETITIONS), |number| {
            let mut rng = ensemble::chance(setting.seed + number, 3);
            let set = jobs(&SETS[set], history, setting.seed + number);
            let set: Vec<Job> = set.into_iter().map(|job| skewed(job, &mut rng)).collect();
            testbed.run(&set)
        });
        *of_rule = runs.into_iter().collect::<Result<_, _>>()?;
    }
    Ok(all)
}

fn mean(of_rule: &[Finished], what: impl Fn(&Finished) -> f64) -> f64 {
    of_rule.iter().map(what).sum::<f64>() / of_rule.len() as f64
}

fn makespan_s(of_rule: &[Finished]) -> f64 {
    mean(of_rule, |finished| finished.makespan_s)
}

/// How long all took over that, draw by draw.
fn over(one: &[Finished], other: &[Finished]) -> Sample {
    Sample::new(one.iter().zip(other).map(|(one, other)| one.makespan_s / other.makespan_s).collect())
}

/// A row for each set and rule.
fn table(name: &str, title: &str) -> Table {
    Table::new(
        name,
        title,
        &["set", "backed up by", "all done (s)", "mean of a job (s)", "backups", "container-s in vain"],
    )
}

fn rows(table: &mut Table, set: usize, all: &OfRules) {
    for (of_rule, (name, _)) in all.iter().zip(RULES) {
        let cells = [
            makespan_s(of_rule),
            mean(of_rule, Finished::mean_s),
            mean(of_rule, |finished| finished.backups as f64),
            mean(of_rule, |finished| finished.raced_s),
        ];
        table.row([(set + 1).into(), name.into()].into_iter().chain(cells.map(Cell::from)).collect());
    }
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let history = History::trained(setting.seed)?;
    let anywhere =
        Testbed { size: hybrid(MACHINES), knobs: Vec::new(), some_slow: true, speculation: None, uncapped: false };
    let by_placer = Testbed { knobs: placed(), ..anywhere.clone() };
    let physical = Testbed { size: hybrid(MACHINES).only(Side::Physical), ..anywhere.clone() };
    let mut alone = table("speculation", "In the hybrid cluster, tasks anywhere (Figure 5a)");
    let mut whole = table("whole", "In the hybrid cluster, jobs placed (Figure 5b)");
    let mut stock = table("stock", "On the physical machines");
    let columns = ["set", "other rule", "ratio", "half width (95 %)", "both without a bound", "half width (95 %)"];
    let mut bounds =
        Table::new("bounds", "All done under BatchMR over the other, draw by draw, tasks anywhere", &columns);
    let (mut b6, mut gains) = (Evidence::default(), Vec::new());
    for set in 0..SETS.len() {
        let of = |testbed: &Testbed, history| under_each(setting, set, testbed, history);
        let (free, placed, fixed) = (of(&anywhere, None)?, of(&by_placer, Some(&history))?, of(&physical, None)?);
        rows(&mut alone, set, &free);
        rows(&mut whole, set, &placed);
        rows(&mut stock, set, &fixed);
        let unbounded = of(&Testbed { uncapped: true, ..anywhere.clone() }, None)?;
        for other in [HADOOP, LATE] {
            let ratios = [&free, &unbounded].map(|all| over(&all[BATCHMR], &all[other]));
            let cells = ratios.iter().flat_map(|ratio| [ratio.mean(), ratio.half_width()]).map(Cell::from);
            bounds.row([(set + 1).into(), RULES[other].0.into()].into_iter().chain(cells).collect());
        }
        let than = |other: usize| makespan_s(&free[BATCHMR]) / makespan_s(&free[other]);
        b6 = b6.at_most(&format!("set {}: BatchMR over Hadoop", set + 1), than(HADOOP), 1.0).at_most(
            "over LATE",
            than(LATE),
            1.0,
        );
        gains.push(makespan_s(&fixed[HADOOP]) / makespan_s(&placed[BATCHMR]));
    }
    let b7 = Evidence::default().at_least("set 3", gains[2], 1.6).above("over set 1", gains[2] / gains[0], 1.0);
    let claims = vec![
        Claim::new(
            "B6",
            "Without the placer, all is done sooner with BatchMR's backups than with Hadoop's or LATE's",
            b6,
        ),
        Claim::new(
            "B7",
            "Placed and backed up: throughput over Hadoop's on physical machines (the paper: almost 2, growing)",
            b7,
        ),
    ];
    let note = "One machine in ten, of either kind, takes 4 times as long for everything, and one task in twenty has 4 times the data. A map \
        has shown two thirds of its progress after 90 % of its time; a reduce's three phases take 50, 10 and 40 % of its. A slow task is \
        backed up once, when it has run for a minute and no new task waits; under LATE and BatchMR ten at a time, or a tenth of what runs.";
    let notes = vec![METHOD.to_owned(), note.to_owned()];
    Ok(Report { tables: vec![alone, whole, stock, bounds], claims, notes, ..Report::default() })
}
