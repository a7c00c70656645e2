//! One step: facts in, proposals out.

use crate::decision::Decision;
use crate::fact::Fact;
use crate::park;
use crate::place;
use crate::plan::Planner;
use crate::preempt;
use crate::settings::Settings;
use crate::state::Cluster;
use crate::units::Millis;

/// The scheduler. The same facts at the same times give the same decisions (law 9).
#[derive(Debug, Default)]
pub struct Scheduler {
    cluster: Cluster,
    planner: Planner,
    settings: Settings,
    planned: Option<Millis>,
}

impl Scheduler {
    /// A scheduler that knows of nothing yet.
    pub fn new(settings: Settings) -> Scheduler {
        Scheduler { settings, ..Scheduler::default() }
    }

    /// Puts other settings in force, from the next step on.
    pub fn configure(&mut self, settings: Settings) {
        self.settings = settings;
        self.cluster.replan = true;
    }

    /// Settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is known of the cluster.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Order and targets as last computed.
    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    /// When order and targets were last computed.
    pub fn planned(&self) -> Option<Millis> {
        self.planned
    }

    /// Takes the facts into account and appends to `out` what should be done now. Before the next step the caller must
    /// have reported what became of every decision: a silent one counts as not carried out.
    pub fn step(&mut self, now: Millis, facts: &[Fact], out: &mut Vec<Decision>) {
        let cluster = &mut self.cluster;
        cluster.now = now.max(cluster.now);
        cluster.clear_proposals();
        for fact in facts {
            cluster.apply(fact);
        }
        let interval = self.settings.cluster.plan_interval;
        let age = self.planned.map(|planned| cluster.now.since(planned));
        let due = match age {
            None => true,
            Some(age) if cluster.replan => age >= interval,
            // Sizes and shares change with time alone, though more slowly.
            Some(age) => age.0 >= interval.0.saturating_mul(10).max(1),
        };
        if due {
            self.planner.plan(cluster, &self.settings);
            self.planned = Some(cluster.now);
            cluster.replan = false;
            cluster.departed.clear();
            preempt::review_claims(cluster, &self.settings);
            preempt::end_suspensions(cluster, &self.settings);
            park::park(cluster, &self.settings.cluster);
        }
        place::place(cluster, &self.planner, due);
        if due {
            for (partition, plan) in self.planner.all() {
                preempt::preempt(cluster, plan, partition, &self.settings);
            }
        }
        out.extend_from_slice(&cluster.proposals);
    }
}
