//! The malleable packing scheme (Wolf et al. 2010, §3.1, Fig. 3): from an ordering of the jobs to a schedule.
//!
//! Every job holds its minimum; what is left goes to the jobs in priority order, each up to its maximum, until some
//! job completes; and so on. Two traps of the printed pseudocode are closed: where the maxima do not use all slots the
//! rest stays idle, and a minimum never exceeds its maximum (see [`crate::waterline::normalise`]).
//!
//! The printed form costs O(jobs²) per ordering. Here it is O(jobs log jobs), because slots only ever become free: a
//! job passes from its minimum over a partial allocation to its maximum, never back. So in priority order the
//! unfinished jobs before the *head* hold their maxima, those after it their minima, and the head what is left; only
//! the head's rate ever changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::problem::Instance;
use super::{Seconds, SlotSeconds};
use crate::waterline::Bounds;

/// A span of time in which no allocation changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Seconds after the snapshot.
    pub start: Seconds,
    /// Seconds after the snapshot; later than `start`.
    pub end: Seconds,
    /// Slots of each job, in the problem's order; 0 for completed jobs.
    pub slots: Vec<u32>,
}

/// What the slots do until the last job completes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// One after the other, from 0, without gaps. Jobs that complete together end one interval.
    pub intervals: Vec<Interval>,
    /// When each job completes, in seconds after the snapshot; infinity if it cannot run.
    pub completion: Vec<Seconds>,
}

/// Completion events, soonest first. The bits of non-negative floats sort as the floats do.
type Events = BinaryHeap<Reverse<(u64, usize)>>;

/// Packs one ordering after the other without allocating memory.
pub(super) struct Packer<'a> {
    instance: &'a Instance<'a>,
    /// Jobs with a minimum, by the time they would complete with nothing more.
    by_minimum: Vec<(Seconds, usize)>,
    /// Place of each job in the ordering being packed.
    place: Vec<usize>,
    at_maximum: Events,
    completion: Vec<Seconds>,
}

/// The allocations of the interval being packed.
struct State<'p> {
    order: &'p [usize],
    bounds: &'p [Bounds],
    completion: &'p [Seconds],
    head: usize,
    /// Slots of the head above its minimum.
    spare: u64,
}

impl State<'_> {
    fn slots(&self) -> Vec<u32> {
        let mut slots = vec![0; self.bounds.len()];
        for (place, &job) in self.order.iter().enumerate().filter(|(_, &job)| self.completion[job].is_infinite()) {
            slots[job] = match place.cmp(&self.head) {
                std::cmp::Ordering::Less => self.bounds[job].max,
                std::cmp::Ordering::Equal => self.bounds[job].min + self.spare as u32,
                std::cmp::Ordering::Greater => self.bounds[job].min,
            };
        }
        slots
    }
}

impl<'a> Packer<'a> {
    pub fn new(instance: &'a Instance<'a>) -> Self {
        let guaranteed = instance.runnable.iter().filter(|&&j| instance.bounds[j].min > 0);
        let mut by_minimum: Vec<_> =
            guaranteed.map(|&j| (instance.work(j) / f64::from(instance.bounds[j].min), j)).collect();
        by_minimum.sort_by(|a, b| a.0.total_cmp(&b.0));
        let jobs = instance.bounds.len();
        let (place, completion) = (vec![0; jobs], vec![f64::INFINITY; jobs]);
        Self { instance, by_minimum, place, at_maximum: Events::new(), completion }
    }

    /// When each job completes under this ordering of all runnable jobs.
    pub fn completions(&mut self, order: &[usize]) -> &[Seconds] {
        self.pack(order, |_, _, _| ());
        &self.completion
    }

    /// The slots each job holds in the first interval of this ordering's schedule.
    pub fn first_interval(&mut self, order: &[usize]) -> Vec<u32> {
        let mut first = None;
        self.pack(order, |_, _, state| {
            first.get_or_insert_with(|| state.slots());
        });
        first.unwrap_or_else(|| vec![0; self.completion.len()])
    }

    /// The whole schedule of this ordering.
    pub fn schedule(&mut self, order: &[usize]) -> Schedule {
        let mut intervals = Vec::new();
        self.pack(order, |start, end, state| intervals.push(Interval { start, end, slots: state.slots() }));
        Schedule { intervals, completion: self.completion.clone() }
    }

    fn pack(&mut self, order: &[usize], mut on_interval: impl FnMut(Seconds, Seconds, State)) {
        let Self { instance, by_minimum, place, at_maximum, completion } = self;
        let bounds = &instance.bounds;
        at_maximum.clear();
        completion.fill(f64::INFINITY);
        for (at, &job) in order.iter().enumerate() {
            place[job] = at;
        }
        let mut now = 0.0;
        let mut spare = instance.slack();
        let mut head = 0;
        let mut head_left = order.first().map_or(0.0, |&job| instance.work(job));
        let mut next_slow = 0;
        // Work left of a job that has held its minimum until now.
        let left_after = |job: usize, now: Seconds| -> SlotSeconds {
            (instance.work(job) - f64::from(bounds[job].min) * now).max(0.0)
        };
        loop {
            while let Some(&job) = order.get(head) {
                let room = u64::from(bounds[job].max - bounds[job].min);
                if completion[job].is_infinite() {
                    if spare < room {
                        break;
                    }
                    spare -= room;
                    let end = now + head_left / f64::from(bounds[job].max);
                    at_maximum.push(Reverse((end.to_bits(), job)));
                }
                head += 1;
                head_left = order.get(head).map_or(0.0, |&next| left_after(next, now));
            }
            // A job that reached the head or passed it is no longer at its minimum.
            let slow = loop {
                match by_minimum.get(next_slow) {
                    Some(&(_, job)) if completion[job].is_finite() || place[job] <= head => next_slow += 1,
                    other => break other.copied(),
                }
            };
            let head_rate = order.get(head).map_or(0.0, |&job| u64::from(bounds[job].min) as f64 + spare as f64);
            let mut next = slow;
            if head_rate > 0.0 {
                next = sooner(next, (now + head_left / head_rate, order[head]));
            }
            if let Some(&Reverse((bits, job))) = at_maximum.peek() {
                next = sooner(next, (f64::from_bits(bits), job));
            }
            let Some((end, job)) = next else { break };
            let end = end.max(now);
            if end > now {
                on_interval(now, end, State { order, bounds, completion, head, spare });
                head_left = (head_left - head_rate * (end - now)).max(0.0);
                now = end;
            }
            completion[job] = now;
            spare += u64::from(bounds[job].min);
            if place[job] < head {
                at_maximum.pop();
                spare += u64::from(bounds[job].max - bounds[job].min);
            }
        }
    }
}

fn sooner(best: Option<(Seconds, usize)>, other: (Seconds, usize)) -> Option<(Seconds, usize)> {
    match best {
        Some(best) if best.0 <= other.0 => Some(best),
        _ => Some(other),
    }
}
