//! New tasks that may run on any node spread over the nodes with room, and lose nothing by it: neither room nor their turn.

use crate::direct::{Direct, BETWEEN_PLANS};
use hiatus_core::fact::Fact;
use hiatus_core::units::AppId;
use proptest::prelude::*;

const NODES: u32 = 5;

/// Idle nodes of ten places, and two jobs of which the first comes first.
fn idle() -> Direct {
    Direct::new("order", NODES, 2)
}

#[test]
fn a_jobs_tasks_spread_evenly_over_idle_nodes() {
    let mut cluster = idle();
    cluster.asks(0, 10);
    cluster.plan();
    assert_eq!(cluster.on_each_node(), [2; 5]);
}

#[test]
fn who_names_places_gets_what_fits_where_it_is_looked_at() {
    let mut cluster = idle();
    cluster.asks_for_places(0, 10);
    cluster.plan();
    assert_eq!(cluster.on_each_node(), [10, 0, 0, 0, 0], "the ResourceManager tells whether the place is one of those");
}

#[test]
fn whoever_comes_first_gets_all_it_wants_before_the_next_gets_any() {
    let mut cluster = idle();
    cluster.asks(1, 45);
    cluster.asks(0, 42);
    cluster.plan();
    assert_eq!([0, 1].map(|app| cluster.holds(app)), [42, 8]);
}

#[test]
fn a_heartbeat_between_an_ask_and_the_plan_fills_no_node() {
    let mut cluster = idle();
    cluster.asks(0, 5);
    cluster.plan();
    cluster.asks(0, 10);
    cluster.heartbeat(3);
    cluster.step(BETWEEN_PLANS);
    assert_eq!(cluster.on_each_node(), [3; 5]);
}

#[test]
fn room_that_comes_later_is_given_whole() {
    let mut cluster = idle();
    cluster.asks(0, 60);
    cluster.plan();
    assert_eq!(cluster.placed(), 50);
    (0..5).for_each(|_| cluster.first_container_ends());
    cluster.step(BETWEEN_PLANS);
    assert_eq!(cluster.placed(), 55, "nobody waits for the next plan");
}

#[test]
fn room_that_comes_while_others_ask_is_given_at_once() {
    let mut cluster = idle();
    cluster.asks(0, 60);
    cluster.plan();
    (0..5).for_each(|_| cluster.first_container_ends());
    cluster.asks(1, 3);
    cluster.step(BETWEEN_PLANS);
    assert_eq!(cluster.placed(), 55);
}

#[test]
fn the_order_holds_where_one_step_is_not_enough() {
    let mut cluster = Direct::new("order", 60, 3);
    cluster.asks(0, 300);
    cluster.asks_for_places(1, 250);
    cluster.asks(2, 100);
    cluster.plan();
    assert_eq!([0, 1, 2].map(|app| cluster.holds(app)), [300, 250, 50]);
}

#[test]
fn a_suspended_container_goes_on_where_an_earlier_jobs_tasks_leave_room() {
    let mut cluster = Direct::new("order", 3, 5);
    cluster.fill(0, 1, 1);
    let suspended = *cluster.core.cluster().jobs()[&AppId(1)].containers.first().unwrap();
    cluster.fill(0, 4, 9);
    cluster.tell(Fact::Demoted { container: suspended });
    cluster.fill(0, 4, 1);
    (0..3).for_each(|_| cluster.beats(0, 1));
    [1, 2].into_iter().for_each(|node| cluster.fill(node, 2, 5));
    assert!(cluster.core.cluster().is_suspended(suspended));
    cluster.ends(4);
    cluster.asks(0, 9);
    cluster.plan();
    assert_eq!(cluster.on_each_node(), [7, 8, 5]);
    assert!(!cluster.core.cluster().is_suspended(suspended), "there is room for it");
}

proptest! {
    #[test]
    fn tasks_that_may_run_anywhere_leave_no_room_idle_and_spread_as_evenly_as_nodes_let_them(
        taken in prop::collection::vec(0_u32..=10, 1..8),
        wanted in 1_u32..100,
    ) {
        let mut cluster = Direct::new("order", taken.len() as u32, 1 + taken.len() as u32);
        (0_u32..).zip(&taken).for_each(|(node, count)| cluster.fill(node, 1 + node, *count));
        let before = cluster.on_each_node();
        prop_assert_eq!(&before, &taken);
        cluster.asks(0, wanted);
        cluster.plan();
        let given: Vec<u32> = cluster.on_each_node().iter().zip(&before).map(|(now, before)| now - before).collect();
        let free: u32 = taken.iter().map(|taken| 10 - taken).sum();
        prop_assert_eq!(given.iter().sum::<u32>(), wanted.min(free));
        // No node has given more than one part that another one with more room could have given.
        let left: Vec<u32> = cluster.on_each_node().iter().map(|now| 10 - now).collect();
        let (part, most) = (wanted.div_ceil(taken.len() as u32), left.iter().max().copied().unwrap_or_default());
        for (given, left) in given.iter().zip(&left).filter(|(given, _)| **given > 0) {
            prop_assert!(left + part >= most, "{given} given of what leaves {left}, where another node has {most}");
        }
    }
}
