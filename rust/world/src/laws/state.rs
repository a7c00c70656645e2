//! The core's state after a step: proposals, counters, and its view against the ResourceManager's (laws 1, 3 and 7).

use crate::held::Held;
use crate::world::{Container, World};
use crate::Life;
use hiatus_core::decision::Decision;
use hiatus_core::fact::PhaseKey;
use hiatus_core::state::{self, Cluster};
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
            Decision::Lend { app, node, .. } => {
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

/// Law 6: what somebody put aside is neither resumed nor begun, nor killed for having waited.
pub(super) fn parked_ones_rest(cluster: &Cluster, decisions: &[Decision]) {
    for decision in decisions {
        let rests = match decision {
            Decision::Assign { app, .. } | Decision::Lend { app, .. } => cluster.jobs()[app].parked,
            Decision::Resume { container } => {
                let container = &cluster.containers()[container];
                cluster.jobs()[&container.app].has_parked(container)
            }
            Decision::Suspend { .. } | Decision::Kill { .. } => false,
        };
        assert!(!rests, "law 6: {decision:?} of what is parked");
    }
}

/// What the containers on a node add up to.
#[derive(Default)]
struct OnNode {
    used: Resource,
    settling: Resource,
    suspended: Resource,
    containers: Vec<ContainerId>,
    suspended_ones: Vec<ContainerId>,
    resuming: Vec<ContainerId>,
}

/// What the containers of a job add up to.
#[derive(Default)]
struct OfJob<'a> {
    holding: Resource,
    containers: Vec<ContainerId>,
    master: Option<ContainerId>,
    /// Held at home, borrowed, and suspended.
    phases: BTreeMap<&'a PhaseKey, (u32, u32, u32)>,
}

/// Law 7: every container is counted in exactly one place; all counters follow from the containers.
pub(super) fn counters_agree(cluster: &Cluster) {
    let containers: BTreeMap<_, _> = cluster.containers().iter().map(|(id, container)| (*id, container)).collect();
    let mut nodes: BTreeMap<NodeId, OnNode> = BTreeMap::new();
    let mut jobs: BTreeMap<AppId, OfJob> = BTreeMap::new();
    for (id, container) in &containers {
        let (node, job) = (cluster.nodes().get(&container.node), cluster.jobs().contains_key(&container.app));
        assert!(node.is_some() && job, "law 7: {id:?} is nowhere or nobody's");
        let at_home = node.is_some_and(|node| node.partition == container.phase.partition);
        let on_node = nodes.entry(container.node).or_default();
        let of_job = jobs.entry(container.app).or_default();
        let (held, borrowed, suspended) = of_job.phases.entry(&container.phase).or_default();
        on_node.containers.push(*id);
        of_job.containers.push(*id);
        if container.is_master {
            of_job.master = of_job.master.or(Some(*id));
        }
        if container.state.is_suspended() {
            on_node.suspended += container.resource();
            on_node.suspended_ones.push(*id);
            *suspended += 1;
        } else {
            on_node.used += container.resource();
            of_job.holding += container.resource();
            *if at_home { held } else { borrowed } += 1;
        }
        match container.state {
            state::State::MustSuspend { .. } => on_node.settling += container.resource(),
            state::State::MustResume => on_node.resuming.push(*id),
            _ => {}
        }
    }
    for (id, node) in cluster.nodes() {
        let here = nodes.remove(id).unwrap_or_default();
        assert_eq!(node.used, here.used, "law 7: used on {id:?}");
        assert_eq!(node.settling, here.settling, "law 7: settling on {id:?}");
        assert_eq!(node.suspended_memory_mb, here.suspended.memory_mb, "law 7: suspended on {id:?}");
        assert!(node.containers.iter().eq(&here.containers), "law 7: containers of {id:?}");
        assert!(node.suspended.iter().eq(&here.suspended_ones), "law 7: suspended ones of {id:?}");
        assert!(node.resuming.iter().eq(&here.resuming), "law 7: resuming ones of {id:?}");
    }
    for (id, job) in cluster.jobs() {
        let own = jobs.remove(id).unwrap_or_default();
        assert!(job.containers.iter().eq(&own.containers), "law 7: containers of {id:?}");
        assert_eq!(job.holding(), own.holding, "law 7: holding of {id:?}");
        for (key, phase) in &job.phases {
            let counted = own.phases.get(key).copied().unwrap_or_default();
            assert_eq!((phase.held, phase.borrowed, phase.suspended), counted, "law 7: {key:?} of {id:?}");
        }
        assert_eq!(job.master.map(|(id, _)| id), own.master, "law 7: master of {id:?}");
    }
    let suspended = containers.iter().filter(|(_, c)| c.state.is_suspended()).map(|(id, _)| *id);
    let indexed: BTreeSet<_> = cluster.suspended().map(|(id, _)| id).collect();
    assert!(suspended.eq(indexed), "law 7: suspended containers");
}

/// Law 7: what queues and users hold, and partitions offer, follows from containers and nodes.
pub(super) fn sums_agree(world: &World) {
    let mut held = Held::new(&world.queues);
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
    let registered = |c: &&Container| world.machines[c.node.0 as usize].registered;
    let theirs = world.containers.iter().filter(|(_, c)| registered(c)).map(|(id, c)| (*id, c.node, c.counted));
    let ours = cluster.containers().iter().map(|(id, c)| (*id, c.node, !c.state.is_suspended()));
    let (theirs, ours): (BTreeSet<_>, BTreeSet<_>) = (theirs.collect(), ours.collect());
    assert_eq!(theirs, ours, "law 7: views apart at {:?}", world.now);
    for (id, app) in world.apps.iter().enumerate().filter(|(_, app)| app.is_live()) {
        let job = &cluster.jobs()[&AppId(id as u32)];
        assert_eq!(job.active, app.life == Life::Active, "law 7: {id} active");
        for (key, phase) in &job.phases {
            let asked = app.asks.get(key).copied().unwrap_or(0);
            assert_eq!(phase.pending, asked, "law 7: asks of {id} for {key:?} at {:?}", world.now);
        }
    }
}
