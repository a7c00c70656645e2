//! What the core wants remembered of jobs, and what it makes of that when they come again. Where it is kept is not its business.

use crate::world::{gb, secs, Job, Node, World};
use hiatus_core::batchmr::Reason;
use hiatus_core::explain::{explain, JobExplanation};
use hiatus_core::fact::Side;
use hiatus_core::recurring::Record;

fn cluster(policy: &str) -> World {
    World::new().nodes(2, &Node::of(gb(8))).set("policy", policy)
}

/// What is remembered after these jobs.
fn after(mut world: World, jobs: &[Job]) -> Vec<Record> {
    world = world.jobs(jobs);
    world.run();
    world.remembered().to_vec()
}

fn explained(world: &World, name: &str) -> JobExplanation {
    explain(world.core()).jobs.into_iter().find(|job| job.application == name).unwrap()
}

#[test]
fn a_job_that_is_killed_and_one_without_tasks_teach_nothing() {
    let mut world = cluster("srpt").job(Job::new("job").tasks(4, secs(100)));
    world.run_until(secs(50));
    let app = world.app_id("job");
    world.tell(hiatus_core::fact::Fact::AppRemoved { app, succeeded: false });
    assert_eq!(world.remembered(), []);
}

#[test]
fn a_tried_job_is_remembered_on_both_sides_and_placed_by_rule_when_it_comes_again() {
    let mixed = || {
        let virtual_ = Node::of(gb(8)).on(Side::Virtual).slower(1.0, 2.0);
        World::new().nodes(2, &Node::of(gb(8)).on(Side::Physical)).nodes(2, &virtual_).set("batchmr-placer", "on")
    };
    let sort = |name: &str| Job::new(name).io(1.0).tasks(60, secs(20));
    let remembered = after(mixed(), &[sort("sort 1")]);
    let [record] = &remembered[..] else { panic!("{remembered:?}") };
    let took = |side| record.sides.iter().find(|on| on.side == side).unwrap().took.seconds();
    let ratio = took(Side::Virtual) / took(Side::Physical);
    // Twice as long, less the second until a task works, which is as long on both.
    assert!((1.7..=2.1).contains(&ratio), "{ratio}");
    let mut world = mixed().job(sort("sort 2").recalls(&remembered));
    world.run_until(secs(20));
    let site = &world.core().cluster().jobs()[&world.app_id("sort 2")].site;
    assert_eq!(site.verdict.map(|verdict| verdict.reason), Some(Reason::RuleP));
    world.run();
}

#[test]
fn policies_begin_with_what_the_class_took_and_not_with_the_mean_of_all() {
    let first =
        after(cluster("srpt"), &[Job::new("long 1").tasks(20, secs(200)), Job::new("quick 1").tasks(20, secs(10))]);
    for (policy, source) in [("hfsp", "initial"), ("flex", "earlier runs")] {
        // Whoever came before in this queue took 10 s a task.
        let long = |name: &str| Job::new(name).tasks(20, secs(200)).at(secs(200));
        let of = |job: Job| {
            // While another job has all containers none of its tasks has run. That it runs tells that tasks may be longer.
            let mut world = cluster(policy)
                .set("preemption", "wait")
                .job(Job::new("quick").tasks(20, secs(10)))
                .job(Job::new("full").tasks(14, secs(300)).at(secs(150)))
                .job(job);
            world.run_until(secs(230));
            let sizing = explained(&world, "long 2").sizing.unwrap();
            (sizing.source, sizing.estimate_s)
        };
        let ((source_without, without), (source_with, with)) = (of(long("long 2")), of(long("long 2").recalls(&first)));
        assert_eq!(source_with, source, "{policy}, without: {source_without}");
        assert!(with > 2.0 * without, "{policy}: {with} s with history, {without} s without");
    }
}

#[test]
fn hfsp_learns_nothing_ahead_of_its_turn_of_a_job_whose_class_it_knows() {
    let first = after(cluster("hfsp"), &[Job::new("long 1").tasks(60, secs(100))]);
    let held = |known: &[Record]| {
        let as_published = cluster("hfsp").set("training-preempts", "on").set("preemption-threshold", "1");
        let mut world = as_published.job(Job::new("short").tasks(100, secs(30)));
        world = world.job(Job::new("long 2").tasks(100, secs(100)).at(secs(60)).recalls(known));
        world.run_until(secs(100));
        let held = world.held("long 2");
        world.run();
        held
    };
    // Its master, and what trains.
    assert_eq!((held(&first), held(&[])), (1, 1 + 5));
}
