//! Figures 5.9 and 5.10: how good HFSP's estimates of phases are.

use super::experiment::METHOD;
use super::experiment::{Experiment, HFSP};
use super::response::{ecdf, ecdf_plot};
use crate::report::{Claim, Evidence, Report, Sample, Table};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::TaskTimes;
use hiatus_core::fact::PhaseKey;

pub(super) const FIG_5_9: Study =
    Study { id: "fig-5.9", title: "Errors of estimated sizes (thesis Figs 5.9 and 5.10)", run };

/// An estimated phase: its job's bin, its real size in seconds of tasks, and estimated over real size.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    bin: u32,
    real_s: f64,
    error: f64,
}

impl Estimate {
    fn size_s(&self) -> f64 {
        self.real_s * self.error
    }
}

/// What was estimated in one draw: maps, and reduces.
type Estimates = [Vec<Estimate>; 2];

/// Estimates of all draws of all workloads.
fn estimates(setting: &Setting, times: TaskTimes) -> Result<Vec<Estimates>, StudyError> {
    let mut all = Vec::new();
    for experiment in Experiment::all(setting, times, &[HFSP])? {
        for (jobs, outcome) in experiment.jobs_and_outcomes(HFSP) {
            let mut of_draw = Estimates::default();
            for estimate in &outcome.estimates {
                let job = &jobs[estimate.app.0 as usize];
                let stage = usize::from(estimate.priority != PhaseKey::MAPS);
                let real_s = job.stages[stage].times.total_s();
                of_draw[stage].push(Estimate { bin: job.bin, real_s, error: estimate.ratio });
            }
            all.push(of_draw);
        }
    }
    Ok(all)
}

/// Shares of the pairs of one draw's phases that the estimates put in the wrong order: of adjacent bins, and of bins
/// further apart.
fn inversions(draws: &[Estimates]) -> [f64; 2] {
    let (mut pairs, mut inverted) = ([0.0, 0.0], [0.0, 0.0]);
    for phases in draws.iter().flatten() {
        for (n, a) in phases.iter().enumerate() {
            for b in phases[n + 1..].iter().filter(|b| b.bin != a.bin) {
                let far = usize::from(a.bin.abs_diff(b.bin) > 1);
                pairs[far] += 1.0;
                if (a.real_s < b.real_s) != (a.size_s() < b.size_s()) {
                    inverted[far] += 1.0;
                }
            }
        }
    }
    [inverted[0] / pairs[0], inverted[1] / pairs[1]]
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    const QUANTILES: [f64; 7] = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
    const PUBLISHED: [[f64; 7]; 2] =
        [[0.72, 0.97, 1.13, 1.31, 1.54, 1.78, 2.51], [0.94, 0.99, 1.02, 1.06, 1.18, 1.35, 1.54]];
    let columns = ["phase", "task times", "bin", "phases", "q.05", "q.25", "q.5", "q.75", "q.9", "q.95", "q.99", "max"];
    let mut table = Table::new("fig-5.9", "Estimated over real size, S/R", &columns);
    let mut report = Report {
        notes: vec![METHOD.to_owned(), "HFSP that waits; five training tasks, Δ 60 s.".to_owned()],
        ..Report::default()
    };
    for (times, name) in [(TaskTimes::ByBin, "by bin"), (TaskTimes::Published, "published times")] {
        let draws = estimates(setting, times)?;
        let of = |stage: usize, bin: Option<u32>| {
            let phases = draws.iter().flat_map(|draw| &draw[stage]);
            let phases = phases.filter(|phase| bin.is_none_or(|bin| phase.bin == bin));
            Sample::new(phases.map(|phase| phase.error).collect())
        };
        for (stage, phase) in ["maps", "reduces"].into_iter().enumerate() {
            for bin in [None, Some(2), Some(3), Some(4)] {
                let sample = of(stage, bin);
                let bin = bin.map_or("all".to_owned(), |bin| bin.to_string());
                let mut row = vec![phase.into(), name.into(), bin.as_str().into(), sample.len().into()];
                row.extend(QUANTILES.map(|q| sample.quantile(q).into()));
                row.push(sample.quantile(1.0).into());
                table.row(row);
            }
        }
        let [maps, reduces] = [of(0, None), of(1, None)];
        let series = vec![ecdf("maps", &maps), ecdf("reduces", &reduces)];
        let file = format!("fig-5.9-{}", name.replace(' ', "-"));
        report.plots.push(ecdf_plot(&file, name, "estimated over real size", "share of the phases", series));
        let claims =
            [
                Claim::new(
                    "H-C8",
                    "Map sizes: fewer than 5 % of the phases below 0.5, fewer than 4 % above 2, none above 4",
                    Evidence::default()
                        .below("share below 0.5", maps.share(|error| error < 0.5), 0.05)
                        .below("share above 2", maps.share(|error| error > 2.0), 0.04)
                        .at_most("largest", maps.quantile(1.0), 4.0),
                ),
                Claim::new(
                    "H-C9",
                    "Reduce sizes: at least 90 % of the phases within 0.8 to 1.2, none above 2.1",
                    Evidence::default()
                        .at_least("share within", reduces.share(|error| (0.8..=1.2).contains(&error)), 0.9)
                        .at_most("largest", reduces.quantile(1.0), 2.1),
                ),
                {
                    let [adjacent, apart] = inversions(&draws);
                    let evidence = Evidence::default()
                        .at_most("share of pairs of bins further apart", apart, 0.0)
                        .below("of adjacent bins", adjacent, 0.05);
                    Claim::new("H-C10", "Estimates put hardly any jobs of different bins in the wrong order", evidence)
                },
            ];
        let claims = claims.into_iter().map(|claim| match times {
            TaskTimes::ByBin => claim,
            TaskTimes::Published => claim.under(name),
        });
        report.claims.extend(claims);
    }
    for (phase, theirs) in ["maps", "reduces"].into_iter().zip(PUBLISHED) {
        let mut row = vec![phase.into(), "thesis".into(), "all".into(), "".into()];
        row.extend(theirs.map(Into::into));
        row.push(if phase == "maps" { 3.54 } else { 2.07 }.into());
        table.row(row);
    }
    report.tables.push(table);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inversions_are_counted_among_pairs_of_different_bins() {
        let estimate = |bin, real_s, error| Estimate { bin, real_s, error };
        let maps = vec![estimate(2, 10.0, 3.0), estimate(2, 11.0, 1.0), estimate(3, 20.0, 1.0), estimate(4, 40.0, 1.0)];
        // Of three adjacent pairs the first job and that of bin 3 are inverted; of two others none.
        assert_eq!(inversions(&[[maps, Vec::new()]]), [1.0 / 3.0, 0.0]);
    }
}
