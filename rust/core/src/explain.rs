//! Why things are as they are: the plan and the state as data, for people. Written on demand, never during a step.

use crate::batchmr::{self, Times};
use crate::entitlement::EPSILON;
use crate::estimate;
use crate::fact::Side;
use crate::park;
use crate::plan::{Entry, PartitionPlan};
use crate::policy::{EstimateError, Sizing};
use crate::preempt::sells_within;
use crate::scheduler::Scheduler;
use crate::settings::{Mode, Primitive, QueueSettings};
use crate::state::{Job, Reason, Site, State};
use crate::units::{AppId, Millis, PartitionId, QueueId};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

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
    /// Whether it was put aside by hand.
    pub parked: bool,
    /// What is wrong with its hints.
    pub wrong_hints: Vec<String>,
    /// What keeps it from getting more.
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
    /// By whose doing: `preempted`, `parked`, `lent`, `recalled`, or `found` so.
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

/// Tells why everything is as it is.
pub fn explain(scheduler: &Scheduler) -> Explanation {
    let cluster = scheduler.cluster();
    let name = |app: AppId| cluster.jobs().get(&app).map_or_else(|| format!("#{}", app.0), |job| job.name.clone());
    let jobs = scheduler.planner().all().flat_map(|(partition, plan)| {
        plan.entries
            .iter()
            .enumerate()
            .filter(|(at, _)| plan.is_last(*at))
            .enumerate()
            .filter_map(move |(rank, (place, entry))| job(scheduler, partition, plan, rank, place, entry))
    });
    let claims = cluster.claimed().flat_map(|(id, node)| node.claims.iter().map(move |claim| (id, claim)));
    let tally = &cluster.tally();
    Explanation {
        queues: scheduler.planner().all().flat_map(|(partition, plan)| queues(scheduler, partition, plan)).collect(),
        jobs: jobs.collect(),
        nodes: nodes(scheduler),
        suspended: cluster
            .suspended()
            .map(|(id, container)| {
                let parked = cluster.is_parked(container);
                let reason = cluster.reason(container).unwrap_or(Reason::Found);
                let of_container = |id| cluster.containers().get(&id).map(|container| name(container.app));
                SuspendedExplanation {
                    container: id.0,
                    application: name(container.app),
                    node: container.node.0,
                    state: if container.state == State::Suspended { "suspended" } else { "suspending" },
                    for_ms: cluster.now().since(container.since).0,
                    due_in_ms: deadline(scheduler, container.app).since(cluster.now().since(container.since)).0,
                    times: container.suspensions,
                    reason: reason.name(),
                    by: match reason {
                        Reason::Preempted { by } => Some(name(by)),
                        Reason::Recalled { by } => of_container(by),
                        Reason::Parked | Reason::Lent | Reason::Overcommitted | Reason::Found => None,
                    },
                    parked,
                    why: match reason {
                        Reason::Preempted { .. } => "its job held more than its target, and the other one less",
                        Reason::Parked => "it was put aside by hand",
                        Reason::Lent => "it waits for maps of its job, and lends its room to maps",
                        Reason::Recalled { .. } => "it had borrowed room, and the lender needed that",
                        Reason::Overcommitted => {
                            "its node offers less than it has given out, and one there could not start"
                        }
                        Reason::Found => "it was so before the scheduler began, and the reason is lost",
                    },
                    waits_for: if parked {
                        "being woken by hand"
                    } else if !reason.ends_with_turn() {
                        "enough maps of its job to be done"
                    } else if container.kept_out_since.is_some() {
                        "room on its node, which its job may have"
                    } else {
                        "its job's turn"
                    },
                }
            })
            .collect(),
        not_parked_yet: park::running(cluster)
            .map(|(id, container)| NotParkedExplanation {
                container: id.0,
                application: name(container.app),
                node: container.node.0,
                because: park::obstacle(cluster, &scheduler.settings().cluster, container).unwrap_or("it will be soon"),
            })
            .collect(),
        claims: claims
            .map(|(node, claim)| ClaimExplanation {
                node: node.0,
                application: name(claim.app),
                memory_mb: claim.resource.memory_mb,
                vcores: claim.resource.vcores,
                for_ms: cluster.now().since(claim.made).0,
            })
            .collect(),
        starvation: starvation(scheduler),
        giving_way: scheduler
            .watches()
            .flat_map(|(partition, watch)| watch.starving().map(move |(app, suspect)| (partition, app, suspect)))
            .map(|(partition, app, suspect)| GivingWayExplanation {
                application: name(app),
                partition: partition.0,
                for_ms: suspect.since.map_or(0, |since| cluster.now().since(since).0),
                gives: suspect.gives,
            })
            .collect(),
        unknown_queues: unknown_queues(scheduler),
        estimates: scheduler.planner().estimate_errors().map(|(_, error)| error).collect(),
        counters: Counters {
            suspended: tally.suspended,
            lent: tally.lent,
            recalled: tally.recalled,
            resumed: tally.resumed,
            rejected: tally.rejected,
            strange_facts: tally.strange_facts,
            claims_expired: tally.claims_expired,
            killed: tally.killed,
            wasted_s: tally.wasted.seconds(),
            starvation_firings: scheduler.starvation_firings(),
        },
    }
}

/// For how long containers of the job may stand still.
fn deadline(scheduler: &Scheduler, app: AppId) -> Millis {
    scheduler.settings().queue(scheduler.cluster().queue_path(app)).max_suspension
}

fn queues(scheduler: &Scheduler, partition: PartitionId, plan: &PartitionPlan) -> Vec<QueueExplanation> {
    let cluster = scheduler.cluster();
    let of_queue = |(id, places): &(QueueId, Range<usize>)| {
        let queue = cluster.queues().get(id)?;
        let within = sells_within(cluster, scheduler.settings().queue(&queue.path), *id);
        let mut explained = QueueExplanation {
            queue: queue.path.clone(),
            partition: partition.0,
            entitled: plan.entitled.get(id).copied().unwrap_or(0.0),
            least: plan.least.get(id).copied().unwrap_or(0.0),
            held: 0.0,
            jobs: 0,
            pending: 0,
            suspended: 0,
            spared_from: match (queue.preemptable, within) {
                (false, false) => Some("everybody"),
                (false, true) => Some("other queues"),
                (true, false) => Some("its own jobs"),
                (true, true) => None,
            },
        };
        let last_places = places.clone().filter(|at| plan.is_last(*at));
        for job in last_places.filter_map(|at| cluster.jobs().get(&plan.entries.get(at)?.app)) {
            explained.held += job.share(plan.total, partition);
            explained.jobs += 1;
            for (_, phase) in job.phases.iter().filter(|(key, _)| key.partition == partition) {
                explained.pending += phase.pending;
                explained.suspended += phase.suspended;
            }
        }
        (explained.jobs > 0).then_some(explained)
    };
    plan.queues.iter().filter_map(of_queue).collect()
}

fn nodes(scheduler: &Scheduler) -> Vec<NodeExplanation> {
    let (cluster, most) = (scheduler.cluster(), scheduler.settings().cluster.max_suspended_memory);
    let with_suspended: BTreeSet<_> = cluster.suspended().map(|(_, container)| container.node).collect();
    let found = with_suspended.into_iter().filter_map(|id| cluster.nodes().get(&id).map(|node| (id, node)));
    found
        .map(|(id, node)| NodeExplanation {
            node: id.0,
            partition: node.partition.0,
            suspended: node.suspended.len(),
            suspended_mb: node.suspended_memory_mb,
            most_suspended_mb: node.most_suspended_mb(most),
            total_mb: node.total.memory_mb,
            used_mb: node.used.memory_mb,
        })
        .collect()
}

fn starvation(scheduler: &Scheduler) -> Vec<StarvationExplanation> {
    let (now, rules) = (scheduler.cluster().now(), &scheduler.settings().cluster.starvation);
    let explained = scheduler.watches().filter_map(|(partition, watch)| {
        let conditions = watch.conditions()?;
        let mut unfulfilled: Vec<_> = conditions.unfulfilled(rules).collect();
        if unfulfilled.is_empty() && watch.starving().next().is_none() {
            unfulfilled.push("no job of long tasks holds more than its target");
        }
        Some(StarvationExplanation {
            partition: partition.0,
            firings: watch.firings(),
            fired_ms_ago: watch.fired().map(|fired| now.since(fired).0),
            busy_time: conditions.busy_time,
            waiting: conditions.waiting,
            least_waiting: conditions.least_waiting,
            largest: conditions.largest,
            unfulfilled,
        })
    });
    explained.collect()
}

fn unknown_queues(scheduler: &Scheduler) -> Vec<String> {
    let queues = scheduler.cluster().queues();
    let unknown = |path: &&str| queues.values().all(|queue| queue.path != *path);
    scheduler.settings().queue_paths().filter(unknown).map(str::to_string).collect()
}

fn job(
    scheduler: &Scheduler,
    partition: PartitionId,
    plan: &PartitionPlan,
    rank: usize,
    place: usize,
    entry: &Entry,
) -> Option<JobExplanation> {
    let cluster = scheduler.cluster();
    let job = cluster.jobs().get(&entry.app)?;
    let path = cluster.queues().get(&job.queue).map_or("", |queue| queue.path.as_str());
    let queue = scheduler.settings().queue(path);
    let total = cluster.partitions().get(&partition).map(|found| found.total).unwrap_or_default();
    let of_partition = || job.phases.iter().filter(move |(key, _)| key.partition == partition);
    let held = job.share(total, partition);
    let pending: u32 = of_partition().map(|(_, phase)| phase.pending).sum();
    let suspended: u32 = of_partition().map(|(_, phase)| phase.suspended).sum();
    let wanted: u32 = of_partition().map(|(key, phase)| job.wanted(*key, phase)).sum();
    let waits = scheduler.settings().cluster.mode == Mode::Order || queue.preemption == Primitive::Wait;
    let policy = scheduler.planner().policy_of(job.queue, job.priority, partition);
    let sizing = policy.and_then(|policy| policy.sizing(entry.app));
    let unusable = policy.and_then(|policy| policy.unusable_hint(entry.app));
    let before =
        || plan.entries.iter().take(place).filter(|other| other.queue == entry.queue && other.app != entry.app);
    let is_first = || before().next().is_none();
    // Nobody of its own priority comes before it.
    let outranked = || {
        let priority = |other: &Entry| cluster.jobs().get(&other.app).map(|other| other.priority);
        before().all(|other| priority(other).is_some_and(|priority| priority > job.priority))
    };
    let freed = || {
        let mut claims = cluster.claimed().flat_map(|(_, node)| &node.claims);
        claims.any(|claim| claim.app == entry.app && claim.is_freed())
    };
    let blocked_by: Cow<'static, str> = match scheduler.refusal(entry.app, partition) {
        _ if job.parked => "it is parked".into(),
        _ if pending + suspended == 0 => "nothing: it has all it wants".into(),
        _ if wanted + suspended == 0 => {
            "its tasks that were suspended: it wants second attempts of those, which go on".into()
        }
        _ if !job.active => "its queue's ApplicationMaster limit".into(),
        _ if job.site.sample.is_some() => "its first tasks, which are tried on both sides of the cluster".into(),
        _ if held + EPSILON >= entry.target && is_first() => {
            "its queue's share: it is first there, and the queue may have no more now".into()
        }
        _ if held + EPSILON >= entry.target && outranked() => {
            "jobs of its queue that have a higher priority, which come first".into()
        }
        _ if held + EPSILON >= entry.target => behind(sizing.as_ref()).into(),
        _ if job.barred_until > cluster.now() => {
            "a limit of its queue or user: what was freed for it could not be used".into()
        }
        _ if waits => "containers that have not ended yet (no preemption)".into(),
        _ if freed() => "room that is being freed for it".into(),
        Some(refusal) => refusal.to_string().into(),
        None => "the next heartbeats of nodes that have room for it".into(),
    };
    Some(JobExplanation {
        application: job.name.clone(),
        queue: path.to_string(),
        partition: partition.0,
        priority: job.priority,
        rank: rank + 1,
        target: entry.target,
        held,
        pending,
        suspended,
        remaining_s: estimate::remaining_seconds(job, queue, total),
        attained_s: job.attained(cluster.now()).dominant_seconds(total),
        phases: phases(job, partition, queue),
        sizing,
        site: site(job, queue.placer.on),
        parked: job.parked,
        wrong_hints: job.hints.under(&queue.hints).wrong.iter().cloned().chain(unusable).collect(),
        blocked_by,
    })
}

fn site(job: &Job, placed: bool) -> SiteExplanation {
    let Site { verdict, sample, open, .. } = &job.site;
    let reason = verdict.map(|verdict| verdict.reason);
    SiteExplanation {
        side: verdict.and_then(|verdict| verdict.side).map(|side| match side {
            Side::Physical => "physical",
            Side::Virtual => "virtual",
        }),
        reason: if placed { reason } else { Some(batchmr::Reason::Disabled) },
        times: verdict.and_then(|verdict| verdict.times),
        sampling: sample.is_some(),
        open: *open,
        runs: job.earlier.runs().len(),
    }
}

fn phases(job: &Job, partition: PartitionId, queue: &QueueSettings) -> Vec<PhaseExplanation> {
    let of_partition = job.phases.iter().filter(|(key, _)| key.partition == partition);
    of_partition
        .map(|(key, phase)| {
            let masters = u32::from(job.master.is_some_and(|(_, of)| of == *key));
            PhaseExplanation {
                priority: key.priority,
                memory_mb: key.resource.memory_mb,
                vcores: key.resource.vcores,
                tasks: (phase.finished + job.to_do(*key)).saturating_sub(masters),
                unasked: job.unasked(*key),
                finished: phase.finished,
                earlier_task_s: estimate::first(job, key.priority, queue),
                progress: phase
                    .first
                    .iter()
                    .filter(|task| task.finished.is_none())
                    .filter_map(|task| task.progress)
                    .collect(),
            }
        })
        .filter(|phase| phase.tasks > 0)
        .collect()
}

/// Why a job waits that others come before.
fn behind(sizing: Option<&Sizing>) -> &'static str {
    match sizing.map(|sizing| sizing.source) {
        Some("initial") => "jobs before it in the order, and first tasks of others, which have the share for training",
        Some("training") => "jobs before it in the order, until its first tasks have told its size",
        _ => "jobs before it in the order",
    }
}
