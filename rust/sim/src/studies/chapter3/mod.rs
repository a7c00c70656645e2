//! Chapter 3 of the thesis: size-based policies under estimation errors, on a single server.
//!
//! Claims S-01…S-28 are checked where their figure is; those without a figure in `checks-3` and `speed-3`.

mod examples;
mod generator;
mod laws;
mod load;
mod pareto;
mod ps;
mod shape;
mod skew;
mod slowdown;
mod speed;
mod traces;

use super::ensemble::Sojourns;
use super::figure::{self, Curve};
use super::Study;
use crate::report::{Axis, Report};
use crate::single::PolicyKind;
use crate::workload::{Sizes, Synthesis};

/// The studies of this chapter.
pub(super) const STUDIES: &[&Study] = &[
    &examples::FIG_3_1,
    &generator::TABLE_3_1,
    &ps::FIG_3_2,
    &shape::FIG_3_3,
    &skew::FIG_3_4,
    &pareto::FIG_3_5,
    &load::FIG_3_6,
    &slowdown::FIG_3_7,
    &slowdown::FIG_3_8,
    &traces::FIG_3_9,
    &traces::FIG_3_10,
    &traces::FIG_3_11,
    &laws::CHECKS,
    &speed::SPEED,
];

/// Shapes and errors of the figures: powers of √2 from 1/8 to 4, as the thesis' simulator writes them.
const GRID: [f64; 11] = [0.125, 0.177, 0.25, 0.354, 0.5, 0.707, 1.0, 1.414, 2.0, 2.828, 4.0];

/// σ of Table 3.1.
const DEFAULT_SIGMA: f64 = 0.5;

/// The policies of Figures 3.4 to 3.6 and 3.10 to 3.11, and SRPT to compare with.
const COMPARED: [PolicyKind; 6] =
    [PolicyKind::Srpt, PolicyKind::Ps, PolicyKind::Las, PolicyKind::Srpte, PolicyKind::Fspe, PolicyKind::FspePs];

/// The defaults of Table 3.1 with another Weibull shape.
fn with_shape(shape: f64) -> Synthesis {
    Synthesis { sizes: Sizes::Weibull { shape }, ..Synthesis::default() }
}

/// Adds a figure of MST/MST(SRPT): a curve per policy over the errors of [`GRID`].
fn add_by_sigma(report: &mut Report, name: &str, title: &str, policies: &[PolicyKind], sojourns: &Sojourns) {
    let ratio = |policy: PolicyKind, sigma: f64| (sigma, sojourns.ratio(policy, PolicyKind::Srpt, sigma));
    let curve = |&policy: &PolicyKind| Curve {
        name: policy.to_string(),
        points: GRID.into_iter().map(|sigma| ratio(policy, sigma)).collect(),
    };
    let curves: Vec<Curve> = policies.iter().filter(|policy| **policy != PolicyKind::Srpt).map(curve).collect();
    figure::add(report, name, title, Axis::log("sigma"), Axis::log("MST / MST(SRPT)"), &curves);
}

/// Adds a figure of MST/MST(SRPT) at the default error: a curve per policy over whatever the ensembles differ in.
fn add_by_ensemble(
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
