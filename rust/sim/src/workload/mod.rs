//! Jobs for a single server: what they are, where they come from. Those for a cluster are in [`cluster`].

pub mod cluster;
mod csv_trace;
mod error_model;
mod stream;
pub mod swim;
mod synthesis;

use std::io;
use std::path::{Path, PathBuf};

pub use csv_trace::{read_csv, write_csv};
pub use error_model::{correlation, median_factor, Noise};
pub use synthesis::{Sizes, Synthesis};

/// A job as a single server sees it. Times and sizes in seconds of service at rate 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// When it is submitted.
    pub arrival: f64,
    /// The service it needs; 0 is a job that needs none.
    pub size: f64,
    /// The service a size-based policy believes it needs.
    pub estimate: f64,
    /// Its share of a weighted server, relative to other jobs' weights.
    pub weight: f64,
}

impl Job {
    /// A job of weight 1 whose size is known exactly.
    pub fn exact(arrival: f64, size: f64) -> Job {
        Job { arrival, size, estimate: size, weight: 1.0 }
    }
}

/// Jobs in order of arrival; a job's number is its place here.
pub type Workload = Vec<Job>;

/// The same jobs with every estimate right.
pub fn exactly_estimated(jobs: &[Job]) -> Workload {
    jobs.iter().map(|job| Job { estimate: job.size, ..*job }).collect()
}

/// Scales all sizes and estimates so that the offered load, Σ size / last arrival, is `load`.
///
/// A workload whose jobs all arrive at once, or need nothing, has no load to set and is left as it is.
pub fn set_load(jobs: &mut [Job], load: f64) {
    let total: f64 = jobs.iter().map(|job| job.size).sum();
    let last = jobs.last().map_or(0.0, |job| job.arrival);
    if total > 0.0 && last > 0.0 {
        let factor = load * last / total;
        for job in jobs {
            job.size *= factor;
            job.estimate *= factor;
        }
    }
}

/// Why there is no usable workload.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A value of a trace is not what it must be.
    #[error("{}:{line}: column {column} ({name}): {value:?} is not {expected}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// Column in the line, from 1.
        column: usize,
        /// Name of that column.
        name: &'static str,
        /// What is there.
        value: String,
        /// What must be there.
        expected: String,
    },
    /// A line of a trace has another number of columns than it must have.
    #[error("{}:{line}: {found} columns, where {expected} are needed", path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: u64,
        /// How many columns it has.
        found: usize,
        /// How many, and which, it must have.
        expected: String,
    },
    /// The file holds no jobs.
    #[error("{}: no jobs in it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A JSON workload is not what it must be.
    #[error("{}: {problem}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, after the path of the key; no JSON at all has a line and a column instead.
        problem: String,
    },
    /// A parameter of a random workload is out of range.
    #[error("{name}={value}: must be {expected}")]
    Parameter {
        /// The parameter.
        name: String,
        /// What was given.
        value: String,
        /// What may be given.
        expected: &'static str,
    },
}

/// A line of a trace being turned into numbers: knows where it is, for the messages.
struct Row<'a> {
    path: &'a Path,
    line: u64,
    fields: &'a csv::ByteRecord,
}

impl Row<'_> {
    /// The finite number ≥ 0 in `column` (from 0).
    fn number(&self, column: usize, name: &'static str) -> Result<f64, WorkloadError> {
        let text = String::from_utf8_lossy(&self.fields[column]);
        match text.parse() {
            Ok(value) if (0.0..f64::INFINITY).contains(&value) => Ok(value),
            _ => Err(self.refuse(column, name, "a finite number of at least 0".to_owned())),
        }
    }

    fn refuse(&self, column: usize, name: &'static str, expected: String) -> WorkloadError {
        let value = String::from_utf8_lossy(&self.fields[column]).into_owned();
        WorkloadError::Value { path: self.path.to_owned(), line: self.line, column: column + 1, name, value, expected }
    }

    /// Refuses an arrival before the one of the line above.
    fn not_before(&self, column: usize, name: &'static str, arrival: f64, previous: f64) -> Result<(), WorkloadError> {
        if arrival < previous {
            let expected = format!("at or after the arrival above it, {previous}: sort the file by arrival");
            return Err(self.refuse(column, name, expected));
        }
        Ok(())
    }
}

/// What the csv reader could not do, as an error of ours.
fn read_error(path: &Path, error: csv::Error) -> WorkloadError {
    WorkloadError::Read { path: path.to_owned(), source: error.into() }
}
