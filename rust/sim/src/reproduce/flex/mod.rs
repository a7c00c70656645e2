//! FLEX (Wolf et al., Middleware 2010): the simulations of its §4.1, one phase of jobs that are all there from the
//! start, against FIFO, FAIR and the best of all orderings.
//!
//! The two-phase experiments of §4.2 (Fig. 6, GridMix2: claims C9 to C11) need a simulated cluster and are not here.

mod bench;
mod larger;
mod measure;
mod optimum;
mod schemes;
mod workload;

use hiatus_core::flex::ProblemError;

use super::{Study, StudyError};

/// The studies of this paper.
pub(super) const STUDIES: &[&Study] =
    &[&optimum::BASE_CASE, &optimum::FIG_5A, &optimum::FIG_5B, &optimum::FIG_5C, &larger::LARGER, &bench::BENCH];

impl From<ProblemError> for StudyError {
    fn from(error: ProblemError) -> StudyError {
        StudyError::Flex(error.into())
    }
}
