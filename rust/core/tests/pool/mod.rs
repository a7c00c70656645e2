//! A pool of equal slots in which jobs run as a policy says, at once and exactly: tasks are suspended and resumed without
//! cost. What a policy is worth by itself, without YARN around it.

use hiatus_core::fact::PhaseKey;
use hiatus_core::hints::Hints;
use hiatus_core::policy::{create, Policy, Supply, Target};
use hiatus_core::settings::{PolicyKind, Settings, Word};
use hiatus_core::units::{AppId, Millis, PartitionId, Resource};
use hiatus_core::view::{JobView, PhaseView, TaskView, UnderWay};
use std::collections::BTreeMap;

/// A slot.
pub const ONE: Resource = Resource { memory_mb: 1024, vcores: 0 };

/// A job: its phases run one after the other, each with its tasks' times in ms.
#[derive(Clone, Debug, Default)]
pub struct Job {
    pub at: u64,
    pub phases: Vec<Vec<u64>>,
    pub tags: Vec<String>,
}

impl Job {
    pub fn at(seconds: f64) -> Job {
        Job { at: (seconds * 1000.0) as u64, ..Job::default() }
    }

    /// One more phase: `tasks` tasks of `seconds` each.
    pub fn phase(self, tasks: usize, seconds: f64) -> Job {
        self.uneven(vec![(seconds * 1000.0) as u64; tasks])
    }

    pub fn uneven(mut self, tasks: Vec<u64>) -> Job {
        self.phases.push(tasks);
        self
    }

    pub fn tag(mut self, tag: &str) -> Job {
        self.tags.push(tag.to_string());
        self
    }
}

#[derive(Clone, Copy, Default)]
struct Task {
    started: Option<u64>,
    ran: u64,
    on: bool,
    was_on: bool,
    done: bool,
}

/// The pool and its clock.
pub struct Pool {
    pub slots: u32,
    /// What is decided holds for so long, in ms.
    pub tick: u64,
    pub now: u64,
    /// Tasks tell how far they are.
    pub reports: bool,
    jobs: Vec<Job>,
    tasks: Vec<Vec<Vec<Task>>>,
    starts: u64,
    /// Jobs that ended in the last ticks.
    ended: Vec<usize>,
    /// When each job was done, in s.
    pub done: Vec<Option<f64>>,
}

/// A scheduler of a pool: the jobs in, places and targets out.
pub type Plan<'a> = dyn FnMut(&Supply<'_>, &[JobView]) -> Vec<Target> + 'a;

impl Pool {
    pub fn new(slots: u32, jobs: Vec<Job>) -> Pool {
        let blank = |job: &Job| job.phases.iter().map(|tasks| vec![Task::default(); tasks.len()]).collect();
        let (tasks, done) = (jobs.iter().map(blank).collect(), vec![None; jobs.len()]);
        Pool { slots, tick: 500, now: 0, reports: false, jobs, tasks, starts: 0, ended: Vec::new(), done }
    }

    /// Runs all jobs to their ends.
    pub fn run(&mut self, settings: &Settings, plan: &mut Plan<'_>) -> Vec<f64> {
        while self.done.iter().any(Option::is_none) {
            assert!(self.now < 100_000_000, "unfinished: {:?}", self.done);
            self.step(settings, plan);
        }
        self.done.iter().map(|done| done.unwrap()).collect()
    }

    /// Lets one tick pass; the views and targets of it.
    pub fn step(&mut self, settings: &Settings, plan: &mut Plan<'_>) -> (Vec<JobView>, Vec<Target>) {
        let total = ONE.times(self.slots);
        let views: Vec<JobView> = (0..self.jobs.len()).filter_map(|id| self.view(id, total)).collect();
        let settings = settings.queue("root.default");
        let demand: f64 = views.iter().map(|job| job.demand).sum();
        let supply = Supply { now: Millis(self.now), total, entitled: demand.min(1.0), attainable: 1.0, settings };
        let targets = plan(&supply, &views);
        self.give(&targets);
        self.serve();
        (views, targets)
    }

    pub fn view(&self, id: usize, total: Resource) -> Option<JobView> {
        if self.jobs[id].at > self.now || self.done[id].is_some() {
            return None;
        }
        let one = ONE.dominant_share(total);
        let open = self.tasks[id].iter().position(|tasks| tasks.iter().any(|task| !task.done))?;
        let phases: Vec<PhaseView> = (0..=open).map(|phase| self.phase(id, phase, one)).collect();
        let left: u32 = phases.iter().map(PhaseView::left).sum();
        let held: u32 = phases.iter().map(|phase| phase.held).sum();
        Some(JobView {
            app: AppId(id as u32),
            submitted: Millis(self.jobs[id].at),
            priority: 0,
            held: f64::from(held) * one,
            demand: f64::from(left) * one,
            masters: 0.0,
            attained: 0.0,
            remaining: 0.0,
            hints: Hints::read(&self.jobs[id].tags, 0),
            phases,
            changed: true,
        })
    }

    fn phase(&self, id: usize, phase: usize, one: f64) -> PhaseView {
        let tasks = &self.tasks[id][phase];
        let count = |which: &dyn Fn(&Task) -> bool| tasks.iter().filter(|task| which(task)).count() as u32;
        let mut first: Vec<_> =
            tasks.iter().zip(&self.jobs[id].phases[phase]).filter(|(t, _)| t.started.is_some()).collect();
        first.sort_by_key(|(task, _)| task.started);
        let view = |(task, size): &(&Task, &u64)| {
            let progress = self.reports.then_some(task.ran as f64 / **size as f64);
            if task.done {
                TaskView::Finished { worked: Millis(task.ran) }
            } else {
                TaskView::Running { worked: Millis(task.ran), runs: task.on, progress }
            }
        };
        let done = tasks.iter().filter(|task| task.done);
        PhaseView {
            unasked: 0,
            gated: false,
            key: PhaseKey { priority: 20 - 10 * phase as i32, partition: PartitionId(0), resource: ONE },
            one,
            pending: count(&|task| task.started.is_none()),
            held: count(&|task| task.on && !task.done),
            suspended: count(&|task| task.started.is_some() && !task.on && !task.done),
            finished: count(&|task| task.done),
            finished_time: done.fold(Millis(0), |sum, task| sum + Millis(task.ran)),
            earlier_s: None,
            told: None,
            first: first.iter().map(view).collect(),
            others: UnderWay::default(),
        }
    }

    /// Slots to the jobs in order, each up to its target: what runs goes on, what is suspended comes next.
    fn give(&mut self, targets: &[Target]) {
        for task in self.tasks.iter_mut().flatten().flatten() {
            (task.was_on, task.on) = (task.on, false);
        }
        let mut given: BTreeMap<AppId, u32> = BTreeMap::new();
        let mut left = self.slots;
        for target in targets {
            let given = given.entry(target.app).or_default();
            let id = target.app.0 as usize;
            let mut more = ((target.share * f64::from(self.slots) + 1e-6) as u32).saturating_sub(*given).min(left);
            for phase in 0..self.tasks[id].len() {
                if self.tasks[id][..phase].iter().flatten().any(|task| !task.done) {
                    break;
                }
                let mut open: Vec<usize> = (0..self.tasks[id][phase].len())
                    .filter(|&t| !self.tasks[id][phase][t].done && !self.tasks[id][phase][t].on)
                    .collect();
                let tasks = &self.tasks[id][phase];
                open.sort_by_key(|&task| (!tasks[task].was_on, tasks[task].started.unwrap_or(u64::MAX)));
                for task in open.into_iter().take(more as usize) {
                    more -= 1;
                    left -= 1;
                    *given += 1;
                    self.starts += 1;
                    let task = &mut self.tasks[id][phase][task];
                    task.on = true;
                    task.started.get_or_insert(self.starts);
                }
            }
        }
    }

    fn serve(&mut self) {
        self.now += self.tick;
        for (id, phases) in self.tasks.iter_mut().enumerate() {
            for (tasks, sizes) in phases.iter_mut().zip(&self.jobs[id].phases) {
                for (task, size) in tasks.iter_mut().zip(sizes).filter(|(task, _)| task.on && !task.done) {
                    task.ran += self.tick;
                    task.done = task.ran >= *size;
                }
            }
            if self.done[id].is_none() && phases.iter().flatten().all(|task| task.done) {
                self.done[id] = Some(self.now as f64 / 1000.0);
                self.ended.push(id);
            }
        }
    }
}

/// A policy at work under some settings, with the ends of its jobs told to it.
pub struct Live {
    pub policy: Box<dyn Policy>,
    pub settings: Settings,
}

impl Live {
    pub fn of(policy: &str, knobs: &[(&str, &str)]) -> Live {
        let key = |knob: &str| format!("yarn.scheduler.hiatus.{knob}");
        let properties = knobs.iter().map(|(knob, value)| (key(knob), value.to_string())).collect();
        let settings = Settings::parse(&properties).unwrap();
        Live { policy: create(PolicyKind::named(policy).unwrap()), settings }
    }

    /// Runs the pool's jobs to their ends.
    pub fn run(&mut self, pool: &mut Pool) -> Vec<f64> {
        while pool.done.iter().any(Option::is_none) {
            assert!(pool.now < 100_000_000, "unfinished: {:?}", pool.done);
            self.step(pool);
        }
        pool.done.iter().map(|done| done.unwrap()).collect()
    }

    /// Lets one tick of the pool pass, after the ends of the last one were told.
    pub fn step(&mut self, pool: &mut Pool) -> (Vec<JobView>, Vec<Target>) {
        for id in std::mem::take(&mut pool.ended) {
            let one = ONE.dominant_share(ONE.times(pool.slots));
            let phases: Vec<_> = (0..pool.jobs[id].phases.len()).map(|phase| pool.phase(id, phase, one)).collect();
            self.policy.departed(AppId(id as u32), &phases);
        }
        let settings = self.settings.clone();
        pool.step(&settings, &mut |supply, jobs| self.policy.plan(supply, jobs))
    }

    /// By which rule the job is sized, its size and what is virtually left, in slot-seconds of that pool.
    pub fn sizing(&self, job: u32, pool: &Pool) -> (&'static str, f64, f64) {
        let sizing = self.policy.sizing(AppId(job)).unwrap();
        let slots = f64::from(pool.slots);
        (sizing.source, sizing.estimate_s * slots, sizing.virtual_remaining_s * slots)
    }
}

/// Mean time from arrival to end.
pub fn mean_sojourn(jobs: &[Job], done: &[f64]) -> f64 {
    jobs.iter().zip(done).map(|(job, done)| done - job.at as f64 / 1000.0).sum::<f64>() / jobs.len() as f64
}
