//! What a job has still to do. The plain estimate: mean duration of the phase's finished tasks × tasks left; before any has
//! finished what history says of earlier runs of the job's class ([`first`]), which all policies begin with, else a default. HFSP's, which is learnt once from a phase's first tasks, is [`training`]; what users know is in
//! [`hints`](crate::hints).

pub mod left;
pub mod training;

use crate::settings::QueueSettings;
use crate::state::{Cluster, Job, Phase};
use crate::units::{Millis, Resource, ResourceSeconds};

/// Expected working time of one task of that request priority before any has finished, in seconds, by earlier runs of the
/// job's class; `None` if none is known.
pub fn first(job: &Job, priority: i32, queue: &QueueSettings) -> Option<f64> {
    job.earlier.task_s(priority, queue.placer.alpha)
}

/// The same, or the default.
pub fn first_or_default(job: &Job, priority: i32, queue: &QueueSettings) -> Millis {
    first(job, priority, queue).map_or(queue.default_task, |seconds| Millis((seconds * 1000.0) as u64))
}

/// Expected working time of one task of the phase, `before` any has finished.
pub fn task_time(phase: &Phase, before: Millis) -> Millis {
    match phase.finished {
        0 => before,
        n => Millis(phase.finished_time.0 / u64::from(n)),
    }
}

/// Working time that a task of the phase has left after `worked`: by the part `done` of its work, if it told that, otherwise
/// by what tasks of the phase take. One that has outlived that takes as much again.
pub fn task_left(phase: &Phase, worked: Millis, done: Option<f64>, before: Millis) -> Millis {
    match done {
        Some(done) if done > 0.0 => Millis((worked.0 as f64 * (1.0 - done) / done) as u64),
        _ => match task_time(phase, before).since(worked) {
            Millis(0) => worked,
            left => left,
        },
    }
}

/// Work left in all phases, those to come too, in seconds for which it would fill the whole of `total`. A job that is only its
/// ApplicationMaster so far counts as one task: nothing is known of it, and finding out is cheap.
pub fn remaining_seconds(job: &Job, cluster: &Cluster, queue: &QueueSettings, total: Resource) -> f64 {
    let mut sum = ResourceSeconds::default();
    for key in job.phases.keys().copied().chain(cluster.to_come(job)) {
        let masters = u32::from(job.master.is_some_and(|(_, of)| of == key));
        let tasks = job.to_do(key).saturating_sub(masters);
        let before = first_or_default(job, key.priority, queue);
        let each = job.phases.get(&key).map_or(before, |phase| task_time(phase, before));
        sum += match job.told(key).filter(|_| tasks > 0) {
            Some(work) => ResourceSeconds::of(key.resource, Millis((work.left_s * 1000.0) as u64)),
            None => ResourceSeconds::of(key.resource.times(tasks), each),
        };
    }
    sum.dominant_seconds(total)
}
