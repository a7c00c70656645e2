//! The purchase of room: whole sets of containers that let one container start, or go on, on one node (law 5).

use super::how::How;
use super::permission::{may_take, room_for_suspended_mb};
use super::victims::{self, Standing, VictimOrder};
use crate::entitlement::EPSILON;
use crate::estimate;
use crate::plan::{Entry, PartitionPlan};
use crate::settings::{QueueSettings, Settings};
use crate::state::{Claim, Cluster, For, Job};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use crate::visits::Visits;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A container that may be taken.
#[derive(Clone, Debug)]
struct Victim {
    id: ContainerId,
    app: AppId,
    queue: QueueId,
    node: NodeId,
    resource: Resource,
    /// Fraction of the partition; nothing for a guest from another one, which lives on what nobody here wanted.
    share: f64,
    how: How,
}

/// What room is bought for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// How much.
    pub need: Resource,
    /// What for.
    pub purpose: For,
}

/// Containers that could be taken, and how much each job can spare. They are looked at only as far as somebody needs them:
/// queue by queue and job by job, from the last in order.
pub(super) struct Market<'a> {
    plan: &'a PartitionPlan,
    partition: PartitionId,
    settings: &'a Settings,
    /// Guests from other partitions, once somebody asked; they hold nothing of this one, and go first.
    guests: Option<Vec<Victim>>,
    /// The queues, last in order first.
    losers: Vec<Loser>,
    taken: BTreeSet<ContainerId>,
    /// What each job holds above its target, after what was taken.
    spare: BTreeMap<AppId, f64>,
    /// What each queue, parents included, holds above its entitlement, once somebody asked.
    queue_spare: Option<BTreeMap<QueueId, f64>>,
    /// What a queue could not get: nobody in it gets as much or more.
    hopeless: Vec<(QueueId, Resource)>,
    visits: Visits,
}

/// A queue whose jobs may lose something.
struct Loser {
    queue: QueueId,
    /// Those of its places in the plan that were not looked at yet.
    unseen: Range<usize>,
    /// Places that are next, the next one last: in a queue whose order is not that of its ranks.
    next: Vec<usize>,
    /// Jobs that were looked at and may still have something to spare, in the order in which they give.
    sellers: Vec<Seller>,
    /// It has nothing to spare for other queues any more.
    closed: bool,
}

/// A job above its target.
struct Seller {
    app: AppId,
    victims: Vec<Victim>,
}

impl<'a> Market<'a> {
    pub(super) fn open(plan: &'a PartitionPlan, partition: PartitionId, settings: &'a Settings) -> Market<'a> {
        let loser = |(queue, places): &(QueueId, Range<usize>)| {
            let (next, sellers) = (Vec::new(), Vec::new());
            Loser { queue: *queue, unseen: places.clone(), next, sellers, closed: false }
        };
        Market {
            plan,
            partition,
            settings,
            guests: None,
            losers: plan.queues.iter().rev().map(loser).collect(),
            taken: BTreeSet::new(),
            spare: BTreeMap::new(),
            queue_spare: None,
            hopeless: Vec::new(),
            visits: Visits::default(),
        }
    }

    /// What was looked at so far.
    pub(super) fn visits(&self) -> Visits {
        self.visits
    }

    /// Nobody sells anything.
    pub(super) fn close(&mut self) {
        self.guests = Some(Vec::new());
        self.losers.clear();
    }

    /// Whether anything was taken.
    pub(super) fn has_sold(&self) -> bool {
        !self.taken.is_empty()
    }

    /// Frees what the job at that place wishes on the first node where the best victims give enough; that node, or `None`.
    pub(super) fn buy(&mut self, cluster: &mut Cluster, place: usize, wish: Wish) -> Option<NodeId> {
        let entry = self.plan.entries.get(place).filter(|entry| !self.is_hopeless(entry, wish.need))?;
        let mut sale = Sale::new(cluster, place, entry, wish);
        let sold = self.buy_from_guests(cluster, &mut sale);
        let sold = sold.or_else(|| (0..self.losers.len()).find_map(|loser| self.buy_from(cluster, &mut sale, loser)));
        // Prices only rise while the plan lasts; but another job may be welcome where this one was refused.
        if sold.is_none() && !sale.refused {
            self.hopeless.push((entry.queue, wish.need));
        }
        sold
    }

    fn buy_from_guests(&mut self, cluster: &mut Cluster, sale: &mut Sale) -> Option<NodeId> {
        let guests = self.guests.take().unwrap_or_else(|| {
            let mut guests: Vec<_> = cluster.guests().flat_map(|job| self.of_job(cluster, job, true)).collect();
            guests.sort_by_key(|(turn, _)| *turn);
            guests.into_iter().map(|(_, victim)| victim).collect()
        });
        let sold = self.buy_among(cluster, sale, &guests);
        self.guests = Some(guests);
        sold
    }

    fn buy_from(&mut self, cluster: &mut Cluster, sale: &mut Sale, loser: usize) -> Option<NodeId> {
        let other_queue = sale.above_taker.first() != Some(&self.losers[loser].queue);
        if other_queue && (self.losers[loser].closed || !self.has_spare(cluster, sale, loser)) {
            return None;
        }
        let spared = sale.spared;
        let mut at = 0;
        loop {
            if at == self.losers[loser].sellers.len() && !self.look_further(cluster, loser) {
                // Nobody there could spare anything for another queue; what they have only gets less.
                self.losers[loser].closed |= other_queue && sale.spared == spared;
                return None;
            }
            let seller = &self.losers[loser].sellers[at];
            let has_spare = self.spare.get(&seller.app).is_some_and(|spare| *spare > EPSILON);
            if !has_spare || seller.victims.iter().all(|victim| self.taken.contains(&victim.id)) {
                self.losers[loser].sellers.remove(at);
                continue;
            }
            let victims = std::mem::take(&mut self.losers[loser].sellers[at].victims);
            let sold = self.buy_among(cluster, sale, &victims);
            self.losers[loser].sellers[at].victims = victims;
            if sold.is_some() {
                return sold;
            }
            at += 1;
        }
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

    /// Whether the queue, and all above it that are not the taker's, hold more than they are entitled to.
    fn has_spare(&mut self, cluster: &Cluster, sale: &Sale, loser: usize) -> bool {
        let queue = self.losers[loser].queue;
        let spare = self.queue_spare(cluster);
        let mut lineage = cluster.lineage(queue).filter(|queue| !sale.above_taker.contains(queue));
        lineage.all(|queue| spare.get(&queue).is_some_and(|spare| *spare > EPSILON))
    }

    /// The same on that node only; whether it could be freed.
    pub(super) fn buy_at(&mut self, cluster: &mut Cluster, place: usize, wish: Wish, home: NodeId) -> bool {
        let entry = self.plan.entries.get(place).filter(|entry| !self.is_hopeless(entry, wish.need));
        let Some(entry) = entry else { return false };
        let victims = self.victims_at(cluster, home);
        self.buy_among(cluster, &mut Sale::new(cluster, place, entry, wish), &victims).is_some()
    }

    fn is_hopeless(&self, entry: &Entry, need: Resource) -> bool {
        self.hopeless.iter().any(|(queue, least)| *queue == entry.queue && least.fits_in(need))
    }

    /// The victim is offered, too; those that go, if they are enough now.
    fn offer(&mut self, cluster: &Cluster, sale: &mut Sale, victim: &Victim) -> Option<Vec<Victim>> {
        self.visits.containers += 1;
        let need = sale.wish.need;
        let node = cluster.nodes().get(&victim.node).filter(|_| !self.taken.contains(&victim.id))?;
        let refused = node.refused.contains(&sale.app);
        sale.refused |= refused;
        if victim.app == sale.app || refused || !need.fits_in(node.total) {
            return None;
        }
        let mut offer = sale.offers.remove(&victim.node).unwrap_or_else(|| {
            // What is collected for those later in order is free to those before them.
            let behind =
                node.claims.iter().filter(|claim| !claim.is_freed() && self.plan.is_before(sale.place, claim.app));
            let behind = behind.fold(Resource::ZERO, |sum, claim| sum + claim.resource);
            let room_for_suspended_mb = room_for_suspended_mb(&self.settings.cluster, node);
            Offer { room: node.coming_beside(behind), victims: Vec::new(), room_for_suspended_mb }
        });
        let fits = victim.how != How::Suspend || victim.resource.memory_mb <= offer.room_for_suspended_mb;
        if fits && self.can_spare(cluster, &offer, victim, &sale.above_taker) {
            sale.spared += 1;
            if victim.how == How::Suspend {
                offer.room_for_suspended_mb -= victim.resource.memory_mb;
            }
            offer.room += victim.resource;
            offer.victims.push(victim.clone());
            if need.fits_in(offer.room) {
                return Some(offer.needed(need));
            }
        }
        sale.offers.insert(victim.node, offer);
        None
    }

    /// Whether the victim's job, and its queue against others, are above what they should hold, and by enough. Targets are
    /// fractions and containers are not: within a queue the last container taken may leave its job less than one short,
    /// which entitles it to nothing, so nothing flaps. Against others a job and a queue keep their whole share (law 2).
    fn can_spare(&mut self, cluster: &Cluster, offer: &Offer, victim: &Victim, above_taker: &[QueueId]) -> bool {
        let taken = |from: &dyn Fn(&Victim) -> bool| -> f64 {
            offer.victims.iter().filter(|taken| from(taken)).map(|taken| taken.share).sum()
        };
        let spare = self.spare.get(&victim.app).copied().unwrap_or(0.0) - taken(&|other| other.app == victim.app);
        let guest = victim.share == 0.0;
        if above_taker.first() == Some(&victim.queue) {
            return guest || spare > EPSILON;
        }
        let enough = |spare: f64| spare + EPSILON >= victim.share;
        let preemptable = cluster.queues().get(&victim.queue).is_some_and(|queue| queue.preemptable);
        if guest {
            return preemptable;
        }
        let queue_spare = self.queue_spare(cluster);
        preemptable
            && enough(spare)
            && cluster.lineage(victim.queue).filter(|queue| !above_taker.contains(queue)).all(|queue| {
                let within = |other: &Victim| cluster.lineage(other.queue).any(|above| above == queue);
                enough(queue_spare.get(&queue).copied().unwrap_or(0.0) - taken(&within))
            })
    }

    fn queue_spare(&mut self, cluster: &Cluster) -> &mut BTreeMap<QueueId, f64> {
        let (plan, partition) = (self.plan, self.partition);
        self.queue_spare.get_or_insert_with(|| {
            let mut spare: BTreeMap<QueueId, f64> =
                plan.entitled.iter().map(|(queue, share)| (*queue, -share)).collect();
            for job in cluster.jobs().values() {
                let held = job.share(plan.total, partition);
                cluster.lineage(job.queue).for_each(|queue| *spare.entry(queue).or_default() += held);
            }
            spare
        })
    }

    fn take(&mut self, cluster: &mut Cluster, sale: &Sale, at_node: NodeId, chosen: Vec<Victim>) {
        let mut ids = Vec::new();
        for victim in chosen {
            self.taken.insert(victim.id);
            *self.spare.entry(victim.app).or_default() -= victim.share;
            if Some(&victim.queue) != sale.above_taker.first() {
                let queue_spare = self.queue_spare(cluster);
                for queue in cluster.lineage(victim.queue) {
                    *queue_spare.entry(queue).or_default() -= victim.share;
                }
            }
            ids.push(victim.id);
            match victim.how {
                How::Suspend => cluster.suspend(victim.id),
                How::Kill => cluster.kill(victim.id),
            }
        }
        cluster.claim(at_node, Claim::new(sale.app, sale.wish.purpose, sale.wish.need, cluster.now(), ids));
    }

    /// Looks at the containers of the queue's next job that has any to spare; false if there is none left.
    fn look_further(&mut self, cluster: &Cluster, loser: usize) -> bool {
        while let Some(place) = self.next_seller(cluster, loser) {
            let entry = &self.plan.entries[place];
            let Some(job) = cluster.jobs().get(&entry.app) else { continue };
            if self.can_sell(entry, job) {
                self.visits.containers += job.containers.len() as u64;
                let mut own: Vec<_> = self.of_job(cluster, job, false).collect();
                own.sort_by_key(|(turn, _)| *turn);
                let victims = own.into_iter().map(|(_, victim)| victim).collect();
                self.losers[loser].sellers.push(Seller { app: entry.app, victims });
                return true;
            }
        }
        false
    }

    /// Whether the job holds more than its target.
    fn can_sell(&mut self, entry: &Entry, job: &Job) -> bool {
        let above = job.share(self.plan.total, self.partition) - entry.target;
        if above > EPSILON {
            self.spare.entry(entry.app).or_insert(above);
        }
        above > EPSILON
    }

    /// The last place of the queue's next job that gives.
    fn next_seller(&mut self, cluster: &Cluster, at: usize) -> Option<usize> {
        let loser = &self.losers[at];
        if loser.next.is_empty() && !loser.unseen.is_empty() {
            let is_last = |place: &usize| self.plan.is_last(*place);
            let unseen = loser.unseen.clone();
            let (next, seen) = if self.order_of(cluster, loser.queue).most_left_first() {
                let of_queue = unseen.clone().filter(is_last);
                let mut sellers: Vec<_> = of_queue.map(|place| (self.left_to_do(cluster, place), place)).collect();
                sellers.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                (sellers.into_iter().map(|(_, place)| place).collect(), unseen.start)
            } else {
                let next = unseen.clone().rev().find(is_last);
                (next.into_iter().collect(), next.unwrap_or(unseen.start))
            };
            let loser = &mut self.losers[at];
            (loser.next, loser.unseen) = (next, unseen.start..seen);
        }
        self.losers[at].next.pop()
    }

    fn order_of(&self, cluster: &Cluster, queue: QueueId) -> &'static dyn VictimOrder {
        victims::order(self.rules(cluster, queue).victims)
    }

    fn rules(&self, cluster: &Cluster, queue: QueueId) -> &'a QueueSettings {
        self.settings.queue(cluster.queues().get(&queue).map_or("", |queue| queue.path.as_str()))
    }

    fn left_to_do(&self, cluster: &Cluster, place: usize) -> f64 {
        let entry = &self.plan.entries[place];
        let default_task = self.rules(cluster, entry.queue).default_task;
        let left = |job: &Job| estimate::remaining_seconds(job, default_task, self.plan.total);
        cluster.jobs().get(&entry.app).map_or(0.0, left)
    }

    /// What may be taken on one node, in the order in which it goes.
    fn victims_at(&mut self, cluster: &Cluster, home: NodeId) -> Vec<Victim> {
        let mut apps: Vec<AppId> = cluster.on_node(home).map(|(_, container)| container.app).collect();
        apps.sort_unstable();
        apps.dedup();
        let mut guests = Vec::new();
        let mut sellers = Vec::new();
        for app in apps {
            let Some(job) = cluster.jobs().get(&app) else { continue };
            guests.extend(self.of_job(cluster, job, true).filter(|(_, victim)| victim.node == home));
            if let Some(place) = self.plan.rank(app).filter(|place| self.can_sell(&self.plan.entries[*place], job)) {
                sellers.push((place, job));
            }
        }
        guests.sort_by_key(|(turn, _)| *turn);
        sellers.sort_by(|(a, _), (b, _)| {
            let (of_a, of_b) = (self.plan.entries[*a].queue, self.plan.entries[*b].queue);
            let by_rank = b.cmp(a);
            if of_a == of_b && self.order_of(cluster, of_a).most_left_first() {
                return self.left_to_do(cluster, *b).total_cmp(&self.left_to_do(cluster, *a)).then(by_rank);
            }
            by_rank
        });
        let mut victims: Vec<Victim> = guests.into_iter().map(|(_, victim)| victim).collect();
        for (_, job) in sellers {
            let mut own: Vec<_> = self.of_job(cluster, job, false).filter(|(_, victim)| victim.node == home).collect();
            own.sort_by_key(|(turn, _)| *turn);
            victims.extend(own.into_iter().map(|(_, victim)| victim));
        }
        victims
    }

    /// Those of the job's containers on live nodes of the partition that may be taken; guests there, if those are meant.
    fn of_job<'b>(
        &'b self,
        cluster: &'b Cluster,
        job: &'b Job,
        guests: bool,
    ) -> impl Iterator<Item = (Turn, Victim)> + use<'a, 'b> {
        let queue = self.rules(cluster, job.queue);
        let order = victims::order(queue.victims);
        let containers = job.containers.iter().filter_map(|id| Some((*id, cluster.containers().get(id)?)));
        containers.filter_map(move |(id, container)| {
            if (container.phase.partition != self.partition) != guests {
                return None;
            }
            let (how, left) = may_take(cluster, self.settings, queue, job, (id, container), self.partition)?;
            let (app, queue, node, resource) = (container.app, job.queue, container.node, container.resource());
            let share = if guests { 0.0 } else { resource.dominant_share(self.plan.total) };
            let by_rule = order.turn(Standing { memory_mb: resource.memory_mb, left });
            let turn = (job.is_first_task(id, container.phase), by_rule, Reverse((container.allocated, id)));
            Some((turn, Victim { id, app, queue, node, resource, share, how }))
        })
    }
}

/// Who buys, and what each node could free so far.
struct Sale {
    app: AppId,
    place: usize,
    wish: Wish,
    /// The taker's queue and all above it.
    above_taker: Vec<QueueId>,
    offers: BTreeMap<NodeId, Offer>,
    /// Whether there is a node with victims where the taker was refused.
    refused: bool,
    /// How many victims could be spared, whether or not they are enough.
    spared: u32,
}

impl Sale {
    fn new(cluster: &Cluster, place: usize, entry: &Entry, wish: Wish) -> Sale {
        let above_taker = cluster.lineage(entry.queue).collect();
        Sale { app: entry.app, place, wish, above_taker, offers: BTreeMap::new(), refused: false, spared: 0 }
    }
}

/// What one node could free.
struct Offer {
    room: Resource,
    victims: Vec<Victim>,
    room_for_suspended_mb: i64,
}

impl Offer {
    /// The victims without those that a larger, later one made superfluous; the best placed jobs are spared first.
    fn needed(self, need: Resource) -> Vec<Victim> {
        let mut room = self.room;
        let mut needed = self.victims;
        needed.reverse();
        needed.retain(|victim| {
            let without = room - victim.resource;
            let superfluous = need.fits_in(without);
            room = if superfluous { without } else { room };
            !superfluous
        });
        needed
    }
}

/// In what order containers of one job go: first tasks last, then by the queue's rule, youngest first.
type Turn = (bool, i64, Reverse<(Millis, ContainerId)>);
