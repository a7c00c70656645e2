//! Traces of Facebook's clusters as map and reduce jobs.
//!
//! A trace has bytes, no tasks. The model: one map per 128 MB of input (HDFS's block), at least one; reduces, if anything
//! is shuffled, one per GB of shuffle, at least one and at most [`MOST_REDUCES`]; a task's time is what it needs to start
//! plus its bytes at a rate. Bytes are first scaled by the number of nodes over that of the traced cluster, as SWIM's own
//! replay does.

use hiatus_core::units::Resource;

use super::{millis, Job, Stage, Times};
use crate::workload::swim::SwimJob;

/// Bytes per map task.
const BLOCK: f64 = 128.0 * 1024.0 * 1024.0;
/// Shuffled bytes per reduce task.
const PER_REDUCE: f64 = 1e9;
/// Reduces of one job.
const MOST_REDUCES: f64 = 200.0;
/// Seconds a task needs whatever its bytes.
const START_S: f64 = 2.0;
/// Bytes per second that a map reads, or a reduce shuffles and writes.
const RATE: f64 = 10e6;

/// What is chosen when a trace is turned into jobs.
#[derive(Clone, Copy, Debug)]
pub struct SwimModel {
    /// All bytes of the trace are multiplied by this.
    pub scale: f64,
    /// Only so many jobs from its start.
    pub jobs: usize,
}

/// The trace's jobs, in its order.
pub fn cluster_jobs(trace: &[SwimJob], model: SwimModel) -> Vec<Job> {
    let jobs = trace.iter().take(model.jobs).enumerate();
    jobs.map(|(number, traced)| job(number, traced, model.scale)).collect()
}

fn job(number: usize, traced: &SwimJob, scale: f64) -> Job {
    let (input, shuffle) = (traced.input_bytes * scale, traced.shuffle_bytes * scale);
    let output = traced.output_bytes * scale;
    let stage = |count: f64, bytes: f64, slowstart: f64| {
        let each = millis(START_S + bytes / count / RATE);
        let times = Times::Same { count: count as u32, each };
        Stage { times, size: Resource::new(1024, 1), partition: None, slowstart }
    };
    let maps = (input / BLOCK).ceil().max(1.0);
    // A job without reduces writes from its maps.
    let mut stages = vec![stage(maps, input + if shuffle > 0.0 { 0.0 } else { output }, 1.0)];
    if shuffle > 0.0 {
        stages.push(stage((shuffle / PER_REDUCE).ceil().clamp(1.0, MOST_REDUCES), shuffle + output, 0.8));
    }
    let name = format!("job{number}");
    Job { stages, master: Resource::new(1024, 1), ..Job::new(&name) }.at(millis(traced.submit_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::units::Millis;

    fn traced(input: f64, shuffle: f64, output: f64) -> SwimJob {
        SwimJob { submit_s: 7.0, input_bytes: input, shuffle_bytes: shuffle, output_bytes: output }
    }

    #[test]
    fn maps_follow_the_input_and_reduces_the_shuffle() {
        let job = job(0, &traced(4.0 * BLOCK, 3e9, 0.0), 0.5);
        let (maps, reduces) = (&job.stages[0].times, &job.stages[1].times);
        assert_eq!((maps.count(), reduces.count(), job.at), (2, 2, Millis(7000)));
        assert_eq!(maps.of(0), millis(2.0 + BLOCK / 1e7));
        assert_eq!(reduces.of(0), millis(2.0 + 0.75e9 / 1e7));
    }

    #[test]
    fn a_job_of_nothing_is_one_short_map() {
        let job = job(1, &traced(0.0, 0.0, 0.0), 1.0);
        assert_eq!(job.stages.len(), 1);
        assert_eq!(job.stages[0].times, Times::Same { count: 1, each: Millis(2000) });
    }
}
