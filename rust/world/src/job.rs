//! Jobs for a cluster: an ApplicationMaster and stages of tasks, as MapReduce has maps and reduces.

use hiatus_core::fact::{Run, MAP_REDUCE};
use hiatus_core::recurring::{class_id, job_class, Record};
use hiatus_core::units::{JobClass, Millis, NodeId, PartitionId, Resource, UserId};
use std::collections::BTreeSet;

/// The most stages a job may have: each needs a YARN request priority of its own.
pub const MOST_STAGES: usize = 10;

/// `n` seconds.
pub fn secs(n: u64) -> Millis {
    Millis(n * 1000)
}

/// `n` GiB of memory, which alone counts where nothing else is said.
pub fn gb(n: i64) -> Resource {
    Resource::new(n * 1024, 0)
}

/// A number of seconds, rounded to milliseconds; negative ones are 0.
pub fn millis(seconds: f64) -> Millis {
    Millis((seconds * 1000.0).round().max(0.0) as u64)
}

/// Run times of a stage's tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum Times {
    /// All alike.
    Same {
        /// How many tasks.
        count: u32,
        /// How long each runs.
        each: Millis,
    },
    /// Task by task.
    Each(Vec<Millis>),
}

impl Times {
    /// Number of tasks.
    pub fn count(&self) -> u32 {
        match self {
            Times::Same { count, .. } => *count,
            Times::Each(times) => times.len() as u32,
        }
    }

    /// Run time of task number `task`; nothing for a task that does not exist.
    pub fn of(&self, task: u32) -> Millis {
        match self {
            Times::Same { each, .. } => *each,
            Times::Each(times) => times.get(task as usize).copied().unwrap_or_default(),
        }
    }

    /// Run times of all tasks together, in seconds.
    pub fn total_s(&self) -> f64 {
        match self {
            Times::Same { count, each } => f64::from(*count) * each.seconds(),
            Times::Each(times) => times.iter().map(|time| time.seconds()).sum(),
        }
    }
}

/// Tasks that may run side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Their run times.
    pub times: Times,
    /// Size of one container.
    pub size: Resource,
    /// Asks for nodes of that partition; `None`: the job's.
    pub partition: Option<PartitionId>,
    /// Its tasks may start once this share of the previous stage's tasks is done (MapReduce's slowstart); they then hold
    /// their containers, and begin to work when all of them are done.
    pub slowstart: f64,
}

/// How the second stage's tasks get what the first one's made. Without it that takes no time, and they are not asked for while
/// any of the first waits for a container.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shuffle {
    /// How long one of them fetches the output of one of the first.
    pub fetch: Millis,
    /// The most of what the job holds that they may take while any of the first waits for a container, and no more than the part of
    /// the first that is done (MapReduce's `reduce.rampup.limit`).
    pub ramp_up: f64,
}

/// A job.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Name, unique in its workload.
    pub name: String,
    /// Path of its leaf queue.
    pub queue: String,
    /// Whose it is.
    pub user: UserId,
    /// YARN priority; larger is more important.
    pub priority: i32,
    /// YARN's application type.
    pub application_type: String,
    /// Application tags, with hints for the scheduler.
    pub tags: Vec<String>,
    /// Where its containers go, unless a stage says otherwise.
    pub partition: PartitionId,
    /// When it is submitted.
    pub at: Millis,
    /// Size of its ApplicationMaster's container.
    pub master: Resource,
    /// Its stages, one after the other.
    pub stages: Vec<Stage>,
    /// How its reduces get what its maps made.
    pub shuffle: Option<Shuffle>,
    /// Its ApplicationMaster is none of MapReduce's: its stages wait for nothing, and are all asked for from the beginning on.
    pub at_once: bool,
    /// Nodes on which its ApplicationMaster wants no container.
    pub blacklist: BTreeSet<NodeId>,
    /// How many offers it declines, waiting for a more local node, before it takes any.
    pub patience: u32,
    /// How long the ApplicationMaster needs between getting a container and starting it.
    pub launch_delay: Millis,
    /// Which part of its tasks' time is reading and writing, 0…1; the rest is computing. Matters where nodes differ in that.
    pub io: f64,
    /// Earlier runs of its like, of which the scheduler is told.
    pub runs: Vec<Run>,
    /// What was remembered of those of its class, of which it is told, too.
    pub earlier: Vec<Record>,
    /// Which bin of its workload it is from; 0 if it has none.
    pub bin: u32,
}

impl Job {
    /// A MapReduce job without tasks so far, submitted at time 0 to `root.default`, with an ApplicationMaster of 1 GiB.
    pub fn new(name: &str) -> Job {
        Job {
            name: name.to_string(),
            queue: "root.default".to_string(),
            user: UserId(0),
            priority: 0,
            application_type: MAP_REDUCE.to_string(),
            tags: Vec::new(),
            partition: PartitionId(0),
            at: Millis(0),
            master: gb(1),
            stages: Vec::new(),
            shuffle: None,
            at_once: false,
            blacklist: BTreeSet::new(),
            patience: 0,
            launch_delay: Millis(1),
            io: 0.0,
            runs: Vec::new(),
            earlier: Vec::new(),
            bin: 0,
        }
    }

    /// One more stage: `count` tasks of 1 GiB.
    pub fn tasks(self, count: usize, each: Millis) -> Job {
        self.sized_tasks(count, each, gb(1))
    }

    /// One more stage: `count` tasks of that size, begun when the stage before is done.
    pub fn sized_tasks(self, count: usize, each: Millis, size: Resource) -> Job {
        let times = Times::Same { count: count as u32, each };
        self.stage(Stage { times, size, partition: None, slowstart: 1.0 })
    }

    /// One more stage.
    pub fn stage(mut self, stage: Stage) -> Job {
        self.stages.push(stage);
        self
    }

    /// With that application type.
    pub fn of_type(self, application_type: &str) -> Job {
        Job { application_type: application_type.to_string(), ..self }
    }

    /// Of that user, instead of the one whom all other jobs are of.
    pub fn user(self, user: u32) -> Job {
        Job { user: UserId(user), ..self }
    }

    /// With one more application tag.
    pub fn tag(mut self, tag: &str) -> Job {
        self.tags.push(tag.to_string());
        self
    }

    /// Submitted then.
    pub fn at(self, at: Millis) -> Job {
        Job { at, ..self }
    }

    /// Submitted there.
    pub fn queue(self, path: &str) -> Job {
        Job { queue: path.to_string(), ..self }
    }

    /// With a shuffle that takes time, and reduces that are asked for early.
    pub fn shuffle(self, shuffle: Shuffle) -> Job {
        Job { shuffle: Some(shuffle), ..self }
    }

    /// Of another framework, whose stages wait for nothing: the last is served first, as YARN does with asks of several priorities.
    pub fn at_once(self) -> Job {
        Job { at_once: true, ..self.of_type("SPARK") }
    }

    /// With an ApplicationMaster that wants no container on these nodes, by their numbers from 0.
    pub fn blacklisting(self, nodes: impl IntoIterator<Item = u32>) -> Job {
        Job { blacklist: nodes.into_iter().map(NodeId).collect(), ..self }
    }

    /// With a YARN priority; larger is more important.
    pub fn priority(self, priority: i32) -> Job {
        Job { priority, ..self }
    }

    /// Asks for nodes of that partition only.
    pub fn partition(self, partition: u32) -> Job {
        Job { partition: PartitionId(partition), ..self }
    }

    /// Declines that many offers, as delay scheduling does.
    pub fn patience(self, offers: u32) -> Job {
        Job { patience: offers, ..self }
    }

    /// With an ApplicationMaster that needs so long to start what it got.
    pub fn launch_delay(self, launch_delay: Millis) -> Job {
        Job { launch_delay, ..self }
    }

    /// With that part of its tasks' time for reading and writing.
    pub fn io(self, io: f64) -> Job {
        Job { io, ..self }
    }

    /// Which jobs it is a run of.
    pub fn class(&self) -> JobClass {
        class_id(&job_class(&self.name, self.tags.iter().map(String::as_str)))
    }

    /// The scheduler is told of these earlier runs.
    pub fn ran(mut self, runs: impl IntoIterator<Item = Run>) -> Job {
        self.runs.extend(runs);
        self
    }

    /// The scheduler is told of those of these that are of its class.
    pub fn recalls(mut self, remembered: &[Record]) -> Job {
        let class = self.class();
        self.earlier.extend(remembered.iter().filter(|record| record.class == class).cloned());
        self
    }

    /// Run times of all its tasks together, in seconds.
    pub fn work_s(&self) -> f64 {
        self.stages.iter().map(|stage| stage.times.total_s()).sum()
    }
}
