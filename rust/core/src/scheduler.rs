//! One step: facts in, proposals out.

use crate::admit::{self, Admission};
use crate::confine;
use crate::decision::Decision;
use crate::fact::Fact;
use crate::lend;
use crate::park;
use crate::place::Allocator;
use crate::plan::Planner;
use crate::preempt::{self, NoVictimReason, Preemptor, Watch};
use crate::recurring::Note;
use crate::remember;
use crate::settings::Settings;
use crate::stall;
use crate::state::Cluster;
use crate::units::{AppId, Millis, PartitionId};
use crate::visits::Visits;

/// The scheduler. The same facts at the same times give the same decisions (law 9), to a copy of it, too.
#[derive(Clone, Debug)]
pub struct Scheduler {
    cluster: Cluster,
    planner: Planner,
    allocator: Allocator,
    preemptor: Preemptor,
    settings: Settings,
    planned: Option<Millis>,
    visits: Visits,
    notes: Vec<Note>,
}

impl Default for Scheduler {
    fn default() -> Scheduler {
        Scheduler::new(Settings::default())
    }
}

impl Scheduler {
    /// A scheduler that knows of nothing yet.
    pub fn new(settings: Settings) -> Scheduler {
        let mut scheduler = Scheduler {
            cluster: Cluster::default(),
            planner: Planner::default(),
            allocator: Allocator::default(),
            preemptor: Preemptor::default(),
            settings: Settings::default(),
            planned: None,
            visits: Visits::default(),
            notes: Vec::new(),
        };
        scheduler.configure(settings);
        scheduler
    }

    /// Puts other settings in force, from the next step on.
    pub fn configure(&mut self, settings: Settings) {
        self.cluster.configure(&settings.cluster);
        self.planner.forget_views();
        self.settings = settings;
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

    /// What the last step looked at.
    pub fn visits(&self) -> Visits {
        self.visits
    }

    /// Why no room could be made for the job when that was last tried; `None` if there was some, or it needed none.
    pub fn no_victim_reason(&self, app: AppId, partition: PartitionId) -> Option<NoVictimReason> {
        self.preemptor.no_victim_reason(app, partition)
    }

    /// Who looks whether long jobs starve others, by partition; nobody where no queue wants it.
    pub fn watches(&self) -> impl Iterator<Item = (PartitionId, &Watch)> {
        self.preemptor.watches()
    }

    /// How often the starvation rule asked long jobs to give way (GP, section IV).
    pub fn starvation_firings(&self) -> u64 {
        self.watches().map(|(_, watch)| watch.firings()).sum()
    }

    /// Whether another step is worth while before there is any news: order and targets are to be computed anew as soon as
    /// they may be, or the last step proposed as much as a step may and left something for the next.
    pub fn has_more(&self) -> bool {
        self.cluster.needs_plan() || self.allocator.has_more(&self.cluster)
    }

    /// Whether the last step computed the order anew and applications wait to be let in: [`Scheduler::admissions`] has news then.
    pub fn reviews_admission(&self) -> bool {
        self.planned == Some(self.cluster.now()) && self.cluster.pending().next().is_some()
    }

    /// Who is let in next, and who need not count when CapacityScheduler asks how many are in; by queue.
    pub fn admissions(&self) -> Vec<Admission> {
        admit::admissions(&self.cluster, &self.planner, &self.settings)
    }

    /// What of the last step has to do with history: for whoever keeps one.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Takes the facts into account and appends to `out` what should be done now. Before the next step the caller must
    /// have reported what became of every decision: a silent one counts as not carried out.
    pub fn step(&mut self, now: Millis, facts: &[Fact], out: &mut Vec<Decision>) {
        self.visits = Visits::default();
        let cluster = &mut self.cluster;
        cluster.begin_step(now);
        for fact in facts {
            cluster.apply(fact);
        }
        cluster.heard_all();
        remember::notes(cluster, &mut self.notes);
        self.planner.hear(cluster);
        if cluster.other_queues() {
            self.planner.forget_views();
        }
        let due = self.planned.is_none_or(|planned| {
            let interval = self.settings.cluster.plan_interval;
            let age = cluster.now().since(planned);
            // Sizes and shares change with time alone, though more slowly.
            age.0 >= if cluster.needs_plan() { interval.0 } else { interval.0.saturating_mul(10).max(1) }
        });
        let mut new_demand = false;
        if due {
            confine::review(cluster, &self.settings);
            self.planner.hear(cluster);
            self.planner.plan(cluster, &self.settings);
            self.planned = Some(cluster.now());
            new_demand = cluster.planned();
            preempt::review_claims(cluster, &self.settings);
            lend::end_loans(cluster, &self.planner, &self.settings);
            preempt::end_suspensions(cluster, &self.settings);
            stall::end_stalls(cluster, &self.settings);
            park::park(cluster, &self.settings.cluster);
        }
        self.allocator.place(cluster, &mut self.planner, &self.settings, new_demand);
        if due && self.allocator.has_more(cluster) {
            // Who finds room without anybody's going is not known before all have been placed.
            cluster.request_plan();
        } else if due {
            for (_, plan) in self.planner.all() {
                self.visits += self.preemptor.preempt(cluster, &self.planner, plan, &self.settings);
            }
            self.visits += lend::lend(cluster, &self.planner, &self.settings);
        }
        self.visits += self.planner.visits();
        self.visits += self.allocator.visits();
        #[cfg(debug_assertions)]
        self.check();
        out.extend_from_slice(self.cluster.proposals());
    }

    /// Whether every index follows from what it is an index of.
    #[cfg(debug_assertions)]
    fn check(&mut self) {
        self.planner.hear(&mut self.cluster);
        self.cluster.check();
        self.planner.check(&self.cluster);
    }
}
