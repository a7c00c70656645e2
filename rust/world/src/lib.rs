//! A simulated YARN cluster that drives the real core through facts and decisions, as the ResourceManager does: nodes with
//! heartbeats and stock NodeManager behaviour, CapacityScheduler's refusals, ApplicationMasters, tasks, faults. There is no
//! second scheduler here. Deterministic from a seed.
//!
//! - [`World`]: the cluster, built from [`Node`]s, [`Queue`]s and jobs, and run event by event;
//! - [`job`]: what jobs are;
//! - [`capacity`]: properties of CapacityScheduler's queues, which make others of them;
//! - [`Outcome`]: what became of them;
//! - [`Faults`]: what goes wrong, and how often. The laws of docs/design/laws.md are checked by observers after every step, unless
//!   they are switched off.

mod agenda;
mod app;
mod applications;
mod backups;
mod books;
pub mod capacity;
mod check;
mod error;
mod faults;
mod held;
pub mod job;
mod laws;
mod node_manager;
mod nodes;
mod outcome;
mod preemption;
mod spec;
mod speculation;
mod step;
mod task;
mod view;
mod world;

pub use app::{App, Life, Spent};
pub use check::Fit;
pub use error::SimulationError;
pub use faults::Faults;
pub use node_manager::{Activity, Fetching, Message, NodeManager, Process, ReduceTime, Timer, Work};
pub use outcome::{JobOutcome, Outcome};
pub use preemption::Preemption;
pub use spec::{Node, Queue};
pub use speculation::Speculation;
pub use world::{Container, Count, Machine, Step, Timing, World};
