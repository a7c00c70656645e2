//! Room of a suspended reduce that is lent to maps (Predoop).

use super::Container;
use crate::fact::PhaseKey;
use crate::predoop::Terms;
use crate::units::{AppId, ContainerId, Millis, Resource};
use std::collections::BTreeMap;

/// A loan, on the lender's node. What borrows has all its room of this one lender (law 15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loan {
    /// All that is lent.
    pub room: Resource,
    /// What it was made on.
    pub terms: Terms,
    /// What runs in the room.
    pub borrowers: BTreeMap<ContainerId, Resource>,
    /// Proposed in this step to go there, and not yet confirmed.
    promised: Vec<Promise>,
    /// Since when the room could be used and nobody left it; `None` until the node knows of the lender's suspension.
    settled: Option<Millis>,
}

/// Who is to use lent room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// A new container.
    Start(AppId, PhaseKey),
    /// One that is suspended there, and its size.
    Resume(ContainerId, Resource),
}

impl Promise {
    fn resource(self) -> Resource {
        match self {
            Promise::Start(_, key) => key.resource,
            Promise::Resume(_, resource) => resource,
        }
    }
}

impl Loan {
    pub(super) fn of(container: &Container, terms: Terms) -> Loan {
        let (borrowers, promised) = (BTreeMap::new(), Vec::new());
        Loan { room: container.resource(), terms, borrowers, promised, settled: None }
    }

    /// What nobody has borrowed, promised or not.
    pub fn kept(&self) -> Resource {
        self.borrowers.values().fold(self.room, |left, one| left - *one)
    }

    /// What nobody has borrowed or been promised, usable or not yet.
    pub fn unlent(&self) -> Resource {
        self.promised.iter().fold(self.kept(), |left, promise| left - promise.resource())
    }

    /// What of that can be used now.
    pub fn usable(&self) -> Resource {
        if self.is_settled() {
            self.unlent()
        } else {
            Resource::ZERO
        }
    }

    /// Whether the node knows of the lender's suspension.
    pub fn is_settled(&self) -> bool {
        self.settled.is_some()
    }

    /// Whether anybody uses it or is about to.
    pub fn is_used(&self) -> bool {
        !self.borrowers.is_empty() || !self.promised.is_empty()
    }

    /// Whether it was promised in this step to that suspended container.
    pub(super) fn is_promised(&self, id: ContainerId) -> bool {
        self.promised.iter().any(|promise| matches!(promise, Promise::Resume(resumed, _) if *resumed == id))
    }

    /// For how long it could have been used and nobody did; `None` while it is used, or cannot be.
    pub fn unused_for(&self, now: Millis) -> Option<Millis> {
        self.settled.filter(|_| !self.is_used()).map(|since| now.since(since))
    }

    pub(super) fn settle(&mut self, now: Millis) {
        self.settled = Some(now);
    }

    pub(super) fn give_back(&mut self, borrower: ContainerId, now: Millis) {
        self.borrowers.remove(&borrower);
        self.settled = self.settled.map(|_| now);
    }

    pub(super) fn promise(&mut self, promise: Promise) {
        self.promised.push(promise);
    }

    /// Takes back what was promised and did not happen.
    pub(super) fn forget_promises(&mut self) {
        self.promised.clear();
    }

    /// Whether the container, new or resumed, is one that was promised room here; then it borrows it.
    pub(super) fn borrow(&mut self, id: ContainerId, container: &Container) -> bool {
        let resource = container.resource();
        let either = [Promise::Resume(id, resource), Promise::Start(container.app, container.phase)];
        let Some(at) = self.promised.iter().position(|promise| either.contains(promise)) else { return false };
        self.promised.remove(at);
        self.borrowers.insert(id, resource);
        true
    }
}
