//! Random problems, and the plain forms of what the core does cleverly.

use hiatus_core::flex::{Aggregate, Job, Metric, Penalty, Problem, Schedule, Step, Terms};
use proptest::prelude::*;

/// A job without metric.
pub fn job(work: f64, min: u32, max: u32, penalty: Penalty) -> Job {
    Job { work, min, max, age: 0.0, penalty }
}

/// Jobs of equal weight, response time.
pub fn response(slots: u32, aggregate: Aggregate, jobs: &[(f64, u32, u32)]) -> Problem {
    let jobs = jobs.iter().map(|&(work, min, max)| job(work, min, max, Penalty::Response { weight: 1.0 })).collect();
    Problem { slots, aggregate, jobs }
}

/// Deterministic numbers for tests that count instances (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in 0..1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn whole(&mut self, from: u32, to: u32) -> u32 {
        from + (self.unit() * f64::from(to - from + 1)) as u32
    }
}

/// A job before a metric is chosen.
pub struct Draft {
    pub work: f64,
    pub min: u32,
    pub max: u32,
    pub terms: Terms,
}

/// Jobs of one to two orders of magnitude, minima that bind, maxima that sometimes do.
pub fn drafts(dice: &mut Dice, slots: u32, jobs: usize) -> Vec<Draft> {
    let works: Vec<f64> = (0..jobs).map(|_| (dice.unit() * 4.0).exp()).collect();
    let horizon = 1.5 * works.iter().sum::<f64>() / f64::from(slots);
    let share = slots / jobs as u32;
    works
        .into_iter()
        .map(|work| {
            let max = if dice.unit() < 0.5 { slots } else { dice.whole(1, slots) };
            let mut deadlines = [(); 3].map(|()| dice.unit() * horizon);
            let mut penalties = [(); 3].map(|()| dice.unit());
            deadlines.sort_by(f64::total_cmp);
            penalties.sort_by(f64::total_cmp);
            let steps = deadlines.into_iter().zip(penalties).map(|(deadline, penalty)| Step { deadline, penalty });
            let terms = Terms {
                weight: dice.unit(),
                deadline: Some(dice.unit() * horizon),
                steps: steps.collect(),
                alone: work / f64::from(max),
            };
            Draft { work, min: dice.whole(0, share), max, terms }
        })
        .collect()
}

pub fn problem(slots: u32, metric: Metric, drafts: &[Draft]) -> Problem {
    let jobs = drafts.iter().map(|d| job(d.work, d.min, d.max, metric.penalty(&d.terms).expect("all terms are given")));
    Problem { slots, aggregate: metric.aggregate(), jobs: jobs.collect() }
}

/// Any problem a caller may send, degenerate ones included.
pub fn any_problem(jobs: std::ops::Range<usize>, slots: impl Strategy<Value = u32>) -> impl Strategy<Value = Problem> {
    let number = || prop_oneof![Just(1.0), 0.01f64..50.0];
    let step = (0.1f64..30.0, 0.0f64..5.0);
    let penalty = prop_oneof![
        (0.0f64..3.0).prop_map(|weight| Penalty::Response { weight }),
        (-5.0f64..60.0, 0.0f64..3.0).prop_map(|(deadline, weight)| Penalty::Tardy { deadline, weight }),
        (-5.0f64..60.0, 0.0f64..3.0).prop_map(|(deadline, weight)| Penalty::Tardiness { deadline, weight }),
        (-5.0f64..60.0, 0.0f64..3.0).prop_map(|(deadline, weight)| Penalty::Lateness { deadline, weight }),
        prop::collection::vec(step, 1..4).prop_map(|raw| {
            let (mut deadline, mut penalty) = (0.0, 0.0);
            let steps = raw.into_iter().map(|(after, more)| {
                (deadline, penalty) = (deadline + after, penalty + more);
                Step { deadline, penalty }
            });
            Penalty::Sla { steps: steps.collect() }
        }),
    ];
    let job = (number(), 0u32..12, 0u32..30, prop_oneof![Just(0.0), 0.0f64..40.0], penalty)
        .prop_map(|(work, min, max, age, penalty)| Job { work, min, max, age, penalty });
    let aggregate = prop_oneof![Just(Aggregate::Sum), Just(Aggregate::Mean), Just(Aggregate::Max)];
    (slots, aggregate, prop::collection::vec(job, jobs)).prop_map(|(slots, aggregate, mut jobs)| {
        if aggregate.is_minimax() {
            jobs.retain(|job| job.penalty.allows_minimax());
        }
        Problem { slots, aggregate, jobs }
    })
}

/// Calls `visit` with every ordering of `0..jobs` (Heap's algorithm).
pub fn every_ordering(jobs: usize, mut visit: impl FnMut(&[usize])) {
    fn permute(k: usize, order: &mut [usize], visit: &mut dyn FnMut(&[usize])) {
        if k <= 1 {
            return visit(order);
        }
        for i in 0..k {
            permute(k - 1, order, visit);
            order.swap(if k.is_multiple_of(2) { i } else { 0 }, k - 1);
        }
    }
    permute(jobs, &mut (0..jobs).collect::<Vec<_>>(), &mut visit);
}

/// Fig. 3 of the paper, line by line (with its two traps closed): completion times under an ordering.
pub fn figure_3(problem: &Problem, order: &[usize]) -> Vec<f64> {
    let bounds = problem.bounds();
    let mut list: Vec<usize> = order.iter().copied().filter(|&j| bounds[j].max > 0).collect();
    let mut left: Vec<f64> = problem.jobs.iter().map(|j| j.work).collect();
    let mut completion = vec![f64::INFINITY; left.len()];
    let mut now = 0.0;
    while !list.is_empty() {
        let mut spare = problem.slots - list.iter().map(|&j| bounds[j].min).sum::<u32>();
        let mut slots = vec![0.0; left.len()];
        for &j in &list {
            let more = spare.min(bounds[j].max - bounds[j].min);
            slots[j] = f64::from(bounds[j].min + more);
            spare -= more;
        }
        let first = list.iter().copied().min_by(|&a, &b| (left[a] / slots[a]).total_cmp(&(left[b] / slots[b])));
        let first = first.expect("the list is not empty");
        let span = left[first] / slots[first];
        now += span;
        completion[first] = now;
        list.retain(|&j| j != first);
        for &j in &list {
            left[j] = (left[j] - slots[j] * span).max(0.0);
        }
    }
    completion
}

/// Asserts what every schedule keeps in every interval: C8, contiguous intervals, and all work done on time.
pub fn assert_lawful(problem: &Problem, schedule: &Schedule) {
    let bounds = problem.bounds();
    let mut done = vec![0.0; bounds.len()];
    let mut now = 0.0;
    for interval in &schedule.intervals {
        assert_eq!(interval.start, now, "intervals follow one another");
        assert!(interval.end > now, "interval ends rise");
        let active = |j: usize| schedule.completion[j] >= interval.end && bounds[j].max > 0;
        let demand: u64 = (0..bounds.len()).filter(|&j| active(j)).map(|j| u64::from(bounds[j].max)).sum();
        let given: u64 = interval.slots.iter().map(|&s| u64::from(s)).sum();
        assert_eq!(given, demand.min(u64::from(problem.slots)), "all slots that can be used are used");
        let partial = |j: usize| bounds[j].min < interval.slots[j] && interval.slots[j] < bounds[j].max;
        assert!((0..bounds.len()).filter(|&j| active(j) && partial(j)).count() <= 1, "one partial allocation");
        for (j, &slots) in interval.slots.iter().enumerate() {
            if active(j) {
                assert!(bounds[j].min <= slots && slots <= bounds[j].max, "{slots} slots outside {:?}", bounds[j]);
            } else {
                assert_eq!(slots, 0, "a completed job holds nothing");
            }
            done[j] += f64::from(slots) * (interval.end - now);
        }
        now = interval.end;
    }
    for (j, job) in problem.jobs.iter().enumerate() {
        if bounds[j].max > 0 {
            assert!((done[j] - job.work).abs() <= 1e-9 * job.work.max(now), "job {j}: {} of {}", done[j], job.work);
        } else {
            assert_eq!(schedule.completion[j], f64::INFINITY);
        }
    }
}
