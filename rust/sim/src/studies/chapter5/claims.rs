//! What chapter 5 says about HFSP, Fair and FIFO (H-C1 to H-C7, H-C11, H-C12), checked on an experiment.

use super::experiment::{Experiment, Scheduler, FAIR, FIFO, HFSP, KILL};
use crate::report::{Claim, Evidence};

/// "Soon" in Figure 5.3, in seconds.
const SOON: f64 = 80.0;

pub(super) fn h_c1(all: &[Experiment]) -> Claim {
    let evidence = all.iter().fold(Evidence::default(), |evidence, one| {
        let what = format!("{}: HFSP/Fair", one.mix.name());
        evidence.at_most(&what, one.mean_ratio(HFSP, FAIR).mean(), 0.85)
    });
    Claim::new("H-C1", "Mean response lower than under Fair in all workloads: at most 0.85 of it", evidence)
}

pub(super) fn h_c2(dev: &Experiment) -> Claim {
    let soon = |scheduler: Scheduler| {
        let all = dev.sojourns(scheduler, |job| job.bin > 1).len();
        let soon = dev.sojourns(scheduler, |job| job.bin > 1 && job.sojourn_s() <= SOON).len();
        soon as f64 / all as f64
    };
    let what = format!("share within 80 s: HFSP {:.3}, Fair {:.3}; HFSP/Fair", soon(HFSP), soon(FAIR));
    let evidence = Evidence::default().at_least(&what, soon(HFSP) / soon(FAIR), 2.0);
    Claim::new("H-C2", "DEV, bins 2 to 4: twice as many done within 80 s as under Fair", evidence)
}

pub(super) fn h_c3(test: &Experiment) -> Claim {
    let evidence = [(2, 0.85), (3, 0.5), (4, 0.7)].into_iter().fold(Evidence::default(), |evidence, (bin, bound)| {
        let median = |scheduler| test.sojourns(scheduler, |job| job.bin == bin).median();
        evidence.at_most(&format!("bin {bin}: HFSP/Fair"), median(HFSP) / median(FAIR), bound)
    });
    Claim::new("H-C3", "TEST: medians of bins 2, 3 and 4 below Fair's", evidence)
}

pub(super) fn h_c4(prod: &Experiment) -> Claim {
    let median = |scheduler| prod.sojourns(scheduler, |_| true).median();
    let slowdown = |scheduler| prod.slowdowns(scheduler).median();
    let evidence = Evidence::default()
        .at_least("median response Fair/HFSP", median(FAIR) / median(HFSP), 5.0)
        .at_least("median slowdown Fair/HFSP", slowdown(FAIR) / slowdown(HFSP), 5.0);
    Claim::new("H-C4", "PROD: medians about an order of magnitude below Fair's", evidence)
}

pub(super) fn h_c5(all: &[Experiment]) -> Claim {
    let mut evidence = Evidence::default();
    for one in all {
        let [ours, theirs] = [HFSP, FAIR].map(|scheduler| one.slowdowns(scheduler));
        for q in [0.25, 0.5, 0.75, 0.9] {
            let what = format!("{} q{q}: HFSP/Fair", one.mix.name());
            evidence = evidence.at_most(&what, ours.quantile(q) / theirs.quantile(q), 1.0);
        }
    }
    Claim::new("H-C5", "HFSP's slowdown quantiles .25, .5, .75, .9 at most Fair's", evidence)
}

pub(super) fn h_c6(dev: &Experiment) -> Claim {
    let median = |scheduler| dev.sojourns(scheduler, |job| job.bin == 1).median();
    let evidence = Evidence::default().within("bin 1: median HFSP/Fair", median(HFSP) / median(FAIR), 0.85, 1.15);
    Claim::new("H-C6", "DEV: the smallest jobs are treated alike by both", evidence)
}

pub(super) fn h_c7(prod: &Experiment) -> Claim {
    let ([peak, average], [fair_peak, fair_average]) = (prod.in_system(HFSP).into(), prod.in_system(FAIR).into());
    let evidence = Evidence::default().below("peak HFSP/Fair", peak / fair_peak, 1.0).below(
        "time average HFSP/Fair",
        average / fair_average,
        1.0,
    );
    Claim::new("H-C7", "PROD: fewer jobs in the system, at the peak and on average", evidence)
}

pub(super) fn h_c11(test: &Experiment) -> Claim {
    let median = |scheduler| test.slowdowns(scheduler).median();
    let tail = |scheduler| test.sojourns(scheduler, |_| true).quantile(0.9);
    let evidence = Evidence::default()
        .below("median slowdown kill/wait", median(KILL) / median(HFSP), 1.0)
        .above("q.9 response kill/wait", tail(KILL) / tail(HFSP), 1.0)
        .above("mean response kill/wait", test.mean_ratio(KILL, HFSP).mean(), 1.0);
    Claim::new("H-C11", "TEST: killing is fairer, waiting has the better tail and mean response", evidence)
}

pub(super) fn h_c12(all: &[Experiment]) -> Claim {
    let evidence = all.iter().fold(Evidence::default(), |evidence, one| {
        let name = one.mix.name();
        evidence.above(&format!("{name}: FIFO/Fair"), one.mean_ratio(FIFO, FAIR).mean(), 1.0).below(
            &format!("{name}: HFSP/Fair"),
            one.mean_ratio(HFSP, FAIR).mean(),
            1.0,
        )
    });
    Claim::new("H-C12", "FIFO's mean above Fair's above HFSP's", evidence)
}
