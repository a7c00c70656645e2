//! Figures 5.11 and 5.12: HFSP that kills against HFSP that waits; and, beyond the thesis, HFSP that suspends.

use super::claims::h_c11;
use super::experiment::METHOD;
use super::experiment::{Experiment, HFSP, KILL, SUSPEND};
use super::response::{ecdf, ecdf_plot};
use crate::cluster::Outcome;
use crate::report::{Report, Table};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{Mix, TaskTimes};

pub(super) const FIG_5_11: Study = Study {
    id: "fig-5.11",
    title: "TEST: killing against waiting, response and slowdown (thesis Figs 5.11 and 5.12)",
    run: primitives,
};

fn primitives(setting: &Setting) -> Result<Report, StudyError> {
    let experiment = Experiment::run(setting, Mix::Test, TaskTimes::ByBin, &[HFSP, KILL, SUSPEND])?;
    let columns = ["scheduler", "q.2", "q.3", "q.5", "q.7", "q.8", "q.9", "q.95", "max", "mean"];
    let mut response = Table::new("fig-5.11", "Response time (s)", &columns);
    let mut slowdown = Table::new("fig-5.12", "Slowdown", &columns);
    let columns = ["scheduler", "lost tasks", "wasted (slot-s)", "suspensions", "makespan (s)"];
    let mut costs = Table::new("costs", "What it cost, per draw", &columns);
    let (mut responses, mut slowdowns) = (Vec::new(), Vec::new());
    for scheduler in [HFSP, KILL, SUSPEND] {
        let samples = [experiment.sojourns(scheduler, |_| true), experiment.slowdowns(scheduler)];
        for (table, sample) in [&mut response, &mut slowdown].into_iter().zip(&samples) {
            let mut row = vec![scheduler.name.into()];
            row.extend([0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0].map(|q| sample.quantile(q).into()));
            row.push(sample.mean().into());
            table.row(row);
        }
        responses.push(ecdf(scheduler.name, &samples[0]));
        slowdowns.push(ecdf(scheduler.name, &samples[1]));
        let per_draw =
            |of: fn(&Outcome) -> f64| experiment.outcomes(scheduler).map(of).sum::<f64>() / experiment.draws() as f64;
        costs.row(vec![
            scheduler.name.into(),
            per_draw(|outcome| outcome.jobs.iter().map(|job| job.spent.lost_tasks as f64).sum()).into(),
            per_draw(Outcome::wasted_s).into(),
            per_draw(|outcome| outcome.count.suspended as f64).into(),
            per_draw(|outcome| outcome.makespan.seconds()).into(),
        ]);
    }
    Ok(Report {
        tables: vec![response, slowdown, costs],
        plots: vec![
            ecdf_plot("fig-5.11", "TEST", "response time (s)", "share of the jobs", responses),
            ecdf_plot("fig-5.12", "TEST", "slowdown", "share of the jobs", slowdowns),
        ],
        claims: vec![h_c11(&experiment)],
        notes: vec![METHOD.to_owned(), format!("{} draws.", experiment.draws())],
    })
}
