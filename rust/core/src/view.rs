//! What estimators and policies see of jobs: numbers, no cluster.

use crate::fact::PhaseKey;
use crate::hints::Hints;
use crate::stages::Work;
use crate::units::{AppId, Millis};

/// A job as policies see it. Amounts are fractions of the partition by dominant share.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    /// The job.
    pub app: AppId,
    /// When it was submitted.
    pub submitted: Millis,
    /// YARN priority; larger is more important.
    pub priority: i32,
    /// What it holds.
    pub held: f64,
    /// What it could use: held, suspended and wanted.
    pub demand: f64,
    /// What its ApplicationMaster holds, which nobody can take.
    pub masters: f64,
    /// Service received so far, in seconds of the whole partition.
    pub attained: f64,
    /// Estimated work left, in seconds of the whole partition.
    pub remaining: f64,
    /// What its user says about it.
    pub hints: Hints,
    /// Its phases in the partition that have, or had, tasks.
    pub phases: Vec<PhaseView>,
    /// Whether anything but time has changed it since the policy last saw it.
    pub changed: bool,
}

impl JobView {
    /// Whether it has tasks to do; not if it is its ApplicationMaster so far, or between two phases.
    pub fn has_tasks(&self) -> bool {
        self.phases.iter().any(|phase| phase.to_do() > 0)
    }

    /// What it holds that does none of its work: its ApplicationMaster, and what its phases hold so.
    pub fn idle(&self) -> f64 {
        self.masters + self.phases.iter().map(|phase| f64::from(phase.idle()) * phase.one).sum::<f64>()
    }

    /// What it needs beside its ApplicationMaster to get on: a container of its largest kind, or its ApplicationMaster if it has none yet;
    /// nothing if it wants nothing.
    pub fn gets_on_with(&self) -> f64 {
        let kinds = self.phases.iter().filter(|phase| phase.left() > 0).map(|phase| phase.one);
        kinds.reduce(f64::max).unwrap_or(f64::INFINITY).min(self.demand - self.masters).max(0.0)
    }
}

/// Tasks of one kind; the ApplicationMaster is none.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseView {
    /// Request priority, partition and size of a container.
    pub key: PhaseKey,
    /// What one container is of the partition.
    pub one: f64,
    /// Whether its tasks cannot work yet, even those that have containers: reduces, before all maps are done.
    pub gated: bool,
    /// Tasks that wait for a container.
    pub pending: u32,
    /// Tasks for whose containers the job has not asked yet, as far as it says; below zero if it has asked for too many.
    pub unasked: i32,
    /// Containers that count.
    pub held: u32,
    /// Suspended containers.
    pub suspended: u32,
    /// Tasks that succeeded.
    pub finished: u32,
    /// Run times of those together.
    pub finished_time: Millis,
    /// What such tasks took in earlier runs of the job's class, in seconds, if history tells.
    pub earlier_s: Option<f64>,
    /// Work of its containers, if the application tells that of them: they do not end with their tasks.
    pub told: Option<Work>,
    /// The first tasks that started, in that order.
    pub first: Vec<TaskView>,
    /// Those beside the first that are not done.
    pub others: UnderWay,
}

/// Tasks that are not done and have containers, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnderWay {
    /// How many there are.
    pub tasks: u32,
    /// How many of them run, so that they go on working as time passes.
    pub running: u32,
    /// How long they have worked.
    pub worked: Millis,
}

impl PhaseView {
    /// Containers that count and do not work: they are being started, or wait for maps.
    pub fn idle(&self) -> u32 {
        let first =
            self.first.iter().filter(|task| matches!(task, TaskView::Running { runs: true, .. })).count() as u32;
        let work = if self.gated { 0 } else { first + self.others.running };
        self.held.saturating_sub(work)
    }

    /// Tasks that are not done and have, or wait for, a container.
    pub fn left(&self) -> u32 {
        self.pending + self.held + self.suspended
    }

    /// Tasks that are not done.
    pub fn to_do(&self) -> u32 {
        self.left().saturating_add_signed(self.unasked)
    }

    /// All tasks known of, done or not.
    pub fn tasks(&self) -> u32 {
        self.finished + self.to_do()
    }

    /// Work of each of its containers, in seconds, as told.
    pub fn told_task_s(&self) -> Option<f64> {
        self.told.map(|work| work.all_s() / f64::from(self.tasks().max(1)))
    }

    /// Mean time of its finished tasks, in seconds; `None` before there is one.
    pub fn finished_task_s(&self) -> Option<f64> {
        (self.finished > 0).then(|| self.finished_time.seconds() / f64::from(self.finished))
    }
}

/// One of the first tasks of a phase. Times are working times, see [`Job::worked`](crate::state::Job::worked).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TaskView {
    /// It succeeded.
    Finished {
        /// How long it worked.
        worked: Millis,
    },
    /// It is not done, running or suspended.
    Running {
        /// How long it has worked.
        worked: Millis,
        /// Whether it runs, so that it goes on working as time passes.
        runs: bool,
        /// Part of its work done, 0…1, if anybody said so.
        progress: Option<f64>,
    },
}
