//! Policies. A policy answers two questions about the jobs of one queue and priority: in what order do they get resources, and how
//! much should each hold (its target)? The engine does the rest, once, for all.

mod fair;
mod fifo;
mod flex;
pub mod hfsp;
mod las;
mod srpt;
mod turns;

use crate::entitlement::EPSILON;
use crate::estimate::left::{Guess, Remaining};
use crate::settings::{PolicyKind, QueueSettings};
use crate::units::{AppId, Millis, Resource};
use crate::view::{JobView, PhaseView};
use dyn_clone::DynClone;
use serde::Serialize;

/// What the jobs of a queue, of one priority, share, and under which rules.
#[derive(Clone, Copy, Debug)]
pub struct Supply<'a> {
    /// The time.
    pub now: Millis,
    /// What the partition's nodes offer together.
    pub total: Resource,
    /// What they may hold now, as a fraction of the partition: never more than they want.
    pub entitled: f64,
    /// What they could hold if they wanted everything: the queue's entitlement or guarantee, and what nobody wants, up to
    /// its maximum; of that what jobs of a higher priority leave.
    pub attainable: f64,
    /// The queue's settings.
    pub settings: &'a QueueSettings,
}

/// What a job's place in the order follows from, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// Which rule sized it.
    pub source: &'static str,
    /// Its size by that rule, in seconds of the whole partition.
    pub estimate_s: f64,
    /// What is left of it in the policy's own reckoning, in seconds of the whole partition.
    pub virtual_remaining_s: f64,
}

/// How good the estimate of a phase was that is over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EstimateError {
    /// Whose phase it was.
    #[serde(skip)]
    pub app: AppId,
    /// Request priority: tells maps from reduces.
    pub priority: i32,
    /// Estimated over real size, S/R (HFSP thesis, section 5.4).
    pub ratio: f64,
    /// The same of what was expected before any of the phase was seen, S_i/R; `None` if it was tiny or a user gave its size.
    #[serde(skip)]
    pub first: Option<f64>,
}

/// How far estimates were off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EstimatesOff {
    /// Of so many phases that is known.
    pub phases: u32,
    log_sum: f64,
}

impl EstimatesOff {
    /// Takes one more into account.
    pub fn add(&mut self, error: &EstimateError) {
        let log = error.ratio.ln().abs();
        if log.is_finite() {
            self.phases += 1;
            self.log_sum += log;
        }
    }

    /// By which factor on average (geometric mean): 1 is exact, or nothing is known; 2 is twice the real size or half of it.
    pub fn factor(&self) -> f64 {
        (self.log_sum / f64::from(self.phases.max(1))).exp()
    }
}

/// A job's place in the order is its place in the list; this is how much it should hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The job.
    pub app: AppId,
    /// Fraction of the partition, at least its [`JobView::masters`].
    pub share: f64,
    /// What of that jobs that come before it may not take. In an order one after the other nothing is: who comes later gives
    /// way, whatever of its target it holds. Where jobs share, all of it.
    pub keeps: f64,
    /// What of that is due to the job ahead of its turn: nothing is taken from others for it, it waits for room that becomes free.
    pub ahead: f64,
}

/// The order of a queue's jobs of one priority, and their targets.
pub trait Policy: DynClone + Send + std::fmt::Debug {
    /// Orders `jobs` and divides [`Supply::entitled`] among them; ties are broken by [`by_arrival`]. Every job appears,
    /// and may appear again with a target that is not smaller: early with what it should have before others, later with
    /// the rest. The last target counts against it.
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target>;

    /// A job ended, or left the queue or this priority; these were its phases.
    fn departed(&mut self, _app: AppId, _phases: &[PhaseView]) {}

    /// How good its estimates were, oldest first, if the policy learns sizes.
    fn errors(&self) -> Vec<EstimateError> {
        Vec::new()
    }

    /// What is left of the job as far as the policy knows.
    fn remaining(&self, job: &JobView, settings: &QueueSettings) -> Remaining {
        let default_s = settings.default_task.seconds();
        Remaining::of(job, |phase| Guess { task_s: phase.earlier_s.unwrap_or(default_s), is_sure: false })
    }

    /// How the policy sized the job, if it sizes jobs by itself.
    fn sizing(&self, _app: AppId) -> Option<Sizing> {
        None
    }

    /// A hint of the job that makes sense but not in this queue, for people.
    fn unusable_hint(&self, _app: AppId) -> Option<String> {
        None
    }
}

// A scheduler is copied with all that its policies remember: forecasts run on copies.
dyn_clone::clone_trait_object!(Policy);

/// A fresh policy of that kind.
pub fn create(kind: PolicyKind) -> Box<dyn Policy> {
    match kind {
        PolicyKind::Fifo => Box::new(fifo::Fifo),
        PolicyKind::Fair => Box::new(fair::Fair),
        PolicyKind::Las => Box::new(las::Las),
        PolicyKind::Srpt => Box::new(srpt::Srpt::default()),
        PolicyKind::Hfsp => Box::new(hfsp::Hfsp::default()),
        PolicyKind::Flex => Box::new(flex::Flex::default()),
    }
}

/// The order in which ties are broken: earlier first, then by handle.
pub fn by_arrival(a: &JobView, b: &JobView) -> std::cmp::Ordering {
    a.submitted.cmp(&b.submitted).then(a.app.cmp(&b.app))
}

/// Jobs sorted by a key, smallest first, ties [`by_arrival`].
fn sorted_by_key<'a>(jobs: impl IntoIterator<Item = &'a JobView>, key: impl Fn(&JobView) -> f64) -> Vec<&'a JobView> {
    let mut order: Vec<_> = jobs.into_iter().collect();
    order.sort_by(|a, b| key(a).total_cmp(&key(b)).then_with(|| by_arrival(a, b)));
    order
}

/// Serves jobs one after the other: each gets all it can use before the next gets anything, beyond the
/// ApplicationMasters that run already.
fn fill_in_order(order: Vec<&JobView>, capacity: f64) -> Vec<Target> {
    let mut left = capacity - order.iter().map(|job| job.masters).sum::<f64>();
    order
        .into_iter()
        .map(|job| {
            let more = (job.demand - job.masters).min(left).max(0.0);
            left -= more;
            let share = job.masters + if more > EPSILON { more } else { 0.0 };
            Target { app: job.app, share, keeps: job.masters, ahead: 0.0 }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::Hints;
    use crate::settings::Settings;

    fn job(app: u32, submitted: u64, demand: f64) -> JobView {
        let app = AppId(app);
        JobView {
            app,
            submitted: Millis(submitted),
            priority: 0,
            held: 0.0,
            demand,
            masters: 0.0,
            attained: 0.0,
            remaining: 0.0,
            hints: Hints::default(),
            phases: Vec::new(),
            changed: true,
        }
    }

    fn plan(kind: PolicyKind, jobs: &[JobView]) -> Vec<Target> {
        let settings = Settings::default();
        let settings = settings.queue("root.default");
        let total = Resource::new(1024, 1);
        create(kind).plan(&Supply { now: Millis(0), total, entitled: 1.0, attainable: 1.0, settings }, jobs)
    }

    fn order(kind: PolicyKind, jobs: &[JobView]) -> Vec<u32> {
        plan(kind, jobs).iter().map(|target| target.app.0).collect()
    }

    #[test]
    fn each_policy_orders_by_its_own_measure() {
        let jobs = [
            JobView { attained: 1.0, remaining: 9.0, ..job(1, 0, 1.0) },
            JobView { attained: 5.0, remaining: 2.0, ..job(2, 1, 1.0) },
            JobView { attained: 0.0, remaining: 5.0, ..job(3, 2, 1.0) },
        ];
        assert_eq!(order(PolicyKind::Fifo, &jobs), [1, 2, 3]);
        assert_eq!(order(PolicyKind::Las, &jobs), [3, 1, 2]);
        assert_eq!(order(PolicyKind::Srpt, &jobs), [2, 3, 1]);
    }

    #[test]
    fn serial_policies_give_all_to_the_first_but_leave_masters_alone() {
        let jobs = [job(1, 0, 0.9), JobView { masters: 0.2, demand: 1.0, ..job(2, 1, 1.0) }];
        let targets = plan(PolicyKind::Fifo, &jobs);
        assert!((targets[0].share - 0.8).abs() < 1e-9 && (targets[1].share - 0.2).abs() < 1e-9, "{targets:?}");
    }

    #[test]
    fn fair_gives_equal_shares_and_what_small_jobs_leave() {
        let jobs = [job(1, 0, 0.1), job(2, 1, 1.0), job(3, 2, 1.0)];
        let targets = plan(PolicyKind::Fair, &jobs);
        let of = |app| targets.iter().find(|t| t.app == AppId(app)).map(|t| t.share).unwrap();
        assert!((of(1) - 0.1).abs() < 1e-9 && (of(2) - 0.45).abs() < 1e-9 && (of(3) - 0.45).abs() < 1e-9);
    }
}
