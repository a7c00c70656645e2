//! What is remembered of finished jobs, beyond the life of a core: [`Store`] is the database, [`Keeper`] the thread that has it.
//! The core itself does no I/O: it says what is to be remembered, and is told what is known, as facts.

mod keeper;
mod store;

pub use keeper::Keeper;
pub use store::{Bounds, HistoryError, Store, FILE, RUNS_OF_A_CLASS};
