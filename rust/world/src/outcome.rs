//! What became of the jobs.

use crate::app::Spent;
use crate::node_manager::ReduceTime;
use crate::world::{Count, World};
use hiatus_core::policy::EstimateError;
use hiatus_core::units::Millis;

/// What became of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobOutcome {
    /// Its name.
    pub name: String,
    /// Its bin.
    pub bin: u32,
    /// When it was submitted.
    pub submitted: Millis,
    /// When its first task ran.
    pub started: Option<Millis>,
    /// When it was over; `None` if it is not.
    pub finished: Option<Millis>,
    /// Run times of its tasks together, in seconds.
    pub work_s: f64,
    /// What became of its containers.
    pub spent: Spent,
}

impl JobOutcome {
    /// Seconds from submission to end; NaN while it is not over.
    pub fn sojourn_s(&self) -> f64 {
        self.finished.map_or(f64::NAN, |finished| finished.since(self.submitted).seconds())
    }
}

/// What became of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The jobs, in the order in which they were given.
    pub jobs: Vec<JobOutcome>,
    /// What happened, by count.
    pub count: Count,
    /// When the last job was over.
    pub makespan: Millis,
    /// How good the policy's estimates of sizes were; a job's handle is its place in `jobs`.
    pub estimates: Vec<EstimateError>,
}

impl World {
    /// What became of the jobs so far.
    pub fn outcome(&self) -> Outcome {
        let jobs = self.apps().iter().map(|app| JobOutcome {
            name: app.job.name.clone(),
            bin: app.job.bin,
            submitted: app.job.at,
            started: app.first_task,
            finished: app.finished,
            work_s: app.job.work_s(),
            spent: app.spent,
        });
        let jobs: Vec<_> = jobs.collect();
        let makespan = jobs.iter().filter_map(|job| job.finished).max().unwrap_or_default();
        Outcome {
            jobs,
            count: self.count,
            makespan,
            estimates: self.core().planner().estimate_errors().map(|(_, error)| error).collect(),
        }
    }

    /// What the reduces that ended did with the containers they held; nothing of lost nodes.
    pub fn reduce_time(&self) -> ReduceTime {
        let all = self.machines.iter().map(|machine| machine.manager.reduces);
        all.fold(ReduceTime::default(), |sum, one| ReduceTime { held: sum.held + one.held, idle: sum.idle + one.idle })
    }
}

impl Outcome {
    /// Mean sojourn of the jobs for which `which` holds, in seconds; NaN if there are none.
    pub fn mean_sojourn_s(&self, which: impl Fn(&JobOutcome) -> bool) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for job in self.jobs.iter().filter(|job| which(job)) {
            sum += job.sojourn_s();
            count += 1.0;
        }
        sum / count
    }

    /// Seconds of work done in vain.
    pub fn wasted_s(&self) -> f64 {
        self.jobs.iter().map(|job| job.spent.wasted_s).sum()
    }

    /// Memory of suspended containers over all time, in MiB × seconds.
    pub fn suspended_mb_s(&self) -> f64 {
        self.jobs.iter().map(|job| job.spent.suspended_mb_s).sum()
    }

    /// Number of jobs in the system over time: at each change the time in seconds, and the number from then on.
    pub fn in_system(&self) -> Vec<(f64, f64)> {
        let arrivals = self.jobs.iter().map(|job| (job.submitted, 1));
        let departures = self.jobs.iter().filter_map(|job| job.finished).map(|at| (at, -1));
        let mut changes: Vec<(Millis, i64)> = arrivals.chain(departures).collect();
        changes.sort_unstable();
        let mut number = 0;
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for (at, change) in changes {
            number += change;
            match steps.last_mut().filter(|last| last.0 == at.seconds()) {
                Some(last) => last.1 = number as f64,
                None => steps.push((at.seconds(), number as f64)),
            }
        }
        steps
    }
}
