//! Reading what a ResourceManager recorded, or YARN itself kept.

use std::path::Path;

use super::CliError;
use crate::recorded::past::{past, Account};
use crate::recorded::{self, history, RecordedError};

/// Reads a log, or a folder that `scripts/save-history` made. Of a log that ends badly, what is before that.
///
/// # Errors
/// It cannot be read, or is neither.
pub(crate) fn read_past(log: &Path) -> Result<Account, CliError> {
    let failed = |source: RecordedError| CliError::Recorded { path: log.to_owned(), source };
    if log.is_dir() {
        return history::past(log).map_err(|error| failed(error.into()));
    }
    let (account, outcome) = past(&mut recorded::open(log).map_err(failed)?);
    if let Err(error) = outcome {
        // What was read is good for an answer.
        eprintln!("warning: {}: {error}", log.display());
    }
    Ok(account)
}
