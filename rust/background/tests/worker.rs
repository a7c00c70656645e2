//! A thread that works beside: what it makes, what it does not disturb, and that it ends.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use hiatus_background::worker::Worker;
use std::sync::mpsc::{channel, Sender};
use std::time::{Duration, Instant};

/// Longer than anything here takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

fn becomes<W: Send + 'static>(worker: &Worker<W, &'static str>, what: &str) {
    let end = Instant::now() + PATIENCE;
    while worker.latest() != what {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Says that its owner is gone.
struct Gone(Sender<()>);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[test]
fn what_is_known_is_what_it_made_last_and_it_takes_more_when_it_has_rested() {
    let worker = Worker::begin("test", "nothing", "failed", |work, _| work).unwrap();
    assert_eq!((worker.latest(), worker.is_idle()), ("nothing", true));
    for (work, known) in [(Some("one"), "one"), (None, "one"), (Some("two"), "two")] {
        worker.give(work);
        let end = Instant::now() + PATIENCE;
        while !worker.is_idle() {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(worker.latest(), known);
    }
}

#[test]
fn a_panic_is_told_and_ends_it_and_nothing_else() {
    let worker = Worker::begin("test", "nothing", "failed", |(), _| panic!("as the test wants")).unwrap();
    worker.give(());
    becomes(&worker, "failed");
    assert!(!worker.is_idle(), "nobody takes more");
}

#[test]
fn it_ends_when_it_is_dropped_while_it_works() {
    let ((begun, has_begun), (gone, is_gone)) = (channel(), channel());
    let gone = Gone(gone);
    let work = move |(), wanted: hiatus_background::worker::Wanted<'_>| {
        let _of_thread = &gone;
        begun.send(()).unwrap();
        while wanted() {
            std::thread::yield_now();
        }
        None
    };
    let worker = Worker::begin("test", "nothing", "failed", work).unwrap();
    worker.give(());
    has_begun.recv_timeout(PATIENCE).unwrap();
    drop(worker);
    is_gone.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn it_ends_when_it_is_dropped_while_it_rests() {
    let (gone, is_gone) = channel();
    let (gone, worked) = (Gone(gone), Duration::from_secs(1));
    let work = move |(), _: hiatus_background::worker::Wanted<'_>| {
        let _of_thread = &gone;
        std::thread::sleep(worked);
        Some("rests")
    };
    let worker = Worker::begin("test", "nothing", "failed", work).unwrap();
    worker.give(());
    becomes(&worker, "rests");
    drop(worker);
    is_gone.recv_timeout(5 * worked).expect("sooner than its rest of nine times its work is over");
}
