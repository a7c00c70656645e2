//! Settings: the knobs an administrator can turn ([`knobs`]), how properties become values ([`Settings::parse`]), and the
//! values as the core uses them.

mod knobs;
mod reading;
mod suspend_types;
mod words;

pub use knobs::{knobs, tables, Knob, Range, CLUSTER_PREFIX, OF_RESOURCE_MANAGER, QUEUE_INFIX, QUEUE_PREFIX};
pub use reading::SettingsError;
pub use suspend_types::SuspendTypes;
pub use words::Word;

use crate::flex::{Metric, Seconds, Step};
use crate::units::Millis;
use std::collections::BTreeMap;

/// How far the product may go; each rung includes those below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Decide the order only: resources are handed over as containers end.
    Order,
    /// Take resources back by suspending, where the node can.
    #[default]
    Suspend,
    /// Kill, too.
    Kill,
}

/// How many of a phase's first tasks are remembered: as many as training may ever use.
pub const FIRST_TASKS: usize = 32;

/// The policies by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyKind {
    /// First come, first served.
    Fifo,
    /// Equal shares (processor sharing).
    Fair,
    /// Least attained service.
    Las,
    /// Shortest remaining processing time, by estimated sizes.
    Srpt,
    /// Hadoop Fair Sojourn Protocol: least left under virtual fair sharing, by sizes learnt from first tasks.
    #[default]
    Hfsp,
    /// What is best for a metric, decided anew in every epoch.
    Flex,
}

impl PolicyKind {
    /// Whether jobs are served one after the other, and who comes later has what is left over; else all have shares at the same time.
    pub fn serves_in_turn(self) -> bool {
        !matches!(self, PolicyKind::Fair | PolicyKind::Flex)
    }
}

/// What a queue's containers may suffer for a job with a higher claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Primitive {
    /// Nothing: their ends are waited for.
    Wait,
    /// They are suspended where the node can.
    #[default]
    Suspend,
    /// They are suspended where the node can, killed elsewhere.
    SuspendOrKill,
    /// They are killed, wherever they are.
    Kill,
    /// What costs least: killed while little is lost, waited for when they are almost done, suspended in between.
    Adaptive,
}

/// Which of the containers that may be taken go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Victims {
    /// Of the lowest-ranked job, the youngest.
    #[default]
    Youngest,
    /// Of the lowest-ranked job, the smallest: least is written to disk.
    SmallestMemory,
    /// Of the lowest-ranked job, those with least left to do.
    NearestToCompletion,
    /// Of the job with most left to do, whatever its rank, the youngest.
    LargestJob,
    /// Of all jobs, those that began last (GP, Algorithm 1).
    Gp,
    /// Of all jobs an equal part, rounded down, youngest first (what GP is compared with).
    Evenly,
    /// The same, rounded up.
    FromEach,
}

/// What a job is to orders of victims over all jobs (GP, section IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpClass {
    /// Nothing is taken of it.
    Production,
    /// It gives when production work needs room.
    NonProduction,
}

/// Of whom orders over all jobs take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Candidates {
    /// Of all non-production jobs, as long as their queue holds more than it is entitled to.
    #[default]
    NonProduction,
    /// Of those of them that hold more than their targets.
    OverShare,
}

/// Settings of one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSettings {
    /// Order of its jobs.
    pub policy: PolicyKind,
    /// What may be done to its containers, before `mode` caps it.
    pub preemption: Primitive,
    /// Whose containers may be suspended for others.
    pub suspend_types: SuspendTypes,
    /// Whether its jobs may take from each other; `None`: as CapacityScheduler's properties say.
    pub preemption_within: Option<bool>,
    /// Which of them go first.
    pub victims: Victims,
    /// Run time below which [`Primitive::Adaptive`] kills.
    pub kill_before: Millis,
    /// Run time left below which [`Primitive::Adaptive`] waits.
    pub wait_before_end: Millis,
    /// Minimum run time before the first suspension or a kill.
    pub min_run: Millis,
    /// For how much longer than it has run a container may have been suspended, in all, for jobs of its own queue.
    pub suspension_budget: Millis,
    /// A job of the queue loses containers to others of it that have no more left to do than this part of what it has; 1: to all that
    /// come before it. A suspension holds memory for as long as it lasts and pins its task to a node, and like jobs would take it from each
    /// other for next to no gain: a preemption threshold (Wang and Saksena, 1999; under SRPT Goerg, 1986).
    pub preemption_threshold: f64,
    /// What ApplicationMasters may hold of the queue's guarantee where those of jobs that give way do not count, 0…1.
    pub max_am_share: f64,
    /// Minimum run time between two suspensions.
    pub min_resumed: Millis,
    /// Suspension after which a container gets the next room at home; where it may be killed it is at twice this.
    pub max_suspension: Millis,
    /// For how long a suspended container waits for room at home that its job may use before it is killed, where it may be.
    pub resume_locality: Millis,
    /// Expected task time without any evidence.
    pub default_task: Millis,
    /// Rules of lending.
    pub lend: LendSettings,
    /// Rules of the orders of victims over all jobs.
    pub gp: GpSettings,
    /// What users' hints may do.
    pub hints: HintRules,
    /// Rules of the policy `hfsp`.
    pub hfsp: HfspSettings,
    /// Rules of the policy `flex`.
    pub flex: FlexSettings,
    /// On which side of a mixed cluster its jobs run.
    pub placer: PlacerSettings,
}

/// Rules of one queue for BatchMR's placer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacerSettings {
    /// Whether it places anybody.
    pub on: bool,
    /// Whether runs of any class count, as printed.
    pub literal: bool,
    /// θ_c: by which part of it a run's cluster may be larger or smaller.
    pub cluster_size: f64,
    /// θ_d: the same of its input.
    pub data_size: f64,
    /// θ_r: a job that loses more than this part of its time on the virtual side runs on the physical one.
    pub difference: f64,
    /// α: weight of the newest run.
    pub alpha: f64,
    /// Tasks that a job of which too little is known tries on each side.
    pub samples: u32,
    /// After which it is decided by what those have told.
    pub sampling_timeout: Millis,
    /// Whether idle room of the other side may be used.
    pub spill: bool,
    /// What a task reads, where nobody says how large the input is, in bytes.
    pub task_input: u64,
}

/// When idle reduces lend their room to maps (Predoop, section 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LendSettings {
    /// Whether they do, and maps borrow.
    pub on: bool,
    /// D_p: the least idle time, as a fraction of what a map takes.
    pub threshold: f64,
    /// D_r: the part of the missing maps after which a lender goes on.
    pub resume_part: f64,
    /// Whether a lender waits for borrowers that are almost done.
    pub wait: bool,
}

/// Which hints of users count, and how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HintRules {
    /// Whether they count at all.
    pub honour: bool,
    /// Largest weight.
    pub max_weight: f64,
    /// Largest penalty of an agreement's step.
    pub max_penalty: f64,
    /// Whether a job may have a metric of its own.
    pub metric: bool,
    /// Whether a job may say whether it is production work.
    pub gp_class: bool,
    /// Whether a job may say that it must not be suspended.
    pub spared: bool,
}

/// Rules of one queue for the orders of victims over all jobs (GP).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpSettings {
    /// What its jobs are; `None`: as its guarantee says.
    pub class: Option<GpClass>,
    /// Of which of its jobs containers may go.
    pub candidates: Candidates,
    /// Kills in a row after which a phase is left alone.
    pub max_kills: Option<u32>,
    /// Whether long jobs give way to those that they starve.
    pub starvation: bool,
}

/// When a long job starves others, and how much it gives then (GP, sections IV and VI).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StarvationSettings {
    /// How often that is asked.
    pub interval: Millis,
    /// P: the time looked back on.
    pub period: Millis,
    /// p: the part of the partition that must have been occupied, 0…1.
    pub busy_share: f64,
    /// t: for which part of the period, 0…1.
    pub busy_time: f64,
    /// π: the least mean of a job's time alone over its real time, 0…1.
    pub quality: f64,
    /// The part of what waits that no single job may be, 0…1.
    pub single_job: f64,
    /// Mean run time of a long job's tasks.
    pub long_task: Millis,
    /// The part of its overflow that a long job gives at first, 0…1.
    pub first_part: f64,
    /// T_timeout: after which it gives all.
    pub timeout: Millis,
}

/// Parameters of HFSP (thesis, sections 4.2 to 4.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HfspSettings {
    /// t: first tasks from which a phase's size is learnt.
    pub training_tasks: u32,
    /// Δ: run time after which a first task is judged by its progress.
    pub training_timeout: Millis,
    /// T, as a fraction of what the queue may hold.
    pub training_share: f64,
    /// T in containers, which then counts instead.
    pub training_slots: Option<u32>,
    /// Whether room is taken from others for first tasks ahead of their turn.
    pub training_preempts: bool,
    /// ξ: factor on the size of phases that are not trained yet.
    pub untrained_factor: f64,
    /// Whether ageing counts on when a size is learnt.
    pub retain_ageing: bool,
    /// Whether late jobs are served side by side.
    pub late_shared: bool,
    /// Speed of virtual time.
    pub ageing_speed: f64,
}

/// What FLEX aims at, and how freely (Wolf et al. 2010, §2 and §4).
#[derive(Clone, Debug, PartialEq)]
pub struct FlexSettings {
    /// The objective.
    pub metric: Metric,
    /// Shortest time between two decisions.
    pub epoch: Millis,
    /// Fraction of the queue that no minimum claims.
    pub slack: f64,
    /// Fraction of the queue that a container for each job may bind, whatever the slack.
    pub sure_share: f64,
    /// Most of the queue for one job.
    pub max_share: f64,
    /// Deadline of jobs that bring none, in seconds after submission.
    pub deadline: Option<Seconds>,
    /// Weight of jobs that bring none.
    pub weight: f64,
    /// Service level agreement of jobs that bring none; empty for none.
    pub steps: Vec<Step>,
}

/// Settings of the whole cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSettings {
    /// How far decisions may go.
    pub mode: Mode,
    /// Suspended memory per node as a fraction of the node's memory.
    pub max_suspended_memory: f64,
    /// Shortest time between two plans.
    pub plan_interval: Millis,
    /// After which unused room is given back.
    pub claim_timeout: Millis,
    /// After which room is collected for an ask that fits nowhere.
    pub large_ask_delay: Millis,
    /// After which room that was collected and is not enough is given back.
    pub large_ask_timeout: Millis,
    /// After which a container that does not start is helped.
    pub stall_timeout: Millis,
    /// After which a node that does not report gets nothing.
    pub silent_node: Millis,
    /// For how long what the ResourceManager refused is not proposed again.
    pub refused_rest: Millis,
    /// When long jobs give way.
    pub starvation: StarvationSettings,
    /// For whoever runs a copy of the core ahead.
    pub forecast: ForecastSettings,
    /// For whoever asks what the settings would have done while the core only looked on.
    pub hindsight: HindsightSettings,
}

/// How often the ends of jobs are forecast, and of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForecastSettings {
    /// Time between two forecasts; none is made if it is zero.
    pub interval: Millis,
    /// Nodes, jobs and containers of the largest cluster for which one is made.
    pub max_size: usize,
    /// Whether the core only looks on, so that what it would do tells nothing.
    pub observes: bool,
}

/// How often it is simulated what the settings would have done to the jobs that ended, and to how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HindsightSettings {
    /// Time between two answers; there is none if it is zero.
    pub interval: Millis,
    /// For how long a job that ended is remembered.
    pub window: Millis,
    /// The most jobs and containers that are remembered.
    pub max_size: usize,
    /// Whether the core only looks on. Otherwise what it does is seen on the cluster.
    pub observes: bool,
}

/// All settings, parsed and valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Of the cluster.
    pub cluster: ClusterSettings,
    defaults: QueueSettings,
    queues: BTreeMap<String, QueueSettings>,
}

impl Settings {
    /// The shortest [`QueueSettings::max_suspension`] of any queue.
    pub fn shortest_max_suspension(&self) -> Millis {
        self.queues.values().map(|queue| queue.max_suspension).fold(self.defaults.max_suspension, Millis::min)
    }

    /// Whether long jobs give way in any queue.
    pub fn any_starvation_rule(&self) -> bool {
        self.defaults.gp.starvation || self.queues.values().any(|queue| queue.gp.starvation)
    }

    /// Whether any queue's jobs are placed on sides.
    pub fn any_placer(&self) -> bool {
        self.defaults.placer.on || self.queues.values().any(|queue| queue.placer.on)
    }

    /// Whether any queue's jobs may use the other side while it idles.
    pub fn any_spill(&self) -> bool {
        self.defaults.placer.spill || self.queues.values().any(|queue| queue.placer.spill)
    }

    /// Whether reduces lend their room in any queue.
    pub fn any_lending(&self) -> bool {
        self.defaults.lend.on || self.queues.values().any(|queue| queue.lend.on)
    }

    /// Paths of the queues that have settings of their own.
    pub fn queue_paths(&self) -> impl Iterator<Item = &str> {
        self.queues.keys().map(String::as_str)
    }

    /// Settings of the queue at this path: its own, or those of its nearest ancestor that has any.
    pub fn queue(&self, path: &str) -> &QueueSettings {
        let mut at = path;
        loop {
            if let Some(found) = self.queues.get(at) {
                return found;
            }
            match at.rsplit_once('.') {
                Some((parent, _)) => at = parent,
                None => return &self.defaults,
            }
        }
    }
}
