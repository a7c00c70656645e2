//! One container's life.

use crate::decision::Reason;
use crate::fact::{ContainerFact, Found, PhaseKey, TaskReport};
use crate::stages::{Executor, FRESH};
use crate::units::{AppId, ContainerId, Millis, NodeId, Resource};
use std::cmp::Reverse;

/// Where a container is in its life (HFSP thesis, section 6.1.3, with YARN's steps).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Given out, not started.
    Allocated,
    /// Runs and counts.
    Running,
    /// Demoted; the node certainly knows when it has sent this many heartbeats. Until then its room is not usable.
    MustSuspend {
        /// Heartbeat count of the node.
        safe_at: u64,
    },
    /// Demoted, and the node knows: paused, or running only as long as nobody needs its room.
    Suspended,
    /// Promoted; the node learns it with its next heartbeat.
    MustResume,
}

impl State {
    /// Whether the container does not count against its queue and node.
    pub fn is_suspended(self) -> bool {
        matches!(self, State::MustSuspend { .. } | State::Suspended)
    }
}

/// What a task said last of where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastReport {
    /// What it was.
    pub report: TaskReport,
    /// When that came.
    pub at: Millis,
    /// How many maps of its job had been seen to succeed by then.
    pub maps_succeeded: u32,
    /// Outputs that it has fetched a second, when it last fetched any.
    pub rate: f64,
}

/// A live container.
#[derive(Clone, Debug)]
pub struct Container {
    /// Its application.
    pub app: AppId,
    /// Where it is.
    pub node: NodeId,
    /// The phase it belongs to.
    pub phase: PhaseKey,
    /// Whether it is the ApplicationMaster, which is never suspended or killed (law 3).
    pub is_master: bool,
    /// Where it is in its life.
    pub state: State,
    /// When it entered that state, or was woken in it.
    pub since: Millis,
    /// When it was given out or found.
    pub allocated: Millis,
    /// Why it is suspended, if it is; for what counts now see [`Cluster::reason`](super::Cluster::reason).
    pub reason: Option<Reason>,
    /// Why it was last proposed to be suspended.
    pub intended: Option<Reason>,
    /// Suspended, and its job may run it: since when its node has no room.
    pub kept_out_since: Option<Millis>,
    /// What its task said last, whichever task it is.
    pub last_report: Option<LastReport>,
    /// What its application said last that it is worth, and when.
    pub(super) executor: Option<(Executor, Millis)>,
    /// Whose room it runs in, if that is lent to it.
    pub lender: Option<ContainerId>,
    /// How often it was suspended, loans aside.
    pub suspensions: u32,
    /// For how long in all, up to its last resume, its room was taken for other jobs.
    pub preempted_for: Millis,
    /// How long it had stood still when it last went on, loans aside.
    pub stood_still: Millis,
    /// Whether it was last proposed to be resumed in room beyond its job's target, which nobody else wanted.
    pub in_spare_room: bool,
    /// Not to be touched before this time: somebody refused.
    pub barred_until: Millis,
    /// Not to be killed for its own suspension before this time: that was refused.
    pub kept_until: Millis,
    /// Whether something was proposed for it in this step.
    pub proposed: bool,
    /// Whether its kill was proposed and not refused.
    pub(super) killed: bool,
    /// Whether it was put aside by hand, by itself; see [`Job::has_parked`](super::Job::has_parked).
    pub parked: bool,
    /// It went on after a suspension; by then it will have run for as long as that lasted.
    pub(super) catches_up_at: Option<Millis>,
    /// When it first ran. A suspension does not make it young again.
    began: Option<Millis>,
    ran_before: Millis,
}

impl Container {
    /// As the fact says.
    pub fn new(fact: &ContainerFact, now: Millis) -> Container {
        let state = match fact.state {
            Found::New => State::Allocated,
            Found::Running => State::Running,
            Found::Suspended => State::Suspended,
        };
        Container {
            app: fact.app,
            node: fact.node,
            phase: fact.phase,
            is_master: fact.is_master,
            state,
            since: now,
            allocated: now,
            reason: state.is_suspended().then_some(Reason::Found),
            intended: None,
            last_report: None,
            executor: None,
            lender: None,
            kept_out_since: None,
            suspensions: u32::from(state.is_suspended()),
            preempted_for: Millis::default(),
            stood_still: Millis::default(),
            in_spare_room: false,
            barred_until: Millis::default(),
            kept_until: Millis::default(),
            proposed: false,
            killed: false,
            parked: false,
            catches_up_at: None,
            began: (fact.state != Found::New).then_some(now),
            ran_before: Millis::default(),
        }
    }

    /// Its size.
    pub fn resource(&self) -> Resource {
        self.phase.resource
    }

    /// How long it ran in all, without its suspensions.
    pub fn run_time(&self, now: Millis) -> Millis {
        let running = self.began.is_some() && !self.state.is_suspended();
        self.ran_before + if running { now.since(self.since) } else { Millis::default() }
    }

    /// Whether it has been suspended for others for as long as it has run, and for `budget` besides. A bound in seconds
    /// alone would be used up by tasks of hours, which then keep all others out.
    pub fn is_worn(&self, budget: Millis, now: Millis) -> bool {
        self.preempted_for >= budget + self.run_time(now)
    }

    /// What it is worth to its application, by what that told of late.
    pub fn executor(&self, now: Millis) -> Executor {
        let told = self.executor.filter(|(_, at)| now.since(*at) <= FRESH);
        told.map_or(Executor::Busy, |(executor, _)| executor)
    }

    /// In what order those of one job go on that are suspended: executors that idle last, and else the longest suspended first.
    pub fn resume_order(&self, now: Millis) -> (Reverse<Executor>, Millis) {
        (Reverse(self.executor(now)), self.since)
    }

    /// How long it has run since it last started or was resumed; `None` while it does not run.
    pub fn running_for(&self, now: Millis) -> Option<Millis> {
        (self.began.is_some() && !self.state.is_suspended()).then(|| now.since(self.since))
    }

    /// When it first ran, or was found running; `None` if it has not yet. Suspended or not, that stays.
    pub fn began(&self) -> Option<Millis> {
        self.began
    }

    /// Whether its task said, not long before `now`, that it is a map that sorts and writes what it made.
    pub fn partitions(&self, stale_after: Millis, now: Millis) -> bool {
        let fresh = self.last_report.filter(|last| now.since(last.at) <= stale_after);
        fresh.is_some_and(|last| matches!(last.report, TaskReport::Map { partitions: true, .. }))
    }

    pub(super) fn report(&mut self, report: TaskReport, maps_succeeded: u32, now: Millis) {
        let before = self.last_report;
        let rate = match (before.map(|last| (last.report, last.at, last.rate)), report) {
            (Some((TaskReport::Shuffle(old), at, _)), TaskReport::Shuffle(new))
                if new.fetched > old.fetched && now > at =>
            {
                f64::from(new.fetched - old.fetched) / now.since(at).seconds()
            }
            (Some((_, _, rate)), _) => rate,
            (None, _) => 0.0,
        };
        self.last_report = Some(LastReport { report, at: now, maps_succeeded, rate });
    }

    pub(super) fn launch(&mut self, now: Millis) {
        if self.began.is_none() {
            self.began = Some(now);
            self.since = now;
        }
        if self.state == State::Allocated {
            self.state = State::Running;
        }
    }

    pub(super) fn suspend(&mut self, safe_at: u64, now: Millis) {
        let reason = self.intended.take().unwrap_or(Reason::Found);
        self.ran_before = self.run_time(now);
        self.state = State::MustSuspend { safe_at };
        self.since = now;
        self.reason = Some(reason);
        self.catches_up_at = None;
        self.suspensions += u32::from(reason.counts());
    }

    pub(super) fn resume(&mut self, now: Millis) {
        self.began.get_or_insert(now);
        self.kept_out_since = None;
        self.catches_up_at = Some(now + now.since(self.since));
        let (spent, reason) = (now.since(self.since), self.reason.take());
        if matches!(reason, Some(Reason::Preempted { .. })) {
            self.preempted_for = self.preempted_for + spent;
        }
        self.stood_still = if reason.is_some_and(Reason::counts) { spent } else { Millis::default() };
        self.state = State::MustResume;
        self.since = now;
    }
}
