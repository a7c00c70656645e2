//! The `hiatus` command, as its users see it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn hiatus(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hiatus")).args(args).output().expect("hiatus starts")
}

#[track_caller]
fn prints(args: &[&str]) -> String {
    let output = hiatus(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn refuses(args: &[&str], what: &str) {
    let output = hiatus(args);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains(what), "{args:?} says {message:?}, not {what:?}");
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A file with the example of golden vector G-6.
fn g_6(folder: &Path) -> String {
    let path = folder.join("g6.csv");
    fs::write(&path, "arrival,size,estimate\n0,10,2\n0.5,3,3.3\n1.2,1,0.9\n6,4,2.7\n7.3,0.6,0.5\n").expect("written");
    path.to_string_lossy().into_owned()
}

#[test]
fn g_6_from_file_to_file() {
    let folder = folder("from-file-to-file");
    let (jobs, out) = (g_6(&folder), folder.join("out.csv"));
    let out_text = out.to_string_lossy();
    prints(&["simulate", "single", "--policy", "fspe", "--jobs", &jobs, "--out", &out_text]);
    let written = fs::read_to_string(&out).expect("written");
    let mut lines = written.lines();
    assert_eq!(lines.next(), Some("job,arrival,size,estimate,completion"));
    let completions: Vec<f64> = lines.map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    let apart = completions.iter().zip([11.0, 14.0, 2.2, 18.6, 14.6]).map(|(a, b)| (a - b).abs());
    assert!(completions.len() == 5 && apart.fold(0.0, f64::max) < 1e-9, "{completions:?}");
    // What was written can be read again.
    assert_eq!(
        prints(&["simulate", "single", "--policy", "ps", "--jobs", &out_text]),
        prints(&["simulate", "single", "--policy", "ps", "--jobs", &jobs])
    );
}

#[test]
fn a_summary_in_every_format() {
    let jobs = g_6(&folder("formats"));
    let args = |format| ["simulate", "single", "--policy", "srpt,fspe+ps", "--jobs", &jobs, "--format", format];
    assert!(prints(&args("table")).contains("fspe+ps  5     9.74"));
    let csv = prints(&args("csv"));
    assert!(csv.starts_with("policy,jobs,mst,last_completion,slowdown_q0.5,"), "{csv}");
    assert_eq!(csv.lines().count(), 3);
    let json: serde_json::Value = serde_json::from_str(&prints(&args("json"))).expect("JSON");
    assert_eq!(json["summary"][1]["policy"], "fspe+ps");
    assert!((json["summary"][0]["mst"].as_f64().unwrap() - 5.76).abs() < 1e-9, "{json}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_with_any_number_of_threads() {
    let folder = folder("threads");
    let run = |seed: &str, threads: &str| {
        let out = folder.join(format!("{seed}-{threads}"));
        let text = out.to_string_lossy();
        let args = ["reproduce", "table-3.1", "--quick", "--seed", seed, "--threads", threads, "--out", &text];
        (prints(&args), fs::read(out.join("table-3.1/errors.csv")).expect("written"))
    };
    assert_eq!(run("7", "1"), run("7", "3"));
    assert_ne!(run("7", "1"), run("8", "1"));
}

#[test]
fn random_jobs_follow_the_seed() {
    let args = |seed| ["simulate", "single", "--policy", "las", "--synth", "njobs=500", "--seed", seed];
    assert_eq!(prints(&args("3")), prints(&args("3")));
    assert_ne!(prints(&args("3")), prints(&args("4")));
}

#[test]
fn a_swim_trace_is_known_by_its_ending_and_scaled_to_a_load() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/data/swim/FB-2009_samples_24_times_1hr_0.tsv");
    let last = |load| {
        let args = ["--format", "json", "simulate", "single", "--policy", "ps", "--jobs", trace, "--load", load];
        let json: serde_json::Value = serde_json::from_str(&prints(&args)).expect("JSON");
        assert_eq!(json["summary"][0]["jobs"], 5894);
        json["summary"][0]["mst"].as_f64().unwrap()
    };
    assert!(last("0.5") < last("0.9"));
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let folder = folder("bad-input");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    };
    let single = |jobs: &str, what: &str| refuses(&["simulate", "single", "--policy", "ps", "--jobs", jobs], what);
    single(&file("a.csv", "arrival,size\n0,1\n1,nan\n"), "a.csv:3: column 2 (size): \"nan\" is not a finite number");
    single(&file("b.csv", "5,1\n4,1\n"), "b.csv:2: column 1 (arrival): \"4\" is not at or after");
    single(&file("c.csv", ""), "c.csv: no jobs in it");
    single(&file("d.tsv", "job0\t1\t1\tx\t0\t0\n"), "d.tsv:1: column 4 (input): \"x\" is not");
    single("no/such/file", "cannot read no/such/file: No such file");
    let policy = |policy: &str, what: &str| refuses(&["simulate", "single", "--synth", "", "--policy", policy], what);
    policy("fastest", "no policy is called \"fastest\": one of fifo, ps,");
    let synth = |synth: &str, what: &str| refuses(&["simulate", "single", "--policy", "ps", "--synth", synth], what);
    synth("shape=-1", "shape=-1: must be within");
    synth("load=0", "load=0: must be above 0");
    refuses(&["simulate", "single", "--policy", "ps", "--synth", "", "--load", "1"], "cannot be used with");
    refuses(
        &["simulate", "single", "--policy", "ps,las", "--synth", "njobs=3", "--out", "x.csv"],
        "--out takes the completions of one policy",
    );
}

#[test]
fn studies_are_listed_and_unknown_ones_refused() {
    let list = prints(&["reproduce", "list"]);
    for id in (1..=11).map(|figure| format!("fig-3.{figure} ")).chain(["fig-4.1".to_owned(), "checks-3".to_owned()]) {
        assert!(list.lines().any(|line| line.starts_with(&id)), "{id} is not in {list}");
    }
    refuses(&["reproduce", "fig-9.9"], "no study is called \"fig-9.9\"");
}

#[test]
fn a_study_leaves_tables_plots_and_claims() {
    let folder = folder("study");
    let out = folder.to_string_lossy();
    let printed = prints(&["reproduce", "fig-3.8", "fig-4.*", "--quick", "--out", &out]);
    assert!(printed.contains("S-22"), "{printed}");
    for file in
        ["fig-3.8/report.md", "fig-3.8/fig-3.8.csv", "fig-3.8/fig-3.8.svg", "fig-3.8/claims.json", "fig-4.4/report.md"]
    {
        assert!(folder.join(file).metadata().is_ok_and(|metadata| metadata.len() > 0), "{file}");
    }
    let claims = fs::read_to_string(folder.join("fig-4.4/claims.json")).expect("written");
    let claims: serde_json::Value = serde_json::from_str(&claims).expect("JSON");
    assert_eq!(claims[0]["passes"], true, "{claims}");
}

#[test]
fn what_the_core_says_is_told_on_demand() {
    let said = |rust_log: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hiatus"));
        command.arg("fuzz").env_remove("RUST_LOG");
        if let Some(level) = rust_log {
            command.env("RUST_LOG", level);
        }
        let output = command.output().expect("hiatus starts");
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    assert_eq!(said(None), "");
    let debug = said(Some("hiatus_core=debug"));
    assert!(debug.contains("DEBUG hiatus_core::state::facts] a fact of something unknown"), "{debug}");
}
