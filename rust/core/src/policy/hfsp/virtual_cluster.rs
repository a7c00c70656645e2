//! The virtual cluster (HFSP thesis, section 4.3): what would be left of each job if a cluster as large as the real one
//! were shared max-min fairly. Its clock orders the real service, so that jobs age: whoever waits gets virtual service,
//! comes closer to the front and cannot starve.
//!
//! Shares are fluid: a job gets no more than its tasks can use, and what some leave is shared by the others in proportion
//! to their weights. Between two virtual completions rates are constant, so an advance costs a walk over the unfinished jobs
//! per completion in it, and nothing per task: they stay sorted by when their share is all they can use.
//!
//! YARN's containers are one pool, so there is one virtual cluster for all phases, and the *job* is what shares in it: its
//! phases draw on the job's share in the order in which they appeared. With one virtual cluster for maps and another for
//! reduces, as the thesis has them for Hadoop's separate slots, a job with maps and reduces in flight would age twice as
//! fast as one without, in capacity that does not exist twice.

use super::waves::Waves;
use crate::entitlement::EPSILON;
use crate::fact::PhaseKey;
use crate::units::{AppId, Millis, Resource};

/// A phase in the virtual cluster.
#[derive(Clone, Debug)]
struct VirtualPhase {
    key: PhaseKey,
    waves: Waves,
    /// What one of its containers is of the cluster.
    one: f64,
    /// How many of them serve it at present.
    containers: f64,
}

impl VirtualPhase {
    /// What it can use at most.
    fn bound(&self) -> f64 {
        f64::from(self.waves.tasks_left()) * self.one
    }
}

/// A job in the virtual cluster. It stays until it is virtually done, even when it is really done: as under fair sharing
/// it takes its share from the others until then.
#[derive(Clone, Debug)]
struct VirtualJob {
    app: AppId,
    weight: f64,
    phases: Vec<VirtualPhase>,
    /// It left in reality.
    gone: bool,
    /// The how-manieth it was to become virtually done.
    finished: Option<u64>,
}

impl VirtualJob {
    fn is_done(&self) -> bool {
        self.phases.iter().all(|phase| phase.waves.tasks_left() == 0)
    }
}

/// Jobs under max-min fair sharing.
#[derive(Clone, Debug, Default)]
pub struct VirtualCluster {
    /// By handle.
    jobs: Vec<VirtualJob>,
    at: Millis,
    total: Resource,
    finishes: u64,
    /// Unfinished jobs by the level at which they have all they can use: that level, and their places in `jobs`.
    levels: Vec<(f64, usize)>,
    /// Whether `levels` has the right jobs.
    known: bool,
}

impl VirtualCluster {
    /// Lets time pass until `now`, in which `capacity` (a fraction of `total`) is shared, `speed` times as fast as in
    /// reality. The first call sets the clock.
    pub fn advance(&mut self, now: Millis, capacity: f64, total: Resource, speed: f64) {
        let mut left = if self.jobs.is_empty() { 0.0 } else { now.since(self.at).seconds() * speed };
        self.at = now;
        if self.total != total {
            self.total = total;
            let phases = self.jobs.iter_mut().flat_map(|job| &mut job.phases);
            phases.for_each(|phase| phase.one = phase.key.resource.dominant_share(total));
        }
        // A round ends with a phase that is done or has fewer tasks than it had containers: each does so twice at most.
        let rounds = 8 + 4 * self.jobs.iter().map(|job| job.phases.len()).sum::<usize>();
        for _ in 0..rounds {
            if left <= 0.0 || !self.share(capacity) {
                break;
            }
            left -= self.serve(left);
        }
    }

    /// Divides the capacity; false if nobody can use any of it.
    fn share(&mut self, capacity: f64) -> bool {
        if !std::mem::replace(&mut self.known, true) {
            self.levels.clear();
            let unfinished = self.jobs.iter().enumerate().filter(|(_, job)| job.finished.is_none() && job.weight > 0.0);
            self.levels.extend(unfinished.map(|(at, _)| (0.0, at)));
        }
        let mut weight = 0.0;
        for (level, at) in &mut self.levels {
            let job = &self.jobs[*at];
            *level = job.phases.iter().map(VirtualPhase::bound).sum::<f64>() / job.weight;
        }
        // Hardly anything moves from one round to the next, and sorting what is sorted is a walk.
        self.levels.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, at) in &self.levels {
            weight += self.jobs[*at].weight;
        }
        let (mut left, mut any) = (capacity.max(0.0), false);
        for (_, at) in &self.levels {
            let job = &mut self.jobs[*at];
            let bound: f64 = job.phases.iter().map(VirtualPhase::bound).sum();
            let mut share = (left * job.weight / weight).min(bound).max(0.0);
            left -= share;
            weight -= job.weight;
            for phase in &mut job.phases {
                let given = share.min(phase.bound());
                share -= given;
                phase.containers = if given > EPSILON { given / phase.one } else { 0.0 };
                any |= given > EPSILON;
            }
        }
        any
    }

    /// Serves all until rates change, but no longer than `at_most` seconds; how long that was.
    fn serve(&mut self, at_most: f64) -> f64 {
        let mut span = at_most;
        for (_, at) in &self.levels {
            for phase in self.jobs[*at].phases.iter_mut().filter(|phase| phase.containers > 0.0) {
                phase.waves.begin(phase.containers);
                span = span.min(phase.waves.seconds_to_change(phase.containers));
            }
        }
        let mut done = false;
        for (_, at) in &self.levels {
            let job = &mut self.jobs[*at];
            for phase in job.phases.iter_mut().filter(|phase| phase.containers > 0.0) {
                phase.waves.serve(phase.containers, span);
            }
            done |= job.is_done();
        }
        if done {
            self.settle();
        }
        span
    }

    /// A phase of a job comes in.
    pub fn enter(&mut self, app: AppId, weight: f64, key: PhaseKey, waves: Waves) {
        let at = self.position(app).unwrap_or_else(|at| {
            self.known = false;
            let job = VirtualJob { app, weight, phases: Vec::new(), gone: false, finished: None };
            self.jobs.insert(at, job);
            at
        });
        let one = key.resource.dominant_share(self.total);
        self.jobs[at].weight = weight;
        self.jobs[at].phases.push(VirtualPhase { key, waves, one, containers: 0.0 });
        self.settle_job(at);
    }

    /// Changes what is known of a phase.
    pub fn update(&mut self, app: AppId, key: PhaseKey, change: impl FnOnce(&mut Waves)) {
        let Ok(at) = self.position(app) else { return };
        if let Some(phase) = self.jobs[at].phases.iter_mut().find(|phase| phase.key == key) {
            change(&mut phase.waves);
            self.settle_job(at);
        }
    }

    /// A phase's containers are of another size than was thought.
    pub fn rename(&mut self, app: AppId, from: PhaseKey, to: PhaseKey) {
        let Ok(at) = self.position(app) else { return };
        if let Some(phase) = self.jobs[at].phases.iter_mut().find(|phase| phase.key == from) {
            (phase.key, phase.one) = (to, to.resource.dominant_share(self.total));
        }
    }

    /// The job left in reality. If it did so before its work was done, nothing of it remains.
    pub fn leave(&mut self, app: AppId, done: bool) {
        let Ok(at) = self.position(app) else { return };
        self.jobs[at].gone = true;
        if !done || self.jobs[at].finished.is_some() {
            self.jobs.remove(at);
            self.known = false;
        }
    }

    /// What is left of a job, in seconds of `total`.
    pub fn remaining(&self, app: AppId, total: Resource) -> f64 {
        let one = |phase: &VirtualPhase| match total == self.total {
            true => phase.one,
            false => phase.key.resource.dominant_share(total),
        };
        self.phases(app).fold(0.0, |sum, phase| sum + phase.waves.remaining_s() * one(phase))
    }

    /// Whether the job is virtually done, and the how-manieth it was.
    pub fn finished(&self, app: AppId) -> Option<u64> {
        self.position(app).ok().and_then(|at| self.jobs[at].finished)
    }

    /// Whether that phase of the job is virtually done.
    pub fn is_done(&self, app: AppId, key: PhaseKey) -> bool {
        self.phases(app).any(|phase| phase.key == key && phase.waves.tasks_left() == 0)
    }

    /// Jobs in it, virtually done or not.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    fn position(&self, app: AppId) -> Result<usize, usize> {
        // Newcomers have the largest handles.
        match self.jobs.last() {
            Some(last) if last.app < app => Err(self.jobs.len()),
            _ => self.jobs.binary_search_by_key(&app, |job| job.app),
        }
    }

    fn phases(&self, app: AppId) -> impl Iterator<Item = &VirtualPhase> {
        self.position(app).into_iter().flat_map(|at| &self.jobs[at].phases)
    }

    /// Notes whether the job became virtually done, and forgets it if it is so in both worlds.
    fn settle_job(&mut self, at: usize) {
        self.note(at);
        if self.jobs[at].gone && self.jobs[at].finished.is_some() {
            self.jobs.remove(at);
        }
    }

    /// The same for all.
    fn settle(&mut self) {
        (0..self.jobs.len()).for_each(|at| self.note(at));
        self.jobs.retain(|job| !(job.gone && job.finished.is_some()));
    }

    fn note(&mut self, at: usize) {
        let job = &mut self.jobs[at];
        let done = job.is_done();
        if done != job.finished.is_some() {
            self.known = false;
            self.finishes += u64::from(done);
            job.finished = done.then_some(self.finishes);
        }
    }
}
