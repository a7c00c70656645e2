//! What the simulator asks of a policy.

use crate::workload::Job;

/// Where in a policy an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The job a size-based order has put in front, or its order itself.
    Front,
    /// The jobs a discipline shares the server among.
    Pool,
}

/// What happens next if no job arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A job has all the service it needs.
    Completion(Source),
    /// Only the policy's own state changes: a virtual completion, a job becoming late, a group caught up.
    Internal(Source),
}

/// The next event of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    /// Seconds until then; infinite when nothing will happen.
    pub after_s: f64,
    /// What it will be.
    pub event: Event,
}

/// Two times in one policy closer than this are one moment: a completion and a virtual completion that coincide on
/// paper are computed along different paths.
pub(super) const SAME_MOMENT_S: f64 = 1e-9;

impl Next {
    /// The earlier of a completion and an internal event; the completion when they coincide, so that no job is late
    /// that is done.
    pub(super) fn first(completion: (f64, Source), internal: (f64, Source)) -> Next {
        if completion.0 <= internal.0 + SAME_MOMENT_S {
            Next { after_s: completion.0, event: Event::Completion(completion.1) }
        } else {
            Next { after_s: internal.0, event: Event::Internal(internal.1) }
        }
    }
}

/// A work-conserving policy of the single server.
pub trait Policy {
    /// Job number `id` arrives. Numbers grow with arrivals; the lower wins a tie.
    fn arrive(&mut self, id: u32, job: &Job);

    /// The next completion or internal event.
    fn next(&self) -> Next;

    /// Serves for `seconds`, at most until the next event.
    fn advance(&mut self, seconds: f64);

    /// Makes the event [`Policy::next`] announced happen, once its time has come; the job that completed, if one did.
    fn happen(&mut self, event: Event) -> Option<u32>;

    /// Appends each served job with its share of the server; the shares add up to 1 while jobs are present.
    fn allocation(&self, shares: &mut Vec<(u32, f64)>);
}
