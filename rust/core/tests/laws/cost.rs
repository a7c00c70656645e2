//! What each kind of fact costs, in nodes, jobs and containers looked at: the table of docs/design/costs.md.
//! The same at any size.

use crate::direct::{Direct, BETWEEN_PLANS};
use hiatus_core::decision::Decision;
use hiatus_core::fact::{Fact, PhaseKey, Places, Rejection, Run, Side};
use hiatus_core::place::MOST_CONTAINERS;
use hiatus_core::units::{AppId, Millis, PartitionId, Resource};
use hiatus_core::visits::Visits;
use std::ops::Range;
use std::time::{Duration, Instant};

const SIZES: [u32; 2] = [10, 100];

/// Every node full, every job with ten containers running and more wanted.
fn full(nodes: u32) -> Direct {
    let mut cluster = Direct::new("order", nodes, nodes);
    cluster.everybody_asks(12);
    cluster
}

#[test]
fn a_heartbeat_of_a_full_node_looks_at_no_job() {
    for nodes in SIZES {
        let mut cluster = full(nodes);
        cluster.heartbeat(3);
        assert_eq!(cluster.step(BETWEEN_PLANS), Visits { nodes: 1, jobs: 0, containers: 0 }, "{nodes} nodes");
    }
}

#[test]
fn a_containers_end_looks_at_its_job_its_node_and_whom_it_lets_start() {
    for nodes in SIZES {
        let mut cluster = full(nodes);
        let before = cluster.placed();
        cluster.first_container_ends();
        // Its job, whoever is served, and that one again in its new place.
        assert_eq!(cluster.step(BETWEEN_PLANS), Visits { nodes: 1, jobs: 3, containers: 0 }, "{nodes} nodes");
        assert_eq!(cluster.placed(), before + 1);
    }
}

#[test]
fn an_ask_that_fits_nowhere_looks_at_no_node() {
    for nodes in SIZES {
        let mut cluster = full(nodes);
        cluster.asks(1, 20);
        let visits = cluster.step(BETWEEN_PLANS);
        assert_eq!((visits.nodes, visits.containers), (0, 0), "{nodes} nodes: {visits:?}");
        // The plan that follows sees the jobs that changed since the last: here this one.
        let visits = cluster.plan();
        assert!(visits.nodes == 0 && visits.jobs <= 2, "{nodes} nodes: {visits:?}");
    }
}

#[test]
fn an_ask_is_served_on_the_roomiest_nodes_without_a_look_at_others() {
    for nodes in SIZES {
        let mut cluster = Direct::new("order", nodes, 5);
        cluster.asks(1, 4);
        let visits = cluster.plan();
        assert_eq!((visits.nodes, cluster.placed()), (4, 4), "{nodes} nodes: {visits:?}");
    }
}

#[test]
fn an_ask_that_names_places_is_served_on_the_roomiest_node_without_a_look_at_others() {
    for nodes in SIZES {
        let mut cluster = Direct::new("order", nodes, 5);
        cluster.asks_for_places(1, 4);
        let visits = cluster.plan();
        assert_eq!((visits.nodes, cluster.placed()), (1, 4), "{nodes} nodes: {visits:?}");
    }
}

#[test]
fn room_for_another_queue_costs_a_look_at_what_began_last_however_much_runs() {
    for nodes in SIZES {
        let knobs = [("mode", "kill"), ("preemption", "kill"), ("victims", "gp"), ("min-run-ms", "0")];
        let mut cluster = Direct::with(&knobs, nodes, nodes);
        cluster.everybody_asks(12);
        let before = cluster.placed();
        let production = cluster.production_job();
        cluster.asks(production, 3);
        // Each is looked at once to see whether it may be taken, and once as an offer.
        assert_eq!(cluster.plan().containers, 6, "{nodes} nodes");
        cluster.plan();
        assert_eq!(cluster.placed(), before + 3, "{nodes} nodes");
    }
}

#[test]
fn a_plan_without_news_sees_no_job() {
    let mut cluster = full(50);
    cluster.plan();
    assert_eq!(cluster.plan(), Visits::default());
}

#[test]
fn a_morning_is_cut_into_steps() {
    let mut cluster = Direct::new("order", 100, 100);
    cluster.everybody_asks(10);
    assert_eq!((cluster.placed(), cluster.most_at_once), (1000, MOST_CONTAINERS));
}

#[test]
fn who_is_refused_by_a_limit_is_not_proposed_again_on_every_node() {
    let mut cluster = Direct::new("order", 100, 4);
    cluster.refusing(|decision| matches!(decision, Decision::Assign { .. }).then_some(Rejection::Limit));
    (0..4).for_each(|app| cluster.asks(app, 3));
    cluster.plan();
    let first = cluster.refused;
    assert!((1..=12).contains(&first), "as many proposals as containers are wanted, and not one a node: {first}");
    for node in 0..90 {
        cluster.heartbeat(node);
        cluster.step(1);
    }
    assert_eq!(cluster.refused, first, "before its rest is over nobody asks again");
    cluster.plan();
    assert!(cluster.refused > first, "later somebody finds out whether the limit still stands");
}

#[test]
fn a_silent_node_gets_nothing_however_often_its_containers_end() {
    let mut cluster = Direct::new("order", 1, 2);
    cluster.everybody_asks(8);
    let placed = cluster.placed();
    cluster.step(11_000);
    for _ in 0..5 {
        cluster.first_container_ends();
        cluster.step(200);
    }
    assert_eq!(cluster.placed(), placed);
    cluster.heartbeat(0);
    cluster.step(200);
    assert_eq!(cluster.placed(), placed + 5);
}

#[test]
fn a_heartbeat_of_a_node_with_room_looks_at_no_job_that_keeps_to_the_other_side() {
    for nodes in SIZES {
        let knobs = [("mode", "order"), ("policy", "fifo"), ("batchmr-placer", "on")];
        let mut cluster = Direct::with(&knobs, nodes, nodes);
        (0..nodes).for_each(|node| cluster.put_on(node, Side::BOTH[node as usize % 2]));
        for (app, side, seconds) in (0..nodes).flat_map(|app| [(app, Side::Physical, 100), (app, Side::Virtual, 300)]) {
            let (at_ms, took, input) = (0, Millis(seconds * 1000), 12 << 27);
            let run = Run { same_class: true, side, at_ms, took, nodes: nodes / 2, input };
            cluster.tell(Fact::Ran { app: AppId(app), run });
        }
        cluster.everybody_asks(12);
        assert_eq!(cluster.placed(), nodes / 2 * 10, "the physical side is full, the virtual one empty");
        cluster.heartbeat(1);
        assert_eq!(cluster.step(BETWEEN_PLANS), Visits { nodes: 1, jobs: 0, containers: 0 }, "{nodes} nodes");
    }
}

/// Asks of so many kinds, each of its own priority, and two plans after them; how long that took.
fn time_of_kinds(kinds: i32) -> Duration {
    let mut cluster = full(4);
    let began = Instant::now();
    for _ in 0..3 {
        ask_kinds(&mut cluster, 0..kinds);
        cluster.plan();
    }
    began.elapsed()
}

fn ask_kinds(cluster: &mut Direct, priorities: Range<i32>) {
    let app = AppId(1);
    cluster.tell(Fact::AsksReplaced { app });
    for priority in priorities {
        let resource = Resource { memory_mb: 100_000, vcores: 1 }; // more than any node has
        let phase = PhaseKey { priority, partition: PartitionId(0), resource };
        cluster.tell(Fact::Asked { app, phase, count: 1, places: Places::Anywhere });
    }
}

/// An application may name a priority for each container: looking at all of them for each would let it hold up everybody else.
#[test]
fn an_ask_costs_the_same_however_many_kinds_its_job_asks_for() {
    let time_of = |kinds| (0..5).map(|_| time_of_kinds(kinds)).min().unwrap();
    let (few, many) = (time_of(1_000), time_of(16_000));
    assert!(many < few * 16 * 8, "16 times as many kinds: {few:?}, {many:?}"); // 256 times if each looked at all
}

#[test]
fn kinds_that_are_not_asked_for_any_more_are_forgotten() {
    let mut cluster = full(4);
    let before = cluster.core.cluster().jobs()[&AppId(1)].phases.len();
    for round in 0..50 {
        ask_kinds(&mut cluster, 100 * round..100 * round + 100);
        cluster.plan();
    }
    assert!(cluster.core.cluster().jobs()[&AppId(1)].phases.len() <= before + 200);
}
