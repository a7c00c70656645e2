//! What a job has still to do. The plain estimate: mean duration of the phase's finished tasks × tasks left, a default
//! before any has finished. HFSP's, which is learnt once from a phase's first tasks, is [`training`]; what users know is in
//! [`hints`](crate::hints).

pub mod training;

use crate::state::{Job, Phase};
use crate::units::{Millis, Resource, ResourceSeconds};

/// Expected working time of one task of the phase.
pub fn task_time(phase: &Phase, default_task: Millis) -> Millis {
    match phase.finished {
        0 => default_task,
        n => Millis(phase.finished_time.0 / u64::from(n)),
    }
}

/// Working time that a task of the phase has left after `worked`: by the part `done` of its work, if it told that, otherwise
/// by what tasks of the phase take. One that has outlived that takes as much again.
pub fn task_left(phase: &Phase, worked: Millis, done: Option<f64>, default_task: Millis) -> Millis {
    match done {
        Some(done) if done > 0.0 => Millis((worked.0 as f64 * (1.0 - done) / done) as u64),
        _ => match task_time(phase, default_task).since(worked) {
            Millis(0) => worked,
            left => left,
        },
    }
}

/// Work left in all phases, in seconds for which it would fill the whole of `total`. A job that is only its
/// ApplicationMaster so far counts as one task: nothing is known of it, and finding out is cheap.
pub fn remaining_seconds(job: &Job, default_task: Millis, total: Resource) -> f64 {
    let mut sum = ResourceSeconds::default();
    for (key, phase) in &job.phases {
        let masters = u32::from(job.master.is_some_and(|(_, of)| of == *key));
        let tasks = job.to_do(*key).saturating_sub(masters);
        sum += ResourceSeconds::of(key.resource.times(tasks), task_time(phase, default_task));
    }
    sum.dominant_seconds(total)
}
