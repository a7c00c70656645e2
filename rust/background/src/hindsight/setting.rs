//! Settings, and simulated clusters under them.

use crate::hindsight::Past;
use hiatus_core::settings::{CLUSTER_PREFIX, QUEUE_INFIX};
use hiatus_core::units::Millis;
use hiatus_world::{Preemption, World};
use std::collections::BTreeMap;

/// Properties as a world takes them.
pub type Properties = BTreeMap<String, String>;

/// Another setting: what it changes of the recorded one.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Policy of every queue.
    pub policy: Option<String>,
    /// How resources are taken back in every queue.
    pub preemption: Option<Preemption>,
    /// Properties by their whole names.
    pub properties: Vec<(String, String)>,
}

impl Change {
    /// FIFO without preemption, which stands for stock CapacityScheduler.
    pub fn to_stock() -> Change {
        let knobs = [("batchmr-placer", "off"), ("max-am-share", "0")];
        let properties = knobs.map(|(knob, value)| (format!("{CLUSTER_PREFIX}{knob}"), value.to_owned())).into();
        Change { policy: Some("fifo".to_owned()), preemption: Some(Preemption::Wait), properties }
    }

    /// The settings that it makes of those.
    pub fn of(&self, settings: &Properties) -> Properties {
        let mut changed = settings.clone();
        if let Some(policy) = &self.policy {
            everywhere(&mut changed, "policy", policy);
        }
        if let Some(preemption) = self.preemption {
            everywhere(&mut changed, "preemption", preemption.name());
            changed.insert(format!("{CLUSTER_PREFIX}mode"), preemption.mode().to_owned());
        }
        changed.extend(self.properties.iter().cloned());
        changed
    }
}

/// Sets a knob for all queues, whatever was set for some.
fn everywhere(properties: &mut Properties, knob: &str, value: &str) {
    let of_queue = format!("{QUEUE_INFIX}{knob}");
    properties.retain(|key, _| key.starts_with(CLUSTER_PREFIX) || !key.ends_with(&of_queue));
    properties.insert(format!("{CLUSTER_PREFIX}{knob}"), value.to_owned());
}

/// The settings under which what happened was decided: where the core only looked on, stock CapacityScheduler decided.
pub fn placing(settings: &Properties) -> Properties {
    match settings.get(&format!("{CLUSTER_PREFIX}mode")) {
        Some(mode) if mode.trim() == "observe" => Change::to_stock().of(settings),
        _ => settings.clone(),
    }
}

/// The cluster of `past` without its jobs, under those settings. ApplicationMasters may hold `master_share` of each queue,
/// what they were seen to hold, and one at least.
pub fn world(past: &Past, settings: &Properties, master_share: f64, seed: u64) -> World {
    let mut world = World::seeded(seed)
        .unobserved()
        .telling_progress()
        .heartbeat(past.heartbeat.max(Millis(1)))
        // What a task's start takes is in its time.
        .start_times(past.master_start, Millis(0));
    for (key, value) in settings {
        world = world.property(key, value);
    }
    for queue in &past.queues {
        let share = queue.master_share.max(master_share * queue.guaranteed);
        world = world.queue(queue.clone().master_share(share));
    }
    past.nodes.iter().fold(world, |world, node| world.node(node.clone()))
}
