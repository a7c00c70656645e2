//! The simulated NodeManager behaves as the real one was seen to (docs/design/suspension-protocol.md): what the scenarios rest on.

use crate::world::{gb, secs, Activity, Message, NodeManager};
use hiatus_core::units::ContainerId;

const OLD: ContainerId = ContainerId(1);
const NEW: ContainerId = ContainerId(2);

fn full() -> NodeManager {
    let mut node = NodeManager::new(gb(1));
    assert!(node.start(secs(0), OLD, gb(1), secs(60)));
    node
}

#[test]
fn a_demoted_container_runs_until_somebody_needs_its_room_and_resumes_by_itself() {
    let mut node = full();
    node.obey(secs(1), Message::Demote(OLD));
    assert_eq!(node.paused(), 0);
    assert!(node.start(secs(10), NEW, gb(1), secs(5)));
    assert_eq!((node.paused(), node.processes[&OLD].left), (1, secs(50)));
    node.end(secs(15), NEW);
    assert_eq!(node.processes[&OLD].activity, Activity::Running { since: secs(15) });
}

#[test]
fn a_container_that_comes_before_the_demotion_waits_and_the_demotion_does_not_wake_it() {
    let mut node = full();
    assert!(!node.start(secs(1), NEW, gb(1), secs(5)));
    node.obey(secs(2), Message::Demote(OLD));
    assert_eq!((node.processes[&NEW].activity, node.waiting()), (Activity::Queued, 1));
    node.end(secs(60), OLD);
    assert_eq!(node.processes[&NEW].activity, Activity::Running { since: secs(60) });
}
