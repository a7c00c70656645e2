//! What is advised to pasts that are made up: the recorded sojourns are those of the model itself, or not.

use super::*;
use crate::cluster::{Node, Preemption, Queue};
use crate::workload::cluster::{gb, secs};
use hiatus_background::hindsight::PastJob;
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::Millis;
use std::collections::BTreeMap;
use std::sync::Arc;

const LONG: Duration = Duration::from_secs(3_600);

/// Big jobs behind which small ones wait, on four nodes of four containers, as often as is said.
fn past(rounds: u64) -> Past {
    let round = |round: u64| {
        let big = Job::new(&format!("big{round}")).tasks(48, secs(60)).at(secs(400 * round));
        let small = move |number: u64| {
            Job::new(&format!("small{round}-{number}")).tasks(2, secs(10)).at(secs(400 * round + 20 * (number + 1)))
        };
        std::iter::once(big).chain((0..4).map(small))
    };
    let jobs = (0..rounds).flat_map(round).map(|job| Arc::new(PastJob { sojourn: secs(1), job }));
    let past = Past {
        properties: BTreeMap::from([(format!("{CLUSTER_PREFIX}mode"), "observe".to_owned())]),
        nodes: vec![Node::of(gb(4)); 4],
        queues: vec![Queue::new("root.default", 1.0).master_share(0.0)],
        jobs: jobs.collect(),
        heartbeat: secs(1),
        ..Past::default()
    };
    as_simulated(past)
}

/// The model does not err about it.
fn as_simulated(past: Past) -> Past {
    let simulated = sojourns(&Model::new(&past, 0.5, 1).as_recorded(&|| true).unwrap());
    off_by(past, &simulated, 1.0)
}

fn off_by(past: Past, simulated_s: &[f64], factor: f64) -> Past {
    let again = |(past, simulated): (&Arc<PastJob>, &f64)| {
        let sojourn = Millis((simulated * factor * 1_000.0).round() as u64);
        Arc::new(PastJob { sojourn, job: past.job.clone() })
    };
    Past { jobs: past.jobs.iter().zip(simulated_s).map(again).collect(), ..past }
}

#[test]
fn where_small_jobs_wait_for_big_ones_something_is_advised_that_saves_more_than_the_model_errs() {
    let advice = advise(&past(8), 0.5, LONG, 1).unwrap();
    let Verdict::Change(which) = advice.verdict else { panic!("{:?}", advice.verdict) };
    let gain = advice.tried[which].result.as_ref().unwrap().gain;
    assert!(
        advice.model_error < 0.001 && gain.low > 0.3 && gain.low <= gain.mean && gain.mean <= gain.high,
        "{gain:?}"
    );
    assert_eq!(advice.tried[which].candidate.preemption, Preemption::Suspend);
}

#[test]
fn nothing_is_advised_that_saves_less_than_the_model_errs() {
    let past = past(8);
    let simulated = sojourns(&Model::new(&past, 0.5, 1).as_recorded(&|| true).unwrap());
    let far_off = off_by(past, &simulated, 0.3);
    let advice = advise(&far_off, 0.5, LONG, 1).unwrap();
    assert!(advice.model_error > 2.0, "{}", advice.model_error);
    assert!(matches!(advice.verdict, Verdict::WithinError(_)), "{:?}", advice.verdict);
    let tables = advice.tables(&far_off);
    let said = tables.iter().map(crate::report::Table::to_text).collect::<String>();
    assert!(said.contains("keep what you have") && !said.contains("What to set"), "{said}");
}

#[test]
fn errors_of_size_classes_do_not_cancel_out() {
    assert_eq!(error(&[1.0, 100.0], &[10.0, 10.0], &[15.0, 5.0]), 0.5);
}

#[test]
fn few_jobs_tell_nothing() {
    let advice = advise(&past(2), 0.5, LONG, 1).unwrap();
    assert_eq!((advice.verdict, advice.advised()), (Verdict::TooFew(10), None));
}

#[test]
fn who_has_what_is_best_is_told_to_keep_it() {
    let looked_on = past(8);
    let advised = advise(&looked_on, 0.5, LONG, 1).unwrap();
    let properties = advised.advised().unwrap().change().of(&looked_on.properties);
    let advice = advise(&as_simulated(Past { properties, ..looked_on }), 0.5, LONG, 1).unwrap();
    assert_eq!(advice.advised(), None, "{:?}", advice.verdict);
}

#[test]
fn who_gives_no_time_is_told_so() {
    assert!(matches!(advise(&past(2), 0.5, Duration::ZERO, 1), Err(SimulationError::Unwanted)));
}
