//! Figure 3.4: the impact of the error on three heavy-tailed workloads.

use crate::report::{Claim, Evidence, Report};
use crate::studies::ensemble::Sojourns;
use crate::studies::figure::at;
use crate::studies::single::PolicyKind::{Fspe, FspePs, Ps, Srpt, Srpte};
use crate::studies::study::{Setting, Study, StudyError};

use super::common::{add_by_sigma, with_shape, COMPARED, GRID};

pub(super) const FIG_3_4: Study =
    Study { id: "fig-3.4", title: "Impact of the error at shapes 0.25, 0.177, 0.125 (thesis Fig 3.4)", run };

const PARTS: [(&str, f64); 3] = [("a", 0.25), ("b", 0.177), ("c", 0.125)];

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let count = setting.runs(3000);
    let mut report = Report::default();
    let mut beats_ps = Evidence::default();
    let mut suffices = Evidence::default();
    let mut beats_srpte = Evidence::default();
    let mut order_of_magnitude = Evidence::default();
    let mut not_monotone = Evidence::default();
    for (part, shape) in PARTS {
        let draw = |run| with_shape(shape).draw_exact(setting.seed, run);
        let sojourns = Sojourns::measure(&format!("shape {shape}"), count, &COMPARED, &GRID, draw);
        let title = format!("Impact of the error at shape {shape}");
        add_by_sigma(&mut report, &format!("fig-3.4{part}"), &title, &COMPARED, &sojourns);
        let worst = |sigmas: &[f64], base| {
            let means = sigmas.iter().map(|&sigma| sojourns.ratio(FspePs, base, sigma).mean());
            means.fold(f64::NEG_INFINITY, f64::max)
        };
        let at_2 = sojourns.ratio(FspePs, Ps, 2.0).median();
        beats_ps = beats_ps
            .below(&at("largest mean FSPE+PS/PS for σ ≤ 1.414", "shape", shape), worst(&GRID[..=7], Ps), 1.0)
            .below(&at("median FSPE+PS/PS for σ 2", "shape", shape), at_2, 1.0);
        suffices = suffices.below(&at("median FSPE+PS/PS for σ 2", "shape", shape), at_2, 1.0);
        beats_srpte = beats_srpte
            .below(&at("largest FSPE+PS/SRPTE for σ ≥ 0.25", "shape", shape), worst(&GRID[2..], Srpte), 1.0)
            .at_most(&at("FSPE+PS/SRPTE for σ 0.125", "shape", shape), worst(&GRID[..1], Srpte), 1.01);
        if shape == 0.125 {
            let gap = sojourns.ratio(Fspe, FspePs, 1.0).mean();
            order_of_magnitude = order_of_magnitude.at_least("FSPE / FSPE+PS at shape 0.125, σ 1", gap, 8.0);
        }
        if shape == 0.177 {
            let fspe = |sigma| sojourns.ratio(Fspe, Srpt, sigma).mean();
            not_monotone = not_monotone.at_most("FSPE/SRPT at shape 0.177, σ 1.414", fspe(1.414), fspe(0.707));
        }
    }
    report.claims = vec![
        Claim::new("S-08", "FSPE+PS beats PS while σ < 2, at all three shapes", beats_ps),
        Claim::new("S-09", "A correlation of 0.15 (σ 2) between size and estimate is enough", suffices)
            .remark("closed-form correlations: see table-3.1"),
        Claim::new("S-11", "FSPE+PS beats SRPTE at all three shapes", beats_srpte),
        Claim::new("S-13", "FSPE and FSPE+PS are up to an order of magnitude apart", order_of_magnitude),
        Claim::new("S-14", "FSPE may improve as σ grows: σ 1.414 no worse than 0.707", not_monotone),
    ];
    report.notes.push(format!("{count} runs of 10,000 jobs per shape; means of per-run ratios unless noted."));
    Ok(report)
}
