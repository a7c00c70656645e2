//! What `hiatus what-if`, `hiatus advise` and `hiatus history import` read in YARN's own records, as `scripts/save-history` puts them into a folder.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hiatus_core::recurring::{class_id, job_class, Record, Tasks};
use hiatus_core::units::{Millis, Resource};
use hiatus_history::{Bounds, Store};
use hiatus_sim::recorded::history::{finished, past};
use hiatus_sim::recorded::past::Account;
use hiatus_sim::workload::cluster::{secs, Job, Times};

const NODES: &str = r#"{"nodes":{"node":[
  {"state":"RUNNING","usedMemoryMB":1024,"availMemoryMB":7168,"usedVirtualCores":1,"availableVirtualCores":7,"id":"a:1"},
  {"state":"RUNNING","usedMemoryMB":0,"availMemoryMB":8192,"usedVirtualCores":0,"availableVirtualCores":8,"nodeLabels":["gpu"]},
  {"state":"LOST","usedMemoryMB":0,"availMemoryMB":8192,"usedVirtualCores":0,"availableVirtualCores":8}]}}"#;
const SCHEDULER: &str = r#"{"scheduler":{"schedulerInfo":{"type":"capacityScheduler","capacity":100.0,"queuePath":"root",
  "absoluteCapacity":100.0,"queues":{"queue":[
    {"queuePath":"root.default","absoluteCapacity":70.0,"absoluteMaxCapacity":100.0},
    {"queuePath":"root.night","absoluteCapacity":30.0,"absoluteMaxCapacity":50.0,"preemptionDisabled":true}]}}}}"#;
const JOBS: &str = r#"{"jobs":{"job":[
  {"id":"job_1_0002","queue":"root.night","submitTime":1010000,"finishTime":1040000,"state":"SUCCEEDED"},
  {"id":"job_1_0001","queue":"default","submitTime":1000000,"finishTime":1100000,"state":"SUCCEEDED"},
  {"id":"job_1_0003","queue":"default","submitTime":1020000,"finishTime":1030000,"state":"KILLED"}]}}"#;
/// Two maps until 1,030,000 and 1,050,000, and a reduce that starts between and works for 9 s behind them.
const BIG: &str = r#"{"tasks":{"task":[
  {"type":"MAP","state":"SUCCEEDED","startTime":1010000,"finishTime":1030000},
  {"type":"MAP","state":"SUCCEEDED","startTime":1010000,"finishTime":1050000},
  {"type":"MAP","state":"KILLED","startTime":1010000,"finishTime":1050000},
  {"type":"REDUCE","state":"SUCCEEDED","startTime":1031000,"finishTime":1059000}]}}"#;
const SMALL: &str =
    r#"{"tasks":{"task":[{"type":"MAP","state":"SUCCEEDED","startTime":1015000,"finishTime":1035000}]}}"#;
const CONF: &str = r#"{"conf":{"path":"x","property":[
  {"name":"mapreduce.map.memory.mb","value":"1500"},{"name":"mapreduce.reduce.memory.mb","value":"-1"},
  {"name":"mapreduce.reduce.cpu.vcores","value":"2"},{"name":"yarn.app.mapreduce.am.resource.mb","value":"1024"},
  {"name":"fs.defaultFS"}]}}"#;

/// A folder of saved records, which goes with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("history-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        let files = [("nodes", NODES), ("scheduler", SCHEDULER), ("jobs", JOBS)];
        let of_jobs = [("1", BIG), ("2", SMALL), ("3", r#"{"tasks":null}"#)];
        files.iter().for_each(|(name, text)| folder.write(name, text));
        for (job, tasks) in of_jobs {
            folder.write(&format!("job_1_000{job}.tasks"), tasks);
            folder.write(&format!("job_1_000{job}.conf"), CONF);
        }
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(format!("{name}.json")), text).unwrap();
    }

    fn complaint(&self) -> String {
        past(&self.0).unwrap_err().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_job_is_its_tasks_as_long_as_they_ran_and_a_reduce_works_when_the_last_map_is_done() {
    let folder = Folder::new("jobs");
    let past = past(&folder.0).unwrap().past;
    let [big, small] = &past.jobs[..] else { panic!("{:?}", past.jobs) };
    let each = |job: &Job| -> Vec<_> { job.stages.iter().map(|stage| (stage.times.clone(), stage.size)).collect() };
    assert_eq!((big.job.name.as_str(), big.job.queue.as_str(), big.job.at), ("job_1_0001", "root.default", secs(0)));
    assert_eq!((big.sojourn, small.sojourn), (secs(100), secs(30)));
    assert_eq!(
        each(&big.job),
        [
            (Times::Each(vec![secs(20), secs(40)]), Resource::new(2048, 1)),
            (Times::Each(vec![secs(9)]), Resource::new(1024, 2)),
        ]
    );
    assert_eq!((big.job.stages[1].slowstart, big.job.master), (0.5, Resource::new(1024, 1)));
    assert_eq!((small.job.queue.as_str(), small.job.at), ("root.night", secs(10)));
    assert_eq!(past.left_out.without_tasks, 1, "the killed one");
    // The small one's first task began 5 s after it came, two heartbeats of them waiting.
    assert_eq!(past.master_start, Millis(3_000));
}

#[test]
fn the_cluster_is_its_running_nodes_without_labels_and_capacity_schedulers_queues() {
    let folder = Folder::new("cluster");
    let Account { past, labelled_nodes, .. } = past(&folder.0).unwrap();
    assert_eq!(past.nodes.iter().map(|node| node.total).collect::<Vec<_>>(), [Resource::new(8192, 8)]);
    assert_eq!(labelled_nodes, 1);
    let queues: Vec<_> = past
        .queues
        .iter()
        .map(|queue| (queue.path.as_str(), queue.guaranteed, queue.maximum, queue.preemptable))
        .collect();
    assert_eq!(queues, [("root.default", 0.7, 1.0, true), ("root.night", 0.3, 0.5, false)]);
}

#[test]
fn queues_are_protected_as_their_administrator_said_and_not_because_stocks_preemption_is_off() {
    let protected = |default: &str, night: &str| {
        let queue = |name: &str, said: &str| {
            format!(r#"{{"queuePath":"root.{name}","absoluteCapacity":50,"absoluteMaxCapacity":100,{said}}}"#)
        };
        let queues = format!("{},{}", queue("default", default), queue("night", night));
        let folder = Folder::new("protected");
        folder
            .write("scheduler", &format!(r#"{{"scheduler":{{"schedulerInfo":{{"queues":{{"queue":[{queues}]}}}}}}}}"#));
        let past = past(&folder.0).unwrap().past;
        past.queues.iter().map(|queue| (queue.preemptable, queue.preemptable_within)).collect::<Vec<_>>()
    };
    let (on, off) = (r#""preemptionDisabled":false"#, r#""preemptionDisabled":true"#);
    let within = |all: &str, within: bool| format!(r#"{all},"intraQueuePreemptionDisabled":{within}"#);
    assert_eq!(protected(off, off), [(true, true), (true, true)], "all of it is off");
    assert_eq!(protected(on, off), [(true, true), (false, false)]);
    assert_eq!(protected(&within(on, true), &within(on, true)), [(true, true), (true, true)], "all of that is off");
    assert_eq!(protected(&within(on, true), &within(on, false)), [(true, false), (true, true)]);
}

#[test]
fn what_is_missing_or_wrong_is_said_with_its_file_and_place() {
    let folder = Folder::new("wrong");
    fs::remove_file(folder.0.join("job_1_0001.conf.json")).unwrap();
    let said = folder.complaint();
    assert!(said.contains("job_1_0001.conf.json") && said.contains("scripts/save-history"), "{said}");

    folder.write("jobs", &JOBS.replace("1010000", "\"soon\""));
    let said = folder.complaint();
    assert!(said.contains("jobs.json: at jobs.job[0].submitTime"), "{said}");

    folder.write("job_1_0001.conf", CONF);
    folder.write("jobs", &JOBS.replace("root.night", "day"));
    let said = folder.complaint();
    assert!(said.contains(r#"job job_1_0002 ran in queue "day""#), "{said}");

    folder.write("scheduler", r#"{"scheduler":{"schedulerInfo":{"type":"fairScheduler"}}}"#);
    let said = folder.complaint();
    assert!(said.contains("not CapacityScheduler's queues"), "{said}");
}

#[test]
fn what_if_answers_from_a_folder_as_from_a_log() {
    let folder = Folder::new("command");
    let done = Command::new(env!("CARGO_BIN_EXE_hiatus"))
        .args(["what-if", "--policy", "hfsp", "--preemption", "suspend", "--format", "csv"])
        .arg(&folder.0)
        .output()
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("jobs used,2\n") && said.contains("left out: nodes with a label,1\n"), "{said}");
    assert!(said.contains("\nall,2,"), "{said}");
}

fn advised(folder: &Folder, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiatus")).args(["advise"]).args(more).arg(&folder.0).output().unwrap()
}

#[test]
fn advise_says_what_it_tried_and_that_two_jobs_are_too_few() {
    let folder = Folder::new("advise");
    let done = advised(&folder, &["--format", "csv"]);
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(
        said.contains("jobs used,2\n") && said.contains("\nhfsp,suspend,,") && said.contains("\nfifo,wait,,"),
        "{said}"
    );
    assert!(said.contains("\nkeep what you have,2 jobs are too few to tell"), "{said}");
    assert!(!said.contains("<property>"), "{said}");
}

#[test]
fn what_keeps_advise_from_answering_is_said_with_what_helps() {
    let folder = Folder::new("unadvised");
    let said = |more: &[&str]| String::from_utf8(advised(&folder, more).stderr).unwrap();
    let of_limit = said(&["--limit", "0"]);
    assert!(of_limit.contains("0 is not in 1..=86400"), "{of_limit}");
    folder.write("jobs", r#"{"jobs":null}"#);
    let of_none = said(&[]);
    assert!(of_none.contains("no job is whole in the records"), "{of_none}");
}

/// As `scripts/save-history --names` saves it.
fn named(name: &str, tags: &str) -> String {
    let names = format!(
        r#"{{"name":"mapreduce.job.name","value":"{name}"}},{{"name":"mapreduce.job.tags","value":"{tags}"}},"#
    );
    CONF.replace(r#""property":["#, &format!(r#""property":[{names}"#))
}

fn import(folder: &Folder, directory: &Path) -> Output {
    import_at_most("100", folder, directory)
}

fn import_at_most(runs: &str, folder: &Folder, directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hiatus"));
    let command = command.args(["history", "import", "--format", "csv", "--max-runs", runs]);
    command.arg(&folder.0).arg(directory).output().unwrap()
}

fn imported(folder: &Folder, directory: &Path) -> String {
    let done = import(folder, directory);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn not_imported(folder: &Folder, directory: &Path) -> String {
    let done = import(folder, directory);
    assert!(!done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn what_is_imported_is_what_a_resource_manager_asks_for_by_the_class_of_the_next_run() {
    let (folder, directory) = (Folder::new("import"), tempfile::tempdir().unwrap());
    folder.write("job_1_0001.conf", &named("Sort 2026-11-22", "etl"));
    folder.write("job_1_0002.conf", &named("anything", "etl,hiatus.job-class=Small"));
    let said = imported(&folder, directory.path());
    assert!(said.contains("\nruns read in,2\n") && said.contains("without a name\",1\n"), "{said}");

    let store = Store::open(directory.path(), Bounds { runs: 10 }).unwrap();
    let next_sort = class_id(&job_class("sort 2026-11-23", std::iter::empty()));
    let maps = Tasks { priority: 20, count: 2, time: secs(60) };
    let reduces = Tasks { priority: 10, count: 1, time: secs(28) };
    let sort = Record { class: next_sort, at_ms: 1_100_000, input: 0, sides: vec![], tasks: vec![maps, reduces] };
    assert_eq!(store.recall(next_sort).unwrap(), [sort]);
    assert_eq!(store.recall(class_id("small")).unwrap()[0].tasks[0].each(), secs(20), "its tag says its class");
}

#[test]
fn only_what_ended_before_all_that_is_known_is_imported_so_that_nothing_is_there_twice() {
    let (folder, directory) = (Folder::new("again"), tempfile::tempdir().unwrap());
    folder.write("job_1_0001.conf", &named("sort", ""));
    folder.write("job_1_0002.conf", &named("sort", ""));
    let own = Record { class: class_id("sort"), at_ms: 1_099_000, input: 0, sides: vec![], tasks: vec![] };
    Store::open(directory.path(), Bounds { runs: 10 }).unwrap().remember(&[own]).unwrap();
    let said = imported(&folder, directory.path());
    assert!(said.contains("\nruns read in,1\n") && said.contains("runs known now,2\n"), "{said}");
    let said = imported(&folder, directory.path());
    assert!(said.contains("\nruns read in,0\n") && said.contains("runs known now,2\n"), "{said}");
    let refused = import_at_most("1", &folder, directory.path());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("the history has 2 runs"), "{said}");
}

#[test]
fn what_keeps_runs_from_being_imported_is_said_and_changes_nothing() {
    let (folder, directory) = (Folder::new("refused"), tempfile::tempdir().unwrap());
    let said = not_imported(&folder, directory.path());
    assert!(said.contains("scripts/save-history --names"), "{said}");

    folder.write("job_1_0001.conf", &named("sort", ""));
    folder.write("job_1_0002.tasks", r#"{"tasks":{"task":[{"type":"MAP"}]}}"#);
    folder.write("job_1_0002.conf", &named("sort", ""));
    let said = not_imported(&folder, directory.path());
    assert!(said.contains("job_1_0002.tasks.json: at tasks.task[0]") && said.contains("startTime"), "{said}");
    assert!(!directory.path().join(hiatus_history::FILE).exists());

    folder.write("job_1_0002.tasks", SMALL);
    assert_eq!(finished(&folder.0).unwrap().records.len(), 2);
    let open = Store::open(directory.path(), Bounds { runs: 10 }).unwrap();
    let said = not_imported(&folder, directory.path());
    assert!(said.contains("history.redb: another process has it open"), "{said}");
    assert_eq!(open.runs().unwrap(), 0);
}
