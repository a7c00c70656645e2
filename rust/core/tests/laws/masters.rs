//! Law 25: an ApplicationMaster takes room where what is suspended can go on beside it.

use crate::world::{gb, secs, Job, Node, World};

/// Four like jobs of a wave each, on four nodes of four containers: those that come later need room for their ApplicationMasters.
fn like_jobs(preemption: &str) -> World {
    let mut world = World::new().nodes(4, &Node::of(gb(4))).set("policy", "hfsp").set("preemption", preemption);
    for number in 0..4 {
        world = world.job(Job::new(&format!("like {number}")).tasks(13, secs(143)).at(secs(37 * number)));
    }
    world.run();
    world
}

#[test]
fn law_25_masters_leave_suspended_tasks_room_to_go_on() {
    let (suspend, wait) = (like_jobs("suspend"), like_jobs("wait"));
    for number in 0..4 {
        let name = format!("like {number}");
        let [end_s, without_s] = [&suspend, &wait].map(|world| world.app(&name).finished.unwrap().seconds());
        assert!(end_s <= without_s + 143.0 / 4.0, "{name}: {end_s} s, {without_s} s where nothing is taken");
    }
}
