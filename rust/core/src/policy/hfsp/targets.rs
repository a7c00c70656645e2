//! From the order to targets: first tiny jobs, then what is due ahead of its turn, within the cap T, then one job after the other.
//!
//! Ahead of their turn come the tasks from which sizes are learnt (thesis, section 4.4.2) and, with what those leave of the
//! cap, late jobs while there are tiny ones: tiny jobs outrank late ones, but not even an endless stream of them may
//! starve a job.

use super::sizes::{Sizes, Trainee};
use super::{by_arrival, JobView, Precedence, Ranked};
use crate::entitlement::{max_min, EPSILON};
use crate::policy::{Supply, Target};
use crate::state::ByHandle;
use crate::units::AppId;

/// Tiny jobs, early places for those that lack what is due ahead of its turn, and then everybody else's place and whole target. What is set
/// aside for early ones is in nobody's target: tiny jobs before them starve none.
pub fn targets(order: &[Ranked<'_>], sizes: &Sizes, supply: &Supply<'_>) -> Vec<Target> {
    let masters: f64 = order.iter().map(|ranked| ranked.job.masters).sum();
    let ahead = ahead(order, sizes, supply, supply.entitled - masters);
    let of_ahead = |ranked: &Ranked<'_>| ahead.get(&ranked.job.app);
    let floors: Vec<f64> =
        order.iter().map(|ranked| ranked.job.masters + of_ahead(ranked).map_or(0.0, |(_, share)| *share)).collect();

    // What is due to others ahead of their turn and not theirs yet counts against nobody's right to take.
    let kept = |ranked: &Ranked<'_>, floor: f64| floor.min(ranked.job.held.max(ranked.job.masters));

    let waits = |ahead: f64| if supply.settings.hfsp.training_preempts { 0.0 } else { ahead.max(0.0) };

    let mut early: Vec<_> = order
        .iter()
        .zip(&floors)
        .filter(|(ranked, floor)| ranked.precedence != Precedence::Tiny && ranked.job.held + EPSILON < **floor)
        .filter_map(|(ranked, floor)| of_ahead(ranked).map(|(place, _)| (*place, ranked, *floor)))
        .collect();
    early.sort_by_key(|(place, ..)| *place);
    let of_early = |(_, ranked, share): (usize, &Ranked<'_>, f64)| Target {
        app: ranked.job.app,
        share,
        keeps: share,
        ahead: waits(share - kept(ranked, share)),
    };
    let early = early.into_iter().map(of_early);

    let shares = in_turn(order, supply, &floors);
    let by_turn = if ahead.is_empty() {
        shares.clone()
    } else {
        let kept: Vec<f64> = order.iter().zip(&floors).map(|(ranked, floor)| kept(ranked, *floor)).collect();
        in_turn(order, supply, &kept)
    };
    let mut whole: Vec<(bool, f64, Target)> = Vec::with_capacity(order.len());
    for (((ranked, floor), (share, side_by_side)), (by_turn, _)) in order.iter().zip(&floors).zip(shares).zip(by_turn) {
        let keeps = if side_by_side { share } else { *floor };
        let target = Target { app: ranked.job.app, share, keeps, ahead: waits(share - by_turn) };
        whole.push((side_by_side, ranked.job.held - share, target));
    }
    // Among those served side by side, whoever lacks most comes first.
    for group in whole.chunk_by_mut(|a, b| a.0 && b.0) {
        group.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    let tiny = order.iter().take_while(|ranked| ranked.precedence == Precedence::Tiny).count();
    let mut targets: Vec<Target> = whole.into_iter().map(|(_, _, target)| target).collect();
    targets.splice(tiny..tiny, early);
    targets
}

/// What each job gets where so much is set aside for each, and the rest goes to one after the other; and whether it shares that with
/// others. Late jobs may be served side by side.
fn in_turn(order: &[Ranked<'_>], supply: &Supply<'_>, aside: &[f64]) -> Vec<(f64, bool)> {
    let mut left = supply.entitled - aside.iter().sum::<f64>();
    let mut given = Vec::with_capacity(order.len());
    let shared = |ranked: &Ranked<'_>| supply.settings.hfsp.late_shared && is_late(ranked);
    for group in order.chunk_by(|a, b| shared(a) && shared(b)) {
        let aside = &aside[given.len()..][..group.len()];
        let of_group = left;
        let mut give = |aside: f64, more: f64| {
            left -= more;
            given.push((aside + if more > EPSILON { more } else { 0.0 }, group.len() > 1));
        };
        let claim = |ranked: &Ranked<'_>, aside: f64| (ranked.job.demand - aside).max(0.0);
        match (group, aside) {
            // Most stand alone, and take what they can.
            ([ranked], [aside]) => give(*aside, claim(ranked, *aside).min(of_group.max(0.0))),
            _ => {
                let claims: Vec<_> =
                    group.iter().zip(aside).map(|(ranked, aside)| (1.0, claim(ranked, *aside))).collect();
                aside.iter().zip(max_min(of_group, &claims)).for_each(|(aside, more)| give(*aside, more));
            }
        }
    }
    given
}

fn is_late(ranked: &Ranked<'_>) -> bool {
    ranked.precedence == Precedence::Late
}

/// Part of what there is that tasks which train may keep although jobs before theirs want it. The thesis keeps all of them (section
/// 4.4.3), on hundreds of slots; on the few of a small cluster those of one large job would hold up every small one for the training
/// time-out.
const KEPT: f64 = 0.5;

/// T: how much may still go to jobs ahead of their turn.
struct Cap {
    share: f64,
    containers: u32,
    /// What may still be kept.
    keeps: f64,
}

impl Cap {
    fn of(supply: &Supply<'_>, at_most: f64) -> Cap {
        let rules = &supply.settings.hfsp;
        let (share, containers) = match rules.training_slots {
            Some(containers) => (at_most, containers),
            None if rules.training_share > 0.0 => ((rules.training_share * supply.attainable).min(at_most), u32::MAX),
            None => (0.0, 0),
        };
        Cap { share, containers, keeps: KEPT * at_most }
    }

    /// So many containers, or as many as may, stay ahead of their turn, more than T or not.
    fn keep(&mut self, containers: u32, one: f64) -> u32 {
        let kept = whole(self.keeps, one).min(containers);
        let all = f64::from(kept) * one;
        self.containers = self.containers.saturating_sub(kept);
        self.share = (self.share - all).max(0.0);
        self.keeps -= all;
        kept
    }

    /// Takes so many containers or, if those are too many, as many as there may be; the first of all in any case.
    fn take(&mut self, containers: u32, one: f64, first: bool) -> u32 {
        let fitting = whole(self.share, one).max(u32::from(first)).min(self.containers).min(containers);
        self.containers -= fitting;
        self.share -= f64::from(fitting) * one;
        fitting
    }
}

/// Whole containers in an amount: a fraction would be kept from others for nothing.
fn whole(amount: f64, one: f64) -> u32 {
    if one > 0.0 {
        ((amount + EPSILON) / one).max(0.0) as u32
    } else {
        0
    }
}

/// Who waits for its turn no longer than so many times as long as its training tasks take has nothing to win by training ahead of it: they
/// would tell hardly sooner, and cost those before it as much.
const NEAR: f64 = 2.0;

/// Who may train ahead of its turn, smallest first, then most advanced (gap 29). Beyond the thesis: as long as nobody knows whether jobs
/// differ one after the other trains, from two on that is known; and nobody does whose turn is near.
fn trainees<'a>(order: &[Ranked<'a>], sizes: &Sizes, supply: &Supply<'_>) -> Vec<(Trainee, &'a JobView)> {
    let untrained = order.iter().enumerate().filter_map(|(place, ranked)| {
        let trainee = sizes.training(ranked.job, supply)?;
        Some((trainee, ranked.job, place))
    });
    let mut trainees: Vec<_> = untrained.collect();
    trainees.sort_by(|(a, of_a, _), (b, of_b, _)| {
        a.size_s.total_cmp(&b.size_s).then(b.advanced.cmp(&a.advanced)).then_with(|| by_arrival(of_a, of_b))
    });
    if !trainees.is_empty() && !supply.settings.hfsp.training_preempts {
        let before_s = left_before(order, sizes);
        let none = trainees.iter().all(|(trainee, ..)| !trainee.trains());
        let next = trainees.first().filter(|_| none).map(|(_, job, _)| job.app);
        trainees.retain(|(trainee, job, place)| {
            let is_near = before_s[*place] <= NEAR * trainee.task_s * supply.entitled;
            trainee.trains() || !is_near && (trainee.differs || next == Some(job.app))
        });
    }
    trainees.into_iter().map(|(trainee, job, _)| (trainee, job)).collect()
}

/// What all jobs before each really have left, in seconds of the partition.
fn left_before(order: &[Ranked<'_>], sizes: &Sizes) -> Vec<f64> {
    let left = order.iter().scan(0.0, |before_s, ranked| {
        let all_s = *before_s + sizes.left_s(ranked.job);
        Some(std::mem::replace(before_s, all_s))
    });
    left.collect()
}

/// What each job may hold ahead of its turn, and its place among those: what trains already, then training tasks of the smallest
/// first, then of the most advanced (gap 29), then late jobs. T caps it, in whole containers and for training at least one.
fn ahead(order: &[Ranked<'_>], sizes: &Sizes, supply: &Supply<'_>, at_most: f64) -> ByHandle<AppId, (usize, f64)> {
    let mut cap = Cap::of(supply, at_most);
    let trainees = trainees(order, sizes, supply);
    // Phase by phase of one trainee after the other.
    let mut kept: Vec<u32> = Vec::new();
    for (trainee, job) in &trainees {
        let mut usable = job.demand - job.masters;
        kept.extend(trainee.phases.iter().map(|phase| {
            let containers = cap.keep(phase.train.min(whole(usable, phase.one)), phase.one);
            usable -= f64::from(containers) * phase.one;
            containers
        }));
    }
    let none = kept.iter().all(|containers| *containers == 0);
    let mut kept = kept.as_slice();
    let mut given: ByHandle<AppId, (usize, f64)> = ByHandle::default();
    for (place, (trainee, job)) in trainees.into_iter().enumerate() {
        let (own, others) = kept.split_at(trainee.phases.len());
        kept = others;
        let phases = || trainee.phases.iter().zip(own);
        let mut all: f64 = phases().map(|(phase, kept)| f64::from(*kept) * phase.one).sum();
        for (phase, kept) in phases() {
            let first = none && given.is_empty() && all == 0.0 && phase.one <= at_most + EPSILON;
            // A job that may not run now cannot use what it waits for: the next one may.
            let usable = (phase.wanted - kept).min(whole(job.demand - job.masters - all, phase.one));
            all += f64::from(cap.take(usable, phase.one, first)) * phase.one;
        }
        if all > EPSILON {
            given.insert(job.app, (place, all));
        }
    }
    let tiny = order.iter().any(|ranked| ranked.precedence == Precedence::Tiny && ranked.job.demand > 0.0);
    for ranked in order.iter().filter(|ranked| tiny && is_late(ranked)) {
        let job = ranked.job;
        let place = given.len();
        let (place, before) = given.get(&job.app).copied().unwrap_or((place, 0.0));
        let open = job.phases.iter().filter(|phase| phase.left() > 0 && phase.one > 0.0);
        let Some(one) = open.map(|phase| phase.one).reduce(f64::min) else { continue };
        let more = cap.take(whole(job.demand - job.masters - before, one), one, false);
        if more > 0 {
            given.insert(job.app, (place, before + f64::from(more) * one));
        }
    }
    given
}
