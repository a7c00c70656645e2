//! What facts of containers change.

use super::{set, Claim, Cluster, Container, For, Job, Loan, Node, Reason, HEARTBEATS_TO_SUSPEND};
use crate::fact::{ContainerFact, Exit, Found, Rejection, TaskReport};
use crate::predoop::Terms;
use crate::units::{ContainerId, Millis};

/// How long a container is left in peace whose suspension was refused because the room was not there yet.
const NO_ROOM_BACKOFF: Millis = Millis(300);

impl Cluster {
    /// What was parked does not count as having waited: its time to be resumed begins now. Nothing is kept for it meanwhile.
    pub(super) fn take_up(&mut self, id: ContainerId) {
        let now = self.now;
        let Some(container) = self.containers.get_mut(&id).filter(|container| container.state.is_suspended()) else {
            return;
        };
        self.suspended.remove(&(container.since, id));
        container.since = now;
        container.kept_out_since = None;
        self.suspended.insert((now, id));
        let node = container.node;
        if container.reason == Some(Reason::Lent) {
            // From now on it is a human's, and what it lent is anybody's.
            container.reason = Some(Reason::Parked);
            self.lent.remove(&id);
            self.end_loan(id);
        }
        self.at_node(node, |node| node.claims.retain(|claim| claim.purpose != For::Resume(id)));
        self.woken.insert(node);
    }

    pub(super) fn put_container(&mut self, fact: &ContainerFact) -> bool {
        let id = fact.container;
        if self.containers.contains_key(&id) || !self.jobs.contains_key(&fact.app) {
            return false;
        }
        let mut container = Container::new(fact, self.now);
        let put = |node: &mut Node| {
            container.lender = borrow(node, id, &container);
            if container.lender.is_none() {
                node.drop_claim(fact.app, container.resource());
            }
            node.add(id, &container);
            node.partition
        };
        let Some(partition) = self.at_node(fact.node, put) else { return false };
        self.with_job(fact.app, |job, now| {
            if fact.state == Found::New {
                job.spend_ask(fact.phase, now);
            }
            job.add(id, &container, partition, now);
        });
        if container.state.is_suspended() {
            self.suspended.insert((container.since, id));
        }
        self.look_at_begin(id, &container);
        self.sampled(&container, |sample, side| sample.began(side));
        self.containers.insert(id, container);
        self.held_more(fact.app);
        true
    }

    /// Moves the container from one state to another, with all that is counted by state.
    fn change_state(&mut self, id: ContainerId, change: impl FnOnce(&mut Container, &mut Node, Millis)) -> bool {
        let Some(before) = self.containers.get(&id).cloned() else { return false };
        if !self.jobs.contains_key(&before.app) {
            return false;
        }
        let (mut after, now) = (before.clone(), self.now);
        let at = |node: &mut Node| {
            node.remove(id, &before);
            change(&mut after, node, now);
            node.add(id, &after);
            node.partition
        };
        let Some(partition) = self.at_node(before.node, at) else { return false };
        set(&mut self.lent, id, after.state.is_suspended() && after.reason == Some(Reason::Lent));
        self.with_job(before.app, |job, now| {
            job.remove(id, &before, partition, now);
            job.add(id, &after, partition, now);
        });
        for (container, now) in [(&before, false), (&after, true)] {
            if container.state.is_suspended() {
                set(&mut self.suspended, (container.since, id), now);
            }
            container.catches_up_at.iter().for_each(|at| set(&mut self.catching_up, (*at, id), now));
        }
        self.woken.insert(after.node);
        if after.state.is_suspended() {
            self.held_less(after.app);
        } else {
            self.held_more(after.app);
        }
        self.look_at_begin(id, &after);
        self.containers.insert(id, after);
        true
    }

    pub(super) fn launch(&mut self, id: ContainerId) -> bool {
        let Some(container) = self.containers.get_mut(&id) else { return false };
        let before = container.clone();
        container.launch(self.now);
        let container = container.clone();
        if self.suspended.remove(&(before.since, id)) {
            self.suspended.insert((container.since, id));
        }
        self.look_at_begin(id, &container);
        self.with_job(container.app, |job, now| job.start(id, &before, &container, now));
        true
    }

    pub(super) fn progress(&mut self, id: ContainerId, done: Option<f64>) -> bool {
        let sensible = done.is_none_or(|done| (0.0..=1.0).contains(&done));
        let Some(container) = self.containers.get(&id).filter(|_| sensible).cloned() else { return false };
        self.with_job(container.app, |job, now| job.progress(id, &container, done, now)).is_some()
    }

    pub(super) fn demote(&mut self, id: ContainerId) -> bool {
        let Some(container) = self.containers.get(&id).filter(|container| !container.state.is_suspended()) else {
            return false;
        };
        self.tally.suspended += 1;
        self.tally.lent += u64::from(container.intended == Some(Reason::Lent));
        self.tally.recalled += u64::from(matches!(container.intended, Some(Reason::Recalled { .. })));
        let terms = self.terms(container);
        self.change_state(id, |container, node, now| {
            container.suspend(node.heartbeats + HEARTBEATS_TO_SUSPEND, now);
            node.resuming.remove(&id);
            give_back(node, id, container, now);
            if container.reason == Some(Reason::Lent) {
                node.loans.insert(id, Loan::of(container, terms));
            }
        })
    }

    /// What a loan of that container would be made on.
    fn terms(&self, container: &Container) -> Terms {
        let unfinished = match container.last_report.map(|last| last.report) {
            Some(TaskReport::Shuffle(shuffle)) => shuffle.unfinished(),
            _ => 0,
        };
        let succeeded = self.jobs.get(&container.app).map_or(0, Job::maps_succeeded);
        Terms { unfinished, succeeded }
    }

    /// What the lender lent is its own again, or anybody's; who borrowed it keeps it.
    pub(super) fn end_loan(&mut self, lender: ContainerId) {
        let Some(home) = self.containers.get(&lender).map(|container| container.node) else { return };
        // Every container that ends or is promoted comes by here, and hardly one has lent anything.
        if self.nodes.get(&home).is_none_or(|node| !node.loans.contains_key(&lender)) {
            return;
        }
        let loan = self.at_node(home, |node| node.loans.remove(&lender)).flatten();
        for borrower in loan.iter().flat_map(|loan| loan.borrowers.keys()) {
            self.containers.get_mut(borrower).into_iter().for_each(|container| container.lender = None);
        }
        self.woken.insert(home);
    }

    pub(super) fn task_reported(&mut self, id: ContainerId, report: TaskReport) -> bool {
        let now = self.now;
        let Some(container) = self.containers.get_mut(&id).filter(|_| report.is_sensible()) else { return false };
        let Some(job) = self.jobs.get(&container.app) else { return false };
        let its_own = match report {
            TaskReport::Map { .. } => container.phase.is_of_maps(),
            TaskReport::Shuffle(_) => container.phase.is_of_reduces(),
        };
        if !job.is_map_reduce() || !its_own || container.is_master {
            return false;
        }
        container.report(report, job.maps_succeeded(), now);
        let waits = matches!(report, TaskReport::Shuffle(shuffle) if shuffle.waits());
        set(&mut self.waiting_reduces, id, waits);
        true
    }

    pub(super) fn promote(&mut self, id: ContainerId) -> bool {
        if !self.is_suspended(id) {
            return false;
        }
        self.tally.resumed += 1;
        self.end_loan(id);
        self.change_state(id, |container, node, now| {
            container.resume(now);
            node.resuming.insert(id);
            container.lender = borrow(node, id, container);
            if container.lender.is_some() {
                return;
            }
            // It comes back into room that was kept for it, or into what was kept for its job's next container.
            let claims = node.claims.len();
            node.claims.retain(|claim| claim.purpose != For::Resume(id));
            if node.claims.len() == claims {
                node.drop_claim(container.app, container.resource());
            }
        })
    }

    pub(super) fn complete(&mut self, id: ContainerId, exit: Exit) -> bool {
        self.end_loan(id);
        let Some(mut container) = self.containers.remove(&id) else { return false };
        container.catches_up_at.iter().for_each(|at| set(&mut self.catching_up, (*at, id), false));
        self.suspended.remove(&(container.since, id));
        self.lent.remove(&id);
        self.waiting_reduces.remove(&id);
        if container.killed && exit == Exit::Killed {
            self.tally.killed += 1;
            self.tally.wasted = self.tally.wasted + container.run_time(self.now);
        }
        container.began().iter().for_each(|began| {
            self.begun.remove(&(*began, id));
        });
        self.parked_containers.remove(&id);
        let worked = self.jobs.get(&container.app).map(|job| job.worked(id, &container, self.now));
        let worked = worked.filter(|worked| exit == Exit::Succeeded && *worked > Millis(0));
        self.sampled(&container, |sample, side| sample.ended(side, worked));
        let (home, now) = (container.node, self.now);
        let leave = |node: &mut Node| {
            node.remove(id, &container);
            give_back(node, id, &mut container, now);
            node.resuming.remove(&id);
            node.claims.retain(|claim| claim.purpose != For::Resume(id));
            node.partition
        };
        if let Some(partition) = self.at_node(home, leave) {
            self.with_job(container.app, |job, now| {
                job.remove(id, &container, partition, now);
                job.finish(id, &container, exit, now);
            });
            self.held_less(container.app);
            self.woken.insert(container.node);
        }
        true
    }

    pub(super) fn container_rejected(&mut self, id: ContainerId, reason: Rejection) -> bool {
        self.tally.rejected += 1;
        let Some(container) = self.containers.get_mut(&id) else { return false };
        // Room that is free here and not yet in the ResourceManager's books soon will be.
        let backoff = if reason == Rejection::Room { NO_ROOM_BACKOFF } else { self.refused_rest };
        container.barred_until = self.now + backoff;
        if container.killed {
            container.kept_until = self.now + backoff;
        }
        (container.killed, container.intended) = (false, None);
        let given_up = |claim: &Claim| claim.purpose == For::Resume(id) && reason != Rejection::Room;
        let node = container.node;
        self.at_node(node, |node| node.claims.retain(|claim| !claim.victims.contains(&id) && !given_up(claim)));
        true
    }
}

/// Whether lent room on the node was promised to the container: whose.
fn borrow(node: &mut Node, id: ContainerId, container: &Container) -> Option<ContainerId> {
    node.loans.iter_mut().find_map(|(lender, loan)| loan.borrow(id, container).then_some(*lender))
}

/// The container does not use lent room any more.
fn give_back(node: &mut Node, id: ContainerId, container: &mut Container, now: Millis) {
    let loan = container.lender.take().and_then(|lender| node.loans.get_mut(&lender));
    loan.into_iter().for_each(|loan| loan.give_back(id, now));
}
