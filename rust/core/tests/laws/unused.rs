//! Law 22: nobody is suspended for a job that cannot use the room. The observer watches every world; here are those for which it was made.

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::explain::explain;
use hiatus_core::units::Resource;
use proptest::prelude::*;

/// MiB of memory; virtual cores do not count.
fn mb(memory_mb: i64) -> Resource {
    Resource::new(memory_mb, 0)
}

/// A job that holds all of the nodes, and a small one that asks for several kinds at once, the last of them first.
fn beside_a_big_one(nodes: usize, node: Resource, kinds: &[(usize, Resource)]) -> World {
    let at_once = Job::new("small").at(secs(60)).at_once();
    let small = kinds.iter().fold(at_once, |job, (count, size)| job.sized_tasks(*count, secs(20), *size));
    World::new()
        .nodes(nodes, &Node::of(node))
        .set("policy", "srpt")
        .job(Job::new("big").tasks(200, secs(600)))
        .job(small)
}

#[test]
fn law_22_nobody_goes_for_an_ask_behind_one_that_cannot_be_served() {
    // The master's room; and then 4 GB are more than may be suspended on a node.
    let mut world = beside_a_big_one(2, mb(4_608), &[(2, gb(1)), (1, gb(4))]);
    world.run_until(secs(100));
    assert_eq!((world.count.suspended, world.held("small")), (1, 1));
    let mut other = beside_a_big_one(2, mb(4_608), &[(1, gb(4)), (2, gb(1))]);
    other.run_until(secs(75));
    assert_eq!((other.count.suspended, other.held("small")), (3, 3), "the small ones come first");
}

#[test]
fn law_22_several_kinds_are_served_on_several_nodes_in_their_order() {
    let mut world = beside_a_big_one(4, gb(8), &[(3, gb(1)), (2, gb(4))]);
    world.run_until(secs(80));
    assert_eq!((world.count.suspended, world.held("small")), (12, 6));
}

#[test]
fn law_22_a_node_that_an_application_has_blacklisted_frees_nothing_for_it() {
    let mut world = World::new()
        .nodes(3, &Node::of(gb(4)))
        .set("policy", "srpt")
        .job(Job::new("big").tasks(200, secs(600)))
        .job(Job::new("small").at(secs(60)).tasks(3, secs(300)).blacklisting([0, 2]));
    world.run_until(secs(80));
    assert_eq!(world.nodes_of("small").len(), 2, "its master is anywhere");
    assert_eq!(
        (world.count.suspended, world.held("small")),
        (3, 3),
        "no more may be suspended on the one that is left"
    );
}

#[test]
fn an_ask_of_more_than_may_be_suspended_is_told_so_and_gets_its_node_as_tasks_end() {
    for policy in ["srpt", "hfsp"] {
        let world = |each| {
            World::new()
                .nodes(3, &Node::of(mb(4_608)))
                .set("policy", policy)
                .job(Job::new("big").tasks(200, each))
                .job(Job { master: mb(256), ..Job::new("small") }.at(secs(60)).sized_tasks(1, secs(20), gb(4)))
        };
        let mut waits = world(secs(6_000));
        waits.run_until(secs(90));
        let jobs = explain(waits.core()).jobs;
        let why = jobs.iter().find(|job| job.application == "small").map(|job| job.blocked_by.to_string());
        assert!(why.as_ref().is_some_and(|why| why.contains("max-suspended-memory")), "{policy}: {why:?}");
        assert_eq!(
            (waits.count.suspended, waits.held("small")),
            (0, 1),
            "{policy}: its master found what was left over"
        );
        let mut served = world(secs(45));
        served.run_until(secs(160));
        assert!(served.app("small").is_done(), "{policy}: room is collected as tasks end, and the rest suspended");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is suspended for the small job serves it: never more room than it holds then, or will at the next heartbeat.
    #[test]
    fn law_22_no_more_is_suspended_than_is_used(
        policy in prop::sample::select(vec!["srpt", "hfsp", "fair", "las"]),
        nodes in 1_usize..7, node_mb in 4_096_i64..12_000,
        kinds in prop::collection::vec((1_usize..4, prop::sample::select(vec![512_i64, 1_024, 1_536, 2_048, 4_096])), 1..4),
        most in prop::sample::select(vec!["0.25", "0.5", "1"]),
        shunned in prop::collection::btree_set(0_u32..7, 0..4),
    ) {
        let kinds: Vec<_> = kinds.into_iter().map(|(count, size)| (count, mb(size))).collect();
        let mut world = beside_a_big_one(nodes, mb(node_mb), &kinds).set("policy", policy).set("max-suspended-memory", most);
        let small = Job::new("choosy").at(secs(90)).tasks(3, secs(20)).blacklisting(shunned);
        world = world.job(small);
        world.run_until(secs(400));
    }
}
