//! Published experiments, and some of our own, each a [`Study`]: what it varies, what it measures, which claims it checks.
//!
//! To add one, write `fn(&Setting) -> Result<Report, StudyError>` and list it in [`all`].

mod batchmr;
mod chapter3;
mod chapter4;
mod chapter5;
mod distance;
pub mod document;
pub mod ensemble;
pub mod figure;
mod flex;
mod forecast;
mod gp;
mod held_out;
mod hints;
mod like_jobs;
mod predoop;
mod recurring;
mod remainders;
pub mod single;
pub mod small_and_big;
mod study;

pub use study::{select, Setting, Study, StudyError};

use std::sync::OnceLock;

/// Every study, in the order of publication; our own come last.
pub fn all() -> &'static [&'static Study] {
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
            &[
                &hints::HINTS,
                &forecast::FORECAST,
                &recurring::RECURRING,
                &distance::DISTANCE,
                &remainders::REMAINDERS,
                &like_jobs::LIKE_JOBS,
                &held_out::HELD_OUT,
            ],
        ]
        .concat()
    })
}
