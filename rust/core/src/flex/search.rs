//! The search for a good ordering: try the rules, then improve them by local search (Wolf et al. 2010, §3.2). The local
//! search stands for the schemes the paper omits; without it the claim of 0.1 % from the optimum fails.

use super::bounds::least_maximum;
use super::mps::Packer;
use super::orderings::{by_effective_deadline, candidates, Rule};
use super::problem::{Instance, Score};

/// Halvings of the span between lower bound and best value in the search for a least maximum.
const HALVINGS: usize = 20;

/// The best ordering so far.
pub(super) struct Best {
    pub score: Score,
    pub order: Vec<usize>,
    pub rule: Rule,
    /// Whether swaps improved what the rule gave.
    pub polished: bool,
}

impl Best {
    /// The ordering of no jobs.
    fn nothing() -> Self {
        let score = Score { objective: 0.0, completions: 0.0 };
        Self { score, order: Vec::new(), rule: Rule::Generic, polished: false }
    }
}

/// Packs orderings, counts them and keeps the best.
pub(super) struct Search<'a> {
    instance: &'a Instance<'a>,
    pub packer: Packer<'a>,
    pub evaluations: usize,
}

impl<'a> Search<'a> {
    pub fn new(instance: &'a Instance<'a>) -> Self {
        Self { instance, packer: Packer::new(instance), evaluations: 0 }
    }

    /// The best of all rules; then, while `go_on` allows another evaluation, the local optimum around each of them,
    /// the most promising first, and around the best ordering turned by one place, two, and so on, which no rule
    /// would give.
    pub fn run(&mut self, go_on: &mut dyn FnMut() -> bool) -> Best {
        let mut starts = Vec::new();
        for (rule, order) in candidates(self.instance) {
            let score = self.score(&order);
            starts.push(Best { score, order, rule, polished: false });
        }
        if self.instance.problem.aggregate.is_minimax() {
            let lowest = starts.iter().map(|s| s.score.objective).fold(f64::INFINITY, f64::min);
            starts.extend(self.halve(lowest));
        }
        starts.sort_by(|a, b| a.score.total_cmp(&b.score));
        let mut starts = starts.into_iter();
        let mut best = starts.next().unwrap_or_else(Best::nothing);
        let mut in_time = self.descend(&mut best, go_on);
        for mut start in starts {
            if !in_time {
                break;
            }
            in_time = self.descend(&mut start, go_on);
            if start.score < best.score {
                best = start;
            }
        }
        for turn in 1..best.order.len() {
            if !in_time {
                break;
            }
            let mut order = best.order.clone();
            order.rotate_left(turn);
            let mut start = Best { score: self.score(&order), order, rule: best.rule, polished: true };
            in_time = self.descend(&mut start, go_on);
            if start.score < best.score {
                best = start;
            }
        }
        best
    }

    fn score(&mut self, order: &[usize]) -> Score {
        self.evaluations += 1;
        self.instance.score(self.packer.completions(order))
    }

    /// Bisection on the value of a maximum, known to be at most `high`: order by the effective deadlines of a value
    /// and see whether it is met.
    fn halve(&mut self, mut high: f64) -> Option<Best> {
        let mut best: Option<Best> = None;
        let mut low = least_maximum(self.instance);
        for halving in 0..HALVINGS {
            // The bound itself first: often it can be reached.
            let value = if halving == 0 { low } else { low + (high - low) / 2.0 };
            if value >= high {
                break;
            }
            let order = by_effective_deadline(self.instance, value);
            let score = self.score(&order);
            if score.objective > value {
                low = value;
            }
            high = high.min(score.objective);
            if best.as_ref().is_none_or(|b| score < b.score) {
                best = Some(Best { score, order, rule: Rule::EffectiveDeadline, polished: false });
            }
        }
        best
    }

    /// To a local optimum: swaps of neighbours until none improves, then swaps of any two, then moves of one job to
    /// any place, until no move of any kind improves. `false` if `go_on` ended it.
    fn descend(&mut self, best: &mut Best, go_on: &mut dyn FnMut() -> bool) -> bool {
        let jobs = best.order.len();
        let swaps = |reach| (1..=reach).flat_map(move |gap| (gap..jobs).map(move |second| (second - gap, second)));
        let places = (0..jobs).flat_map(|from| (0..jobs).map(move |to| (from, to)));
        // One place further is a swap of neighbours.
        let moves = places.filter(|(from, to)| from.abs_diff(*to) > 1);
        loop {
            let mut improve = || {
                self.exhaust(best, swaps(1), swap, go_on)?;
                self.exhaust(best, swaps(jobs.saturating_sub(1)), swap, go_on)?;
                self.exhaust(best, moves.clone(), shift, go_on)
            };
            match improve() {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
        }
    }

    /// Tries every change, keeps those that improve, and starts over until none does. Whether any did, or nothing if
    /// `go_on` ended it.
    fn exhaust(
        &mut self,
        best: &mut Best,
        changes: impl Iterator<Item = (usize, usize)> + Clone,
        apply: fn(&mut [usize], usize, usize),
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<bool> {
        let mut any = false;
        loop {
            let mut improved = false;
            for (from, to) in changes.clone() {
                if !go_on() {
                    return None;
                }
                apply(&mut best.order, from, to);
                let score = self.score(&best.order);
                if score < best.score {
                    best.score = score;
                    best.polished = true;
                    improved = true;
                } else {
                    apply(&mut best.order, to, from);
                }
            }
            any |= improved;
            if !improved {
                return Some(any);
            }
        }
    }
}

fn swap(order: &mut [usize], a: usize, b: usize) {
    order.swap(a, b);
}

/// Moves the job at `from` to `to`; those between make room.
fn shift(order: &mut [usize], from: usize, to: usize) {
    if from < to {
        order[from..=to].rotate_left(1);
    } else {
        order[to..=from].rotate_right(1);
    }
}
