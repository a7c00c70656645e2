//! What is told, as data.

use crate::batchmr::{self, Times};
use crate::policy::{EstimateError, Sizing};
use serde::Serialize;
use std::borrow::Cow;

/// Everything worth telling.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Queues that have such jobs, by partition and in the order in which they are served.
    pub queues: Vec<QueueExplanation>,
    /// Jobs that hold or want something, by partition and in the order in which they are served.
    pub jobs: Vec<JobExplanation>,
    /// Nodes with suspended containers.
    pub nodes: Vec<NodeExplanation>,
    /// Containers that are suspended, being suspended or being resumed.
    pub suspended: Vec<SuspendedExplanation>,
    /// Containers that are parked and still run.
    pub not_parked_yet: Vec<NotParkedExplanation>,
    /// Room kept for somebody.
    pub claims: Vec<ClaimExplanation>,
    /// What came of asking whether long jobs starve others (GP), by partition; empty where no queue wants to know.
    pub starvation: Vec<StarvationExplanation>,
    /// Jobs that starve others, and give way.
    pub giving_way: Vec<GivingWayExplanation>,
    /// Queue paths that have knobs of their own, while no such queue exists now.
    pub unknown_queues: Vec<String>,
    /// How good past estimates of sizes were.
    pub estimates: Vec<EstimateError>,
    /// Counters.
    pub counters: Counters,
}

/// What the jobs of a queue hold and want in one partition.
#[derive(Debug, Serialize)]
pub struct QueueExplanation {
    /// Queue path.
    pub queue: String,
    /// Partition handle; 0 is the default.
    pub partition: u32,
    /// What it is entitled to now, as a fraction of the partition.
    pub entitled: f64,
    /// What it is entitled to at least while a job of it has work: its ApplicationMasters and a container of its first job.
    pub least: f64,
    /// What its jobs hold, as a fraction of the partition.
    pub held: f64,
    /// Jobs that hold or want something.
    pub jobs: usize,
    /// Containers wanted.
    pub pending: u32,
    /// Containers suspended.
    pub suspended: u32,
    /// For whose jobs nothing is taken of it, by its administrator's order.
    pub spared_from: Option<&'static str>,
}

/// A node on which containers are suspended. Memory in MiB.
#[derive(Debug, Serialize)]
pub struct NodeExplanation {
    /// Handle.
    pub node: u32,
    /// Partition handle; 0 is the default.
    pub partition: u32,
    /// Containers suspended.
    pub suspended: usize,
    /// The memory that those keep.
    pub suspended_mb: i64,
    /// As much as they may keep (`max-suspended-memory`, and what RAM and swap hold).
    pub most_suspended_mb: i64,
    /// What the node offers.
    pub total_mb: i64,
    /// What of that containers use that are not suspended.
    pub used_mb: i64,
}

/// A job's place and size.
#[derive(Debug, Serialize)]
pub struct JobExplanation {
    /// Application.
    pub application: String,
    /// Queue path.
    pub queue: String,
    /// Partition handle; 0 is the default.
    pub partition: u32,
    /// YARN priority: a job of a higher one comes before all jobs of its queue that have a lower one.
    pub priority: i32,
    /// Place in the order, from 1.
    pub rank: usize,
    /// What it should hold, as a fraction of the partition.
    pub target: f64,
    /// What it holds, as a fraction of the partition.
    pub held: f64,
    /// Containers wanted.
    pub pending: u32,
    /// Containers suspended.
    pub suspended: u32,
    /// Estimated work left, in seconds of the whole partition.
    pub remaining_s: f64,
    /// Service received, in seconds of the whole partition.
    pub attained_s: f64,
    /// Its phases in the partition.
    pub phases: Vec<PhaseExplanation>,
    /// How its queue's policy sized it, if that sizes jobs by itself.
    pub sizing: Option<Sizing>,
    /// On which side of a mixed cluster its tasks run, and why.
    pub site: SiteExplanation,
    /// Why nothing of it is suspended for others, whatever its place; `None` if it may be.
    pub spared_because: Option<String>,
    /// Whether it was put aside by hand.
    pub parked: bool,
    /// What is wrong with its hints.
    pub wrong_hints: Vec<String>,
    /// What keeps it from getting more, as the end of "it waits for …".
    pub blocked_by: Cow<'static, str>,
}

/// Where a job's tasks may start, and what BatchMR's placer says of it.
#[derive(Debug, Serialize)]
pub struct SiteExplanation {
    /// The side that it keeps to; none if it runs anywhere.
    pub side: Option<&'static str>,
    /// The placer's reason; none while it has not looked at the job, or its first tasks are tried on both sides.
    pub reason: Option<batchmr::Reason>,
    /// What it compared.
    pub times: Option<Times>,
    /// Its first tasks are tried on both sides.
    pub sampling: bool,
    /// It may leave its side now: that has no node large enough, or the other one idles.
    pub open: bool,
    /// Earlier runs that the placer was told of.
    pub runs: usize,
}

/// Tasks of one kind.
#[derive(Debug, Serialize)]
pub struct PhaseExplanation {
    /// Request priority: tells maps from reduces.
    pub priority: i32,
    /// MiB of one container.
    pub memory_mb: i64,
    /// Virtual cores of one container.
    pub vcores: i64,
    /// Tasks known of, done or not, the ApplicationMaster aside.
    pub tasks: u32,
    /// Those of them for whose containers nobody has asked yet: the application says that they exist. Below zero if it has
    /// asked for more than that.
    pub unasked: i32,
    /// Tasks that succeeded.
    pub finished: u32,
    /// What such a task took in earlier runs of the job's class, in seconds, if history tells.
    pub earlier_task_s: Option<f64>,
    /// What its first tasks that are not done said of their progress, 0…1.
    pub progress: Vec<f64>,
}

/// A suspended container.
#[derive(Debug, Serialize)]
pub struct SuspendedExplanation {
    /// Handle.
    pub container: u32,
    /// Application.
    pub application: String,
    /// Node handle.
    pub node: u32,
    /// Where it is in its life.
    pub state: &'static str,
    /// For how long, in ms.
    pub for_ms: u64,
    /// In how many ms room is collected for it whoever wants that (`max-suspension-ms`), unless it is parked or lends its own. It then runs
    /// for `min-resumed-ms` at least.
    pub due_in_ms: u64,
    /// How often so far.
    pub times: u32,
    /// By whose doing: `preempted`, `parked`, `lent`, `recalled`, `overcommitted`, or `found` so.
    pub reason: &'static str,
    /// For which application; another one for what is preempted, the lender's for what is recalled.
    pub by: Option<String>,
    /// Whether it was put aside by hand, alone or with its application.
    pub parked: bool,
    /// Why it was suspended.
    pub why: &'static str,
    /// What it waits for.
    pub waits_for: &'static str,
}

/// A container that was put aside by hand and cannot be suspended.
#[derive(Debug, Serialize)]
pub struct NotParkedExplanation {
    /// Handle.
    pub container: u32,
    /// Application.
    pub application: String,
    /// Node handle.
    pub node: u32,
    /// Why not.
    pub because: &'static str,
}

/// Room kept on a node.
#[derive(Debug, Serialize)]
pub struct ClaimExplanation {
    /// Node handle.
    pub node: u32,
    /// Whom it is kept for.
    pub application: String,
    /// MiB.
    pub memory_mb: i64,
    /// Virtual cores.
    pub vcores: i64,
    /// Age in ms.
    pub for_ms: u64,
}

/// Whether long jobs starve others in a partition. Amounts are fractions of the partition.
#[derive(Debug, Serialize)]
pub struct StarvationExplanation {
    /// Partition handle; 0 is the default.
    pub partition: u32,
    /// How often long jobs were asked to give way.
    pub firings: u64,
    /// How long ago that was last, in ms.
    pub fired_ms_ago: Option<u64>,
    /// The part of the last period for which the partition was busy.
    pub busy_time: f64,
    /// What waited beside long jobs, on average over the period.
    pub waiting: f64,
    /// More than this has to wait.
    pub least_waiting: f64,
    /// The largest job's part of what waits now.
    pub largest: f64,
    /// Why nobody has to give way; empty if somebody has.
    pub unfulfilled: Vec<&'static str>,
}

/// A long job that has to give way to others.
#[derive(Debug, Serialize)]
pub struct GivingWayExplanation {
    /// Application.
    pub application: String,
    /// Partition handle; 0 is the default.
    pub partition: u32,
    /// For how long it has starved others without a break, in ms.
    pub for_ms: u64,
    /// What others may still take from it, as a fraction of the partition.
    pub gives: f64,
}

/// What happened so far.
#[derive(Debug, Serialize)]
pub struct Counters {
    /// Containers demoted.
    pub suspended: u64,
    /// Of those, reduces that lent their room.
    pub lent: u64,
    /// Of those, maps whose lenders wanted their room back.
    pub recalled: u64,
    /// Containers promoted.
    pub resumed: u64,
    /// Proposals refused.
    pub rejected: u64,
    /// Facts that made no sense.
    pub strange_facts: u64,
    /// Claims given back unused.
    pub claims_expired: u64,
    /// Containers killed by decision of the core.
    pub killed: u64,
    /// How long those had run, in seconds.
    pub wasted_s: f64,
    /// How often long jobs were asked to give way.
    pub starvation_firings: u64,
}
