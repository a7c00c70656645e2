//! The purchase of room: whole sets of containers that let one container start, or go on, on one node (law 5).

mod candidates;
mod crowd;
mod offer;
mod ranked;

use super::class::Classes;
use super::how::How;
use super::permission::{may_start_on, room_for_suspended_mb, Look};
use super::refusal::Refusal;
use super::users::From;
use super::victims::{self, VictimOrder};
use crate::decision::Cause;
use crate::entitlement::EPSILON;
use crate::estimate::left::Remaining;
use crate::fact::PhaseKey;
use crate::plan::{Entry, PartitionPlan, Planner};
use crate::settings::{Candidates, QueueSettings, Settings};
use crate::state::{ByHandle, Claim, Cluster, For, Job, Node, Reason};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use crate::visits::Visits;
use crowd::Crowd;
use offer::{Offer, Sale};
use ranked::Loser;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// In what order containers of one job go: first tasks last, then by the queue's rule, youngest first.
type Turn = (bool, i64, Reverse<(Millis, ContainerId)>);

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
    not_for_own: Option<Refusal>,
    /// If its queue's order is over all jobs: of which of them containers go.
    of_crowd: Option<Candidates>,
}

/// What a job holds beyond what it may keep, as fractions of the partition.
#[derive(Clone, Copy, Debug)]
struct Spare {
    /// Above its target: anybody who is below its own may have that.
    above_target: f64,
    /// Above what it keeps from those that come before it.
    above_kept: f64,
    /// Above what it keeps from those of a higher priority: there is nobody to whom it gives more.
    above_kept_from_higher: f64,
}

/// Whose wish nobody could fulfil.
#[derive(Clone, Copy, Debug)]
struct Hopeless {
    queue: QueueId,
    /// The taker's last place.
    rank: Option<usize>,
    need: Resource,
    /// What the taker has left, if who has less could get something.
    hardly_less: Option<Remaining>,
    why: Refusal,
}

/// What room is bought for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// How much.
    pub need: Resource,
    /// What for.
    pub purpose: For,
    /// Of which kind a new container is.
    pub kind: Option<PhaseKey>,
    /// Whose containers may go for it.
    pub from: From,
}

/// Containers that could be taken, and how much each job can spare. They are looked at only as far as somebody needs them:
/// queue by queue and job by job, from the last in order; or, where the order is over all jobs, from the first to go.
pub(super) struct Market<'a> {
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
    crowds: Vec<Crowd>,
    /// The other queues, last in order first.
    losers: Vec<Loser>,
    classes: Classes<'a>,
    taken: FxHashSet<ContainerId>,
    /// What each job can spare, after what was taken.
    spare: ByHandle<AppId, Spare>,
    /// What each job has left, once somebody asked.
    remaining: ByHandle<AppId, Remaining>,
    /// What each queue, parents included, holds above its entitlement, once somebody asked.
    queue_spare: Option<BTreeMap<QueueId, f64>>,
    /// What a job of a queue could not get: nobody there gets as much or more who comes after it.
    hopeless: Vec<Hopeless>,
    /// Nobody sells anything for a while.
    closed: bool,
    visits: Visits,
}

impl<'a> Market<'a> {
    /// With what jobs give way with by the starvation rule.
    pub(super) fn open(
        cluster: &Cluster,
        planner: &'a Planner,
        plan: &'a PartitionPlan,
        settings: &'a Settings,
        giving: BTreeMap<AppId, f64>,
    ) -> Market<'a> {
        let partition = plan.partition();
        let mut market = Market {
            planner,
            plan,
            partition,
            settings,
            rules: ByHandle::default(),
            guests: None,
            giving,
            given: None,
            crowds: Vec::new(),
            losers: Vec::new(),
            classes: Classes::open(settings, partition),
            taken: FxHashSet::default(),
            spare: ByHandle::default(),
            remaining: ByHandle::default(),
            queue_spare: None,
            hopeless: Vec::new(),
            closed: false,
            visits: Visits::default(),
        };
        for (queue, places) in plan.queues.iter().rev() {
            market.rules.insert(*queue, rules_of(cluster, settings, *queue));
            match market.order_of(cluster, *queue).over_all_jobs() {
                Some(order) => Crowd::of(&mut market.crowds, order).queues.push(*queue),
                None => market.losers.push(Loser::of(*queue, places.clone())),
            }
        }
        market
    }

    /// What was looked at so far.
    pub(super) fn visits(&self) -> Visits {
        self.visits
    }

    /// Nobody sells anything.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.guests = Some(Vec::new());
        self.given = Some(Vec::new());
        self.crowds.clear();
        self.losers.clear();
    }

    /// Whether anything was taken.
    pub(super) fn has_sold(&self) -> bool {
        !self.taken.is_empty()
    }

    /// What is left of what jobs give way with.
    pub(super) fn giving(&self) -> &BTreeMap<AppId, f64> {
        &self.giving
    }

    /// Frees what the job at that place wishes on the first node where the best victims give enough; that node, or what keeps most of
    /// those that could go.
    pub(super) fn buy(&mut self, cluster: &mut Cluster, place: usize, wish: Wish) -> Result<NodeId, Refusal> {
        let entry = self.plan.entries.get(place).ok_or(Refusal::NobodyAfter)?;
        if let Some(hopeless) = self.hopeless(cluster, entry, wish.need) {
            return Err(hopeless.why);
        }
        let mut sale = Sale::new(cluster, self.plan, place, entry, wish);
        let mut sold = self.buy_from_any(cluster, &mut sale);
        if sold.is_none() && sale.passed_over {
            sale.begin_again();
            sold = self.buy_from_any(cluster, &mut sale);
        }
        let why = if self.closed { Refusal::Rests } else { sale.refusals.main() };
        // Prices only rise while the plan lasts; but another job may be welcome where this one was refused, and need less to go if its
        // user may hold more.
        if sold.is_none() && !sale.elsewhere && wish.from == From::Anybody {
            let hardly_less = sale.hardly_more.then(|| self.remaining(cluster, entry.app));
            self.hopeless.push(Hopeless { queue: entry.queue, rank: sale.rank, need: wish.need, hardly_less, why });
        }
        sold.ok_or(why)
    }

    fn buy_from_any(&mut self, cluster: &mut Cluster, sale: &mut Sale) -> Option<NodeId> {
        let sold = self.buy_from_guests(cluster, sale);
        let sold = sold.or_else(|| self.buy_from_giving(cluster, sale));
        let sold = sold.or_else(|| (0..self.crowds.len()).find_map(|at| self.buy_from_crowd(cluster, sale, at)));
        sold.or_else(|| (0..self.losers.len()).find_map(|loser| self.buy_from(cluster, sale, loser)))
    }

    fn buy_from_guests(&mut self, cluster: &mut Cluster, sale: &mut Sale) -> Option<NodeId> {
        let guests = self.guests.take().unwrap_or_else(|| {
            let look = Look { guests: true, ..self.look() };
            let mut guests: Vec<_> = cluster.guests().flat_map(|job| self.of_job(cluster, job, look)).collect();
            guests.sort_by_key(|(turn, _)| *turn);
            guests.into_iter().map(|(_, victim)| victim).collect()
        });
        let sold = self.buy_among(cluster, sale, &guests);
        self.guests = Some(guests);
        sold
    }

    fn buy_among(&mut self, cluster: &mut Cluster, sale: &mut Sale, victims: &[Victim]) -> Option<NodeId> {
        for victim in victims {
            if let Some(chosen) = self.offer(cluster, sale, victim) {
                self.take(cluster, sale, victim.node, chosen);
                return Some(victim.node);
            }
        }
        None
    }

    /// The same on that node only; whether it could be freed.
    pub(super) fn buy_at(&mut self, cluster: &mut Cluster, place: usize, wish: Wish, home: NodeId) -> bool {
        let Some(entry) = self.plan.entries.get(place) else { return false };
        // Of a job with hardly more left may be taken what waits for maps.
        if self.hopeless(cluster, entry, wish.need).is_some_and(|hopeless| hopeless.hardly_less.is_none()) {
            return false;
        }
        let mut sale = Sale::new(cluster, self.plan, place, entry, wish);
        let victims = self.victims_at(cluster, home, &sale);
        self.buy_among(cluster, &mut sale, &victims).is_some()
    }

    /// Who wished for no more, comes no later, has no more left, and got nothing.
    fn hopeless(&mut self, cluster: &Cluster, entry: &Entry, need: Resource) -> Option<Hopeless> {
        if self.hopeless.is_empty() {
            return None;
        }
        let (rank, remaining) = (self.plan.rank(entry.app), self.remaining(cluster, entry.app));
        let worse = |other: &&Hopeless| {
            let no_less = other.hardly_less.is_none_or(|other| remaining.is_no_less(&other));
            other.queue == entry.queue && other.rank <= rank && other.need.fits_in(need) && no_less
        };
        self.hopeless.iter().find(worse).copied()
    }

    /// The victim is offered, too; those that go, if they are enough now.
    fn offer(&mut self, cluster: &Cluster, sale: &mut Sale, victim: &Victim) -> Option<Vec<Victim>> {
        self.visits.containers += 1;
        let need = sale.wish.need;
        let node = cluster.nodes().get(&victim.node).filter(|_| !self.taken.contains(&victim.id))?;
        let shuns = |job: &Job| sale.wish.purpose == For::Start && job.blacklist.contains(&victim.node);
        let blacklists = cluster.jobs().get(&sale.app).is_some_and(shuns);
        let refused = blacklists || node.refused.contains(&sale.app);
        if refused {
            sale.refusals.note(if blacklists { Refusal::Blacklisted } else { Refusal::RefusedThere });
        }
        let elsewhere = sale.wish.kind.is_some_and(|kind| !may_start_on(cluster, sale.app, &kind, victim.node));
        let spared = match sale.wish.from {
            From::Anybody => false,
            From::Own { holder, .. } => cluster.jobs().get(&victim.app).is_none_or(|job| job.holder() != holder),
        };
        let too_large = !need.fits_in(node.total);
        sale.elsewhere |= refused || elsewhere || spared;
        sale.too_large |= too_large;
        // What a job gives way with is among the crowd, too.
        let offered = sale.offers.get(&victim.node).is_some_and(|offer| offer.has(victim.id));
        if victim.app == sale.app || refused || elsewhere || spared || offered || too_large {
            return None;
        }
        let outranks = (victim.priority > sale.priority).then_some(Refusal::HigherPriority);
        if let Some(refusal) = victim.not_for_own.or(outranks).filter(|_| sale.is_of(victim.queue)) {
            sale.refusals.note(refusal);
            return None;
        }
        let mut offer = sale.offers.remove(&victim.node).unwrap_or_else(|| self.nothing_offered(sale, node));
        if sale.spares_homes && strands(cluster, sale, node, &offer, victim) {
            (sale.passed_over, sale.elsewhere) = (true, true);
            sale.offers.insert(victim.node, offer);
            return None;
        }
        let fits = offer.keeps_suspended(victim);
        let goes = fits && self.can_spare(cluster, sale, &offer, victim);
        if !goes && !offer.victims.is_empty() && self.goes_alone(cluster, sale, node, victim) {
            return Some(vec![victim.clone()]);
        }
        if !fits {
            sale.refusals.note(Refusal::SuspendedMemory);
        } else if goes {
            sale.spared += 1;
            if victim.how == How::Suspend {
                offer.room_for_suspended_mb -= victim.resource.memory_mb;
            }
            offer.room += victim.resource;
            offer.victims.push(victim.clone());
            let needed = need.fits_in(offer.room).then(|| offer.needed(need));
            if let Some(needed) = needed.filter(|needed| sale.is_enough(needed, self.plan.total)) {
                return Some(needed);
            }
        }
        sale.offers.insert(victim.node, offer);
        None
    }

    /// What the node has for that sale before any victim is offered.
    fn nothing_offered(&self, sale: &Sale, node: &Node) -> Offer {
        let room_mb = room_for_suspended_mb(&self.settings.cluster, node) + sale.returning_mb();
        let offer = Offer::on(node, |app| self.plan.is_before(sale.place, app), room_mb);
        // Who may hold no more must give as much as it gets.
        let room = if sale.wish.from == From::Anybody { offer.room } else { offer.room.at_most(Resource::ZERO) };
        Offer { room, ..offer }
    }

    /// Whether the victim is enough by itself, and could go if no other were offered.
    fn goes_alone(&mut self, cluster: &Cluster, sale: &Sale, node: &Node, victim: &Victim) -> bool {
        let nothing = self.nothing_offered(sale, node);
        sale.wish.need.fits_in(nothing.room + victim.resource)
            && sale.is_enough(std::slice::from_ref(victim), self.plan.total)
            && nothing.keeps_suspended(victim)
            && self.can_spare(cluster, sale, &nothing, victim)
    }

    /// What the job can spare for that sale. In its own queue it gives up what it does not keep to those that come before it, and to
    /// others what is above its target; to those of a higher priority all but its ApplicationMaster. To another queue, which has more to
    /// claim than its own, it gives what it does not keep. Where victims go in another order than that of the plan, only what is above its
    /// target is spared: who lost more would take it back from who comes after it.
    fn spare_for(&self, cluster: &Cluster, sale: &Sale, app: AppId) -> f64 {
        let Some(spare) = self.spare.get(&app) else { return 0.0 };
        let Some(job) = cluster.jobs().get(&app) else { return 0.0 };
        let by_rank = self.rules(cluster, job.queue).victims.is_by_rank();
        match sale.is_of(job.queue) {
            _ if !by_rank => spare.above_target,
            true if job.priority < sale.priority => spare.above_kept_from_higher,
            true if self.plan.rank(app) <= sale.rank => spare.above_target,
            _ => spare.above_kept,
        }
    }

    /// Whether it pays that the job loses a container to that sale (law 24). Neither priorities, guarantees of queues nor the starvation
    /// rule ask for sizes.
    fn pays(&mut self, cluster: &Cluster, sale: &Sale, app: AppId, queue: QueueId, priority: i32) -> bool {
        let rules = self.rules(cluster, queue);
        if !sale.is_of(queue) || priority < sale.priority || rules.preemption_threshold >= 1.0 {
            return true;
        }
        let loser = self.remaining(cluster, app);
        self.remaining(cluster, sale.app).may_take_of(&loser, rules, sale.is_new())
    }

    /// What the job has left.
    fn remaining(&mut self, cluster: &Cluster, app: AppId) -> Remaining {
        let (planner, settings, partition) = (self.planner, self.settings, self.partition);
        *self.remaining.entry(app).or_insert_with(|| planner.remaining(cluster, settings, partition, app))
    }

    /// Whether the victim's job, and its queue against others, can spare it. Targets are fractions and containers are not: the last
    /// container taken may leave its job less than one short, which entitles it to nothing, so nothing flaps. A queue keeps its
    /// whole share against others (law 2); but that each of its jobs has a part of a container too much does not keep from them
    /// what it has too much (law 11).
    ///
    /// Where the order is over all jobs, a job gives to its own queue only what the starvation rule asks of it, up to less
    /// than a container more; and to others also what is below its target, if its queue says so: nobody there takes it back.
    fn can_spare(&mut self, cluster: &Cluster, sale: &Sale, offer: &Offer, victim: &Victim) -> bool {
        let taken = |from: &dyn Fn(&Victim) -> bool| -> f64 {
            offer.victims.iter().filter(|taken| from(taken)).map(|taken| taken.share).sum()
        };
        let of_job = taken(&|other| other.app == victim.app);
        let spare = self.spare_for(cluster, sale, victim.app) - of_job;
        let guest = victim.share == 0.0;
        if sale.is_of(victim.queue) {
            let gives = self.giving.get(&victim.app).copied().unwrap_or(0.0) - of_job;
            let gives_way = victim.of_crowd.is_none() || gives > EPSILON;
            return guest || (spare > EPSILON && gives_way);
        }
        let enough = |spare: f64| spare + EPSILON >= victim.share;
        let preemptable = cluster.queues().get(&victim.queue).is_some_and(|queue| queue.preemptable);
        if guest {
            return preemptable;
        }
        let whatever_its_target = victim.of_crowd == Some(Candidates::NonProduction);
        let queue_spare = self.queue_spare(cluster);
        preemptable
            && (whatever_its_target || spare > EPSILON)
            && sale.apart_from(cluster, victim.queue).all(|queue| {
                let within = |other: &Victim| cluster.lineage(other.queue).any(|above| above == queue);
                enough(queue_spare.get(&queue).copied().unwrap_or(0.0) - taken(&within))
            })
    }

    /// Whether the queue, and all above it that are not the taker's, hold more than they are entitled to.
    fn has_spare(&mut self, cluster: &Cluster, sale: &Sale, queue: QueueId) -> bool {
        let spare = self.queue_spare(cluster);
        sale.apart_from(cluster, queue).all(|queue| spare.get(&queue).is_some_and(|spare| *spare > EPSILON))
    }

    fn queue_spare(&mut self, cluster: &Cluster) -> &mut BTreeMap<QueueId, f64> {
        let (plan, partition) = (self.plan, self.partition);
        self.queue_spare.get_or_insert_with(|| {
            let mut spare: BTreeMap<QueueId, f64> =
                plan.entitled.iter().map(|(queue, share)| (*queue, -share)).collect();
            for (app, job) in cluster.jobs() {
                let held = job.share(plan.total, partition);
                // What runs on though it is parked cannot be taken, and the others do not give for it.
                let held = if job.parked { held.min(plan.target(*app)) } else { held };
                cluster.lineage(job.queue).for_each(|queue| *spare.entry(queue).or_default() += held);
            }
            spare
        })
    }

    fn take(&mut self, cluster: &mut Cluster, sale: &Sale, at_node: NodeId, chosen: Vec<Victim>) {
        let mut ids = Vec::new();
        for victim in chosen {
            self.taken.insert(victim.id);
            if let Some(spare) = self.spare.get_mut(&victim.app) {
                spare.above_target -= victim.share;
                spare.above_kept -= victim.share;
                spare.above_kept_from_higher -= victim.share;
            }
            self.giving.entry(victim.app).and_modify(|gives| *gives -= victim.share);
            if !sale.is_of(victim.queue) {
                let queue_spare = self.queue_spare(cluster);
                for queue in cluster.lineage(victim.queue) {
                    *queue_spare.entry(queue).or_default() -= victim.share;
                }
            }
            ids.push(victim.id);
            match victim.how {
                How::Suspend => cluster.suspend(victim.id, Reason::Preempted { by: sale.app }),
                How::Kill => cluster.kill(victim.id, Cause::Preempted { by: sale.app }),
            }
        }
        cluster.claim(at_node, Claim::new(sale.app, sale.wish.purpose, sale.wish.need, cluster.now(), ids));
    }

    /// What the job can spare; below zero where it holds less than that.
    fn spare_of(&mut self, app: AppId, job: &Job) -> Spare {
        let (plan, partition) = (self.plan, self.partition);
        *self.spare.entry(app).or_insert_with(|| {
            let held = job.share(plan.total, partition);
            let entry = plan.rank(app).and_then(|place| plan.entries.get(place));
            let above = |kept: fn(&Entry) -> f64| held - entry.map_or(0.0, kept);
            Spare {
                above_target: above(|entry| entry.target),
                above_kept: above(|entry| entry.keeps),
                above_kept_from_higher: above(|entry| entry.keeps_from_higher),
            }
        })
    }

    fn order_of(&self, cluster: &Cluster, queue: QueueId) -> &'static dyn VictimOrder {
        victims::order(self.rules(cluster, queue).victims)
    }

    fn rules(&self, cluster: &Cluster, queue: QueueId) -> &'a QueueSettings {
        let of_others = || rules_of(cluster, self.settings, queue);
        self.rules.get(&queue).copied().unwrap_or_else(of_others)
    }
}

/// Whether the victim, and what else is suspended on the node, could not all go on beside the ApplicationMaster that is bought for: nobody
/// takes that one's room before its job ends (law 25).
fn strands(cluster: &Cluster, sale: &Sale, node: &Node, offer: &Offer, victim: &Victim) -> bool {
    let has_none = |app| cluster.jobs().get(&app).is_some_and(|job| !job.asks_for_tasks());
    let coming = node.claims.iter().filter(|claim| claim.purpose == For::Start && has_none(claim.app));
    let masters = coming.fold(node.pinned + sale.wish.need, |sum, claim| sum + claim.resource);
    let suspended = node.suspended.iter().filter_map(|id| cluster.containers().get(id));
    let suspended = suspended.map(|container| container.resource()).chain(offer.suspended());
    let all = suspended.fold(victim.resource, |sum, one| sum + one);
    victim.how == How::Suspend && !all.fits_in(node.total - masters)
}

fn rules_of<'a>(cluster: &Cluster, settings: &'a Settings, queue: QueueId) -> &'a QueueSettings {
    settings.queue(cluster.queues().get(&queue).map_or("", |queue| queue.path.as_str()))
}
