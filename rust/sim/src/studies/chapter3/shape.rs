//! Figure 3.3: all policies against SRPT, over skew.

use crate::report::{Axis, Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble::Sojourns;
use crate::studies::figure::at;
use crate::studies::single::PolicyKind::{self, Fifo, Fsp, Fspe, FspeLas, FspePs, Las, Ps, Srpt, Srpte};
use crate::studies::study::{Setting, Study, StudyError};

use super::common::{add_by_ensemble, with_shape, DEFAULT_SIGMA, GRID};

pub(super) const FIG_3_3: Study =
    Study { id: "fig-3.3", title: "MST of all policies against SRPT, by shape at σ 0.5 (thesis Fig 3.3)", run };

const POLICIES: [PolicyKind; 9] = [Srpt, Fifo, Ps, Las, Fsp, Srpte, Fspe, FspePs, FspeLas];

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let by_shape: Vec<(f64, Sojourns)> = GRID
        .into_iter()
        .map(|shape| {
            // The more skewed, the noisier.
            let count = setting.runs(if shape <= 0.25 { 3000 } else { 1000 });
            let draw = |run| with_shape(shape).draw_exact(setting.seed, run);
            (shape, Sojourns::measure(&format!("shape {shape}"), count, &POLICIES, &[DEFAULT_SIGMA], draw))
        })
        .collect();
    let mut report = Report::default();
    add_by_ensemble(&mut report, "fig-3.3", "Impact of shape", Axis::log("shape"), &POLICIES, &by_shape);
    let mut absolute = Table::new("srpt", "Mean sojourn time of SRPT (mean job size is 1)", &["shape", "MST"]);
    for (shape, sojourns) in &by_shape {
        absolute.row(vec![(*shape).into(), sojourns.of(Srpt, DEFAULT_SIGMA).mean().into()]);
    }
    report.tables.push(absolute);
    report.claims = claims(&by_shape);
    report.notes.push(format!(
        "{} runs of 10,000 jobs up to shape 0.25, {} above; means of per-run ratios.",
        setting.runs(3000),
        setting.runs(1000)
    ));
    Ok(report)
}

fn claims(by_shape: &[(f64, Sojourns)]) -> Vec<Claim> {
    let ratio = |shape: f64, policy: PolicyKind, base: PolicyKind| -> Sample {
        let ensemble = by_shape.iter().find(|(other, _)| *other == shape);
        ensemble.map_or(Sample::new(vec![]), |(_, sojourns)| sojourns.ratio(policy, base, DEFAULT_SIGMA))
    };
    let mut signs = Evidence::default();
    let mut optimal = Evidence::default();
    let mut close =
        Evidence::default().within("median FSPE / FSPE+PS at shape 0.25", ratio(0.25, Fspe, FspePs).median(), 0.9, 1.1);
    for shape in GRID {
        if shape < 1.0 {
            signs = signs.below(&at("LAS/PS", "shape", shape), ratio(shape, Las, Ps).mean(), 1.0);
        } else if shape > 1.0 {
            signs = signs.below(&at("FIFO/PS", "shape", shape), ratio(shape, Fifo, Ps).mean(), 1.0);
        }
        optimal = optimal.at_most(&at("FSPE+PS/SRPT", "shape", shape), ratio(shape, FspePs, Srpt).mean(), 1.3);
        if shape >= 0.5 {
            let gap = ratio(shape, Fspe, FspePs).mean();
            close = close.within(&at("mean FSPE / FSPE+PS", "shape", shape), gap, 0.98, 1.02);
        }
    }
    let optimal = optimal.within("FSPE+PS/SRPT at shape 0.25", ratio(0.25, FspePs, Srpt).mean(), 1.12, 1.2);
    let blind = Evidence::default().within("FIFO/PS at shape 1", ratio(1.0, Fifo, Ps).mean(), 0.97, 1.03).within(
        "LAS/PS at shape 1",
        ratio(1.0, Las, Ps).mean(),
        0.97,
        1.03,
    );
    let collapse = Evidence::default()
        .at_least("SRPTE/SRPT at shape 0.177", ratio(0.177, Srpte, Srpt).mean(), 3.0)
        .at_least("FSPE/SRPT at shape 0.177", ratio(0.177, Fspe, Srpt).mean(), 2.0)
        .at_least("SRPTE/SRPT at shape 0.125", ratio(0.125, Srpte, Srpt).mean(), 8.0)
        .at_least("FSPE/SRPT at shape 0.125", ratio(0.125, Fspe, Srpt).mean(), 8.0);
    vec![
        Claim::new("S-05", "Blind policies are equal at shape 1 (within 3 %)", blind),
        Claim::new("S-06", "LAS beats PS for shape < 1, FIFO beats PS for shape > 1", signs),
        Claim::new("S-07", "FSPE+PS is near optimal at σ 0.5: ≤ 1.30, 1.12–1.20 at shape 0.25", optimal),
        Claim::new("S-12", "FSPE and FSPE+PS are close for shape ≥ 0.25", close),
        Claim::new("S-17", "SRPTE and FSPE collapse for shape < 0.25 at σ 0.5", collapse),
    ]
}
