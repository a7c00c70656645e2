//! Who could be taken from, and the purchase of room from them.

use crate::decision::Decision;
use crate::entitlement::EPSILON;
use crate::plan::{Entry, PartitionPlan};
use crate::settings::{ClusterSettings, Mode, Primitive, QueueSettings, Settings};
use crate::state::{Claim, Cluster, Container, For, Job, Node, State};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How a container gives up its room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Suspend,
    Kill,
}

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
    /// Somebody took it already.
    taken: bool,
}

/// Containers that could be taken, lowest-ranked job first and youngest first, and how much each job can spare.
pub(super) struct Market<'a> {
    victims: Vec<Victim>,
    spare: BTreeMap<AppId, f64>,
    /// What each queue, parents included, holds above its entitlement.
    queue_spare: BTreeMap<QueueId, f64>,
    /// What a queue could not get: nobody in it gets as much or more.
    hopeless: Vec<(QueueId, Resource)>,
    settings: &'a ClusterSettings,
}

impl<'a> Market<'a> {
    pub(super) fn open(
        cluster: &Cluster,
        plan: &PartitionPlan,
        partition: PartitionId,
        settings: &'a Settings,
    ) -> Market<'a> {
        let mut queue_spare: BTreeMap<QueueId, f64> =
            plan.entitled.iter().map(|(queue, share)| (*queue, -share)).collect();
        let (mut victims, mut spare) = (Vec::new(), BTreeMap::new());
        // Guests hold nothing of this partition, and go first.
        for job in cluster.jobs.values() {
            let held = job.share(plan.total, partition);
            cluster.lineage(job.queue).for_each(|queue| *queue_spare.entry(queue).or_default() += held);
            if job.phases.iter().any(|(key, phase)| phase.borrowed > 0 && key.partition != partition) {
                victims.extend(of_job(cluster, settings, job, partition, Resource::ZERO));
            }
        }
        in_order(&mut victims);
        for (_, entry) in plan.entries.iter().enumerate().rev().filter(|(place, _)| plan.is_last(*place)) {
            let Some(job) = cluster.jobs.get(&entry.app) else { continue };
            let above = job.share(plan.total, partition) - entry.target;
            if above > EPSILON {
                spare.insert(entry.app, above);
                let mut own = of_job(cluster, settings, job, partition, plan.total);
                in_order(&mut own);
                victims.extend(own);
            }
        }
        let victims = victims.into_iter().map(|(_, victim)| victim).collect();
        Market { victims, spare, queue_spare, hopeless: Vec::new(), settings: &settings.cluster }
    }

    /// Frees `need` for the entry's job on the first node where the best victims give enough; that node, or `None`.
    pub(super) fn buy(&mut self, cluster: &mut Cluster, entry: &Entry, need: Resource) -> Option<NodeId> {
        if self.hopeless.iter().any(|(queue, least)| *queue == entry.queue && least.fits_in(need)) {
            return None;
        }
        let above_taker: Vec<QueueId> = cluster.lineage(entry.queue).collect();
        let mut offers: BTreeMap<NodeId, Offer> = BTreeMap::new();
        let mut refused = false;
        for (at, victim) in self.victims.iter().enumerate().filter(|(_, victim)| !victim.taken) {
            let Some(node) = cluster.nodes.get(&victim.node) else { continue };
            refused |= node.refused.contains(&entry.app);
            if victim.app == entry.app || node.refused.contains(&entry.app) || !need.fits_in(node.total) {
                continue;
            }
            let offer = offers
                .entry(victim.node)
                .or_insert_with(|| Offer::on(node, room_for_suspended_mb(self.settings, node)));
            if !self.can_spare(cluster, offer, victim, &above_taker) {
                continue;
            }
            if victim.how == How::Suspend {
                if victim.resource.memory_mb > offer.room_for_suspended_mb {
                    continue;
                }
                offer.room_for_suspended_mb -= victim.resource.memory_mb;
            }
            offer.room += victim.resource;
            offer.victims.push(at);
            if need.fits_in(offer.room) {
                let (node, chosen) = (victim.node, offer.needed(&self.victims, need));
                self.take(cluster, entry, need, node, chosen);
                return Some(node);
            }
        }
        // Prices only rise while the plan lasts; but another job may be welcome where this one was refused.
        if !refused {
            self.hopeless.push((entry.queue, need));
        }
        None
    }

    /// Whether the victim's job, and its queue against others, are above what they should hold, and by enough. Targets are
    /// fractions and containers are not: within a queue the last container taken may leave its job less than one short,
    /// which entitles it to nothing, so nothing flaps. Against others a job and a queue keep their whole share (law 2).
    fn can_spare(&self, cluster: &Cluster, offer: &Offer, victim: &Victim, above_taker: &[QueueId]) -> bool {
        let taken = |from: &dyn Fn(&Victim) -> bool| -> f64 {
            offer.victims.iter().map(|at| &self.victims[*at]).filter(|taken| from(taken)).map(|taken| taken.share).sum()
        };
        let spare = self.spare.get(&victim.app).copied().unwrap_or(0.0) - taken(&|other| other.app == victim.app);
        let guest = victim.share == 0.0;
        if above_taker.first() == Some(&victim.queue) {
            return guest || spare > EPSILON;
        }
        let enough = |spare: f64| spare + EPSILON >= victim.share;
        let preemptable = cluster.queues.get(&victim.queue).is_some_and(|queue| queue.preemptable);
        if guest {
            return preemptable;
        }
        preemptable
            && enough(spare)
            && cluster.lineage(victim.queue).filter(|queue| !above_taker.contains(queue)).all(|queue| {
                let within = |other: &Victim| cluster.lineage(other.queue).any(|above| above == queue);
                enough(self.queue_spare.get(&queue).copied().unwrap_or(0.0) - taken(&within))
            })
    }

    fn take(&mut self, cluster: &mut Cluster, entry: &Entry, need: Resource, at_node: NodeId, chosen: Vec<usize>) {
        let mut ids = Vec::new();
        for at in chosen {
            let victim = &mut self.victims[at];
            victim.taken = true;
            *self.spare.entry(victim.app).or_default() -= victim.share;
            for queue in cluster.lineage(victim.queue).filter(|_| victim.queue != entry.queue) {
                *self.queue_spare.entry(queue).or_default() -= victim.share;
            }
            ids.push(victim.id);
            cluster.propose(match victim.how {
                How::Suspend => Decision::Suspend { container: victim.id },
                How::Kill => Decision::Kill { container: victim.id },
            });
        }
        let made = cluster.now;
        if let Some(node) = cluster.nodes.get_mut(&at_node) {
            node.claims.push(Claim::new(entry.app, For::Start, need, made, ids));
        }
    }
}

/// What one node could free.
struct Offer {
    room: Resource,
    victims: Vec<usize>,
    room_for_suspended_mb: i64,
}

impl Offer {
    fn on(node: &Node, room_for_suspended_mb: i64) -> Offer {
        // What settles or leaves is on its way to somebody, and what was freed for somebody is promised. Other claims wait
        // for room to come by itself: it is not free, but nobody has to go for it.
        let free = node.usable() + node.settling + node.leaving - node.freed_in_all();
        let waiting = node.claimed_in_all() - node.freed_in_all();
        let room = free.at_most((free - waiting).at_least_nothing());
        Offer { room, victims: Vec::new(), room_for_suspended_mb }
    }

    /// The victims without those that a larger, later one made superfluous; the best placed jobs are spared first.
    fn needed(&self, victims: &[Victim], need: Resource) -> Vec<usize> {
        let mut room = self.room;
        let mut needed = self.victims.clone();
        needed.reverse();
        needed.retain(|at| {
            let without = room - victims[*at].resource;
            let superfluous = need.fits_in(without);
            room = if superfluous { without } else { room };
            !superfluous
        });
        needed
    }
}

/// In what order containers of one job go: first tasks last, youngest first.
type Age = (bool, Millis, ContainerId);

fn in_order(victims: &mut [(Age, Victim)]) {
    victims.sort_unstable_by_key(|(age, _)| Reverse(*age));
}

/// Those of the job's containers on live nodes of the partition that may be taken; guests there, if they hold nothing of
/// `total`.
fn of_job(
    cluster: &Cluster,
    settings: &Settings,
    job: &Job,
    partition: PartitionId,
    total: Resource,
) -> Vec<(Age, Victim)> {
    let Some(queue) = cluster.queues.get(&job.queue).map(|queue| settings.queue(&queue.path)) else {
        return Vec::new();
    };
    let guests = total == Resource::ZERO;
    let containers = job.containers.iter().filter_map(|id| Some((*id, cluster.containers.get(id)?)));
    containers
        .filter(|(_, container)| (container.phase.partition != partition) == guests)
        .filter(|(_, container)| may_go(cluster.now, queue, container))
        .filter_map(|(id, container)| {
            let node = cluster.nodes.get(&container.node)?;
            if node.partition != partition || !node.is_live(cluster.now) {
                return None;
            }
            let how = how(&settings.cluster, queue, container, node)?;
            let (resource, share) = (container.resource(), container.resource().dominant_share(total));
            let (app, queue, node) = (container.app, job.queue, container.node);
            let age = (!job.is_first_task(id, container.phase), container.allocated, id);
            Some((age, Victim { id, app, queue, node, resource, share, how, taken: false }))
        })
        .collect()
}

/// The guards of one container: may it go now?
fn may_go(now: Millis, queue: &QueueSettings, container: &Container) -> bool {
    let long_enough = if container.suspensions == 0 { queue.min_run } else { queue.min_resumed };
    container.state == State::Running
        && !container.is_master
        && !container.proposed
        && container.barred_until <= now
        && container.running_for(now).is_some_and(|ran| ran >= long_enough)
}

/// How it may go from that node, if it may.
fn how(cluster: &ClusterSettings, queue: &QueueSettings, container: &Container, node: &Node) -> Option<How> {
    let may_suspend = cluster.mode >= Mode::Suspend
        && queue.preemption >= Primitive::Suspend
        && node.can_suspend
        && container.suspensions < queue.max_suspensions
        && container.resource().memory_mb <= room_for_suspended_mb(cluster, node);
    let may_kill = cluster.mode == Mode::Kill && queue.preemption == Primitive::Kill;
    if may_suspend {
        Some(How::Suspend)
    } else if may_kill && !node.can_suspend {
        Some(How::Kill)
    } else {
        None
    }
}

/// Memory that may still be suspended on the node, in MiB, after what this step proposes.
pub fn room_for_suspended_mb(cluster: &ClusterSettings, node: &Node) -> i64 {
    let most = (node.total.memory_mb as f64 * cluster.max_suspended_memory) as i64;
    most - node.suspended_memory_mb - node.leaving.memory_mb
}
