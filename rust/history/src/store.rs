//! The database: one file, in which what is written is there whole or not at all, whatever happens to the process.
#![allow(clippy::result_large_err, reason = "errors of the database end it: there is at most one")]

use hiatus_core::fact::Side;
use hiatus_core::recurring::{OnSide, Record, Tasks};
use hiatus_core::units::{JobClass, Millis};
use redb::{Database, DatabaseError, ReadableTable, ReadableTableMetadata, StorageBackend, Table, TableDefinition};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The file's name in its directory.
pub const FILE: &str = "history.redb";

/// So many of the latest runs of one class are kept: each weighs 0.7 of the next in the moving mean, but runs of other sizes
/// do not count for BatchMR's placer, so that there must be a few of each.
pub const RUNS_OF_A_CLASS: usize = 32;

/// What is in the file; another layout gets another number.
const SCHEMA: u64 = 1;

/// Cached pages take no more memory.
const CACHE_BYTES: usize = 16 << 20;

/// A class, and when the run ended, in ms since 1970. Of two in one millisecond the later one counts.
type Run = (u64, u64);
/// Bytes of input; by side (0 physical, 1 virtual) how long it took in ms, and on how many nodes; by request priority how many
/// tasks there were, and for how many ms they worked together.
type Told = (u64, Vec<(u8, u64, u32)>, Vec<(i32, u32, u64)>);

const RUNS: TableDefinition<'_, Run, Told> = TableDefinition::new("runs");
/// The same keys turned round, so that the oldest come first.
const BY_AGE: TableDefinition<'_, Run, ()> = TableDefinition::new("by-age");
const ABOUT: TableDefinition<'_, &str, u64> = TableDefinition::new("about");

/// How much is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Runs of all classes together; the oldest make room.
    pub runs: u64,
}

/// Why nothing is remembered.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// Another process has the file.
    #[error("{path}: another process has it open")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by another version.
    #[error("{path}: its layout is number {found}, this version reads and writes {SCHEMA}: move it away, and history begins anew")]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u64,
    },
    /// The file is no database, or a damaged one.
    #[error("{path}: damaged, or not written by Hiatus ({cause}): move it away, and history begins anew")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        cause: String,
    },
    /// The file cannot be read or written now: the disk is full, rights are missing.
    #[error("{path}: {cause}")]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
}

/// Runs of earlier jobs, by class.
#[derive(Debug)]
pub struct Store {
    db: Database,
    path: PathBuf,
    bounds: Bounds,
}

impl Store {
    /// Opens the database in a directory, or begins one. Reads all of it: a damaged one is found now, not later.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn open(dir: &Path, bounds: Bounds) -> Result<Store, HistoryError> {
        let path = dir.join(FILE);
        std::fs::create_dir_all(dir).map_err(|cause| HistoryError::Disk { path: path.clone(), cause })?;
        Store::checked(Database::builder().set_cache_size(CACHE_BYTES).create(&path), path, bounds)
    }

    /// The same on anything that bytes can be kept on, which goes by the name of `path`.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn on(backend: impl StorageBackend, path: PathBuf, bounds: Bounds) -> Result<Store, HistoryError> {
        Store::checked(Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(backend), path, bounds)
    }

    fn checked(db: Result<Database, DatabaseError>, path: PathBuf, bounds: Bounds) -> Result<Store, HistoryError> {
        let store = db.and_then(|mut db| db.check_integrity().map(|_| db)).map_err(|error| wrong(&path, error))?;
        let store = Store { db: store, path, bounds };
        let found = store.schema().map_err(|error| wrong(&store.path, error))?;
        match found {
            SCHEMA => Ok(store),
            found => Err(HistoryError::Schema { path: store.path, found }),
        }
    }

    /// The number of its layout: ours, if it is new.
    fn schema(&self) -> Result<u64, redb::Error> {
        let writing = self.db.begin_write()?;
        let found = {
            let mut about = writing.open_table(ABOUT)?;
            let found = about.get("schema")?.map(|found| found.value());
            if found.is_none() {
                about.insert("schema", SCHEMA)?;
            }
            found.unwrap_or(SCHEMA)
        };
        if found == SCHEMA {
            writing.open_table(RUNS)?;
            writing.open_table(BY_AGE)?;
            writing.commit()?;
        }
        Ok(found)
    }

    /// Writes these runs down; they are on disk when this returns, all or none.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn remember(&mut self, records: &[Record]) -> Result<(), HistoryError> {
        let write = || -> Result<(), redb::Error> {
            let writing = self.db.begin_write()?;
            {
                let mut runs = writing.open_table(RUNS)?;
                let mut by_age = writing.open_table(BY_AGE)?;
                for record in records {
                    add(&mut runs, &mut by_age, record, self.bounds)?;
                }
            }
            Ok(writing.commit()?)
        };
        write().map_err(|error| wrong(&self.path, error))
    }

    /// What is known of a class, oldest first.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn recall(&self, class: JobClass) -> Result<Vec<Record>, HistoryError> {
        let read = || -> Result<Vec<Record>, redb::Error> {
            let runs = self.db.begin_read()?.open_table(RUNS)?;
            let of_class = runs.range((class.0, 0)..=(class.0, u64::MAX))?;
            of_class.map(|run| run.map(|(key, told)| record(key.value(), told.value())).map_err(Into::into)).collect()
        };
        read().map_err(|error| wrong(&self.path, error))
    }

    /// When the oldest run that is known ended, in milliseconds since 1970.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn oldest_ms(&self) -> Result<Option<u64>, HistoryError> {
        let first = || -> Result<Option<u64>, redb::Error> {
            let by_age = self.db.begin_read()?.open_table(BY_AGE)?;
            let oldest = by_age.first()?.map(|(key, _)| key.value().0);
            Ok(oldest)
        };
        first().map_err(|error| wrong(&self.path, error))
    }

    /// How many runs are known.
    ///
    /// # Errors
    /// See [`HistoryError`].
    pub fn runs(&self) -> Result<u64, HistoryError> {
        let count = || -> Result<u64, redb::Error> { Ok(self.db.begin_read()?.open_table(RUNS)?.len()?) };
        count().map_err(|error| wrong(&self.path, error))
    }
}

fn add(
    runs: &mut Table<'_, Run, Told>,
    by_age: &mut Table<'_, Run, ()>,
    record: &Record,
    bounds: Bounds,
) -> Result<(), redb::Error> {
    let class = record.class.0;
    runs.insert((class, record.at_ms), told(record))?;
    by_age.insert((record.at_ms, class), ())?;
    let of_class: Vec<u64> = runs
        .range((class, 0)..=(class, u64::MAX))?
        .map(|run| run.map(|(key, _)| key.value().1))
        .collect::<Result<_, _>>()?;
    for at_ms in &of_class[..of_class.len().saturating_sub(RUNS_OF_A_CLASS)] {
        runs.remove((class, *at_ms))?;
        by_age.remove((*at_ms, class))?;
    }
    while runs.len()? > bounds.runs {
        let Some((at_ms, class)) = by_age.pop_first()?.map(|(key, _)| key.value()) else { break };
        runs.remove((class, at_ms))?;
    }
    Ok(())
}

fn told(record: &Record) -> Told {
    let sides = record.sides.iter().map(|on| (u8::from(on.side == Side::Virtual), on.took.0, on.nodes));
    let tasks = record.tasks.iter().map(|tasks| (tasks.priority, tasks.count, tasks.time.0));
    (record.input, sides.collect(), tasks.collect())
}

fn record((class, at_ms): Run, (input, sides, tasks): Told) -> Record {
    let side = |number| if number == 0 { Side::Physical } else { Side::Virtual };
    let sides = sides.into_iter().map(|(number, took, nodes)| OnSide { side: side(number), took: Millis(took), nodes });
    let tasks = tasks.into_iter().map(|(priority, count, time)| Tasks { priority, count, time: Millis(time) });
    Record { class: JobClass(class), at_ms, input, sides: sides.collect(), tasks: tasks.collect() }
}

/// What an error of the database means here.
fn wrong(path: &Path, error: impl Into<redb::Error>) -> HistoryError {
    let path = path.to_owned();
    match error.into() {
        redb::Error::DatabaseAlreadyOpen => HistoryError::InUse { path },
        redb::Error::Io(cause) if cause.kind() != io::ErrorKind::InvalidData => HistoryError::Disk { path, cause },
        other => HistoryError::Damaged { path, cause: other.to_string() },
    }
}
