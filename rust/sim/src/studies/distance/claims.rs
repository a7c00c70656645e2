//! What suspension is meant to reach, with the bounds that were set before it does.

use super::clairvoyant::Order;
use super::measured::Measured;
use super::mixes::Mix;
use super::parts::{beside_big_jobs, HFSP, POLICIES};
use super::scene::Work;
use crate::report::{Claim, Evidence};
use crate::studies::small_and_big::{Run, Scheduler};

/// Small jobs beside several big ones take at most so many times as long as beside one.
const AS_BESIDE_ONE: f64 = 1.25;
/// Big jobs take at most so many times as long as where nothing is taken.
const BIG_OVER_WAITING: f64 = 1.02;
/// A row's mean, and a draw's, over that of waiting.
const MEAN_OVER_WAITING: f64 = 1.01;
const DRAW_OVER_WAITING: f64 = 1.05;
/// Least remaining work first, over the ideal.
const SRPT_OVER_IDEAL: f64 = 1.12;
/// With containers of two sizes: mean, and makespan, over those of waiting.
const TWO_SIZES_OVER_WAITING: f64 = 0.95;
const MAKESPAN_OVER_WAITING: f64 = 1.02;
/// What nobody may lose by suspension, in any scene, small or big.
const NEVER_OVER_WAITING: f64 = 1.02;

/// Which bound a mix has, and how many times as long jobs may take.
fn bound(mix: Mix) -> (Order, f64) {
    match mix {
        Mix::Mixed => (Order::Fsp, 1.07),
        Mix::Like => (Order::Fifo, 1.05),
        _ => (Order::Fsp, 1.10),
    }
}

/// The policies that were run in all of these scenes.
fn policies(measured: &[Measured]) -> impl Iterator<Item = Scheduler> + '_ {
    POLICIES.into_iter().filter(|policy| measured.iter().all(|one| one.has(*policy)))
}

/// Part A.
pub(super) fn beside_big(measured: &[Measured]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for policy in policies(measured) {
        let small_s = |one: &Measured| one.sample(policy, |run| run.small_s).mean();
        // On nodes without remainders for all rows: with them even one big job's row is bad, and bounds nothing.
        let beside_one = beside_big_jobs(1, false);
        let beside_one_s = measured.iter().find(|one| one.scene == beside_one).map_or(f64::NAN, small_s);
        let (mut small, mut big) = (Evidence::default(), Evidence::default());
        for one in measured {
            small = small.at_most(&one.scene.name, small_s(one) / beside_one_s, AS_BESIDE_ONE);
            let over = one.ratio(policy, policy.waiting(), |run| run.big_s).mean();
            big = big.at_most(&one.scene.name, over, BIG_OVER_WAITING);
        }
        let statement = "Small jobs take at most 1.25 times as long as beside one big job on nodes without remainders";
        claims.push(Claim::new("A small", statement, small).under(policy.policy));
        let statement = "Big jobs take at most 1.02 times as long as where nothing is taken";
        claims.push(Claim::new("A big", statement, big).under(policy.policy));
    }
    claims
}

/// Part B.
pub(super) fn mixes(measured: &[Measured]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for policy in policies(measured) {
        let mut near = Evidence::default();
        for one in measured {
            let Work::Mix(mix, _) = one.scene.work else { continue };
            let (order, at_most) = if policy.policy == "srpt" { (Order::Srpt, SRPT_OVER_IDEAL) } else { bound(mix) };
            near = near.at_most(&one.scene.name, one.over(policy, order).mean(), at_most);
        }
        let statement = match policy.policy {
            "hfsp" | "flex" => "At most 1.07 × clairvoyant FSP's mean in every row of the mix, 1.10 × in the others; like: 1.05 × FIFO's",
            "srpt" => "At most 1.12 × the ideal's mean in every row",
            _ => continue,
        };
        claims.push(Claim::new("B distance", statement, near).under(policy.policy));
        let (mut mean, mut draw) = (Evidence::default(), Evidence::default());
        for one in measured {
            let over = one.ratio(policy, policy.waiting(), |run| run.mean_s);
            mean = mean.at_most(&one.scene.name, over.mean(), MEAN_OVER_WAITING);
            draw = draw.at_most(&one.scene.name, over.quantile(1.0), DRAW_OVER_WAITING);
        }
        let statement = "Never above waiting by more than 1 % in the mean of a row";
        claims.push(Claim::new("B waiting", statement, mean).under(policy.policy));
        let statement = "Never above waiting by more than 5 % in a draw: the worst of each row";
        claims.push(Claim::new("B waiting, draws", statement, draw).under(policy.policy));
    }
    claims
}

/// Part C.
pub(super) fn two_sizes(measured: &[Measured]) -> Vec<Claim> {
    let (mut mean, mut makespan) = (Evidence::default(), Evidence::default());
    for one in measured {
        let over = |of: fn(&Run) -> f64| one.ratio(HFSP, HFSP.waiting(), of).mean();
        mean = mean.at_most(&one.scene.name, over(|run| run.mean_s), TWO_SIZES_OVER_WAITING);
        makespan = makespan.at_most(&one.scene.name, over(|run| run.makespan_s), MAKESPAN_OVER_WAITING);
    }
    let statement = "With containers of two sizes suspension takes at most 0.95 of waiting's mean";
    let last = "The last job ends at most 2 % later than with waiting";
    vec![Claim::new("C mean", statement, mean), Claim::new("C makespan", last, makespan)]
}

/// Of all parts: the worst scene for small and for big jobs under each policy.
pub(super) fn never_worse(measured: &[&Measured]) -> Vec<Claim> {
    let ran = |policy: &Scheduler| measured.iter().any(|one| one.has(*policy));
    let of = |policy: Scheduler| {
        let worst = |of: fn(&Run) -> f64| {
            let over =
                measured.iter().map(|one| (one.ratio(policy, policy.waiting(), of).mean(), one.scene.name.as_str()));
            over.filter(|(over, _)| !over.is_nan()).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, "none"))
        };
        let ((small, small_in), (big, big_in)) = (worst(|run| run.small_s), worst(|run| run.big_s));
        let evidence = Evidence::default()
            .at_most(&format!("small, worst: {small_in}"), small, NEVER_OVER_WAITING)
            .at_most(&format!("big, worst: {big_in}"), big, NEVER_OVER_WAITING);
        let statement = "In no scene small or big jobs take longer than with waiting by more than 2 % in the mean";
        Claim::new("suspension pays", statement, evidence).under(policy.policy)
    };
    POLICIES.into_iter().filter(ran).map(of).collect()
}

/// Of all parts: what was killed in the mode that kills nothing, over all draws.
pub(super) fn nothing_killed(measured: &[&Measured]) -> Claim {
    let killed = |policy: Scheduler, one: &Measured| one.total(policy, |run| run.killed);
    let ran = |policy: &Scheduler| measured.iter().any(|one| one.has(*policy));
    let evidence = POLICIES.into_iter().filter(ran).fold(Evidence::default(), |evidence, policy| {
        let all: f64 = measured.iter().map(|one| killed(policy, one)).sum();
        let most = measured.iter().max_by(|a, b| killed(policy, a).total_cmp(&killed(policy, b)));
        let most = most.map_or("nowhere", |one| one.scene.name.as_str());
        evidence.at_most(&format!("{}, most in {most}", policy.policy), all, 0.0)
    });
    Claim::new("nothing killed", "No container is killed in the mode `suspend`", evidence)
}
