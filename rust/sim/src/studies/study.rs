//! What a study is, how it is run, and why it cannot be.

use crate::cluster::SimulationError;
use crate::report::Report;
use crate::workload::WorkloadError;
use hiatus_core::flex::{ExhaustiveError, ProblemError};

/// How a study is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Few runs, for a first look.
    pub quick: bool,
    /// Seed of all random draws.
    pub seed: u64,
}

impl Setting {
    /// How many runs to make of `full`: all, or a twentieth for a first look, but 20 at least.
    pub fn runs(&self, full: usize) -> usize {
        match self.quick {
            true => (full / 20).max(20).min(full),
            false => full,
        }
    }
}

/// A published figure, table or set of claims that can be reproduced.
#[derive(Debug)]
pub struct Study {
    /// Name on the command line and of the output folder, such as `fig-3.4`.
    pub id: &'static str,
    /// What it shows, with its source.
    pub title: &'static str,
    /// Runs it.
    pub run: fn(&Setting) -> Result<Report, StudyError>,
}

/// Why a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// No study has this id.
    #[error("no study is called {0:?}: `hiatus reproduce list` shows the ids")]
    Unknown(String),
    /// Its workload is not usable.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    /// Its cluster cannot run its jobs.
    #[error(transparent)]
    Cluster(#[from] SimulationError),
    /// Its slot allocation problem is not usable.
    #[error(transparent)]
    Flex(#[from] ExhaustiveError),
}

impl From<ProblemError> for StudyError {
    fn from(error: ProblemError) -> StudyError {
        StudyError::Flex(error.into())
    }
}

/// Of `studies` those named by `ids`: exact ids, `all`, or a prefix ending in `*`. Keeps their order.
///
/// # Errors
/// An id that names none.
pub fn select(studies: &[&'static Study], ids: &[String]) -> Result<Vec<&'static Study>, StudyError> {
    let names = |id: &str, study: &Study| match id.strip_suffix('*') {
        Some(prefix) => study.id.starts_with(prefix),
        None => id == "all" || id == study.id,
    };
    for id in ids {
        if !studies.iter().any(|study| names(id, study)) {
            return Err(StudyError::Unknown(id.clone()));
        }
    }
    Ok(studies.iter().copied().filter(|study| ids.iter().any(|id| names(id, study))).collect())
}
