//! Small jobs beside a big one that holds all that can be held, on nodes that are multiples of its containers, or none.

use crate::cluster::{Node, Queue, SimulationError, World};
use crate::studies::ensemble::chance;
use crate::studies::small_and_big::{tasks, Run, Scheduler, BIG, HEARTBEAT, MASTER_START, SMALL, TASK_START};
use crate::workload::cluster::{gb, secs, Job, Stage};
use hiatus_core::units::Resource;

/// Tasks of all big jobs together, and how long they run in the mean, in seconds.
const BIG_TASKS: (u32, f64) = (2_000, 600.0);
/// Those of each small job.
const SMALL_TASKS: (u32, f64) = (10, 15.0);
/// Each task's time is within so much of its mean, as a part of it: those of a big job do not end all at once.
const SPREAD: f64 = 0.2;
/// Small jobs, when the first of them comes, and how long after it each other one, in seconds.
const SMALL_JOBS: u64 = 40;
const SMALL_AT_S: (u64, u64) = (30, 60);

/// Containers of all small jobs, with their ApplicationMasters.
pub(super) const SMALL_CONTAINERS: f64 = SMALL_JOBS as f64 * (1 + SMALL_TASKS.0) as f64;

/// Virtual cores of a node where memory alone counts.
pub(super) const MANY_VCORES: i64 = 64;

/// Who is guaranteed what, and who is where.
#[derive(Debug)]
struct Queues {
    /// Paths and parts of the cluster, parents first.
    guarantees: &'static [(&'static str, f64)],
    /// Where the big job is.
    big: &'static str,
    /// Small jobs come to these in turn.
    small: &'static [&'static str],
}

const ONE_QUEUE: Queues =
    Queues { guarantees: &[("root.default", 1.0)], big: "root.default", small: &["root.default"] };
const TWO_QUEUES: Queues =
    Queues { guarantees: &[("root.a", 0.8), ("root.b", 0.2)], big: "root.a", small: &["root.b"] };
const THREE_QUEUES: Queues = Queues {
    guarantees: &[("root.a", 0.5), ("root.b", 0.3), ("root.c", 0.2)],
    big: "root.a",
    small: &["root.b", "root.c"],
};
/// Small jobs are in a queue beside that of the big one, and in one beside its parent.
const NESTED_QUEUES: Queues = Queues {
    guarantees: &[("root.a", 0.8), ("root.a.x", 0.6), ("root.a.y", 0.2), ("root.b", 0.2)],
    big: "root.a.x",
    small: &["root.a.y", "root.b"],
};

/// Jobs and a cluster of equal nodes.
#[derive(Debug)]
pub(super) struct Scene {
    /// As it is called in tables.
    pub name: &'static str,
    /// What a node offers where it is a multiple of the big job's tasks.
    pub even: Resource,
    /// What it offers where it is none, a row each.
    pub crooked: Vec<Resource>,
    nodes: usize,
    /// Every job's ApplicationMaster.
    master: Resource,
    /// A task of the big job.
    big: Resource,
    /// A task of a small job.
    small: Resource,
    queues: Queues,
    /// Partitions of as many nodes each, with a big job of its own; small jobs come to them in turn.
    partitions: u32,
}

impl Scene {
    fn of_memory(name: &'static str, crooked_mb: &[i64]) -> Scene {
        Scene {
            name,
            even: memory(8192),
            crooked: crooked_mb.iter().copied().map(memory).collect(),
            nodes: 50,
            master: gb(1),
            big: gb(1),
            small: gb(1),
            queues: ONE_QUEUE,
            partitions: 1,
        }
    }

    /// All scenes.
    pub fn all() -> Vec<Scene> {
        let crooked = |name| Scene::of_memory(name, &[8700]);
        let (cores, two_cores) = (|vcores| Resource::new(64 * 1024, vcores), Resource::new(1024, 2));
        let mb = |memory_mb| Resource::new(memory_mb, 0);
        vec![
            Scene::of_memory("memory", &[8400, 8700, 9000, 9215]),
            Scene {
                even: cores(16),
                crooked: vec![cores(17)],
                master: two_cores,
                big: two_cores,
                small: two_cores,
                ..crooked("containers of 2 vcores")
            },
            Scene {
                even: memory(125 * 1024),
                crooked: vec![memory(128 * 1024)],
                nodes: 10,
                big: gb(5),
                small: gb(5),
                ..crooked("10 nodes, tasks of 5 GiB")
            },
            Scene { master: mb(1536), ..crooked("ApplicationMasters of 1.5 GiB") },
            Scene { small: mb(1536), ..crooked("small jobs' tasks of 1.5 GiB") },
            Scene { small: gb(2), ..crooked("small jobs' tasks of 2 GiB") },
            Scene { small: gb(3), ..crooked("small jobs' tasks of 3 GiB") },
            Scene { queues: TWO_QUEUES, ..crooked("queues 80/20") },
            Scene { queues: THREE_QUEUES, ..crooked("queues 50/30/20") },
            Scene { queues: NESTED_QUEUES, ..crooked("queues 80 (60/20)/20") },
            Scene { partitions: 2, ..crooked("two partitions") },
        ]
    }

    /// What a node offers, in each row; the even one is first.
    pub fn rows(&self) -> impl Iterator<Item = Resource> + '_ {
        std::iter::once(self.even).chain(self.crooked.iter().copied())
    }

    fn jobs(&self, seed: u64) -> Vec<Job> {
        let mut rng = chance(seed, 0);
        let mut job = |name: String, bin, queue: &str, partition: u32, size, (count, mean_s): (u32, f64)| {
            let times = tasks(count, mean_s, SPREAD, &mut rng);
            let job = Job { bin, master: self.master, ..Job::new(&name).queue(queue).partition(partition) };
            job.stage(Stage { times, size, partition: None, slowstart: 1.0 })
        };
        let ((big_tasks, big_s), (first_s, gap_s)) = (BIG_TASKS, SMALL_AT_S);
        let mut jobs: Vec<Job> = (0..self.partitions)
            .map(|partition| {
                let tasks = (big_tasks / self.partitions, big_s);
                job(format!("big {partition}"), BIG, self.queues.big, partition, self.big, tasks)
            })
            .collect();
        jobs.extend((0..SMALL_JOBS).map(|number| {
            let (queues, partition) = (self.queues.small, number as u32 % self.partitions);
            let queue = queues[number as usize % queues.len()];
            let job = job(format!("small {number}"), SMALL, queue, partition, self.small, SMALL_TASKS);
            job.at(secs(first_s + gap_s * number))
        }));
        jobs
    }

    /// Runs it on such nodes.
    pub fn run(&self, node: Resource, scheduler: Scheduler, seed: u64) -> Result<Run, SimulationError> {
        let world = World::seeded(seed)
            .unobserved()
            .telling_progress()
            .heartbeat(HEARTBEAT)
            .start_times(MASTER_START, TASK_START)
            .set("policy", scheduler.policy)
            .set("mode", scheduler.preemption.mode())
            .set("preemption", scheduler.preemption.name())
            .jobs(&self.jobs(seed));
        let guarantees = self.queues.guarantees.iter();
        let world = guarantees.fold(world, |world, (path, part)| world.queue(Queue::new(path, *part)));
        let mut world = (0..self.partitions).fold(world, |world, partition| {
            let node = match partition {
                0 => Node::of(node),
                _ => Node::of(node).exclusive_partition(partition),
            };
            world.nodes(self.nodes / self.partitions as usize, &node)
        });
        world.check()?;
        Ok(Run::of(&world.finish()?.outcome()))
    }
}

fn memory(memory_mb: i64) -> Resource {
    Resource::new(memory_mb, MANY_VCORES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many such containers a node holds, and whether anything is left over of what they run out of.
    fn filled(node: Resource, one: Resource) -> (i64, bool) {
        let of_memory = (node.memory_mb / one.memory_mb, node.memory_mb % one.memory_mb > 0);
        let of_vcores = node.vcores.checked_div(one.vcores).map(|count| (count, node.vcores % one.vcores > 0));
        of_vcores.map_or(of_memory, |of_vcores| of_vcores.min(of_memory))
    }

    #[test]
    fn crooked_nodes_hold_as_many_tasks_as_even_ones_and_something_is_left_over() {
        for scene in Scene::all() {
            let (count, left) = filled(scene.even, scene.big);
            assert!(!left, "{}", scene.name);
            for node in &scene.crooked {
                assert_eq!(filled(*node, scene.big), (count, true), "{}", scene.name);
            }
        }
    }
}
