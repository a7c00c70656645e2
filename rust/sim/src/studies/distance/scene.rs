//! What is measured: a workload on a cluster, by a scheduler.

use super::clairvoyant::Pool;
use super::mixes::{told, Mix};
use crate::cluster::testbed::Testbed;
use crate::cluster::SimulationError;
use crate::studies::ensemble::chance;
use crate::studies::small_and_big::{tasks, Run, Scheduler, BIG, HEARTBEAT, MASTER_START, SMALL, TASK_START};
use crate::workload::cluster::{gb, secs, Bins, Job, Mix as Bin, Stage};
use hiatus_core::units::{Millis, Resource};

/// Virtual cores of a node: plenty, memory alone counts.
const NODE_VCORES: i64 = 64;

/// Small jobs beside big ones.
const SMALL_JOBS: u64 = 40;
/// When the first of them comes, and how long after it each other one, in seconds.
const SMALL_AT_S: (u64, u64) = (60, 40);
/// Tasks of all big jobs together.
const BIG_TASKS: u32 = 1_500;
/// Between two big jobs.
const BIG_GAP_S: u64 = 2;
/// Each task's time is within so much of its mean, as a part of it.
const SPREAD: f64 = 0.2;

/// Jobs of the thesis' bins up to this one are small.
const LAST_SMALL_BIN: u32 = 2;

/// A cluster of equal nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cluster {
    pub nodes: usize,
    /// What a node has for containers, in MiB.
    pub node_mb: i64,
    /// The smallest task's container, in MiB.
    pub task_mb: i64,
    /// What ApplicationMasters may hold of the cluster.
    pub master_share: f64,
}

/// Jobs to be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Work {
    /// So many big jobs of 1,500 tasks of 500 s in all, and forty small ones of eight tasks of 12 s.
    BigJobs(u32),
    /// A mix, with that mean gap between two jobs, in seconds.
    Mix(Mix, f64),
    /// A workload of the HFSP thesis.
    Bins(Bin),
}

impl Work {
    /// Draw number `draw` of a seed.
    pub fn draw(self, seed: u64, draw: u64) -> Vec<Job> {
        match self {
            Work::BigJobs(count) => big_and_small(count, seed, draw),
            Work::Mix(mix, gap_s) => mix.draw(gap_s, seed, draw),
            Work::Bins(bins) => {
                let jobs = Bins::of(bins).draw(seed, draw).into_iter();
                jobs.map(|job| Job { bin: if job.bin <= LAST_SMALL_BIN { SMALL } else { BIG }, ..job }).collect()
            }
        }
    }
}

fn big_and_small(count: u32, seed: u64, draw: u64) -> Vec<Job> {
    let mut rng = chance(seed, draw);
    let mut stage = |count: u32, mean_s: f64| Stage {
        times: tasks(count, mean_s, SPREAD, &mut rng),
        size: gb(1),
        partition: None,
        slowstart: 1.0,
    };
    let job = |name: String, bin, at_s, stage| Job { bin, ..Job::new(&name).at(secs(at_s)).stage(stage) };
    let big: Vec<Job> = (0..u64::from(count))
        .map(|number| job(format!("big {number}"), BIG, BIG_GAP_S * number, stage(BIG_TASKS / count, 500.0)))
        .collect();
    let (first_s, gap_s) = SMALL_AT_S;
    let small =
        (0..SMALL_JOBS).map(|number| job(format!("small {number}"), SMALL, first_s + gap_s * number, stage(8, 12.0)));
    big.into_iter().chain(small).collect()
}

/// A workload on a cluster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scene {
    pub name: String,
    pub cluster: Cluster,
    pub work: Work,
}

impl Scene {
    /// The whole containers of the cluster as one pool, for the bounds.
    pub fn pool(&self) -> Pool {
        let Cluster { nodes, node_mb, task_mb, .. } = self.cluster;
        let master_start = MASTER_START + HEARTBEAT;
        let memory_mb = nodes as i64 * (node_mb / task_mb) * task_mb;
        Pool { memory_mb, master_start, task_start: TASK_START }
    }

    /// Work that comes in a second over what the cluster does in one, by these draws.
    pub fn load(&self, draws: &[Vec<Job>]) -> f64 {
        let work_mb_s = |job: &Job| -> f64 {
            let start_s = |stage: &Stage| f64::from(stage.times.count()) * TASK_START.seconds();
            job.stages.iter().map(|stage| stage.size.memory_mb as f64 * (stage.times.total_s() + start_s(stage))).sum()
        };
        let jobs = || draws.iter().flatten();
        let gaps_s: f64 =
            draws.iter().filter_map(|jobs| jobs.iter().map(|job| job.at).max()).map(Millis::seconds).sum();
        jobs().map(work_mb_s).sum::<f64>() / self.pool().memory_mb as f64 / gaps_s
    }

    /// Runs one draw.
    pub fn run(&self, scheduler: Scheduler, jobs: &[Job], seed: u64) -> Result<Run, SimulationError> {
        let Cluster { nodes, node_mb, master_share, .. } = self.cluster;
        let testbed = Testbed { master_share, ..scheduler.testbed(nodes, Resource::new(node_mb, NODE_VCORES)) };
        let jobs: Vec<Job> = match scheduler.told {
            true => jobs.iter().cloned().map(told).collect(),
            false => jobs.to_vec(),
        };
        Ok(Run::of(&testbed.world(&jobs, seed)?.finish()?.outcome()))
    }
}
