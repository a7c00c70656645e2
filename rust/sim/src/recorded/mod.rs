//! What a ResourceManager recorded (`yarn.scheduler.hiatus.rm.record-dir`), taken up again.
//!
//! - [`replay`]: whether the same core decides the same;
//! - [`past`]: the cluster and its jobs;
//! - [`history`]: the same of a cluster without Hiatus, by YARN's own records;
//! - [`what_if`]: how those would have fared with other settings;
//! - [`advice`]: under which of some they would have fared best.

pub mod advice;
pub mod history;
mod model;
pub mod past;
pub mod replay;
mod size_class;
pub mod what_if;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use hiatus_wire::log::{Log, LogError};

/// A recorded log, while it is read.
pub type Recorded = Log<BufReader<Box<dyn Read>>>;

/// What is wrong with a recorded log, or with what is done with it.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// There is no such file, or it may not be read.
    #[error("cannot open: {0}")]
    Open(#[from] io::Error),
    /// It is none, or damaged.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is nothing to compare.
    #[error("no job is whole in the records: record for longer")]
    NoJobs,
    /// What YARN itself kept is not as it must be.
    #[error(transparent)]
    History(#[from] history::HistoryError),
    /// The core did not do as it had done.
    #[error(transparent)]
    Replay(#[from] replay::ReplayError),
}

/// Opens a log as the ResourceManager left it.
///
/// # Errors
/// There is no such file, or it is no log of this build.
pub fn open(path: &Path) -> Result<Recorded, RecordedError> {
    let unpacked: Box<dyn Read> = Box::new(GzDecoder::new(File::open(path)?));
    Ok(Log::open(BufReader::new(unpacked))?)
}
