//! The single server: golden vectors, laws, and an independent naive simulator.

mod against_naive;
mod golden;
mod laws;
mod naive;

use hiatus_sim::workload::Job;

/// A job with an estimate, of weight 1.
fn job(arrival: f64, size: f64, estimate: f64) -> Job {
    Job { arrival, size, estimate, weight: 1.0 }
}
