//! Maps and reduces in one pool: one virtual cluster in which jobs age is no worse than one for maps and one for reduces.
//! And what the whole is worth against fair sharing and first come, first served.

use crate::pool::{mean_sojourn, Job, Live, Pool, ONE};
use hiatus_core::entitlement::max_min;
use hiatus_core::fact::PhaseKey;
use hiatus_core::policy::hfsp::virtual_cluster::VirtualCluster;
use hiatus_core::policy::hfsp::waves::Waves;
use hiatus_core::policy::{create, Supply, Target};
use hiatus_core::settings::{PolicyKind, Settings};
use hiatus_core::units::{AppId, PartitionId};
use hiatus_core::view::JobView;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;

const SLOTS: u32 = 30;
const SEEDS: std::ops::Range<u64> = 0..6;

/// MapReduce jobs of the three larger bins of the thesis' table 5.1, scaled to the pool, in random order; the pool is
/// busy for about nine tenths of the time.
fn workload(seed: u64) -> Vec<Job> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut at = 0.0;
    (0..40)
        .map(|_| {
            let (maps, reduces, each) = match rng.random_range(0..10) {
                0..6 => (rng.random_range(5..12), 5, 8),
                6..9 => (rng.random_range(12..40), 6, 12),
                _ => (rng.random_range(60..150), 20, 40),
            };
            let mut tasks = |count: usize, mean: u64| -> Vec<u64> {
                (0..count).map(|_| 1000 * rng.random_range(mean * 3 / 4..=mean * 5 / 4)).collect()
            };
            let job = Job::at(at).uneven(tasks(maps, 9)).uneven(tasks(reduces, each));
            at += -12.5 * (1.0 - rng.random::<f64>()).ln();
            job
        })
        .collect()
}

/// Serves jobs by what is left of them virtually, with sizes known: in one virtual cluster, or in one per phase.
struct Known<'a> {
    jobs: &'a [Job],
    clusters: Vec<VirtualCluster>,
    /// What each virtual cluster has of the pool.
    capacity: Vec<f64>,
    /// Whether maps and reduces are kept to these parts in reality, too.
    apart: bool,
    entered: BTreeSet<(AppId, usize)>,
}

impl Known<'_> {
    fn run(jobs: &[Job], capacity: &[f64], apart: bool) -> f64 {
        let clusters = capacity.iter().map(|_| VirtualCluster::default()).collect();
        let mut known = Known { jobs, clusters, capacity: capacity.to_vec(), apart, entered: BTreeSet::new() };
        let mut pool = Pool::new(SLOTS, jobs.to_vec());
        pool.tick = 1_000;
        mean_sojourn(jobs, &pool.run(&Settings::default(), &mut |supply, views| known.plan(supply, views)))
    }

    fn plan(&mut self, supply: &Supply<'_>, views: &[JobView]) -> Vec<Target> {
        for (cluster, capacity) in self.clusters.iter_mut().zip(&self.capacity) {
            cluster.advance(supply.now, *capacity, supply.total, 1.0);
        }
        let last = self.clusters.len() - 1;
        for view in views {
            for phase in 0..view.phases.len() {
                if self.entered.insert((view.app, phase)) {
                    let tasks = &self.jobs[view.app.0 as usize].phases[phase];
                    let mean = tasks.iter().sum::<u64>() as f64 / tasks.len() as f64 / 1000.0;
                    let key = PhaseKey { priority: phase as i32, partition: PartitionId(0), resource: ONE };
                    self.clusters[phase.min(last)].enter(view.app, 1.0, key, Waves::new(tasks.len() as u32, mean));
                }
            }
        }
        let at = |view: &JobView| (view.phases.len() - 1).min(last);
        let mut order: Vec<_> =
            views.iter().map(|view| (self.clusters[at(view)].remaining(view.app, supply.total), view)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.app.cmp(&b.1.app)));
        let mut left = if self.apart { self.capacity.clone() } else { vec![1.0; self.clusters.len()] };
        let give = |(_, view): (f64, &JobView)| {
            let part = if self.apart { at(view) } else { 0 };
            let share = max_min(left[part], &[(1.0, view.demand)])[0];
            left[part] -= share;
            Target { app: view.app, share, keeps: 0.0, ahead: 0.0 }
        };
        order.into_iter().map(give).collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn one_virtual_cluster_for_maps_and_reduces_is_no_worse_than_two() {
    let of = |capacity: &[f64], apart| mean(SEEDS.map(|seed| Known::run(&workload(seed), capacity, apart)));
    let one = of(&[1.0], false);
    let (shared, split, apart) =
        (of(&[1.0, 1.0], false), of(&[2.0 / 3.0, 1.0 / 3.0], false), of(&[2.0 / 3.0, 1.0 / 3.0], true));
    println!("one {one:.1} s; two of the whole {shared:.1} s, of their parts {split:.1} s, slots apart {apart:.1} s");
    assert!(one <= 1.02 * shared.min(split), "{one} against {shared} and {split}");
    assert!(one <= apart, "{one} against {apart} with slots apart, as in Hadoop 1");
}

#[test]
fn h_c12_hfsp_is_better_than_fair_and_fair_better_than_fifo() {
    let of = |kind: PolicyKind| {
        mean(SEEDS.map(|seed| {
            let jobs = workload(seed);
            let (mut pool, mut policy) = (Pool::new(SLOTS, jobs.clone()), create(kind));
            pool.tick = 1_000;
            mean_sojourn(&jobs, &pool.run(&Settings::default(), &mut |supply, views| policy.plan(supply, views)))
        }))
    };
    let hfsp = mean(SEEDS.map(|seed| {
        let jobs = workload(seed);
        let mut pool = Pool::new(SLOTS, jobs.clone());
        pool.tick = 1_000;
        mean_sojourn(&jobs, &Live::of("hfsp", &[]).run(&mut pool))
    }));
    let (fifo, fair) = (of(PolicyKind::Fifo), of(PolicyKind::Fair));
    println!("fifo {fifo:.1} s, fair {fair:.1} s, hfsp {hfsp:.1} s");
    assert!(hfsp <= 0.85 * fair && fair < fifo, "{hfsp}, {fair}, {fifo}");
}
