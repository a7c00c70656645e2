//! The cluster of the slides, its programs and its SWIM bins, and a run of both schedulers over the same jobs.

use crate::cluster::{Node, World};
use crate::report::Sample;
use crate::studies::ensemble;
use crate::studies::study::{Setting, StudyError};
use crate::workload::cluster::{gb, millis, secs, Job, Shuffle, Stage, Times};
use crate::workload::swim::{self, SwimJob};
use hiatus_core::units::{PartitionId, Resource};
use rand::Rng;
use rand_distr::{Distribution, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::path::Path;

/// How far the model goes, for reports.
pub(super) const METHOD: &str = "Simulated: nodes of 3 GB, tasks of 1 GB if nothing else is said, maps of 64 MB; a task reads, fetches and writes 10 MB \
    a second, WordCount's maps read 3.5; times of a job's maps are log-normal with σ 0.28; a second until a node reports and until a task \
    works; reduces are asked for from 5 % of the maps on and get half of what their job holds (MapReduce's defaults); policy `fifo`, nothing is \
    preempted; knobs of lending as they are shipped; ApplicationMasters have a node of their own. Both schedulers get the same draws.";

const NODE: Resource = Resource { memory_mb: 3072, vcores: 0 };
/// Where ApplicationMasters are.
const MASTERS: PartitionId = PartitionId(1);

const MB: f64 = 1024.0 * 1024.0;
const BLOCK: f64 = 64.0 * MB;
/// Bytes that a task reads, fetches or writes in a second.
const RATE: f64 = 10.0 * MB;
/// What fetching the output of one map takes, however small it is.
const FETCH_S: f64 = 0.05;
/// What WordCount hands over of what it reads. Set so that its reduces are idle for as long as the slides say (P1 tests this choice).
const WORDS: f64 = 0.3;
/// What a task takes, however little it does.
const TASK_S: f64 = 1.0;
/// Of the logarithm of a map's time over its job's mean: the thesis' Figure 5.8, to which chapter 5 fits it.
pub(super) const SPREAD: f64 = 0.28;
/// MapReduce's defaults for when reduces are asked for, and how many.
const SLOWSTART: f64 = 0.05;
const RAMP_UP: f64 = 0.5;
/// A job has a reduce for each block that it hands over, and no more than these.
const REDUCES: f64 = 8.0;

/// Draws of a workload.
const DRAWS: usize = 16;

/// Programs of BigDataBench that the slides run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// Computes, and hands over little: its combiner has counted already.
    WordCount,
    /// Hands over all that it reads.
    Sort,
}

/// What a job reads, hands over and writes.
struct Volume {
    input: f64,
    shuffle: f64,
    output: f64,
    /// Bytes that a map reads in a second.
    map_rate: f64,
    maps: Resource,
    reduces: Resource,
    /// σ of the logarithm of its maps' times.
    spread: f64,
}

impl Volume {
    fn job(&self, name: &str, rng: &mut impl Rng) -> Job {
        let maps = (self.input / BLOCK).ceil().max(1.0);
        let reduces = (self.shuffle / BLOCK).ceil().min(REDUCES);
        // A job without reduces writes from its maps.
        let map_s =
            TASK_S + self.input / maps / self.map_rate + if reduces == 0.0 { self.output / maps / RATE } else { 0.0 };
        let spread = LogNormal::new(-self.spread * self.spread / 2.0, self.spread).ok();
        let mut drawn = |mean_s: f64| millis(mean_s * spread.as_ref().map_or(1.0, |spread| spread.sample(rng)));
        let times = Times::Each((0..maps as u32).map(|_| drawn(map_s)).collect());
        let of = |times, size| Stage { times, size, partition: Some(PartitionId(0)), slowstart: SLOWSTART };
        let job = Job::new(name).partition(MASTERS.0).stage(of(times, self.maps));
        if reduces == 0.0 {
            return job;
        }
        let each = millis(TASK_S + (self.shuffle + self.output) / reduces / RATE);
        let fetch = millis(FETCH_S + self.shuffle / maps / reduces / RATE);
        job.stage(of(Times::Same { count: reduces as u32, each }, self.reduces))
            .shuffle(Shuffle { fetch, ramp_up: RAMP_UP })
    }
}

impl Program {
    /// One job of it over so many GB (2¹⁰ MB), submitted at once.
    pub fn job(self, number: usize, input_gb: f64, spread: f64, rng: &mut impl Rng) -> Job {
        let input = input_gb * 1024.0 * MB;
        let (shuffle, output, map_rate) = match self {
            Program::WordCount => (WORDS * input, 0.01 * input, 3.5 * MB),
            Program::Sort => (input, input, RATE),
        };
        let one = gb(1);
        let volume = Volume { input, shuffle, output, map_rate, maps: one, reduces: one, spread };
        volume.job(&format!("{self:?} {number}"), rng)
    }
}

/// A stretch of the trace of 2010 that stands for a bin of the slides (specification, section 2.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    /// Its number.
    pub number: u32,
    /// The row of its first job, from 0.
    pub first: usize,
    /// Its jobs.
    pub jobs: usize,
    /// What all bytes are divided by.
    pub scale: f64,
}

/// The four.
pub(super) const BINS: [Bin; 4] = [
    Bin { number: 1, first: 17_633, jobs: 120, scale: 93.5 },
    Bin { number: 2, first: 10_331, jobs: 150, scale: 94.5 },
    Bin { number: 3, first: 1_732, jobs: 180, scale: 91.4 },
    Bin { number: 4, first: 5_630, jobs: 200, scale: 87.1 },
];

impl Bin {
    /// Its jobs, with sizes of tasks (512 MB, 1 GB, 1.5 GB) and times of maps drawn.
    pub fn draw(self, trace: &[SwimJob], rng: &mut impl Rng) -> Vec<Job> {
        let rows = trace.iter().skip(self.first).take(self.jobs);
        let start_s = trace.get(self.first).map_or(0.0, |row| row.submit_s);
        let mut size = || Resource::new([512, 1024, 1536][rng.random_range(0..3)], 0);
        let sizes: Vec<_> = (0..self.jobs).map(|_| (size(), size())).collect();
        let job = |((number, row), (maps, reduces)): ((usize, &SwimJob), (Resource, Resource))| {
            let of = |bytes: f64| bytes / self.scale;
            let (input, shuffle, output) = (of(row.input_bytes), of(row.shuffle_bytes), of(row.output_bytes));
            let volume = Volume { input, shuffle, output, map_rate: RATE, maps, reduces, spread: SPREAD };
            let job = volume.job(&format!("job {number}"), rng);
            job.at(millis(row.submit_s - start_s))
        };
        rows.enumerate().zip(sizes).map(job).collect()
    }
}

/// The trace that the bins are from.
pub(super) fn trace() -> Result<Vec<SwimJob>, StudyError> {
    Ok(swim::parse(swim::FB_2010.as_bytes(), Path::new("FB-2010"))?)
}

/// The two thresholds of lending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thresholds {
    /// D_p, of a map's time.
    pub lend: f64,
    /// D_r, of the maps that are missing.
    pub resume: f64,
}

/// A cluster, and how it lends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    /// Workers.
    pub nodes: usize,
    /// When reduces lend, and when they go on.
    pub thresholds: Thresholds,
    /// Other knobs, with and without lending.
    pub knobs: &'static [(&'static str, &'static str)],
}

/// As in the slides, and as it is shipped.
pub(super) const PUBLISHED: Setup = Setup { nodes: 12, thresholds: Thresholds { lend: 0.2, resume: 0.4 }, knobs: &[] };

/// What became of the jobs under one scheduler.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// From submission to end, job by job, in seconds.
    pub turnaround_s: Vec<f64>,
    /// Part of the time for which reduces held containers, suspensions aside, in which they had nothing to fetch.
    pub idle: f64,
    /// Containers suspended, reduces that lent and maps that gave back.
    pub suspensions: u64,
    /// Containers killed.
    pub killed: u64,
}

impl Run {
    /// Mean time from submission to end, in seconds.
    pub fn mean_s(&self) -> f64 {
        self.turnaround_s.iter().sum::<f64>() / self.turnaround_s.len() as f64
    }
}

/// Runs the jobs first come, first served, with reduces that lend or without.
pub(super) fn run(setup: Setup, jobs: &[Job], lends: bool) -> Result<Run, StudyError> {
    let mut world = World::new()
        .unobserved()
        .heartbeat(secs(1))
        .start_times(secs(1), secs(1))
        .telling_tasks()
        .set("policy", "fifo")
        .set("mode", "suspend")
        .set("preemption", "wait")
        .node(Node::of(gb(jobs.len() as i64 + 1)).exclusive_partition(MASTERS.0))
        .nodes(setup.nodes, &Node::of(NODE))
        .jobs(jobs);
    for (knob, value) in setup.knobs {
        world = world.set(knob, value);
    }
    if lends {
        let Thresholds { lend, resume } = setup.thresholds;
        world = world
            .set("lend", "maps")
            .set("lend-threshold", &lend.to_string())
            .set("lend-resume-part", &resume.to_string());
    }
    world.check().map_err(StudyError::Cluster)?;
    world.finish().map_err(StudyError::Cluster)?;
    let (outcome, reduces) = (world.outcome(), world.reduce_time());
    Ok(Run {
        turnaround_s: outcome.jobs.iter().map(|job| job.sojourn_s()).collect(),
        idle: reduces.idle.seconds() / reduces.held.seconds().max(f64::MIN_POSITIVE),
        suspensions: outcome.count.suspended,
        killed: outcome.count.preempted + outcome.count.expired,
    })
}

/// The same jobs without lending and with it.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub without: Run,
    pub with: Run,
}

impl Pair {
    /// Mean turnaround with lending over that without.
    pub fn ratio(&self) -> f64 {
        self.with.mean_s() / self.without.mean_s()
    }

    /// Part of the jobs that ended sooner with it, by more than a hundredth.
    pub fn faster(&self) -> f64 {
        let both = self.with.turnaround_s.iter().zip(&self.without.turnaround_s);
        both.filter(|(with, without)| **with < 0.99 * **without).count() as f64 / self.with.turnaround_s.len() as f64
    }
}

/// Pairs of runs of a workload, draw by draw.
pub(super) struct Pairs(Vec<Pair>);

impl Pairs {
    /// Draws the workload some times, and runs each draw under both.
    pub fn measure(
        label: &str,
        setting: &Setting,
        setup: Setup,
        draw: impl Fn(&mut Xoshiro256PlusPlus) -> Vec<Job> + Send + Sync,
    ) -> Result<Pairs, StudyError> {
        let pairs = ensemble::runs(label, setting.runs(DRAWS), |number| {
            let jobs = draw(&mut ensemble::chance(setting.seed, number));
            Ok(Pair { without: run(setup, &jobs, false)?, with: run(setup, &jobs, true)? })
        });
        pairs.into_iter().collect::<Result<_, _>>().map(Pairs)
    }

    /// A number of each pair.
    pub fn sample(&self, measure: impl Fn(&Pair) -> f64) -> Sample {
        Sample::new(self.0.iter().map(measure).collect())
    }
}
