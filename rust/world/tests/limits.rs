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

/// Twelve big jobs and then a small one, of 9 s alone, where ApplicationMasters may hold that part of the queue, and `most` of it where those
/// of jobs that stand still do not count: how long it takes.
fn small_behind_twelve(policy: &str, master_share: f64, most: &str) -> u64 {
    let queue = Queue::new("root.default", 1.0).master_share(master_share);
    let world = World::new().nodes(8, &Node::of(gb(8))).start_times(secs(3), secs(1)).queue(queue);
    let world = world.set("policy", policy).set("max-am-share", most);
    let bigs = (0..12).map(|id| Job::new(&format!("big{id}")).tasks(60, secs(60)).at(secs(id)));
    let mut world = bigs.fold(world, World::job).job(Job::new("small").tasks(4, secs(5)).at(secs(60)));
    world.run();
    world.sojourn("small").0 / 1_000
}

/// What docs/operations.md says of the limit.
#[test]
fn a_small_job_waits_for_the_limit_of_application_masters_only_where_those_that_stand_still_count() {
    let with = |policy, most| [0.1, 0.2, 0.25].map(|share| small_behind_twelve(policy, share, most));
    assert_eq!(
        [with("hfsp", "0.5"), with("hfsp", "0"), with("fifo", "0")],
        [[11, 11, 11], [452, 78, 11], [633, 633, 633]]
    );
}

#[test]
fn of_those_that_wait_to_be_let_in_a_higher_priority_is_first() {
    let mut world = World::new()
        .node(Node::of(gb(8)))
        .queue(Queue::new("root.default", 1.0).master_share(0.125))
        .set("max-am-share", "0")
        .jobs(&["first", "second"].map(|name| Job::new(name).tasks(4, secs(10))))
        .job(Job::new("urgent").tasks(4, secs(10)).at(secs(5)).priority(5));
    world.run();
    let started = ["first", "urgent", "second"].map(|name| world.app(name).first_master);
    assert!(started.is_sorted(), "{started:?}");
}
