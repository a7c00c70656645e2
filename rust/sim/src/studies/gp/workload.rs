//! Table III: 130 jobs of 28,621 maps, one of them heavy-tailed, and 25 more after them so that the cluster does not run dry.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::workload::cluster::{gb, millis, Arrivals, Job, Stage, Times};
use hiatus_core::units::{Millis, PartitionId};

/// Maps of a job, and how many jobs have tasks of so many seconds on average.
const TABLE_III: &[(u32, &[(f64, usize)])] = &[
    (1, &[(100.0, 16), (160.0, 16), (300.0, 11), (600.0, 6)]),
    (2, &[(100.0, 7), (160.0, 7), (300.0, 4), (600.0, 3)]),
    (10, &[(100.0, 7), (160.0, 6), (300.0, 3), (600.0, 2)]),
    (50, &[(100.0, 4), (160.0, 4), (300.0, 2), (600.0, 1)]),
    (100, &[(100.0, 4), (160.0, 3), (300.0, 1)]),
    (250, &[(30.0, 3), (60.0, 2), (100.0, 2)]),
    (400, &[(30.0, 2), (60.0, 2), (100.0, 1)]),
    (800, &[(12.0, 1), (30.0, 2), (60.0, 2)]),
    (1500, &[(8.0, 1), (12.0, 1)]),
    (3000, &[(20.0, 1)]),
    (5000, &[(6.0, 1)]),
    (8000, &[(5.0, 1)]),
];

/// The heavy-tailed job: its maps, and their mean seconds.
const LONG_JOB: (u32, f64) = (250, 2500.0);
/// Task times are within this part of their mean (ours: the paper gives means).
const SPREAD: f64 = 0.2;
/// Part of the jobs that is production work.
const PRODUCTION: f64 = 0.3;
/// Jobs after the 130.
const MORE_JOBS: usize = 25;
/// Mean gap between those, in seconds; and between all where the cluster is idle.
pub(super) const IDLE_GAP_S: f64 = 80.0;
/// Mean gap between jobs where it is busy, in seconds.
pub(super) const BUSY_GAP_S: f64 = 30.0;
/// Tasks of jobs that read a lot take no longer than this: in the mixed workload only those wait for a node with their data.
const READS_A_LOT_S: f64 = 30.0;
/// Joins of the mixed workload, by maps: three jobs one after the other each (ours: the paper has fifteen of 870 maps).
const JOINS: [(u32, usize); 3] = [(50, 11), (100, 3), (10, 1)];
const STAGES_OF_A_JOIN: u32 = 3;
/// Where map slots are.
pub(super) const SLOTS: PartitionId = PartitionId(1);

/// The paths of the two queues.
pub(super) const PRODUCTION_QUEUE: &str = "root.production";
pub(super) const OTHER_QUEUE: &str = "root.other";

/// What a job is, as its bin tells.
pub(super) const OTHER: u32 = 0;
pub(super) const LONG: u32 = 1;
pub(super) const PRODUCTION_WORK: u32 = 2;
/// One of those after the 130, which do not count.
pub(super) const AFTER: u32 = 3;

/// What the jobs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All read a lot: each map lets one node without its data pass.
    Reading,
    /// Some do, and some are joins, three jobs one after the other.
    Mixed,
}

/// One of the paper's groups of experiments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Group {
    /// Mean gap between jobs, in seconds.
    pub gap_s: f64,
    /// As which of the 130, from 1, the long job arrives.
    pub place: usize,
    pub kind: Kind,
}

impl Group {
    pub(super) fn name(self) -> String {
        let kind = match self.kind {
            Kind::Reading => "I/O",
            Kind::Mixed => "mixed",
        };
        format!("{}, {kind}, long job {}", if self.gap_s < IDLE_GAP_S { "busy" } else { "idle" }, self.place)
    }
}

/// The jobs of one draw in order of arrival. Groups see the same jobs in the same order, the long one aside.
pub(super) fn draw(group: Group, seed: u64, run: u64) -> Vec<Job> {
    let base = Xoshiro256PlusPlus::seed_from_u64(seed).random::<u64>();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(base.wrapping_add(run));
    let mut shapes: Vec<(u32, f64)> = TABLE_III
        .iter()
        .flat_map(|(maps, rows)| rows.iter().flat_map(|(mean_s, jobs)| std::iter::repeat_n((*maps, *mean_s), *jobs)))
        .collect();
    let after: Vec<_> = (0..MORE_JOBS).map(|_| shapes[rng.random_range(0..shapes.len())]).collect();
    shapes.shuffle(&mut rng);
    let mut bins = vec![OTHER; shapes.len()];
    bins[..((shapes.len() + 1) as f64 * PRODUCTION).round() as usize].fill(PRODUCTION_WORK);
    bins.shuffle(&mut rng);
    let mut joins = JOINS;
    let mut jobs: Vec<Job> = shapes
        .into_iter()
        .zip(bins)
        .chain(after.into_iter().map(|shape| (shape, AFTER)))
        .map(|(shape, bin)| {
            let join = bin != AFTER && joins.iter_mut().any(|(maps, left)| *maps == shape.0 && take_one(left));
            job(shape, bin, join, group.kind, &mut rng)
        })
        .collect();
    jobs.insert(group.place - 1, job(LONG_JOB, LONG, false, group.kind, &mut rng));
    let all = jobs.len();
    let early = Arrivals::Poisson(group.gap_s).draw(all - MORE_JOBS + 1, &mut rng);
    let last = early.last().copied().unwrap_or_default();
    let late = Arrivals::Poisson(IDLE_GAP_S).draw(MORE_JOBS, &mut rng).into_iter().map(|at| last + at);
    let at = early[..all - MORE_JOBS].iter().copied().chain(late);
    let named = jobs.into_iter().zip(at).enumerate();
    named.map(|(number, (job, at))| Job { name: format!("job{number}"), ..job.at(at) }).collect()
}

fn take_one(left: &mut usize) -> bool {
    let some = *left > 0;
    *left -= usize::from(some);
    some
}

fn job((maps, mean_s): (u32, f64), bin: u32, join: bool, kind: Kind, rng: &mut impl Rng) -> Job {
    let production = bin == PRODUCTION_WORK || (bin == AFTER && rng.random_bool(PRODUCTION));
    let mut time = || millis(mean_s * rng.random_range(1.0 - SPREAD..1.0 + SPREAD));
    let times: Vec<Millis> = (0..maps).map(|_| time()).collect();
    let stages = if join && kind == Kind::Mixed { STAGES_OF_A_JOIN } else { 1 };
    let of_stage = |times: &[Millis]| Stage {
        times: Times::Each(times.to_vec()),
        size: gb(1),
        partition: Some(SLOTS),
        slowstart: 1.0,
    };
    let reads_a_lot = kind == Kind::Reading || mean_s <= READS_A_LOT_S;
    Job {
        bin,
        stages: times.chunks(maps.div_ceil(stages) as usize).map(of_stage).collect(),
        patience: u32::from(reads_a_lot),
        ..Job::new("").queue(if production { PRODUCTION_QUEUE } else { OTHER_QUEUE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Group = Group { gap_s: BUSY_GAP_S, place: 66, kind: Kind::Mixed };

    #[test]
    fn the_table_adds_up() {
        let jobs = draw(BUSY, 1, 0);
        let counted: Vec<&Job> = jobs.iter().filter(|job| job.bin != AFTER).collect();
        let maps = |job: &Job| job.stages.iter().map(|stage| stage.times.count()).sum::<u32>();
        assert_eq!((counted.len(), counted.iter().map(|job| maps(job)).sum::<u32>()), (130, 28_621));
        let work: f64 = counted.iter().map(|job| job.work_s()).sum();
        assert!((work / 1_441_400.0 - 1.0).abs() < 0.02, "{work} slot-seconds");
        assert_eq!((jobs.len(), jobs[65].bin, maps(&jobs[65])), (155, LONG, 250));
        assert_eq!(counted.iter().filter(|job| job.bin == PRODUCTION_WORK).count(), 39);
        let joins = counted.iter().filter(|job| job.stages.len() == 3);
        assert_eq!(joins.map(|job| maps(job)).sum::<u32>(), 860);
    }

    #[test]
    fn groups_differ_in_nothing_but_what_they_vary() {
        let order = |place| {
            let jobs = draw(Group { place, ..BUSY }, 1, 3);
            jobs.into_iter()
                .filter(|job| job.bin != LONG)
                .map(|job| (job.work_s() as u64, job.queue))
                .collect::<Vec<_>>()
        };
        assert_eq!(order(1), order(92));
        let at = |gap_s| draw(Group { gap_s, ..BUSY }, 1, 3)[129].at.seconds() / gap_s;
        assert!((at(30.0) - at(80.0)).abs() < 0.1);
        assert_ne!(draw(BUSY, 1, 0)[5].work_s(), draw(BUSY, 1, 1)[5].work_s());
    }
}
