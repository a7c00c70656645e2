//! The scheduling state machine of Hiatus: facts in, decisions out. It has no clock, no threads, no I/O and no
//! randomness: time is an argument, explanations are data, and the same facts give the same decisions.
//!
//! Data flows one way, each stage a module of its own:
//! ```text
//! fact ─► state ─► estimate ─► entitlement ─► policy ─► plan ─► place ─► preempt ─► decision
//!         cluster,  work left    what each     order      all     room to   room from
//!         jobs,     per job      queue may     and        queues  those in  those above
//!         nodes                  use now       targets            order     their target
//! ```

pub mod admit;
pub mod batchmr;
pub mod decision;
pub mod entitlement;
pub mod estimate;
pub mod explain;
pub mod fact;
pub mod flex;
pub mod hints;
pub mod place;
pub mod plan;
pub mod policy;
pub mod predoop;
pub mod recurring;
pub mod settings;
pub mod stages;
pub mod state;
pub mod units;
pub mod view;
pub mod visits;
pub mod waterline;

mod confine;
mod lend;
mod line;
mod park;
mod preempt;
mod remember;
mod scheduler;
mod side;
mod stall;

pub use preempt::Watch;
pub use scheduler::Scheduler;
