//! The simulation loop.

use super::{Event, Policy};
use crate::workload::Job;

/// Something that happened in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// This job arrived.
    Arrival(u32),
    /// This job completed.
    Completion(u32),
    /// The policy changed its mind on its own.
    Internal,
}

/// Runs `jobs`, in order of arrival, under `policy` until all are done; `observe` is told each moment, its time and
/// the policy after it. Coinciding events: completions first, then arrivals, then internal events.
pub fn simulate<P: Policy>(jobs: &[Job], policy: &mut P, mut observe: impl FnMut(f64, Moment, &P)) {
    let mut now = 0.0;
    let mut arrivals = (0..).zip(jobs).peekable();
    let mut present = 0_usize;
    while present > 0 || arrivals.peek().is_some() {
        let next = policy.next();
        let until_arrival = arrivals.peek().map_or(f64::INFINITY, |(_, job)| job.arrival - now);
        let before_arrival = match next.event {
            Event::Completion(_) => next.after_s <= until_arrival,
            Event::Internal(_) => next.after_s < until_arrival,
        };
        if before_arrival {
            assert!(
                next.after_s.is_finite(),
                "{present} jobs present and none served: the policy is not work-conserving"
            );
            policy.advance(next.after_s);
            now += next.after_s;
            let moment = match policy.happen(next.event) {
                Some(id) => {
                    present -= 1;
                    Moment::Completion(id)
                }
                None => Moment::Internal,
            };
            observe(now, moment, policy);
        } else if let Some((id, job)) = arrivals.next() {
            policy.advance(until_arrival);
            now = job.arrival;
            policy.arrive(id, job);
            present += 1;
            observe(now, Moment::Arrival(id), policy);
        }
    }
}
