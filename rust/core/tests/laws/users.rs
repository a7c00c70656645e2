//! What CapacityScheduler lets one user hold of a queue: nothing is taken from others for who would be refused.

use crate::world::{gb, secs, Job, Node, Queue, World};

/// Sixteen containers in one queue: a long job of one user holds them all, and a short one of another comes.
fn two_users(sure: f64, most: f64) -> World {
    World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(Queue::new("root.a", 1.0).users(sure, most))
        .job(Job::new("long").tasks(100, secs(60)).queue("root.a"))
        .job(Job::new("short").tasks(20, secs(20)).queue("root.a").user(1).at(secs(30)))
}

#[test]
fn nothing_is_taken_for_a_user_beyond_what_it_may_hold() {
    let mut world = two_users(1.0, 0.25);
    world.run_until(secs(29));
    // CapacityScheduler refuses who is beyond its limit already; the master does not count.
    let limit = 4 + 1 + 1;
    assert_eq!(world.held("long"), limit);
    world.run_until(secs(40));
    assert_eq!((world.held("long"), world.held("short")), (limit, limit), "there is room for both");
    let mut world = two_users(1.0, 0.5).job(Job::new("third").tasks(20, secs(20)).queue("root.a").user(2).at(secs(60)));
    world.run_until(secs(59));
    assert_eq!((world.held("long"), world.held("short")), (8, 8));
    world.run_until(secs(75));
    assert!(world.held("third") >= 8 - 1, "the smallest comes first, up to its user's limit: {}", world.held("third"));
}

#[test]
fn what_a_user_may_not_hold_is_the_next_users_and_its_queue_does_not_want_it() {
    // The user of `first` may hold a quarter of `a`; what `a` could not use is not kept from `b`.
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(Queue::new("root.a", 0.5).users(1.0, 0.5))
        .queue(Queue::new("root.b", 0.5))
        .job(Job::new("b").tasks(100, secs(60)).queue("root.b"))
        .job(Job::new("first").tasks(100, secs(10)).queue("root.a").at(secs(20)))
        .job(Job::new("next").tasks(100, secs(60)).queue("root.a").user(1).at(secs(60)));
    world.run_until(secs(59));
    assert_eq!((world.held("first"), world.count.suspended), (4, 4), "no more is taken than its user may hold");
    world.run_until(secs(80));
    assert_eq!(world.held("first") + world.held("next"), 8, "two users together get what their queue is guaranteed");
}

#[test]
fn users_who_compete_are_sure_of_equal_parts() {
    let mut world = two_users(0.5, 1.0);
    world.run_until(secs(45));
    assert!(world.count.suspended <= 8, "{} taken for a user who may hold half", world.count.suspended);
    assert_eq!((world.held("long"), world.held("short")), (8, 8));
}

#[test]
fn what_a_user_borrows_in_another_partition_counts_against_its_limit_there() {
    // Half of the partition is what one user may hold. Two of its jobs do, with their masters; the third borrows the other half.
    let of_labelled = |name: &str| Job::new(name).queue("root.a").partition(1);
    let mut world = World::new()
        .node(Node::of(gb(4)))
        .node(Node::of(gb(12)).shared_partition(1))
        .queue(Queue::new("root.a", 1.0).users(1.0, 0.5))
        .job(of_labelled("long").tasks(3, secs(300)))
        .job(of_labelled("short").tasks(1, secs(60)).tasks(4, secs(10)))
        .job(Job::new("guest").tasks(8, secs(300)).queue("root.a").at(secs(10)));
    world.run_until(secs(55));
    let held = |world: &World| ["long", "short", "guest"].map(|name| world.held(name));
    assert_eq!(held(&world), [4, 2, 9], "two of the guest's tasks and its master are at home, six are not");
    world.run_until(secs(200));
    assert_eq!(world.count.suspended, 0, "nothing is taken for who would be refused");
}

#[test]
fn law_18_a_user_at_its_limit_keeps_nobody_else_from_what_may_be_taken() {
    let mut world = World::new()
        .nodes(2, &Node::of(gb(8)))
        .queue(Queue::new("root.default", 1.0).users(0.5, 1.0))
        .set("policy", "las")
        .job(Job::new("big").tasks(60, secs(300)))
        .job(Job::new("of the same user").tasks(2, secs(10)).at(secs(60)))
        .job(Job::new("another's").tasks(2, secs(10)).at(secs(61)).user(1));
    assert!(world.run().sojourn("another's") < secs(20), "{:?}", world.sojourn("another's"));
}
