//! What each fact changes.

use super::{set, Cluster, Container, For, Job, Load, Node, Shares, State, UserLimits};
use crate::fact::{Exit, Fact, NodeFact, Rejection};
use crate::stages::{Executor, Stage, Stages, FRESH};
use crate::units::{AppId, ContainerId, Millis, NodeId, Resource};

/// So long an application that asks for containers may not have heard of its newest ones: some of its heartbeats, of which Spark sends
/// one in 3 s, and MapReduce and Tez one a second.
const UNHEARD: Millis = Millis(10_000);

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
                    let queue_user = job.queue_user();
                    self.loads.change(job.queue, Load::of(&job), self.now);
                    self.jobs.insert(fact.app, job);
                    self.newcomers.push(fact.app);
                    self.pending.insert(fact.app);
                    self.change_queue_user(fact.app, None, Some(queue_user));
                }
                unheard_of
            }
            Fact::AppChanged { app, queue, priority } => {
                // For those whom it leaves, of its queue and its priority, it is gone.
                let leaves = self.jobs.get(app).filter(|job| (job.queue, job.priority) != (*queue, *priority)).cloned();
                self.departed.extend(leaves.map(|job| (*app, job)));
                let change = |job: &mut Job, _| {
                    let before = job.queue_user();
                    (job.queue, job.priority) = (*queue, *priority);
                    (before, job.queue_user())
                };
                let queue_users = self.with_job(*app, change);
                queue_users
                    .into_iter()
                    .for_each(|(before, after)| self.change_queue_user(*app, Some(before), Some(after)));
                queue_users.is_some()
            }
            Fact::Ran { app, run } => self.with_job(*app, |job, _| job.earlier.ran(*run)).is_some(),
            Fact::TasksTook { app, priority, at_ms, each, count } => {
                self.with_job(*app, |job, _| job.earlier.tasks_took(*priority, *at_ms, *each, *count)).is_some()
            }
            Fact::AppActive { app, active } => {
                self.new_demand |= *active;
                let known = self.with_job(*app, |job, _| job.active = *active).is_some();
                set(&mut self.pending, *app, known && !*active);
                known
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
            Fact::TaskReport { container, report } => self.task_reported(*container, *report),
            Fact::Tasks { app, priority, total, done } => self.say_tasks(*app, *priority, *total, *done),
            Fact::Stage { app, stage } => self.tell_stage(*app, *stage),
            Fact::Executor { container, executor } => self.tell_executor(*container, *executor),
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
                | Fact::TaskReport { .. }
                | Fact::Tasks { .. }
                | Fact::Stage { .. }
                | Fact::Executor { .. }
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
            job.stages = Stages::default();
            job.active = false;
            job.containers.iter().copied().collect::<Vec<_>>()
        };
        let Some(gone) = self.with_job(app, end) else { return false };
        self.pending.insert(app);
        for id in gone {
            // The master belongs to its attempt; the others may live on into the next.
            if !keep_containers || self.containers.get(&id).is_some_and(|c| c.is_master) {
                self.complete(id, Exit::Killed);
            }
        }
        true
    }

    fn tell_stage(&mut self, app: AppId, stage: Stage) -> bool {
        let tell = |job: &mut Job, now| job.stages.tell(stage, now);
        let known = stage.is_sensible() && self.with_job(app, tell).is_some();
        if known && stage.first {
            self.telling.push_back((self.now, app));
        }
        known
    }

    fn tell_executor(&mut self, id: ContainerId, executor: Executor) -> bool {
        let now = self.now;
        self.containers.get_mut(&id).map(|container| container.executor = Some((executor, now))).is_some()
    }

    /// What applications told that have been silent since is not believed any more.
    pub(super) fn forget_silent(&mut self) {
        while let Some((at, app)) = self.telling.front().copied().filter(|(at, _)| self.now.since(*at) > FRESH) {
            self.telling.pop_front();
            if self.jobs.get(&app).is_some_and(|job| job.stages.told_at() == at) {
                self.with_job(app, |job, _| job.stages = Stages::default());
            }
        }
    }

    /// What is still asked again after a while was no mistake.
    pub(super) fn believe_asks(&mut self) {
        while let Some((since, app, key)) =
            self.asked_again.front().copied().filter(|(at, ..)| self.now.since(*at) > UNHEARD)
        {
            self.asked_again.pop_front();
            let asks_again = |job: &Job| job.phases.get(&key).is_some_and(|phase| phase.asked_again > 0);
            if self.jobs.get(&app).is_some_and(asks_again) {
                self.with_job(app, |job, _| job.phases.get_mut(&key).map(|phase| phase.believe(since)));
            }
        }
    }

    fn remove_app(&mut self, app: AppId, succeeded: bool) -> bool {
        self.end_attempt(app, false);
        // Whoever keeps something about it hears of its end as of any change.
        self.with_job(app, |_, _| ());
        let job = self.jobs.remove(&app);
        job.iter().for_each(|job| self.loads.change(job.queue, -Load::of(job), self.now));
        self.change_queue_user(app, job.as_ref().map(Job::queue_user), None);
        self.pending.remove(&app);
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
            job.queue_user()
        };
        let Some(queue_user) = self.with_job(app, rest) else { return false };
        if reason == Rejection::Limit {
            let all = self.limits.refuse(queue_user, app, self.now);
            self.with_job(app, |job, _| job.backs_off = true);
            if all {
                self.update_backoffs(queue_user);
            }
        }
        true
    }
}
