//! HFSP, the Hadoop Fair Sojourn Protocol (thesis, chapter 4): first whoever has least left in a virtual cluster under fair
//! sharing, by sizes that are learnt from the first tasks of each phase.
//!
//! ```text
//! job views ─► sizes ─────► virtual cluster ─► order ──────────► targets
//!              tiny, S_i,   what fair sharing   tiny, late,        first tasks of new phases,
//!              S_f, hint    would leave         least left first   then one job after the other
//! ```
//!
//! YARN's containers are one pool. The thesis has two of everything, for Hadoop's map and reduce slots; here the **job** is
//! what ages and what is ranked, by what all its known phases have left together, and its containers are placed in the
//! order of their request priorities, as YARN does. A phase that its job has not asked for (reduces before their
//! slow start) counts as soon as the job says how many tasks it has; otherwise it adds to its job when it appears.
//!
//! Jobs that are not MapReduce need no special treatment as long as their tasks end. Executors do not end: they are as large
//! as their application tells ([`stages`](crate::stages)). If it tells nothing, as services do, their size is a guess, as much
//! again as they have run. Whenever such a job outlives its guess it is not late but gets another of that kind, twice as large
//! as the one before. So it gets about its fair share over time: it neither blocks the others, as a late job would for ever,
//! nor starves. For the same reason a phase of few tasks is no longer tiny once one of them has outlived the time-out of
//! training.

mod late;
mod sizes;
mod targets;
pub mod virtual_cluster;
pub mod waves;

use super::{by_arrival, EstimateError, JobView, PhaseView, Policy, Sizing, Supply, Target};
use crate::estimate::left::Remaining;
use crate::policy::turns::Turns;
use crate::settings::QueueSettings;
use crate::units::{AppId, Millis, Resource};
use late::Late;
use sizes::Sizes;
use virtual_cluster::VirtualCluster;

/// Which jobs come before which, whatever is left of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precedence {
    /// All its open phases have fewer tasks than training needs, or none is known yet.
    Tiny,
    /// Virtually done, and not done in reality.
    Late,
    /// All others.
    Rest,
}

/// A job in its place.
#[derive(Clone, Copy, Debug)]
struct Ranked<'a> {
    job: &'a JobView,
    precedence: Precedence,
}

/// The policy and its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Hfsp {
    sizes: Sizes,
    virtually: VirtualCluster,
    turns: Turns,
    late: Late,
    /// Capacity since the last plan, and of which total.
    capacity: f64,
    total: Resource,
}

impl Policy for Hfsp {
    fn plan(&mut self, supply: &Supply<'_>, jobs: &[JobView]) -> Vec<Target> {
        let rules = &supply.settings.hfsp;
        self.virtually.advance(supply.now, self.capacity, self.total, rules.ageing_speed);
        // Jobs age in what their queue could hold, not in what they happen to want. What does none of their work ages nobody: a virtual
        // cluster that is faster than the real one makes every large job late.
        let idle: f64 = jobs.iter().map(JobView::idle).sum();
        (self.capacity, self.total) = ((supply.attainable - idle).max(0.0), supply.total);
        // Time alone changes nothing about a job whose phases' sizes are all known.
        let mut may_learn = false;
        for job in jobs {
            if job.changed || self.sizes.may_learn(job.app) {
                self.sizes.observe(job, supply, &mut self.virtually);
                may_learn = true;
            }
        }
        if may_learn {
            self.sizes.follow(jobs, supply, &mut self.virtually);
        }
        let order = self.in_order(jobs, supply.now);
        targets::targets(&order, &self.sizes, supply)
    }

    fn departed(&mut self, app: AppId, phases: &[PhaseView]) {
        let done = self.sizes.depart(app, phases, &mut self.virtually);
        self.virtually.leave(app, done);
    }

    fn remaining(&self, job: &JobView, _settings: &QueueSettings) -> Remaining {
        Remaining::of(job, |phase| self.sizes.guess(job, phase))
    }

    fn sizing(&self, app: AppId) -> Option<Sizing> {
        let (source, estimate_s) = self.sizes.explain(app, self.total)?;
        Some(Sizing { source, estimate_s, virtual_remaining_s: self.virtually.remaining(app, self.total) })
    }

    fn errors(&self) -> Vec<EstimateError> {
        self.sizes.errors()
    }
}

impl Hfsp {
    fn rank<'a>(&self, job: &'a JobView) -> Ranked<'a> {
        let precedence = match self.virtually.finished(job.app) {
            _ if self.sizes.is_tiny(job) => Precedence::Tiny,
            Some(_) => Precedence::Late,
            None => Precedence::Rest,
        };
        Ranked { job, precedence }
    }

    /// The order of section 2.4 of the specification: tiny jobs, then by what is left, in turn. Late jobs have nothing left: they are
    /// before all others that are not late within what their sizes may be wrong; among themselves see [`Late`].
    ///
    /// Who has really less left than virtually had service ahead of the others: it is nearly done, and goes by that.
    fn in_order<'a>(&mut self, jobs: &'a [JobView], now: Millis) -> Vec<Ranked<'a>> {
        let ranked = jobs.iter().map(|job| self.rank(job));
        let (mut order, others): (Vec<_>, Vec<_>) = ranked.partition(|ranked| ranked.precedence == Precedence::Tiny);
        order.sort_by(|a, b| by_arrival(a.job, b.job));
        let mut turns = std::mem::take(&mut self.turns);
        let left = others.into_iter().map(|ranked| (ranked, ranked.job, self.left_s(ranked.job)));
        let mut in_turn = turns.in_order(left, |ranked| self.error_s(ranked.job));
        self.turns = turns;
        // Late jobs keep the places that they have together.
        let is_late = |ranked: &Ranked<'_>| ranked.precedence == Precedence::Late;
        let late: Vec<_> = in_turn.iter().copied().filter(is_late).collect();
        let (left_s, error_s) = (|job: &JobView| self.sizes.left_s(job), |job: &JobView| self.sizes.error_left_s(job));
        let late = self.late.in_order(&late, now, left_s, error_s);
        in_turn.iter_mut().filter(|ranked| is_late(ranked)).zip(late).for_each(|(place, ranked)| *place = ranked);
        order.extend(in_turn);
        order
    }

    /// What is left of the job, really or virtually, in seconds of the partition.
    fn left_s(&self, job: &JobView) -> f64 {
        self.sizes.left_s(job).min(self.virtually.remaining(job.app, self.total))
    }

    /// By how much that may be wrong.
    fn error_s(&self, job: &JobView) -> f64 {
        if self.sizes.left_s(job) < self.virtually.remaining(job.app, self.total) {
            self.sizes.error_left_s(job)
        } else {
            self.sizes.error_s(job)
        }
    }
}
