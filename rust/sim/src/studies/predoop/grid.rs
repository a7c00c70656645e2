//! Section 2.4: both thresholds, over bins 1 and 4.

use super::testbed::METHOD;
use super::testbed::{run as run_jobs, trace, Setup, Thresholds, BINS, PUBLISHED};
use crate::report::{Axis, Cell, Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble;
use crate::studies::figure::{self, Curve};
use crate::studies::study::{Setting, Study, StudyError};

pub(super) const GRID: Study =
    Study { id: "predoop-grid", title: "Both thresholds of lending, over two mixes (Predoop, sensitivity)", run };

/// D_p, of a map's time. The slides have neither the first, whoever waits lends, nor the last, hardly anybody does.
const LEND: [f64; 9] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 5.0];
/// D_r, of the maps that are missing.
const RESUME: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
const DRAWS: usize = 6;
/// What a setting in the middle may cost.
const TOLERATED: f64 = 1.02;

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let trace = trace()?;
    let mut report = Report { notes: vec![METHOD.to_owned()], ..Report::default() };
    let (mut middle, mut large) = ((0.0, String::new()), Evidence::default());
    for bin in [BINS[0], BINS[3]] {
        let draws: Vec<_> =
            (0..DRAWS as u64).map(|number| bin.draw(&trace, &mut ensemble::chance(setting.seed, number))).collect();
        let label = |what: &str| format!("bin {}, {what}", bin.number);
        let alone = ensemble::runs(&label("no lending"), draws.len(), |at| {
            Ok(run_jobs(PUBLISHED, &draws[at as usize], false)?.mean_s())
        });
        let alone = alone.into_iter().collect::<Result<Vec<f64>, StudyError>>()?;
        let points: Vec<_> = RESUME
            .iter()
            .flat_map(|resume| LEND.map(|lend| Setup { thresholds: Thresholds { lend, resume: *resume }, ..PUBLISHED }))
            .collect();
        let ratios = ensemble::runs(&label("the grid"), points.len(), |at| {
            let of = |(jobs, alone): (_, &f64)| Ok(run_jobs(points[at as usize], jobs, true)?.mean_s() / alone);
            draws.iter().map(Vec::as_slice).zip(&alone).map(of).collect::<Result<Vec<_>, StudyError>>().map(Sample::new)
        });
        let ratios = ratios.into_iter().collect::<Result<Vec<_>, _>>()?;
        let columns = ["D_r".to_owned()].into_iter().chain(LEND.map(|lend| format!("D_p {lend}"))).collect::<Vec<_>>();
        let mut table =
            Table::new(&format!("grid-{}", bin.number), &label("turnaround, with over without lending"), &columns);
        let mut curves = Vec::new();
        for (resume, row) in RESUME.iter().zip(ratios.chunks(LEND.len())) {
            let mut cells: Vec<Cell> = vec![(*resume).into()];
            cells.extend(row.iter().map(|ratio| Cell::from(ratio.mean())));
            table.row(cells);
            let points = LEND.into_iter().zip(row.iter().cloned()).filter(|(lend, _)| *lend <= 1.0);
            curves.push(Curve { name: format!("D_r {resume}"), points: points.collect() });
            for (lend, ratio) in LEND.iter().zip(row).filter(|(lend, _)| (0.1..=0.5).contains(*lend) && *resume <= 0.8)
            {
                if ratio.mean() > middle.0 {
                    middle = (ratio.mean(), label(&format!("D_p {lend}, D_r {resume}")));
                }
            }
        }
        let last = ratios.chunks(LEND.len()).filter_map(|row| row.last()).map(Sample::mean).collect();
        large = large.within(&label("D_p 5, mean of all D_r"), Sample::new(last).mean(), 0.98, 1.02);
        report.tables.push(table);
        let (x, y) = (Axis::linear("D_p"), Axis::linear("turnaround, with over without"));
        figure::add(&mut report, &format!("predoop-grid-{}", bin.number), &label("both thresholds"), x, y, &curves);
    }
    let worst = Evidence::default().at_most(&format!("worst, {}", middle.1), middle.0, TOLERATED);
    report.claims = vec![
        Claim::new(
            "P5 (middle)",
            "No setting of D_p 10 to 50 %, D_r 20 to 80 % is worse than no lending by more than 2 %",
            worst,
        ),
        Claim::new("P5 (large D_p)", "With a very large D_p it is as without lending", large),
    ];
    Ok(report)
}
