//! Section VI: busy and idle periods, GP against HFS (Figure 3, of which the text gives the averages).

use super::claims;
use super::experiment::METHOD;
use super::experiment::{Experiment, Measure, Scheduler, GP, HFS, HFS_TO_SHARE, MEASURES};
use super::workload::{Group, Kind, BUSY_GAP_S, IDLE_GAP_S};
use crate::report::{Axis, Cell, Plot, Report, Series, Table};
use crate::studies::study::{Setting, Study, StudyError};

pub(super) const BUSY: Study =
    Study { id: "gp-busy", title: "GP against HFS in busy periods: six groups (GP, section VI)", run: busy };
pub(super) const IDLE: Study =
    Study { id: "gp-idle", title: "GP against HFS in idle periods: four groups (GP, section VI)", run: idle };

const fn group(gap_s: f64, place: usize, kind: Kind) -> Group {
    Group { gap_s, place, kind }
}

pub(super) const BUSY_GROUPS: [Group; 6] = [
    group(BUSY_GAP_S, 1, Kind::Reading),
    group(BUSY_GAP_S, 66, Kind::Reading),
    group(BUSY_GAP_S, 92, Kind::Reading),
    group(BUSY_GAP_S, 1, Kind::Mixed),
    group(BUSY_GAP_S, 66, Kind::Mixed),
    group(BUSY_GAP_S, 92, Kind::Mixed),
];
/// Which four they were the text does not say.
const IDLE_GROUPS: [Group; 4] = [
    group(IDLE_GAP_S, 1, Kind::Reading),
    group(IDLE_GAP_S, 66, Kind::Reading),
    group(IDLE_GAP_S, 92, Kind::Reading),
    group(IDLE_GAP_S, 66, Kind::Mixed),
];

const COSTS: [Measure; 7] = [
    ("production response (s)", |run| run.production_response_s),
    ("long job's response (s)", |run| run.long_response_s),
    ("wasted (slot-s)", |run| run.wasted_s),
    ("killed", |run| run.killed),
    ("killed of the long job", |run| run.killed_of_long),
    ("killed of production", |run| run.killed_of_production),
    ("firings of the rule", |run| run.firings),
];

fn run(setting: &Setting, groups: &[Group], name: &str) -> Result<(Report, Vec<Experiment>), StudyError> {
    let schedulers = [HFS, HFS_TO_SHARE, GP];
    let all = Experiment::run_all(setting, groups, &schedulers)?;
    let mut ratios = vec!["group".to_owned()];
    ratios.extend(MEASURES.iter().flat_map(|(name, _)| [format!("{name} GP/HFS"), "± (95 %)".to_owned()]));
    let mut ratios = Table::new(&format!("{name}-ratios"), "GP over HFS, ratios per draw", &ratios);
    let mut means = Table::new(&format!("{name}-means"), "Means over the draws", &columns("group", &MEASURES));
    let mut costs = Table::new(&format!("{name}-costs"), "What it cost, per draw", &columns("group", &COSTS));
    for one in &all {
        let name = one.group.name();
        let mut row: Vec<Cell> = vec![name.as_str().into()];
        for (_, measure) in MEASURES {
            let ratio = one.ratio(GP, HFS, measure);
            row.extend([ratio.mean().into(), ratio.half_width().into()]);
        }
        ratios.row(row);
        for scheduler in schedulers {
            for (table, measures) in [(&mut means, &MEASURES[..]), (&mut costs, &COSTS[..])] {
                table.row(row_of(one, &name, scheduler, measures));
            }
        }
    }
    let plots = vec![plot(name, &all)];
    Ok((Report { tables: vec![ratios, means, costs], plots, notes: vec![METHOD.to_owned()], ..Report::default() }, all))
}

fn columns(first: &str, measures: &[Measure]) -> Vec<String> {
    let measured = measures.iter().map(|(name, _)| (*name).to_owned());
    [first.to_owned(), "scheduler".to_owned()].into_iter().chain(measured).collect()
}

fn row_of(one: &Experiment, name: &str, scheduler: Scheduler, measures: &[Measure]) -> Vec<Cell> {
    let means = measures.iter().map(|(_, measure)| one.sample(scheduler, measure).mean().into());
    [name.into(), scheduler.name.into()].into_iter().chain(means).collect()
}

/// SNP of each group, under HFS and GP.
fn plot(name: &str, all: &[Experiment]) -> Plot {
    let series = [HFS, GP].map(|scheduler| Series {
        name: scheduler.name.to_owned(),
        points: all
            .iter()
            .enumerate()
            .map(|(at, one)| (at as f64 + 1.0, one.sample(scheduler, |run| run.metrics.snp).mean()))
            .collect(),
    });
    let (x, y) = (Axis::linear("group, as in the table"), Axis::linear("SNP"));
    Plot { name: name.to_owned(), title: "SNP of the groups".to_owned(), x, y, series: series.to_vec() }
}

fn busy(setting: &Setting) -> Result<Report, StudyError> {
    let (mut report, all) = run(setting, &BUSY_GROUPS, "gp-busy")?;
    report.claims = claims::busy(&all);
    Ok(report)
}

fn idle(setting: &Setting) -> Result<Report, StudyError> {
    let (mut report, all) = run(setting, &IDLE_GROUPS, "gp-idle")?;
    report.claims = claims::idle(&all);
    Ok(report)
}
