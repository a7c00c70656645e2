//! What suspending holds of memory, as it is told of an outcome.

use hiatus_world::job::{gb, secs, Job};
use hiatus_world::{Node, World};

#[test]
fn memory_counts_as_suspended_from_the_order_to_suspend_until_the_container_goes_on() {
    let big = Job::new("big").tasks(9, secs(500));
    let small = Job::new("small").tasks(2, secs(20)).at(secs(60));
    let cluster = World::new().node(Node::of(gb(5))).telling_progress().set("policy", "srpt");
    let cluster = cluster.set("mode", "suspend").set("preemption", "suspend");
    let outcome = cluster.job(big).job(small).run().outcome();
    let (count, of_each_mb_s) = (outcome.count, outcome.suspended_mb_s() / 2.0);
    assert_eq!((count.suspended, count.resumed), (2, 2));
    // At least while the small job's tasks ran, and not much longer than it was there.
    let longest_s = outcome.jobs[1].sojourn_s() + 2.0;
    assert!(of_each_mb_s > 20.0 * 1024.0 && of_each_mb_s < longest_s * 1024.0, "{of_each_mb_s} MiB s, {longest_s} s");
}
