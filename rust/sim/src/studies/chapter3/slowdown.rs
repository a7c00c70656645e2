//! Figures 3.7 and 3.8: slowdown by job size and by job.

use crate::report::{quantile, Axis, Claim, Evidence, Plot, Report, Series, Table};
use crate::studies::ensemble::runs;
use crate::studies::single::PolicyKind::{self, Fifo, Fspe, FspePs, Las, Ps, Srpt, Srpte};
use crate::studies::single::{slowdowns, Summary};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::Synthesis;

pub(super) const FIG_3_7: Study =
    Study { id: "fig-3.7", title: "Mean conditional slowdown, 100 classes of size (thesis Fig 3.7)", run: by_size };

pub(super) const FIG_3_8: Study =
    Study { id: "fig-3.8", title: "Per-job slowdown, 121 runs of 10,000 jobs (thesis Fig 3.8)", run: by_job };

const POLICIES: [PolicyKind; 7] = [Fifo, Ps, Las, Srpt, Srpte, Fspe, FspePs];

/// As many runs as the thesis made.
const RUNS: usize = 121;

/// Classes of equally many jobs.
const CLASSES: usize = 100;

/// Every job's size, and its slowdown under each of [`POLICIES`].
struct Slowdowns {
    runs: usize,
    jobs: Vec<(f64, [f64; POLICIES.len()])>,
}

impl Slowdowns {
    fn measure(setting: &Setting) -> Slowdowns {
        let count = setting.runs(RUNS);
        let jobs = runs("slowdowns", count, |run| {
            let jobs = Synthesis::default().draw(setting.seed, run);
            let mut measured: Vec<_> = jobs.iter().map(|job| (job.size, [0.0; POLICIES.len()])).collect();
            for (index, policy) in POLICIES.into_iter().enumerate() {
                // Weibull sizes are positive: there is a slowdown for every job.
                for (job, slowdown) in measured.iter_mut().zip(slowdowns(&jobs, &policy.completions(&jobs))) {
                    job.1[index] = slowdown;
                }
            }
            measured
        });
        Slowdowns { runs: count, jobs: jobs.concat() }
    }

    /// The slowdowns under one policy, sorted.
    fn sorted(&self, policy: PolicyKind) -> Vec<f64> {
        let index = index(policy);
        let mut sorted: Vec<f64> = self.jobs.iter().map(|(_, slowdowns)| slowdowns[index]).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    }
}

fn index(policy: PolicyKind) -> usize {
    POLICIES.iter().position(|other| *other == policy).unwrap_or_else(|| panic!("{policy} was not measured"))
}

fn by_size(setting: &Setting) -> Result<Report, StudyError> {
    let mut measured = Slowdowns::measure(setting);
    measured.jobs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let in_class = measured.jobs.len() / CLASSES;
    let classes: Vec<(f64, [f64; POLICIES.len()])> = measured
        .jobs
        .chunks_exact(in_class)
        .map(|class| {
            let n = class.len() as f64;
            let size = class.iter().map(|(size, _)| size).sum::<f64>() / n;
            (size, std::array::from_fn(|policy| class.iter().map(|(_, slowdowns)| slowdowns[policy]).sum::<f64>() / n))
        })
        .collect();
    let mut columns = vec!["class".to_owned(), "mean size".to_owned()];
    columns.extend(POLICIES.map(|policy| policy.to_string()));
    let mut table = Table::new("fig-3.7", "Mean slowdown per class of size", &columns);
    for (number, (size, slowdown)) in classes.iter().enumerate() {
        let mut row = vec![number.into(), (*size).into()];
        row.extend(slowdown.map(Into::into));
        table.row(row);
    }
    let line = |policy: PolicyKind| Series {
        name: policy.to_string(),
        // Class 0 would stretch the axis over what is below the resolution of the clock.
        points: classes[1..].iter().map(|(size, slowdown)| (*size, slowdown[index(policy)])).collect(),
    };
    let plot = Plot {
        name: "fig-3.7".to_owned(),
        title: "Mean conditional slowdown".to_owned(),
        x: Axis::log("job size"),
        y: Axis::log("mean slowdown"),
        series: POLICIES.map(line).into(),
    };
    let curve = |policy: PolicyKind, from: usize, to: usize| -> Vec<f64> {
        classes[from..=to].iter().map(|(_, slowdown)| slowdown[index(policy)]).collect()
    };
    let ps = curve(Ps, 5, 98);
    let ps_mean = ps.iter().sum::<f64>() / ps.len() as f64;
    let extreme = |values: &[f64], pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).unwrap_or(f64::NAN);
    let evidence = Evidence::default()
        .at_least("PS, classes 5…98: smallest over mean", extreme(&ps, f64::min) / ps_mean, 0.9)
        .at_most("largest over mean", extreme(&ps, f64::max) / ps_mean, 1.1)
        .at_most("FSPE+PS, largest of classes 1…79", extreme(&curve(FspePs, 1, 79), f64::max), 1.25)
        .below("FSPE+PS, last class", curve(FspePs, 99, 99)[0], curve(Las, 99, 99)[0]);
    let statement =
        "PS slows all sizes alike (±10 %); FSPE+PS hardly slows the smallest 80 %, and the largest less than LAS";
    let smallest = curve(FspePs, 0, 0)[0];
    let remark = format!("class 0 (FSPE+PS {smallest:.3}) is left out: its sizes approach the resolution of the clock");
    Ok(Report {
        tables: vec![table],
        plots: vec![plot],
        claims: vec![Claim::new("S-21", statement, evidence).remark(remark)],
        notes: vec![format!("{} runs of 10,000 jobs, {in_class} jobs per class.", measured.runs)],
    })
}

fn by_job(setting: &Setting) -> Result<Report, StudyError> {
    let measured = Slowdowns::measure(setting);
    let mut columns = vec!["policy".to_owned()];
    columns.extend(Summary::QUANTILES.map(|q| if q == 1.0 { "max".to_owned() } else { format!("q{q}") }));
    columns.push("share above 100".to_owned());
    let mut table = Table::new("fig-3.8", "Quantiles of the per-job slowdown", &columns);
    let mut series = Vec::new();
    let mut unfair = Evidence::default();
    let mut majority = Evidence::default();
    for policy in POLICIES {
        let sorted = measured.sorted(policy);
        let above_100 = sorted.iter().filter(|slowdown| **slowdown > 100.0).count() as f64 / sorted.len() as f64;
        let mut row = vec![policy.name().into()];
        row.extend(Summary::QUANTILES.map(|q| quantile(&sorted, q).into()));
        row.push(above_100.into());
        table.row(row);
        let points = (0..=1000).map(|i| f64::from(i) / 1000.0).map(|q| (quantile(&sorted, q), q)).collect();
        series.push(Series { name: policy.to_string(), points });
        let share = format!("{policy}");
        match policy {
            Srpte => unfair = unfair.within(&share, above_100, 0.06, 0.1),
            Fspe => unfair = unfair.within(&share, above_100, 0.005, 0.02),
            Ps | Las | FspePs => unfair = unfair.at_most(&share, above_100, 1e-5),
            _ => {}
        }
        let median = quantile(&sorted, 0.5);
        match policy {
            Las | Srpte | Fspe | FspePs => majority = majority.below(&share, median, 1.01),
            Ps => majority = majority.above(&share, median, 5.0),
            _ => {}
        }
    }
    let ps = measured.sorted(Ps);
    let integers = ps.iter().filter(|slowdown| (**slowdown - slowdown.round()).abs() <= 0.02).count() as f64;
    let clusters = Evidence::default().at_least("share within 0.02 of an integer", integers / ps.len() as f64, 0.6);
    let unfair_statement =
        "Share of jobs slowed more than 100 times: SRPTE about 8 %, FSPE about 1 %, PS, LAS, FSPE+PS 0";
    Ok(Report {
        tables: vec![table],
        plots: vec![Plot {
            name: "fig-3.8".to_owned(),
            title: "Per-job slowdown".to_owned(),
            x: Axis::log("slowdown"),
            y: Axis::linear("share of jobs at most that slow"),
            series,
        }],
        claims: vec![
            Claim::new("S-22", unfair_statement, unfair),
            Claim::new("S-23", "Median slowdown 1 for LAS, SRPTE, FSPE, FSPE+PS; above 5 for PS", majority),
            Claim::new("S-24", "Slowdowns of PS cluster at integers", clusters),
        ],
        notes: vec![format!("{} runs of 10,000 jobs, defaults of Table 3.1.", measured.runs)],
    })
}
