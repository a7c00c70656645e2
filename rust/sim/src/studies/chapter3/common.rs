//! What figures of this chapter have in common: what they vary, whom they compare, and how they draw it.

use crate::report::{Axis, Report};
use crate::studies::ensemble::Sojourns;
use crate::studies::figure::{self, Curve};
use crate::studies::single::PolicyKind;
use crate::workload::{Sizes, Synthesis};

/// Shapes and errors of the figures: powers of √2 from 1/8 to 4, as the thesis' simulator writes them.
pub(super) const GRID: [f64; 11] = [0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0];

/// σ of Table 3.1.
pub(super) const DEFAULT_SIGMA: f64 = 0.5;

/// The policies of Figures 3.4 to 3.6 and 3.10 to 3.11, and SRPT to compare with.
pub(super) const COMPARED: [PolicyKind; 6] =
    [PolicyKind::Srpt, PolicyKind::Ps, PolicyKind::Las, PolicyKind::Srpte, PolicyKind::Fspe, PolicyKind::FspePs];

/// The defaults of Table 3.1 with another Weibull shape.
pub(super) fn with_shape(shape: f64) -> Synthesis {
    Synthesis { sizes: Sizes::Weibull { shape }, ..Synthesis::default() }
}

/// Adds a figure of MST/MST(SRPT): a curve per policy over the errors of [`GRID`].
pub(super) fn add_by_sigma(report: &mut Report, name: &str, title: &str, policies: &[PolicyKind], sojourns: &Sojourns) {
    let ratio = |policy: PolicyKind, sigma: f64| (sigma, sojourns.ratio(policy, PolicyKind::Srpt, sigma));
    let curve = |&policy: &PolicyKind| Curve {
        name: policy.to_string(),
        points: GRID.into_iter().map(|sigma| ratio(policy, sigma)).collect(),
    };
    let curves: Vec<Curve> = policies.iter().filter(|policy| **policy != PolicyKind::Srpt).map(curve).collect();
    figure::add(report, name, title, Axis::log("sigma"), Axis::log("MST / MST(SRPT)"), &curves);
}

/// Adds a figure of MST/MST(SRPT) at the default error: a curve per policy over whatever the ensembles differ in.
pub(super) fn add_by_ensemble(
    report: &mut Report,
    name: &str,
    title: &str,
    x: Axis,
    policies: &[PolicyKind],
    ensembles: &[(f64, Sojourns)],
) {
    let curve = |&policy: &PolicyKind| Curve {
        name: policy.to_string(),
        points: ensembles
            .iter()
            .map(|(place, sojourns)| (*place, sojourns.ratio(policy, PolicyKind::Srpt, DEFAULT_SIGMA)))
            .collect(),
    };
    let curves: Vec<Curve> = policies.iter().filter(|policy| **policy != PolicyKind::Srpt).map(curve).collect();
    figure::add(report, name, title, x, Axis::log("MST / MST(SRPT)"), &curves);
}
