//! Law 11: a queue that wants what it is guaranteed gets it within a bound, whatever the others do.

use crate::world::{gb, secs, Job as Work, Node, Queue, World};
use hiatus_core::fact::PhaseKey;
use hiatus_core::state::Job;
use hiatus_core::units::{AppId, Millis, PartitionId};
use proptest::prelude::*;
use std::collections::BTreeMap;

const NODES: usize = 3;
/// Containers of 1 GiB on one node.
const SLOTS_OF_NODE: i64 = 8;
/// What has just begun to run is left alone for this time.
const MIN_RUN_S: u64 = 5;
/// Until the nodes have obeyed, and reported it twice; until somebody is told of a container, and starts it.
const HEARTBEATS: u64 = 10;

/// The phases that ask for containers while their queue lacks of its guarantee more than a container for each of its jobs, as
/// targets are fractions. (What a queue has suspended itself waits for room at home, for `resume-locality-ms`.)
fn lacking(world: &World, path: &str) -> Vec<(AppId, PhaseKey)> {
    let cluster = world.core().cluster();
    let Some((id, queue)) = cluster.queues().iter().find(|(_, queue)| queue.path == path) else { return Vec::new() };
    let partition = PartitionId(0);
    let Some(total) = cluster.partitions().get(&partition).map(|found| found.total) else { return Vec::new() };
    let jobs = || cluster.jobs().iter().filter(|(_, job)| job.queue == *id && job.may_start());
    let held: f64 = jobs().map(|(_, job)| job.share(total, partition)).sum();
    let rounding = jobs().filter(|(_, job)| job.wants()).count() as f64 * gb(1).dominant_share(total);
    if held + rounding > queue.shares(partition).guaranteed + 1e-9 {
        return Vec::new();
    }
    let of_job = |(app, job): (&AppId, &'_ Job)| {
        let asking = job.phases.iter().filter(|(key, phase)| job.unserved(**key, phase) > 0);
        asking.map(|(key, _)| (*app, *key)).collect::<Vec<_>>()
    };
    jobs().flat_map(of_job).collect()
}

/// How the greedy queue's containers go.
fn ways() -> impl Strategy<Value = &'static [(&'static str, &'static str)]> {
    let all: [&[(&str, &str)]; 4] = [
        &[("mode", "suspend"), ("max-suspended-memory", "4")],
        &[("mode", "suspend"), ("max-suspended-memory", "4"), ("suspension-budget-ms", "0")],
        &[("mode", "kill"), ("preemption", "suspend-or-kill"), ("max-suspended-memory", "0.2")],
        &[("mode", "kill"), ("preemption", "kill")],
    ];
    proptest::sample::select(all.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// The greedy queue fills every gap, with work that is never done, or with streams of short jobs that come before it.
    #[test]
    fn law_11_a_queue_gets_its_guarantee_whatever_the_others_do(
        guarantee in 0.25..0.6_f64,
        way in ways(),
        policy in proptest::sample::select(vec!["hfsp", "fifo", "fair", "las"]),
        ours in prop::collection::vec((1_u64..60, 1_usize..12, 2_u64..40), 1..12),
        theirs in prop::collection::vec((1_u64..60, 1_usize..30, 2_u64..60), 0..10),
    ) {
        let mut world = World::new()
            .nodes(NODES, &Node::of(gb(SLOTS_OF_NODE)))
            .set("policy", policy)
            .queue(Queue::new("root.ours", guarantee))
            .queue(Queue::new("root.greedy", 1.0 - guarantee))
            .job(Work::new("endless").queue("root.greedy").tasks(60, secs(3_000)));
        for (knob, value) in way {
            world = world.set(knob, value);
        }
        for (queue, jobs) in [("root.ours", ours), ("root.greedy", theirs)] {
            let mut at = 20;
            for (number, (gap, tasks, each)) in jobs.into_iter().enumerate() {
                at += gap;
                world = world.job(Work::new(&format!("{queue}-{number}")).queue(queue).tasks(tasks, secs(each)).at(secs(at)));
            }
        }
        let bound = secs(MIN_RUN_S + HEARTBEATS);
        let mut since: BTreeMap<(AppId, PhaseKey), Millis> = BTreeMap::new();
        for now in (0..400).map(secs) {
            world.run_until(now);
            let lacking = lacking(&world, "root.ours");
            since.retain(|phase, _| lacking.contains(phase));
            for phase in lacking {
                let lacked = now.since(*since.entry(phase).or_insert(now));
                prop_assert!(lacked <= bound, "at {now:?} {phase:?} has waited for its queue's guarantee for {lacked:?}");
            }
        }
    }
}
