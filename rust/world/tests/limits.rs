//! Limits of queues and users: what they keep jobs from, and that they cost a placing the same however much runs.

use hiatus_world::job::{gb, secs, Job};
use hiatus_world::{Node, Queue, SimulationError, World};
use std::time::{Duration, Instant};

/// How long it takes to fill a cluster whose only queue is that, the shortest of three times.
fn fill(queue: &Queue) -> Duration {
    let filled = || {
        let cluster = World::new().unobserved().nodes(10, &Node::of(gb(801))).queue(queue.clone());
        let mut world = cluster.job(Job::new("job").tasks(8_000, secs(600)).queue("root.a"));
        let began = Instant::now();
        world.run_until(secs(5));
        assert_eq!(world.held("job"), 8_001);
        began.elapsed()
    };
    (0..3).map(|_| filled()).min().unwrap_or_default()
}

/// Each placing once walked all containers for its queue's maximum, and once more for its user's limit.
#[test]
fn a_limit_costs_a_placing_nothing_that_grows_with_what_runs() {
    let queue = Queue::new("root.a", 1.0);
    let free = fill(&queue);
    for limited in [queue.clone().maximum(0.9999), queue.users(1.0, 1.0)] {
        let spent = fill(&limited);
        assert!(spent < 3 * free, "{spent:?} with {limited:?}, {free:?} without");
    }
}

#[test]
fn what_a_queue_may_grow_to_may_be_another_part_of_another_partition() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .node(Node::of(gb(8)).exclusive_partition(1))
        .queue(Queue::new("root.a", 1.0).maximum(0.5).of_partition(1, 0.25, 0.25))
        .job(Job::new("plain").tasks(20, secs(60)).queue("root.a"))
        .job(Job::new("labelled").tasks(20, secs(60)).queue("root.a").partition(1));
    world.run_until(secs(30));
    assert_eq!((world.held("plain"), world.held("labelled")), (4, 2));
}

#[test]
fn a_job_that_is_too_large_for_its_queue_is_refused_where_the_queue_is_limited() {
    let refused = |queue: Queue| {
        let job = Job::new("job").sized_tasks(1, secs(1), gb(3)).queue("root.a").partition(1);
        let node = Node::of(gb(8)).exclusive_partition(1);
        World::new().node(Node::of(gb(8))).node(node).queue(queue).job(job).check().err()
    };
    let queue = Queue::new("root.a", 1.0);
    assert!(refused(queue.clone()).is_none() && refused(queue.clone().maximum(0.5)).is_none());
    let too_small = refused(queue.clone().maximum(0.49)).map(|error| error.to_string()).unwrap_or_default();
    assert!(too_small.starts_with("job job: its task of stage 1 of 3072 MiB is more than queue root.a"), "{too_small}");
    let elsewhere = refused(queue.of_partition(1, 0.25, 0.25));
    assert!(matches!(elsewhere, Some(SimulationError::Maximum { .. })), "{elsewhere:?}");
}
