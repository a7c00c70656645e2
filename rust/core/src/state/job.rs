//! One application: its phases, what it wants, holds, has suspended and has learnt about its tasks.

use super::{Container, FirstTask, Phase, QueueUser, Site};
use crate::fact::{AppFact, Exit, PhaseKey, Places, Side, MAP_REDUCE};
use crate::hints::Hints;
use crate::recurring::Earlier;
use crate::settings::{QueueSettings, FIRST_TASKS};
use crate::stages::{Stages, Work, ANY_CONTAINER};
use crate::units::{
    AppId, ContainerId, JobClass, Millis, NodeId, PartitionId, QueueId, Resource, ResourceSeconds, UserId,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// As often a pause doubles: 30 s become 64 minutes.
const MOST_DOUBLINGS: u32 = 7;

/// An application.
#[derive(Clone, Debug)]
pub struct Job {
    /// Leaf queue.
    pub queue: QueueId,
    /// Owner.
    pub user: UserId,
    /// YARN priority; larger is more important.
    pub priority: i32,
    /// Name for explanations.
    pub name: String,
    /// Which jobs it is a run of.
    pub class: JobClass,
    /// What is known of those that ran before.
    pub earlier: Earlier,
    /// What its tags say about it.
    pub hints: Hints,
    /// When the core first heard of it.
    pub submitted: Millis,
    /// The time of day then, in milliseconds since 1970.
    told_at_ms: u64,
    /// When its ApplicationMaster was first started, if anybody saw that; its first task, if that runs elsewhere.
    pub began: Option<Millis>,
    /// Whether its queue lets it run.
    pub active: bool,
    /// Whether it was put aside by hand.
    pub parked: bool,
    /// Its phases, in the order in which YARN serves them.
    pub phases: BTreeMap<PhaseKey, Phase>,
    /// Its live containers.
    pub containers: BTreeSet<ContainerId>,
    /// The suspended ones among them.
    pub suspended: BTreeSet<ContainerId>,
    /// Its ApplicationMaster's container, and on which phase's account it is.
    pub master: Option<(ContainerId, PhaseKey)>,
    /// Whether its ApplicationMaster runs elsewhere, and it never asks for one.
    pub unmanaged: bool,
    /// Where its tasks may start.
    pub site: Site,
    /// Nodes on which it takes no container, by its application's own word or YARN's.
    pub blacklist: BTreeSet<NodeId>,
    /// Its YARN application type.
    pub application_type: String,
    /// Whether a limit stands against more containers, as far as refusals tell.
    pub backs_off: bool,
    /// Nothing is taken from others for it before this time: it could not use what it got.
    pub barred_until: Millis,
    /// How many times in a row that was so because what was freed for it was not used.
    bars: u32,
    /// It gets nothing on nodes of other partitions than those it asks for before this time: there it was refused for a limit.
    pub no_guest_until: Millis,
    /// What the application said last of its tasks, by request priority.
    said: BTreeMap<i32, Said>,
    /// What it told of the stages of its executors.
    pub(super) stages: Stages,
    attained: ResourceSeconds,
    attained_at: Millis,
    holding: Resource,
    /// Whether something changed since somebody last took that up.
    pub(super) touched: bool,
}

/// What an application said of its tasks of one request priority.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    /// How many there are, less those that were done before anybody saw them, and once more those that are to be done again.
    tasks: u32,
    /// How many had succeeded by then.
    succeeded: u32,
}

impl Job {
    pub(super) fn new(fact: &AppFact, now: Millis) -> Job {
        Job {
            queue: fact.queue,
            user: fact.user,
            priority: fact.priority,
            name: fact.name.clone(),
            class: fact.class,
            earlier: Earlier::default(),
            hints: Hints::read(&fact.tags, fact.told_at_ms),
            submitted: now,
            told_at_ms: fact.told_at_ms,
            began: None,
            active: false,
            parked: false,
            phases: BTreeMap::new(),
            containers: BTreeSet::new(),
            suspended: BTreeSet::new(),
            master: None,
            unmanaged: fact.unmanaged,
            site: Site::default(),
            blacklist: BTreeSet::new(),
            application_type: fact.application_type.clone(),
            backs_off: false,
            barred_until: Millis::default(),
            bars: 0,
            no_guest_until: Millis::default(),
            said: BTreeMap::new(),
            stages: Stages::default(),
            attained: ResourceSeconds::default(),
            attained_at: now,
            holding: Resource::ZERO,
            touched: false,
        }
    }

    /// The time of day at `now`, in milliseconds since 1970.
    pub fn time_of_day_ms(&self, now: Millis) -> u64 {
        self.told_at_ms.saturating_add(now.since(self.submitted).0)
    }

    /// Service received until `now`: what its containers held, over time, suspensions aside.
    pub fn attained(&self, now: Millis) -> ResourceSeconds {
        let mut sum = self.attained;
        sum += ResourceSeconds::of(self.holding, now.since(self.attained_at));
        sum
    }

    /// What its containers that count hold together.
    pub fn holding(&self) -> Resource {
        self.holding
    }

    /// What it holds or was promised in this step, as a fraction of the partition's `total`.
    pub fn share(&self, total: Resource, partition: PartitionId) -> f64 {
        let own = self.phases.iter().filter(|(key, _)| key.partition == partition);
        own.map(|(key, phase)| f64::from(phase.held + phase.proposed) * key.resource.dominant_share(total)).sum()
    }

    /// Whom limits on it are for.
    pub fn queue_user(&self) -> QueueUser {
        (self.queue, self.user)
    }

    /// Whether its asks may be served.
    pub fn may_start(&self) -> bool {
        self.active && !self.parked
    }

    /// Whether what it asks for is for tasks; a job that has no master yet asks for that.
    pub fn asks_for_tasks(&self) -> bool {
        self.unmanaged || self.master.is_some()
    }

    /// How many more containers of that kind may start on a node of that side, as far as its site goes. Its ApplicationMaster
    /// runs anywhere.
    pub fn most_on(&self, key: &PhaseKey, side: Option<Side>) -> u32 {
        if self.asks_for_tasks() {
            self.site.most_on(key, side)
        } else {
            u32::MAX
        }
    }

    /// Whether it is a MapReduce job.
    pub fn is_map_reduce(&self) -> bool {
        self.application_type == MAP_REDUCE
    }

    /// Whether its containers may be suspended for others: as its tag says, as far as its queue's rules let that count, or its type.
    pub fn may_be_suspended(&self, rules: &QueueSettings) -> bool {
        let said = self.hints.suspend_under(&rules.hints);
        said.unwrap_or_else(|| rules.suspend_types.allow(&self.application_type))
    }

    /// Whether that container of it was put aside by hand, alone or with all others. An ApplicationMaster never is (law 3).
    pub fn has_parked(&self, container: &Container) -> bool {
        !container.is_master && (self.parked || container.parked)
    }

    /// Tasks of a phase for whose containers the application has not asked yet, as far as it says how many there are. Below
    /// zero if its asks are more than its tasks: what it asked before it heard of its newest containers counts those again. If it
    /// says nothing, that is told by its asks ([`Phase::asked_again`]).
    pub fn unasked(&self, key: PhaseKey) -> i32 {
        let Some(said) = self.said.get(&key.priority) else {
            return self.phases.get(&key).map_or(0, |phase| -(phase.asked_again as i32));
        };
        // Of several phases with one priority nobody knows which has how many; in their order they stand together.
        let (before, after) =
            (self.phases.range(..key).next_back(), self.phases.range((Bound::Excluded(key), Bound::Unbounded)).next());
        let alone = !before.into_iter().chain(after).any(|(other, _)| other.priority == key.priority);
        if !alone {
            return 0;
        }
        let (asked, pending) =
            self.phases.get(&key).map_or((0, 0), |phase| (phase.finished + phase.left(), phase.pending));
        (i64::from(said.tasks) - i64::from(asked)).max(-i64::from(pending)) as i32
    }

    /// Whether the application has said how many tasks of any kind it has.
    pub fn says_tasks(&self) -> bool {
        !self.said.is_empty()
    }

    /// Work of a phase's containers, as far as the application tells that of them. What any container may do counts for the kind of
    /// which the application has, or had, most: one that takes tasks of all stages goes on with the next ones.
    pub fn told(&self, key: PhaseKey) -> Option<Work> {
        self.stages.work(key.priority).or_else(|| {
            let work = self.stages.work(ANY_CONTAINER)?;
            let containers = |key: &PhaseKey| self.phases.get(key).map_or(0, |phase| phase.finished) + self.to_do(*key);
            let alive = self.asked().filter(|key| self.to_do(**key) > 0);
            let most = alive.max_by_key(|key| (containers(key), Reverse(**key)));
            Some(if most == Some(&key) { work } else { Work { done_s: 0.0, left_s: 0.0, ..work } })
        })
    }

    /// Request priorities of tasks that are to come: the application has said how many there are, and has asked for none yet.
    pub(super) fn to_come(&self) -> impl Iterator<Item = i32> + '_ {
        let said = self.said.iter().filter(|(_, said)| said.tasks > 0).map(|(priority, _)| *priority);
        said.filter(|priority| !self.phases.keys().any(|key| key.priority == *priority))
    }

    /// The kinds of tasks that it has asked for; its ApplicationMaster is none.
    pub fn asked(&self) -> impl Iterator<Item = &PhaseKey> {
        let is_master = |key: &PhaseKey| self.master.is_some_and(|(_, of)| of == *key);
        self.phases.keys().filter(move |key| !is_master(key) || self.to_do(**key) > 1)
    }

    /// Containers of a phase that are wanted and may be given out. Reduces wait while maps of their job are suspended: they could do nothing
    /// before those are done, and would hold room that nobody uses. An application that speculates takes a suspended task for a slow
    /// one, and asks for a container for a second attempt of it; one of the two would be killed. That waits until the first has had
    /// as much time again to end: what asks go beyond the tasks that the application has is for such attempts. Where other kinds of tasks
    /// come after them in YARN's order, nothing waits: those would have to wait, too.
    pub fn wanted(&self, key: PhaseKey, phase: &Phase) -> u32 {
        let stood_still = phase.suspended + phase.catching_up;
        let mut later = self.phases.range((Bound::Excluded(key), Bound::Unbounded));
        if phase.pending == 0 || later.any(|(_, later)| later.pending > 0) {
            return phase.pending;
        }
        if key.is_of_reduces() && self.maps().any(|(_, maps)| maps.suspended > 0) {
            return 0;
        }
        phase.pending - 0.max(-self.unasked(key)).unsigned_abs().min(stood_still)
    }

    /// Of its phases in the partition, in YARN's order, how many of those are not yet proposed anywhere; only those that want any.
    pub fn asks(&self, partition: PartitionId) -> impl Iterator<Item = (PhaseKey, u32)> + '_ {
        let phases = self.phases.iter().filter(move |(key, _)| key.partition == partition);
        phases.map(|(key, phase)| (*key, self.unserved(*key, phase))).filter(|(_, unserved)| *unserved > 0)
    }

    /// Of those, what the ResourceManager may start next: it serves an application's kinds in their order, and the application's turn on
    /// a node ends at the first that does not start there, be it for room, a limit, locality or a blacklist. It passes over only what is
    /// for other nodes; whether that is so it says of no kind that the core cannot judge.
    pub fn next_asks(&self, partition: PartitionId) -> impl Iterator<Item = (PhaseKey, u32)> + '_ {
        let mut ended = false;
        let is_judged = |key: &PhaseKey| self.phases.get(key).is_none_or(|phase| phase.places != Places::Unjudged);
        self.asks(partition).take_while(move |(key, _)| !std::mem::replace(&mut ended, is_judged(key)))
    }

    /// Of those, not yet proposed anywhere.
    pub fn unserved(&self, key: PhaseKey, phase: &Phase) -> u32 {
        self.wanted(key, phase).saturating_sub(phase.proposed)
    }

    /// Tasks of a phase that are not done, whether the application has asked for their containers or not.
    pub fn to_do(&self, key: PhaseKey) -> u32 {
        self.phases.get(&key).map_or(0, Phase::left).saturating_add_signed(self.unasked(key))
    }

    /// Its phases of maps, if it is a MapReduce job.
    fn maps(&self) -> impl Iterator<Item = (&PhaseKey, &Phase)> {
        self.phases.iter().filter(|(key, _)| self.is_map_reduce() && key.is_of_maps())
    }

    /// Maps that succeeded.
    pub fn maps_succeeded(&self) -> u32 {
        self.maps().map(|(_, phase)| phase.finished).sum()
    }

    /// Run times of those together.
    pub fn maps_time(&self) -> Millis {
        self.maps().fold(Millis(0), |sum, (_, phase)| sum + phase.finished_time)
    }

    /// Maps that are not done.
    pub fn maps_to_do(&self) -> u32 {
        self.maps().map(|(key, _)| self.to_do(*key)).sum()
    }

    /// Whether tasks of that kind cannot work yet, whatever they hold: a MapReduce job's reduces while maps are to be done.
    pub fn waits_for_maps(&self, key: PhaseKey) -> bool {
        key.is_of_reduces() && self.has_maps_to_do()
    }

    /// Whether maps of a MapReduce job are to be done.
    pub fn has_maps_to_do(&self) -> bool {
        self.maps_to_do() > 0
    }

    /// The maps that the ResourceManager would start next in the partition, and how many of them want a container; nothing where
    /// it would start something else first.
    pub fn next_maps(&self, partition: PartitionId) -> Option<(PhaseKey, u32)> {
        let first = self.asks(partition).next();
        first.filter(|(key, _)| self.is_map_reduce() && self.may_start() && !self.backs_off && key.is_of_maps())
    }

    /// Whether it has anything to place or resume.
    pub fn wants(&self) -> bool {
        !self.parked && self.phases.values().any(|phase| phase.pending > 0 || phase.suspended > 0)
    }

    /// What it asks for is told anew, and where not. What it did not ask for any more the last time, and never had, it does not have now: an
    /// application may name ever new priorities.
    pub(super) fn forget_asks(&mut self) {
        self.phases.retain(|_, phase| phase.is_alive());
        for phase in self.phases.values_mut() {
            phase.pending = 0;
        }
        self.blacklist.clear();
    }

    /// Something of it changed: whoever keeps something about it finds it among `touched`, once.
    pub(super) fn touch(&mut self, app: AppId, touched: &mut Vec<AppId>) {
        if !std::mem::replace(&mut self.touched, true) {
            touched.push(app);
        }
    }

    /// What was freed for it was not used. Where that is so each time (what it asks for may lack something of which the core knows
    /// nothing), the pause doubles until it is given something.
    pub(super) fn bar(&mut self, now: Millis, pause: Millis) {
        if self.barred_until <= now {
            self.barred_until = now + Millis(pause.0 << self.bars.min(MOST_DOUBLINGS));
            self.bars += 1;
        }
    }

    pub(super) fn spend_ask(&mut self, key: PhaseKey, now: Millis) {
        self.bars = 0;
        if let Some(phase) = self.phases.get_mut(&key) {
            phase.give(now);
        }
    }

    pub(super) fn add(&mut self, id: ContainerId, container: &Container, partition: PartitionId, now: Millis) {
        self.containers.insert(id);
        if container.is_master {
            self.master = Some((id, container.phase));
        }
        if container.state.is_suspended() {
            self.suspended.insert(id);
        } else {
            self.hold(container.resource(), now);
        }
        self.phases.entry(container.phase).or_default().add(container, partition, now);
    }

    pub(super) fn remove(&mut self, id: ContainerId, container: &Container, partition: PartitionId, now: Millis) {
        self.containers.remove(&id);
        if self.master.is_some_and(|(master, _)| master == id) {
            self.master = None;
        }
        if container.state.is_suspended() {
            self.suspended.remove(&id);
        } else {
            self.hold(Resource::ZERO - container.resource(), now);
        }
        self.phases.entry(container.phase).or_default().remove(container, partition, now);
    }

    /// One of the phase's containers does not catch up any more.
    pub(super) fn caught_up(&mut self, key: PhaseKey) {
        self.phases.entry(key).or_default().catching_up -= 1;
    }

    pub(super) fn finish(&mut self, id: ContainerId, container: &Container, exit: Exit, now: Millis) {
        let work_time = self.worked(id, container, now);
        let phase = self.phases.entry(container.phase).or_default();
        // What the application releases, or is lost with its node, was not taken from it. What was killed as it began counts: those
        // that kill each other's so early would never end, either.
        if container.killed && exit == Exit::Killed && !container.is_master && container.allocated >= phase.killed_at {
            phase.kill_rounds += 1;
            phase.killed_at = now;
        }
        // A released container tells nothing about tasks, and the master is none. What began and ended between two heartbeats of its
        // node was never seen to run.
        if exit == Exit::Succeeded && !container.is_master {
            phase.kill_rounds = 0;
            phase.finished += 1;
            phase.finished_time = phase.finished_time + work_time;
            if let Some(first) = phase.first.iter_mut().find(|first| first.container == id) {
                first.finished = Some(work_time);
            }
        } else {
            phase.first.retain(|first| first.container != id);
        }
    }

    /// A task or the ApplicationMaster started, that was `before` until now.
    pub(super) fn start(&mut self, id: ContainerId, before: &Container, container: &Container, now: Millis) {
        if container.is_master || self.unmanaged {
            self.began.get_or_insert(now);
        }
        if container.is_master {
            return;
        }
        let Phase { first, run_time, .. } = self.phases.entry(container.phase).or_default();
        run_time.remove(before, now);
        run_time.add(container, now);
        let known = first.iter().any(|first| first.container == id);
        if !known && first.len() < FIRST_TASKS {
            first.push(FirstTask { container: id, finished: None, waited: Millis(0), progress: None });
        }
    }

    /// A task said how far it is, or that it waits.
    pub(super) fn progress(&mut self, id: ContainerId, container: &Container, done: Option<f64>, now: Millis) {
        let first = self.phases.get_mut(&container.phase).into_iter().flat_map(|phase| &mut phase.first);
        for first in first.filter(|first| first.container == id) {
            first.progress = done;
            first.waited = if done.is_none() { container.run_time(now) } else { first.waited };
        }
    }

    /// How long the container has worked: its run time, suspensions aside, without the time before its own work that it
    /// told of. A reduce that waits for maps is no longer for it (HFSP, gap 17).
    pub fn worked(&self, id: ContainerId, container: &Container, now: Millis) -> Millis {
        container.run_time(now).since(self.first_task(id, container.phase).map_or(Millis(0), |first| first.waited))
    }

    fn first_task(&self, id: ContainerId, phase: PhaseKey) -> Option<&FirstTask> {
        self.phases.get(&phase)?.first.iter().find(|first| first.container == id)
    }

    /// The application said how many tasks of a request priority it has, and how many of those are done.
    pub(super) fn say_tasks(&mut self, priority: i32, total: u32, done: u32) {
        let phases = || self.phases.iter().filter(|(key, _)| key.priority == priority).map(|(_, phase)| phase);
        let seen: u32 = phases().map(|phase| phase.finished + phase.left() - phase.pending).sum();
        let succeeded = phases().map(|phase| phase.finished).sum();
        // What had succeeded by its last word and is not done now lost its output. What succeeded since it may not know yet.
        let again = self.said.get(&priority).map_or(0, |said| said.succeeded.saturating_sub(done));
        let tasks = (total + again).saturating_sub(done.saturating_sub(seen));
        self.said.insert(priority, Said { tasks, succeeded });
    }

    /// Whether the container is among the first tasks of its phase.
    pub fn is_first_task(&self, id: ContainerId, phase: PhaseKey) -> bool {
        self.first_task(id, phase).is_some()
    }

    /// The part of its work that the container reported as done, 0…1; only first tasks are listened to.
    pub fn progress_of(&self, id: ContainerId, phase: PhaseKey) -> Option<f64> {
        self.first_task(id, phase).and_then(|first| first.progress)
    }

    fn hold(&mut self, more: Resource, now: Millis) {
        self.attained = self.attained(now);
        self.attained_at = now;
        self.holding += more;
    }
}
