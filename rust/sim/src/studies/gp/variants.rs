//! What each choice is worth: candidates, starvation rule, killing or suspending; and the same with one thing changed at a time.

use super::experiment::METHOD;
use super::experiment::{variants, Experiment, Run, Scheduler, GP, HFS, MEASURES};
use super::groups::BUSY_GROUPS;
use crate::report::{Cell, Report, Sample, Table};
use crate::studies::study::{Setting, Study, StudyError};

pub(super) const VARIANTS: Study = Study {
    id: "gp-variants",
    title: "GP's candidates, rule and action, and both readings of HFS, in busy periods (GP, sections IV and VI)",
    run: all_variants,
};
pub(super) const CAUSES: Study = Study {
    id: "gp-causes",
    title: "GP against HFS with one thing changed at a time (busy, the long job as 66th)",
    run: causes,
};

/// A change, under all schedulers.
type Change = (&'static str, fn(Scheduler) -> Scheduler);

const CHANGES: [Change; 13] = [
    ("nothing", |same| same),
    ("HFS rounds down", Scheduler::rounding_down),
    ("the rule is off", |same| same.with(&[("gp-starvation", "off")])),
    ("tasks tell nothing of their progress", Scheduler::untold),
    ("tasks above 2000 s are long", |same| same.with(&[("gp-long-task-ms", "2000000")])),
    ("at first all of what is too much", |same| same.with(&[("gp-first-part", "1")])),
    ("all that every 20 s", |same| same.with(&[("gp-first-part", "1"), ("gp-timeout-ms", "0")])),
    ("aims at a quality of 0.7: n_task is 0.43 of what is there", |same| same.with(&[("gp-quality", "0.7")])),
    ("aims at a quality of 0.1: n_task is 9 times what is there", |same| same.with(&[("gp-quality", "0.1")])),
    ("a job is to blame that is half of what waits", |same| same.with(&[("gp-single-job", "0.5")])),
    ("the last two", |same| same.with(&[("gp-quality", "0.1"), ("gp-single-job", "0.5")])),
    ("tasks run for at least 5 s", |same| same.with(&[("min-run-ms", "5000")])),
    ("no more than three kills in a row", |same| same.with(&[("gp-max-kills", "3")])),
];

fn all_variants(setting: &Setting) -> Result<Report, StudyError> {
    // Those that read a lot: three places of the long job.
    let (groups, schedulers) = (&BUSY_GROUPS[..3], variants());
    let all = Experiment::run_all(setting, groups, &schedulers)?;
    let mut columns = vec!["scheduler".to_owned(), "SNP/HFS".to_owned(), "± (95 %)".to_owned()];
    columns.extend(groups.iter().map(|group| format!("SNP, long job {}", group.place)));
    columns.extend(MEASURES[1..].iter().map(|(name, _)| format!("{name}/HFS")));
    columns.extend(["wasted/HFS", "long job/HFS", "production/HFS", "suspensions", "firings"].map(str::to_owned));
    let mut table = Table::new("gp-variants", "Means over three groups and the draws", &columns);
    for scheduler in schedulers {
        let over_hfs = |of: &dyn Fn(&Run) -> f64| {
            Sample::new(all.iter().flat_map(|one| one.ratio(scheduler, HFS, of).values().to_vec()).collect())
        };
        let mean = |of: &dyn Fn(&Run) -> f64| {
            all.iter().map(|one| one.sample(scheduler, of).mean()).sum::<f64>() / all.len() as f64
        };
        let snp = over_hfs(&|run| run.metrics.snp);
        let mut row: Vec<Cell> = vec![scheduler.name.into(), snp.mean().into(), snp.half_width().into()];
        row.extend(all.iter().map(|one| Cell::from(one.sample(scheduler, |run| run.metrics.snp).mean())));
        row.extend(MEASURES[1..].iter().map(|(_, measure)| Cell::from(over_hfs(measure).mean())));
        row.extend([
            over_hfs(&|run| run.wasted_s).mean().into(),
            over_hfs(&|run| run.long_response_s).mean().into(),
            over_hfs(&|run| run.production_response_s).mean().into(),
            mean(&|run| run.suspensions).into(),
            mean(&|run| run.firings).into(),
        ]);
        table.row(row);
    }
    Ok(Report { tables: vec![table], notes: vec![METHOD.to_owned()], ..Report::default() })
}

fn causes(setting: &Setting) -> Result<Report, StudyError> {
    let schedulers: Vec<Scheduler> = CHANGES.into_iter().flat_map(|(_, change)| [HFS, GP].map(change)).collect();
    let all = Experiment::run_all(setting, &BUSY_GROUPS[1..2], &schedulers)?;
    let columns =
        ["changed", "SNP GP/HFS", "± (95 %)", "response GP/HFS", "wasted GP/HFS", "long job's kills GP/HFS", "firings"];
    let mut table = Table::new("gp-causes", "GP over HFS, means over the draws", &columns);
    for one in &all {
        for (name, change) in CHANGES {
            let [hfs, gp] = [HFS, GP].map(change);
            let snp = one.ratio(gp, hfs, |run| run.metrics.snp);
            table.row(vec![
                name.into(),
                snp.mean().into(),
                snp.half_width().into(),
                one.ratio(gp, hfs, |run| run.metrics.response_s).mean().into(),
                one.ratio(gp, hfs, |run| run.wasted_s).mean().into(),
                one.ratio(gp, hfs, |run| run.killed_of_long).mean().into(),
                one.sample(gp, |run| run.firings).mean().into(),
            ]);
        }
    }
    Ok(Report { tables: vec![table], notes: vec![METHOD.to_owned()], ..Report::default() })
}
