//! The resource allocation problem (Wolf et al. 2010, §3.2): the best schedule in which every job keeps one allocation.
//!
//! Job j on s slots from now on costs `F_j(s) = penalty_j(now + work_j / s)`; choose s within the bounds, at most all
//! slots together, for the least sum or the least maximum. Sorting the jobs by their completion in it gives FLEX's
//! generic ordering.
//!
//! | case | solver | cost |
//! |---|---|---|
//! | sum, every `F_j` convex | Fox's greedy marginal analysis | O(S log J) |
//! | sum, some `F_j` not convex | dynamic programme | O(J · S · levels) |
//! | maximum | greedy on the largest current `F_j` | O(S log J) |
//!
//! The paper reduces the maximum to a sum of `G_j(s) = Σ F_j(i)`. As printed that is concave in the number of slots,
//! and greedy on it is wrong; with `G_j(s) = −Σ_{i=m_j}^{s−1} F_j(i)` it is convex, and greedy gives every slot to the
//! job that is worst off.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::problem::{Instance, Problem, ProblemError};

/// Largest number of slots above the minima shared one by one; above it slots are shared in equal grains. It bounds
/// the time of one epoch, and only the generic ordering depends on it.
const MAX_UNITS: u64 = 1 << 12;
/// Largest number of steps of the dynamic programme before it, too, shares larger grains.
const MAX_PROGRAMME: u64 = 1_000_000;
/// First differences that are equal but for rounding count as convex; relative to the costs.
const CONVEX_WITHIN: f64 = 1e-12;

/// How a resource allocation problem was solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Fox: the next slot goes where it saves most.
    Marginal,
    /// Jobs × slots, for costs that are not convex.
    Programme,
    /// The next slot goes to the job that is worst off.
    WorstOff,
}

/// An optimal constant allocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moldable {
    /// Slots of each job, in the problem's order; possibly fewer than all where more would not help.
    pub slots: Vec<u32>,
    /// The objective's value if every job keeps its slots.
    pub value: f64,
    /// How it was found.
    pub solver: Solver,
    /// Slots shared at a time: 1 (the allocation is optimal) up to some 4,000 slots, or some 1,000 for
    /// hundreds of jobs of which some are not convex.
    pub grain: u32,
}

/// The best schedule in which every job keeps one allocation until it completes.
///
/// # Errors
/// When the problem does not pass [`Problem::check`].
pub fn moldable(problem: &Problem) -> Result<Moldable, ProblemError> {
    let instance = Instance::new(problem)?;
    let (slots, solver, grain) = solve(&instance);
    let completion: Vec<f64> = slots.iter().zip(&problem.jobs).map(|(&s, job)| job.work / f64::from(s)).collect();
    Ok(Moldable { slots, value: problem.value(&completion), solver, grain })
}

/// Slots of each job, the solver and the grain it used.
pub(super) fn solve(instance: &Instance) -> (Vec<u32>, Solver, u32) {
    let slack = instance.slack();
    let grain = slack.div_ceil(MAX_UNITS).max(1) as u32;
    let mut table = Table { instance, grain };
    if instance.problem.aggregate.is_minimax() {
        let given = table.greedy(|job, level| table.cost(job, level));
        return (table.slots(&given), Solver::WorstOff, grain);
    }
    if instance.runnable.iter().all(|&job| table.is_convex(job)) {
        let given = table.greedy(|job, level| table.saving(job, level));
        return (table.slots(&given), Solver::Marginal, grain);
    }
    let options = loop {
        let options: Vec<Vec<u32>> = instance.runnable.iter().map(|&job| table.worthwhile(job)).collect();
        let count: usize = options.iter().map(Vec::len).sum();
        if table.units() <= 1 || count as u64 * table.units() <= MAX_PROGRAMME {
            break options;
        }
        table.grain *= 2;
    };
    let given = table.programme(&options);
    (table.slots(&given), Solver::Programme, table.grain)
}

/// Costs by job and *level*: the number of grains above the job's minimum.
struct Table<'a> {
    instance: &'a Instance<'a>,
    grain: u32,
}

impl Table<'_> {
    /// Whole grains above all minima.
    fn units(&self) -> u64 {
        self.instance.slack() / u64::from(self.grain)
    }

    /// The level at which the job has its maximum, if so much is there.
    fn top(&self, job: usize) -> u32 {
        let b = self.instance.bounds[job];
        u64::from((b.max - b.min).div_ceil(self.grain)).min(self.units()) as u32
    }

    fn slots_at(&self, job: usize, level: u32) -> u32 {
        let b = self.instance.bounds[job];
        (u64::from(b.min) + u64::from(level) * u64::from(self.grain)).min(u64::from(b.max)) as u32
    }

    /// `F_j`; on no slots the job never completes.
    fn cost(&self, job: usize, level: u32) -> f64 {
        self.instance.cost(job, self.instance.work(job) / f64::from(self.slots_at(job, level)))
    }

    /// What the grain after `level` saves.
    fn saving(&self, job: usize, level: u32) -> f64 {
        let (before, after) = (self.cost(job, level), self.cost(job, level + 1));
        // Both infinite: no saving. (The difference would not be a number.)
        if before == after {
            0.0
        } else {
            before - after
        }
    }

    /// Whether the savings never rise, looked up where they could: between the breaks of the penalty `F_j` is
    /// `a / s + b`, which is convex, so the second differences around the breaks decide.
    fn is_convex(&self, job: usize) -> bool {
        let top = self.top(job);
        let penalty = self.instance.penalty(job);
        let near = |at: f64| {
            let slots = self.instance.work(job) / self.instance.until(job, at);
            let level = (slots - f64::from(self.instance.bounds[job].min)) / f64::from(self.grain);
            // A break in the past is met by no number of slots.
            let level = if slots > 0.0 && slots.is_finite() { level } else { f64::INFINITY };
            (level - 3.0).clamp(0.0, f64::from(top)) as u32..=(level + 3.0).clamp(0.0, f64::from(top)) as u32
        };
        penalty.breaks().into_iter().flat_map(near).filter(|&level| level + 2 <= top).all(|level| {
            let allowance = CONVEX_WITHIN * self.cost(job, level + 1).abs();
            self.saving(job, level) + allowance >= self.saving(job, level + 1)
        })
    }

    /// Gives grain after grain to the job with the largest gain, which must not rise with the level. Ties go to the
    /// earlier job.
    fn greedy(&self, gain: impl Fn(usize, u32) -> f64) -> Vec<u32> {
        let runnable = &self.instance.runnable;
        let mut given = vec![0; runnable.len()];
        let offer = |at: usize, level: u32| {
            (level < self.top(runnable[at])).then(|| Gain { gain: gain(runnable[at], level), at })
        };
        let mut heap: BinaryHeap<Gain> = (0..runnable.len()).filter_map(|at| offer(at, 0)).collect();
        for _ in 0..self.units() {
            let Some(Gain { at, .. }) = heap.pop() else { break };
            given[at] += 1;
            heap.extend(offer(at, given[at]));
        }
        given
    }

    /// Level 0 and the levels that cost less than the level before: all that a cheapest allocation needs. Costs never
    /// rise with the level, so each is found by bisection.
    fn worthwhile(&self, job: usize) -> Vec<u32> {
        let top = self.top(job);
        let mut levels = vec![0];
        let mut level = 0;
        while self.cost(job, top) < self.cost(job, level) {
            let cost = self.cost(job, level);
            let mut cheaper = top;
            while cheaper - level > 1 {
                let middle = level + (cheaper - level) / 2;
                if self.cost(job, middle) < cost {
                    cheaper = middle;
                } else {
                    level = middle;
                }
            }
            level = cheaper;
            levels.push(level);
        }
        levels
    }

    /// `V_j(k) = min over levels l ≤ k of V_{j−1}(k − l) + F_j(l)`, with the choices kept.
    fn programme(&self, options: &[Vec<u32>]) -> Vec<u32> {
        let units = self.units() as usize;
        let mut value = vec![0.0; units + 1];
        let mut chosen = vec![0u32; options.len() * (units + 1)];
        for ((&job, levels), chosen) in self.instance.runnable.iter().zip(options).zip(chosen.chunks_mut(units + 1)) {
            let mut next = vec![f64::INFINITY; units + 1];
            for &level in levels {
                let cost = self.cost(job, level);
                for k in level as usize..=units {
                    let total = value[k - level as usize] + cost;
                    if total < next[k] {
                        (next[k], chosen[k]) = (total, level);
                    }
                }
            }
            value = next;
        }
        let mut left = units;
        let mut given = vec![0; options.len()];
        for (at, given) in given.iter_mut().enumerate().rev() {
            *given = chosen[at * (units + 1) + left];
            left -= *given as usize;
        }
        given
    }

    fn slots(&self, given: &[u32]) -> Vec<u32> {
        let mut slots = vec![0; self.instance.bounds.len()];
        for (&job, &level) in self.instance.runnable.iter().zip(given) {
            slots[job] = self.slots_at(job, level);
        }
        slots
    }
}

/// Orders by gain, then by the earlier job.
struct Gain {
    gain: f64,
    at: usize,
}

impl Ord for Gain {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.gain.total_cmp(&other.gain).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for Gain {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Gain {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Gain {}
