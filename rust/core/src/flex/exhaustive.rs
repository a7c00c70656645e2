//! The best malleable packing over *all* orderings: what the paper measures FLEX against (Wolf et al. 2010, §4.1).
//!
//! Branch and bound over the decisions that matter: whenever slots are free, which job gets them next. Orderings that
//! differ only in jobs which complete on their minima give one schedule and are visited once. Its result is the best
//! of the orderings, not of all malleable schedules: for makespan, tardiness and the step families those can be
//! better (the paper's Lemma 1 does not hold in general, see the tests).

use super::bounds::{may_keep_within, sum_bound, Left};
use super::problem::{Instance, Score};
use super::{Aggregate, Seconds, SlotSeconds};

/// Most jobs an exhaustive search takes: beyond the paper's ten the orderings run into the hundred millions.
pub const MAX_JOBS: usize = 12;
/// A bound this much (relative) below the best value is no reason to go on: it is rounding.
const ROUNDING: f64 = 1e-12;

#[derive(Clone, Copy, PartialEq)]
enum Share {
    /// Not in the ordering yet: holds its minimum.
    Minimum,
    /// The last in the ordering: holds its minimum and what is spare.
    Partial,
    Maximum,
    Done,
}

#[derive(Clone)]
struct Node {
    now: Seconds,
    spare: u64,
    left: Vec<SlotSeconds>,
    share: Vec<Share>,
    completion: Vec<Seconds>,
    order: Vec<usize>,
    /// Place in `order` from which on jobs were given their maxima at this very moment.
    at_once: usize,
}

/// Searches for an ordering better than `order` with `score`; both are replaced where there is one.
pub(super) fn improve(instance: &Instance, order: &mut Vec<usize>, score: &mut Score) {
    let jobs = instance.bounds.len();
    let mut share = vec![Share::Done; jobs];
    for &job in &instance.runnable {
        share[job] = Share::Minimum;
    }
    let root = Node {
        now: 0.0,
        spare: instance.slack(),
        left: (0..jobs).map(|job| instance.work(job)).collect(),
        share,
        completion: vec![f64::INFINITY; jobs],
        order: Vec::new(),
        at_once: 0,
    };
    Tree { instance, order, score }.visit(root);
}

struct Tree<'a> {
    instance: &'a Instance<'a>,
    order: &'a mut Vec<usize>,
    score: &'a mut Score,
}

impl Tree<'_> {
    fn visit(&mut self, mut node: Node) {
        loop {
            if self.hopeless(&node) {
                return;
            }
            let open = |&job: &usize| node.share[job] == Share::Minimum && self.room(job) > 0;
            let partial = node.share.contains(&Share::Partial);
            if node.spare > 0 && !partial {
                let takers: Vec<usize> = self.instance.runnable.iter().copied().filter(open).collect();
                if !takers.is_empty() {
                    return takers.into_iter().for_each(|job| self.branch(&node, job));
                }
            }
            if !self.advance(&mut node) {
                return self.finish(node);
            }
        }
    }

    fn room(&self, job: usize) -> u64 {
        let b = self.instance.bounds[job];
        u64::from(b.max - b.min)
    }

    /// `job` is next in the ordering.
    fn branch(&mut self, node: &Node, job: usize) {
        let whole = node.spare >= self.room(job);
        // Maxima handed out at one moment commute: only their ascending order is visited.
        if whole && node.order[node.at_once..].iter().any(|&earlier| earlier > job) {
            return;
        }
        let mut child = node.clone();
        child.order.push(job);
        if whole {
            child.spare -= self.room(job);
            child.share[job] = Share::Maximum;
        } else {
            child.share[job] = Share::Partial;
        }
        self.visit(child);
    }

    fn rate(&self, node: &Node, job: usize) -> f64 {
        let b = self.instance.bounds[job];
        match node.share[job] {
            Share::Minimum => f64::from(b.min),
            Share::Partial => f64::from(b.min) + node.spare as f64,
            Share::Maximum => f64::from(b.max),
            Share::Done => 0.0,
        }
    }

    /// To the next completion; `false` if there is none.
    fn advance(&self, node: &mut Node) -> bool {
        let rates: Vec<(usize, f64)> =
            self.instance.runnable.iter().map(|&job| (job, self.rate(node, job))).filter(|r| r.1 > 0.0).collect();
        let span = |&(job, rate): &(usize, f64)| node.left[job] / rate;
        let Some(&(first, rate)) = rates.iter().min_by(|a, b| span(a).total_cmp(&span(b))) else { return false };
        let step = node.left[first] / rate;
        for (job, rate) in rates {
            node.left[job] = (node.left[job] - rate * step).max(0.0);
        }
        node.now += step;
        node.spare += u64::from(self.instance.bounds[first].min);
        if node.share[first] == Share::Maximum {
            node.spare += self.room(first);
        }
        node.share[first] = Share::Done;
        node.completion[first] = node.now;
        node.at_once = node.order.len();
        if let Some(job) = node.share.iter().position(|&s| s == Share::Partial) {
            if node.spare >= self.room(job) {
                node.spare -= self.room(job);
                node.share[job] = Share::Maximum;
            }
        }
        true
    }

    /// Whether no completion of this partial schedule beats the best.
    fn hopeless(&self, node: &Node) -> bool {
        let best = self.score.objective;
        let unfinished = self.instance.runnable.iter().filter(|&&job| node.share[job] != Share::Done);
        let left: Vec<Left> = unfinished.map(|&job| Left { job, work: node.left[job] }).collect();
        let done = self.instance.runnable.iter().filter(|&&job| node.share[job] == Share::Done);
        let costs = done.map(|&job| self.instance.cost(job, node.completion[job]));
        let goal = best - ROUNDING * best.abs();
        match self.instance.problem.aggregate {
            Aggregate::Max => {
                costs.fold(f64::NEG_INFINITY, f64::max) >= goal
                    || !may_keep_within(self.instance, node.now, &left, goal)
            }
            Aggregate::Sum => costs.sum::<f64>() + sum_bound(self.instance, node.now, &left) >= goal,
            Aggregate::Mean => {
                let jobs = self.instance.runnable.len() as f64;
                (costs.sum::<f64>() + sum_bound(self.instance, node.now, &left)) / jobs >= goal
            }
        }
    }

    fn finish(&mut self, node: Node) {
        let score = self.instance.score(&node.completion);
        if score.objective < self.score.objective {
            *self.score = score;
            *self.order = node.order;
            // Jobs that completed on their minima have no say.
            let rest = self.instance.runnable.iter().filter(|job| !self.order.contains(job)).copied();
            let rest: Vec<usize> = rest.collect();
            self.order.extend(rest);
        }
    }
}
