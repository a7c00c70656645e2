//! Published experiments, and some of our own, each a [`Study`]: what it varies, what it measures, which claims it checks.
//!
//! To add one, write `fn(&Setting) -> Result<Report, StudyError>` and list it in [`studies`].

mod batchmr;
mod chapter3;
mod chapter4;
mod chapter5;
mod distance;
pub mod ensemble;
pub mod figure;
mod flex;
mod forecast;
mod gp;
mod hints;
mod predoop;
mod recurring;
mod remainders;
pub mod small_and_big;

use std::sync::OnceLock;

use crate::report::Report;
use crate::workload::WorkloadError;

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
    Cluster(crate::cluster::SimulationError),
    /// Its slot allocation problem is not usable.
    #[error(transparent)]
    Flex(#[from] hiatus_core::flex::ExhaustiveError),
}

/// Every study, in the order of publication; our own come last.
pub fn studies() -> &'static [&'static Study] {
    static STUDIES: OnceLock<Vec<&'static Study>> = OnceLock::new();
    STUDIES.get_or_init(|| {
        [
            chapter3::STUDIES,
            chapter4::STUDIES,
            chapter5::STUDIES,
            flex::STUDIES,
            gp::STUDIES,
            batchmr::STUDIES,
            predoop::STUDIES,
            &[&hints::HINTS, &forecast::FORECAST, &recurring::RECURRING, &distance::DISTANCE, &remainders::REMAINDERS],
        ]
        .concat()
    })
}

/// The studies named by `ids`: exact ids, `all`, or a prefix ending in `*`. Keeps the order of [`studies`].
pub fn select(ids: &[String]) -> Result<Vec<&'static Study>, StudyError> {
    let names = |id: &str, study: &Study| match id.strip_suffix('*') {
        Some(prefix) => study.id.starts_with(prefix),
        None => id == "all" || id == study.id,
    };
    for id in ids {
        if !studies().iter().any(|study| names(id, study)) {
            return Err(StudyError::Unknown(id.clone()));
        }
    }
    Ok(studies().iter().copied().filter(|study| ids.iter().any(|id| names(id, study))).collect())
}
