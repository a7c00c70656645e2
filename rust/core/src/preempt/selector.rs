//! Which victims go: whole sets of containers that let one container start, or go on, on one node (law 5).

mod by_job;
mod candidates;
mod pool;
mod search;
mod spare;

use super::gp_class::GpClasses;
use super::how::How;
use super::no_victim_reason::NoVictimReason;
use super::permission::{may_start_on, room_for_suspended_mb, VictimFilter};
use super::users::VictimScope;
use super::victims::{self, VictimOrder};
use crate::decision::Cause;
use crate::estimate::left::Remaining;
use crate::fact::PhaseKey;
use crate::plan::{Entry, PartitionPlan, Planner};
use crate::settings::{Candidates, QueueSettings, Settings};
use crate::stages::Executor;
use crate::state::{ByHandle, Claim, Cluster, For, Job, Node, Reason};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use crate::visits::Visits;
use by_job::QueueVictims;
use pool::GlobalVictimPool;
use rustc_hash::FxHashSet;
use search::{NodeCandidates, VictimSearch};
use spare::{QueueSpare, Spare};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// In what order containers of one job go: by what executors are worth to it, first tasks last, then by the queue's rule, youngest
/// first.
type VictimKey = (Executor, bool, i64, Reverse<(Millis, ContainerId)>);

/// A container that may be taken.
#[derive(Clone, Debug)]
struct Victim {
    id: ContainerId,
    app: AppId,
    queue: QueueId,
    /// Its job's.
    priority: i32,
    node: NodeId,
    resource: Resource,
    /// Fraction of the partition; nothing for a guest from another one, which lives on what nobody here wanted.
    share: f64,
    how: How,
    /// What keeps it from jobs of its own queue, if it may go to other queues only.
    not_for_own: Option<NoVictimReason>,
    /// If its queue's order is over all jobs: of which of them containers go.
    over_all_jobs: Option<Candidates>,
}

/// A request for which there were no victims.
#[derive(Clone, Copy, Debug)]
struct FailedRequest {
    queue: QueueId,
    /// The beneficiary's last place.
    last_entry: Option<usize>,
    need: Resource,
    /// What the beneficiary has left, if who has less could get something.
    hardly_less: Option<Remaining>,
    why: NoVictimReason,
}

/// What room is to be freed.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomRequest {
    /// How much.
    pub need: Resource,
    /// What for.
    pub purpose: For,
    /// Of which kind a new container is.
    pub kind: Option<PhaseKey>,
    /// Whose containers may go for it.
    pub scope: VictimScope,
}

/// Containers that could be taken, and how much each job can spare. They are looked at only as far as somebody needs them:
/// queue by queue and job by job, from the last in order; or, where the order is over all jobs, from the first to go.
pub(super) struct VictimSelector<'a> {
    planner: &'a Planner,
    plan: &'a PartitionPlan,
    partition: PartitionId,
    settings: &'a Settings,
    /// Of the queues in the plan.
    rules: ByHandle<QueueId, &'a QueueSettings>,
    /// Guests from other partitions, once somebody asked; they hold nothing of this one, and go first.
    guests: Option<Vec<Victim>>,
    /// What the starvation rule has jobs give way with, to any queue.
    giving: BTreeMap<AppId, f64>,
    /// Their containers, once somebody asked.
    given: Option<Vec<Victim>>,
    /// The queues whose order is over all jobs, by order.
    pools: Vec<GlobalVictimPool>,
    /// The other queues, last in order first.
    losing_queues: Vec<QueueVictims>,
    classes: GpClasses<'a>,
    taken: FxHashSet<ContainerId>,
    /// What each job can spare, after what was taken.
    spare: ByHandle<AppId, Spare>,
    /// What each job has left, once somebody asked.
    remaining: ByHandle<AppId, Remaining>,
    /// What queues can spare, after what was taken, once somebody asked.
    queue_spare: Option<QueueSpare>,
    /// What a job of a queue could not get: nobody there gets as much or more who comes after it.
    failed: Vec<FailedRequest>,
    /// Nothing is taken for a while.
    backing_off: bool,
    visits: Visits,
}

impl<'a> VictimSelector<'a> {
    /// With what jobs give way with by the starvation rule.
    pub(super) fn new(
        cluster: &Cluster,
        planner: &'a Planner,
        plan: &'a PartitionPlan,
        settings: &'a Settings,
        giving: BTreeMap<AppId, f64>,
    ) -> VictimSelector<'a> {
        let partition = plan.partition();
        let mut selector = VictimSelector {
            planner,
            plan,
            partition,
            settings,
            rules: ByHandle::default(),
            guests: None,
            giving,
            given: None,
            pools: Vec::new(),
            losing_queues: Vec::new(),
            classes: GpClasses::open(settings, partition),
            taken: FxHashSet::default(),
            spare: ByHandle::default(),
            remaining: ByHandle::default(),
            queue_spare: None,
            failed: Vec::new(),
            backing_off: false,
            visits: Visits::default(),
        };
        for (queue, places) in plan.queues.iter().rev() {
            selector.rules.insert(*queue, rules_of(cluster, settings, *queue));
            match selector.order_of(cluster, *queue).over_all_jobs() {
                Some(order) => GlobalVictimPool::of(&mut selector.pools, order).queues.push(*queue),
                None => selector.losing_queues.push(QueueVictims::of(*queue, places.clone())),
            }
        }
        selector
    }

    /// What was looked at so far.
    pub(super) fn visits(&self) -> Visits {
        self.visits
    }

    /// Nothing is taken.
    pub(super) fn back_off(&mut self) {
        self.backing_off = true;
        self.guests = Some(Vec::new());
        self.given = Some(Vec::new());
        self.pools.clear();
        self.losing_queues.clear();
    }

    /// Whether anything was taken.
    pub(super) fn took_any(&self) -> bool {
        !self.taken.is_empty()
    }

    /// What is left of what jobs give way with.
    pub(super) fn giving(&self) -> &BTreeMap<AppId, f64> {
        &self.giving
    }

    /// Frees what the job at that place requests on the first node where the best victims give enough; that node, or what keeps most of
    /// those that could go.
    pub(super) fn take_victims(
        &mut self,
        cluster: &mut Cluster,
        place: usize,
        request: RoomRequest,
    ) -> Result<NodeId, NoVictimReason> {
        let entry = self.plan.entries.get(place).ok_or(NoVictimReason::NobodyAfter)?;
        if let Some(failed) = self.failed_before(cluster, entry, request.need) {
            return Err(failed.why);
        }
        let mut search = VictimSearch::new(cluster, self.plan, place, entry, request);
        let mut freed = self.take_from_any(cluster, &mut search);
        if freed.is_none() && search.passed_over {
            search.begin_again();
            freed = self.take_from_any(cluster, &mut search);
        }
        let why = if self.backing_off { NoVictimReason::BackingOff } else { search.reasons.main() };
        // Victims only become fewer while the plan lasts; but another job may be welcome where this one was refused, and need less to go if
        // its user may hold more.
        if freed.is_none() && !search.elsewhere && request.scope == VictimScope::Anybody {
            let hardly_less = search.hardly_more.then(|| self.remaining(cluster, entry.app));
            self.failed.push(FailedRequest {
                queue: entry.queue,
                last_entry: search.last_entry,
                need: request.need,
                hardly_less,
                why,
            });
        }
        freed.ok_or(why)
    }

    fn take_from_any(&mut self, cluster: &mut Cluster, search: &mut VictimSearch) -> Option<NodeId> {
        let freed = self.take_from_guests(cluster, search);
        let freed = freed.or_else(|| self.take_from_giving(cluster, search));
        let freed = freed.or_else(|| (0..self.pools.len()).find_map(|at| self.take_from_pool(cluster, search, at)));
        freed.or_else(|| (0..self.losing_queues.len()).find_map(|losing| self.take_from_queue(cluster, search, losing)))
    }

    fn take_from_guests(&mut self, cluster: &mut Cluster, search: &mut VictimSearch) -> Option<NodeId> {
        let guests = self.guests.take().unwrap_or_else(|| {
            let filter = VictimFilter { guests: true, ..self.own_filter() };
            let mut guests: Vec<_> = cluster.guests().flat_map(|job| self.of_job(cluster, job, filter)).collect();
            guests.sort_by_key(|(key, _)| *key);
            guests.into_iter().map(|(_, victim)| victim).collect()
        });
        let freed = self.take_from(cluster, search, &guests);
        self.guests = Some(guests);
        freed
    }

    fn take_from(&mut self, cluster: &mut Cluster, search: &mut VictimSearch, victims: &[Victim]) -> Option<NodeId> {
        for victim in victims {
            if let Some(chosen) = self.consider(cluster, search, victim) {
                self.take(cluster, search, victim.node, chosen);
                return Some(victim.node);
            }
        }
        None
    }

    /// The same on that node only; whether it could be freed.
    pub(super) fn take_victims_at(
        &mut self,
        cluster: &mut Cluster,
        place: usize,
        request: RoomRequest,
        home: NodeId,
    ) -> bool {
        let Some(entry) = self.plan.entries.get(place) else { return false };
        // Of a job with hardly more left may be taken what waits for maps.
        if self.failed_before(cluster, entry, request.need).is_some_and(|failed| failed.hardly_less.is_none()) {
            return false;
        }
        let mut search = VictimSearch::new(cluster, self.plan, place, entry, request);
        let victims = self.victims_at(cluster, home, &search);
        self.take_from(cluster, &mut search, &victims).is_some()
    }

    /// Who requested no more, comes no later, has no more left, and got nothing.
    fn failed_before(&mut self, cluster: &Cluster, entry: &Entry, need: Resource) -> Option<FailedRequest> {
        if self.failed.is_empty() {
            return None;
        }
        let (last_entry, remaining) = (self.plan.last_entry(entry.app), self.remaining(cluster, entry.app));
        let worse = |other: &&FailedRequest| {
            let no_less = other.hardly_less.is_none_or(|other| remaining.is_no_less(&other));
            other.queue == entry.queue && other.last_entry <= last_entry && other.need.fits_in(need) && no_less
        };
        self.failed.iter().find(worse).copied()
    }

    /// Adds the victim to the candidates of its node; those that go, if they are enough now.
    fn consider(&mut self, cluster: &Cluster, search: &mut VictimSearch, victim: &Victim) -> Option<Vec<Victim>> {
        self.visits.containers += 1;
        let need = search.request.need;
        let node = cluster.nodes().get(&victim.node).filter(|_| !self.taken.contains(&victim.id))?;
        let shuns = |job: &Job| search.request.purpose == For::Start && job.blacklist.contains(&victim.node);
        let blacklists = cluster.jobs().get(&search.app).is_some_and(shuns);
        let refused = blacklists || node.refused.contains(&search.app);
        if refused {
            search.reasons.note(if blacklists { NoVictimReason::Blacklisted } else { NoVictimReason::RefusedThere });
        }
        let elsewhere = search.request.kind.is_some_and(|kind| !may_start_on(cluster, search.app, &kind, victim.node));
        let spared = match search.request.scope {
            VictimScope::Anybody => false,
            VictimScope::OwnUser { queue_user, .. } => {
                cluster.jobs().get(&victim.app).is_none_or(|job| job.queue_user() != queue_user)
            }
        };
        let too_large = !need.fits_in(node.total);
        search.elsewhere |= refused || elsewhere || spared;
        search.too_large |= too_large;
        // What a job gives way with is in a pool, too.
        let considered = search.by_node.get(&victim.node).is_some_and(|candidates| candidates.has(victim.id));
        if victim.app == search.app || refused || elsewhere || spared || considered || too_large {
            return None;
        }
        let outranks = (victim.priority > search.priority).then_some(NoVictimReason::HigherPriority);
        if let Some(reason) = victim.not_for_own.or(outranks).filter(|_| search.is_of(victim.queue)) {
            search.reasons.note(reason);
            return None;
        }
        let mut candidates = search.by_node.remove(&victim.node).unwrap_or_else(|| self.no_candidates(search, node));
        if search.spares_homes && strands(cluster, search, node, &candidates, victim) {
            (search.passed_over, search.elsewhere) = (true, true);
            search.by_node.insert(victim.node, candidates);
            return None;
        }
        let fits = candidates.keeps_suspended(victim);
        let goes = fits && self.can_spare(cluster, search, &candidates, victim);
        if !goes && !candidates.victims.is_empty() && self.goes_alone(cluster, search, node, victim) {
            return Some(vec![victim.clone()]);
        }
        if !fits {
            search.reasons.note(NoVictimReason::SuspendedMemory);
        } else if goes {
            search.spared += 1;
            if victim.how == How::Suspend {
                candidates.room_for_suspended_mb -= victim.resource.memory_mb;
            }
            candidates.room += victim.resource;
            candidates.victims.push(victim.clone());
            let needed = need.fits_in(candidates.room).then(|| candidates.needed(need));
            if let Some(needed) = needed.filter(|needed| search.is_enough(needed, self.plan.total)) {
                return Some(needed);
            }
        }
        search.by_node.insert(victim.node, candidates);
        None
    }

    /// What the node has for that search before any victim goes.
    fn no_candidates(&self, search: &VictimSearch, node: &Node) -> NodeCandidates {
        let room_mb = room_for_suspended_mb(&self.settings.cluster, node) + search.returning_mb();
        // What is suspended comes before what is collected for a new one of its own job, which may be looked for elsewhere after that.
        let own = |claim: &Claim| claim.app == search.app && claim.purpose == For::Start && !search.is_new();
        let is_behind = |claim: &Claim| self.plan.is_before(search.place, claim.app) || own(claim);
        let candidates = NodeCandidates::on(node, is_behind, room_mb);
        // Who may hold no more must give as much as it gets.
        let room = if search.request.scope == VictimScope::Anybody {
            candidates.room
        } else {
            candidates.room.at_most(Resource::ZERO)
        };
        NodeCandidates { room, ..candidates }
    }

    /// Whether the victim is enough by itself, and could go if it were the only candidate.
    fn goes_alone(&mut self, cluster: &Cluster, search: &VictimSearch, node: &Node, victim: &Victim) -> bool {
        let nothing = self.no_candidates(search, node);
        search.request.need.fits_in(nothing.room + victim.resource)
            && search.is_enough(std::slice::from_ref(victim), self.plan.total)
            && nothing.keeps_suspended(victim)
            && self.can_spare(cluster, search, &nothing, victim)
    }

    fn take(&mut self, cluster: &mut Cluster, search: &VictimSearch, at_node: NodeId, chosen: Vec<Victim>) {
        let mut ids = Vec::new();
        for victim in chosen {
            self.taken.insert(victim.id);
            if let Some(spare) = self.spare.get_mut(&victim.app) {
                spare.above_target -= victim.share;
                spare.above_kept -= victim.share;
                spare.above_kept_from_higher -= victim.share;
            }
            self.giving.entry(victim.app).and_modify(|gives| *gives -= victim.share);
            if !search.is_of(victim.queue) {
                let queue_spare = self.queue_spare(cluster);
                for queue in cluster.lineage(victim.queue) {
                    *queue_spare.above_entitled.entry(queue).or_default() -= victim.share;
                }
            }
            ids.push(victim.id);
            match victim.how {
                How::Suspend => cluster.suspend(victim.id, Reason::Preempted { by: search.app }),
                How::Kill => cluster.kill(victim.id, Cause::Preempted { by: search.app }),
            }
        }
        cluster.claim(at_node, Claim::new(search.app, search.request.purpose, search.request.need, cluster.now(), ids));
    }

    fn order_of(&self, cluster: &Cluster, queue: QueueId) -> &'static dyn VictimOrder {
        victims::order(self.rules(cluster, queue).victims)
    }

    fn rules(&self, cluster: &Cluster, queue: QueueId) -> &'a QueueSettings {
        let of_others = || rules_of(cluster, self.settings, queue);
        self.rules.get(&queue).copied().unwrap_or_else(of_others)
    }
}

/// Whether the victim, and what else is suspended on the node, could not all go on beside the ApplicationMaster for which they go: nobody
/// takes that one's room before its job ends (law 25).
fn strands(
    cluster: &Cluster,
    search: &VictimSearch,
    node: &Node,
    candidates: &NodeCandidates,
    victim: &Victim,
) -> bool {
    let has_none = |app| cluster.jobs().get(&app).is_some_and(|job| !job.asks_for_tasks());
    let coming = node.claims.iter().filter(|claim| claim.purpose == For::Start && has_none(claim.app));
    let masters = coming.fold(node.masters + search.request.need, |sum, claim| sum + claim.resource);
    let suspended = node.suspended.iter().filter_map(|id| cluster.containers().get(id));
    let suspended = suspended.map(|container| container.resource()).chain(candidates.suspended());
    let all = suspended.fold(victim.resource, |sum, one| sum + one);
    victim.how == How::Suspend && !all.fits_in(node.total - masters)
}

fn rules_of<'a>(cluster: &Cluster, settings: &'a Settings, queue: QueueId) -> &'a QueueSettings {
    settings.queue(cluster.queues().get(&queue).map_or("", |queue| queue.path.as_str()))
}
