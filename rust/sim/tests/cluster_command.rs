//! `hiatus simulate cluster` and `hiatus fuzz` as a user runs them.

use std::process::{Command, Output};

fn hiatus(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiatus")).args(arguments.split_whitespace()).output().expect("hiatus starts")
}

fn stdout(arguments: &str) -> String {
    let output = hiatus(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn stderr(arguments: &str) -> String {
    let output = hiatus(arguments);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_threads() {
    let run = |more: &str| {
        let base = "simulate cluster --workload dev --jobs 20 --seeds 2 --policy fair,srpt --preemption wait,suspend \
                    --slots 2,1 --format csv";
        stdout(&format!("{base} {more}"))
    };
    let one = run("--threads 1");
    assert_eq!(one, run("--threads 3"));
    assert_ne!(one, run("--threads 1 --seed 2"));
}

#[test]
fn a_saved_workload_gives_the_same_result() {
    let path = std::env::temp_dir().join(format!("hiatus-saved-{}.json", std::process::id()));
    let file = path.display();
    let run = |workload: &str| {
        stdout(&format!("simulate cluster --workload {workload} --policy fair --preemption wait --format csv"))
    };
    let drawn = run(&format!("test --jobs 15 --save {file}"));
    let saved = run(&file.to_string());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(drawn, saved);
}

#[test]
fn a_trace_runs_as_map_and_reduce_jobs() {
    let text = stdout(
        "simulate cluster --workload swim:fb-2009 --jobs 50 --nodes 20 --policy fifo --preemption wait --format csv",
    );
    assert!(text.contains("fifo,wait,all,50,"), "{text}");
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let path = std::env::temp_dir().join(format!("hiatus-bad-{}.json", std::process::id()));
    std::fs::write(&path, r#"{"jobs": [{"name": "a", "at_s": -1, "program": "sleep"}]}"#).unwrap();
    let text = stderr(&format!("simulate cluster --workload {} --policy fifo", path.display()));
    std::fs::remove_file(&path).unwrap();
    assert!(text.contains("jobs[0].at_s: -1 is not a number of seconds"), "{text}");
    let text = stderr("simulate cluster --workload dev --policy best");
    assert!(text.contains("yarn.scheduler.hiatus.policy") && text.contains("best"), "{text}");
    let text = stderr("simulate cluster --workload dev --policy fifo --node-mb 512");
    assert!(text.contains("fits no node"), "{text}");
}

#[test]
fn application_masters_leave_room_for_tasks_and_where_they_do_not_it_is_said() {
    let run = "simulate cluster --workload test --jobs 90 --arrivals periodic:1 --policy hfsp --nodes 5 --format csv";
    let text = stdout(run);
    assert!(text.contains("hfsp,suspend,all,90,"), "{text}");
    let text = stderr(&format!("{run} --master-share 1"));
    assert!(text.contains("of 90 jobs do not finish, test-0") && text.contains("hold 40960 of 40960 MiB"), "{text}");
    // A task fits the only node, and an ApplicationMaster, but not both.
    let text = stderr("simulate cluster --workload test --jobs 5 --policy hfsp --nodes 1 --node-mb 2048");
    assert!(text.contains("of 5 jobs do not finish, test-00"), "{text}");
}

#[test]
fn fuzzing_finds_no_broken_law_and_repeats_a_seed() {
    let many = stdout("fuzz --seeds 10 --seed 40 --format csv");
    assert!(many.contains("\n10,") && many.trim_end().ends_with(",0"), "{many}");
    let once = || stdout("fuzz --seeds 1 --seed 43");
    assert_eq!(once(), once());
}
