//! Section 2.2 (Figure 3): one threshold after the other from 0 to 100 % in 21 steps.

use super::testbed::METHOD;
use super::testbed::{self, hybrid, Finished, Program, Size, Work};
use super::training::History;
use crate::report::{number, Axis, Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble;
use crate::studies::figure::{self, Curve};
use crate::studies::study::{Setting, Study, StudyError};
use hiatus_core::batchmr::{Reason, Verdict};
use hiatus_core::fact::Side;
use rand::Rng;

pub(super) const SWEEPS: Study = Study {
    id: "batchmr-sweeps",
    title: "The three thresholds from 0 to 100 %, runs told apart by their class (BatchMR, Figure 3)",
    run: |setting| run(setting, "class"),
};
pub(super) const LITERAL: Study = Study {
    id: "batchmr-sweeps-literal",
    title: "The three thresholds from 0 to 100 %, with the key as printed (BatchMR, Figure 3)",
    run: |setting| run(setting, "literal"),
};

pub(super) const CAUSES: Study = Study {
    id: "batchmr-causes",
    title: "How long first tasks are waited for, while a part of the jobs is ruled",
    run: causes,
};

/// Random mixes for each value; the paper makes three repetitions.
const MIXES: usize = 7;
const JOBS: usize = 8;
const PROGRAMS: [Program; 4] = [Program::Sort, Program::Grep, Program::WordCount, Program::Kmeans];

/// A threshold to vary.
struct Threshold {
    name: &'static str,
    knob: &'static str,
    /// The values of the other two meanwhile.
    others: [(&'static str, f64); 2],
    /// Where the paper's best value is, in per cent.
    window: (f64, f64),
}

const THRESHOLDS: [Threshold; 3] = [
    Threshold {
        name: "θ_c",
        knob: "batchmr-cluster-size",
        others: [("batchmr-difference", 0.3), ("batchmr-data-size", 0.1)],
        window: (15.0, 25.0),
    },
    Threshold {
        name: "θ_d",
        knob: "batchmr-data-size",
        others: [("batchmr-difference", 0.3), ("batchmr-cluster-size", 0.2)],
        window: (10.0, 20.0),
    },
    Threshold {
        name: "θ_r",
        knob: "batchmr-difference",
        others: [("batchmr-cluster-size", 0.2), ("batchmr-data-size", 0.15)],
        window: (30.0, 50.0),
    },
];

/// A random mix of jobs like the trained ones with other sizes, and the cluster for it.
struct Mix {
    size: Size,
    work: Vec<Work>,
    seed: u64,
    /// Mean time on the physical machines alone, in seconds.
    physical_s: f64,
}

impl Mix {
    fn draw(seed: u64, number: u64) -> Result<Mix, StudyError> {
        let mut rng = ensemble::chance(seed, 1_000 + number);
        let machines = rng.random_range(4..=10);
        let one = |rng: &mut rand_xoshiro::Xoshiro256PlusPlus| Work {
            program: PROGRAMS[rng.random_range(0..PROGRAMS.len())],
            // As much a machine as in training, more or less.
            size: machines as f64 * rng.random_range(1.2..3.6),
        };
        let work = (0..JOBS).map(|_| one(&mut rng)).collect();
        let mut mix = Mix { size: hybrid(machines), work, seed: number, physical_s: 0.0 };
        mix.physical_s = mix.run(mix.size.only(Side::Physical), None, &[])?.mean_s();
        Ok(mix)
    }

    fn run(
        &self,
        size: Size,
        history: Option<&History>,
        knobs: &[(&'static str, String)],
    ) -> Result<Finished, StudyError> {
        let mut rng = ensemble::chance(self.seed, 1);
        let job = |(at, work): (usize, &Work)| {
            let job = work.job(at, &mut rng);
            match history {
                Some(history) => history.with(job),
                None => job,
            }
        };
        let jobs: Vec<_> = self.work.iter().enumerate().map(job).collect();
        testbed::run(size, &jobs, knobs)
    }
}

/// What one value of a threshold gave, mix by mix.
struct Point {
    percent: f64,
    /// Mean time over that on the physical machines alone.
    time: Sample,
    /// Part of the jobs that ran on physical machines.
    physical: Sample,
    /// Part of the jobs of which the rules knew enough.
    ruled: Sample,
}

fn run(setting: &Setting, key: &str) -> Result<Report, StudyError> {
    let (history, mixes) = (History::trained(setting.seed)?, draw(setting)?);
    let mut report = Report { notes: vec![METHOD.to_owned()], ..Report::default() };
    let mut evidence = Evidence::default();
    for Threshold { name, knob, others, window } in THRESHOLDS {
        let points = sweep(&mixes, &history, key, knob, &others)?;
        let curve = |name: &str, of: fn(&Point) -> &Sample| Curve {
            name: name.to_owned(),
            points: points.iter().map(|point| (point.percent, of(point).clone())).collect(),
        };
        let curves = [
            curve("time over physical alone", |point| &point.time),
            curve("on physical machines", |point| &point.physical),
            curve("ruled", |point| &point.ruled),
        ];
        let (x, y) = (Axis::linear(&format!("{name} (%)")), Axis::linear("ratio, or part of the jobs"));
        figure::add(&mut report, knob, &format!("{name}, key {key}"), x, y, &curves);
        let best = points.iter().map(|point| point.time.mean()).fold(f64::INFINITY, f64::min);
        // Of equally good values the one nearest to the paper's.
        let middle = (window.0 + window.1) / 2.0;
        let as_good = points.iter().filter(|point| point.time.mean() <= best * (1.0 + 1e-9));
        let distance = |point: &&Point| (point.percent - middle).abs();
        let optimum =
            as_good.min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or(f64::NAN, |point| point.percent);
        evidence = evidence.within(&format!("{name}: best at"), optimum, window.0, window.1);
        let at_zero = points.first().map_or(f64::NAN, |point| point.time.mean());
        evidence = evidence.above(&format!("{name}: time at 0 over the best"), at_zero / best, 1.0);
        if name == "θ_r" {
            report.claims.extend(extremes(&points));
        }
    }
    let statement =
        "θ_c is best in 15 to 25 %, θ_d in 10 to 20 %, θ_r in 30 to 50 %; 0 % is worse than that for all three";
    report.claims.insert(0, Claim::new("B3", statement, evidence));
    report.claims = report.claims.into_iter().map(|claim| claim.under(&format!("key {key}"))).collect();
    Ok(report)
}

fn draw(setting: &Setting) -> Result<Vec<Mix>, StudyError> {
    let count = if setting.quick { 2 } else { MIXES };
    let mixes = ensemble::runs("mixes", count, |number| Mix::draw(setting.seed, number));
    mixes.into_iter().collect()
}

/// The trough of θ_d: who is placed without a comparison, and what becomes of that when samples are waited for.
fn causes(setting: &Setting) -> Result<Report, StudyError> {
    let (history, mixes) = (History::trained(setting.seed)?, draw(setting)?);
    let columns =
        ["samples may take (s)", "time over physical alone", "on physical machines", "placed without a comparison"];
    let mut table = Table::new("causes", "θ_d = 10 %, all else default, key class", &columns);
    for seconds in [120.0, 3_600.0] {
        let runs = ensemble::runs("causes", mixes.len(), |at| {
            let mix = &mixes[at as usize];
            let knobs = [
                ("batchmr-placer", "on".to_owned()),
                ("batchmr-data-size", "0.1".to_owned()),
                ("batchmr-sampling-timeout-ms", format!("{}", seconds * 1000.0)),
            ];
            let finished = mix.run(mix.size, Some(&history), &knobs)?;
            let part = |which: fn(&Verdict) -> bool| {
                finished.verdicts.iter().flatten().filter(|verdict| which(verdict)).count() as f64 / JOBS as f64
            };
            let physical = part(|verdict| verdict.side == Some(Side::Physical));
            Ok([finished.mean_s() / mix.physical_s, physical, part(|verdict| verdict.times.is_none())])
        });
        let runs = runs.into_iter().collect::<Result<Vec<[f64; 3]>, StudyError>>()?;
        let mean = |at: usize| (runs.iter().map(|run| run[at]).sum::<f64>() / runs.len() as f64).into();
        table.row(vec![seconds.into(), mean(0), mean(1), mean(2)]);
    }
    Ok(Report { tables: vec![table], notes: vec![METHOD.to_owned()], ..Report::default() })
}

fn sweep(
    mixes: &[Mix],
    history: &History,
    key: &str,
    knob: &'static str,
    others: &[(&'static str, f64)],
) -> Result<Vec<Point>, StudyError> {
    let steps = 21;
    let all = ensemble::runs(knob, steps * mixes.len(), |at| {
        let (value, mix) = (at as usize / mixes.len(), &mixes[at as usize % mixes.len()]);
        let mut knobs = vec![("batchmr-placer", "on".to_owned()), ("batchmr-key", key.to_owned())];
        knobs.push((knob, (value as f64 * 0.05).to_string()));
        knobs.extend(others.iter().map(|(knob, value)| (*knob, value.to_string())));
        let finished = mix.run(mix.size, Some(history), &knobs)?;
        let part = |which: fn(&Verdict) -> bool| {
            finished.verdicts.iter().flatten().filter(|verdict| which(verdict)).count() as f64 / JOBS as f64
        };
        let ruled = part(|verdict| matches!(verdict.reason, Reason::RuleP | Reason::RuleV));
        Ok((finished.mean_s() / mix.physical_s, part(|verdict| verdict.side == Some(Side::Physical)), ruled))
    });
    let all = all.into_iter().collect::<Result<Vec<(f64, f64, f64)>, StudyError>>()?;
    let point = |(value, of_mixes): (usize, &[(f64, f64, f64)])| {
        let sample = |of: fn(&(f64, f64, f64)) -> f64| Sample::new(of_mixes.iter().map(of).collect());
        let percent = value as f64 * 5.0;
        Point { percent, time: sample(|one| one.0), physical: sample(|one| one.1), ruled: sample(|one| one.2) }
    };
    Ok(all.chunks(mixes.len()).enumerate().map(point).collect())
}

/// B4: both ends of θ_r.
fn extremes(points: &[Point]) -> Option<Claim> {
    let (first, last) = (points.first()?, points.last()?);
    let evidence = Evidence::default()
        .at_least("θ_r = 0: part on physical machines", first.physical.mean(), 0.95)
        .within("time over physical alone", first.time.mean(), 0.95, 1.05)
        .at_least("θ_r = 100 %: part on virtual ones", 1.0 - last.physical.mean(), 0.9);
    let remark = format!("one job is {} of a mix", number(1.0 / JOBS as f64));
    Some(Claim::new("B4", "θ_r = 0 is pure physical, θ_r = 100 % nearly all virtual", evidence).remark(remark))
}
