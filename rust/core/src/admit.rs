//! Admission: CapacityScheduler lets applications into a queue until their ApplicationMasters hold a part of it
//! (`maximum-am-resource-percent`), whoever comes first. What it cannot know is said here: in which order they come, and whose
//! ApplicationMasters it need not count, because their jobs give way to whoever comes before them. All else stays its own: priorities,
//! limits of users, and the limit itself for newcomers, and for jobs that keep what they run.

use crate::entitlement::EPSILON;
use crate::estimate;
use crate::plan::{PartitionPlan, Planner};
use crate::settings::{PolicyKind, QueueSettings, Settings};
use crate::state::{Cluster, Job};
use crate::units::{AppId, PartitionId, QueueId, Resource};
use std::collections::BTreeMap;

/// What concerns admission of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Its ApplicationMaster does not count when others are let in beyond the limit. It wants tasks and runs none, or it runs some in a
    /// queue whose jobs are served one after the other, and may be suspended: it gives way to who comes before it.
    GivesWay {
        /// The application.
        app: AppId,
    },
    /// It waits and has its ApplicationMaster, from before a restart of the ResourceManager or a move: it stays in, whatever the limit.
    Holds {
        /// The application.
        app: AppId,
    },
    /// It waits, behind those of its queue and priority that come before it in this list.
    Waits {
        /// The application.
        app: AppId,
        /// Whether there is room for it beyond the limit, which does not count those that give way.
        beyond: bool,
    },
}

/// An application with an ApplicationMaster in a queue, or one on its way.
struct AdmittedApp {
    app: AppId,
    /// What its ApplicationMaster takes, and one container of its largest kind, as fractions of the partition.
    master: f64,
    one: f64,
    gives_way: bool,
}

/// Who is in a queue in one partition, and who waits.
#[derive(Default)]
struct AdmissionQueue<'a> {
    admitted: Vec<AdmittedApp>,
    /// Work that those admitted have left together, in seconds of the partition.
    work_s: f64,
    waiting: Vec<(AppId, &'a Job, Resource)>,
}

/// What is to be known of all queues for which anybody waits: who gives way, who has an ApplicationMaster already, and who is next.
pub(crate) fn admissions(cluster: &Cluster, planner: &Planner, settings: &Settings) -> Vec<Admission> {
    let mut all = Vec::new();
    let mut queues: BTreeMap<(QueueId, PartitionId), AdmissionQueue<'_>> = BTreeMap::new();
    for (app, job) in cluster.pending() {
        if job.master.is_some() {
            all.push(Admission::Holds { app });
        } else if let Some((key, _)) = job.phases.iter().find(|(_, phase)| phase.pending > 0).filter(|_| !job.parked) {
            queues.entry((job.queue, key.partition)).or_default().waiting.push((app, job, key.resource));
        }
    }
    if queues.is_empty() {
        return all;
    }
    for (app, job) in cluster.jobs().iter().filter(|(_, job)| job.active) {
        for (partition, plan) in planner.all() {
            let Some(admission) = queues.get_mut(&(job.queue, partition)) else { continue };
            let rules = settings.queue(cluster.queue_path(*app));
            if let Some(admitted) = AdmittedApp::of(*app, job, plan, rules) {
                admission.admitted.push(admitted);
                admission.work_s += estimate::remaining_seconds(job, cluster, rules, plan.total);
            }
        }
    }
    for ((queue, partition), admission) in queues {
        let Some(found) = cluster.queues().get(&queue) else { continue };
        let (rules, guaranteed) = (settings.queue(&found.path), found.shares(partition).guaranteed);
        admission.decide(planner.of(partition), guaranteed, rules, &mut all);
    }
    all
}

impl AdmittedApp {
    /// Nobody whose ApplicationMaster is, or is asked for, in another partition.
    fn of(app: AppId, job: &Job, plan: &PartitionPlan, rules: &QueueSettings) -> Option<AdmittedApp> {
        let asked = || job.phases.iter().find(|(_, phase)| phase.pending > 0).filter(|_| !job.unmanaged);
        let master = job.master.map(|(_, key)| key).or_else(|| asked().map(|(key, _)| *key))?;
        let of_partition = || job.phases.iter().filter(|(key, _)| key.partition == plan.partition());
        let kinds = of_partition().filter(|(key, phase)| phase.left() > u32::from(**key == master));
        let runs = job.containers.len() - job.suspended.len() > 1;
        let wants = !job.suspended.is_empty() || job.phases.values().any(|phase| phase.pending > 0);
        let yields = || rules.policy.serves_in_turn() && job.may_be_suspended(rules);
        (master.partition == plan.partition()).then(|| AdmittedApp {
            app,
            master: master.resource.dominant_share(plan.total),
            one: kinds.map(|(key, _)| key.resource.dominant_share(plan.total)).fold(0.0, f64::max),
            gives_way: job.master.is_some() && if runs { yields() } else { wants },
        })
    }
}

impl AdmissionQueue<'_> {
    /// ApplicationMasters of all hold no more than `max-am-share` of what the queue is guaranteed, and leave room for one container each.
    fn decide(self, plan: Option<&PartitionPlan>, guaranteed: f64, rules: &QueueSettings, all: &mut Vec<Admission>) {
        let total = plan.map_or(Resource::ZERO, |plan| plan.total);
        let giving = self.admitted.iter().filter(|admitted| admitted.gives_way);
        all.extend(giving.map(|admitted| Admission::GivesWay { app: admitted.app }));

        let mean_s = self.work_s / self.admitted.len().max(1) as f64;
        let of_size = |(app, job, master)| (size_s(job, master, total, rules).unwrap_or(mean_s), app, job, master);
        let mut waiting: Vec<(f64, AppId, &Job, Resource)> = self.waiting.into_iter().map(of_size).collect();
        waiting.sort_by(|(size_a, a, of_a, _), (size_b, b, of_b, _)| {
            let by_priority = of_b.priority.cmp(&of_a.priority);
            by_priority.then(size_a.total_cmp(size_b)).then((of_a.submitted, a).cmp(&(of_b.submitted, b)))
        });

        let largest = self.admitted.iter().map(|admitted| admitted.one).fold(0.0, f64::max);
        let mut masters: f64 = self.admitted.iter().map(|admitted| admitted.master).sum();
        let mut needed: f64 = self.admitted.iter().map(|admitted| admitted.master + admitted.one).sum();
        for (_, app, _, master) in waiting {
            let one = master.dominant_share(total);
            let needs = one + largest.max(one);
            let beyond = total != Resource::ZERO
                && masters + one <= rules.max_am_share * guaranteed + EPSILON
                && needed + needs <= guaranteed + EPSILON;
            if beyond {
                (masters, needed) = (masters + one, needed + needs);
            }
            all.push(Admission::Waits { app, beyond });
        }
    }
}

/// The work of a job that has not begun, in seconds of the partition, where its queue's policy goes by sizes: as its user says, or as
/// earlier runs took, with tasks as large as its ApplicationMaster. `None` if nobody knows: it is as the others are.
fn size_s(job: &Job, master: Resource, total: Resource, rules: &QueueSettings) -> Option<f64> {
    if !matches!(rules.policy, PolicyKind::Hfsp | PolicyKind::Srpt) {
        return None;
    }
    let hint = job.hints.under(&rules.hints).size.map(|size| size.task_seconds(master));
    let task_s = hint.or_else(|| job.earlier.work_s(rules.placer.alpha))?;
    Some(task_s * master.dominant_share(total))
}
