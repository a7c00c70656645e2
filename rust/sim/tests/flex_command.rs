//! `hiatus flex` as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const PROBLEM: &str = r#"{"slots": 20, "metric": "total-tardiness", "jobs": [
    {"id": "big", "work": 400, "min": 2, "max": 20, "weight": 1, "deadline": 40, "steps": [[40, 1], [50, 9]]},
    {"id": "small", "work": 30, "min": 1, "max": 10, "weight": 2, "deadline": 3, "steps": [[3, 5]]},
    {"id": "mid", "work": 120, "min": 2, "max": 8, "weight": 1, "deadline": 14, "steps": [[14, 2]]}]}"#;

/// A folder of the test's own.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn flex(test: &str, problem: &str, more: &[&str]) -> Output {
    let file = folder(test).join("problem.json");
    std::fs::write(&file, problem).expect("a problem file");
    Command::new(env!("CARGO_BIN_EXE_hiatus"))
        .args(["flex", "--problem"])
        .arg(file)
        .args(more)
        .output()
        .expect("hiatus runs")
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on standard output")
}

#[test]
fn the_schedule_its_value_and_how_it_was_found() {
    let answer = answer(&flex("schedule", PROBLEM, &[]));
    assert_eq!(answer["metric"], "total-tardiness");
    assert_eq!(answer["objective"], "minisum");
    assert_eq!(answer["value"], 1.0);
    assert_eq!(answer["lower_bound"], 1.0);
    assert_eq!(answer["completion_times"], serde_json::json!({"big": 27.5, "mid": 15.0, "small": 3.0}));
    assert_eq!(
        answer["intervals"][0],
        serde_json::json!({"start": 0.0, "end": 3.0, "slots": {"big": 2, "mid": 8, "small": 10}})
    );
    assert_eq!(answer["ordering"]["jobs"].as_array().unwrap().len(), 3);
    assert!(answer["time_taken_ms"].as_f64().unwrap() >= 0.0);
}

#[test]
fn every_metric_is_solved_as_well_as_exhaustively() {
    for metric in hiatus_core::flex::Metric::ALL {
        let value = |more: &[&str]| {
            let arguments = [&["--metric", metric.name()], more].concat();
            answer(&flex("metrics", PROBLEM, &arguments))["value"].as_f64().unwrap()
        };
        assert_eq!(value(&[]), value(&["--exhaustive"]), "{metric}");
    }
}

#[test]
fn a_job_that_cannot_run_never_completes() {
    let answer = answer(&flex("parked", r#"{"slots": 0, "jobs": [{"id": 1, "work": 5}]}"#, &[]));
    assert_eq!((&answer["value"], &answer["completion_times"]["1"]), (&Value::Null, &Value::Null));
    assert_eq!(answer["intervals"], serde_json::json!([]));
}

#[test]
fn the_picture_is_written() {
    let picture = folder("picture").join("schedule.svg");
    answer(&flex("picture", PROBLEM, &["--plot", picture.to_str().unwrap()]));
    assert!(std::fs::read_to_string(picture).unwrap().contains("total-tardiness 1"));
}

#[test]
fn a_bad_problem_is_refused_by_file_and_key() {
    let refused = |problem: &str, more: &[&str]| {
        let output = flex("refused", problem, more);
        assert!(!output.status.success() && output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let error = refused(r#"{"slots": 5, "jobs": [{"id": "a", "work": -1}]}"#, &[]);
    assert!(error.contains("problem.json: jobs[0].work: must be"), "{error}");
    let minimax = PROBLEM.replacen('{', r#"{"objective": "minimax", "#, 1);
    assert!(refused(&minimax, &["--metric", "number-tardy"]).contains("objective"));
    let jobs: Vec<String> = (0..13).map(|id| format!(r#"{{"id": {id}, "work": 1}}"#)).collect();
    let many = format!(r#"{{"slots": 5, "jobs": [{}]}}"#, jobs.join(","));
    assert!(refused(&many, &["--exhaustive"]).contains("at most 12 jobs, not 13"));
}
