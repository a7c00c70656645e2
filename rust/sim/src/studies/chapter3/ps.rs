//! Figure 3.2: the size-based policies against PS, over skew and error.

use crate::report::{Axis, Claim, Evidence, Report, Sample};
use crate::studies::ensemble::Sojourns;
use crate::studies::figure::{self, Curve};
use crate::studies::single::PolicyKind;
use crate::studies::study::{Setting, Study, StudyError};

use super::common::{with_shape, GRID};

pub(super) const FIG_3_2: Study =
    Study { id: "fig-3.2", title: "MST of SRPTE, FSPE, FSPE+PS against PS, by shape and σ (thesis Fig 3.2)", run };

const POLICIES: [PolicyKind; 4] = [PolicyKind::Ps, PolicyKind::Srpte, PolicyKind::Fspe, PolicyKind::FspePs];

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let count = setting.runs(300);
    let by_shape: Vec<(f64, Sojourns)> = GRID
        .into_iter()
        .map(|shape| {
            let draw = |run| with_shape(shape).draw_exact(setting.seed, run);
            let label = format!("shape {shape}");
            (shape, Sojourns::measure(&label, count, &POLICIES, &GRID, draw))
        })
        .collect();
    let mut report = Report::default();
    for (part, policy) in [("a", PolicyKind::Srpte), ("b", PolicyKind::Fspe), ("c", PolicyKind::FspePs)] {
        let curve = |(shape, sojourns): &(f64, Sojourns)| Curve {
            name: format!("shape {shape}"),
            points: GRID.into_iter().map(|sigma| (sigma, sojourns.ratio(policy, PolicyKind::Ps, sigma))).collect(),
        };
        let curves: Vec<Curve> = by_shape.iter().map(curve).collect();
        let (x, y) = (Axis::log("sigma"), Axis::log("MST / MST(PS)"));
        figure::add(&mut report, &format!("fig-3.2{part}"), &format!("{policy} against PS"), x, y, &curves);
    }
    let ratio = |shape: f64, sigma: f64| -> Sample {
        let ensemble = by_shape.iter().find(|(other, _)| *other == shape);
        ensemble.map_or(Sample::new(vec![]), |(_, sojourns)| sojourns.ratio(PolicyKind::FspePs, PolicyKind::Ps, sigma))
    };
    let worst = |shapes: &[f64], sigmas: &[f64]| -> f64 {
        let pairs = shapes.iter().flat_map(|shape| sigmas.iter().map(move |sigma| (*shape, *sigma)));
        pairs.map(|(shape, sigma)| ratio(shape, sigma).mean()).fold(f64::NEG_INFINITY, f64::max)
    };
    let insensitive = Evidence::default().below("largest FSPE+PS/PS for shape 1…4", worst(&GRID[6..], &GRID), 0.8);
    let extremes = Evidence::default()
        .below("largest FSPE+PS/PS for shape ≥ 0.25, σ ≤ 2", worst(&GRID[2..], &GRID[..=8]), 1.0)
        .above("FSPE+PS/PS at shape 0.125, σ 4", ratio(0.125, 4.0).mean(), 1.0);
    report.claims = vec![
        Claim::new("S-15", "Size-based policies are insensitive to σ for shape > 0.5: FSPE+PS/PS < 0.80", insensitive),
        Claim::new("S-16", "PS wins only where skew and error are both extreme", extremes),
    ];
    report.notes.push(format!("{count} runs of 10,000 jobs per shape; means of per-run ratios."));
    Ok(report)
}
