//! Claims without a figure: optimality, dominance, no starvation, late handling, number of jobs.

use crate::report::{Claim, Evidence, Report, Table};
use crate::studies::ensemble::{runs, Sojourns};
use crate::studies::single::mean_sojourn;
use crate::studies::single::PolicyKind::{self, Fsp, Fspe, FspeDc, FspeLas, FspePs, Ps, Srpt, SrpteLas, SrptePs};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::{exactly_estimated, Job, Synthesis};

use super::common::{with_shape, DEFAULT_SIGMA};

pub(super) const CHECKS: Study =
    Study { id: "checks-3", title: "Claims of thesis §2.1 and §3.1–3.3 that have no figure of their own", run };

const SHAPES: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let mut report = Report::default();
    laws(setting, &mut report);
    report.claims.push(starvation());
    late_handling(setting, &mut report);
    number_of_jobs(setting, &mut report);
    Ok(report)
}

/// The worst of a run, or of many: how far SRPT is from optimal, exact estimates from no estimates, FSP from PS.
#[derive(Clone, Copy)]
struct Worst {
    /// Largest MST(SRPT)/MST(policy).
    srpt: f64,
    /// Largest difference of a completion time between FSPE, FSPE+PS with exact sizes and FSP, seconds.
    exact: f64,
    /// Largest time by which a job completes later under FSP than under PS, seconds.
    fsp: f64,
}

fn laws(setting: &Setting, report: &mut Report) {
    let count = setting.runs(200);
    let columns = ["shape", "MST(SRPT)/MST(any)", "|FSPE, FSPE+PS − FSP| without errors (s)", "FSP − PS (s)"];
    let mut table = Table::new("laws", "The worst of all runs", &columns);
    let mut all = Worst { srpt: 0.0, exact: 0.0, fsp: f64::MIN };
    for shape in SHAPES {
        let found = runs(&format!("shape {shape}"), count, |run| worst(&with_shape(shape).draw(setting.seed, run)));
        let worst = found.into_iter().fold(Worst { fsp: f64::MIN, srpt: 0.0, exact: 0.0 }, Worst::max);
        table.row(vec![shape.into(), worst.srpt.into(), worst.exact.into(), worst.fsp.into()]);
        all = all.max(worst);
    }
    report.tables.push(table);
    report.notes.push(format!("Laws: {count} runs of 10,000 jobs for each of {} shapes, σ 0.5.", SHAPES.len()));
    let srpt = Evidence::default().at_most("largest MST(SRPT)/MST(any) − 1", all.srpt - 1.0, 1e-9);
    let exact = Evidence::default().at_most("largest difference (s)", all.exact, 1e-6);
    let fsp = Evidence::default().at_most("largest delay (s)", all.fsp, 1e-6);
    report.claims.extend([
        Claim::new("S-01", "SRPT has the least MST in every run", srpt),
        Claim::new("S-02", "Without errors FSPE = FSPE+PS = FSP, nobody late", exact),
        Claim::new("S-03", "No job completes later under FSP than under PS", fsp),
    ]);
}

impl Worst {
    fn max(self, other: Worst) -> Worst {
        Worst { srpt: self.srpt.max(other.srpt), exact: self.exact.max(other.exact), fsp: self.fsp.max(other.fsp) }
    }
}

fn worst(jobs: &[Job]) -> Worst {
    let mean = |policy: PolicyKind| mean_sojourn(jobs, &policy.completions(jobs));
    let others = PolicyKind::ALL.into_iter().filter(|policy| *policy != Srpt);
    let best_other = others.map(mean).fold(f64::MAX, f64::min);
    let exact = exactly_estimated(jobs);
    let (fsp, ps) = (Fsp.completions(jobs), Ps.completions(jobs));
    let apart = |policy: PolicyKind| {
        let pairs = policy.completions(&exact).into_iter().zip(&fsp);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    Worst {
        srpt: mean(Srpt) / best_other,
        exact: apart(Fspe).max(apart(FspePs)),
        fsp: fsp.iter().zip(&ps).map(|(fsp, ps)| fsp - ps).fold(f64::MIN, f64::max),
    }
}

/// A job of size 15 and an endless stream of jobs of size 10, one every 10 s: the server never has time to spare.
fn starvation() -> Claim {
    const STREAM: u16 = 10_000;
    let mut jobs = vec![Job::exact(0.0, 15.0)];
    jobs.extend((0..STREAM).map(|i| Job::exact(10.0 * f64::from(i), 10.0)));
    let ends = |policy: PolicyKind| policy.completions(&jobs)[0];
    let mut evidence = Evidence::default();
    for policy in [Fsp, Fspe, FspePs] {
        evidence = evidence.within(&format!("{policy}: first job completes at"), ends(policy), 24.999_999, 25.000_001);
    }
    evidence = evidence.at_least("srpt: first job completes at", ends(Srpt), 10.0 * f64::from(STREAM));
    Claim::new("S-04", "A job starves under SRPT, not under FSP, FSPE, FSPE+PS", evidence)
        .remark("under SRPT it ends when the stream of 10,000 jobs does")
}

fn late_handling(setting: &Setting, report: &mut Report) {
    let count = setting.runs(1000);
    let policies = [FspePs, FspeLas, FspeDc, SrptePs, SrpteLas];
    let draw = |run| Synthesis::default().draw_exact(setting.seed, run);
    let sojourns = Sojourns::measure("late handling", count, &policies, &[DEFAULT_SIGMA], draw);
    let mut table =
        Table::new("late-handling", "MST / MST(FSPE+PS) at the defaults", &["policy", "mean", "±", "median"]);
    let mut evidence = Evidence::default();
    for (policy, tolerance) in [(FspeLas, 0.03), (FspeDc, 0.03), (SrptePs, 0.08), (SrpteLas, 0.08)] {
        let ratio = sojourns.ratio(policy, FspePs, DEFAULT_SIGMA);
        let (mean, half_width, median) = (ratio.mean(), ratio.half_width(), ratio.median());
        table.row(vec![policy.name().into(), mean.into(), half_width.into(), median.into()]);
        evidence = evidence.within(policy.name(), mean, 1.0 - tolerance, 1.0 + tolerance);
    }
    report.tables.push(table);
    report.notes.push(format!("Late handling: {count} runs of 10,000 jobs."));
    let statement =
        "How late jobs are treated hardly matters: FSPE+LAS, FSPE+DC within 3 % of FSPE+PS, SRPTE+… within 8 %";
    report.claims.push(Claim::new("S-26", statement, evidence));
}

fn number_of_jobs(setting: &Setting, report: &mut Report) {
    let mut table = Table::new("njobs", "MST / MST(SRPT) by number of jobs", &["jobs", "fspe+ps", "±", "ps", "runs"]);
    let mut means = Vec::new();
    for (njobs, full) in [(100, 3000), (1_000, 3000), (10_000, 1000), (100_000, 400)] {
        let count = setting.runs(full);
        let draw = |run| Synthesis { njobs, ..Synthesis::default() }.draw_exact(setting.seed, run);
        let sojourns = Sojourns::measure(&format!("{njobs} jobs"), count, &[Srpt, Ps, FspePs], &[DEFAULT_SIGMA], draw);
        let (fspe_ps, ps) =
            (sojourns.ratio(FspePs, Srpt, DEFAULT_SIGMA), sojourns.ratio(Ps, Srpt, DEFAULT_SIGMA).mean());
        table.row(vec![njobs.into(), fspe_ps.mean().into(), fspe_ps.half_width().into(), ps.into(), count.into()]);
        if njobs >= 1_000 {
            means.push(fspe_ps.mean());
        }
    }
    report.tables.push(table);
    let (low, high) = means.iter().fold((f64::MAX, f64::MIN), |(low, high), mean| (mean.min(low), mean.max(high)));
    let evidence =
        Evidence::default().at_most("largest over smallest FSPE+PS/SRPT, 1,000 to 100,000 jobs", high / low, 1.05);
    let claim =
        Claim::new("S-27", "The number of jobs has no significant effect on FSPE+PS/SRPT (within 5 %)", evidence);
    report
        .claims
        .push(claim.remark("true of the ratio to SRPT only: that of PS to SRPT grows with the number of jobs"));
}
