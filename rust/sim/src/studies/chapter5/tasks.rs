//! Figures 5.7 and 5.8: task times. The thesis measured them; here they show how good a substitute the task models are.

use super::experiment::Conditions;
use crate::report::{Claim, Evidence, Report, Sample, Table};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{Job, Mix, TaskTimes};

pub(super) const FIG_5_7: Study =
    Study { id: "fig-5.7", title: "Task times, and task times over their job's mean (thesis Figs 5.7 and 5.8)", run };

const QUANTILES: [f64; 7] = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// A quantity: of which stage, whether over the job's mean, and its published quantiles.
const PUBLISHED: [(&str, usize, bool, [f64; 7]); 4] = [
    ("map time (s)", 0, false, [5.0, 7.4, 9.1, 12.1, 17.2, 22.1, 41.6]),
    ("reduce time (s)", 1, false, [5.8, 7.9, 13.2, 64.7, 122.0, 715.0, 1335.0]),
    ("map time / job mean", 0, true, [0.55, 0.80, 0.95, 1.12, 1.34, 1.57, 2.57]),
    ("reduce time / job mean", 1, true, [0.74, 0.91, 0.99, 1.06, 1.17, 1.30, 1.69]),
];

/// Times of all tasks of a stage in seconds, or over the mean of their job.
fn times(jobs: &[Job], stage: usize, relative: bool) -> Sample {
    let times = jobs.iter().filter_map(|job| job.stages.get(stage)).map(|stage| &stage.times);
    let values = times.flat_map(|times| {
        let unit = if relative { times.total_s() / f64::from(times.count()) } else { 1.0 };
        (0..times.count()).map(move |task| times.of(task).seconds() / unit)
    });
    Sample::new(values.collect())
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let jobs = |times| {
        Mix::ALL.into_iter().flat_map(|mix| Conditions::from(times).draws(setting, mix)).flatten().collect::<Vec<Job>>()
    };
    let models = [("by bin", jobs(TaskTimes::ByBin)), ("published times", jobs(TaskTimes::Published))];
    let columns = ["quantity", "task times", "q.05", "q.25", "q.5", "q.75", "q.9", "q.95", "q.99"];
    let mut table = Table::new("fig-5.7", "Task times of the models beside the published ones", &columns);
    let mut claims = Vec::new();
    let mut evidence = [Evidence::default(), Evidence::default()];
    for (quantity, stage, relative, theirs) in PUBLISHED {
        for ((model, jobs), evidence) in models.iter().zip(&mut evidence) {
            let ours = QUANTILES.map(|q| times(jobs, stage, relative).quantile(q));
            let median = format!("median of {quantity}, model/thesis");
            *evidence = std::mem::take(evidence).within(&median, ours[2] / theirs[2], 0.75, 1.25);
            table.row([(*quantity).into(), (*model).into()].into_iter().chain(ours.map(Into::into)).collect());
        }
        table.row([quantity.into(), "thesis".into()].into_iter().chain(theirs.map(Into::into)).collect());
    }
    for ((model, _), evidence) in models.iter().zip(evidence) {
        claims.push(Claim::new("Fig 5.7", "The model's task times have the published medians", evidence).under(model));
    }
    let notes =
        vec!["These are the workloads' own times: a check of the substitutes, not of the scheduler.".to_owned()];
    Ok(Report { tables: vec![table], claims, notes, ..Report::default() })
}
