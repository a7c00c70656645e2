//! `hiatus replay` on logs as a ResourceManager writes them, whole, tampered with and damaged; and what `hiatus what-if` reads in them.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use flate2::{write::GzEncoder, Compression};
use hiatus_background::hindsight::setting::Change;
use hiatus_background::hindsight::LeftOut;
use hiatus_core::units::{Millis, Resource};
use hiatus_sim::cluster::Preemption;
use hiatus_sim::recorded::past::{past, Account, PastError};
use hiatus_sim::recorded::what_if::what_if;
use hiatus_sim::workload::cluster::{secs, Times};
use hiatus_wire::layout::{self, Record, ABI};
use hiatus_wire::log::{Log, LogError};
use hiatus_wire::session::Session;

const PROPERTIES: &str = r#"{"yarn.scheduler.hiatus.policy":"srpt","yarn.scheduler.hiatus.min-run-ms":"0"}"#;
const BEGUN_MS: i64 = 1_763_733_600_000;
const MASTER: u32 = 1;

/// Writes a log while it drives a core: what it decides about one node, on which a big job gives way to a small one.
struct Writer {
    log: Vec<u8>,
    core: Session,
    facts: Vec<u8>,
    now_ms: i64,
    containers: u32,
    suspensions: usize,
    /// Where in the log the last suspension stands.
    suspension_at: usize,
}

impl Writer {
    fn new() -> Writer {
        let mut log = Vec::new();
        layout::Begun { abi: ABI, at_ms: BEGUN_MS, now_ms: 0 }.write("", &mut log);
        layout::Configured {}.write(PROPERTIES, &mut log);
        let core = Session::new(PROPERTIES).unwrap();
        Writer { log, core, facts: Vec::new(), now_ms: 0, containers: 0, suspensions: 0, suspension_at: 0 }
    }

    fn tell(&mut self, fact: impl Record, text: &str) {
        fact.write(text, &mut self.facts);
    }

    fn container(&mut self, app: u32, flags: u32) {
        self.containers += 1;
        let (container, memory_mb) = (self.containers, 1024);
        let (node, priority, partition, vcores, found) = (0, 1 - flags as i32, 0, 1, 0);
        let fact = layout::Allocated { container, app, node, priority, partition, memory_mb, vcores, flags, found };
        self.tell(fact, "");
        self.tell(layout::Launched { container }, "");
    }

    fn job(&mut self, app: u32, count: u32) {
        let told_at_ms = BEGUN_MS + self.now_ms;
        let fact = layout::App { app, queue: 1, user: app, priority: 0, told_at_ms, flags: 0, job_class: 0 };
        self.tell(fact, &format!("application_1_{app:04}\nSPARK"));
        self.tell(layout::AppActive { app, active: 1 }, "");
        self.container(app, MASTER);
        self.tell(layout::AsksReplaced { app }, "");
        self.tell(layout::Asked { app, priority: 1, partition: 0, memory_mb: 1024, vcores: 1, count, places: 1 }, "");
    }

    /// A second passes, the node reports in, and what the core then decides is carried out.
    fn step(&mut self) {
        self.now_ms += 1_000;
        self.tell(layout::Heartbeat { node: 0, paused: 0, waiting: 0 }, "");
        layout::Stepped { now_ms: self.now_ms }.write("", &mut self.log);
        self.log.extend_from_slice(&self.facts);
        let (facts, mut answers) = (std::mem::take(&mut self.facts), Vec::new());
        self.core.step(self.now_ms, &facts, &mut answers).unwrap();
        let mut at = 0;
        while let Some(length) = hiatus_wire::convert::length(&answers[at..]) {
            let record = &answers[at..at + length];
            match hiatus_wire::convert::decided(record).unwrap() {
                hiatus_core::decision::Decision::Assign { app, count, .. } => {
                    (0..count).for_each(|_| self.container(app.0, 0));
                }
                hiatus_core::decision::Decision::Suspend { container, .. } => {
                    self.tell(layout::Demoted { container: container.0 }, "");
                    self.suspensions += 1;
                    self.suspension_at = self.log.len();
                }
                other => panic!("{other:?}"),
            }
            self.log.extend_from_slice(record);
            at += length;
        }
        layout::Answered {}.write("", &mut self.log);
    }

    fn whole(mut self) -> Vec<u8> {
        layout::Ended {}.write("", &mut self.log);
        self.log
    }
}

/// A log in which something is suspended.
fn busy() -> Writer {
    let mut writer = Writer::new();
    let size = (6 * 1024, 16);
    let (memory_mb, vcores) = size;
    let node = layout::Node { node: 0, memory_mb, vcores, partition: 0, flags: 3, ram_and_swap_mb: 0 };
    writer.tell(node, "");
    writer.tell(layout::Queue { queue: 0, parent: 0, flags: 6 }, "root");
    writer.tell(layout::Queue { queue: 1, parent: 0, flags: 7 }, "root.default");
    for queue in [0, 1] {
        writer.tell(layout::QueueShare { queue, partition: 0, guaranteed: 1.0, maximum: 1.0 }, "");
    }
    writer.job(1, 20);
    (0..5).for_each(|_| writer.step());
    writer.job(2, 1);
    (0..5).for_each(|_| writer.step());
    assert!(writer.suspensions > 0, "the small job suspends a container of the big one");
    writer
}

/// The packed log as a file, and what `hiatus replay` makes of it.
fn replay(name: &str, packed: &[u8]) -> Output {
    let path: PathBuf = std::env::temp_dir().join(format!("hiatus-replay-{name}-{}.log.gz", std::process::id()));
    File::create(&path).unwrap().write_all(packed).unwrap();
    let program = env!("CARGO_BIN_EXE_hiatus");
    let output = Command::new(program).args(["replay", "--format", "csv"]).arg(&path).output().expect("hiatus starts");
    std::fs::remove_file(&path).unwrap();
    output
}

fn packed(log: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(log).unwrap();
    packer.finish().unwrap()
}

fn refused(name: &str, packed: &[u8]) -> (String, String) {
    let output = replay(name, packed);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// How many steps the command says that it replayed.
fn steps(stdout: &str) -> u64 {
    stdout.lines().nth(1).and_then(|row| row.split(',').next()).unwrap().parse().unwrap()
}

#[test]
fn a_recorded_life_of_a_core_is_the_same_once_more() {
    let output = replay("whole", &packed(&busy().whole()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(steps(&stdout), 10, "{stdout}");
    assert!(stdout.trim_end().ends_with(&format!("{},9,no", BEGUN_MS + 1_000)), "{stdout}");
}

#[test]
fn another_decision_is_found_with_its_step_and_both_are_told() {
    let writer = busy();
    let at = writer.suspension_at + layout::HEADER;
    let mut log = writer.whole();
    log[at] += 1;
    let (stdout, stderr) = refused("tampered", &packed(&log));
    let step = steps(&stdout);
    assert!((6..=10).contains(&step), "{stdout}");
    let place = format!(
        "differ at step {step}, {} s into the log ({} ms after 1970)",
        step - 1,
        BEGUN_MS + 1_000 * step as i64
    );
    assert!(stderr.contains(&place), "{stderr}");
    let container = |word: &str| {
        let (_, line) = stderr.split_once(word).unwrap();
        let (_, number) = line.split_once("Suspend { container: ContainerId(").unwrap();
        number.split_once(')').unwrap().0.parse::<u32>().unwrap()
    };
    assert_eq!(container("recorded: "), container("replayed: ") + 1, "{stderr}");
}

#[test]
fn a_decision_that_is_missing_is_found() {
    let writer = busy();
    let at = writer.suspension_at;
    let mut log = writer.whole();
    let length = u32::from_le_bytes(log[at + 4..at + 8].try_into().unwrap());
    log.drain(at..at + length as usize);
    let (_, stderr) = refused("missing", &packed(&log));
    assert!(stderr.contains("recorded: nothing more") && stderr.contains("replayed: Suspend"), "{stderr}");
}

#[test]
fn a_tampered_fact_shows_in_the_decisions() {
    let mut log = busy().whole();
    let asked = log.windows(4).rposition(|kind| kind == 13_u32.to_le_bytes()).unwrap();
    let count = asked + layout::HEADER + 4 + 4 + 4 + 8 + 8;
    assert_eq!(log[count], 1, "the small job asked for one container");
    log[count] = 0;
    let (_, stderr) = refused("fact", &packed(&log));
    assert!(stderr.contains("the decisions differ at step 6"), "{stderr}");
}

#[test]
fn a_log_that_is_cut_off_is_replayed_to_there_and_the_place_is_told() {
    let mut writer = busy();
    writer.step();
    let cut = writer.log.len() - layout::HEADER - 3; // within the mark of the step's end, or an answer before it
    let (stdout, stderr) = refused("cut", &packed(&writer.log[..cut]));
    assert!(steps(&stdout) >= 10, "{stdout}");
    assert!(stderr.contains("is cut off at byte ") && stderr.contains(".log.gz"), "{stderr}");

    let whole = packed(&busy().whole());
    let (_, stderr) = refused("cut-packed", &whole[..whole.len() / 2]);
    assert!(stderr.contains("is cut off at byte "), "{stderr}");
}

#[test]
fn a_damaged_log_is_told_with_the_place() {
    let writer = busy();
    let at = writer.suspension_at;
    let mut log = writer.whole();
    log[at] = 250;
    let (stdout, stderr) = refused("damaged", &packed(&log));
    assert!(steps(&stdout) >= 6, "{stdout}");
    assert!(stderr.contains(&format!("damaged at byte {at} (unpacked): no record of kind 250")), "{stderr}");

    let mut damaged = packed(&busy().whole());
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    let (_, stderr) = refused("checksum", &damaged);
    assert!(stderr.contains("is damaged"), "{stderr}");
}

#[test]
fn what_is_no_log_and_another_builds_log_are_refused() {
    let (_, stderr) = refused("none", &packed(b"{\"jobs\": []}, and more than a header of it"));
    assert!(stderr.contains("this is no log of Hiatus"), "{stderr}");
    let (_, stderr) = refused("plain", b"not packed at all");
    assert!(stderr.contains("is damaged, or cannot be read"), "{stderr}");
    let mut log = busy().whole();
    log[layout::HEADER] ^= 1;
    let (_, stderr) = refused("other", &packed(&log));
    assert!(stderr.contains("was written by another build of Hiatus"), "{stderr}");
}

/// Facts by the second at which they are told, of a node that reports every second; nobody decides anything.
struct Script(Vec<Vec<u8>>);

impl Script {
    fn new() -> Script {
        let mut script = Script(Vec::new());
        let node = layout::Node { node: 0, memory_mb: 8192, vcores: 16, partition: 0, flags: 3, ram_and_swap_mb: 0 };
        script.at(0, node, "");
        script.at(0, layout::Queue { queue: 0, parent: 0, flags: 6 }, "root");
        script.at(0, layout::Queue { queue: 1, parent: 0, flags: 7 }, "root.a");
        script.at(0, layout::QueueShare { queue: 1, partition: 0, guaranteed: 1.0, maximum: 1.0 }, "");
        script
    }

    fn at(&mut self, second: usize, fact: impl Record, text: &str) {
        self.0.resize(self.0.len().max(second + 1), Vec::new());
        fact.write(text, &mut self.0[second]);
    }

    fn app(&mut self, second: usize, app: u32) {
        let fact = layout::App { app, queue: 1, user: 0, priority: 0, told_at_ms: 0, flags: 0, job_class: 0 };
        self.at(second, fact, &format!("application_1_{app:04}\nSPARK\nhiatus.weight=2"));
    }

    /// A container that is allocated then, launched a second later and completed `to`.
    fn container(&mut self, app: u32, container: u32, priority: i32, from: usize, to: Option<usize>) {
        let flags = u32::from(priority == 0);
        let (node, partition, memory_mb, vcores, found) = (0, 0, 1024, 1, 0);
        let fact = layout::Allocated { container, app, node, priority, partition, memory_mb, vcores, flags, found };
        self.at(from, fact, "");
        self.at(from + 1, layout::Launched { container }, "");
        if let Some(to) = to {
            self.at(to, layout::Completed { container, exit: 0 }, "");
        }
    }

    fn log(&self) -> Vec<u8> {
        let mut log = Vec::new();
        layout::Begun { abi: ABI, at_ms: BEGUN_MS, now_ms: 0 }.write("", &mut log);
        layout::Configured {}.write(PROPERTIES, &mut log);
        for (second, facts) in self.0.iter().enumerate() {
            layout::Stepped { now_ms: 5_000 + 1_000 * second as i64 }.write("", &mut log);
            log.extend_from_slice(facts);
            layout::Heartbeat { node: 0, paused: 0, waiting: 0 }.write("", &mut log);
            layout::Answered {}.write("", &mut log);
        }
        layout::Ended {}.write("", &mut log);
        log
    }

    fn account(&self) -> Account {
        let log = self.log();
        let (account, outcome) = past(&mut Log::open(&log[..]).unwrap());
        outcome.unwrap();
        account
    }
}

/// A job of two maps, one of them suspended for 10 s, and a reduce that waits for them.
fn one_job() -> Script {
    let mut script = Script::new();
    script.app(1, 7);
    script.container(7, 1, 0, 2, Some(33)); // its master
    let asked = layout::Asked { app: 7, priority: 20, partition: 0, memory_mb: 1024, vcores: 1, count: 2, places: 1 };
    script.at(5, asked, "");
    script.container(7, 2, 20, 6, Some(17));
    script.container(7, 3, 20, 6, Some(27));
    script.at(10, layout::Demoted { container: 3 }, "");
    script.at(20, layout::Promoted { container: 3 }, "");
    script.container(7, 4, 10, 18, Some(32));
    script.at(33, layout::AppRemoved { app: 7, succeeded: 1 }, "");
    script
}

#[test]
fn a_job_is_read_as_it_ran_without_its_suspensions_and_waiting() {
    let Account { past, suspensions, .. } = one_job().account();
    let [read] = &past.jobs[..] else { panic!("{past:?}") };
    assert_eq!((read.job.at, read.sojourn), (secs(1), secs(32)));
    assert_eq!(
        (read.job.queue.as_str(), read.job.tags.as_slice()),
        ("root.a", ["hiatus.weight=2".to_owned()].as_slice())
    );
    let stages: Vec<_> = read.job.stages.iter().map(|stage| (stage.times.clone(), stage.slowstart)).collect();
    assert_eq!(stages, [(Times::Each(vec![secs(10), secs(10)]), 1.0), (Times::Each(vec![secs(5)]), 0.5)]);
    assert_eq!((past.heartbeat, past.master_start, suspensions), (secs(1), secs(2), 1));
    assert_eq!((past.nodes.len(), past.nodes[0].total), (1, Resource::new(8192, 16)));
    assert_eq!(past.left_out, LeftOut::default());
}

#[test]
fn jobs_that_are_not_whole_are_counted_and_left_out() {
    let mut script = one_job();
    script.app(0, 8); // there before
    script.at(9, layout::AppRemoved { app: 8, succeeded: 1 }, "");
    script.app(9, 9);
    script.container(9, 10, 0, 10, Some(12));
    script.container(9, 11, 0, 13, Some(20)); // its master ran again
    script.at(20, layout::AppRemoved { app: 9, succeeded: 1 }, "");
    script.app(9, 12);
    script.container(12, 13, 0, 10, None); // not over
    script.app(21, 14); // nothing but a master
    script.container(14, 15, 0, 22, Some(30));
    script.at(30, layout::AppRemoved { app: 14, succeeded: 1 }, "");
    let past = script.account().past;
    assert_eq!(past.jobs.len(), 1);
    let left_out = LeftOut { before: 1, after: 1, without_tasks: 1, masters: 1, ..LeftOut::default() };
    assert_eq!(past.left_out, left_out);
}

#[test]
fn of_a_log_that_is_cut_off_what_is_before_is_used() {
    let log = one_job().log();
    let (Account { past, .. }, outcome) = past(&mut Log::open(&log[..log.len() - 20]).unwrap());
    assert!(matches!(outcome, Err(PastError::Log(LogError::CutOff { .. }))), "{outcome:?}");
    assert_eq!(past.jobs.len(), 1);
}

#[test]
fn a_lonely_job_takes_as_long_in_the_simulator_as_it_did_but_for_its_suspension() {
    let past = one_job().account().past;
    let same = what_if(&past, &Change::default(), 1.0, 1).unwrap();
    let [sojourns, ..] = &same.tables()[..] else { panic!() };
    let row = &sojourns.to_json()[0];
    let number = |column: &str| row[column].as_f64().unwrap();
    assert_eq!((number("recorded"), number("change_%")), (32.0, 0.0));
    // 2 s to the first asks, 10 s of maps, 5 s of a reduce, and a heartbeat or two before each.
    assert!((17.0..=23.0).contains(&number("simulated")), "{row}");
    assert!(same.plot().to_svg().unwrap().contains("recorded"));
}

#[test]
fn suspending_helps_the_small_job_that_waited_for_a_big_one() {
    let mut script = Script::new();
    script.app(1, 1);
    script.container(1, 1, 0, 2, Some(150));
    let asked = layout::Asked { app: 1, priority: 20, partition: 0, memory_mb: 1024, vcores: 1, count: 6, places: 1 };
    script.at(4, asked, "");
    (2..8).for_each(|task| script.container(1, task, 20, 5, Some(146)));
    script.at(150, layout::AppRemoved { app: 1, succeeded: 1 }, "");
    script.app(20, 2);
    script.container(2, 11, 0, 21, Some(160));
    script.container(2, 12, 20, 146, Some(157));
    script.at(160, layout::AppRemoved { app: 2, succeeded: 1 }, "");
    let past = script.account().past;
    let change = |policy: &str, preemption| Change {
        policy: Some(policy.to_owned()),
        preemption: Some(preemption),
        ..Change::default()
    };
    let mean = |change: &Change| {
        let tables = what_if(&past, change, 1.0, 1).unwrap().tables();
        let rows = tables[0].to_json();
        rows.as_array().unwrap().iter().find(|row| row["tasks"] == "up to 1 min").unwrap()["otherwise"]
            .as_f64()
            .unwrap()
    };
    let (waits, suspends) = (mean(&change("fifo", Preemption::Wait)), mean(&change("srpt", Preemption::Suspend)));
    assert!(waits > 100.0 && suspends < 60.0, "{waits} s waiting, {suspends} s suspending");
    let with = |key: &str, value: &str| {
        let properties = vec![(format!("yarn.scheduler.capacity.{key}"), value.to_owned())];
        Change { properties, ..change("srpt", Preemption::Suspend) }
    };
    let protected = mean(&with("root.a.disable_preemption", "true"));
    assert!(protected > 100.0, "{protected} s where nothing may be taken within the queue");
    for (key, value) in [("root.a.capacity", "50"), ("root.b.capacity", "50"), ("root.a.maximum-capacity", "much")] {
        let said = what_if(&past, &with(key, value), 1.0, 1).unwrap_err().to_string();
        assert!(said.contains(key) || said.contains("root's queues sum to 50 %"), "{said}");
    }
    assert!(past.heartbeat == Millis(1_000));
}
