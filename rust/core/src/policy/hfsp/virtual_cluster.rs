//! The virtual cluster (HFSP thesis, section 4.3): what would be left of each job if a cluster as large as the real one
//! were shared max-min fairly. Its clock orders the real service, so that jobs age: whoever waits gets virtual service,
//! comes closer to the front and cannot starve.
//!
//! Shares are fluid: a job gets no more than its tasks can use, and what some leave is shared by the others in proportion
//! to their weights. Between two virtual completions rates are constant, so an advance costs O(jobs log jobs) per
//! completion in it, and nothing per task.
//!
//! YARN's containers are one pool, so there is one virtual cluster for all phases, and the *job* is what shares in it: its
//! phases draw on the job's share in the order in which they appeared. With one virtual cluster for maps and another for
//! reduces, as the thesis has them for Hadoop's separate slots, a job with maps and reduces in flight would age twice as
//! fast as one without, in capacity that does not exist twice.

use super::waves::Waves;
use crate::entitlement::{max_min, EPSILON};
use crate::fact::PhaseKey;
use crate::units::{AppId, Millis, Resource};
use std::collections::BTreeMap;

/// A job in the virtual cluster. It stays until it is virtually done, even when it is really done: as under fair sharing
/// it takes its share from the others until then.
#[derive(Clone, Debug, Default)]
struct VirtualJob {
    weight: f64,
    phases: Vec<(PhaseKey, Waves)>,
    /// It left in reality.
    gone: bool,
    /// The how-manieth it was to become virtually done.
    finished: Option<u64>,
}

impl VirtualJob {
    fn is_done(&self) -> bool {
        self.phases.iter().all(|(_, waves)| waves.tasks_left() == 0)
    }
}

/// Jobs under max-min fair sharing.
#[derive(Debug, Default)]
pub struct VirtualCluster {
    jobs: BTreeMap<AppId, VirtualJob>,
    at: Millis,
    finishes: u64,
}

impl VirtualCluster {
    /// Lets time pass until `now`, in which `capacity` (a fraction of `total`) is shared, `speed` times as fast as in
    /// reality. The first call sets the clock.
    pub fn advance(&mut self, now: Millis, capacity: f64, total: Resource, speed: f64) {
        let mut left = if self.jobs.is_empty() { 0.0 } else { now.since(self.at).seconds() * speed };
        self.at = now;
        // A round ends with a phase that is done or has fewer tasks than it had containers: each does so twice at most.
        let rounds = 8 + 4 * self.jobs.values().map(|job| job.phases.len()).sum::<usize>();
        for _ in 0..rounds {
            let rates = self.rates(capacity, total);
            if left <= 0.0 || rates.is_empty() {
                break;
            }
            let mut span = left;
            for (app, phase, containers) in &rates {
                if let Some(waves) = self.at_mut(*app, *phase) {
                    waves.begin(*containers);
                    span = span.min(waves.seconds_to_change(*containers));
                }
            }
            for (app, phase, containers) in &rates {
                if let Some(waves) = self.at_mut(*app, *phase) {
                    waves.serve(*containers, span);
                }
            }
            left -= span;
            self.settle();
        }
    }

    /// How many containers serve which phase, by its place in its job.
    fn rates(&self, capacity: f64, total: Resource) -> Vec<(AppId, usize, f64)> {
        let unfinished: Vec<_> = self.jobs.iter().filter(|(_, job)| job.finished.is_none()).collect();
        let one = |key: &PhaseKey| key.resource.dominant_share(total);
        let bound = |(key, waves): &(PhaseKey, Waves)| f64::from(waves.tasks_left()) * one(key);
        let claims: Vec<_> =
            unfinished.iter().map(|(_, job)| (job.weight, job.phases.iter().map(bound).sum())).collect();
        let mut rates = Vec::new();
        for ((app, job), mut share) in unfinished.into_iter().zip(max_min(capacity, &claims)) {
            for (at, phase) in job.phases.iter().enumerate() {
                let given = share.min(bound(phase));
                share -= given;
                if given > EPSILON {
                    rates.push((*app, at, given / one(&phase.0)));
                }
            }
        }
        rates
    }

    /// A phase of a job comes in.
    pub fn enter(&mut self, app: AppId, weight: f64, key: PhaseKey, waves: Waves) {
        let job = self.jobs.entry(app).or_default();
        job.weight = weight;
        job.phases.push((key, waves));
        self.settle();
    }

    /// Changes what is known of a phase.
    pub fn update(&mut self, app: AppId, key: PhaseKey, change: impl FnOnce(&mut Waves)) {
        let phases = self.jobs.get_mut(&app).into_iter().flat_map(|job| &mut job.phases);
        if let Some((_, waves)) = phases.into_iter().find(|(other, _)| *other == key) {
            change(waves);
            self.settle();
        }
    }

    /// The job left in reality. If it did so before its work was done, nothing of it remains.
    pub fn leave(&mut self, app: AppId, done: bool) {
        if let Some(job) = self.jobs.get_mut(&app) {
            job.gone = true;
        }
        if !done {
            self.jobs.remove(&app);
        }
        self.settle();
    }

    /// What is left of a job, in seconds of `total`.
    pub fn remaining(&self, app: AppId, total: Resource) -> f64 {
        let phases = self.jobs.get(&app).into_iter().flat_map(|job| &job.phases);
        phases.fold(0.0, |sum, (key, waves)| sum + waves.remaining_s() * key.resource.dominant_share(total))
    }

    /// Whether the job is virtually done, and the how-manieth it was.
    pub fn finished(&self, app: AppId) -> Option<u64> {
        self.jobs.get(&app).and_then(|job| job.finished)
    }

    /// Whether that phase of the job is virtually done.
    pub fn is_done(&self, app: AppId, key: PhaseKey) -> bool {
        let phases = self.jobs.get(&app).into_iter().flat_map(|job| &job.phases);
        phases.into_iter().any(|(other, waves)| *other == key && waves.tasks_left() == 0)
    }

    /// Jobs in it, virtually done or not.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    fn at_mut(&mut self, app: AppId, phase: usize) -> Option<&mut Waves> {
        self.jobs.get_mut(&app).and_then(|job| job.phases.get_mut(phase)).map(|(_, waves)| waves)
    }

    /// Notes who became virtually done, and forgets who is so in both worlds.
    fn settle(&mut self) {
        for job in self.jobs.values_mut() {
            if !job.is_done() {
                job.finished = None;
            } else if job.finished.is_none() {
                self.finishes += 1;
                job.finished = Some(self.finishes);
            }
        }
        self.jobs.retain(|_, job| !(job.gone && job.finished.is_some()));
    }
}
