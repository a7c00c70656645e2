//! Why things are as they are: the plan and the state as data, for people. Written on demand, never during a step.

mod explanation;

pub use explanation::{
    ClaimExplanation, Counters, Explanation, GivingWayExplanation, JobExplanation, NodeExplanation,
    NotParkedExplanation, PhaseExplanation, QueueExplanation, SiteExplanation, StarvationExplanation,
    SuspendedExplanation,
};

use crate::batchmr;
use crate::entitlement::EPSILON;
use crate::estimate;
use crate::fact::Side;
use crate::park;
use crate::plan::{Entry, PartitionPlan};
use crate::policy::Sizing;
use crate::preempt::preempts_within_queue;
use crate::scheduler::Scheduler;
use crate::settings::{Mode, Primitive, QueueSettings};
use crate::state::{Job, Reason, Site, State};
use crate::units::{AppId, Millis, PartitionId, QueueId};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Tells why everything is as it is.
pub fn explain(scheduler: &Scheduler) -> Explanation {
    let cluster = scheduler.cluster();
    let name = |app: AppId| cluster.jobs().get(&app).map_or_else(|| format!("#{}", app.0), |job| job.name.clone());
    let jobs = scheduler.planner().all().flat_map(|(partition, plan)| {
        plan.entries
            .iter()
            .enumerate()
            .filter(|(at, _)| plan.is_last_entry(*at))
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
        let within = preempts_within_queue(cluster, scheduler.settings().queue(&queue.path), *id);
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
        let last_places = places.clone().filter(|at| plan.is_last_entry(*at));
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
    let blocked_by: Cow<'static, str> = match scheduler.no_victim_reason(entry.app, partition) {
        _ if job.parked => "being woken by hand".into(),
        _ if pending + suspended == 0 => "nothing: it has all it wants".into(),
        _ if wanted + suspended == 0 => {
            "its tasks that were suspended: it wants second attempts of those, which go on".into()
        }
        _ if !job.active => {
            "being let in, within limits of its queue and user (maximum-am-resource-percent, max-am-share, max-parallel-apps)"
                .into()
        }
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
        Some(reason) => reason.to_string().into(),
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
        remaining_s: estimate::remaining_seconds(job, cluster, queue, total),
        attained_s: job.attained(cluster.now()).dominant_seconds(total),
        phases: phases(job, partition, queue),
        sizing,
        site: site(job, queue.placer.on),
        spared_because: spared_because(job, queue),
        parked: job.parked,
        wrong_hints: job.hints.under(&queue.hints).wrong.iter().cloned().chain(unusable).collect(),
        blocked_by,
    })
}

fn spared_because(job: &Job, queue: &QueueSettings) -> Option<String> {
    (!job.may_be_suspended(queue)).then(|| match job.hints.suspend_under(&queue.hints) {
        Some(_) => "its tag hiatus.suspend says so".to_string(),
        None => format!("its type {} is none of suspend-types", job.application_type),
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
