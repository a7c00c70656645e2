//! The jobs of one queue in one partition. YARN's priorities divide them into classes: each is ordered, and given its part of what
//! the classes before it leave, by a policy of its own, which knows of no other. To its policy a job whose priority changes is
//! one that leaves, or comes.

use super::usable::Asks;
use crate::estimate::left::Remaining;
use crate::policy::{self, EstimateError, Policy, Supply, Target};
use crate::settings::{PolicyKind, QueueSettings};
use crate::state::Job;
use crate::units::{AppId, PartitionId};
use crate::view::{JobView, PhaseView};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Of so many priorities is remembered what their jobs taught, though none is there. YARN bounds how high they are, not how low.
const MOST_REMEMBERED: usize = 16;

/// Jobs of one priority, and who orders them.
#[derive(Clone, Debug)]
struct PriorityClass {
    policy: Box<dyn Policy>,
    /// As the policy sees them, by handle.
    jobs: Vec<JobView>,
}

/// The jobs of one queue in one partition, and who orders them.
#[derive(Clone, Debug)]
pub(super) struct QueueOrdering {
    kind: PolicyKind,
    /// Most important first.
    classes: BTreeMap<Reverse<i32>, PriorityClass>,
    /// What all of them ask for.
    pub asks: Asks,
}

/// A job's target, and what of that it keeps from jobs of a higher priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub target: Target,
    pub keeps_from_higher: f64,
}

impl QueueOrdering {
    pub fn of(kind: PolicyKind) -> QueueOrdering {
        QueueOrdering { kind, classes: BTreeMap::new(), asks: Asks::default() }
    }

    /// All jobs, most important first and then by handle.
    pub fn jobs(&self) -> impl Iterator<Item = &JobView> + Clone {
        self.classes.values().flat_map(|class| &class.jobs)
    }

    /// The job as its policy sees it.
    pub fn job(&self, app: AppId) -> Option<&JobView> {
        self.classes.values().find_map(|class| class.job(app))
    }

    pub fn jobs_mut(&mut self) -> impl Iterator<Item = &mut JobView> {
        self.classes.values_mut().flat_map(|class| &mut class.jobs)
    }

    pub fn clear(&mut self) {
        self.classes.values_mut().for_each(|class| class.jobs.clear());
        self.asks.clear();
    }

    pub fn put(&mut self, view: JobView, job: &Job, partition: PartitionId) {
        self.asks.put(view.app, job, partition);
        self.class(view.priority).put(view);
    }

    pub fn remove(&mut self, app: AppId) {
        self.asks.remove(app);
        self.classes.values_mut().for_each(|class| class.remove(app));
    }

    /// The job ended, or left the queue or this priority; these were its phases.
    pub fn depart(&mut self, app: AppId, priority: i32, phases: &[PhaseView]) {
        if let Some(class) = self.classes.get_mut(&Reverse(priority)) {
            class.policy.departed(app, phases);
        }
        self.remove(app);
    }

    /// All jobs in order, with their targets. A lower class has what the higher ones leave, and keeps nothing of that from them but its
    /// ApplicationMasters.
    pub fn plan(&mut self, supply: &Supply<'_>) -> Vec<Placed> {
        if self.kind != supply.settings.policy {
            self.kind = supply.settings.policy;
            self.classes.values_mut().for_each(|class| class.policy = policy::create(self.kind));
        }
        if self.classes.len() > MOST_REMEMBERED {
            self.classes.retain(|_, class| !class.jobs.is_empty());
        }
        let mut placed: Vec<Placed> = Vec::new();
        let mut masters_after: f64 = self.classes.values().map(PriorityClass::masters).sum();
        let mut given = 0.0;
        let mut classes = self.classes.values_mut().filter(|class| !class.jobs.is_empty()).peekable();
        while let Some(class) = classes.next() {
            masters_after -= class.masters();
            let demand: f64 = class.jobs.iter().map(|job| job.demand).sum();
            let left = Supply {
                entitled: (supply.entitled - given - masters_after).min(demand),
                attainable: (supply.attainable - given - masters_after).max(0.0),
                ..*supply
            };
            let targets = class.policy.plan(&left, &class.jobs);
            if classes.peek().is_some() {
                given += whole(&targets);
            }
            let is_first = placed.is_empty();
            placed.extend(targets.into_iter().map(|target| {
                let kept = if is_first { target.keeps } else { class.job(target.app).map_or(0.0, |job| job.masters) };
                Placed { target, keeps_from_higher: kept }
            }));
        }
        placed
    }

    /// What is left of the job as its policy knows.
    pub fn remaining(&self, app: AppId, settings: &QueueSettings) -> Option<Remaining> {
        self.classes.values().find_map(|class| Some(class.policy.remaining(class.job(app)?, settings)))
    }

    /// How good past estimates of sizes were.
    pub fn errors(&self) -> impl Iterator<Item = EstimateError> + '_ {
        self.classes.values().flat_map(|class| class.policy.errors())
    }

    /// Who orders the jobs of that priority, if there was one.
    pub fn policy(&self, priority: i32) -> Option<&dyn Policy> {
        self.classes.get(&Reverse(priority)).map(|class| class.policy.as_ref())
    }

    fn class(&mut self, priority: i32) -> &mut PriorityClass {
        let fresh = || PriorityClass { policy: policy::create(self.kind), jobs: Vec::new() };
        self.classes.entry(Reverse(priority)).or_insert_with(fresh)
    }
}

impl PriorityClass {
    fn put(&mut self, view: JobView) {
        match self.position(view.app) {
            Ok(at) => self.jobs[at] = view,
            Err(at) => self.jobs.insert(at, view),
        }
    }

    fn remove(&mut self, app: AppId) {
        if let Ok(at) = self.position(app) {
            self.jobs.remove(at);
        }
    }

    fn job(&self, app: AppId) -> Option<&JobView> {
        self.position(app).ok().map(|at| &self.jobs[at])
    }

    fn position(&self, app: AppId) -> Result<usize, usize> {
        // Newcomers have the largest handles.
        match self.jobs.last() {
            Some(last) if last.app < app => Err(self.jobs.len()),
            _ => self.jobs.binary_search_by_key(&app, |view| view.app),
        }
    }

    /// What its ApplicationMasters hold, which nobody can take.
    fn masters(&self) -> f64 {
        self.jobs.iter().map(|job| job.masters).sum()
    }
}

/// What the targets are together; of each job the last counts.
fn whole(targets: &[Target]) -> f64 {
    targets.iter().map(|target| (target.app, target.share)).collect::<BTreeMap<_, _>>().into_values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::Hints;
    use crate::settings::{Settings, Word};
    use crate::units::{Millis, Resource};
    use proptest::prelude::*;

    fn view(app: u32, priority: i32, held: f64, more: f64) -> JobView {
        JobView {
            app: AppId(app),
            submitted: Millis(u64::from(app)),
            priority,
            held: held + 0.01,
            demand: held + more + 0.01,
            masters: 0.01,
            attained: held,
            remaining: more,
            hints: Hints::default(),
            phases: Vec::new(),
            changed: true,
        }
    }

    fn plan(policy: &str, entitled: f64, jobs: &[JobView]) -> Vec<Placed> {
        let settings = Settings::default();
        let mut rules = settings.queue("root.default").clone();
        rules.policy = PolicyKind::named(policy).unwrap();
        let mut ordering = QueueOrdering::of(rules.policy);
        jobs.iter().for_each(|job| ordering.class(job.priority).put(job.clone()));
        let total = Resource::new(102_400, 0);
        ordering.plan(&Supply { now: Millis(0), total, entitled, attainable: entitled.max(1.0), settings: &rules })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever the policy, nobody of a lower priority is given anything that one of a higher lacks.
        #[test]
        fn law_21_a_lower_priority_has_what_the_higher_ones_leave(
            policy in prop::sample::select(PolicyKind::NAMES),
            drawn in prop::collection::vec((0..4, 0.0..0.3f64, 0.0..0.4f64), 1..9),
            part in 0.0..1.0f64,
        ) {
            let views = drawn.iter().zip(0..).map(|((priority, held, more), app)| view(app, *priority, *held, *more));
            let jobs: Vec<JobView> = views.collect();
            let wanted: f64 = jobs.iter().map(|job| job.demand).sum();
            let entitled = 0.1 + part * (wanted - 0.1);
            let placed = plan(policy, entitled, &jobs);
            let of = |placed: &Placed| &jobs[placed.target.app.0 as usize];
            prop_assert!(placed.is_sorted_by_key(|placed| Reverse(of(placed).priority)));
            prop_assert!(whole(&placed.iter().map(|placed| placed.target).collect::<Vec<_>>()) <= entitled + 1e-6);
            let last: BTreeMap<AppId, Placed> = placed.iter().map(|placed| (placed.target.app, *placed)).collect();
            let lacking = last.values().filter(|placed| placed.target.share + 1e-6 < of(placed).demand);
            let lacks = lacking.map(|placed| of(placed).priority).max();
            for lower in last.values().filter(|placed| lacks.is_some_and(|lacks| of(placed).priority < lacks)) {
                prop_assert!(lower.target.share <= of(lower).masters + 1e-6, "{lower:?} of {:?}", of(lower));
                prop_assert_eq!(lower.keeps_from_higher, of(lower).masters);
            }
        }
    }
}
