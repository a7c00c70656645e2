//! What happened so far, by count.

use crate::units::Millis;

/// What happened so far, by count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Facts that made no sense here: unknown handles, doubled events. Each is ignored.
    pub strange_facts: u64,
    /// Containers demoted.
    pub suspended: u64,
    /// Containers promoted.
    pub resumed: u64,
    /// Proposals refused, by anybody for any reason but delay scheduling.
    pub rejected: u64,
    /// Claims given back unused.
    pub claims_expired: u64,
    /// Of the containers demoted, those that lend their room.
    pub lent: u64,
    /// Of the containers demoted, those whose lenders wanted their room back.
    pub recalled: u64,
    /// Containers killed by decision of the core.
    pub killed: u64,
    /// How long those had run together.
    pub wasted: Millis,
}
