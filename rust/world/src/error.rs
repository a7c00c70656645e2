//! Why a cluster cannot run its jobs.

use crate::capacity::PropertyError;
use hiatus_core::settings::SettingsError;

/// Why a cluster cannot run its jobs.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A property is wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A property is none of the core's, and of no queue.
    #[error(transparent)]
    Property(#[from] PropertyError),
    /// A job's queue does not exist.
    #[error("job {job}: there is no leaf queue {queue}; leaf queues: {leaves}")]
    Queue {
        /// The job.
        job: String,
        /// Its queue.
        queue: String,
        /// Those that exist.
        leaves: String,
    },
    /// A container of a job fits no node.
    #[error("job {job}: its {what} of {memory_mb} MiB and {vcores} vcores fits no node of partition {partition}")]
    Size {
        /// The job.
        job: String,
        /// Which container.
        what: String,
        /// MiB of it.
        memory_mb: i64,
        /// Virtual cores of it.
        vcores: i64,
        /// Where it was asked for.
        partition: u32,
    },
    /// A container of a job is more than its queue may hold.
    #[error("job {job}: its {what} of {memory_mb} MiB is more than queue {queue} may ever hold beside the job's ApplicationMaster")]
    Maximum {
        /// The job.
        job: String,
        /// Which container.
        what: String,
        /// MiB of it.
        memory_mb: i64,
        /// Its queue, or the one above it.
        queue: String,
    },
    /// It happened more than the simulation may take.
    #[error("{unfinished} of {all} jobs were not finished after {events} events")]
    TooMuch {
        /// How many jobs.
        unfinished: usize,
        /// Of how many.
        all: usize,
        /// Events of the simulated cluster.
        events: u64,
    },
    /// Nobody wants to know any more.
    #[error("it was given up")]
    Unwanted,
    /// Something waits for ever.
    #[error("{unfinished} of {all} jobs do not finish, {job} for one; ApplicationMasters hold {masters_mb} of {total_mb} MiB")]
    Stuck {
        /// How many jobs.
        unfinished: usize,
        /// Of how many.
        all: usize,
        /// The first of them.
        job: String,
        /// MiB of running ApplicationMasters.
        masters_mb: i64,
        /// MiB of all nodes.
        total_mb: i64,
    },
}
