//! Speculative execution in the simulated cluster: what ends first counts, and nothing is lost by it.

use hiatus_world::job::{gb, secs, Job};
use hiatus_world::{Faults, Node, Speculation, World};

const RULES: [Speculation; 3] = [Speculation::Hadoop, Speculation::Late, Speculation::BatchMr];

/// Sixteen maps of a minute on five nodes, the last of which takes ten times as long.
fn one_node_is_slow(seed: u64) -> World {
    let nodes = World::seeded(seed).nodes(4, &Node::of(gb(4))).node(Node::of(gb(4)).slower(10.0, 10.0));
    nodes.job(Job::new("job").tasks(19, secs(60)).tasks(2, secs(10)))
}

#[test]
fn a_task_on_a_slow_node_is_done_elsewhere_too_and_who_ends_first_counts() {
    let alone = one_node_is_slow(1).run().sojourn("job");
    for rule in RULES {
        let mut world = one_node_is_slow(1).speculating(rule);
        let (sojourn, spent) = (world.run().sojourn("job"), world.app("job").spent);
        assert!(2 * sojourn.0 < alone.0, "{rule:?}: {sojourn:?} of {alone:?}");
        assert!((3..=6).contains(&spent.backups), "{rule:?}: {spent:?}");
        assert!(spent.raced_s > 60.0, "the slow ones ended in vain: {spent:?}");
        assert_eq!((spent.lost_tasks, spent.wasted_s, world.app("job").tasks_left()), (0, 0.0, 0), "{rule:?}");
    }
}

#[test]
fn without_a_slow_node_batchmr_does_nothing_twice() {
    let backups = RULES.map(|rule| {
        let waves = World::new().nodes(4, &Node::of(gb(4))).job(Job::new("job").tasks(40, secs(300)));
        waves.speculating(rule).run().app("job").spent.backups
    });
    // The others take the last wave for slow: Hadoop because those before are done, LATE because progress comes slower at first than at
    // the end, where phases are short.
    assert!(backups[0] > 0 && backups[1] > 0 && backups[2] == 0, "{backups:?}");
}

#[test]
fn an_attempt_that_fails_leaves_its_task_to_the_other_one() {
    for (seed, rule) in (0..30).flat_map(|seed| RULES.map(|rule| (seed, rule))) {
        let faults = Faults { fail_task: 0.2, lose_node: 0.002, ..Faults::default() };
        let mut world = one_node_is_slow(seed).speculating(rule).faults(faults);
        let app = world.run().app("job");
        assert_eq!((app.finished.is_some(), app.tasks_left()), (true, 0), "{rule:?}, seed {seed}");
    }
}
