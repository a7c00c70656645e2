//! What the paper says of GP against HFS (claims G1 to G8 of the specification, with its bands), checked.

use super::experiment::{Experiment, Run, GP, HFS, MEASURES};
use super::workload::Kind;
use crate::report::{Claim, Evidence, Sample};

/// The mean over groups of a measure's mean under GP over that under HFS, per draw.
fn ratio(all: &[Experiment], of: impl Fn(&Run) -> f64) -> Sample {
    let ratios: Vec<Sample> = all.iter().map(|one| one.ratio(GP, HFS, &of)).collect();
    let draws = ratios.iter().map(Sample::len).min().unwrap_or(0);
    let mean = |draw: usize| ratios.iter().map(|of_group| of_group.values()[draw]).sum::<f64>() / ratios.len() as f64;
    Sample::new((0..draws).map(mean).collect())
}

fn snp(run: &Run) -> f64 {
    run.metrics.snp
}

pub(super) fn busy(all: &[Experiment]) -> Vec<Claim> {
    let gain = ratio(all, snp);
    let g1 = Evidence::default().at_least(&format!("SNP GP/HFS (± {:.3})", gain.half_width()), gain.mean(), 1.1);
    let g2 = MEASURES[1..].iter().fold(Evidence::default(), |evidence, (name, measure)| {
        evidence.below(&format!("{name} GP/HFS"), ratio(all, measure).mean(), 1.0)
    });
    let long = ratio(all, |run| run.long_response_s);
    let g4 = Evidence::default().below("the long job's response GP/HFS", long.mean(), 1.0);
    let mut g5 = Evidence::default();
    for kind in [Kind::Reading, Kind::Mixed] {
        let of_kind: Vec<f64> =
            all.iter().filter(|one| one.group.kind == kind).map(|one| one.ratio(GP, HFS, snp).mean()).collect();
        for (pair, places) in of_kind.windows(2).zip(["1st over 66th", "66th over 92nd"]) {
            g5 = g5.above(&format!("{kind:?}, {places}"), pair[0] / pair[1], 1.0);
        }
    }
    let mut g6 = Evidence::default();
    for one in all {
        let share = |of: fn(&Run) -> f64| one.sample(GP, of).mean() / one.sample(HFS, of).mean();
        let name = one.group.name();
        g6 = g6.below(&format!("{name}: wasted GP/HFS"), share(|run| run.wasted_s), 1.0);
        g6 = g6.below(&format!("{name}: killed of the long job GP/HFS"), share(|run| run.killed_of_long), 1.0);
    }
    let production = ratio(all, |run| run.production_response_s);
    let g7 = Evidence::default().within("mean production response GP/HFS", production.mean(), 0.95, 1.05);
    let firings: Vec<f64> = all.iter().flat_map(|one| one.sample(GP, |run| run.firings).values().to_vec()).collect();
    let firings = Sample::new(firings);
    let what = format!(
        "firings a run (in {:.0} % of the runs none, at most {:.0})",
        100.0 * firings.share(|count| count == 0.0),
        firings.quantile(1.0)
    );
    let g8 = Evidence::default().at_most(&what, firings.mean(), 1.0);
    let of_production = all.iter().map(|one| one.sample(GP, |run| run.killed_of_production).quantile(1.0));
    let g9 = Evidence::default().at_most("production tasks killed under GP", of_production.fold(0.0, f64::max), 0.0);
    vec![
        Claim::new("G1", "Busy: SNP of GP at least 10 % above that of HFS on average (the paper: about 15 %)", g1),
        Claim::new("G2", "Busy: fairer, and slowdowns and responses better", g2),
        Claim::new("G4 (busy)", "The long job completes sooner under GP", g4),
        Claim::new("G5", "The gain shrinks the later the long job arrives", g5),
        Claim::new("G6", "Less work is wasted, and fewer of the long job's tasks killed, in each busy group", g6),
        Claim::new("G7", "Production jobs are not harmed: mean response within 5 %", g7),
        Claim::new("G8", "The starvation rule fires rarely (the paper: once in ten runs)", g8),
        Claim::new(
            "G9",
            "No task of production work is killed (in all random worlds: an observer of `hiatus fuzz`)",
            g9,
        ),
    ]
}

pub(super) fn idle(all: &[Experiment]) -> Vec<Claim> {
    let g3 = MEASURES.iter().fold(Evidence::default(), |evidence, (name, measure)| {
        let band = if *name == "SNP" { 0.05 } else { 0.08 };
        evidence.within(&format!("{name} GP/HFS"), ratio(all, measure).mean(), 1.0 - band, 1.0 + band)
    });
    let long = ratio(all, |run| run.long_response_s);
    let g4 = Evidence::default().below("the long job's response GP/HFS", long.mean(), 1.0);
    vec![
        Claim::new("G3", "Idle: little difference, SNP within 5 %, the others within 8 %", g3),
        Claim::new("G4 (idle)", "The long job completes sooner under GP", g4),
    ]
}
