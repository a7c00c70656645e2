//! What is known of how long tasks take, and drawing from it.

use crate::forecast::Unknown;
use hiatus_core::estimate;
use hiatus_core::fact::PhaseKey;
use hiatus_core::state::{Cluster, Job};
use hiatus_core::units::{AppId, Millis};
use hiatus_core::Scheduler;
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// So many tasks must have been seen before nothing but those tells how far tasks of a phase differ.
const FEW: usize = 5;

/// Until then it is taken to be this: parts of the mean.
const ASSUMED: [f64; 5] = [0.5, 0.8, 1.0, 1.2, 1.5];

/// Phases of jobs that ended of which the mean task time is remembered, for each request priority.
const REMEMBERED: usize = 100;

/// Mean task times of other jobs: what is expected of a phase of whose tasks nothing is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Experience {
    ended: BTreeMap<i32, VecDeque<f64>>,
    there: BTreeMap<(AppId, PhaseKey), f64>,
}

impl Experience {
    /// Takes the jobs as they are now into account.
    pub fn see(&mut self, core: &Scheduler) {
        let jobs = core.cluster().jobs();
        let before = std::mem::take(&mut self.there);
        for ((_, key), mean_s) in before.into_iter().filter(|((app, _), _)| !jobs.contains_key(app)) {
            let ended = self.ended.entry(key.priority).or_default();
            ended.push_back(mean_s);
            if ended.len() > REMEMBERED {
                ended.pop_front();
            }
        }
        for (app, job) in jobs {
            let seen = job.phases.iter().filter(|(_, phase)| phase.finished > 0);
            let mean = |finished: u32, time: Millis| time.seconds() / f64::from(finished);
            self.there.extend(seen.map(|(key, phase)| ((*app, *key), mean(phase.finished, phase.finished_time))));
        }
    }

    /// Means of phases of each priority, each as likely, if enough of them are known.
    fn means(&self) -> BTreeMap<i32, Rc<[f64]>> {
        let mut means: BTreeMap<i32, Vec<f64>> = BTreeMap::new();
        for (priority, ended) in &self.ended {
            means.entry(*priority).or_default().extend(ended);
        }
        for ((_, key), mean_s) in &self.there {
            means.entry(key.priority).or_default().push(*mean_s);
        }
        means.into_iter().filter(|(_, of)| of.len() >= FEW).map(|(priority, of)| (priority, of.into())).collect()
    }
}

/// What is known of the task times of one phase.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Means that it may have, in seconds, each as likely.
    means: Rc<[f64]>,
    /// Parts of its mean that single tasks take, each as likely.
    parts: Vec<f64>,
    /// Tasks from which the mean was learnt: it is off by what the mean of so many is.
    seen: usize,
}

impl Known {
    /// By the phase's own tasks, else by earlier runs of its class, else by what its first tasks say of their progress.
    fn of(job: &Job, app: AppId, key: PhaseKey, core: &Scheduler) -> Option<Known> {
        let cluster = core.cluster();
        let phase = job.phases.get(&key).filter(|phase| phase.finished > 0);
        if let Some(phase) = phase {
            let mean = estimate::task_time(phase, Millis(0)).seconds().max(1e-3);
            let first: Vec<f64> = phase.first.iter().filter_map(|first| first.finished).map(Millis::seconds).collect();
            let own = first.iter().sum::<f64>() / first.len().max(1) as f64;
            let mut parts: Vec<f64> = first.iter().map(|time| time / own.max(1e-3)).collect();
            if parts.len() < FEW {
                parts.extend(ASSUMED);
            }
            return Some(Known { means: [mean].into(), parts, seen: phase.finished as usize });
        }
        let queue = core.settings().queue(cluster.queue_path(app));
        if let Some(mean_s) = estimate::first(job, key.priority, queue) {
            return Some(Known { means: [mean_s].into(), parts: ASSUMED.to_vec(), seen: 1 });
        }
        let told = |id| {
            let container = cluster.containers().get(&id)?;
            let done = job.progress_of(id, key).filter(|done| *done > 0.0)?;
            Some(job.worked(id, container, cluster.now()).seconds() / done)
        };
        let told: Vec<f64> =
            job.phases.get(&key)?.first.iter().filter_map(|first| told(first.container)).filter(|s| *s > 0.0).collect();
        let mean = told.iter().sum::<f64>() / told.len() as f64;
        (!told.is_empty()).then(|| Known { means: [mean].into(), parts: ASSUMED.to_vec(), seen: told.len() })
    }

    /// By what such tasks of other jobs take.
    fn of_others(means: &Rc<[f64]>) -> Known {
        Known { means: means.clone(), parts: ASSUMED.to_vec(), seen: usize::MAX }
    }

    /// A mean that the phase may have.
    fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let mean_s = pick(&self.means, rng);
        if self.seen == usize::MAX {
            return mean_s;
        }
        let seen = self.seen.clamp(1, 100);
        mean_s * (0..seen).map(|_| pick(&self.parts, rng)).sum::<f64>() / seen as f64
    }
}

fn pick(from: &[f64], rng: &mut Xoshiro256PlusPlus) -> f64 {
    from.get(rng.random_range(0..from.len().max(1))).copied().unwrap_or(1.0)
}

/// What is known of all jobs' tasks.
#[derive(Debug)]
pub(crate) struct Evidence {
    phases: BTreeMap<(AppId, PhaseKey), Known>,
    unknown: BTreeMap<AppId, Unknown>,
}

impl Evidence {
    pub fn of(core: &Scheduler, experience: &Experience) -> Evidence {
        let others = experience.means();
        let mut evidence = Evidence { phases: BTreeMap::new(), unknown: BTreeMap::new() };
        for (app, job) in core.cluster().jobs() {
            let mut complete = true;
            for key in kinds(job, core.cluster()) {
                let known = Known::of(job, *app, key, core);
                let known = known.or_else(|| others.get(&key.priority).map(Known::of_others));
                complete &= known.is_some() || (job.phases.contains_key(&key) && job.to_do(key) == 0);
                evidence.phases.extend(known.map(|known| ((*app, key), known)));
            }
            let unknown = if job.parked {
                Some(Unknown::Parked)
            } else if job.master.is_none() {
                Some(Unknown::NotBegun)
            } else if !job.is_map_reduce() || !job.says_tasks() {
                Some(Unknown::Totals)
            } else {
                (!complete).then_some(Unknown::TaskTimes)
            };
            evidence.unknown.extend(unknown.map(|unknown| (*app, unknown)));
        }
        evidence
    }

    /// Why nothing can be said of the job's end.
    pub fn unknown(&self, app: AppId) -> Option<Unknown> {
        self.unknown.get(&app).copied()
    }
}

/// The kinds of tasks that a job has: those it asked for, and those of which it said that they are to come.
pub(crate) fn kinds(job: &Job, cluster: &Cluster) -> Vec<PhaseKey> {
    job.asked().copied().chain(cluster.to_come(job)).collect()
}

/// Task times of one run.
#[derive(Debug)]
pub(crate) struct Draws<'a> {
    evidence: &'a Evidence,
    means: BTreeMap<(AppId, PhaseKey), f64>,
    rng: Xoshiro256PlusPlus,
}

impl<'a> Draws<'a> {
    pub fn new(evidence: &'a Evidence, mut rng: Xoshiro256PlusPlus) -> Draws<'a> {
        let means = evidence.phases.iter().map(|(of, known)| (*of, known.draw(&mut rng))).collect();
        Draws { evidence, means, rng }
    }

    /// How long such a task works that has worked for so long already; `None` if nobody knows.
    pub fn total(&mut self, app: AppId, key: PhaseKey, worked: Millis) -> Option<Millis> {
        let known = self.evidence.phases.get(&(app, key))?;
        let mean_s = self.means.get(&(app, key))?;
        let longer: Vec<f64> = known.parts.iter().copied().filter(|part| part * mean_s > worked.seconds()).collect();
        let total_s = match longer.is_empty() {
            false => mean_s * pick(&longer, &mut self.rng),
            // It has outlived all that were seen.
            true => worked.seconds() * (1.0 + 0.5 * self.rng.random::<f64>()),
        };
        Some(Millis((total_s * 1000.0) as u64).max(worked + Millis(1)))
    }
}
