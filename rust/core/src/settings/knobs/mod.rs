//! Every knob of the core: its name, unit, default, range and meaning stand once, in a table for each topic.

/// The knobs of a topic, one after the other: whether a queue can have its own value or only the `cluster` has one, name, unit and
/// default, what is allowed, and the meaning.
macro_rules! topic {
    (@ queue) => { true };
    (@ cluster) => { false };
    ($($scope:ident $name:literal $unit:literal = $default:expr, $range:expr, $meaning:literal;)+) => {
        &[$(Knob {
            name: $name,
            unit: $unit,
            default: $default,
            range: $range,
            per_queue: topic!(@ $scope),
            meaning: $meaning,
        }),+]
    };
}

mod audience;
mod cluster;
mod flex;
mod hints;
mod lending;
mod preemption;
mod sides;
mod sizes;
mod starvation;

use self::audience::{FIRST, OF_STUDIES};
use super::suspend_types::{SuspendTypes, LONGEST_TYPE};
use crate::flex::{read_steps, Step};
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
    /// Application types, or `*`.
    Types,
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
            Range::Types => SuspendTypes::read(value).is_some(),
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
            Range::Types => {
                write!(f, "*, or application types of at most {LONGEST_TYPE} characters with commas between them")
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

/// The topics, in the order of the documentation.
const TOPICS: [&[Knob]; 8] = [
    preemption::KNOBS,
    lending::KNOBS,
    sizes::KNOBS,
    hints::KNOBS,
    flex::KNOBS,
    sides::KNOBS,
    starvation::KNOBS,
    cluster::KNOBS,
];

/// All knobs of the core, in the order of the documentation.
pub fn knobs() -> impl Iterator<Item = &'static Knob> {
    TOPICS.into_iter().flatten()
}

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

/// The tables of `docs/operations.md` by what stands in the comment before each: the knobs an administrator may want, in short; all but
/// those of studies; and those.
pub fn tables() -> [(&'static str, String); 3] {
    let of_studies = |knob: &&Knob| OF_STUDIES.contains(&knob.name);
    let first = FIRST.iter().filter_map(|name| knobs().find(|knob| knob.name == *name));
    [
        ("first knobs", first.map(in_short).fold(SHORT_HEAD.to_owned(), |all, row| all + &row)),
        ("knobs", in_full(knobs().filter(|knob| !of_studies(knob)))),
        ("knobs of studies", in_full(knobs().filter(of_studies))),
    ]
}

const SHORT_HEAD: &str = "| knob | default | what it does |\n|---|---|---|\n";
const HEAD: &str = "| name | unit | default | allowed | scope | meaning |\n|---|---|---|---|---|---|\n";

/// A row with the first sentence of what a knob does.
fn in_short(knob: &Knob) -> String {
    let sentence = knob.meaning.split_inclusive(". ").next().unwrap_or_default().trim_end();
    format!("| `{}` | `{}` | {sentence} |\n", knob.name, knob.default)
}

fn in_full<'a>(knobs: impl Iterator<Item = &'a Knob>) -> String {
    let row = |knob: &Knob| {
        let scope = if knob.per_queue { "cluster, queue" } else { "cluster" };
        let Knob { name, unit, default, range, meaning, .. } = knob;
        format!("| `{name}` | {unit} | `{default}` | {range} | {scope} | {meaning} |\n")
    };
    knobs.map(row).fold(HEAD.to_owned(), |all, row| all + &row)
}
