//! Workloads as JSON: the format of live replays, with what the simulator needs under `simulated`.
//!
//! ```json
//! {"jobs": [{"name": "a", "at_s": 1.5, "program": "sleep", "args": ["-m", "4", "-r", "1", "-mt", "9000", "-rt", "8000"],
//!            "simulated": {"bin": 2, "stages": [{"task_s": [9.1, 8.7], "memory_mb": 1024, "vcores": 1},
//!                                               {"tasks": 3, "each_s": 8.0, "slowstart": 0.8}]}}]}
//! ```
//! A `sleep` job without `simulated` is simulated from its arguments; a live replay ignores `simulated`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hiatus_core::fact::MAP_REDUCE;
use hiatus_core::units::{Millis, PartitionId, Resource};
use serde::{Deserialize, Serialize};

use super::{millis, Job, Stage, Times, MOST_STAGES};
use crate::workload::WorkloadError;

/// Seconds of the longest time that makes sense: a thousand years.
const LONGEST_S: f64 = 3.2e10;
/// Characters of a job's name: a live replay makes an application tag of it.
const LONGEST_NAME: usize = 80;
/// Tasks of one stage.
const MOST_TASKS: u32 = 10_000_000;

#[derive(Debug, Serialize, Deserialize)]
struct File {
    jobs: Vec<JobIn>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobIn {
    name: String,
    at_s: f64,
    program: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    conf: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default)]
    simulated: Option<Simulated>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Simulated {
    #[serde(default)]
    bin: u32,
    #[serde(default = "default_queue")]
    queue: String,
    #[serde(default)]
    priority: i32,
    #[serde(default = "map_reduce", rename = "type", skip_serializing_if = "is_map_reduce")]
    application_type: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default = "default_memory")]
    master_mb: i64,
    #[serde(default)]
    patience: u32,
    stages: Vec<StageIn>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StageIn {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_s: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tasks: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    each_s: Option<f64>,
    #[serde(default = "default_memory")]
    memory_mb: i64,
    #[serde(default = "default_vcores")]
    vcores: i64,
    #[serde(default)]
    partition: Option<u32>,
    #[serde(default = "default_slowstart")]
    slowstart: f64,
}

fn default_queue() -> String {
    "root.default".to_owned()
}

fn map_reduce() -> String {
    MAP_REDUCE.to_owned()
}

fn is_map_reduce(application_type: &str) -> bool {
    application_type == MAP_REDUCE
}

fn default_memory() -> i64 {
    1024
}

fn default_vcores() -> i64 {
    1
}

fn default_slowstart() -> f64 {
    1.0
}

/// Reads a workload; its jobs come back in the order of their submission.
///
/// # Errors
/// A file that is no such JSON, or a value out of range, with the path of the key.
pub fn read(path: &Path) -> Result<Vec<Job>, WorkloadError> {
    let text = fs::read_to_string(path).map_err(|source| WorkloadError::Read { path: path.to_owned(), source })?;
    parse(&text, path)
}

fn parse(text: &str, path: &Path) -> Result<Vec<Job>, WorkloadError> {
    let refuse = |key: String, problem: String| {
        let problem = if matches!(key.as_str(), "?" | ".") { problem } else { format!("{key}: {problem}") };
        WorkloadError::Json { path: path.to_owned(), problem }
    };
    let mut source = serde_json::Deserializer::from_str(text);
    let file: File = serde_path_to_error::deserialize(&mut source)
        .map_err(|error| refuse(error.path().to_string(), error.inner().to_string()))?;
    source.end().map_err(|error| refuse(".".to_owned(), error.to_string()))?;
    if file.jobs.is_empty() {
        return Err(WorkloadError::Empty { path: path.to_owned() });
    }
    let mut names = BTreeSet::new();
    let mut jobs = Vec::with_capacity(file.jobs.len());
    for (index, job) in file.jobs.into_iter().enumerate() {
        let at = |key: &str| format!("jobs[{index}].{key}");
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if job.name.is_empty() || job.name.len() > LONGEST_NAME || !job.name.chars().all(allowed) {
            let problem = format!("{:?} is not 1 to {LONGEST_NAME} of a…z, 0…9, '-' and '_'", job.name);
            return Err(refuse(at("name"), problem));
        }
        if !names.insert(job.name.clone()) {
            return Err(refuse(at("name"), format!("two jobs are called {:?}", job.name)));
        }
        jobs.push(job.check().map_err(|(key, problem)| refuse(at(&key), problem))?);
    }
    jobs.sort_by_key(|job| job.at);
    Ok(jobs)
}

/// A key below its object, and what is wrong there.
type Wrong = (String, String);

fn seconds(key: &str, value: f64) -> Result<Millis, Wrong> {
    if (0.0..LONGEST_S).contains(&value) {
        return Ok(millis(value));
    }
    Err((key.to_owned(), format!("{value} is not a number of seconds of at least 0")))
}

impl JobIn {
    fn check(self) -> Result<Job, Wrong> {
        let at = seconds("at_s", self.at_s)?;
        let job = Job { at, ..Job::new(&self.name) };
        match self.simulated {
            Some(simulated) => simulated.check(job).map_err(|(key, problem)| (format!("simulated.{key}"), problem)),
            None if self.program == "sleep" => sleep_job(&self.args, job),
            None => {
                let problem = format!("what {:?} does must be described here for the simulator", self.program);
                Err(("simulated".to_owned(), problem))
            }
        }
    }
}

impl Simulated {
    fn check(self, job: Job) -> Result<Job, Wrong> {
        if self.stages.is_empty() || self.stages.len() > MOST_STAGES {
            return Err(("stages".to_owned(), format!("there must be 1 to {MOST_STAGES}")));
        }
        if !(0..=1 << 40).contains(&self.master_mb) {
            return Err(("master_mb".to_owned(), format!("{} is not a size in MiB", self.master_mb)));
        }
        let stages =
            self.stages.into_iter().enumerate().map(|(index, stage)| {
                stage.check().map_err(|(key, problem)| (format!("stages[{index}].{key}"), problem))
            });
        Ok(Job {
            stages: stages.collect::<Result<_, _>>()?,
            bin: self.bin,
            queue: self.queue,
            priority: self.priority,
            application_type: self.application_type,
            tags: self.tags,
            master: Resource::new(self.master_mb, 1),
            patience: self.patience,
            ..job
        })
    }
}

impl StageIn {
    fn check(self) -> Result<Stage, Wrong> {
        let times = match (self.task_s, self.tasks, self.each_s) {
            (Some(times), None, None) if !times.is_empty() => {
                let times = times.into_iter().enumerate();
                Times::Each(times.map(|(n, time)| seconds(&format!("task_s[{n}]"), time)).collect::<Result<_, _>>()?)
            }
            (None, Some(count), Some(each)) if (1..=MOST_TASKS).contains(&count) => {
                Times::Same { count, each: seconds("each_s", each)? }
            }
            _ => {
                let problem = format!("give task_s, or tasks (1 to {MOST_TASKS}) and each_s");
                return Err(("task_s".to_owned(), problem));
            }
        };
        if !(1..=1 << 40).contains(&self.memory_mb) {
            return Err(("memory_mb".to_owned(), format!("{} is not a size in MiB of at least 1", self.memory_mb)));
        }
        if !(0..=1 << 20).contains(&self.vcores) {
            return Err(("vcores".to_owned(), format!("{} is not a number of virtual cores", self.vcores)));
        }
        if !(0.0..=1.0).contains(&self.slowstart) {
            return Err(("slowstart".to_owned(), format!("{} is not between 0 and 1", self.slowstart)));
        }
        let (size, partition) = (Resource::new(self.memory_mb, self.vcores), self.partition.map(PartitionId));
        Ok(Stage { times, size, partition, slowstart: self.slowstart })
    }
}

/// What `sleep -m MAPS -r REDUCES -mt MS -rt MS` does.
fn sleep_job(args: &[String], job: Job) -> Result<Job, Wrong> {
    let argument = |flag: &str, default: u64| match args.iter().position(|arg| arg == flag) {
        None => Ok(default),
        Some(at) => {
            let value = args.get(at + 1).and_then(|value| value.parse().ok());
            value.ok_or_else(|| ("args".to_owned(), format!("{flag} needs a whole number")))
        }
    };
    let mut stages = Vec::new();
    for (count, each, slowstart) in [("-m", "-mt", 1.0), ("-r", "-rt", 0.8)] {
        let (count, each) = (argument(count, 1)?, argument(each, 100)?);
        if count > u64::from(MOST_TASKS) {
            return Err(("args".to_owned(), format!("{count} tasks are more than {MOST_TASKS}")));
        }
        if count > 0 {
            let times = Times::Same { count: count as u32, each: Millis(each) };
            stages.push(Stage { times, size: Resource::new(1024, 1), partition: None, slowstart });
        }
    }
    Ok(Job { stages, ..job })
}

/// Writes jobs so that [`read`] gives them back, and so that a cluster can replay them as `sleep` jobs of as many tasks
/// with their mean times, in containers of the same sizes and in the same queues.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, jobs: &[Job]) -> Result<(), WorkloadError> {
    let file = File { jobs: jobs.iter().map(out).collect() };
    let error = |source| WorkloadError::Write { path: path.to_owned(), source };
    let text = serde_json::to_string_pretty(&file).map_err(|source| error(source.into()))?;
    fs::write(path, text + "\n").map_err(error)
}

fn out(job: &Job) -> JobIn {
    let of_stage = |index: usize| {
        let times = job.stages.get(index).map(|stage| &stage.times);
        let count = times.map_or(0, Times::count);
        let mean = times.map_or(0.0, |times| times.total_s() / f64::from(count.max(1)) * 1000.0);
        (count.to_string(), mean.round().to_string())
    };
    let ((maps, map_ms), (reduces, reduce_ms)) = (of_stage(0), of_stage(1));
    let args = ["-m", &maps, "-r", &reduces, "-mt", &map_ms, "-rt", &reduce_ms].map(str::to_owned).into();
    let stage = |stage: &Stage| {
        let (task_s, tasks, each_s) = match &stage.times {
            Times::Same { count, each } => (None, Some(*count), Some(each.seconds())),
            Times::Each(times) => (Some(times.iter().map(|time| time.seconds()).collect()), None, None),
        };
        let (memory_mb, vcores) = (stage.size.memory_mb, stage.size.vcores);
        let partition = stage.partition.map(|partition| partition.0);
        StageIn { task_s, tasks, each_s, memory_mb, vcores, partition, slowstart: stage.slowstart }
    };
    let simulated = Simulated {
        bin: job.bin,
        queue: job.queue.clone(),
        priority: job.priority,
        application_type: job.application_type.clone(),
        tags: job.tags.clone(),
        master_mb: job.master.memory_mb,
        patience: job.patience,
        stages: job.stages.iter().map(stage).collect(),
    };
    JobIn {
        name: job.name.clone(),
        at_s: job.at.seconds(),
        program: "sleep".to_owned(),
        args,
        conf: configuration(job),
        user: None,
        simulated: Some(simulated),
    }
}

/// MapReduce's properties of the job.
fn configuration(job: &Job) -> BTreeMap<String, String> {
    let mut conf = BTreeMap::new();
    let mut set = |key: &str, value: String| conf.insert(format!("mapreduce.{key}"), value);
    for (stage, kind) in job.stages.iter().zip(["map", "reduce"]) {
        set(&format!("{kind}.memory.mb"), stage.size.memory_mb.to_string());
    }
    if let Some(reduces) = job.stages.get(1) {
        set("job.reduce.slowstart.completedmaps", reduces.slowstart.to_string());
    }
    set("job.queuename", job.queue.clone());
    if !job.tags.is_empty() {
        set("job.tags", job.tags.join(","));
    }
    conf
}

#[cfg(test)]
mod tests {
    use super::super::{Bins, Mix};
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let jobs = Bins { jobs: 20, ..Bins::of(Mix::Test) }.draw(1, 0);
        let path = std::env::temp_dir().join(format!("hiatus-workload-{}.json", std::process::id()));
        write(&path, &jobs).unwrap();
        let back = read(&path);
        fs::remove_file(&path).unwrap();
        assert_eq!(back.unwrap(), jobs);
    }

    #[test]
    fn a_job_has_a_type_and_mapreduces_is_not_written() {
        let of = |job: &Job| serde_json::to_value(out(job)).unwrap()["simulated"].get("type").cloned();
        let job = Job::new("a").tasks(1, Millis(1));
        assert_eq!(of(&job), None);
        assert_eq!(of(&job.of_type("YARN")), Some("YARN".into()));
        let text = r#"{"jobs": [{"name": "a", "at_s": 0, "program": "x", "simulated": {"type": "YARN", "stages": [{"task_s": [1]}]}}]}"#;
        assert_eq!(parse(text, Path::new("w.json")).unwrap()[0].application_type, "YARN");
    }

    #[test]
    fn a_live_replay_has_the_same_containers_and_queue() {
        let job = &Bins { jobs: 1, ..Bins::of(Mix::Prod) }.draw(1, 0)[0];
        let conf = out(job).conf;
        let of = |key: &str| conf.get(&format!("mapreduce.{key}")).map(String::as_str);
        assert_eq!((of("map.memory.mb"), of("reduce.memory.mb")), (Some("1024"), Some("2048")));
        assert_eq!(
            (of("job.queuename"), of("job.reduce.slowstart.completedmaps")),
            (Some("root.default"), Some("0.8"))
        );
    }

    #[test]
    fn a_live_sleep_job_is_simulated_from_its_arguments() {
        let text = r#"{"jobs": [{"name": "a", "at_s": 2, "program": "sleep", "args": ["-m", "4", "-mt", "9000", "-r", "0"]}]}"#;
        let jobs = parse(text, Path::new("w.json")).unwrap();
        assert_eq!(jobs[0].stages.len(), 1);
        assert_eq!(jobs[0].stages[0].times, Times::Same { count: 4, each: Millis(9000) });
    }

    #[test]
    fn bad_input_names_file_and_key() {
        let job = |fields: &str| format!(r#"{{"jobs": [{{"name": "a", "at_s": 0, "program": "x", {fields}}}]}}"#);
        for (text, message) in [
            ("{".to_owned(), "w.json: EOF while parsing an object at line 1 column 1"),
            (r#"{"jobs": []}"#.to_owned(), "w.json: no jobs in it"),
            (
                r#"{"jobs": [{"name": "My job", "at_s": 0, "program": "sleep"}]}"#.to_owned(),
                "w.json: jobs[0].name: \"My job\" is not 1 to 80 of a…z, 0…9, '-' and '_'",
            ),
            (
                job(r#""args": []"#),
                "w.json: jobs[0].simulated: what \"x\" does must be described here for the simulator",
            ),
            (
                job(r#""simulated": {"stages": [{"task_s": [1, -1]}]}"#),
                "w.json: jobs[0].simulated.stages[0].task_s[1]: -1 is not a number of seconds of at least 0",
            ),
            (
                job(r#""simulated": {"stages": [{"task_s": [1], "slowstart": 2}]}"#),
                "w.json: jobs[0].simulated.stages[0].slowstart: 2 is not between 0 and 1",
            ),
            (job(r#""simulated": {"stages": []}"#), "w.json: jobs[0].simulated.stages: there must be 1 to 10"),
        ] {
            assert_eq!(parse(&text, Path::new("w.json")).unwrap_err().to_string(), message);
        }
        let text = job(r#""simulated": {"stages": [{"task_s": ["soon"]}]}"#);
        let message = parse(&text, Path::new("w.json")).unwrap_err().to_string();
        assert!(message.starts_with("w.json: jobs[0].simulated.stages[0].task_s[0]: invalid type"), "{message}");
        let twice =
            r#"{"jobs": [{"name": "a", "at_s": 0, "program": "sleep"}, {"name": "a", "at_s": 0, "program": "sleep"}]}"#;
        let message = parse(twice, Path::new("w.json")).unwrap_err().to_string();
        assert_eq!(message, "w.json: jobs[1].name: two jobs are called \"a\"");
    }
}
