//! One server of rate 1, divisible at will, preempted at no cost: HFSP thesis, chapters 2 and 3.
//!
//! [`simulate`] drives a [`Policy`] from event to event. A policy is made of up to three parts:
//! - a *discipline* shares the server among jobs whose size it does not know: one after the other, equally, or to
//!   those served least so far. Alone it is a blind policy: FIFO, PS, LAS;
//! - an *order* says which job a size-based policy puts in front (SRPT, FSP) and when an under-estimated job is
//!   *late*: it has used up its estimate and is not done;
//! - a size-based policy gives the late jobs to a discipline, alone or beside the job in front.
//!
//! Every event costs O(log n) with n jobs present (catching up in LAS: amortised O(log² n)).

mod blind;
mod discipline;
mod engine;
mod kind;
mod metrics;
mod order;
mod part;
mod policy;
mod size_based;
mod task;

pub use engine::{simulate, Moment};
pub use kind::PolicyKind;
pub use metrics::{mean_sojourn, slowdowns, Summary};
pub use policy::{Event, Next, Policy, Source};
