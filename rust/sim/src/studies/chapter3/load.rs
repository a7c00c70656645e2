//! Figure 3.6: the impact of load and of bursts.

use crate::report::{Axis, Claim, Evidence, Report};
use crate::studies::ensemble::Sojourns;
use crate::studies::figure::at;
use crate::studies::single::PolicyKind::{self, Fspe, FspePs, Ps, Srpt, Srpte};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::Synthesis;

use super::common::{add_by_ensemble, COMPARED, DEFAULT_SIGMA};

pub(super) const FIG_3_6: Study = Study { id: "fig-3.6", title: "Impact of load and timeshape (thesis Fig 3.6)", run };

const LOADS: [f64; 6] = [0.5, 0.7, 0.9, 0.95, 0.99, 0.999];
const TIMESHAPES: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let count = setting.runs(1000);
    let measure = |label: String, synthesis: Synthesis| {
        let draw = |run| synthesis.draw_exact(setting.seed, run);
        Sojourns::measure(&label, count, &COMPARED, &[DEFAULT_SIGMA], draw)
    };
    let by_load = LOADS.map(|load| (load, measure(format!("load {load}"), Synthesis { load, ..Synthesis::default() })));
    let by_timeshape = TIMESHAPES.map(|timeshape| {
        (timeshape, measure(format!("timeshape {timeshape}"), Synthesis { timeshape, ..Synthesis::default() }))
    });
    let mut report = Report::default();
    add_by_ensemble(&mut report, "fig-3.6a", "Impact of load", Axis::linear("load"), &COMPARED, &by_load);
    add_by_ensemble(&mut report, "fig-3.6b", "Impact of timeshape", Axis::log("timeshape"), &COMPARED, &by_timeshape);
    let ratio =
        |(_, sojourns): &(f64, Sojourns), policy: PolicyKind| sojourns.ratio(policy, Srpt, DEFAULT_SIGMA).mean();
    let size_based: Vec<f64> = by_load.iter().map(|point| ratio(point, FspePs)).collect();
    let (low, high) = size_based.iter().fold((f64::MAX, f64::MIN), |(low, high), r| (r.min(low), r.max(high)));
    let load = Evidence::default().below("largest over smallest FSPE+PS/SRPT", high / low, 1.15).at_least(
        "PS/SRPT at load 0.999 over 0.5",
        ratio(&by_load[5], Ps) / ratio(&by_load[0], Ps),
        2.0,
    );
    let mut bursts = Evidence::default();
    for policy in [Srpte, Fspe] {
        let regular = ratio(&by_timeshape[5], policy);
        bursts = bursts.below(&format!("{policy}/srpt at timeshape 0.125"), ratio(&by_timeshape[0], policy), regular);
    }
    for point in &by_timeshape {
        bursts = bursts.within(&at("FSPE+PS/SRPT", "timeshape", point.0), ratio(point, FspePs), 1.1, 1.2);
    }
    report.claims = vec![
        Claim::new("S-18", "Load hardly matters to FSPE+PS (within 15 %), PS drifts away (≥ 2×)", load),
        Claim::new("S-19", "SRPTE and FSPE gain from bursts (timeshape 0.125 against 4), FSPE+PS stays put", bursts),
    ];
    report.notes.push(format!("{count} runs of 10,000 jobs per point, shape 0.25, σ 0.5; means of per-run ratios."));
    Ok(report)
}
