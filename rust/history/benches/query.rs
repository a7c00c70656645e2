//! How long a query takes among a million runs, and what a run costs on disk: `cargo bench -p hiatus-history`.
#![allow(clippy::unwrap_used)] // A measurement that cannot be made should say so at once.

use hiatus_core::fact::Side;
use hiatus_core::recurring::{OnSide, Record, Tasks};
use hiatus_core::units::{JobClass, Millis};
use hiatus_history::{Bounds, Store, FILE, RUNS_OF_A_CLASS};
use std::time::{Duration, Instant};

const RUNS: u64 = 1_000_000;
const QUERIES: u64 = 10_000;
const SINGLE_WRITES: u64 = 100;

fn record(number: u64, classes: u64) -> Record {
    let on = |side, took| OnSide { side, took: Millis(took), nodes: 10 };
    let tasks = |priority| Tasks { priority, count: 100, time: Millis(number) };
    // Spread as FNV spreads names.
    let class = JobClass((number % classes).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let sides = vec![on(Side::Physical, 100_000), on(Side::Virtual, 150_000)];
    Record { class, at_ms: 1_700_000_000_000 + number, input: number << 20, sides, tasks: vec![tasks(20), tasks(10)] }
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    println!("{what}: p50 {:.4} ms, p99 {:.4} ms, longest {:.4} ms", at(0.5), at(0.99), at(1.0));
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let classes = RUNS / RUNS_OF_A_CLASS as u64;
    let mut store = Store::open(dir.path(), Bounds { runs: RUNS }).unwrap();
    for first in (0..RUNS).step_by(10_000) {
        let batch: Vec<Record> = (first..first + 10_000).map(|number| record(number, classes)).collect();
        store.remember(&batch).unwrap();
    }
    let bytes = std::fs::metadata(dir.path().join(FILE)).unwrap().len();
    println!("{} runs of {classes} classes: {:.0} bytes each", store.runs().unwrap(), bytes as f64 / RUNS as f64);
    let timed = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    let query = |number: u64| {
        let class = record(number.wrapping_mul(7_919), classes).class;
        timed(&mut || assert_eq!(store.recall(class).unwrap().len(), RUNS_OF_A_CLASS))
    };
    print("a query, all runs of a class", (0..QUERIES).map(query).collect());
    let write = |number: u64| timed(&mut || store.remember(&[record(RUNS + number, classes)]).unwrap());
    print("a run written down, on disk", (0..SINGLE_WRITES).map(write).collect());
    drop(store);
    let opened = timed(&mut || drop(Store::open(dir.path(), Bounds { runs: RUNS }).unwrap()));
    println!("opened, all of it read: {:.2} s", opened.as_secs_f64());
}
