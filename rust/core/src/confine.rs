//! Confinement: asks BatchMR's placer where each job belongs, and keeps its tasks there. What the application asks for stays as
//! it is: placing, targets and preemption look at its [`Site`], too. A user's own label wins, ApplicationMasters run anywhere,
//! and a side that cannot serve a job keeps nobody.

use crate::batchmr::rules::{self, Question};
use crate::batchmr::sampling::Sample;
use crate::batchmr::{Times, Verdict};
use crate::fact::{PerSide, PhaseKey, Side};
use crate::settings::{PlacerSettings, QueueSettings, Settings};
use crate::state::{Cluster, Job, Site};
use crate::units::{AppId, PartitionId};

/// Looks at every job that somebody may place: which belong where now.
pub(crate) fn review(cluster: &mut Cluster, settings: &Settings) {
    if !settings.any_placer() && cluster.sited().is_empty() {
        return;
    }
    let busy = busy_sides(cluster, settings);
    let mut apps: Vec<AppId> = cluster.jobs().keys().copied().collect();
    apps.sort_unstable();
    for app in apps {
        let Some(job) = cluster.jobs().get(&app) else { continue };
        let rules = settings.queue(cluster.queue_path(app));
        if let Some(site) = review_job(cluster, rules, job, &busy) {
            if let Some(verdict) = site.verdict.filter(|_| job.site.verdict.is_none()) {
                log::info!(
                    "{}: runs on {:?} nodes ({:?}, {:?})",
                    job.name,
                    verdict.side,
                    verdict.reason,
                    verdict.times
                );
            }
            cluster.put_site(app, site);
        }
    }
}

/// The job's site, if it is another one from now on.
fn review_job(cluster: &Cluster, queue: &QueueSettings, job: &Job, busy: &PerSide<bool>) -> Option<Site> {
    let (rules, site) = (&queue.placer, &job.site);
    if !rules.on {
        return (*site != Site::default()).then(Site::default);
    }
    if let Some(sample) = &site.sample {
        let verdict = after_sample(cluster, rules, job, sample)?;
        return Some(Site { verdict: Some(verdict), sample: None, ..site.clone() });
    }
    match site.verdict {
        None => begin(cluster, queue, job),
        Some(verdict) => {
            let open = verdict.side.is_some_and(|own| is_open(cluster, rules, job, own, busy));
            (open != site.open).then(|| Site { open, strayed: true, ..site.clone() })
        }
    }
}

/// The first word on a job, once it asks for tasks: a verdict, or a sample.
fn begin(cluster: &Cluster, queue: &QueueSettings, job: &Job) -> Option<Site> {
    if !job.asks_for_tasks() {
        return None;
    }
    let rules = &queue.placer;
    let asked = || job.phases.iter().filter(|(_, phase)| phase.pending > 0);
    let most = asked().filter(|(key, _)| key.partition == PartitionId(0)).max_by_key(|(_, phase)| phase.pending);
    let Some((key, _)) = most else {
        return asked().next().map(|_| Site { verdict: Some(Verdict::by_label()), ..job.site.clone() });
    };
    if !both_hold(cluster, key) {
        return None;
    }
    let tasks = tasks(job, key);
    let told = job.hints.under(&queue.hints).input_bytes;
    let input = told.unwrap_or_else(|| rules.task_input.saturating_mul(tasks.into()));
    let decided = |verdict| Some(Site { verdict: Some(verdict), input, ..job.site.clone() });
    let question = Question { input, nodes: PerSide::from_fn(|side| cluster.sides()[side].live_nodes()) };
    if let Some(times) = rules::ask(rules, question, job.earlier.runs()) {
        return decided(Verdict::by_rule(times, rules.difference));
    }
    let sample = Sample::begin(*key, tasks, rules.samples, cluster.now());
    if sample.is_done() {
        return decided(Verdict::by_sample(Side::Virtual, None));
    }
    Some(Site { sample: Some(sample), input, ..job.site.clone() })
}

/// What the job's first tasks have told, if they are done, or have had their time, or cannot run on both sides any more.
fn after_sample(cluster: &Cluster, rules: &PlacerSettings, job: &Job, sample: &Sample) -> Option<Verdict> {
    let late = cluster.now().since(sample.since) >= rules.sampling_timeout;
    if !sample.is_done() && !late && both_hold(cluster, &sample.phase) {
        return None;
    }
    let places = PerSide::from_fn(|side| sample.phase.resource.times_in(cluster.sides()[side].live));
    let times: Option<Times> = sample.times(tasks(job, &sample.phase), places);
    let side = times.map(|times| times.side(rules.difference)).or_else(|| sample.only_side());
    Some(Verdict::by_sample(side.unwrap_or(Side::Virtual), times))
}

/// Whether the job may leave its side: because no node there is large enough for what it asks, or because the other side has
/// nothing else to do.
fn is_open(cluster: &Cluster, rules: &PlacerSettings, job: &Job, own: Side, busy: &PerSide<bool>) -> bool {
    let mut asked = job.phases.iter().filter(|(key, phase)| key.partition == PartitionId(0) && phase.pending > 0);
    let fits_nowhere = asked.any(|(key, _)| !cluster.sides()[Some(own)].holds(key.resource));
    fits_nowhere || (rules.spill && !busy[Some(own.other())])
}

/// On which sides somebody wants more who belongs there, or may run anywhere.
fn busy_sides(cluster: &Cluster, settings: &Settings) -> PerSide<bool> {
    let mut busy = PerSide::default();
    if !settings.any_spill() {
        return busy;
    }
    for job in cluster.jobs().values().filter(|job| job.wants() && job.may_start() && !job.backs_off) {
        let own = job.site.verdict.and_then(|verdict| verdict.side);
        for side in Side::BOTH.into_iter().filter(|side| own.is_none_or(|own| own == *side)) {
            busy[Some(side)] = true;
        }
    }
    busy
}

/// Tasks of that kind, done or not.
fn tasks(job: &Job, key: &PhaseKey) -> u32 {
    job.phases.get(key).map_or(0, |phase| phase.finished) + job.to_do(*key)
}

fn both_hold(cluster: &Cluster, key: &PhaseKey) -> bool {
    Side::BOTH.into_iter().all(|side| cluster.sides()[Some(side)].holds(key.resource))
}
