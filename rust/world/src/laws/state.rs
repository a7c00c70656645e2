//! The core's state after a step: proposals, counters, and its view against the ResourceManager's (laws 1, 3, 7 and 27).

use crate::app::Life;
use crate::world::{Container, World};
use hiatus_core::decision::Decision;
use hiatus_core::fact::PhaseKey;
use hiatus_core::settings::Settings;
use hiatus_core::state::{self, Cluster, Job, Node, Reason};
use hiatus_core::units::{AppId, ContainerId, NodeId, Resource};
use std::collections::{BTreeMap, BTreeSet};

/// Law 1: what was proposed before and did not happen is forgotten; one decision per container.
pub(super) fn proposals_are_of_this_step(cluster: &Cluster, decisions: &[Decision]) {
    let mut assigned: BTreeMap<AppId, u32> = BTreeMap::new();
    let mut busy = BTreeSet::new();
    let mut touched = BTreeSet::new();
    for decision in decisions {
        match *decision {
            Decision::Assign { app, node, count, .. } => {
                assert!(count > 0, "law 1: {decision:?}");
                *assigned.entry(app).or_default() += count;
                touched.insert(node);
            }
            Decision::AssignLent { app, node, .. } => {
                *assigned.entry(app).or_default() += 1;
                touched.insert(node);
            }
            Decision::Suspend { container, .. } | Decision::Resume { container } | Decision::Kill { container, .. } => {
                assert!(busy.insert(container), "law 1: two decisions on {container:?}: {decisions:?}");
                touched.insert(cluster.containers()[&container].node);
            }
        }
    }
    for (app, job) in cluster.jobs() {
        let proposed: u32 = job.phases.values().map(|phase| phase.proposed).sum();
        assert_eq!(proposed, assigned.get(app).copied().unwrap_or(0), "law 1: proposals of {app:?}");
    }
    for (id, container) in cluster.containers() {
        assert_eq!(container.proposed, busy.contains(id), "law 1: proposal for {id:?}");
    }
    for (id, node) in cluster.nodes() {
        assert!(touched.contains(id) || node.proposed == Resource::ZERO, "law 1: proposals on {id:?}");
        let used = node.used + node.proposed + node.settling;
        assert!(node.proposed == Resource::ZERO || used.fits_in(node.total), "law 1: {id:?} overfilled");
    }
}

/// Law 3.
pub(super) fn masters_are_left_alone(cluster: &Cluster, decisions: &[Decision]) {
    for decision in decisions {
        if let Decision::Suspend { container, .. } | Decision::Kill { container, .. } = decision {
            assert!(!cluster.containers()[container].is_master, "law 3: {decision:?}");
        }
    }
}

/// Law 27: nothing is suspended, but by hand, of an application that neither its type nor its tag allows that.
pub(super) fn spared_ones_run_on(world: &World, settings: &Settings, decisions: &[Decision]) {
    let cluster = world.core.cluster();
    for decision in decisions {
        let Decision::Suspend { container: id, .. } = decision else { continue };
        let container = &cluster.containers()[id];
        let rules = settings.queue(cluster.queue_path(container.app));
        let job = &world.apps[container.app.0 as usize].job;
        let says =
            |word: &str| rules.hints.honour && job.tags.iter().any(|tag| *tag == format!("hiatus.suspend={word}"));
        let by_type = rules.suspend_types.allow(&job.application_type) && !(rules.hints.spared && says("no"));
        let by_hand = container.intended == Some(Reason::Parked);
        assert!(by_hand || says("yes") || by_type, "law 27: {decision:?} of {}, {}", job.name, job.application_type);
    }
}

/// Law 6: what somebody put aside is neither resumed nor begun, nor killed for having waited.
pub(super) fn parked_ones_rest(cluster: &Cluster, decisions: &[Decision]) {
    for decision in decisions {
        let rests = match decision {
            Decision::Assign { app, .. } | Decision::AssignLent { app, .. } => cluster.jobs()[app].parked,
            Decision::Resume { container } => {
                let container = &cluster.containers()[container];
                cluster.jobs()[&container.app].has_parked(container)
            }
            Decision::Suspend { .. } | Decision::Kill { .. } => false,
        };
        assert!(!rests, "law 6: {decision:?} of what is parked");
    }
}

/// Law 7: every container is counted in exactly one place; all counters follow from the containers.
pub(super) fn counters_agree(cluster: &Cluster) {
    let mut suspended = Vec::new();
    // Each is listed where it is and by whose it is; as many are listed there as there are: so each is listed once.
    let listed: usize = cluster.nodes().iter().map(|(id, node)| node_agrees(cluster, *id, node, &mut suspended)).sum();
    assert_eq!(listed, cluster.containers().len(), "law 7: containers that are nowhere");
    let listed: usize = cluster.jobs().iter().map(|(id, job)| job_agrees(cluster, *id, job)).sum();
    assert_eq!(listed, cluster.containers().len(), "law 7: containers that are nobody's");
    suspended.sort_unstable();
    let mut indexed: Vec<_> = cluster.suspended().map(|(id, _)| id).collect();
    indexed.sort_unstable();
    assert_eq!(suspended, indexed, "law 7: suspended containers");
}

/// Whether what the node lists, and what that adds up to, is what its containers say; those that are suspended are noted. How many
/// it lists.
fn node_agrees(cluster: &Cluster, id: NodeId, node: &Node, suspended: &mut Vec<ContainerId>) -> usize {
    let (mut used, mut settling, mut suspended_mb) = (Resource::ZERO, Resource::ZERO, 0);
    let (mut suspended_ones, mut resuming) = (node.suspended.iter(), node.resuming.iter());
    for one in &node.containers {
        let container = cluster.containers().get(one).filter(|container| container.node == id);
        let container = container.unwrap_or_else(|| panic!("law 7: {one:?} is not on {id:?}"));
        if container.state.is_suspended() {
            suspended_mb += container.resource().memory_mb;
            assert_eq!(suspended_ones.next(), Some(one), "law 7: suspended ones of {id:?}");
            suspended.push(*one);
        } else {
            used += container.resource();
        }
        match container.state {
            state::State::MustSuspend { .. } => settling += container.resource(),
            state::State::MustResume => assert_eq!(resuming.next(), Some(one), "law 7: resuming ones of {id:?}"),
            _ => {}
        }
    }
    assert_eq!(node.used, used, "law 7: used on {id:?}");
    assert_eq!(node.settling, settling, "law 7: settling on {id:?}");
    assert_eq!(node.suspended_memory_mb, suspended_mb, "law 7: suspended on {id:?}");
    assert_eq!(suspended_ones.next(), None, "law 7: suspended ones of {id:?}");
    assert_eq!(resuming.next(), None, "law 7: resuming ones of {id:?}");
    node.containers.len()
}

/// The same of a job.
fn job_agrees(cluster: &Cluster, id: AppId, job: &Job) -> usize {
    let (mut holding, mut master) = (Resource::ZERO, None);
    // Of each phase: held at home, borrowed, and suspended. A job has few of them.
    let mut phases: Vec<(&PhaseKey, (u32, u32, u32))> = job.phases.keys().map(|key| (key, (0, 0, 0))).collect();
    for one in &job.containers {
        let container = cluster.containers().get(one).filter(|container| container.app == id);
        let container = container.unwrap_or_else(|| panic!("law 7: {one:?} is not of {id:?}"));
        let partition = cluster.nodes().get(&container.node).map(|node| node.partition);
        if container.is_master {
            master = master.or(Some(*one));
        }
        if !container.state.is_suspended() {
            holding += container.resource();
        }
        let Some((_, counts)) = phases.iter_mut().find(|(key, _)| **key == container.phase) else { continue };
        let (held, borrowed, suspended) = counts;
        *match container.state.is_suspended() {
            true => suspended,
            false if partition == Some(container.phase.partition) => held,
            false => borrowed,
        } += 1;
    }
    assert_eq!(job.holding(), holding, "law 7: holding of {id:?}");
    for ((key, phase), (_, counted)) in job.phases.iter().zip(&phases) {
        assert_eq!((phase.held, phase.borrowed, phase.suspended), *counted, "law 7: {key:?} of {id:?}");
    }
    assert_eq!(job.master.map(|(id, _)| id), master, "law 7: master of {id:?}");
    job.containers.len()
}

/// Law 7: what queues and users hold, and partitions offer, follows from containers and nodes.
pub(super) fn sums_agree(world: &World) {
    let mut held = world.held.emptied();
    for container in world.containers.values().filter(|container| container.counted) {
        let whose = world.whose(container.app, container.node);
        held.hold(whose, container.is_master, container.phase.resource.memory_mb);
    }
    for machine in world.machines.iter().filter(|machine| machine.registered) {
        held.offer(machine.spec.partition, machine.spec.total);
    }
    assert_eq!(world.held, held, "law 7: the ResourceManager's sums at {:?}", world.now);
    let up = world.apps.iter().enumerate().filter(|(_, app)| app.registered).map(|(id, _)| AppId(id as u32));
    assert!(up.eq(world.registered.iter().copied()), "law 7: whose ApplicationMaster is up at {:?}", world.now);
}

/// Law 7: the core knows what the ResourceManager knows.
pub(super) fn views_agree(world: &World, cluster: &Cluster) {
    let registered = |c: &Container| world.machines[c.node.0 as usize].registered;
    let mut known = 0;
    for (id, theirs) in world.containers.iter().filter(|(_, theirs)| registered(theirs)) {
        let ours = cluster.containers().get(id).map(|ours| (ours.node, !ours.state.is_suspended()));
        assert_eq!(ours, Some((theirs.node, theirs.counted)), "law 7: views of {id:?} apart at {:?}", world.now);
        known += 1;
    }
    assert_eq!(known, cluster.containers().len(), "law 7: views apart at {:?}", world.now);
    for (id, app) in world.apps.iter().enumerate().filter(|(_, app)| app.is_live()) {
        let job = &cluster.jobs()[&AppId(id as u32)];
        assert_eq!(job.active, app.life == Life::Active, "law 7: {id} active");
        for (key, phase) in &job.phases {
            let asked = app.asks.get(key).copied().unwrap_or(0);
            assert_eq!(phase.pending, asked, "law 7: asks of {id} for {key:?} at {:?}", world.now);
        }
    }
}
