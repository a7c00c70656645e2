//! What each fact changes.

use super::{
    set, Claim, Cluster, Container, For, Job, Load, Loan, Node, Reason, Shares, State, UserLimits,
    HEARTBEATS_TO_SUSPEND,
};
use crate::fact::{ContainerFact, Exit, Fact, Found, NodeFact, Rejection, Word};
use crate::predoop::Terms;
use crate::units::{AppId, ContainerId, Millis, NodeId, Resource};

/// How long a container is left in peace whose suspension was refused because the room was not there yet.
const NO_ROOM_REST: Millis = Millis(300);

impl Cluster {
    /// Takes one fact into account. Unknown handles are counted in [`Tally::strange_facts`](super::Tally::strange_facts) and
    /// otherwise ignored: a late fact about something gone is normal, and never a reason to stop.
    pub fn apply(&mut self, fact: &Fact) {
        let known = match fact {
            Fact::Node(node) => self.put_node(node),
            Fact::NodeRemoved { node } => self.remove_node(*node),
            Fact::Heartbeat { node, paused, waiting } => self.heartbeat(*node, *paused, *waiting),
            Fact::Queue(fact) => {
                self.other_limits();
                self.other_queues |= !self.queues.contains_key(&fact.queue);
                self.queues.entry(fact.queue).or_default().describe(fact);
                true
            }
            Fact::QueueRemoved { queue } => {
                self.other_queues = true;
                self.queues.remove(queue).is_some()
            }
            Fact::QueueShare { queue, partition, guaranteed, maximum } => {
                self.other_limits();
                let shares = Shares { guaranteed: *guaranteed, maximum: *maximum };
                self.queues.get_mut(queue).map(|queue| queue.shares.insert(*partition, shares)).is_some()
            }
            Fact::UserLimits { queue, sure, most } => {
                self.other_limits();
                let limits = UserLimits { sure: *sure, most: *most };
                self.queues.get_mut(queue).map(|queue| queue.users = limits).is_some()
            }
            Fact::App(fact) => {
                let unheard_of = !self.jobs.contains_key(&fact.app);
                if unheard_of {
                    let job = Job::new(fact, self.now);
                    let holder = job.holder();
                    self.loads.change(job.queue, Load::of(&job), self.now);
                    self.jobs.insert(fact.app, job);
                    self.newcomers.push(fact.app);
                    self.change_holder(fact.app, None, Some(holder));
                }
                unheard_of
            }
            Fact::AppChanged { app, queue, priority } => {
                // For those whom it leaves, of its queue and its priority, it is gone.
                let leaves = self.jobs.get(app).filter(|job| (job.queue, job.priority) != (*queue, *priority)).cloned();
                self.departed.extend(leaves.map(|job| (*app, job)));
                let change = |job: &mut Job, _| {
                    let before = job.holder();
                    (job.queue, job.priority) = (*queue, *priority);
                    (before, job.holder())
                };
                let holders = self.with_job(*app, change);
                holders.into_iter().for_each(|(before, after)| self.change_holder(*app, Some(before), Some(after)));
                holders.is_some()
            }
            Fact::Ran { app, run } => self.with_job(*app, |job, _| job.earlier.ran(*run)).is_some(),
            Fact::TasksTook { app, priority, at_ms, each } => {
                self.with_job(*app, |job, _| job.earlier.tasks_took(*priority, *at_ms, *each)).is_some()
            }
            Fact::AppActive { app, active } => {
                self.new_demand |= *active;
                self.with_job(*app, |job, _| job.active = *active).is_some()
            }
            Fact::AppParked { app, parked } => {
                self.new_demand |= !*parked;
                self.park_app(*app, *parked)
            }
            Fact::ContainerParked { container, parked } => self.park_container(*container, *parked),
            Fact::AttemptEnded { app, keep_containers } => self.end_attempt(*app, *keep_containers),
            Fact::AppRemoved { app, succeeded } => self.remove_app(*app, *succeeded),
            Fact::AsksReplaced { app } => self.with_job(*app, |job, _| job.forget_asks()).is_some(),
            Fact::Blacklisted { app, node } => {
                let known = self.nodes.contains_key(node);
                self.with_job(*app, |job, _| job.blacklist.insert(*node)).is_some() && known
            }
            Fact::Asked { app, phase, count, places } => {
                self.new_demand |= *count > 0;
                self.ask(*app, *phase, *count, *places)
            }
            Fact::Allocated(fact) => self.put_container(fact),
            Fact::Launched { container } => self.launch(*container),
            Fact::Progress { container, done } => self.progress(*container, *done),
            Fact::Told { container, word } => self.hear_of(*container, *word),
            Fact::Tasks { app, priority, total, done } => {
                self.with_job(*app, |job, _| job.say_tasks(*priority, *total, *done)).is_some()
            }
            Fact::Demoted { container } => self.demote(*container),
            Fact::Promoted { container } => self.promote(*container),
            Fact::Completed { container, exit } => self.complete(*container, *exit),
            Fact::AssignRejected { app, node, reason } => self.assign_rejected(*app, *node, *reason),
            Fact::ContainerRejected { container, reason } => self.container_rejected(*container, *reason),
        };
        if !known {
            self.tally.strange_facts += 1;
            log::debug!("a fact of something unknown, perhaps late: {fact:?}");
        }
        // Reports of nodes and refusals change nobody's claim; all other facts may.
        let indifferent = matches!(
            fact,
            Fact::Heartbeat { .. }
                | Fact::Launched { .. }
                | Fact::Progress { .. }
                | Fact::Told { .. }
                | Fact::Tasks { .. }
                | Fact::Ran { .. }
                | Fact::AssignRejected { .. }
                | Fact::ContainerRejected { .. }
        );
        self.replan |= !indifferent;
    }

    fn put_node(&mut self, fact: &NodeFact) -> bool {
        let (now, silent_after) = (self.now, self.silent_after);
        let before = self.nodes.entry(fact.node).or_insert_with(|| Node::new(now, silent_after)).partition;
        self.at_node(fact.node, |node| node.describe(fact));
        if fact.decommissioning {
            // Nobody starts there any more, and whatever room appears goes to what is suspended.
            let lenders: Vec<_> =
                self.nodes.get(&fact.node).into_iter().flat_map(|node| node.loans.keys().copied()).collect();
            lenders.into_iter().for_each(|lender| self.end_loan(lender));
        }
        self.other_limits();
        if before != fact.partition {
            // What was held there is borrowed now, or the other way round.
            let there: Vec<_> = self.on_node(fact.node).map(|(id, container)| (id, container.clone())).collect();
            for (id, container) in there {
                self.with_job(container.app, |job, now| {
                    job.remove(id, &container, before, now);
                    job.add(id, &container, fact.partition, now);
                });
            }
        }
        self.woken.insert(fact.node);
        true
    }

    fn remove_node(&mut self, id: NodeId) -> bool {
        let gone: Vec<_> = self.on_node(id).map(|(container, _)| container).collect();
        for container in gone {
            self.complete(container, Exit::Killed);
        }
        let Some(node) = self.nodes.remove(&id) else { return false };
        node.listed.iter().for_each(|listing| listing.remove(id, &mut self.partitions, &mut self.sides));
        self.other_limits();
        self.woken.remove(&id);
        self.claimed.remove(&id);
        self.stalled.remove(&id);
        true
    }

    fn heartbeat(&mut self, id: NodeId, paused: u32, waiting: u32) -> bool {
        let now = self.now;
        let heard = |node: &mut Node| {
            let was_live = node.is_live(now);
            node.heartbeat(now, paused, waiting);
            (was_live, node.heartbeats, std::mem::take(&mut node.resuming), node.settling != Resource::ZERO)
        };
        let Some((was_live, beats, resumed, settles)) = self.at_node(id, heard) else { return false };
        self.woken.insert(id);
        // What was planned without it gave nobody its room, and may have given nobody anything.
        self.replan |= !was_live;
        self.new_demand |= !was_live;
        for container in resumed {
            if let Some(container) = self.containers.get_mut(&container) {
                container.state = State::Running;
            }
        }
        if settles {
            let safe = |c: &Container| matches!(c.state, State::MustSuspend { safe_at } if beats >= safe_at);
            let here = self.on_node(id).filter(|(_, container)| safe(container));
            let settled: Vec<_> = here.map(|(container, found)| (container, found.resource())).collect();
            for (container, resource) in settled {
                if let Some(container) = self.containers.get_mut(&container) {
                    container.state = State::Suspended;
                }
                let now = self.now;
                self.at_node(id, |node| {
                    node.settled(container, resource);
                    node.loans.get_mut(&container).into_iter().for_each(|loan| loan.settle(now));
                });
            }
        }
        true
    }

    fn end_attempt(&mut self, app: AppId, keep_containers: bool) -> bool {
        let end = |job: &mut Job, _| {
            job.forget_asks();
            job.active = false;
            job.containers.iter().copied().collect::<Vec<_>>()
        };
        let Some(gone) = self.with_job(app, end) else { return false };
        for id in gone {
            // The master belongs to its attempt; the others may live on into the next.
            if !keep_containers || self.containers.get(&id).is_some_and(|c| c.is_master) {
                self.complete(id, Exit::Killed);
            }
        }
        true
    }

    fn remove_app(&mut self, app: AppId, succeeded: bool) -> bool {
        self.end_attempt(app, false);
        // Whoever keeps something about it hears of its end as of any change.
        self.with_job(app, |_, _| ());
        let job = self.jobs.remove(&app);
        job.iter().for_each(|job| self.loads.change(job.queue, -Load::of(job), self.now));
        self.change_holder(app, job.as_ref().map(Job::holder), None);
        self.parked_jobs.remove(&app);
        self.guests.remove(&app);
        self.sited.remove(&app);
        let known = job.is_some();
        self.done.extend(job.as_ref().filter(|_| succeeded).cloned());
        self.departed.extend(job.map(|job| (app, job)));
        known
    }

    fn park_app(&mut self, app: AppId, parked: bool) -> bool {
        let park = |job: &mut Job, _| std::mem::replace(&mut job.parked, parked);
        let Some(before) = self.with_job(app, park) else { return false };
        set(&mut self.parked_jobs, app, parked);
        if before != parked {
            let containers: Vec<_> = self.jobs.get(&app).into_iter().flat_map(|job| job.containers.clone()).collect();
            containers.into_iter().for_each(|id| self.take_up(id));
        }
        true
    }

    fn park_container(&mut self, id: ContainerId, parked: bool) -> bool {
        let Some(container) = self.containers.get_mut(&id) else { return false };
        let app = container.app;
        if std::mem::replace(&mut container.parked, parked) != parked {
            set(&mut self.parked_containers, id, parked);
            self.with_job(app, |_, _| ());
            self.take_up(id);
        }
        true
    }

    /// What was parked does not count as having waited: its time to be resumed begins now. Nothing is kept for it meanwhile.
    fn take_up(&mut self, id: ContainerId) {
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

    fn put_container(&mut self, fact: &ContainerFact) -> bool {
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
                job.spend_ask(fact.phase);
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

    fn launch(&mut self, id: ContainerId) -> bool {
        let Some(container) = self.containers.get_mut(&id) else { return false };
        let before = container.since;
        container.launch(self.now);
        let container = container.clone();
        if self.suspended.remove(&(before, id)) {
            self.suspended.insert((container.since, id));
        }
        self.look_at_begin(id, &container);
        self.with_job(container.app, |job, now| job.start(id, &container, now));
        true
    }

    fn progress(&mut self, id: ContainerId, done: Option<f64>) -> bool {
        let sensible = done.is_none_or(|done| (0.0..=1.0).contains(&done));
        let Some(container) = self.containers.get(&id).filter(|_| sensible).cloned() else { return false };
        self.with_job(container.app, |job, now| job.progress(id, &container, done, now)).is_some()
    }

    fn demote(&mut self, id: ContainerId) -> bool {
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
        let unfinished = match container.told.map(|told| told.word) {
            Some(Word::Shuffle(shuffle)) => shuffle.unfinished(),
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

    fn hear_of(&mut self, id: ContainerId, word: Word) -> bool {
        let now = self.now;
        let Some(container) = self.containers.get_mut(&id).filter(|_| word.is_sensible()) else { return false };
        let Some(job) = self.jobs.get(&container.app) else { return false };
        let its_own = match word {
            Word::Map { .. } => container.phase.is_of_maps(),
            Word::Shuffle(_) => container.phase.is_of_reduces(),
        };
        if !job.map_reduce || !its_own || container.is_master {
            return false;
        }
        container.tell(word, job.maps_succeeded(), now);
        let waits = matches!(word, Word::Shuffle(shuffle) if shuffle.waits());
        set(&mut self.waiting_reduces, id, waits);
        true
    }

    fn promote(&mut self, id: ContainerId) -> bool {
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

    fn complete(&mut self, id: ContainerId, exit: Exit) -> bool {
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

    fn assign_rejected(&mut self, app: AppId, id: NodeId, reason: Rejection) -> bool {
        if self.at_node(id, |node| node.refused.insert(app)).is_none() {
            return false;
        }
        self.woken.insert(id);
        if reason == Rejection::Locality {
            return true;
        }
        self.tally.rejected += 1;
        if !matches!(reason, Rejection::Limit | Rejection::Gone) {
            return true;
        }
        let partition = self.nodes.get(&id).map(|node| node.partition);
        let is_guest =
            |job: &Job| job.phases.iter().all(|(key, phase)| phase.pending == 0 || Some(key.partition) != partition);
        if reason == Rejection::Limit && self.jobs.get(&app).is_some_and(is_guest) {
            // Limits are of partitions: this one says nothing of where it belongs.
            let until = self.now + self.refused_rest;
            self.with_job(app, |job, _| job.no_guest_until = until);
            return true;
        }
        let until = self.now + self.refused_rest;
        if self.jobs.get(&app).is_some_and(|job| job.barred_until == until) {
            // What is proposed on many nodes is refused on all of them, and the first has said it.
            return true;
        }
        // What was freed for it would lie idle: give it back, and do not free more for it for a while.
        self.retain_claims(|_, _, claim| claim.app != app || matches!(claim.purpose, For::Resume(_)));
        let rest = |job: &mut Job, _| {
            job.barred_until = until;
            job.holder()
        };
        let Some(holder) = self.with_job(app, rest) else { return false };
        if reason == Rejection::Limit {
            let all = self.limits.refuse(holder, app, self.now);
            self.with_job(app, |job, _| job.rests = true);
            if all {
                self.look_at_rests(holder);
            }
        }
        true
    }

    fn container_rejected(&mut self, id: ContainerId, reason: Rejection) -> bool {
        self.tally.rejected += 1;
        let Some(container) = self.containers.get_mut(&id) else { return false };
        // Room that is free here and not yet in the ResourceManager's books soon will be.
        let rest = if reason == Rejection::Room { NO_ROOM_REST } else { self.refused_rest };
        container.barred_until = self.now + rest;
        if container.killed {
            container.kept_until = self.now + rest;
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
