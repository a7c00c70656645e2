//! Law 28: jobs age with work. The virtual cluster is never ahead of the real one: as long as the size of a job that is alone is known, no
//! more of it is virtually done than really is.

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::explain::explain;
use proptest::prelude::*;

/// Containers of the cluster.
const SLOTS: f64 = 32.0;

/// How much more of a job is virtually done than really, in seconds of a container, looked at every ten seconds: at the worst. What has
/// begun counts as not done.
fn ahead_s(heartbeat_s: u64, tasks: usize, task_s: u64) -> f64 {
    let size = format!("hiatus.size={}", tasks as u64 * task_s);
    let job = Job::new("job").tasks(tasks, secs(task_s)).tag(&size);
    let cluster = World::new().heartbeat(secs(heartbeat_s)).nodes(4, &Node::of(gb(8)));
    let mut world = cluster.set("policy", "hfsp").job(job);
    let mut worst_s = f64::NEG_INFINITY;
    for now in (4..).map(|n| secs(10 * n)) {
        world.run_until(now);
        let known = explain(world.core()).jobs;
        let Some(sizing) = known.first().and_then(|job| job.sizing.as_ref()) else { break };
        // By its size as it was learnt: what the ResourceManager sees of a task begins and ends with heartbeats.
        let really_s = sizing.estimate_s * f64::from(world.app("job").tasks_left()) / tasks as f64;
        worst_s = worst_s.max((really_s - sizing.virtual_remaining_s) * SLOTS);
    }
    worst_s
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_28_no_job_ages_faster_than_the_cluster_works(
        (heartbeat_s, tasks, task_s) in (2..10u64, 1_000..2_000usize, 5..30u64),
    ) {
        let ahead_s = ahead_s(heartbeat_s, tasks, task_s);
        // What runs is done in part; that it began is heard of a heartbeat later, and that it ended, too.
        let under_way_s = SLOTS * (task_s + 4 * heartbeat_s) as f64;
        prop_assert!(ahead_s <= under_way_s, "{ahead_s} s ahead, {under_way_s} s may be under way");
    }
}
