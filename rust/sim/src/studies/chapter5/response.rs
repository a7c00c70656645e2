//! Figures 5.1 to 5.6: response times, slowdown and jobs in the system, HFSP against Fair.

use super::claims::{h_c1, h_c11, h_c12, h_c2, h_c3, h_c4, h_c5, h_c6, h_c7};
use super::experiment::METHOD;
use super::experiment::{Experiment, Scheduler, FAIR, FIFO, HFSP, KILL, SUSPEND};
use crate::cluster::Outcome;
use crate::report::{Axis, Claim, Plot, Report, Sample, Series, Table};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{Mix, TaskTimes};

pub(super) const FIG_5_1: Study = Study { id: "fig-5.1", title: "Mean response times (thesis Fig 5.1)", run: means };
pub(super) const FIG_5_2: Study =
    Study { id: "fig-5.2", title: "PROD: response times (thesis Fig 5.2)", run: production };
pub(super) const FIG_5_3: Study =
    Study { id: "fig-5.3", title: "DEV: response times without the smallest jobs (thesis Fig 5.3)", run: development };
pub(super) const FIG_5_4: Study =
    Study { id: "fig-5.4", title: "TEST: response times by bin (thesis Fig 5.4)", run: testing };
pub(super) const FIG_5_5: Study = Study { id: "fig-5.5", title: "Slowdown (thesis Fig 5.5)", run: slowdown };
pub(super) const FIG_5_6: Study =
    Study { id: "fig-5.6", title: "PROD: jobs in the system (thesis Fig 5.6)", run: in_system };
pub(super) const CHECKS: Study =
    Study { id: "checks-5", title: "The claims of chapter 5 once more, with task times as published", run: published };

/// The empirical distribution function, as points of a curve.
pub(super) fn ecdf(name: &str, sample: &Sample) -> Series {
    const POINTS: u32 = 200;
    let points = (1..=POINTS).map(|n| f64::from(n) / f64::from(POINTS)).map(|q| (sample.quantile(q), q)).collect();
    Series { name: name.to_owned(), points }
}

pub(super) fn ecdf_plot(name: &str, title: &str, x: &str, y: &str, series: Vec<Series>) -> Plot {
    let (x, y) = (Axis::log(x), Axis::linear(y));
    Plot { name: name.to_owned(), title: title.to_owned(), x, y, series }
}

fn notes(experiment: &Experiment) -> Vec<String> {
    vec![METHOD.to_owned(), format!("{} draws.", experiment.draws())]
}

/// Mean response times of all workloads under the schedulers, and their ratios to Fair.
fn table_of_means(name: &str, all: &[Experiment], schedulers: &[Scheduler]) -> Table {
    let columns = ["workload", "scheduler", "mean response (s)", "over Fair", "published over Fair", "suspensions"];
    let mut table = Table::new(name, "Mean response times, and ratios as means over the draws", &columns);
    for (one, published) in all.iter().zip([0.675, 0.755, 0.673]) {
        for scheduler in schedulers.iter().copied() {
            let suspensions: u64 = one.outcomes(scheduler).map(|outcome| outcome.count.suspended).sum();
            table.row(vec![
                one.mix.name().into(),
                scheduler.name.into(),
                one.sojourns(scheduler, |_| true).mean().into(),
                one.mean_ratio(scheduler, FAIR).mean().into(),
                if scheduler == HFSP { published.into() } else { "".into() },
                (suspensions as usize).into(),
            ]);
        }
    }
    table
}

fn means(setting: &Setting) -> Result<Report, StudyError> {
    let schedulers = [HFSP, SUSPEND, FAIR, FIFO];
    let all = Experiment::all(setting, TaskTimes::ByBin, &schedulers)?;
    Ok(Report {
        tables: vec![table_of_means("fig-5.1", &all, &schedulers)],
        claims: vec![h_c1(&all), h_c12(&all)],
        notes: vec![METHOD.to_owned(), "HFSP/suspend is not in the thesis: HFSP there waits or kills.".to_owned()],
        ..Report::default()
    })
}

fn published(setting: &Setting) -> Result<Report, StudyError> {
    let schedulers = [HFSP, SUSPEND, KILL, FAIR, FIFO];
    let all = Experiment::all(setting, TaskTimes::Published, &schedulers)?;
    let [dev, test, prod] = all.as_slice() else { return Ok(Report::default()) };
    let claims =
        [h_c1(&all), h_c2(dev), h_c3(test), h_c4(prod), h_c5(&all), h_c6(dev), h_c7(prod), h_c11(test), h_c12(&all)];
    Ok(Report {
        tables: vec![table_of_means("checks-5", &all, &schedulers)],
        claims: claims.into_iter().map(|claim| claim.under("published times")).collect(),
        notes: vec![
            METHOD.to_owned(),
            "Here reduce times are drawn from Figure 5.7, the longer ones for the larger jobs, and those of tasks around \
                their job's mean from Figure 5.8."
                .to_owned(),
        ],
        ..Report::default()
    })
}

fn distribution(experiment: &Experiment, name: &str, title: &str, bins: &[u32]) -> Report {
    let columns = ["scheduler", "jobs", "q.1", "q.25", "q.5", "q.75", "q.9", "mean"];
    let mut table = Table::new(name, &format!("{title}: quantiles of the response time, s"), &columns);
    let mut series = Vec::new();
    for scheduler in [HFSP, SUSPEND, FAIR] {
        let sample = experiment.sojourns(scheduler, |job| bins.contains(&job.bin));
        let mut row = vec![scheduler.name.into(), sample.len().into()];
        row.extend([0.1, 0.25, 0.5, 0.75, 0.9].map(|q| sample.quantile(q).into()));
        row.push(sample.mean().into());
        table.row(row);
        series.push(ecdf(scheduler.name, &sample));
    }
    let plots = vec![ecdf_plot(name, title, "response time (s)", "share of the jobs", series)];
    Report { tables: vec![table], plots, notes: notes(experiment), ..Report::default() }
}

fn production(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Prod, TaskTimes::ByBin, &[HFSP, SUSPEND, FAIR])?;
    let report = distribution(&experiment, "fig-5.2", "PROD", &[1, 2, 3, 4]);
    Ok(Report { claims: vec![h_c4(&experiment)], ..report })
}

fn development(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Dev, TaskTimes::ByBin, &[HFSP, SUSPEND, FAIR])?;
    let report = distribution(&experiment, "fig-5.3", "DEV, bins 2 to 4", &[2, 3, 4]);
    Ok(Report { claims: vec![h_c2(&experiment), h_c6(&experiment)], ..report })
}

fn testing(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Test, TaskTimes::ByBin, &[HFSP, SUSPEND, FAIR])?;
    let claims: Vec<Claim> = vec![h_c3(&experiment)];
    let mut report = Report { notes: notes(&experiment), claims, ..Report::default() };
    for bin in 1..=4 {
        let one = distribution(&experiment, &format!("fig-5.4-bin{bin}"), &format!("TEST, bin {bin}"), &[bin]);
        report.tables.extend(one.tables);
        report.plots.extend(one.plots);
    }
    Ok(report)
}

fn slowdown(setting: &Setting) -> Result<Report, StudyError> {
    let columns = ["workload", "scheduler", "q.1", "q.25", "q.5", "q.75", "q.9", "q.95", "q.99", "max", "mean"];
    let mut table = Table::new("fig-5.5", "Slowdown: response time over time alone on the cluster", &columns);
    let all = Experiment::all(setting, TaskTimes::ByBin, &[HFSP, SUSPEND, FAIR])?;
    let mut plots = Vec::new();
    for one in &all {
        let mut series = Vec::new();
        for scheduler in [HFSP, SUSPEND, FAIR] {
            let sample = one.slowdowns(scheduler);
            let mut row = vec![one.mix.name().into(), scheduler.name.into()];
            row.extend([0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0].map(|q| sample.quantile(q).into()));
            row.push(sample.mean().into());
            table.row(row);
            series.push(ecdf(scheduler.name, &sample));
        }
        let name = format!("fig-5.5-{}", one.mix.name().to_ascii_lowercase());
        plots.push(ecdf_plot(&name, one.mix.name(), "slowdown", "share of the jobs", series));
    }
    Ok(Report { tables: vec![table], plots, claims: vec![h_c5(&all)], notes: vec![METHOD.to_owned()] })
}

fn in_system(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Prod, TaskTimes::ByBin, &[HFSP, SUSPEND, FAIR])?;
    let columns = ["scheduler", "peak", "time average"];
    let mut table = Table::new("fig-5.6", "Jobs in the system, means over the draws", &columns);
    let mut series = Vec::new();
    for scheduler in [HFSP, SUSPEND, FAIR] {
        let (peak, average) = experiment.in_system(scheduler);
        table.row(vec![scheduler.name.into(), peak.into(), average.into()]);
        let first = experiment.outcomes(scheduler).next().map(Outcome::in_system).unwrap_or_default();
        let points = first.into_iter().map(|(at, number)| (at / 3600.0, number)).collect();
        series.push(Series { name: scheduler.name.to_owned(), points });
    }
    let plot = Plot {
        name: "fig-5.6".to_owned(),
        title: "PROD, first draw".to_owned(),
        x: Axis::linear("time (h)"),
        y: Axis::linear("jobs in the system"),
        series,
    };
    let claims = vec![h_c7(&experiment)];
    Ok(Report { tables: vec![table], plots: vec![plot], claims, notes: notes(&experiment) })
}
