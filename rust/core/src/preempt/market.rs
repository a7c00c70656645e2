//! Who could be taken from, and the purchase of room from them.

use super::how::{how, Candidate, How};
use crate::decision::Decision;
use crate::entitlement::EPSILON;
use crate::estimate;
use crate::plan::{Entry, PartitionPlan};
use crate::settings::{ClusterSettings, Settings, Victims};
use crate::state::{Claim, Cluster, Container, For, Job, Node, State};
use crate::units::{AppId, ContainerId, Millis, NodeId, PartitionId, QueueId, Resource};
use std::cmp::Reverse;
use std::collections::BTreeMap;

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

/// What room is bought for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// How much.
    pub need: Resource,
    /// What for.
    pub purpose: For,
    /// The only node that will do, if only one will.
    pub home: Option<NodeId>,
}

/// Containers that could be taken, in the order in which they go, and how much each job can spare.
pub(super) struct Market<'a> {
    victims: Vec<Victim>,
    /// Places in `victims` by node.
    by_node: BTreeMap<NodeId, Vec<usize>>,
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
        victims.sort_by_key(|(turn, _)| *turn);
        for (entry, job) in lowest_first(cluster, plan, settings) {
            let above = job.share(plan.total, partition) - entry.target;
            if above > EPSILON {
                spare.insert(entry.app, above);
                let mut own = of_job(cluster, settings, job, partition, plan.total);
                own.sort_by_key(|(turn, _)| *turn);
                victims.extend(own);
            }
        }
        let victims: Vec<Victim> = victims.into_iter().map(|(_, victim)| victim).collect();
        let mut by_node: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (at, victim) in victims.iter().enumerate() {
            by_node.entry(victim.node).or_default().push(at);
        }
        Market { victims, by_node, spare, queue_spare, hopeless: Vec::new(), settings: &settings.cluster }
    }

    /// Frees what the entry's job wishes on the first node where the best victims give enough; that node, or `None`.
    pub(super) fn buy(&mut self, cluster: &mut Cluster, entry: &Entry, wish: Wish) -> Option<NodeId> {
        let Wish { need, home, .. } = wish;
        if self.hopeless.iter().any(|(queue, least)| *queue == entry.queue && least.fits_in(need)) {
            return None;
        }
        let above_taker: Vec<QueueId> = cluster.lineage(entry.queue).collect();
        let mut offers: BTreeMap<NodeId, Offer> = BTreeMap::new();
        let mut refused = false;
        let places: Box<dyn Iterator<Item = usize>> = match home {
            Some(home) => Box::new(self.by_node.get(&home).cloned().unwrap_or_default().into_iter()),
            None => Box::new(0..self.victims.len()),
        };
        for at in places {
            let Some(victim) = self.victims.get(at).filter(|victim| !victim.taken) else { continue };
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
                self.take(cluster, entry, wish, node, chosen);
                return Some(node);
            }
        }
        // Prices only rise while the plan lasts; but another job may be welcome where this one was refused.
        if !refused && home.is_none() {
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

    fn take(&mut self, cluster: &mut Cluster, entry: &Entry, wish: Wish, at_node: NodeId, chosen: Vec<usize>) {
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
            node.claims.push(Claim::new(entry.app, wish.purpose, wish.need, made, ids));
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

/// The jobs from the last in order to the first; those of a queue that wants it by what they have left to do, most first.
fn lowest_first<'a>(cluster: &'a Cluster, plan: &'a PartitionPlan, settings: &Settings) -> Vec<(&'a Entry, &'a Job)> {
    let last = plan.entries.iter().enumerate().rev().filter(|(place, _)| plan.is_last(*place));
    let mut jobs: Vec<_> = last.filter_map(|(_, entry)| Some((entry, cluster.jobs.get(&entry.app)?))).collect();
    for of_queue in jobs.chunk_by_mut(|(a, _), (b, _)| a.queue == b.queue) {
        let path = of_queue.first().and_then(|(entry, _)| cluster.queues.get(&entry.queue)).map(|queue| &queue.path);
        let rules = settings.queue(path.map_or("", String::as_str));
        if rules.victims == Victims::LargestJob {
            let left = |job: &Job| estimate::remaining_seconds(job, rules.default_task, plan.total);
            of_queue.sort_by(|(_, a), (_, b)| left(b).total_cmp(&left(a)));
        }
    }
    jobs
}

/// In what order containers of one job go: first tasks last, then by the queue's rule, youngest first.
type Turn = (bool, i64, Reverse<(Millis, ContainerId)>);

/// Those of the job's containers on live nodes of the partition that may be taken; guests there, if they hold nothing of
/// `total`.
fn of_job(
    cluster: &Cluster,
    settings: &Settings,
    job: &Job,
    partition: PartitionId,
    total: Resource,
) -> Vec<(Turn, Victim)> {
    let Some(queue) = cluster.queues.get(&job.queue).map(|queue| settings.queue(&queue.path)) else {
        return Vec::new();
    };
    let guests = total == Resource::ZERO;
    let containers = job.containers.iter().filter_map(|id| Some((*id, cluster.containers.get(id)?)));
    containers
        .filter(|(_, container)| (container.phase.partition != partition) == guests)
        // What is parked is suspended anyway, or runs on where that is impossible; nobody takes it.
        .filter(|(_, container)| may_go(cluster.now, container) && !job.has_parked(container))
        .filter_map(|(id, container)| {
            let node = cluster.nodes.get(&container.node)?;
            if node.partition != partition || !node.is_live(cluster.now) {
                return None;
            }
            let (resource, ran) = (container.resource(), container.run_time(cluster.now));
            let done = job.progress_of(id, container.phase);
            let phase = job.phases.get(&container.phase)?;
            let worked = job.worked(id, container, cluster.now);
            let left = estimate::task_left(phase, worked, done, queue.default_task);
            let candidate = Candidate {
                mode: settings.cluster.mode,
                ran,
                running_for: container.running_for(cluster.now)?,
                left,
                suspensions: container.suspensions,
                kill_rounds: phase.kill_rounds(container),
                node_can_suspend: node.can_suspend,
                memory_fits: resource.memory_mb <= room_for_suspended_mb(&settings.cluster, node),
            };
            let how = how(queue, &candidate)?;
            let by_rule = match queue.victims {
                Victims::Youngest | Victims::LargestJob => 0,
                Victims::SmallestMemory => resource.memory_mb,
                Victims::NearestToCompletion => left.0 as i64,
            };
            let turn = (job.is_first_task(id, container.phase), by_rule, Reverse((container.allocated, id)));
            let (app, queue, node, share) = (container.app, job.queue, container.node, resource.dominant_share(total));
            Some((turn, Victim { id, app, queue, node, resource, share, how, taken: false }))
        })
        .collect()
}

/// Whether the container may go at all now.
fn may_go(now: Millis, container: &Container) -> bool {
    container.state == State::Running && !container.is_master && !container.proposed && container.barred_until <= now
}

/// Memory that may still be suspended on the node, in MiB, after what this step proposes.
pub fn room_for_suspended_mb(cluster: &ClusterSettings, node: &Node) -> i64 {
    node.most_suspended_mb(cluster.max_suspended_memory) - node.suspended_memory_mb - node.leaving.memory_mb
}
