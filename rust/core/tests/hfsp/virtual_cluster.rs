//! The virtual cluster alone: golden vectors of the thesis and laws of fair sharing.

use hiatus_core::fact::PhaseKey;
use hiatus_core::policy::hfsp::virtual_cluster::VirtualCluster;
use hiatus_core::policy::hfsp::waves::Waves;
use hiatus_core::units::{AppId, Millis, PartitionId, Resource};
use proptest::prelude::*;

const ONE: Resource = Resource { memory_mb: 1024, vcores: 0 };
const MAPS: PhaseKey = PhaseKey { priority: 20, partition: PartitionId(0), resource: ONE };

/// Jobs as (arrival in s, tasks, seconds of each) in a cluster of so many slots from the given times on; when each is
/// virtually done, in s, to a millisecond.
fn virtual_finishes(jobs: &[(u64, u32, f64)], slots: &[(u64, u32)]) -> Vec<f64> {
    let mut cluster = VirtualCluster::default();
    let mut ends = vec![f64::NAN; jobs.len()];
    let mut now = 0;
    let mut before = ONE.times(slots[0].1);
    while ends.iter().any(|end| end.is_nan()) {
        cluster.advance(Millis(now), 1.0, before, 1.0);
        before = slots.iter().rev().find(|(from, _)| from * 1000 <= now).map_or(before, |(_, slots)| ONE.times(*slots));
        for (id, (at, tasks, seconds)) in jobs.iter().enumerate() {
            let app = AppId(id as u32);
            if at * 1000 == now {
                cluster.enter(app, 1.0, MAPS, Waves::new(*tasks, *seconds));
            }
            if at * 1000 < now && ends[id].is_nan() && cluster.finished(app).is_some() {
                ends[id] = now as f64 / 1000.0;
            }
        }
        now += 1;
    }
    ends
}

#[test]
fn gap_11_a_size_that_was_replaced_may_be_corrected_and_keeps_what_was_done_then() {
    let mut waves = Waves::new(10, 10.0);
    waves.begin(3.0);
    waves.serve(3.0, 20.0);
    assert_eq!(waves.remaining_s(), 40.0);
    waves.replace(20.0, 4, 3, 10.0);
    assert_eq!(waves.remaining_s(), 110.0, "four tasks, and three that are half done");
    waves.retain(20.0);
    assert_eq!(waves.remaining_s(), 110.0);
    waves.retain(22.0);
    assert_eq!(waves.remaining_s(), 130.0, "of ten tasks ninety seconds are done");
}

#[test]
fn g_vc0_one_slot_is_processor_sharing() {
    assert_eq!(virtual_finishes(&[(0, 1, 3.0), (0, 1, 4.0), (3, 1, 3.0)], &[(0, 1)]), [7.5, 9.5, 10.0]);
}

#[test]
fn g_vc0_what_is_left_at_the_third_arrival() {
    let mut cluster = VirtualCluster::default();
    for (id, seconds) in [(1, 3.0), (2, 4.0)] {
        cluster.enter(AppId(id), 1.0, MAPS, Waves::new(1, seconds));
    }
    cluster.advance(Millis(3000), 1.0, ONE, 1.0);
    cluster.enter(AppId(3), 1.0, MAPS, Waves::new(1, 3.0));
    assert_eq!([1, 2, 3].map(|id| cluster.remaining(AppId(id), ONE)), [1.5, 2.5, 3.0]);
}

#[test]
fn g_vc1_parallelism_is_bounded_by_the_tasks() {
    assert_eq!(virtual_finishes(&[(0, 1, 10.0), (0, 8, 5.0)], &[(0, 4)]), [10.0, 15.0]);
}

#[test]
fn g_vc2_a_smaller_cluster_ages_slower() {
    assert_eq!(virtual_finishes(&[(0, 1, 10.0), (0, 8, 5.0)], &[(0, 4), (5, 2)]), [10.0, 20.0]);
}

#[test]
fn fig_4_4_what_processor_sharing_gives() {
    let mean = |ends: Vec<f64>| ends.iter().sum::<f64>() / ends.len() as f64;
    assert_eq!(mean(virtual_finishes(&[(0, 1, 1.0), (0, 1, 2.0)], &[(0, 1)])), 2.5);
    assert_eq!(mean(virtual_finishes(&[(0, 1, 1.0), (0, 1, 10.0)], &[(0, 1)])), 6.5);
}

#[test]
fn h_c15_with_k_of_n_nodes_lost_ageing_is_scaled_by_n_minus_k() {
    let total = |nodes: u32| ONE.times(4 * nodes);
    let left_after = |nodes| {
        let mut cluster = VirtualCluster::default();
        cluster.enter(AppId(1), 1.0, MAPS, Waves::new(1000, 10.0));
        cluster.advance(Millis(10_000), 1.0, total(nodes), 1.0);
        // In slot-seconds, whatever the size of the cluster.
        cluster.remaining(AppId(1), ONE)
    };
    assert_eq!(10_000.0 - left_after(8), 320.0);
    assert_eq!(10_000.0 - left_after(6), 240.0);
}

#[test]
fn weights_are_those_of_generalised_processor_sharing() {
    // G-7 of the specification: under GPS with weights 2, 1, 1 they end at 10, 12 and 5.
    let mut cluster = VirtualCluster::default();
    for (id, weight, size) in [(0, 2.0, 6.0), (1, 1.0, 5.0)] {
        cluster.enter(AppId(id), weight, MAPS, Waves::new(1, size));
    }
    cluster.advance(Millis(1000), 1.0, ONE, 1.0);
    cluster.enter(AppId(2), 1.0, MAPS, Waves::new(1, 1.0));
    for (id, end) in [(2, 5_000), (0, 10_000), (1, 12_000)] {
        cluster.advance(Millis(end - 1), 1.0, ONE, 1.0);
        assert_eq!(cluster.finished(AppId(id)), None);
        cluster.advance(Millis(end), 1.0, ONE, 1.0);
        assert!(cluster.finished(AppId(id)).is_some());
    }
}

#[test]
fn a_long_time_with_many_tasks_is_no_more_work() {
    let mut cluster = VirtualCluster::default();
    for id in 0..200 {
        cluster.enter(AppId(id), 1.0, MAPS, Waves::new(1_000_000, 7.0 + f64::from(id)));
    }
    cluster.advance(Millis(7_000_000_000), 1.0, ONE.times(1_000), 1.0);
    let left: f64 = (0..200).map(|id| cluster.remaining(AppId(id), ONE)).sum();
    let all: f64 = (0..200).map(|id| 1e6 * (7.0 + f64::from(id))).sum();
    assert!((all - left - 7e9).abs() < 1.0, "{left}");
}

/// Jobs as (tasks, seconds of each, weight).
fn entered(jobs: &[(u32, f64, f64)]) -> VirtualCluster {
    let mut cluster = VirtualCluster::default();
    for (id, (tasks, seconds, weight)) in jobs.iter().enumerate() {
        cluster.enter(AppId(id as u32), *weight, MAPS, Waves::new(*tasks, *seconds));
    }
    cluster
}

proptest! {
    #[test]
    fn h_05_all_slots_serve_while_a_job_has_tasks_for_them(
        jobs in prop::collection::vec((20u32..200, 1.0..50.0f64, 0.1..10.0f64), 1..10),
        spans in prop::collection::vec(1u64..40_000, 1..20),
        slots in 1u32..20,
    ) {
        let mut cluster = entered(&jobs);
        let left = |cluster: &VirtualCluster| -> f64 {
            (0..jobs.len()).map(|id| cluster.remaining(AppId(id as u32), ONE)).sum()
        };
        let (mut now, mut before) = (0, left(&cluster));
        for span in spans {
            now += span;
            cluster.advance(Millis(now), 1.0, ONE.times(slots), 1.0);
            let (served, could) = (before - left(&cluster), f64::from(slots) * span as f64 / 1000.0);
            before = left(&cluster);
            prop_assert!(served <= could + 1e-6);
            // A job that has more tasks than there are slots takes what the others leave.
            if (0..jobs.len()).any(|id| cluster.remaining(AppId(id as u32), ONE) > f64::from(slots) * jobs[id].1) {
                prop_assert!((served - could).abs() < 1e-6, "{served} of {could}");
            }
        }
    }

    #[test]
    fn h_05_when_one_looks_changes_nothing(
        jobs in prop::collection::vec((1u32..200, 1.0..50.0f64, 0.1..10.0f64), 1..8),
        spans in prop::collection::vec(1u64..20_000, 1..20),
        slots in 1u32..20,
    ) {
        let (mut often, mut once, mut now) = (entered(&jobs), entered(&jobs), 0);
        for span in spans {
            now += span;
            often.advance(Millis(now), 1.0, ONE.times(slots), 1.0);
        }
        once.advance(Millis(now), 1.0, ONE.times(slots), 1.0);
        for id in 0..jobs.len() as u32 {
            let (a, b) = (often.remaining(AppId(id), ONE), once.remaining(AppId(id), ONE));
            prop_assert!((a - b).abs() < 1e-6, "{a} and {b}");
        }
    }

    #[test]
    fn h_05_equal_jobs_are_served_alike_and_smaller_ones_done_first(
        mut sizes in prop::collection::vec(1u32..200, 2..10), slots in 1u32..20,
    ) {
        sizes.sort_unstable();
        let mut cluster = entered(&sizes.iter().map(|tasks| (*tasks, 5.0, 1.0)).collect::<Vec<_>>());
        cluster.advance(Millis(10_000_000), 1.0, ONE.times(slots), 1.0);
        let order: Vec<_> = (0..sizes.len()).map(|id| cluster.finished(AppId(id as u32)).unwrap()).collect();
        prop_assert!(order.is_sorted(), "{order:?}");
    }
}
