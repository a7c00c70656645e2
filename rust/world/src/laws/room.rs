//! Law 18: room is freed for whoever is below its target and finds none, where later jobs hold what would do. Law 25: for an
//! ApplicationMaster it is freed where what is suspended can go on beside it, if there is such a node. A plain search, by the node, for
//! containers that may surely go: no guard protects them, and what else may forbid it is left out of account.

use super::lasting::Lasting;
use super::preempts_within_queue;
use super::takings::Taking;
use crate::world::World;
use hiatus_core::entitlement::EPSILON;
use hiatus_core::fact::{PhaseKey, Places};
use hiatus_core::plan::{PartitionPlan, Planner};
use hiatus_core::settings::{Mode, Primitive, Settings};
use hiatus_core::state::{Claim, Cluster, Container, For, Job, Node, State};
use hiatus_core::units::{AppId, Millis, NodeId, PartitionId, QueueId, Resource};

/// For so long, and two heartbeats in which what was taken settles, a job may lack room that could be made for it: plans are a second
/// apart at most, and a refused job backs off a while.
const LATE: Millis = Millis(8_000);

/// Who has been short of what, and since when, though room could be made.
#[derive(Debug, Default)]
pub(super) struct Shortages(Lasting<(PartitionId, AppId, Resource)>);

impl Shortages {
    /// Looks who is short now.
    ///
    /// # Panics
    /// If one has been for too long.
    pub(super) fn look(&mut self, world: &World, settings: &Settings) {
        let cluster = world.core.cluster();
        for (partition, plan) in world.core.planner().all() {
            let search = Search { cluster, planner: world.core.planner(), plan, partition, settings };
            for (place, entry) in plan.entries.iter().enumerate().filter(|(place, _)| plan.is_last_entry(*place)) {
                let Some(job) = cluster.jobs().get(&entry.app) else { continue };
                let Some(key) = search.short_of(place, entry.app, job) else { continue };
                if let Some(victims) = search.could_be_freed(place, entry.app, job, &key) {
                    let who = (partition, entry.app, key.resource);
                    let spent = cluster.now().since(self.0.since(who, cluster.now()));
                    assert!(
                        spent <= world.heartbeat + world.heartbeat + LATE,
                        "law 18: {} is short of {key:?} for {spent:?} until {:?}, though {victims} could go; target {}, held {}; {:?}",
                        job.name,
                        cluster.now(),
                        entry.target,
                        job.share(plan.total, partition),
                        world.core.no_victim_reason(entry.app, partition)
                    );
                }
            }
        }
        self.0.looked();
    }
}

/// Law 25, where room was freed for one container only.
pub(super) fn masters_strand_nothing(world: &World, settings: &Settings, takings: &[Taking]) {
    let Some(Taking { claim, container, .. }) = takings.first() else { return };
    let cluster = world.core.cluster();
    let (node, job) = (&cluster.nodes()[&container.node], &cluster.jobs()[&claim.app]);
    let planner = world.core.planner();
    let (partition, Some(plan)) = (node.partition, planner.of(node.partition)) else { return };
    let all_for_it = takings.iter().all(|other| std::ptr::eq(other.claim, *claim));
    if job.asks_for_tasks() || claim.purpose != For::Start || !all_for_it {
        return;
    }
    let search = Search { cluster, planner, plan, partition, settings };
    let goes: Vec<_> = takings.iter().filter(|taking| !taking.killed).map(|taking| taking.container).collect();
    if goes.is_empty() || search.go_on_beside(node, Resource::ZERO, &goes) {
        return;
    }
    let (Some(place), Some(key)) = (plan.last_entry(claim.app), search.asks_first(job)) else { return };
    if search.is_bound(job) || job.phases[&key].places != Places::Anywhere {
        return;
    }
    let freed = |node| Some((node, search.could_be_freed_on(node, place, job, &key)?));
    let spares = |(node, gone): &(&Node, Vec<&Container>)| search.go_on_beside(node, claim.resource, gone);
    let found = search.quiet(claim.app).filter_map(freed).find(spares);
    assert!(found.is_none(), "law 25: {claim:?} leaves no room to {goes:?}, and {found:?} would");
}

struct Search<'a> {
    cluster: &'a Cluster,
    planner: &'a Planner,
    plan: &'a PartitionPlan,
    partition: PartitionId,
    settings: &'a Settings,
}

impl Search<'_> {
    /// What the job asks for first, if it lacks that within its target, and nothing is free or kept for it anywhere.
    fn short_of(&self, place: usize, app: AppId, job: &Job) -> Option<PhaseKey> {
        let has_room = |node: &Node, claim: &Claim| claim.is_freed() || claim.resource.fits_in(node.usable());
        let of_job = |node: &Node| node.claims.iter().any(|claim| claim.app == app && has_room(node, claim));
        let claims = self.cluster.claimed().any(|(_, node)| of_job(node));
        let waits = !job.may_start() || job.backs_off || job.barred_until > self.cluster.now();
        // What is suspended goes on first, at home only, and takes the target before anything new does.
        if claims || self.is_bound(job) || waits || !job.suspended.is_empty() {
            return None;
        }
        let entry = &self.plan.entries[place];
        let missing = entry.target - entry.ahead - job.share(self.plan.total, self.partition);
        let lacks = |key: &PhaseKey| {
            let judged = job.phases[key].places != Places::Unjudged;
            judged && missing + EPSILON >= key.resource.dominant_share(self.plan.total) && !self.is_free(app, key)
        };
        self.asks_first(job).filter(lacks)
    }

    /// YARN serves an application's kinds in their order, and so is room made for them.
    fn asks_first(&self, job: &Job) -> Option<PhaseKey> {
        job.asks(self.partition).map(|(key, _)| key).next()
    }

    /// Whether its user or its site may keep it from room.
    fn is_bound(&self, job: &Job) -> bool {
        self.plan.limit_of(job.queue_user()).is_some() || job.site.verdict.is_some() || job.site.sample.is_some()
    }

    /// Whether those, and what else is suspended on the node, could all go on beside its ApplicationMasters, those to come and one more.
    fn go_on_beside(&self, node: &Node, master: Resource, gone: &[&Container]) -> bool {
        let has_none = |app: AppId| self.cluster.jobs().get(&app).is_some_and(|job| !job.asks_for_tasks());
        let coming = node.claims.iter().filter(|claim| claim.purpose == For::Start && has_none(claim.app));
        let masters = coming.fold(node.masters + master, |sum, claim| sum + claim.resource);
        let suspended = node.suspended.iter().map(|id| &self.cluster.containers()[id]).chain(gone.iter().copied());
        let all = suspended.fold(Resource::ZERO, |sum, container| sum + container.resource());
        all.fits_in(node.total - masters)
    }

    /// Whether any node has room for it.
    fn is_free(&self, app: AppId, key: &PhaseKey) -> bool {
        let free = |node: &Node| key.resource.fits_in(node.usable() - node.kept_in_all());
        self.nodes(app).any(free)
    }

    fn nodes(&self, app: AppId) -> impl Iterator<Item = &Node> {
        let now = self.cluster.now();
        let here = move |(id, node): &(&NodeId, &Node)| {
            let open = node.is_live(now) && !node.decommissioning && !self.cluster.is_refused(app, **id);
            open && node.partition == self.partition
        };
        self.cluster.nodes().iter().filter(here).map(|(_, node)| node)
    }

    /// How many containers that may surely go would leave room for it on one node.
    fn could_be_freed(&self, place: usize, app: AppId, job: &Job, key: &PhaseKey) -> Option<usize> {
        let found = self.quiet(app).find_map(|node| self.could_be_freed_on(node, place, job, key));
        found.map(|gone| gone.len())
    }

    /// Nodes where nothing is on its way.
    fn quiet(&self, app: AppId) -> impl Iterator<Item = &Node> {
        self.nodes(app).filter(|node| {
            let settles =
                node.settling != Resource::ZERO || node.leaving != Resource::ZERO || node.proposed != Resource::ZERO;
            node.can_suspend && node.claims.is_empty() && node.loans.is_empty() && !settles
        })
    }

    fn could_be_freed_on(&self, node: &Node, place: usize, job: &Job, key: &PhaseKey) -> Option<Vec<&Container>> {
        let on_node = node.containers.iter().filter_map(|id| Some((*id, self.cluster.containers().get(id)?)));
        let mut victims: Vec<_> = on_node
            .filter_map(|(id, container)| {
                Some((self.plan.last_entry(container.app)?, container.allocated, id, container))
            })
            .filter(|(rank, _, _, container)| {
                self.may_surely_go(container) && self.gives_way(*rank, container, place, job)
            })
            .collect();
        victims.sort_by_key(|(rank, allocated, id, _)| (*rank, *allocated, *id));
        let (mut room, mut gone) = (node.usable(), Vec::<&Container>::new());
        let most = self.settings.cluster.max_suspended_memory;
        let mut memory_mb = node.most_suspended_mb(most) - node.suspended_memory_mb;
        while let Some((_, _, _, container)) = victims.pop() {
            if container.resource().memory_mb <= memory_mb && self.can_spare(container, &gone, job) {
                memory_mb -= container.resource().memory_mb;
                room += container.resource();
                gone.push(container);
                if key.resource.fits_in(room) {
                    return Some(gone);
                }
            }
        }
        None
    }

    /// No guard protects it: what was killed often is spared for longer and longer, and left out.
    fn may_surely_go(&self, container: &Container) -> bool {
        let (now, path) = (self.cluster.now(), self.cluster.queue_path(container.app));
        let queue = self.settings.queue(path);
        let ran = container.running_for(now).unwrap_or_default();
        let parked = self.cluster.is_parked(container);
        let Some(job) = self.cluster.jobs().get(&container.app) else { return false };
        let phase = job.phases.get(&container.phase);
        let killed = phase.is_some_and(|phase| phase.kill_rounds(container) > 0);
        let stays = container.is_master || container.proposed || container.lender.is_some() || parked;
        container.state == State::Running
            && !stays
            && queue.victims.is_by_rank()
            && !killed
            && container.barred_until <= now
            && container.phase.partition == self.partition
            && self.settings.cluster.mode >= Mode::Suspend
            && job.may_be_suspended(queue)
            && matches!(queue.preemption, Primitive::Suspend | Primitive::SuspendOrKill)
            && ran >= queue.min_run.max(queue.min_resumed)
            && !container.is_worn(queue.suspension_budget, now)
    }

    /// Whether its job comes after that place, or its queue is another one from which may be taken.
    fn gives_way(&self, rank: usize, container: &Container, place: usize, beneficiary: &Job) -> bool {
        let of_victim = &self.cluster.jobs()[&container.app];
        let remaining = |app: AppId| self.planner.remaining(self.cluster, self.settings, self.partition, app);
        let pays = |beneficiary: AppId, victim: AppId| {
            let rules = self.settings.queue(self.cluster.queue_path(victim));
            remaining(beneficiary).may_take_of(&remaining(victim), rules, true)
        };
        if of_victim.queue == beneficiary.queue {
            return rank > place
                && preempts_within_queue(self.cluster, self.settings, beneficiary.queue)
                && (of_victim.priority < beneficiary.priority || pays(self.plan.entries[place].app, container.app));
        }
        self.cluster.queues().get(&of_victim.queue).is_some_and(|queue| queue.preemptable)
    }

    /// Whether its job keeps what it may, and its queue what that is entitled to, when those are gone and it.
    fn can_spare(&self, container: &Container, gone: &[&Container], beneficiary: &Job) -> bool {
        let total = self.plan.total;
        let share = |of: &Container| of.resource().dominant_share(total);
        let job = &self.cluster.jobs()[&container.app];
        let of_job: f64 = gone.iter().filter(|other| other.app == container.app).map(|other| share(other)).sum();
        let kept = match job.queue == beneficiary.queue && job.priority < beneficiary.priority {
            true => self.plan.keeps_from_higher(container.app),
            false => self.plan.keeps(container.app),
        };
        let spare = job.share(total, self.partition) - of_job - kept;
        if spare <= EPSILON {
            return false;
        }
        if job.queue == beneficiary.queue {
            return true;
        }
        let above_beneficiary: Vec<QueueId> = self.cluster.lineage(beneficiary.queue).collect();
        self.cluster.lineage(job.queue).filter(|queue| !above_beneficiary.contains(queue)).all(|queue| {
            let within = |app: AppId| self.cluster.lineage(self.cluster.jobs()[&app].queue).any(|above| above == queue);
            let jobs = self.cluster.jobs().iter().filter(|(app, job)| !job.parked && within(**app));
            let held: f64 = jobs.map(|(_, job)| job.share(total, self.partition)).sum();
            let taken: f64 = gone.iter().filter(|other| within(other.app)).map(|other| share(other)).sum();
            held - taken - self.plan.entitled.get(&queue).copied().unwrap_or(0.0) + EPSILON >= share(container)
        })
    }
}
