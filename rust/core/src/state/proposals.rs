//! What a step proposes, and the room it keeps: noted here, so that nothing in the same step builds on what is spoken for.

use super::loan::Promise;
use super::{Claim, Cluster, Container, For, Node, Reason, State};
use crate::batchmr::sampling::Sample;
use crate::decision::{Cause, Decision};
use crate::fact::PhaseKey;
use crate::units::{AppId, ContainerId, Millis, NodeId, Resource};

impl Cluster {
    /// Proposes containers of the job on the node, so many of each phase.
    pub(crate) fn assign(&mut self, app: AppId, node: NodeId, of_phases: &[(PhaseKey, u32)]) {
        let count = of_phases.iter().map(|(_, count)| count).sum();
        let mut room = Resource::ZERO;
        let side = self.nodes.get(&node).and_then(|node| node.side);
        of_phases.iter().for_each(|(key, count)| room += key.resource.times(*count));
        self.at_node(node, |node| node.proposed += room);
        self.with_job(app, |job, _| {
            for (key, count) in of_phases {
                if let Some(phase) = job.phases.get_mut(key) {
                    phase.proposed += count;
                }
                if let (Some(sample), Some(side)) = (job.site.sample.as_mut().filter(|s| s.phase == *key), side) {
                    sample.proposed(side, *count);
                }
            }
        });
        self.proposals.push(Decision::Assign { app, node, count, room });
    }

    /// Proposes a container of the job, of that phase and no other, in room that is lent.
    pub(crate) fn assign_lent(&mut self, app: AppId, node: NodeId, key: PhaseKey, lender: ContainerId) {
        self.promise(node, lender, Promise::Start(app, key));
        self.at_node(node, |node| node.proposed += key.resource);
        self.with_job(app, |job, _| job.phases.entry(key).or_default().proposed += 1);
        self.proposals.push(Decision::AssignLent { app, node, priority: key.priority });
    }

    /// Proposes to resume the container where it is, in room that is lent.
    pub(crate) fn resume_lent(&mut self, id: ContainerId, lender: ContainerId) {
        let Some((node, resource)) = self.containers.get(&id).map(|found| (found.node, found.resource())) else {
            return;
        };
        self.promise(node, lender, Promise::Resume(id, resource));
        self.resume(id, true);
    }

    fn promise(&mut self, node: NodeId, lender: ContainerId, promise: Promise) {
        self.at_node(node, |node| node.loans.get_mut(&lender).into_iter().for_each(|loan| loan.promise(promise)));
        self.promising.push(node);
    }

    /// The lender wants its room back: it is kept for it, and those go that it had to be taken from.
    pub(crate) fn recall(&mut self, lender: ContainerId, victims: Vec<ContainerId>) {
        let Some(container) = self.containers.get(&lender) else { return };
        let (app, node, need) = (container.app, container.node, container.resource());
        self.end_loan(lender);
        self.woken.insert(node);
        victims.iter().for_each(|victim| self.suspend(*victim, Reason::Recalled { by: lender }));
        self.claim(node, Claim::new(app, For::Resume(lender), need, self.now, victims));
    }

    /// Proposes to resume the container where it is; `spare` if that is beyond its job's target.
    pub(crate) fn resume(&mut self, id: ContainerId, spare: bool) {
        self.change_proposed(id, Decision::Resume { container: id }, |container, node| {
            container.in_spare_room = spare;
            // One that still settles brings its own room along.
            if !matches!(container.state, State::MustSuspend { .. }) {
                node.proposed += container.resource();
            }
        });
    }

    /// Proposes to suspend the container.
    pub(crate) fn suspend(&mut self, id: ContainerId, reason: Reason) {
        self.change_proposed(id, Decision::Suspend { container: id, reason }, |container, node| {
            container.intended = Some(reason);
            leave(container, node);
        });
    }

    /// Proposes to kill the container.
    pub(crate) fn kill(&mut self, id: ContainerId, cause: Cause) {
        self.change_proposed(id, Decision::Kill { container: id, cause }, |container, node| {
            container.killed = true;
            leave(container, node);
        });
    }

    fn change_proposed(&mut self, id: ContainerId, decision: Decision, change: impl FnOnce(&mut Container, &mut Node)) {
        let Some(mut container) = self.containers.get(&id).cloned() else { return };
        container.proposed = true;
        self.at_node(container.node, |node| change(&mut container, node));
        self.containers.insert(id, container);
        self.proposals.push(decision);
    }

    /// Forgets the proposals of the last step: each was confirmed or refused by the facts that follow.
    pub(super) fn clear_proposals(&mut self) {
        let mut proposals = std::mem::take(&mut self.proposals);
        for decision in proposals.drain(..) {
            let node = match decision {
                Decision::Assign { app, node, .. } | Decision::AssignLent { app, node, .. } => {
                    self.with_job(app, |job, _| {
                        job.phases.values_mut().for_each(|phase| phase.proposed = 0);
                        job.site.sample.iter_mut().for_each(Sample::step_over);
                    });
                    Some(node)
                }
                Decision::Suspend { container, .. }
                | Decision::Resume { container }
                | Decision::Kill { container, .. } => {
                    let found = self.containers.get_mut(&container);
                    found.map(|found| {
                        found.proposed = false;
                        found.node
                    })
                }
            };
            if let Some(node) = node {
                self.at_node(node, |node| (node.proposed, node.leaving) = (Resource::ZERO, Resource::ZERO));
            }
        }
        self.proposals = proposals;
    }

    /// Keeps room on the node.
    pub(crate) fn claim(&mut self, node: NodeId, claim: Claim) {
        log::debug!(
            "{}: room of {} MB is kept on node {} ({:?}), for which {} containers go",
            self.name(claim.app),
            claim.resource.memory_mb,
            node.0,
            claim.purpose,
            claim.victims.len()
        );
        self.claiming.push(node);
        self.at_node(node, |node| node.claims.push(claim));
    }

    /// The application's name, for people.
    fn name(&self, app: AppId) -> &str {
        self.jobs.get(&app).map_or("an application that is gone", |job| &job.name)
    }

    /// Takes one claim back, by its place on the node.
    pub(crate) fn take_claim(&mut self, node: NodeId, at: usize) -> Option<Claim> {
        self.at_node(node, |node| (at < node.claims.len()).then(|| node.claims.remove(at))).flatten()
    }

    /// Looks at every claim, node by node, and gives back those for which `keep` says no.
    pub(crate) fn retain_claims(&mut self, mut keep: impl FnMut(&Cluster, NodeId, &Claim) -> bool) {
        for id in self.claimed.iter().copied().collect::<Vec<_>>() {
            let mut claims = self.nodes.get_mut(&id).map(|node| std::mem::take(&mut node.claims)).unwrap_or_default();
            claims.retain(|claim| keep(self, id, claim));
            self.at_node(id, |node| node.claims = claims);
        }
    }

    /// What was freed for the job was not used: nothing more is freed for it for at least so long.
    pub(crate) fn claim_expired(&mut self, app: AppId, pause: Millis) {
        self.tally.claims_expired += 1;
        log::info!("{}: room that was freed for it was not used in time, and is given back", self.name(app));
        self.with_job(app, |job, now| job.bar(now, pause));
    }

    /// Whether the suspended container, which its job may run, is kept out of its full home; since when.
    pub(crate) fn keep_out(&mut self, id: ContainerId, kept_out: bool) -> Option<Millis> {
        let now = self.now;
        let container = self.containers.get_mut(&id)?;
        container.kept_out_since = kept_out.then(|| container.kept_out_since.unwrap_or(now));
        container.kept_out_since
    }

    /// Whether the phase wants a container and no node has room; since when.
    pub(crate) fn wait_for_room(&mut self, app: AppId, key: PhaseKey, waits: bool) -> Option<Millis> {
        let phase = self.jobs.get_mut(&app)?.phases.get_mut(&key)?;
        phase.waiting_since = waits.then(|| phase.waiting_since.unwrap_or(self.now));
        phase.waiting_since
    }

    /// One of the containers in the way on a stalled node goes: that must reach the node before another has to.
    pub(crate) fn restart_stall(&mut self, node: NodeId) {
        let now = self.now;
        self.at_node(node, |node| node.waiting_since = Some(now));
    }
}

/// A container that counts leaves room behind.
fn leave(container: &mut Container, node: &mut Node) {
    if !container.state.is_suspended() {
        node.leaving += container.resource();
    }
}
