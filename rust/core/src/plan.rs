//! The plan: for each partition, all jobs in the order in which they are served, and what each should hold. Queues come
//! most under-served first, each with its jobs by priority, and those of one in the order of its own policy. A job may come more than once, with
//! targets that do not fall: early for a part of what it should hold, later for the rest.

mod bounds;
#[cfg(debug_assertions)]
mod check;
mod moving;
mod queue_ordering;
mod usable;
mod users;
mod view;

use crate::entitlement::{self, containers_within};
use crate::estimate::left::Remaining;
use crate::fact::{PerSide, Side};
use crate::line::Line;
use crate::policy::{EstimateError, Policy, Supply, Target};
use crate::settings::Settings;
use crate::state::{Cluster, Job, QueueUser};
use crate::units::{AppId, Millis, PartitionId, QueueId, Resource};
use crate::view::JobView;
use crate::visits::Visits;
use bounds::{Bound, Bounded, Bounds};
use queue_ordering::{Placed, QueueOrdering};
use std::collections::BTreeMap;
use std::ops::Range;
use usable::Usable;
use users::Users;

/// One of a job's places in one partition, and its target there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The job.
    pub app: AppId,
    /// Its leaf queue.
    pub queue: QueueId,
    /// What it should hold, as a fraction of the partition.
    pub target: f64,
    /// What of that jobs that come before it leave to it.
    pub keeps: f64,
    /// What of that jobs of a higher priority leave to it: its ApplicationMaster. Where its queue has none, what it keeps.
    pub keeps_from_higher: f64,
    /// What of its target is due ahead of its turn, and waits for room that becomes free.
    pub ahead: f64,
    /// The place before this one that is the job's, too.
    earlier: Option<usize>,
}

/// Order and targets of one partition.
#[derive(Clone, Debug, Default)]
pub struct PartitionPlan {
    /// What its nodes offer together.
    pub total: Resource,
    /// Which part of that can be used, as a fraction: remainders on nodes into which nothing fits that is asked for are shared out to nobody.
    pub usable: f64,
    /// The places, first served first.
    pub entries: Vec<Entry>,
    /// What each queue, parents included, is entitled to, as a fraction of the partition.
    pub entitled: BTreeMap<QueueId, f64>,
    /// What each leaf queue needs for its first job to get on, whatever it is guaranteed: nobody is entitled to less, unless that is more
    /// than it wants or may hold, or than there is.
    pub least: BTreeMap<QueueId, f64>,
    /// The queues in order, with the places of their jobs.
    pub queues: Vec<(QueueId, Range<usize>)>,
    /// What users may hold of their queues who want more.
    limits: BTreeMap<QueueUser, f64>,
    partition: PartitionId,
    /// The index of the last entry of each job, by job.
    last_entries: Vec<(AppId, usize)>,
    /// Who waits for a container that its target allows, by where its nodes may be.
    below_target: PerSide<Line>,
    /// Who waits for a container, at each job's last place, likewise.
    anybody: PerSide<Line>,
}

impl PartitionPlan {
    /// Which partition's it is.
    pub fn partition(&self) -> PartitionId {
        self.partition
    }

    /// The index of the job's last entry: the one with its whole target.
    pub fn last_entry(&self, app: AppId) -> Option<usize> {
        let at = self.last_entries.binary_search_by_key(&app, |(app, _)| *app).ok()?;
        self.last_entries.get(at).map(|(_, place)| *place)
    }

    /// The job's whole target, as a fraction of the partition; nothing if it has no place.
    pub fn target(&self, app: AppId) -> f64 {
        self.last_entry(app).and_then(|place| self.entries.get(place)).map_or(0.0, |entry| entry.target)
    }

    /// What of its target the job keeps from those that come before it, as a fraction of the partition.
    pub fn keeps(&self, app: AppId) -> f64 {
        self.last_entry(app).and_then(|place| self.entries.get(place)).map_or(0.0, |entry| entry.keeps)
    }

    /// What of its target the job keeps from those of a higher priority, as a fraction of the partition.
    pub fn keeps_from_higher(&self, app: AppId) -> f64 {
        self.last_entry(app).and_then(|place| self.entries.get(place)).map_or(0.0, |entry| entry.keeps_from_higher)
    }

    /// What the user may hold of its queue, as a fraction of the partition, if its jobs want more.
    pub fn limit_of(&self, queue_user: QueueUser) -> Option<f64> {
        self.limits.get(&queue_user).copied()
    }

    /// Whether the entry at this place is the last of its job.
    pub fn is_last_entry(&self, place: usize) -> bool {
        self.entries.get(place).is_some_and(|entry| self.last_entry(entry.app) == Some(place))
    }

    /// All places of the job, last first.
    pub(crate) fn places(&self, app: AppId) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.last_entry(app), |place| self.entries.get(*place).and_then(|entry| entry.earlier))
    }

    /// Whether that place comes before all of the job's.
    pub fn is_before(&self, place: usize, app: AppId) -> bool {
        self.places(app).all(|other| place < other)
    }

    /// Who waits for a container on nodes of that side that its target allows.
    pub(crate) fn below_target(&self, side: Option<Side>) -> &Line {
        &self.below_target[side]
    }

    /// Who waits for a container there, whatever its target.
    pub(crate) fn anybody(&self, side: Option<Side>) -> &Line {
        &self.anybody[side]
    }

    fn begin(&mut self, partition: PartitionId, total: Resource) {
        (self.partition, self.total) = (partition, total);
        self.entries.clear();
        self.queues.clear();
        self.limits.clear();
        self.last_entries.clear();
    }

    fn put_in_line(&mut self, cluster: &Cluster) {
        self.last_entries.extend(self.entries.iter().enumerate().map(|(place, entry)| (entry.app, place)));
        self.last_entries.sort_unstable();
        for pair in self.last_entries.windows(2) {
            if let [(before, place), (app, last)] = *pair {
                self.entries[last].earlier = (before == app).then_some(place);
            }
        }
        self.last_entries.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            earlier.1 = if same { later.1 } else { earlier.1 };
            same
        });
        for side in PerSide::<Line>::PLACES {
            let below_target = std::mem::take(&mut self.below_target[side]);
            let anybody = std::mem::take(&mut self.anybody[side]);
            let lines = self.lines(cluster, side, below_target, anybody);
            (self.below_target[side], self.anybody[side]) = lines;
        }
    }

    /// The lines for nodes of that side, in the memory of those before; nobody waits for a side that has no nodes.
    fn lines(&self, cluster: &Cluster, side: Option<Side>, mut below_target: Line, mut anybody: Line) -> (Line, Line) {
        if cluster.sides()[side].nodes == 0 {
            below_target.close();
            anybody.close();
            return (below_target, anybody);
        }
        let at_place = |(place, entry): (usize, &Entry)| {
            Some((place, self.ask_below_target(cluster.jobs().get(&entry.app)?, entry, side)?))
        };
        below_target.begin(self.entries.len(), self.entries.iter().enumerate().filter_map(at_place));
        let at_last =
            |(app, place): &(AppId, usize)| Some((*place, self.ask(cluster.jobs().get(app)?, side, |_| true)?));
        anybody.begin(self.entries.len(), self.last_entries.iter().filter_map(at_last));
        (below_target, anybody)
    }

    /// The job changed: what it asks for at its places now.
    pub(crate) fn look_again(&mut self, app: AppId, job: Option<&Job>) {
        let Some(last) = self.last_entry(app) else { return };
        for side in PerSide::<Line>::PLACES {
            if !self.anybody[side].is_open() {
                continue;
            }
            let ask = job.and_then(|job| self.ask(job, side, |_| true));
            self.anybody[side].set(last, ask);
            let mut next = Some(last);
            while let Some(place) = next {
                let entry = self.entries[place];
                let ask = job.and_then(|job| self.ask_below_target(job, &entry, side));
                self.below_target[side].set(place, ask);
                next = entry.earlier;
            }
        }
    }

    /// The smallest container that the job may start there within the target.
    fn ask_below_target(&self, job: &Job, entry: &Entry, side: Option<Side>) -> Option<Resource> {
        let allowance = entry.target - job.share(self.total, self.partition);
        self.ask(job, side, |one| containers_within(allowance, one.dominant_share(self.total)) > 0)
    }

    /// The smallest container that the job may start there next, of those that `allowed` lets it.
    fn ask(&self, job: &Job, side: Option<Side>, allowed: impl Fn(Resource) -> bool) -> Option<Resource> {
        let asks = job.next_asks(self.partition).filter(|(key, _)| job.most_on(key, side) > 0);
        let sizes = asks.map(|(key, _)| key.resource).filter(|size| allowed(*size));
        sizes.reduce(Resource::at_most).filter(|_| job.may_start() && !job.backs_off)
    }
}

/// What the queue's policies say, and their memories.
#[derive(Clone, Debug, Default)]
pub struct Planner {
    plans: BTreeMap<PartitionId, PartitionPlan>,
    orderings: BTreeMap<(PartitionId, QueueId), QueueOrdering>,
    /// Jobs that changed since the last plan; with doubles.
    stale: Vec<AppId>,
    /// Whether nothing that was seen before counts any more.
    all_stale: bool,
    planned: Millis,
    visits: Visits,
}

impl Planner {
    /// The current plan of a partition.
    pub fn of(&self, partition: PartitionId) -> Option<&PartitionPlan> {
        self.plans.get(&partition)
    }

    /// All current plans.
    pub fn all(&self) -> impl Iterator<Item = (PartitionId, &PartitionPlan)> {
        self.plans.iter().map(|(partition, plan)| (*partition, plan))
    }

    /// What was looked at since this was last asked.
    pub(crate) fn visits(&mut self) -> Visits {
        std::mem::take(&mut self.visits)
    }

    /// Takes up the jobs that changed.
    pub(crate) fn hear(&mut self, cluster: &mut Cluster) {
        while let Some(app) = cluster.next_touched() {
            self.visits.jobs += 1;
            self.stale.push(app);
            let job = cluster.jobs().get(&app);
            self.plans.values_mut().for_each(|plan| plan.look_again(app, job));
        }
    }

    /// What was seen of jobs was seen under other settings or queues.
    pub(crate) fn forget_views(&mut self) {
        self.all_stale = true;
    }

    /// Computes all plans anew from the jobs that changed and what was seen of the others, and tells the policies of the jobs
    /// that left since.
    pub fn plan(&mut self, cluster: &Cluster, settings: &Settings) {
        self.orderings.retain(|(_, queue), _| cluster.queues().contains_key(queue));
        self.plans.retain(|partition, _| cluster.partitions().contains_key(partition));
        self.stale.sort_unstable();
        self.stale.dedup();
        let elapsed = cluster.now().since(self.planned);
        for (partition, found) in cluster.partitions() {
            let total = found.live;
            let before = self.plans.remove(partition);
            // Shares are fractions of the total, and what is seen of a partition is forgotten with its last node.
            let seen = before.as_ref().is_some_and(|plan| plan.total == total) && !self.all_stale;
            let mut plan = before.unwrap_or_default();
            self.depart(cluster, settings, *partition, total);
            if !seen {
                self.see_all(cluster, settings, *partition, total);
            } else {
                self.see_changes(cluster, settings, *partition, total, elapsed);
            }
            #[cfg(debug_assertions)]
            self.check_views(cluster, settings, *partition, total);
            plan.begin(*partition, total);
            self.plan_partition(cluster, settings, &mut plan);
            plan.put_in_line(cluster);
            self.plans.insert(*partition, plan);
        }
        self.stale.clear();
        self.all_stale = false;
        self.planned = cluster.now();
    }

    fn depart(&mut self, cluster: &Cluster, settings: &Settings, partition: PartitionId, total: Resource) {
        for (app, job) in cluster.departed() {
            let Some(ordering) = self.orderings.get_mut(&(partition, job.queue)) else { continue };
            let rules = settings.queue(cluster.queues().get(&job.queue).map_or("", |queue| queue.path.as_str()));
            ordering.depart(*app, job.priority, &view::phases(job, partition, total, rules, cluster));
        }
    }

    fn see_all(&mut self, cluster: &Cluster, settings: &Settings, partition: PartitionId, total: Resource) {
        self.orderings
            .range_mut((partition, QueueId(0))..=(partition, QueueId(u32::MAX)))
            .for_each(|(_, ordering)| ordering.clear());
        let mut apps: Vec<AppId> = cluster.jobs().keys().copied().collect();
        apps.sort_unstable();
        for app in apps {
            self.see(cluster, settings, partition, total, app);
        }
    }

    fn see_changes(
        &mut self,
        cluster: &Cluster,
        settings: &Settings,
        partition: PartitionId,
        total: Resource,
        elapsed: Millis,
    ) {
        let orderings = self.orderings.range_mut((partition, QueueId(0))..=(partition, QueueId(u32::MAX)));
        for view in orderings.flat_map(|(_, ordering)| ordering.jobs_mut()) {
            view::pass_time(view, cluster, total, elapsed);
        }
        let stale = std::mem::take(&mut self.stale);
        for app in &stale {
            self.see(cluster, settings, partition, total, *app);
        }
        self.stale = stale;
    }

    /// Looks at a job anew.
    fn see(&mut self, cluster: &Cluster, settings: &Settings, partition: PartitionId, total: Resource, app: AppId) {
        self.visits.jobs += 1;
        let Some(job) = cluster.jobs().get(&app) else { return };
        let Some(queue) = cluster.queues().get(&job.queue) else { return };
        let rules = settings.queue(&queue.path);
        let view = view::of(app, job, partition, total, rules, cluster);
        let key = (partition, job.queue);
        if view.is_none() && !self.orderings.contains_key(&key) {
            return;
        }
        let ordering = self.orderings.entry(key).or_insert_with(|| QueueOrdering::of(rules.policy));
        match view {
            Some(view) => ordering.put(view, job, partition),
            None => ordering.remove(app),
        }
    }

    fn plan_partition(&mut self, cluster: &Cluster, settings: &Settings, plan: &mut PartitionPlan) {
        let partition = plan.partition;
        let orderings = || {
            let of_partition = self.orderings.range((partition, QueueId(0))..=(partition, QueueId(u32::MAX)));
            of_partition
                .map(|((_, queue), ordering)| (*queue, ordering))
                .filter(|(_, ordering)| ordering.jobs().next().is_some())
        };
        let demand = orderings().map(|(id, ordering)| (id, ordering.jobs().map(|job| job.demand).sum())).collect();
        plan.usable = self.usable(cluster, partition, plan.total, &demand);
        plan.least = orderings().map(|(id, ordering)| (id, moving::least(ordering))).collect();
        let entitled = entitlement::of_leaves(cluster, partition, plan.usable, &demand, &plan.least);
        let mut queues: Vec<_> = orderings()
            .map(|(id, ordering)| {
                let guaranteed = cluster.queues().get(&id).map_or(0.0, |q| q.shares(partition).guaranteed);
                let held: f64 = ordering.jobs().map(|job| job.held).sum();
                // A queue without guarantee comes last, as in CapacityScheduler.
                (if guaranteed > 0.0 { held / guaranteed } else { f64::INFINITY }, id)
            })
            .collect();
        queues.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut of_sides = self.sides_of(cluster, partition, &entitled, plan.usable);
        let taken: f64 = queues.iter().filter_map(|(_, queue)| entitled.get(queue)).sum();
        for (_, queue) in queues {
            let (Some(found), Some(ordering)) =
                (cluster.queues().get(&queue), self.orderings.get_mut(&(partition, queue)))
            else {
                continue;
            };
            let of_queue = entitled.get(&queue).copied().unwrap_or(0.0);
            let shares = found.shares(partition);
            let supply = Supply {
                now: cluster.now(),
                total: plan.total,
                entitled: of_queue,
                attainable: (of_queue + plan.usable - taken).max(shares.guaranteed * plan.usable).min(shares.maximum),
                settings: settings.queue(&found.path),
            };
            let first = plan.entries.len();
            let (mut targets, kept): (Vec<Target>, Vec<f64>) = ordering
                .plan(&supply)
                .into_iter()
                .map(|Placed { target, keeps_from_higher }| (target, keeps_from_higher))
                .unzip();
            moving::keep(&mut targets, ordering);
            let mut bounds = of_sides.remove(&queue).unwrap_or_default();
            if let Some(users) = Users::of(cluster, partition, queue, ordering.jobs()) {
                let limited = users.bind(ordering.jobs(), of_queue, &mut bounds);
                plan.limits.extend(limited.map(|(user, limit)| ((queue, user), limit)));
            }
            bounds.keep(&mut targets);
            for (Target { app, share, keeps, ahead }, kept) in targets.into_iter().zip(kept) {
                let (keeps, keeps_from_higher) = (keeps.min(share), kept.min(share));
                plan.entries.push(Entry { app, queue, target: share, keeps, keeps_from_higher, ahead, earlier: None });
            }
            plan.queues.push((queue, first..plan.entries.len()));
        }
        plan.entitled = entitled;
    }

    /// Which part of the partition can be used, by what is held there and what asks would be given now.
    fn usable(
        &self,
        cluster: &Cluster,
        partition: PartitionId,
        total: Resource,
        demand: &BTreeMap<QueueId, f64>,
    ) -> f64 {
        let mut held: BTreeMap<QueueId, f64> = BTreeMap::new();
        let mut usable = Usable::of(cluster, partition, total);
        let orderings = || self.orderings.range((partition, QueueId(0))..=(partition, QueueId(u32::MAX)));
        for ((_, queue), ordering) in orderings() {
            let of_queue: f64 = ordering.jobs().map(|job| job.held).sum();
            cluster.lineage(*queue).for_each(|above| *held.entry(above).or_default() += of_queue);
        }
        for ((_, queue), ordering) in orderings() {
            let left = |above: QueueId| {
                let maximum = cluster.queues().get(&above).map_or(0.0, |found| found.shares(partition).maximum);
                maximum - held.get(&above).copied().unwrap_or(0.0)
            };
            usable.ask(&ordering.asks, cluster.lineage(*queue).map(left).fold(f64::INFINITY, f64::min));
        }
        let guests: f64 = cluster.guests().map(|job| cluster.borrowed_share(job, total, partition)).sum();
        let held = orderings().flat_map(|(_, ordering)| ordering.jobs()).map(|job| job.held).sum::<f64>() + guests;
        usable::share(held, usable.more(), demand.values().sum())
    }

    /// Where jobs keep to sides: of each queue what it may promise of each side.
    fn sides_of(
        &self,
        cluster: &Cluster,
        partition: PartitionId,
        entitled: &BTreeMap<QueueId, f64>,
        usable: f64,
    ) -> BTreeMap<QueueId, Bounds> {
        let Some(found) = cluster.partitions().get(&partition) else { return BTreeMap::new() };
        // Asks for a label are the user's own choice.
        if partition != PartitionId(0) || cluster.sited().is_empty() {
            return BTreeMap::new();
        }
        let orderings = self.orderings.range((partition, QueueId(0))..=(partition, QueueId(u32::MAX)));
        let wanted = |view: &JobView| {
            let side = cluster.jobs().get(&view.app).and_then(|job| job.site.side());
            (view.app, Bounded { side, ..Bounded::of(view) })
        };
        let jobs: Vec<(QueueId, BTreeMap<AppId, Bounded>)> =
            orderings.map(|((_, queue), ordering)| (*queue, ordering.jobs().map(wanted).collect())).collect();
        let claims: Vec<(f64, PerSide<f64>)> = jobs
            .iter()
            .map(|(queue, jobs)| {
                let there = |side| jobs.values().filter(move |job| job.side.is_some() && job.side == side);
                let demand = PerSide::from_fn(|side| there(side).map(|job| job.demand).sum());
                (entitled.get(queue).copied().unwrap_or(0.0), demand)
            })
            .collect();
        let has = PerSide::from_fn(|side| found.live_on[side].dominant_share(found.live) * usable);
        let left = bounds::divide(&has, &claims).into_iter().map(|left| {
            let of_sides = left.all().filter_map(|(side, share)| Some((Bound::Side(side?), *share)));
            of_sides.collect()
        });
        jobs.into_iter().zip(left).map(|((queue, jobs), left)| (queue, Bounds { jobs, left })).collect()
    }

    /// What is left of the job in the partition, as far as its queue's policy knows; nothing if it has no place there.
    pub fn remaining(&self, cluster: &Cluster, settings: &Settings, partition: PartitionId, app: AppId) -> Remaining {
        let found = cluster.jobs().get(&app).and_then(|job| {
            let ordering = self.orderings.get(&(partition, job.queue))?;
            ordering.remaining(app, settings.queue(cluster.queue_path(app)))
        });
        found.unwrap_or_default()
    }

    /// How good past estimates of sizes were, by queue.
    pub fn estimate_errors(&self) -> impl Iterator<Item = (QueueId, EstimateError)> + '_ {
        self.orderings.iter().flat_map(|((_, queue), ordering)| ordering.errors().map(|error| (*queue, error)))
    }

    /// The policy of that queue's jobs of that priority in the partition, if it ever ranked one there.
    pub fn policy_of(&self, queue: QueueId, priority: i32, partition: PartitionId) -> Option<&dyn Policy> {
        self.orderings.get(&(partition, queue)).and_then(|ordering| ordering.policy(priority))
    }
}
