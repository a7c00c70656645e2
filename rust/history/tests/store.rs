//! What history promises: what was written is there, within bounds, and whatever is wrong with the file is said and harms nobody.
#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use hiatus_core::fact::Side;
use hiatus_core::recurring::{Note, OnSide, Record, Tasks};
use hiatus_core::units::{AppId, JobClass, Millis};
use hiatus_history::{Bounds, HistoryError, Keeper, Store, FILE, RUNS_OF_A_CLASS};
use redb::{Database, StorageBackend, TableDefinition};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const ROOMY: Bounds = Bounds { runs: 1_000 };
/// Whoever waits for something that should come at once waits no longer.
const PATIENCE: Duration = Duration::from_secs(120);

fn record(class: u64, at_ms: u64) -> Record {
    let sides = vec![OnSide { side: Side::Virtual, took: Millis(7), nodes: 3 }];
    let tasks = [20, 10].map(|priority| Tasks { priority, count: 2, time: Millis(at_ms) });
    Record { class: JobClass(class), at_ms, input: 5, sides, tasks: tasks.to_vec() }
}

fn times(store: &Store, class: u64) -> Vec<u64> {
    store.recall(JobClass(class)).unwrap().iter().map(|record| record.at_ms).collect()
}

#[test]
fn what_was_written_is_there_after_a_restart_oldest_first_and_by_class() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path(), ROOMY).unwrap();
    store.remember(&[record(1, 30), record(2, 20)]).unwrap();
    store.remember(&[record(1, 10)]).unwrap();
    drop(store);
    let store = Store::open(dir.path(), ROOMY).unwrap();
    assert_eq!(store.recall(JobClass(1)).unwrap(), [record(1, 10), record(1, 30)]);
    assert_eq!((times(&store, 2), times(&store, 3)), (vec![20], vec![]));
}

#[test]
fn a_run_that_is_told_twice_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path(), ROOMY).unwrap();
    store.remember(&[record(1, 30), record(1, 30)]).unwrap();
    store.remember(&[record(1, 30)]).unwrap();
    assert_eq!(store.runs().unwrap(), 1);
}

#[test]
fn of_a_class_its_latest_runs_are_kept_and_of_all_the_latest() {
    let dir = tempfile::tempdir().unwrap();
    let most = RUNS_OF_A_CLASS as u64;
    let mut store = Store::open(dir.path(), Bounds { runs: most + 2 }).unwrap();
    let often: Vec<Record> = (100..110 + most).map(|at| record(1, at)).collect();
    store.remember(&often).unwrap();
    assert_eq!(times(&store, 1), (110..110 + most).collect::<Vec<_>>());
    store.remember(&[record(2, 1), record(3, 2), record(4, 3)]).unwrap();
    assert_eq!((times(&store, 2), times(&store, 3), times(&store, 4)), (vec![], vec![2], vec![3]));
    assert_eq!(store.runs().unwrap(), most + 2);
}

#[test]
fn one_process_has_the_file_and_others_are_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(dir.path(), ROOMY).unwrap();
    assert!(matches!(Store::open(dir.path(), ROOMY), Err(HistoryError::InUse { .. })));
    drop(first);
    Store::open(dir.path(), ROOMY).unwrap();
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE);
    for content in [b"no database".repeat(1_000), vec![0; 5_000]] {
        std::fs::write(&file, &content).unwrap();
        let error = Store::open(dir.path(), ROOMY).unwrap_err();
        assert!(matches!(error, HistoryError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(FILE) && error.to_string().contains("move it away"), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), content);
    }
}

#[test]
fn a_page_that_was_damaged_is_found_when_the_file_is_opened_or_is_of_no_use_to_anybody() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path(), ROOMY).unwrap();
    let all: Vec<Record> = (0..200).map(|number| record(number % 10, number)).collect();
    store.remember(&all).unwrap();
    let before: Vec<_> = (0..10).map(|class| store.recall(JobClass(class)).unwrap()).collect();
    drop(store);
    let whole = std::fs::read(dir.path().join(FILE)).unwrap();
    let (mut found, page) = (0, 4096);
    let used = |at: &usize| whole[*at..].iter().take(page).any(|byte| *byte != 0);
    let pages: Vec<usize> = (page..whole.len()).step_by(page).filter(used).collect();
    for &at in pages.iter().step_by(pages.len().div_ceil(8)) {
        let mut damaged = whole.clone();
        damaged[at..].iter_mut().take(page).for_each(|byte| *byte ^= 0x5a);
        let hurt = tempfile::tempdir().unwrap();
        std::fs::write(hurt.path().join(FILE), damaged).unwrap();
        // The database may panic over it; its keeper says the same of that as of an error.
        let opened = std::panic::catch_unwind(|| Store::open(hurt.path(), ROOMY));
        let Ok(Ok(store)) = opened else {
            found += 1;
            continue;
        };
        let after: Vec<_> = (0..10).map(|class| store.recall(JobClass(class)).unwrap()).collect();
        assert_eq!(after, before, "a page at {at} that nothing depends on");
    }
    assert!(found > 0, "no page with runs was damaged: does this test still hit any?");
}

#[test]
fn a_file_of_another_layout_is_refused_by_number() {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::create(dir.path().join(FILE)).unwrap();
    let writing = db.begin_write().unwrap();
    writing.open_table(TableDefinition::<&str, u64>::new("about")).unwrap().insert("schema", 0).unwrap();
    writing.commit().unwrap();
    drop(db);
    let error = Store::open(dir.path(), ROOMY).unwrap_err();
    assert!(matches!(error, HistoryError::Schema { found: 0, .. }), "{error}");
    assert!(error.to_string().contains("layout is number 0, this version reads and writes 1"), "{error}");
}

/// A disk of so many bytes.
#[derive(Clone, Debug)]
struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    most: usize,
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.lock().unwrap().len() as u64)
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        Ok(self.bytes.lock().unwrap()[offset as usize..][..len].to_vec())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if len as usize > self.most {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        self.bytes.lock().unwrap().resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self, _eventual: bool) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.bytes.lock().unwrap()[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_and_what_was_there_before_stays() {
    let disk = Disk { bytes: Arc::default(), most: 4 << 20 };
    let bounds = Bounds { runs: u64::MAX };
    let mut store = Store::on(disk.clone(), "a-disk".into(), bounds).unwrap();
    let mut written = 0;
    let error = loop {
        let batch: Vec<Record> = (0..1_000).map(|number| record(written + number, 1)).collect();
        match store.remember(&batch) {
            Ok(()) => written += 1_000,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, HistoryError::Disk { .. }), "{error}");
    assert!(error.to_string().contains("a-disk"), "{error}");
    drop(store);
    let larger = Disk { most: usize::MAX, ..disk };
    assert_eq!(Store::on(larger, "a-disk".into(), bounds).unwrap().runs().unwrap(), written);
}

#[test]
fn a_directory_that_cannot_be_made_is_told() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Store::open(&file.path().join("below"), ROOMY).unwrap_err();
    assert!(matches!(error, HistoryError::Disk { .. }), "{error}");
}

const CHILD: &str = "HIATUS_TEST_HISTORY";

/// The child of the next test; by itself it does nothing.
#[test]
fn writes_until_it_is_killed() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let mut store = Store::open(Path::new(&dir), Bounds { runs: u64::MAX }).unwrap();
    for number in store.runs().unwrap().. {
        store.remember(&[record(number, 1)]).unwrap();
        println!("wrote {}", number + 1);
        io::stdout().flush().unwrap();
    }
}

#[test]
fn who_is_killed_while_writing_loses_the_last_run_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let mut before = 0;
    for lines in [3, 17, 40] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["writes_until_it_is_killed", "--exact", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut wrote = said.filter_map(|line| line.unwrap().strip_prefix("wrote ")?.parse::<u64>().ok());
        let seen = wrote.by_ref().take(lines).last().unwrap();
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        let last = wrote.last().unwrap_or(seen);
        let store = Store::open(dir.path(), Bounds { runs: u64::MAX }).unwrap();
        let found = store.runs().unwrap();
        // It was killed in a write, or behind one that it had not told of yet.
        assert!(last > before && (found == last || found == last + 1), "{found} of {last}");
        for number in 0..found {
            assert_eq!(store.recall(JobClass(number)).unwrap(), [record(number, 1)]);
        }
        before = found;
    }
}

fn wait_for(keeper: &Keeper) -> (AppId, Vec<Record>) {
    let begun = Instant::now();
    loop {
        if let Some(known) = keeper.known() {
            return known;
        }
        assert!(begun.elapsed() < PATIENCE, "nothing is known after {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_keeper_answers_behind_the_call_and_what_it_was_told_last_is_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut keeper = Keeper::begin(dir.path(), ROOMY).unwrap();
    let came = |app, class| Note::Came { app: AppId(app), class: JobClass(class) };
    keeper.note(&[came(1, 7), Note::Ended(record(7, 10)), came(2, 8), came(3, 7)]);
    keeper.note(&[came(4, 7)]);
    // Nobody hears of classes of which nothing is known; the first asked before anything was written down, or with it.
    let known: Vec<_> =
        std::iter::from_fn(|| Some(wait_for(&keeper))).take_while(|(app, _)| *app != AppId(4)).collect();
    assert!(known.contains(&(AppId(3), vec![record(7, 10)])) && !known.iter().any(|(app, _)| *app == AppId(2)));
    assert_eq!(keeper.known(), None);
    keeper.note(&[Note::Ended(record(7, 20))]);
    keeper.finish();
    assert_eq!(times(&Store::open(dir.path(), ROOMY).unwrap(), 7), [10, 20]);
}

#[test]
fn the_next_keeper_waits_until_the_last_one_lets_go() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = Keeper::begin(dir.path(), ROOMY).unwrap();
    first.note(&[Note::Ended(record(7, 10)), Note::Came { app: AppId(1), class: JobClass(7) }]);
    wait_for(&first);
    let mut second = Keeper::begin(dir.path(), ROOMY).unwrap();
    second.note(&[Note::Came { app: AppId(2), class: JobClass(7) }]);
    drop(first);
    assert_eq!(wait_for(&second), (AppId(2), vec![record(7, 10)]));
}

#[test]
fn a_keeper_of_a_damaged_file_goes_on_and_knows_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(FILE), b"no database").unwrap();
    let mut keeper = Keeper::begin(dir.path(), ROOMY).unwrap();
    keeper.note(&[Note::Ended(record(7, 10)), Note::Came { app: AppId(1), class: JobClass(7) }]);
    keeper.finish();
    assert_eq!(std::fs::read(dir.path().join(FILE)).unwrap(), b"no database");
}
