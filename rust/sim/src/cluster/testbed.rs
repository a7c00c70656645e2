//! A whole set-up by a few numbers: what the command line and the studies run workloads on.

use super::{capacity, Faults, Node, Preemption, Queue, SimulationError, World};
use crate::workload::cluster::{gb, Job, Stage};
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::{Millis, PartitionId, Resource};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Partitions of nodes that stand for map slots and for reduce slots.
const MAP_SLOTS: PartitionId = PartitionId(1);
const REDUCE_SLOTS: PartitionId = PartitionId(2);

/// Suspended containers that a machine may keep per slot, as a fraction of the slots' size.
const SUSPENDED_PER_SLOT: &str = "4";

/// Tasks have no time-out in the thesis: nothing that is suspended is killed for having waited.
const LONGEST_SUSPENSION_MS: &str = "86400000";

/// What a node has room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Room {
    /// Containers of any kind, as in YARN.
    Pool(Resource),
    /// So many maps and so many reduces, as in Hadoop 1, whose ApplicationMasters take no room. In the simulator a node
    /// with slots is two nodes with labels of their own, so that the core sees two pools of containers.
    Slots {
        /// Map slots of a node.
        maps: u32,
        /// Reduce slots of a node.
        reduces: u32,
    },
}

/// A cluster of equal nodes with one policy.
#[derive(Clone, Debug)]
pub struct Testbed {
    /// Number of nodes.
    pub nodes: usize,
    /// What each has room for.
    pub room: Room,
    /// Name of the policy of every queue.
    pub policy: String,
    /// How resources are taken back.
    pub preemption: Preemption,
    /// What ApplicationMasters may hold of each queue's guarantee; one always may run. Without a limit they can fill a
    /// cluster, and no task ever runs: CapacityScheduler's is a tenth.
    pub master_share: f64,
    /// How often nodes report.
    pub heartbeat: Millis,
    /// From an ApplicationMaster's start to its first asks.
    pub master_start: Millis,
    /// From a task's start to its work.
    pub task_start: Millis,
    /// Cost of continuing a paused container, in ms per GiB.
    pub resume_ms_per_gb: u64,
    /// More properties, by their whole names.
    pub properties: Vec<(String, String)>,
    /// What goes wrong.
    pub faults: Faults,
}

impl Testbed {
    /// 20 nodes of 2 map slots and 1 reduce slot with a heartbeat of 3 s and Hadoop 1's start times of about a second: the
    /// cluster of the HFSP thesis, chapter 5.
    pub fn thesis(policy: &str, preemption: Preemption) -> Testbed {
        Testbed {
            nodes: 20,
            room: Room::Slots { maps: 2, reduces: 1 },
            policy: policy.to_owned(),
            preemption,
            master_share: 1.0,
            heartbeat: Millis(3_000),
            master_start: Millis(1_000),
            task_start: Millis(1_000),
            resume_ms_per_gb: 0,
            properties: ["max-suspension-ms", "resume-locality-ms"]
                .map(|knob| (format!("{CLUSTER_PREFIX}{knob}"), LONGEST_SUSPENSION_MS.to_owned()))
                .to_vec(),
            faults: Faults::default(),
        }
    }

    /// The cluster with these jobs ahead of it. Queues are those of the jobs, with equal guarantees unless properties say otherwise.
    /// Without observers.
    ///
    /// # Errors
    /// A property is wrong, or a job cannot run here.
    pub fn world(&self, jobs: &[Job], seed: u64) -> Result<World, SimulationError> {
        let mut world = World::seeded(seed)
            .unobserved()
            .telling_progress()
            .faults(self.faults)
            .heartbeat(self.heartbeat)
            .start_times(self.master_start, self.task_start)
            .resume_cost(self.resume_ms_per_gb)
            .set("policy", &self.policy)
            .set("mode", self.preemption.mode())
            .set("preemption", self.preemption.name());
        if let Room::Slots { .. } = self.room {
            // A node with slots stands for a machine with more memory than its slots.
            world = world.set("max-suspended-memory", SUSPENDED_PER_SLOT);
        }
        let (properties, changed) = capacity::split(&self.properties)?;
        for (key, value) in &properties {
            world = world.property(key, value);
        }
        let paths: BTreeSet<&str> = jobs.iter().map(|job| job.queue.as_str()).collect();
        let equal = |path: &&str| Queue::new(path, 1.0 / paths.len() as f64).master_share(0.0);
        let queues: Vec<Queue> = paths.iter().map(equal).collect();
        for queue in changed.apply(&queues, self.master_share)? {
            world = world.queue(queue);
        }
        let world = match self.room {
            Room::Pool(total) => world.nodes(self.nodes, &Node::of(total)).jobs(jobs),
            Room::Slots { maps, reduces } => {
                // Room for all ApplicationMasters, which nobody has to wait for.
                let masters = Node::of(gb(jobs.len() as i64 + 1));
                let slots = |count: u32, partition: PartitionId| {
                    Node::of(gb(i64::from(count))).exclusive_partition(partition.0)
                };
                let world = world.node(masters);
                let world = world.nodes(self.nodes, &slots(maps, MAP_SLOTS));
                let world = world.nodes(self.nodes, &slots(reduces, REDUCE_SLOTS));
                jobs.iter().fold(world, |world, job| world.job(in_slots(job)))
            }
        };
        world.check()?;
        Ok(world)
    }
}

/// How long each job takes alone on the testbed, in seconds: the size that slowdowns refer to. Task times are the same.
///
/// # Errors
/// A job cannot run there.
pub fn isolation(jobs: &[Job], testbed: &Testbed) -> Result<Vec<f64>, SimulationError> {
    let alone = |job: &Job| {
        // By then all nodes have reported.
        let job = Job { at: testbed.heartbeat + testbed.heartbeat, ..job.clone() };
        let outcome = testbed.world(std::slice::from_ref(&job), 0)?.finish()?.outcome();
        Ok(outcome.jobs[0].sojourn_s())
    };
    jobs.par_iter().map(alone).collect()
}

/// The job with every container the size of a slot.
fn in_slots(job: &Job) -> Job {
    let stage = |(index, stage): (usize, &Stage)| {
        let partition = Some(if index == 0 { MAP_SLOTS } else { REDUCE_SLOTS });
        Stage { size: gb(1), partition, ..stage.clone() }
    };
    Job { master: gb(1), stages: job.stages.iter().enumerate().map(stage).collect(), ..job.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Outcome;
    use crate::workload::cluster::{secs, Bins, Mix, Times};

    fn run(testbed: &Testbed, jobs: &[Job]) -> Outcome {
        testbed.world(jobs, 1).unwrap().run().outcome()
    }

    #[test]
    fn maps_and_reduces_have_their_own_slots() {
        let job = |name: &str| {
            let stage = |count, seconds, slowstart| Stage {
                times: Times::Same { count, each: secs(seconds) },
                size: gb(1),
                partition: None,
                slowstart,
            };
            Job::new(name).stage(stage(40, 100, 1.0)).stage(stage(20, 100, 1.0))
        };
        let testbed = Testbed::thesis("fifo", Preemption::Wait);
        let alone = run(&testbed, &[job("a")]).makespan;
        let both = run(&testbed, &[job("a"), job("b")]).makespan;
        // The second job's maps run beside the first one's reduces: 300 s of work instead of 400 s.
        assert!(alone > secs(200) && alone < secs(225), "{alone:?}");
        assert!(both > secs(300) && both < secs(340), "{both:?}");
    }

    #[test]
    fn waiting_takes_nothing_suspending_wastes_nothing_and_killing_does_work_again() {
        let jobs = Bins { jobs: 30, ..Bins::of(Mix::Test) }.draw(3, 0);
        let of = |preemption| run(&Testbed::thesis("srpt", preemption), &jobs);
        let (wait, suspend, kill) = (of(Preemption::Wait), of(Preemption::Suspend), of(Preemption::Kill));
        assert_eq!((wait.count.suspended, wait.count.preempted, wait.wasted_s()), (0, 0, 0.0));
        assert!(suspend.count.suspended > 0 && suspend.wasted_s() == 0.0, "{:?}", suspend.count);
        assert!(kill.count.preempted > 0 && kill.wasted_s() > 0.0 && kill.count.suspended == 0, "{:?}", kill.count);
    }

    #[test]
    fn a_resume_costs_what_it_is_said_to_cost() {
        let jobs = [Job::new("big").tasks(40, secs(100)), Job::new("small").tasks(20, secs(10)).at(secs(30))];
        let mut testbed = Testbed::thesis("srpt", Preemption::Suspend);
        let free = run(&testbed, &jobs);
        testbed.resume_ms_per_gb = 20_000;
        let dear = run(&testbed, &jobs);
        assert!(free.count.suspended > 0);
        let more = dear.makespan.since(free.makespan);
        assert_eq!((more, free.jobs[1].finished), (secs(20), dear.jobs[1].finished));
    }

    #[test]
    fn a_container_that_fits_nowhere_and_a_wrong_policy_are_refused() {
        let pool = Room::Pool(Resource::new(4096, 4));
        let testbed = Testbed { room: pool, ..Testbed::thesis("fifo", Preemption::Wait) };
        let big = Job::new("big").sized_tasks(1, secs(1), gb(5));
        let error = testbed.world(&[big], 1).err().unwrap().to_string();
        assert_eq!(error, "job big: its task of stage 1 of 5120 MiB and 0 vcores fits no node of partition 0");
        let error = Testbed::thesis("best", Preemption::Wait).world(&[], 1).err().unwrap().to_string();
        assert!(error.contains("policy") && error.contains("best") && error.contains("fifo"), "{error}");
    }
}
