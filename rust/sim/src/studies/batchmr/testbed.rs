//! The mixed cluster, and the programs that run on it.

use crate::cluster::{Node, Speculation, World};
use crate::studies::study::StudyError;
use crate::workload::cluster::{gb, millis, secs, Job, Stage, Times};
use hiatus_core::batchmr::Verdict;
use hiatus_core::fact::Side;
use hiatus_core::units::{Millis, PartitionId};
use rand::Rng;

/// How far the model goes, for reports.
pub(super) const METHOD: &str = "Simulated: physical machines of 2 places, each worth 4 virtual machines of 2 places; a virtual place computes 1.33 \
    times and reads and writes 10 times as long, which was set so that the ratios of section 2.1 come out: B1 and B2 test that \
    choice, not the world. Maps of 64 MB, task times ± 20 %, half a second until a node reports, a second until a task works, 30 s of \
    a job's own; policy `fifo`, nothing is preempted; ApplicationMasters have a node of their own.";

/// Containers that a machine, physical or virtual, runs side by side (Hadoop 1's default of map slots).
const PLACES: i64 = 2;
/// Virtual machines for one physical one.
pub(super) const VIRTUAL_PER_PHYSICAL: usize = 4;
/// How many times as long a virtual place computes: eight places share four cores with two threads each, less 5 % overhead.
const CPU_TIME: f64 = 1.33;
/// How many times as long it reads and writes: eight places share one disk and disturb each other's order.
const IO_TIME: f64 = 10.0;

/// Maps of a GB.
const MAPS_PER_GB: f64 = 16.0;
/// Task times are within this part of their mean.
const SPREAD: f64 = 0.2;
/// From a job's ApplicationMaster to its first tasks: set-up, as in Hadoop 1.
const SET_UP: Millis = Millis(30_000);

/// The paper's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Sort,
    Grep,
    WordCount,
    Kmeans,
    Pi,
}

/// A program, and how much it works on: GB, or for Pi, which reads nothing, tasks of a minute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    pub program: Program,
    pub size: f64,
}

/// What a program's tasks do.
struct Tasks {
    map_s: f64,
    /// Part of their time for input and output.
    io: f64,
    /// For so many maps a reduce.
    maps_per_reduce: f64,
    reduce_s: f64,
}

impl Program {
    fn tasks(self) -> Tasks {
        let of = |map_s, io, maps_per_reduce, reduce_s| Tasks { map_s, io, maps_per_reduce, reduce_s };
        match self {
            Program::Sort => of(5.0, 1.0, 2.0, 4.0),
            Program::Grep => of(4.0, 0.95, 1000.0, 4.0),
            Program::WordCount => of(6.0, 0.85, 8.0, 5.0),
            Program::Kmeans => of(60.0, 0.02, 8.0, 5.0),
            Program::Pi => of(60.0, 0.0, 1000.0, 2.0),
        }
    }

    /// Where it belongs by what it does most.
    pub fn side(self) -> Side {
        match self {
            Program::Sort | Program::Grep | Program::WordCount => Side::Physical,
            Program::Kmeans | Program::Pi => Side::Virtual,
        }
    }
}

impl Work {
    /// Bytes of its input, or what stands for them.
    pub fn input(self) -> u64 {
        (self.size * f64::from(1 << 30)) as u64
    }

    /// As a job for the cluster, the so-manieth.
    pub fn job(self, number: usize, rng: &mut impl Rng) -> Job {
        let Tasks { map_s, io, maps_per_reduce, reduce_s } = self.program.tasks();
        // Pi of a few points has small tasks, not few.
        let (maps, map_s) = match self.program {
            Program::Pi => ((self.size.max(80.0)).ceil(), map_s * (self.size / 80.0).min(1.0)),
            _ => ((self.size * MAPS_PER_GB).ceil().max(1.0), map_s),
        };
        let mut stage = |count: f64, mean_s: f64| {
            let each = (0..count as u32).map(|_| millis(mean_s * rng.random_range(1.0 - SPREAD..1.0 + SPREAD)));
            Stage { times: Times::Each(each.collect()), size: gb(1), partition: Some(PartitionId(0)), slowstart: 1.0 }
        };
        let (maps_stage, reduces) = (stage(maps, map_s), stage((maps / maps_per_reduce).ceil(), reduce_s));
        let name = format!("{:?} {number}", self.program);
        let job = Job::new(&name).partition(MASTERS.0).stage(maps_stage).stage(reduces).io(io);
        job.tag(&format!("hiatus.input-bytes={}", self.input()))
    }
}

/// Where ApplicationMasters are.
const MASTERS: PartitionId = PartitionId(1);

/// How many machines of each kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub physical: usize,
    pub virtual_: usize,
}

impl Size {
    /// Nodes of that side.
    pub fn of(self, side: Side) -> usize {
        match side {
            Side::Physical => self.physical,
            Side::Virtual => self.virtual_,
        }
    }

    /// Only that side.
    pub fn only(self, side: Side) -> Size {
        match side {
            Side::Physical => Size { virtual_: 0, ..self },
            Side::Virtual => Size { physical: 0, ..self },
        }
    }
}

/// So many physical machines, and the virtual ones that as many more would hold.
pub(super) fn hybrid(machines: usize) -> Size {
    Size { physical: machines, virtual_: machines * VIRTUAL_PER_PHYSICAL }
}

/// Of so many machines of each kind one is slow, if any is.
const ONE_SLOW_IN: usize = 10;
/// How many times as long it takes for everything.
const SLOW_TIME: f64 = 4.0;

/// Where and how jobs run.
#[derive(Clone, Debug)]
pub(super) struct Testbed {
    pub size: Size,
    pub knobs: Vec<(&'static str, String)>,
    /// Whether some machines are slow.
    pub some_slow: bool,
    /// Which tasks are backed up.
    pub speculation: Option<Speculation>,
    /// Whether as many at a time as are slow.
    pub uncapped: bool,
}

/// What became of the jobs.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    /// From its submission to its end, job by job, in seconds.
    pub sojourns_s: Vec<f64>,
    /// From its ApplicationMaster's start to its end, likewise.
    pub took: Vec<Millis>,
    /// When all were done, in seconds.
    pub makespan_s: f64,
    /// What the placer said of each.
    pub verdicts: Vec<Option<Verdict>>,
    /// Second attempts of tasks.
    pub backups: u64,
    /// Seconds for which attempts ran whose task another one did first.
    pub raced_s: f64,
}

impl Finished {
    /// Mean time from submission to end, in seconds.
    pub fn mean_s(&self) -> f64 {
        self.sojourns_s.iter().sum::<f64>() / self.sojourns_s.len() as f64
    }
}

/// Runs the jobs, all submitted at once, on the cluster with these knobs.
pub(super) fn run(size: Size, jobs: &[Job], knobs: &[(&'static str, String)]) -> Result<Finished, StudyError> {
    Testbed { size, knobs: knobs.to_vec(), some_slow: false, speculation: None, uncapped: false }.run(jobs)
}

impl Testbed {
    fn world(&self, jobs: &[Job]) -> World {
        let masters = Node::of(gb(jobs.len() as i64 + 1)).exclusive_partition(MASTERS.0);
        let world = World::new()
            .unobserved()
            .heartbeat(secs(1))
            .start_times(SET_UP, secs(1))
            .set("policy", "fifo")
            .set("mode", "order")
            .node(masters)
            .jobs(jobs);
        let world = self.knobs.iter().fold(world, |world, (knob, value)| world.set(knob, value));
        let world = Side::BOTH.into_iter().fold(world, |world, side| {
            (1..=self.size.of(side)).fold(world, |world, number| world.node(self.machine(side, number)))
        });
        let world = if self.uncapped { world.backups_at_a_time(usize::MAX) } else { world };
        self.speculation.into_iter().fold(world, World::speculating)
    }

    fn machine(&self, side: Side, number: usize) -> Node {
        let is_slow = self.some_slow && number.is_multiple_of(ONE_SLOW_IN);
        let times = if is_slow { SLOW_TIME } else { 1.0 };
        let (cpu, io) = match side {
            Side::Physical => (1.0, 1.0),
            Side::Virtual => (CPU_TIME, IO_TIME),
        };
        Node::of(gb(PLACES)).on(side).slower(times * cpu, times * io)
    }

    /// Runs the jobs, all submitted at once.
    pub fn run(&self, jobs: &[Job]) -> Result<Finished, StudyError> {
        let mut world = self.world(jobs);
        world.check().map_err(StudyError::Cluster)?;
        let mut verdicts = vec![None; jobs.len()];
        let mut until = secs(0);
        while world.apps().iter().any(|app| app.finished.is_none()) {
            if until > LONGEST {
                // Says who is stuck.
                world.finish().map_err(StudyError::Cluster)?;
            }
            until = until + secs(5);
            world.run_until(until);
            for (app, job) in world.core().cluster().jobs() {
                verdicts[app.0 as usize] = job.site.verdict;
            }
        }
        let seconds = |span: Option<Millis>| span.map_or(f64::NAN, Millis::seconds);
        let took = |app: &crate::cluster::App| Some(app.finished?.since(app.first_master?));
        Ok(Finished {
            sojourns_s: world.apps().iter().map(|app| seconds(app.finished) - app.job.at.seconds()).collect(),
            took: world.apps().iter().map(|app| took(app).unwrap_or_default()).collect(),
            makespan_s: world.apps().iter().map(|app| seconds(app.finished)).fold(0.0, f64::max),
            verdicts,
            backups: world.apps().iter().map(|app| app.spent.backups).sum(),
            raced_s: world.apps().iter().map(|app| app.spent.raced_s).sum(),
        })
    }
}

/// No run takes that long.
const LONGEST: Millis = Millis(1_000_000_000);
