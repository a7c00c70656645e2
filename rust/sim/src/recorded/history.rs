//! What happened on a cluster without Hiatus, by YARN's own records: what its ResourceManager and its JobHistoryServer answer over
//! REST, saved as files by `scripts/save-history`.
//!
//! - `nodes.json`: the ResourceManager's `/ws/v1/cluster/nodes`;
//! - `scheduler.json`: its `/ws/v1/cluster/scheduler`;
//! - `jobs.json`: the JobHistoryServer's `/ws/v1/history/mapreduce/jobs`;
//! - `JOB.tasks.json` and `JOB.conf.json` for each of them: its `…/jobs/JOB/tasks` and `…/conf`, of which seven properties count;
//!   with `--names` the job's name and tags, too, by which [`finished`] tells its class.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hiatus_core::fact::PhaseKey;
use hiatus_core::recurring::{class_id, job_class, Record, Tasks as Kind};
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::{Millis, Resource};
use serde::de::DeserializeOwned;
use serde::Deserialize;

use hiatus_background::hindsight::{LeftOut, Past, PastJob};

use super::past::Account;
use crate::cluster::{Node, Queue};
use crate::workload::cluster::{Job, Stage, Times};

/// Hadoop's own default between two heartbeats of a node.
const HEARTBEAT: Millis = Millis(1_000);

/// What is wrong with saved records.
#[derive(Debug, thiserror::Error)]
#[error("{}: {fault}", path.display())]
pub struct HistoryError {
    /// In which file.
    pub path: PathBuf,
    /// What it is.
    #[source]
    pub fault: Fault,
}

/// What is wrong with a file of saved records.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It cannot be read.
    #[error("{0}; save it again with scripts/save-history")]
    Read(io::Error),
    /// It is not what YARN answers, at that place.
    #[error("at {0}")]
    Json(serde_path_to_error::Error<serde_json::Error>),
    /// A job ran in a queue that has gone since, or that it names ambiguously.
    #[error("job {job} ran in queue {queue:?}, of which scheduler.json has not exactly one")]
    Queue {
        /// The job's id.
        job: String,
        /// As the job names it.
        queue: String,
    },
    /// CapacityScheduler's account alone has shares of the whole.
    #[error("these are not CapacityScheduler's queues: none below root has a queuePath and an absoluteCapacity")]
    Scheduler,
    /// What class a job is of follows from its name and tags.
    #[error(
        "no job that succeeded has a mapreduce.job.name in its conf.json: save them with scripts/save-history --names"
    )]
    Nameless,
}

#[derive(Debug, Deserialize)]
struct Nodes {
    nodes: Option<NodeList>,
}

#[derive(Debug, Deserialize)]
struct NodeList {
    node: Vec<NodeIn>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeIn {
    state: String,
    #[serde(rename = "usedMemoryMB")]
    used_mb: i64,
    #[serde(rename = "availMemoryMB")]
    available_mb: i64,
    used_virtual_cores: i64,
    available_virtual_cores: i64,
    #[serde(default)]
    node_labels: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Scheduler {
    scheduler: SchedulerInfo,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SchedulerInfo {
    scheduler_info: QueueIn,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueueIn {
    queue_path: Option<String>,
    absolute_capacity: Option<f64>,
    absolute_max_capacity: Option<f64>,
    #[serde(default)]
    preemption_disabled: bool,
    /// Of leaf queues only.
    intra_queue_preemption_disabled: Option<bool>,
    queues: Option<QueueList>,
}

#[derive(Debug, Deserialize)]
struct QueueList {
    #[serde(default)]
    queue: Vec<QueueIn>,
}

#[derive(Debug, Deserialize)]
struct Jobs {
    jobs: Option<JobList>,
}

#[derive(Debug, Deserialize)]
struct JobList {
    job: Vec<JobIn>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JobIn {
    id: String,
    queue: String,
    state: String,
    submit_time: u64,
    finish_time: u64,
}

#[derive(Debug, Deserialize)]
struct Tasks {
    tasks: Option<TaskList>,
}

#[derive(Debug, Deserialize)]
struct TaskList {
    #[serde(default)]
    task: Vec<TaskIn>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskIn {
    start_time: u64,
    finish_time: u64,
    state: String,
    r#type: String,
}

#[derive(Debug, Deserialize)]
struct Conf {
    conf: Properties,
}

#[derive(Debug, Deserialize)]
struct Properties {
    property: Vec<Property>,
}

#[derive(Debug, Deserialize)]
struct Property {
    name: String,
    value: Option<String>,
}

/// Properties by name.
type Known = BTreeMap<String, Option<String>>;

impl TaskIn {
    /// In ms, from its first attempt's launch on.
    fn took(&self) -> u64 {
        self.finish_time.saturating_sub(self.start_time)
    }
}

/// Reads what was saved in a folder. Stock CapacityScheduler decided; tasks ran where and as long as they did.
///
/// # Errors
/// A file is missing or not what YARN answers, or a job ran in a queue that is not there any more.
pub fn past(folder: &Path) -> Result<Account, HistoryError> {
    let nodes: Nodes = read(&folder.join("nodes.json"))?;
    let running = |node: &NodeIn| node.state == "RUNNING";
    let nodes: Vec<_> = nodes.nodes.map_or_else(Vec::new, |list| list.node).into_iter().filter(running).collect();
    let labelled = |node: &NodeIn| node.node_labels.iter().any(|label| !label.is_empty());
    let queues = queues(&folder.join("scheduler.json"))?;

    let path = folder.join(JOBS);
    let mut listed = jobs(folder)?;
    listed.sort_by_key(|job| job.submit_time);
    let first = listed.first().map_or(0, |job| job.submit_time);
    let (mut past_jobs, mut left_out, mut starts) = (Vec::new(), LeftOut::default(), Vec::new());
    for job in listed {
        let found = tasks(folder, &job.id)?;
        let Some(begun) = found.iter().map(|task| task.start_time).min() else {
            left_out.without_tasks += 1;
            continue;
        };
        let queue = queue_of(&queues, &job.queue).ok_or_else(|| HistoryError {
            path: path.clone(),
            fault: Fault::Queue { job: job.id.clone(), queue: job.queue.clone() },
        })?;
        let sizes = Sizes::of(&conf(folder, &job.id)?);
        starts.push(begun.saturating_sub(job.submit_time));
        past_jobs.push(Arc::new(PastJob {
            sojourn: Millis(job.finish_time.saturating_sub(job.submit_time)),
            job: Job {
                queue: queue.path.clone(),
                at: Millis(job.submit_time - first),
                master: sizes.master,
                stages: stages(&found, &sizes),
                ..Job::new(&job.id)
            },
        }));
    }
    let past = Past {
        // As if it had looked on.
        properties: BTreeMap::from([(format!("{CLUSTER_PREFIX}mode"), "observe".to_owned())]),
        nodes: nodes.iter().filter(|node| !labelled(node)).map(NodeIn::node).collect(),
        queues,
        jobs: past_jobs,
        left_out,
        heartbeat: HEARTBEAT,
        // The one that waited least waited for two heartbeats: its ApplicationMaster's container, and its first task's.
        master_start: Millis(starts.into_iter().min().unwrap_or_default().saturating_sub(2 * HEARTBEAT.0)),
    };
    let labelled_nodes = nodes.iter().filter(|node| labelled(node)).count() as u64;
    Ok(Account { past, labelled_nodes, ..Account::default() })
}

/// What jobs took that succeeded, as if Hiatus had been there: their class by its rule, each kind of task as long as its
/// containers ran. On which side of a mixed cluster they ran is not in these records, nor how large their input was.
#[derive(Debug)]
pub struct Finished {
    /// What is to be remembered.
    pub records: Vec<Record>,
    /// Jobs of which that cannot be told: failed or killed, without tasks, or without a name.
    pub left_out: usize,
}

/// Reads of a saved folder what is to be remembered of its jobs.
///
/// # Errors
/// A file is missing or not what YARN answers, or names were not saved.
pub fn finished(folder: &Path) -> Result<Finished, HistoryError> {
    let listed = jobs(folder)?;
    let (all, mut succeeded, mut named, mut records) = (listed.len(), false, false, Vec::new());
    for job in listed.into_iter().filter(|job| job.state == "SUCCEEDED") {
        succeeded = true;
        let conf = conf(folder, &job.id)?;
        let value = |name: &str| conf.get(name).and_then(Option::as_deref);
        let Some(name) = value("mapreduce.job.name") else { continue };
        named = true;
        let tags = value("mapreduce.job.tags").unwrap_or_default();
        let found = tasks(folder, &job.id)?;
        let kinds =
            [("MAP", PhaseKey::MAPS), ("REDUCE", PhaseKey::REDUCES)].into_iter().filter_map(|(kind, priority)| {
                let times: Vec<_> = found.iter().filter(|task| task.r#type == kind).map(TaskIn::took).collect();
                let time = Millis(times.iter().sum());
                (!times.is_empty()).then_some(Kind { priority, count: times.len() as u32, time })
            });
        let tasks: Vec<_> = kinds.collect();
        if !tasks.is_empty() {
            let class = class_id(&job_class(name, tags.split(',')));
            records.push(Record { class, at_ms: job.finish_time, input: 0, sides: Vec::new(), tasks });
        }
    }
    if succeeded && !named {
        return Err(HistoryError { path: folder.to_owned(), fault: Fault::Nameless });
    }
    Ok(Finished { left_out: all - records.len(), records })
}

const JOBS: &str = "jobs.json";

fn jobs(folder: &Path) -> Result<Vec<JobIn>, HistoryError> {
    let listed: Jobs = read(&folder.join(JOBS))?;
    Ok(listed.jobs.map_or_else(Vec::new, |list| list.job))
}

/// A job's properties that were saved.
fn conf(folder: &Path, job: &str) -> Result<Known, HistoryError> {
    let saved: Conf = read(&folder.join(format!("{job}.conf.json")))?;
    Ok(saved.conf.property.into_iter().map(|property| (property.name, property.value)).collect())
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, HistoryError> {
    let failed = |fault| HistoryError { path: path.to_owned(), fault };
    let file = File::open(path).map_err(|error| failed(Fault::Read(error)))?;
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(file));
    serde_path_to_error::deserialize(&mut json).map_err(|error| failed(Fault::Json(error)))
}

impl NodeIn {
    fn node(&self) -> Node {
        Node::of(Resource::new(
            self.used_mb + self.available_mb,
            self.used_virtual_cores + self.available_virtual_cores,
        ))
    }
}

/// All queues below the root. Where CapacityScheduler's preemption, or the one within queues, is off as a whole, all of them are said to be
/// protected from it; that is not what an administrator says of a queue, and does not count.
fn queues(path: &Path) -> Result<Vec<Queue>, HistoryError> {
    let scheduler: Scheduler = read(path)?;
    let mut open = vec![scheduler.scheduler.scheduler_info];
    let mut found = Vec::new();
    let (mut any_preemptable, mut any_within) = (false, false);
    while let Some(queue) = open.pop() {
        if let (Some(path), Some(guaranteed)) = (&queue.queue_path, queue.absolute_capacity) {
            let percent = |share: f64| share / 100.0;
            let one = Queue::new(path, percent(guaranteed))
                .maximum(queue.absolute_max_capacity.map_or(1.0, percent))
                .master_share(0.0);
            if path.contains('.') {
                let not_within = queue.intra_queue_preemption_disabled.unwrap_or(false);
                any_preemptable |= !queue.preemption_disabled;
                any_within |= queue.intra_queue_preemption_disabled == Some(false);
                found.push((one, queue.preemption_disabled, not_within));
            }
        }
        open.extend(queue.queues.map_or_else(Vec::new, |list| list.queue));
    }
    if found.is_empty() {
        return Err(HistoryError { path: path.to_owned(), fault: Fault::Scheduler });
    }
    let said = |(queue, disabled, not_within): (Queue, bool, bool)| match (
        disabled && any_preemptable,
        not_within && any_within,
    ) {
        (true, _) => queue.not_preemptable(),
        (false, true) => queue.not_preemptable_within(),
        (false, false) => queue,
    };
    let mut queues: Vec<Queue> = found.into_iter().map(said).collect();
    queues.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(queues)
}

/// A job says where it ran by the queue's path or its last part, as it was submitted.
fn queue_of<'a>(queues: &'a [Queue], name: &str) -> Option<&'a Queue> {
    let suffix = format!(".{name}");
    let mut named = queues.iter().filter(|queue| queue.path.ends_with(&suffix));
    let by_name = named.next().filter(|_| named.next().is_none());
    queues.iter().find(|queue| queue.path == name).or(by_name)
}

/// A job's tasks that came to a good end.
fn tasks(folder: &Path, job: &str) -> Result<Vec<TaskIn>, HistoryError> {
    let saved: Tasks = read(&folder.join(format!("{job}.tasks.json")))?;
    let tasks = saved.tasks.map_or_else(Vec::new, |list| list.task);
    Ok(tasks.into_iter().filter(|task| task.state == "SUCCEEDED" && task.start_time > 0).collect())
}

/// What a job's containers get.
#[derive(Debug)]
struct Sizes {
    master: Resource,
    map: Resource,
    reduce: Resource,
}

impl Sizes {
    fn of(known: &Known) -> Sizes {
        // A task's memory of -1 is MapReduce's own default, or follows from its heap; the latter is not looked at.
        let number = |name: &str, default: i64| {
            let said = known.get(name).and_then(Option::as_ref).and_then(|value| value.trim().parse().ok());
            said.filter(|value| *value > 0).unwrap_or(default)
        };
        let unit = number("yarn.scheduler.minimum-allocation-mb", 1_024);
        let size = |memory: &str, default: i64, vcores: &str| {
            let memory_mb = number(memory, default);
            Resource::new((memory_mb + unit - 1) / unit * unit, number(vcores, 1))
        };
        Sizes {
            master: size("yarn.app.mapreduce.am.resource.mb", 1_536, "yarn.app.mapreduce.am.resource.cpu-vcores"),
            map: size("mapreduce.map.memory.mb", 1_024, "mapreduce.map.cpu.vcores"),
            reduce: size("mapreduce.reduce.memory.mb", 1_024, "mapreduce.reduce.cpu.vcores"),
        }
    }
}

/// Maps, and reduces, which begin to work when the last map is done.
fn stages(tasks: &[TaskIn], sizes: &Sizes) -> Vec<Stage> {
    let (maps, reduces): (Vec<_>, Vec<_>) = tasks.iter().partition(|task| task.r#type == "MAP");
    let mapped = maps.iter().map(|map| map.finish_time).max().unwrap_or_default();
    let begun = reduces.iter().map(|reduce| reduce.start_time).min().unwrap_or_default();
    let done = maps.iter().filter(|map| map.finish_time <= begun).count();
    let slowstart = if maps.is_empty() { 1.0 } else { done as f64 / maps.len() as f64 };
    let stage = |tasks: &[&TaskIn], size, since: u64, slowstart| Stage {
        times: Times::Each(
            tasks.iter().map(|task| Millis(task.finish_time.saturating_sub(task.start_time.max(since)))).collect(),
        ),
        size,
        partition: None,
        slowstart,
    };
    let both = [stage(&maps, sizes.map, 0, 1.0), stage(&reduces, sizes.reduce, mapped, slowstart)];
    both.into_iter().filter(|stage| stage.times.count() > 0).collect()
}
