//! Every knob of the core: its name, unit, default, range and meaning stand once, in [`KNOBS`].
//!
//! A property `yarn.scheduler.hiatus.<knob>` sets a knob for the whole cluster, and
//! `yarn.scheduler.capacity.<queue-path>.hiatus.<knob>` for one queue and all below it. Settings are parsed as a whole:
//! one wrong value refuses them all, so that a bad refresh leaves the old ones in force.

use crate::flex::{read_steps, Metric, Seconds, Step};
use crate::policy::PolicyKind;
use crate::state::FIRST_TASKS;
use crate::units::Millis;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use thiserror::Error;

/// Prefix of cluster-wide properties.
pub const CLUSTER_PREFIX: &str = "yarn.scheduler.hiatus.";
/// Prefix of properties of one queue, before its path.
pub const QUEUE_PREFIX: &str = "yarn.scheduler.capacity.";
/// What separates a queue's path from the knob.
pub const QUEUE_INFIX: &str = ".hiatus.";

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
}

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// A whole number between two bounds, both included.
    Whole(u64, u64),
    /// A fraction between two bounds, both included.
    Fraction(f64, f64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The steps of a service level agreement, or `none`.
    Steps,
}

impl Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Range::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Range::Fraction(low, high) => write!(f, "a number from {low} to {high}"),
            Range::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Range::Steps => write!(f, "none, or SECONDS:PENALTY, rising, with / between them"),
        }
    }
}

/// One setting an administrator can turn.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Name after the prefix.
    pub name: &'static str,
    /// Unit of the value; empty for words.
    pub unit: &'static str,
    /// Value when nothing is set.
    pub default: &'static str,
    /// What is allowed.
    pub range: Range,
    /// Whether a queue can have its own value.
    pub per_queue: bool,
    /// What it does.
    pub meaning: &'static str,
}

const DAY_MS: u64 = 86_400_000;

/// All knobs of the core, in the order of the documentation.
pub const KNOBS: &[Knob] = &[
    Knob {
        name: "mode",
        unit: "",
        default: "suspend",
        range: Range::OneOf(&["off", "observe", "order", "suspend", "kill"]),
        per_queue: false,
        meaning: "How far Hiatus may go: `off` is stock CapacityScheduler; `observe` decides and reports, stock acts; \
                  `order` chooses who is served next; `suspend` also takes resources back by suspending containers; \
                  `kill` also kills, in queues whose `preemption` says so.",
    },
    Knob {
        name: "policy",
        unit: "",
        default: "hfsp",
        range: Range::OneOf(PolicyKind::NAMES),
        per_queue: true,
        meaning: "Order of the jobs of a queue: by arrival (`fifo`), equal shares (`fair`), least attained service \
                  (`las`), least estimated remaining work (`srpt`), least left under virtual fair sharing (`hfsp`), what \
                  is best for `flex-metric` (`flex`).",
    },
    Knob {
        name: "preemption",
        unit: "",
        default: "suspend",
        range: Range::OneOf(&["wait", "suspend", "suspend-or-kill", "kill", "adaptive"]),
        per_queue: true,
        meaning: "What containers of this queue may suffer for a job with a higher claim, as far as `mode` allows: \
                  nothing (`wait`); be suspended where the node can (`suspend`), and killed elsewhere \
                  (`suspend-or-kill`); be killed everywhere (`kill`); or what costs least (`adaptive`).",
    },
    Knob {
        name: "kill-before-ms",
        unit: "ms",
        default: "5000",
        range: Range::Whole(0, DAY_MS),
        per_queue: true,
        meaning: "`adaptive` kills a container that has run for less than this: little is lost.",
    },
    Knob {
        name: "wait-before-end-ms",
        unit: "ms",
        default: "10000",
        range: Range::Whole(0, DAY_MS),
        per_queue: true,
        meaning: "`adaptive` leaves a container alone that probably has less than this left to run.",
    },
    Knob {
        name: "victims",
        unit: "",
        default: "youngest",
        range: Range::OneOf(&["youngest", "smallest-memory", "nearest-to-completion", "largest-job"]),
        per_queue: true,
        meaning:
            "Which containers of this queue go first: of its last job in order the youngest, the smallest, or those \
                  with least left to run; or those of the job with most work left, youngest first. A phase's first \
                  tasks come last in any case.",
    },
    Knob {
        name: "min-run-ms",
        unit: "ms",
        default: "5000",
        range: Range::Whole(0, DAY_MS),
        per_queue: true,
        meaning: "A container runs at least this long before it is suspended or killed for another job; twice as long after \
                  each time that work of its phase was killed, until one of its tasks is done.",
    },
    Knob {
        name: "max-suspensions",
        unit: "times",
        default: "3",
        range: Range::Whole(0, 1_000),
        per_queue: true,
        meaning: "How often one container may be suspended in its life.",
    },
    Knob {
        name: "min-resumed-ms",
        unit: "ms",
        default: "30000",
        range: Range::Whole(0, DAY_MS),
        per_queue: true,
        meaning: "After a resume, a container runs at least this long before it is suspended again.",
    },
    Knob {
        name: "max-suspension-ms",
        unit: "ms",
        default: "600000",
        range: Range::Whole(1_000, 30 * DAY_MS),
        per_queue: true,
        meaning: "A container suspended for this long gets the next room on its node; after twice as long it is \
                  killed, so that its job can rerun it elsewhere.",
    },
    Knob {
        name: "resume-locality-ms",
        unit: "ms",
        default: "300000",
        range: Range::Whole(0, 30 * DAY_MS),
        per_queue: true,
        meaning:
            "A suspended container that its job may run, and whose node has no room for so long, is killed: it is \
                  run again elsewhere.",
    },
    Knob {
        name: "default-task-ms",
        unit: "ms",
        default: "60000",
        range: Range::Whole(1, 30 * DAY_MS),
        per_queue: true,
        meaning: "Expected run time of a task while no task of its phase has finished.",
    },
    Knob {
        name: "training-tasks",
        unit: "tasks",
        default: "5",
        range: Range::Whole(1, FIRST_TASKS as u64),
        per_queue: true,
        meaning: "`hfsp` learns the size of a phase from so many of its first tasks; a phase with fewer is tiny and \
                  comes first.",
    },
    Knob {
        name: "training-timeout-ms",
        unit: "ms",
        default: "60000",
        range: Range::Whole(1_000, DAY_MS),
        per_queue: true,
        meaning: "A first task that runs longer is judged by its progress, or by its run time if nobody tells.",
    },
    Knob {
        name: "training-share",
        unit: "fraction of what the queue may hold",
        default: "0.25",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "Phases whose size `hfsp` has not learnt yet may get so much for their first tasks ahead of all \
                  others, and one container at least; 0 for nothing at all.",
    },
    Knob {
        name: "untrained-factor",
        unit: "",
        default: "1",
        range: Range::Fraction(1.0, 1_000_000.0),
        per_queue: true,
        meaning: "How many times as large as earlier ones `hfsp` takes a phase to be before it has learnt its size.",
    },
    Knob {
        name: "after-training",
        unit: "",
        default: "replace",
        range: Range::OneOf(&["replace", "retain-ageing"]),
        per_queue: true,
        meaning:
            "When `hfsp` has learnt a size: whether it replaces what was left of the first one, or what the phase \
                  has aged so far still counts.",
    },
    Knob {
        name: "late-jobs",
        unit: "",
        default: "in-order",
        range: Range::OneOf(&["in-order", "shared"]),
        per_queue: true,
        meaning: "How `hfsp` serves jobs that should be done by their estimate: one after the other, or all alike.",
    },
    Knob {
        name: "ageing-speed",
        unit: "",
        default: "1",
        range: Range::Fraction(0.01, 100.0),
        per_queue: true,
        meaning: "How fast time passes in the virtual cluster of `hfsp`: larger is closer to first come, first served.",
    },
    Knob {
        name: "hints",
        unit: "",
        default: "honour",
        range: Range::OneOf(&["honour", "ignore"]),
        per_queue: true,
        meaning: "Whether application tags such as `hiatus.size=3600`, `hiatus.weight=2` and `hiatus.deadline=+600` count.",
    },
    Knob {
        name: "flex-metric",
        unit: "",
        default: Metric::AvgResponse.name(),
        range: Range::OneOf(&Metric::NAMES),
        per_queue: true,
        meaning: "What `flex` makes as small as it can.",
    },
    Knob {
        name: "flex-epoch-ms",
        unit: "ms",
        default: "500",
        range: Range::Whole(0, 60_000),
        per_queue: true,
        meaning: "`flex` decides anew at most this often.",
    },
    Knob {
        name: "flex-slack",
        unit: "fraction of the queue",
        default: "0.75",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "What `flex` may give to whom it likes. The rest is shared as under `fair`.",
    },
    Knob {
        name: "flex-sure-share",
        unit: "fraction of the queue",
        default: "0.5",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "Whatever the slack, `flex` makes every job sure of one container as long as all these take no more than \
                  this, and the earliest jobs where they would. With 0, and all slack, the metric alone counts: whom it puts \
                  last waits.",
    },
    Knob {
        name: "flex-max-share",
        unit: "fraction of what the queue may hold",
        default: "1",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "The most that `flex` means one job to hold, and one container at least; what nobody else wants it may \
                  have on top.",
    },
    Knob {
        name: "flex-deadline-s",
        unit: "s after submission",
        default: "0",
        range: Range::Whole(0, 10 * 365 * 86_400),
        per_queue: true,
        meaning: "Deadline of a job without a tag `hiatus.deadline`; 0 for none, which is one that is never missed.",
    },
    Knob {
        name: "flex-weight",
        unit: "",
        default: "1",
        range: Range::Fraction(0.01, 100.0),
        per_queue: true,
        meaning: "Weight of a job without a tag `hiatus.weight`, in the metrics that have weights.",
    },
    Knob {
        name: "flex-sla",
        unit: "s after submission:penalty",
        default: "none",
        range: Range::Steps,
        per_queue: true,
        meaning: "What a job without a tag `hiatus.sla` costs from when on, for the metric `sla`: `600:1/1200:5`.",
    },
    Knob {
        name: "max-suspended-memory",
        unit: "fraction of the node's memory",
        default: "0.5",
        range: Range::Fraction(0.0, 16.0),
        per_queue: false,
        meaning: "Memory that suspended containers of one node may keep, as containers' sizes; above it nothing more \
                  is suspended there. Give nodes swap of that size: where a node says how much RAM and swap it has, \
                  it keeps no more than those hold beside running containers that fill it.",
    },
    Knob {
        name: "plan-interval-ms",
        unit: "ms",
        default: "100",
        range: Range::Whole(0, 60_000),
        per_queue: false,
        meaning: "Order and targets are computed anew at most this often, and at least every ten times as long.",
    },
    Knob {
        name: "claim-timeout-ms",
        unit: "ms",
        default: "30000",
        range: Range::Whole(1_000, DAY_MS),
        per_queue: false,
        meaning: "Room kept on a node for the request it was freed for is given back when unused for this long.",
    },
    Knob {
        name: "large-ask-delay-ms",
        unit: "ms",
        default: "3000",
        range: Range::Whole(0, DAY_MS),
        per_queue: false,
        meaning: "When the first job in order finds no node with room for its next container for this long, room is \
                  collected for it on one node.",
    },
    Knob {
        name: "large-ask-timeout-ms",
        unit: "ms",
        default: "600000",
        range: Range::Whole(1_000, DAY_MS),
        per_queue: false,
        meaning: "Room that is collected as containers end and not enough after this long is given back.",
    },
    Knob {
        name: "stall-timeout-ms",
        unit: "ms",
        default: "60000",
        range: Range::Whole(1_000, DAY_MS),
        per_queue: false,
        meaning: "A container that is given out but not started for this long on a node with suspended ones gets \
                  one of those killed out of its way.",
    },
];

/// [`KNOBS`] as the rows of a Markdown table, for `docs/operations.md`.
pub fn table() -> String {
    let row = |knob: &Knob| {
        let scope = if knob.per_queue { "cluster, queue" } else { "cluster" };
        let Knob { name, unit, default, range, meaning, .. } = knob;
        format!("| `{name}` | {unit} | `{default}` | {range} | {scope} | {meaning} |\n")
    };
    let head = "| name | unit | default | allowed | scope | meaning |\n|---|---|---|---|---|---|\n";
    KNOBS.iter().map(row).fold(head.to_string(), |all, row| all + &row)
}

/// Settings of one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueSettings {
    /// Order of its jobs.
    pub policy: PolicyKind,
    /// What may be done to its containers, before `mode` caps it.
    pub preemption: Primitive,
    /// Which of them go first.
    pub victims: Victims,
    /// Run time below which [`Primitive::Adaptive`] kills.
    pub kill_before: Millis,
    /// Run time left below which [`Primitive::Adaptive`] waits.
    pub wait_before_end: Millis,
    /// Minimum run time before the first suspension or a kill.
    pub min_run: Millis,
    /// Suspensions per container.
    pub max_suspensions: u32,
    /// Minimum run time between two suspensions.
    pub min_resumed: Millis,
    /// Suspension after which a container must be resumed; at twice this it is killed.
    pub max_suspension: Millis,
    /// For how long a suspended container waits for room at home that its job may use.
    pub resume_locality: Millis,
    /// Expected task time without any evidence.
    pub default_task: Millis,
    /// Whether users' hints count.
    pub hints: bool,
    /// Rules of the policy `hfsp`.
    pub hfsp: HfspSettings,
    /// Rules of the policy `flex`.
    pub flex: FlexSettings,
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
}

/// All settings, parsed and valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Of the cluster.
    pub cluster: ClusterSettings,
    defaults: QueueSettings,
    queues: BTreeMap<String, QueueSettings>,
}

/// A property that cannot be used. None of its companions is used either.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The value is not of the knob's range.
    #[error("{key} = \"{value}\": must be {range}; the settings in force are kept")]
    BadValue {
        /// Whole property name.
        key: String,
        /// What was found.
        value: String,
        /// What is allowed.
        range: String,
    },
    /// There is no such knob.
    #[error("{key}: no such property; known ones end in: {known}")]
    UnknownKnob {
        /// Whole property name.
        key: String,
        /// Names of all knobs of that scope.
        known: String,
    },
    /// The knob is for the cluster only.
    #[error("{key}: {knob} is set for the whole cluster, as {CLUSTER_PREFIX}{knob}")]
    NotPerQueue {
        /// Whole property name.
        key: String,
        /// The knob.
        knob: String,
    },
}

impl Default for Settings {
    fn default() -> Self {
        match Settings::parse(&BTreeMap::new()) {
            Ok(settings) => settings,
            Err(error) => unreachable!("the defaults of KNOBS are within their ranges: {error}"),
        }
    }
}

impl Settings {
    /// Reads properties by their whole names; those with neither prefix are ignored.
    ///
    /// # Errors
    /// The first property that is wrong, with its range.
    pub fn parse(properties: &BTreeMap<String, String>) -> Result<Settings, SettingsError> {
        let mut cluster_values = BTreeMap::new();
        let mut queue_values: BTreeMap<String, BTreeMap<&'static str, String>> = BTreeMap::new();
        for (key, value) in properties {
            let value = value.trim().to_string();
            if let Some(name) = key.strip_prefix(CLUSTER_PREFIX) {
                // Names with a dot belong to other rooms of the product, such as the boundary's `native.path`.
                if name.contains('.') {
                    continue;
                }
                let knob = known(key, name, |_| true)?;
                checked(key, knob, &value)?;
                cluster_values.insert(knob.name, value);
            } else if let Some((path, name)) = key.strip_prefix(QUEUE_PREFIX).and_then(|k| k.split_once(QUEUE_INFIX)) {
                let knob = known(key, name, |knob| knob.per_queue)?;
                checked(key, knob, &value)?;
                queue_values.entry(path.to_string()).or_default().insert(knob.name, value);
            }
        }
        let cluster = Values { own: &cluster_values, inherited: None };
        let queues = queue_values.keys().map(|path| {
            // What a queue does not say itself its nearest ancestor says for it.
            let mut own = BTreeMap::new();
            for (ancestor, values) in &queue_values {
                if path == ancestor || path.starts_with(&format!("{ancestor}.")) {
                    own.extend(values.iter().map(|(k, v)| (*k, v.clone())));
                }
            }
            (path.clone(), QueueSettings::read(&Values { own: &own, inherited: Some(&cluster_values) }))
        });
        Ok(Settings {
            queues: queues.collect(),
            defaults: QueueSettings::read(&cluster),
            cluster: ClusterSettings {
                mode: match cluster.text("mode") {
                    "order" => Mode::Order,
                    "kill" => Mode::Kill,
                    // `off` and `observe` never reach the cluster: they compute what `suspend` would do.
                    _ => Mode::Suspend,
                },
                max_suspended_memory: cluster.number("max-suspended-memory"),
                plan_interval: Millis(cluster.number("plan-interval-ms")),
                claim_timeout: Millis(cluster.number("claim-timeout-ms")),
                large_ask_delay: Millis(cluster.number("large-ask-delay-ms")),
                large_ask_timeout: Millis(cluster.number("large-ask-timeout-ms")),
                stall_timeout: Millis(cluster.number("stall-timeout-ms")),
            },
        })
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

impl QueueSettings {
    fn read(values: &Values<'_>) -> QueueSettings {
        QueueSettings {
            policy: PolicyKind::named(values.text("policy")).unwrap_or_default(),
            preemption: match values.text("preemption") {
                "wait" => Primitive::Wait,
                "suspend-or-kill" => Primitive::SuspendOrKill,
                "kill" => Primitive::Kill,
                "adaptive" => Primitive::Adaptive,
                _ => Primitive::Suspend,
            },
            victims: match values.text("victims") {
                "smallest-memory" => Victims::SmallestMemory,
                "nearest-to-completion" => Victims::NearestToCompletion,
                "largest-job" => Victims::LargestJob,
                _ => Victims::Youngest,
            },
            kill_before: Millis(values.number("kill-before-ms")),
            wait_before_end: Millis(values.number("wait-before-end-ms")),
            min_run: Millis(values.number("min-run-ms")),
            max_suspensions: values.number("max-suspensions"),
            min_resumed: Millis(values.number("min-resumed-ms")),
            max_suspension: Millis(values.number("max-suspension-ms")),
            resume_locality: Millis(values.number("resume-locality-ms")),
            default_task: Millis(values.number("default-task-ms")),
            hints: values.text("hints") == "honour",
            hfsp: HfspSettings {
                training_tasks: values.number("training-tasks"),
                training_timeout: Millis(values.number("training-timeout-ms")),
                training_share: values.number("training-share"),
                untrained_factor: values.number("untrained-factor"),
                retain_ageing: values.text("after-training") == "retain-ageing",
                late_shared: values.text("late-jobs") == "shared",
                ageing_speed: values.number("ageing-speed"),
            },
            flex: FlexSettings {
                metric: values.text("flex-metric").parse().unwrap_or(Metric::AvgResponse),
                epoch: Millis(values.number("flex-epoch-ms")),
                slack: values.number("flex-slack"),
                sure_share: values.number("flex-sure-share"),
                max_share: values.number("flex-max-share"),
                deadline: Some(values.number("flex-deadline-s")).filter(|deadline| *deadline > 0.0),
                weight: values.number("flex-weight"),
                steps: read_steps(values.text("flex-sla")).unwrap_or_default(),
            },
        }
    }
}

/// Values already checked against their ranges, falling back to what is inherited and then to the defaults.
struct Values<'a> {
    own: &'a BTreeMap<&'static str, String>,
    inherited: Option<&'a BTreeMap<&'static str, String>>,
}

impl Values<'_> {
    fn text(&self, name: &'static str) -> &str {
        let set = self.own.get(name).or_else(|| self.inherited.and_then(|values| values.get(name)));
        set.map_or_else(|| KNOBS.iter().find(|knob| knob.name == name).map_or("", |knob| knob.default), String::as_str)
    }

    fn number<T: FromStr + Default>(&self, name: &'static str) -> T {
        self.text(name).parse().unwrap_or_default()
    }
}

fn known(key: &str, name: &str, scope: fn(&Knob) -> bool) -> Result<&'static Knob, SettingsError> {
    match KNOBS.iter().find(|knob| knob.name == name) {
        Some(knob) if scope(knob) => Ok(knob),
        Some(knob) => Err(SettingsError::NotPerQueue { key: key.into(), knob: knob.name.into() }),
        None => {
            let names: Vec<_> = KNOBS.iter().filter(|knob| scope(knob)).map(|knob| knob.name).collect();
            Err(SettingsError::UnknownKnob { key: key.into(), known: names.join(", ") })
        }
    }
}

fn checked(key: &str, knob: &Knob, value: &str) -> Result<(), SettingsError> {
    let good = match knob.range {
        Range::Whole(low, high) => value.parse().is_ok_and(|n: u64| (low..=high).contains(&n)),
        Range::Fraction(low, high) => value.parse().is_ok_and(|x: f64| (low..=high).contains(&x)),
        Range::OneOf(words) => words.contains(&value),
        Range::Steps => value == "none" || read_steps(value).is_some(),
    };
    if good {
        return Ok(());
    }
    Err(SettingsError::BadValue { key: key.into(), value: value.into(), range: knob.range.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(properties: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::parse(&properties.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect())
    }

    #[test]
    fn every_default_is_within_its_own_range() {
        for knob in KNOBS {
            assert_eq!(checked(knob.name, knob, knob.default), Ok(()));
        }
    }

    #[test]
    fn a_queue_inherits_from_its_parent_and_the_parent_from_the_cluster() {
        let settings = parse(&[
            ("yarn.scheduler.hiatus.min-run-ms", "7"),
            ("yarn.scheduler.capacity.root.a.hiatus.policy", "fair"),
            ("yarn.scheduler.capacity.root.a.b.hiatus.min-run-ms", "9"),
            ("yarn.scheduler.capacity.root.a.capacity", "50"),
        ])
        .unwrap();
        assert_eq!(settings.queue("root.a.b.c").policy, PolicyKind::Fair);
        assert_eq!(settings.queue("root.a.b").min_run, Millis(9));
        assert_eq!(settings.queue("root.a").min_run, Millis(7));
        assert_eq!(settings.queue("root.other").policy, PolicyKind::Hfsp);
    }

    #[test]
    fn a_wrong_value_names_key_value_and_range() {
        let error = parse(&[("yarn.scheduler.capacity.root.a.hiatus.min-run-ms", "soon")]).unwrap_err();
        let text = error.to_string();
        for part in ["root.a.hiatus.min-run-ms", "soon", "from 0 to"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn unknown_and_misplaced_knobs_are_refused() {
        assert!(matches!(parse(&[("yarn.scheduler.hiatus.polcy", "fifo")]), Err(SettingsError::UnknownKnob { .. })));
        assert!(matches!(
            parse(&[("yarn.scheduler.capacity.root.a.hiatus.mode", "off")]),
            Err(SettingsError::NotPerQueue { .. })
        ));
    }

    #[test]
    fn properties_of_other_rooms_are_left_alone() {
        assert_eq!(parse(&[("yarn.scheduler.hiatus.native.path", "x")]), Ok(Settings::default()));
    }
}
