//! Law 17. Two jobs of like size, of whose later stages nobody knows (Spark, Tez): what they take from each other in turns is bounded by what
//! there is to learn. Each stage that begins may change the order once, and then moves no more containers than the cluster has.

use crate::world::{gb, secs, Job, Node, World};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_17_jobs_of_like_size_without_totals_change_their_order_once_a_stage_at_most(
        (stages, tasks, task_s) in (2..6usize, 4..24usize, 5..40u64),
        (more, later_s, slots) in (0..3usize, 0..60u64, 4..13i64),
        progress in any::<bool>(),
    ) {
        let job = |name: &str, tasks: usize| (0..stages).fold(Job::new(name), |job, _| job.tasks(tasks, secs(task_s)));
        let world = World::new()
            .set("policy", "hfsp")
            .set("min-run-ms", "0")
            .set("min-resumed-ms", "0")
            .set("max-suspended-memory", "2")
            .node(Node::of(gb(slots + 2)))
            .job(job("one", tasks))
            .job(job("other", tasks + more).at(secs(later_s)));
        let mut world = if progress { world.telling_progress() } else { world };
        world.run();
        let most = 2 * stages as u64 * slots as u64;
        prop_assert!(world.count.suspended <= most, "{} suspensions, {most} are what two jobs of {stages} stages may need", world.count.suspended);
        prop_assert_eq!(world.count.preempted + world.count.expired, 0);
    }
}
