//! Figures 5.1 to 5.6: response times, slowdown and jobs in the system, HFSP against Fair.

use super::experiment::{Experiment, Scheduler, FAIR, FIFO, HFSP, SUSPEND};
use super::{Setting, Study, StudyError, METHOD};
use crate::cluster::Outcome;
use crate::report::{Axis, Claim, Evidence, Plot, Report, Sample, Series, Table};
use crate::workload::cluster::Mix;

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

/// The empirical distribution function, as points of a curve.
pub(super) fn ecdf(name: &str, sample: &Sample) -> Series {
    const POINTS: u32 = 200;
    let points = (1..=POINTS).map(|n| f64::from(n) / f64::from(POINTS)).map(|q| (sample.quantile(q), q)).collect();
    Series { name: name.to_owned(), points }
}

pub(super) fn ecdf_plot(name: &str, title: &str, x: &str, series: Vec<Series>) -> Plot {
    let (x, y) = (Axis::log(x), Axis::linear("share of the jobs"));
    Plot { name: name.to_owned(), title: title.to_owned(), x, y, series }
}

fn notes(experiment: &Experiment) -> Vec<String> {
    vec![METHOD.to_owned(), format!("{} draws.", experiment.draws())]
}

fn means(setting: &Setting) -> Result<Report, StudyError> {
    let columns = ["workload", "scheduler", "mean response (s)", "over Fair", "published over Fair", "suspensions"];
    let mut table = Table::new("fig-5.1", "Mean response times, and ratios as means over the draws", &columns);
    let (mut lower, mut fifo) = (Evidence::default(), Evidence::default());
    for (mix, published) in Mix::ALL.into_iter().zip([0.675, 0.755, 0.673]) {
        let experiment = Experiment::run(setting, mix, &[HFSP, FAIR, FIFO, SUSPEND])?;
        for scheduler in [HFSP, SUSPEND, FAIR, FIFO] {
            let mean = experiment.sojourns(scheduler, |_| true).mean();
            let suspensions: u64 = experiment.outcomes(scheduler).map(|outcome| outcome.count.suspended).sum();
            table.row(vec![
                mix.name().into(),
                scheduler.name.into(),
                mean.into(),
                experiment.mean_ratio(scheduler, FAIR).mean().into(),
                if scheduler == HFSP { published.into() } else { "".into() },
                (suspensions as usize).into(),
            ]);
        }
        let name = mix.name();
        lower = lower.at_most(&format!("{name}: HFSP/Fair"), experiment.mean_ratio(HFSP, FAIR).mean(), 0.85);
        fifo = fifo.above(&format!("{name}: FIFO/Fair"), experiment.mean_ratio(FIFO, FAIR).mean(), 1.0);
        fifo = fifo.below(&format!("{name}: HFSP/Fair"), experiment.mean_ratio(HFSP, FAIR).mean(), 1.0);
    }
    Ok(Report {
        tables: vec![table],
        claims: vec![
            Claim::new("H-C1", "Mean response lower than under Fair in all workloads: at most 0.85 of it", lower),
            Claim::new("H-C12", "FIFO's mean above Fair's above HFSP's", fifo),
        ],
        notes: vec![METHOD.to_owned(), "HFSP/suspend is not in the thesis: HFSP there waits or kills.".to_owned()],
        ..Report::default()
    })
}

fn distribution(experiment: &Experiment, name: &str, title: &str, bins: &[u32]) -> Report {
    let columns = ["scheduler", "jobs", "q.1", "q.25", "q.5", "q.75", "q.9", "mean"];
    let mut table = Table::new(name, &format!("{title}: quantiles of the response time, s"), &columns);
    let mut series = Vec::new();
    for scheduler in [HFSP, FAIR] {
        let sample = experiment.sojourns(scheduler, |job| bins.contains(&job.bin));
        let mut row = vec![scheduler.name.into(), sample.len().into()];
        row.extend([0.1, 0.25, 0.5, 0.75, 0.9].map(|q| sample.quantile(q).into()));
        row.push(sample.mean().into());
        table.row(row);
        series.push(ecdf(scheduler.name, &sample));
    }
    let plots = vec![ecdf_plot(name, title, "response time (s)", series)];
    Report { tables: vec![table], plots, notes: notes(experiment), ..Report::default() }
}

fn production(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Prod, &[HFSP, FAIR])?;
    let mut report = distribution(&experiment, "fig-5.2", "PROD", &[1, 2, 3, 4]);
    let median = |scheduler| experiment.sojourns(scheduler, |_| true).median();
    let slowdown = |scheduler| experiment.slowdowns(scheduler).median();
    let evidence = Evidence::default()
        .at_least("median response Fair/HFSP", median(FAIR) / median(HFSP), 5.0)
        .at_least("median slowdown Fair/HFSP", slowdown(FAIR) / slowdown(HFSP), 5.0);
    report.claims.push(Claim::new("H-C4", "PROD: medians about an order of magnitude below Fair's", evidence));
    Ok(report)
}

fn development(setting: &Setting) -> Result<Report, StudyError> {
    /// The thesis' threshold, in seconds.
    const SOON: f64 = 80.0;
    let experiment = Experiment::run(setting, Mix::Dev, &[HFSP, FAIR])?;
    let mut report = distribution(&experiment, "fig-5.3", "DEV, bins 2 to 4", &[2, 3, 4]);
    let soon = |scheduler: Scheduler| {
        let all = experiment.sojourns(scheduler, |job| job.bin > 1).len();
        let soon = experiment.sojourns(scheduler, |job| job.bin > 1 && job.sojourn_s() <= SOON).len();
        soon as f64 / all as f64
    };
    let evidence = Evidence::default().at_least(
        &format!("share within 80 s: HFSP {:.3}, Fair {:.3}; HFSP/Fair", soon(HFSP), soon(FAIR)),
        soon(HFSP) / soon(FAIR),
        2.0,
    );
    report.claims.push(Claim::new("H-C2", "DEV, bins 2 to 4: twice as many done within 80 s as under Fair", evidence));
    let tiny = |scheduler| experiment.sojourns(scheduler, |job| job.bin == 1).median();
    let evidence = Evidence::default().within("bin 1: median HFSP/Fair", tiny(HFSP) / tiny(FAIR), 0.85, 1.15);
    report.claims.push(Claim::new("H-C6", "DEV: the smallest jobs are treated alike by both", evidence));
    Ok(report)
}

fn testing(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Test, &[HFSP, FAIR])?;
    let mut report = Report { notes: notes(&experiment), ..Report::default() };
    let mut evidence = Evidence::default();
    for (bin, bound) in [(1, None), (2, Some(0.85)), (3, Some(0.5)), (4, Some(0.7))] {
        let one = distribution(&experiment, &format!("fig-5.4-bin{bin}"), &format!("TEST, bin {bin}"), &[bin]);
        report.tables.extend(one.tables);
        report.plots.extend(one.plots);
        let median = |scheduler| experiment.sojourns(scheduler, |job| job.bin == bin).median();
        if let Some(bound) = bound {
            evidence = evidence.at_most(&format!("bin {bin}: HFSP/Fair"), median(HFSP) / median(FAIR), bound);
        }
    }
    report.claims.push(Claim::new("H-C3", "TEST: medians of bins 2, 3 and 4 below Fair's", evidence));
    Ok(report)
}

fn slowdown(setting: &Setting) -> Result<Report, StudyError> {
    let columns = ["workload", "scheduler", "q.1", "q.25", "q.5", "q.75", "q.9", "q.95", "q.99", "max", "mean"];
    let mut table = Table::new("fig-5.5", "Slowdown: response time over time alone on the cluster", &columns);
    let mut report = Report { notes: vec![METHOD.to_owned()], ..Report::default() };
    let mut evidence = Evidence::default();
    for mix in Mix::ALL {
        let experiment = Experiment::run(setting, mix, &[HFSP, FAIR])?;
        let samples = [HFSP, FAIR].map(|scheduler| (scheduler, experiment.slowdowns(scheduler)));
        for (scheduler, sample) in &samples {
            let mut row = vec![mix.name().into(), scheduler.name.into()];
            row.extend([0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0].map(|q| sample.quantile(q).into()));
            row.push(sample.mean().into());
            table.row(row);
        }
        for q in [0.25, 0.5, 0.75, 0.9] {
            let ratio = samples[0].1.quantile(q) / samples[1].1.quantile(q);
            evidence = evidence.at_most(&format!("{} q{q}: HFSP/Fair", mix.name()), ratio, 1.0);
        }
        let series = samples.iter().map(|(scheduler, sample)| ecdf(scheduler.name, sample)).collect();
        let name = format!("fig-5.5-{}", mix.name().to_ascii_lowercase());
        report.plots.push(ecdf_plot(&name, mix.name(), "slowdown", series));
    }
    report.tables.push(table);
    report.claims.push(Claim::new("H-C5", "HFSP's slowdown quantiles .25, .5, .75, .9 at most Fair's", evidence));
    Ok(report)
}

/// Time average of the number of jobs in the system, from the first arrival to `until`.
fn average_in_system(steps: &[(f64, f64)], until: f64) -> f64 {
    let ends = steps.iter().skip(1).map(|step| step.0).chain([until]);
    let area: f64 = steps.iter().zip(ends).map(|((at, number), end)| number * (end.min(until) - at).max(0.0)).sum();
    area / until
}

fn in_system(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Prod, &[HFSP, FAIR])?;
    let columns = ["scheduler", "peak", "time average"];
    let mut table = Table::new("fig-5.6", "Jobs in the system, means over the draws", &columns);
    let mut series = Vec::new();
    let mut measured = Vec::new();
    for scheduler in [HFSP, FAIR] {
        let peak = |outcome: &Outcome| outcome.in_system().iter().map(|step| step.1).fold(0.0, f64::max);
        let average = |outcome: &Outcome| average_in_system(&outcome.in_system(), outcome.makespan.seconds());
        let peaks = Sample::new(experiment.outcomes(scheduler).map(peak).collect());
        let averages = Sample::new(experiment.outcomes(scheduler).map(average).collect());
        table.row(vec![scheduler.name.into(), peaks.mean().into(), averages.mean().into()]);
        measured.push((peaks.mean(), averages.mean()));
        let first = experiment.outcomes(scheduler).next().map(Outcome::in_system).unwrap_or_default();
        let points = first.into_iter().map(|(at, number)| (at / 3600.0, number)).collect();
        series.push(Series { name: scheduler.name.to_owned(), points });
    }
    let evidence = Evidence::default().below("peak HFSP/Fair", measured[0].0 / measured[1].0, 1.0).below(
        "time average HFSP/Fair",
        measured[0].1 / measured[1].1,
        1.0,
    );
    let plot = Plot {
        name: "fig-5.6".to_owned(),
        title: "PROD, first draw".to_owned(),
        x: Axis::linear("time (h)"),
        y: Axis::linear("jobs in the system"),
        series,
    };
    Ok(Report {
        tables: vec![table],
        plots: vec![plot],
        claims: vec![Claim::new("H-C7", "PROD: fewer jobs in the system, at the peak and on average", evidence)],
        notes: notes(&experiment),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_weighs_each_number_with_its_time() {
        let steps = [(0.0, 1.0), (10.0, 2.0), (15.0, 0.0)];
        assert_eq!(average_in_system(&steps, 20.0), 1.0);
    }
}
