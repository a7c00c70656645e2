//! Figures 5.7 and 5.8: task times. The thesis measured them; here they show that the task model is a fair substitute.

use super::{Setting, Study, StudyError, METHOD};
use crate::report::{Claim, Evidence, Report, Sample, Table};
use crate::workload::cluster::{draw_bins, Job, Mix, BIN_JOBS};

pub(super) const FIG_5_7: Study =
    Study { id: "fig-5.7", title: "Task times, and task times over their job's mean (thesis Figs 5.7 and 5.8)", run };

/// Draws of each workload.
const DRAWS: u64 = 5;

const QUANTILES: [f64; 7] = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// Seconds of every task of a stage, job by job.
fn stage_times(jobs: &[Job], stage: usize) -> Vec<Vec<f64>> {
    let times = jobs.iter().filter_map(|job| job.stages.get(stage)).map(|stage| &stage.times);
    times.map(|times| (0..times.count()).map(|task| times.of(task).seconds()).collect()).collect()
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let mut jobs = Vec::new();
    for mix in Mix::ALL {
        jobs.extend((0..DRAWS).flat_map(|run| draw_bins(mix, BIN_JOBS, mix.arrivals(), setting.seed, run)));
    }
    let published = [
        ("map time (s)", 0, false, [5.0, 7.4, 9.1, 12.1, 17.2, 22.1, 41.6]),
        ("reduce time (s)", 1, false, [5.8, 7.9, 13.2, 64.7, 122.0, 715.0, 1335.0]),
        ("map time / job mean", 0, true, [0.55, 0.80, 0.95, 1.12, 1.34, 1.57, 2.57]),
        ("reduce time / job mean", 1, true, [0.74, 0.91, 0.99, 1.06, 1.17, 1.30, 1.69]),
    ];
    let columns = ["quantity", "source", "q.05", "q.25", "q.5", "q.75", "q.9", "q.95", "q.99"];
    let mut table = Table::new("fig-5.7", "Task times of the model beside the published ones", &columns);
    let mut evidence = Evidence::default();
    for (name, stage, relative, theirs) in published {
        let per_job = stage_times(&jobs, stage);
        let values = per_job.iter().flat_map(|times| {
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            times.iter().map(move |time| if relative { time / mean } else { *time })
        });
        let sample = Sample::new(values.collect());
        let ours = QUANTILES.map(|q| sample.quantile(q));
        for (source, numbers) in [("model", ours), ("thesis", theirs)] {
            let mut row = vec![name.into(), source.into()];
            row.extend(numbers.map(Into::into));
            table.row(row);
        }
        if relative || stage == 0 {
            evidence = evidence.within(&format!("median of {name}, model/thesis"), ours[2] / theirs[2], 0.85, 1.15);
        }
    }
    Ok(Report {
        tables: vec![table],
        claims: vec![Claim::new("Fig 5.7", "The model's task times have the published medians", evidence)],
        notes: vec![
            METHOD.to_owned(),
            "These are the workload's own times: a check of the substitute, not of the scheduler.".to_owned(),
        ],
        ..Report::default()
    })
}
