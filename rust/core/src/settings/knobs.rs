//! Every knob of the core: its name, unit, default, range and meaning stand once, in [`KNOBS`].

use super::words::Word;
use super::{Candidates, Class, Mode, PolicyKind, Primitive, Victims, FIRST_TASKS};
use crate::flex::{read_steps, Metric, Step};
use std::fmt::Display;

/// Prefix of cluster-wide properties.
pub const CLUSTER_PREFIX: &str = "yarn.scheduler.hiatus.";
/// Prefix of properties of one queue, before its path.
pub const QUEUE_PREFIX: &str = "yarn.scheduler.capacity.";
/// What separates a queue's path from the knob.
pub const QUEUE_INFIX: &str = ".hiatus.";

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

impl Range {
    /// Whether the value is within it.
    pub fn allows(&self, value: &str) -> bool {
        match *self {
            Range::Whole(low, high) => value.parse().is_ok_and(|n: u64| (low..=high).contains(&n)),
            Range::Fraction(low, high) => value.parse().is_ok_and(|x: f64| (low..=high).contains(&x)),
            Range::OneOf(words) => words.contains(&value),
            Range::Steps => {
                let affordable = |steps: Vec<Step>| steps.iter().all(|step| step.penalty <= MOST_PENALTY);
                value == "none" || read_steps(value).is_some_and(affordable)
            }
        }
    }
}

impl Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Range::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Range::Fraction(low, high) => write!(f, "a number from {low} to {high}"),
            Range::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Range::Steps => {
                write!(f, "none, or SECONDS:PENALTY, rising, with / between them, penalties to {MOST_PENALTY}")
            }
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

/// Beside a larger penalty nobody else's would count: sums are rounded.
const MOST_PENALTY: f64 = 1_000_000.0;

/// All knobs of the core, in the order of the documentation.
pub const KNOBS: &[Knob] = &[
    Knob {
        name: "mode",
        unit: "",
        default: "suspend",
        range: Range::OneOf(Mode::NAMES),
        per_queue: false,
        meaning: "How far Hiatus may go: `off` is stock CapacityScheduler; `observe` decides and reports, stock acts; \
                  `order` chooses who is served next; `suspend` also takes resources back by suspending containers, \
                  and kills only what is suspended already, at the end of `resume-locality-ms`, twice \
                  `max-suspension-ms` or `stall-timeout-ms`; `kill` also kills what runs, in queues whose \
                  `preemption` says so.",
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
        range: Range::OneOf(Primitive::NAMES),
        per_queue: true,
        meaning: "What containers of this queue may suffer for a job with a higher claim, as far as `mode` allows: \
                  nothing (`wait`); be suspended where the node can (`suspend`), and killed elsewhere \
                  (`suspend-or-kill`); be killed everywhere (`kill`); or what costs least (`adaptive`).",
    },
    Knob {
        name: "preemption-within",
        unit: "",
        default: "inherit",
        range: Range::OneOf(<Option<bool>>::NAMES),
        per_queue: true,
        meaning: "Whether containers of this queue are taken for jobs of the same queue: as CapacityScheduler's `disable_preemption` and \
                  `intra-queue-preemption.disable_preemption` say (`inherit`), or whatever those say. Order and placing are the same \
                  either way.",
    },
    Knob {
        name: "kill-before-ms",
        unit: "ms",
        default: "5000",
        range: Range::Whole(0, DAY_MS),
        per_queue: true,
        meaning: "`adaptive` kills a container that has run for less than this, unless work of its phase was just killed: little \
                  is lost.",
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
        range: Range::OneOf(Victims::NAMES),
        per_queue: true,
        meaning:
            "Which containers of this queue go first: of its last job in order the youngest, the smallest, or those \
                  with least left to run; or those of the job with most work left, youngest first; a phase's first \
                  tasks come last. Or, over all jobs of all queues with that word, those that began last (`gp`, Global \
                  Preemption), or an equal part of each job, rounded down or up (`evenly`, `from-each`; what GP is compared \
                  with): they go to other queues \
                  only, within their own nothing is taken but by `gp-starvation`.",
    },
    Knob {
        name: "gp-class",
        unit: "",
        default: "guarantee",
        range: Range::OneOf(<Option<Class>>::NAMES),
        per_queue: true,
        meaning: "Whether this queue's jobs are production work, of which orders over all jobs take nothing. By default they are \
                  where the queue is guaranteed more than the leaf queues are on average.",
    },
    Knob {
        name: "gp-candidates",
        unit: "",
        default: "nonproduction",
        range: Range::OneOf(Candidates::NAMES),
        per_queue: true,
        meaning: "Of whom orders over all jobs take in this queue: of all its non-production jobs, as long as the queue holds more \
                  than it is entitled to, or only of those above their own targets.",
    },
    Knob {
        name: "gp-max-kills",
        unit: "times",
        default: "0",
        range: Range::Whole(0, 1_000),
        per_queue: true,
        meaning: "Orders over all jobs leave a phase alone whose work was killed so many times in a row without one of its tasks \
                  done in between; 0 for no such bound.",
    },
    Knob {
        name: "gp-starvation",
        unit: "",
        default: "off",
        range: Range::OneOf(&["off", "on"]),
        per_queue: true,
        meaning: "Under orders over all jobs: whether jobs of this queue with long tasks and more than their targets give way to \
                  those that wait, when the partition is busy and much waits: the rule that the knobs below make up.",
    },
    Knob {
        name: "min-run-ms",
        unit: "ms",
        default: "5000",
        range: Range::Whole(0, DAY_MS),
        per_queue: true,
        meaning: "A container runs at least this long before it is suspended or killed for another job; twice as long (from a \
                  second at least) after each time that work of its phase was killed, until one of its tasks is done.",
    },
    Knob {
        name: "suspension-budget-ms",
        unit: "ms",
        default: "1800000",
        range: Range::Whole(0, 30 * DAY_MS),
        per_queue: true,
        meaning: "A container that has been suspended for others for so long in all is suspended for jobs of its own queue no \
                  more. A queue that lacks what it is entitled to may take it all the same.",
    },
    Knob {
        name: "preemption-threshold",
        unit: "fraction",
        default: "0.7",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "A job of this queue loses containers only to jobs of it that have no more left to do than this part of what it has left; at \
                  1 to all that come before it. Priorities, other queues' guarantees and the starvation rule ask for no sizes.",
    },
    Knob {
        name: "min-resumed-ms",
        unit: "ms",
        default: "10000",
        range: Range::Whole(0, DAY_MS),
        per_queue: true,
        meaning: "After a resume, a container runs at least this long before it is suspended again. Where it was resumed in room \
                  that nobody else wanted, or another queue lacks what it is entitled to, `min-run-ms` is enough; not where it had been \
                  suspended for `max-suspension-ms`.",
    },
    Knob {
        name: "max-suspension-ms",
        unit: "ms",
        default: "600000",
        range: Range::Whole(1_000, 30 * DAY_MS),
        per_queue: true,
        meaning: "A container suspended for this long gets the next room on its node; in the mode `kill`, after twice as long, it is \
                  killed, so that its job can rerun it elsewhere.",
    },
    Knob {
        name: "resume-locality-ms",
        unit: "ms",
        default: "300000",
        range: Range::Whole(0, 30 * DAY_MS),
        per_queue: true,
        meaning:
            "A suspended container that its job may run, and whose node has no room for so long, is killed in the mode `kill`: it is \
                  run again elsewhere. In the mode `suspend` only a map whose room its own job's reduces hold, which wait for it.",
    },
    Knob {
        name: "lend",
        unit: "",
        default: "off",
        range: Range::OneOf(&["off", "maps"]),
        per_queue: true,
        meaning: "Whether a reduce of this queue that has fetched all that maps have made, and waits for more, is suspended and its room \
                  lent to maps of MapReduce jobs in queues with that word, and whether this queue's maps borrow (Predoop). What borrows is \
                  suspended when the lender goes on, whatever `preemption` says; nobody else takes it.",
    },
    Knob {
        name: "lend-threshold",
        unit: "fraction of a map's run time",
        default: "0.2",
        range: Range::Fraction(0.0, 100.0),
        per_queue: true,
        meaning: "A reduce lends only if the next map of its job will not be done for at least this long (D_p).",
    },
    Knob {
        name: "lend-resume-part",
        unit: "fraction of the missing maps",
        default: "0.4",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "A lender goes on when so much of the maps that it waited for is done (D_r), and no borrower is sorting and \
                  writing what it made; or when for 2 s nobody used or wanted its room, or at the end of `max-suspension-ms`.",
    },
    Knob {
        name: "lend-wait",
        unit: "",
        default: "off",
        range: Range::OneOf(&["off", "on"]),
        per_queue: true,
        meaning: "Whether a lender waits for the end of borrowers that are all done within `lend-threshold`, instead of having them \
                  suspended.",
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
        meaning: "A first task that works longer is judged by its progress, or by its run time if nobody tells. A reduce that \
                  waits for maps does not work.",
    },
    Knob {
        name: "training-share",
        unit: "fraction of what the queue may hold",
        default: "0.25",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "Phases whose size `hfsp` has not learnt yet may get so much for their first tasks ahead of all \
                  others, and one container at least; 0 for nothing at all. First tasks that run keep their room against \
                  their own queue, up to half of what it may hold. Of a job whose class is remembered nothing is learnt \
                  ahead of its turn.",
    },
    Knob {
        name: "training-slots",
        unit: "containers",
        default: "0",
        range: Range::Whole(0, 1_000_000),
        per_queue: true,
        meaning: "The same as a number, whatever the queue may hold; `0`: as `training-share` says.",
    },
    Knob {
        name: "training-preempts",
        unit: "",
        default: "off",
        range: Range::OneOf(&["off", "on"]),
        per_queue: true,
        meaning: "Whether room is taken from others for first tasks ahead of their turn, as in the thesis; otherwise they wait for room \
                  that becomes free. Jobs that are alike end earlier if nothing is taken.",
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
        default: "retain-ageing",
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
        meaning: "Whether application tags such as `hiatus.size=3600`, `hiatus.weight=0.5` and `hiatus.deadline=+600` count.",
    },
    Knob {
        name: "hints-max-weight",
        unit: "",
        default: "1",
        range: Range::Fraction(0.01, 100.0),
        per_queue: true,
        meaning: "The most that a tag `hiatus.weight` counts, under `hfsp` and `flex`. With 1, users can make their jobs less \
                  important than others and not more.",
    },
    Knob {
        name: "hints-max-penalty",
        unit: "",
        default: "1",
        range: Range::Fraction(0.0, MOST_PENALTY),
        per_queue: true,
        meaning: "The most that a step of a tag `hiatus.sla` costs, under `flex`.",
    },
    Knob {
        name: "hints-metric",
        unit: "",
        default: "ignore",
        range: Range::OneOf(&["honour", "ignore"]),
        per_queue: true,
        meaning: "Whether a tag `hiatus.metric` counts, under `flex`. Penalties of different metrics are added up: a job that pays \
                  by the second outweighs all that pay once.",
    },
    Knob {
        name: "hints-gp-class",
        unit: "",
        default: "ignore",
        range: Range::OneOf(&["honour", "ignore"]),
        per_queue: true,
        meaning: "Whether a tag `hiatus.gp-class=production` or `…=non-production` counts instead of `gp-class`.",
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
        name: "batchmr-placer",
        unit: "",
        default: "off",
        range: Range::OneOf(&["off", "on"]),
        per_queue: true,
        meaning: "Whether jobs of this queue run on one side of a mixed cluster, its physical or its virtual nodes: where earlier runs, \
                  or their own first tasks, took less time.",
    },
    Knob {
        name: "batchmr-key",
        unit: "",
        default: "class",
        range: Range::OneOf(&["class", "literal"]),
        per_queue: true,
        meaning: "Which earlier runs count for a job: those of its class (its tag `hiatus.job-class=…`, or its name without digits), or \
                  as printed all of like size (`literal`).",
    },
    Knob {
        name: "batchmr-cluster-size",
        unit: "fraction of the side's nodes",
        default: "0.2",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "An earlier run counts if its side of the cluster was larger or smaller by no more than this (θ_c).",
    },
    Knob {
        name: "batchmr-data-size",
        unit: "fraction of the input",
        default: "0.15",
        range: Range::Fraction(0.0, 1.0),
        per_queue: true,
        meaning: "An earlier run counts if its input was larger or smaller by no more than this (θ_d).",
    },
    Knob {
        name: "batchmr-difference",
        unit: "fraction of the time on physical nodes",
        default: "0.4",
        range: Range::Fraction(0.0, 10.0),
        per_queue: true,
        meaning: "A job that would take longer on virtual nodes by more than this runs on physical ones, any other on virtual ones \
                  (θ_r).",
    },
    Knob {
        name: "batchmr-alpha",
        unit: "",
        default: "0.3",
        range: Range::Fraction(0.01, 0.99),
        per_queue: true,
        meaning: "Weight of the newest run in the moving mean of earlier ones (α).",
    },
    Knob {
        name: "batchmr-samples",
        unit: "tasks",
        default: "4",
        range: Range::Whole(0, 1_000),
        per_queue: true,
        meaning: "A job of which too little is known runs so many of its first tasks on each side, and the others wait; with 0 it runs \
                  on virtual nodes.",
    },
    Knob {
        name: "batchmr-sampling-timeout-ms",
        unit: "ms",
        default: "120000",
        range: Range::Whole(0, 30 * DAY_MS),
        per_queue: true,
        meaning: "After this long a job's first tasks have told enough: it runs on the only side on which any was done, or on virtual \
                  nodes if none was.",
    },
    Knob {
        name: "batchmr-spill",
        unit: "",
        default: "off",
        range: Range::OneOf(&["off", "on"]),
        per_queue: true,
        meaning: "Whether jobs may use the other side, too, while nobody who runs there wants anything.",
    },
    Knob {
        name: "batchmr-task-input",
        unit: "bytes",
        default: "134217728",
        range: Range::Whole(1, 1 << 50),
        per_queue: true,
        meaning: "What one task reads: with how many there are, a job's input where no tag `hiatus.input-bytes=…` tells it. The block \
                  size, usually.",
    },
    Knob {
        name: "gp-interval-ms",
        unit: "ms",
        default: "10000",
        range: Range::Whole(100, DAY_MS),
        per_queue: false,
        meaning: "How often it is asked whether long jobs starve others.",
    },
    Knob {
        name: "gp-period-ms",
        unit: "ms",
        default: "180000",
        range: Range::Whole(1_000, DAY_MS),
        per_queue: false,
        meaning: "The time looked back on for that. What a long job gives in part it gives once in such a time.",
    },
    Knob {
        name: "gp-busy-share",
        unit: "fraction of the partition",
        default: "0.9",
        range: Range::Fraction(0.0, 1.0),
        per_queue: false,
        meaning: "The partition is busy while more than this of it is occupied.",
    },
    Knob {
        name: "gp-busy-time",
        unit: "fraction of the period",
        default: "0.8",
        range: Range::Fraction(0.0, 1.0),
        per_queue: false,
        meaning: "Long jobs give way only if the partition was busy for more than this.",
    },
    Knob {
        name: "gp-quality",
        unit: "",
        default: "0.5",
        range: Range::Fraction(0.01, 1.0),
        per_queue: false,
        meaning: "Long jobs give way only if more waited on average than lets the mean of jobs' times alone over their real times \
                  be this (π): with 0.5 as much as there is for non-production jobs, with 1 anything.",
    },
    Knob {
        name: "gp-single-job",
        unit: "fraction of what waits",
        default: "0.9",
        range: Range::Fraction(0.0, 1.0),
        per_queue: false,
        meaning: "Long jobs do not give way if a single job is more than this.",
    },
    Knob {
        name: "gp-long-task-ms",
        unit: "ms",
        default: "500000",
        range: Range::Whole(0, 30 * DAY_MS),
        per_queue: false,
        meaning: "A job is long if its tasks take more than this on average; if none is done yet, by what they tell of their progress, or \
                  as long as they have run.",
    },
    Knob {
        name: "gp-first-part",
        unit: "fraction of what is above the target",
        default: "0.5",
        range: Range::Fraction(0.0, 1.0),
        per_queue: false,
        meaning: "What a long job gives at first, rounded up to containers.",
    },
    Knob {
        name: "gp-timeout-ms",
        unit: "ms",
        default: "360000",
        range: Range::Whole(0, DAY_MS),
        per_queue: false,
        meaning: "A long job that has starved others for so long without a break gives all above its target.",
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
        name: "forecast-interval-ms",
        unit: "ms",
        default: "0",
        range: Range::Whole(0, DAY_MS),
        per_queue: false,
        meaning: "How often the ends of jobs are forecast, as long as that costs no more than a tenth of a core; `0`: never.",
    },
    Knob {
        name: "forecast-max-size",
        unit: "nodes, jobs and containers",
        default: "20000",
        range: Range::Whole(0, 10_000_000),
        per_queue: false,
        meaning: "In a larger cluster nothing is forecast: the copy of the state is made under the scheduler's lock.",
    },
    Knob {
        name: "hindsight-interval-ms",
        unit: "ms",
        default: "600000",
        range: Range::Whole(0, DAY_MS),
        per_queue: false,
        meaning: "In mode `observe`: how often it is simulated what Hiatus would have saved, as long as that costs no more than a \
                  tenth of a core; `0`: never.",
    },
    Knob {
        name: "hindsight-window-ms",
        unit: "ms",
        default: "21600000",
        range: Range::Whole(60_000, 7 * DAY_MS),
        per_queue: false,
        meaning: "Jobs that ended within this time are simulated.",
    },
    Knob {
        name: "hindsight-max-size",
        unit: "jobs and containers",
        default: "200000",
        range: Range::Whole(100, 10_000_000),
        per_queue: false,
        meaning: "No more are remembered for that: of more than these, those that ended last.",
    },
    Knob {
        name: "claim-timeout-ms",
        unit: "ms",
        default: "30000",
        range: Range::Whole(1_000, DAY_MS),
        per_queue: false,
        meaning: "Room kept on a node for the request it was freed for is given back when unused for this long, and no \
                  more is freed for that job for as long again; for twice as long each time until it is given \
                  something.",
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
                  one of those killed out of its way; on a node that has become smaller than what it has given \
                  out, and suspends none yet, the newest is suspended.",
    },
    Knob {
        name: "silent-node-ms",
        unit: "ms",
        default: "10000",
        range: Range::Whole(1_000, DAY_MS),
        per_queue: false,
        meaning: "Nothing is placed on, or freed on, a node that has not reported for this long, until it reports again.",
    },
    Knob {
        name: "refused-rest-ms",
        unit: "ms",
        default: "10000",
        range: Range::Whole(100, DAY_MS),
        per_queue: false,
        meaning: "When the ResourceManager refuses a container to a job for a limit of its queue or user, no room is freed \
                  for that job for this long; a container whose suspension it refuses is left alone for as long.",
    },
];

/// Names after [`CLUSTER_PREFIX`] of the knobs that the ResourceManager's side of the boundary reads for itself, with its
/// own ranges (`HiatusConfiguration`): the core lets them pass.
pub const OF_RESOURCE_MANAGER: &[&str] = &[
    "rm.step-interval-ms",
    "rm.place-between-heartbeats",
    "rm.step-budget-ms",
    "rm.books-interval-ms",
    "rm.progress-interval-ms",
    "rm.progress-requests-per-second",
    "rm.progress-timeout-ms",
    "rm.report-port",
    "rm.drain-kill-ms",
    "rm.physical-nodes",
    "rm.virtual-nodes",
    "rm.record-dir",
    "rm.record-max-mb",
    "rm.history-dir",
    "rm.history-max-runs",
    "native.extract-dir",
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
