//! What schedulers reach that know every task's run time, and may stop work and move it for nothing: how good a schedule can be.
//!
//! The cluster is one pool of memory. A job's stages follow each other, its ApplicationMaster holds nothing, and its tasks go in
//! their order, those that were begun first.

use std::collections::VecDeque;

use crate::workload::cluster::{self as workload, Stage};
use hiatus_core::units::Millis;

/// Which job goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The least remaining work first, preemptive: *the ideal*, which distances are measured from. On one container at a time
    /// nothing has a smaller mean (Schrage, 1968); on several it is near that, and no bound.
    Srpt,
    /// The first to end if all shared the pool goes first, preemptive: HFSP's order with sizes known.
    Fsp,
    /// The least work first; nothing is taken back.
    Sjf,
    /// The first to come first; nothing is taken back.
    Fifo,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 4] = [Order::Srpt, Order::Fsp, Order::Sjf, Order::Fifo];

    /// As it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Order::Srpt => "the ideal",
            Order::Fsp => "fsp",
            Order::Sjf => "sjf",
            Order::Fifo => "fifo",
        }
    }

    fn is_preemptive(self) -> bool {
        matches!(self, Order::Srpt | Order::Fsp)
    }
}

/// A cluster as if its nodes were one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    /// Memory of all nodes together, in MiB.
    pub memory_mb: i64,
    /// From a job's submission to its first task.
    pub master_start: Millis,
    /// From a task's start to its work.
    pub task_start: Millis,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    left: Millis,
    memory_mb: i64,
}

impl Task {
    /// In MiB × ms.
    fn work(&self) -> u64 {
        self.memory_mb.unsigned_abs() * self.left.0
    }
}

#[derive(Debug)]
struct Job {
    /// Its place in the workload.
    number: usize,
    submitted: Millis,
    ready: Millis,
    /// Tasks that do not run, by stage; the first stage is the one that may.
    waiting: VecDeque<VecDeque<Task>>,
    running: Vec<Task>,
    /// Work of all its tasks, in MiB × ms.
    work: u64,
    /// When it would end if all shared the pool.
    shared_end: Millis,
}

impl Job {
    fn new(number: usize, job: &workload::Job, pool: &Pool) -> Job {
        let tasks = |stage: &Stage| {
            let left = |task| stage.times.of(task) + pool.task_start;
            (0..stage.times.count()).map(|task| Task { left: left(task), memory_mb: stage.size.memory_mb }).collect()
        };
        let waiting: VecDeque<VecDeque<Task>> = job.stages.iter().map(tasks).collect();
        let work = waiting.iter().flatten().map(Task::work).sum();
        let (submitted, ready) = (job.at, job.at + pool.master_start);
        Job { number, submitted, ready, waiting, running: Vec::new(), work, shared_end: Millis::default() }
    }

    fn remaining(&self) -> u64 {
        self.waiting.iter().flatten().chain(&self.running).map(Task::work).sum()
    }

    /// MiB that its widest stage can use.
    fn width_mb(&self) -> i64 {
        let width = |stage: &VecDeque<Task>| stage.iter().map(|task| task.memory_mb).sum();
        self.waiting.iter().map(width).max().unwrap_or_default()
    }

    /// Where it is in the order: the smallest goes first.
    fn place(&self, order: Order) -> u64 {
        match order {
            Order::Srpt => self.remaining(),
            Order::Fsp => self.shared_end.0,
            Order::Sjf => self.work,
            Order::Fifo => self.submitted.0,
        }
    }

    /// Its tasks stop, and are its next ones.
    fn stop(&mut self) {
        for task in self.running.drain(..).rev() {
            if let Some(stage) = self.waiting.front_mut() {
                stage.push_front(task);
            }
        }
    }

    /// Begins what fits into so many MiB; what is left of them.
    fn begin(&mut self, mut free_mb: i64) -> i64 {
        let Some(stage) = self.waiting.front_mut() else { return free_mb };
        while let Some(task) = stage.front().copied().filter(|task| task.memory_mb <= free_mb) {
            free_mb -= task.memory_mb;
            stage.pop_front();
            self.running.push(task);
        }
        free_mb
    }

    /// Works for so long, which is no longer than any of its tasks needs.
    fn advance(&mut self, span: Millis) {
        self.running.iter_mut().for_each(|task| task.left = task.left.since(span));
        self.running.retain(|task| task.left > Millis(0));
        while self.running.is_empty() && self.waiting.front().is_some_and(VecDeque::is_empty) {
            self.waiting.pop_front();
        }
    }

    fn is_done(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }
}

impl Pool {
    /// From each job's submission to its end under that order, in seconds; NaN for a job with a task that fits nowhere.
    pub fn sojourns_s(&self, jobs: &[workload::Job], order: Order) -> Vec<f64> {
        let mut sojourns_s = vec![f64::NAN; jobs.len()];
        let mut coming: Vec<Job> = jobs.iter().enumerate().map(|(number, job)| Job::new(number, job, self)).collect();
        coming.sort_by_key(|job| job.ready);
        if order == Order::Fsp {
            self.share_out(&mut coming);
        }
        let (mut coming, mut here, mut now) = (VecDeque::from(coming), Vec::<Job>::new(), Millis(0));
        loop {
            let arrived = coming.partition_point(|job| job.ready <= now);
            here.extend(coming.drain(..arrived));
            if order.is_preemptive() {
                here.iter_mut().for_each(Job::stop);
            }
            here.sort_by_cached_key(|job| job.place(order));
            let held_mb: i64 = here.iter().flat_map(|job| &job.running).map(|task| task.memory_mb).sum();
            here.iter_mut().fold(self.memory_mb - held_mb, |free_mb, job| job.begin(free_mb));
            let ends = here.iter().flat_map(|job| &job.running).map(|task| task.left);
            let Some(span) = ends.chain(coming.front().map(|job| job.ready.since(now))).min() else { break };
            now = now + span;
            here.iter_mut().for_each(|job| job.advance(span));
            here.retain(|job| {
                if job.is_done() {
                    sojourns_s[job.number] = now.since(job.submitted).seconds();
                }
                !job.is_done()
            });
        }
        sojourns_s
    }

    /// Mean of the sojourns, in seconds.
    pub fn mean_s(&self, jobs: &[workload::Job], order: Order) -> f64 {
        self.sojourns_s(jobs, order).iter().sum::<f64>() / jobs.len() as f64
    }

    /// When each of these, by their arrivals, would end if all shared the pool equally, as far as their widest stages can use it.
    fn share_out(&self, jobs: &mut [Job]) {
        let width_mb: Vec<i64> = jobs.iter().map(Job::width_mb).collect();
        let mut left: Vec<f64> = jobs.iter().map(|job| job.work as f64).collect();
        let (mut here, mut arrived, mut now) = (Vec::<usize>::new(), 0, 0.0);
        loop {
            while let Some(job) = jobs.get(arrived).filter(|job| job.ready.0 as f64 <= now) {
                debug_assert!(job.work > 0, "jobs have work");
                here.push(arrived);
                arrived += 1;
            }
            here.sort_by_key(|&job| width_mb[job]);
            let (mut free_mb, mut others) = (self.memory_mb as f64, here.len());
            let mut share = |job: &usize| {
                let share_mb = (free_mb / others as f64).min(width_mb[*job] as f64);
                (free_mb, others) = (free_mb - share_mb, others - 1);
                share_mb
            };
            let shares_mb: Vec<f64> = here.iter().map(&mut share).collect();
            let end = here.iter().zip(&shares_mb).map(|(&job, share_mb)| now + left[job] / share_mb);
            let next = end.chain(jobs.get(arrived).map(|job| job.ready.0 as f64)).min_by(f64::total_cmp);
            let Some(next) = next else { break };
            for (&job, share_mb) in here.iter().zip(&shares_mb) {
                left[job] -= (next - now) * share_mb;
            }
            now = next;
            here.retain(|&job| {
                let is_done = left[job] <= ROUNDING * jobs[job].work as f64;
                if is_done {
                    jobs[job].shared_end = Millis(now.round() as u64);
                }
                !is_done
            });
        }
    }
}

/// What is left of a job's work for rounding only, as a part of it.
const ROUNDING: f64 = 1e-6;

#[cfg(test)]
mod tests;
