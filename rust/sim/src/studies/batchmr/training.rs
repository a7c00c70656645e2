//! Section 1.5: four programs of eight sizes, each on both sides alone: 64 records.

use super::testbed::{self, hybrid, Program, Work};
use crate::studies::ensemble;
use crate::studies::study::StudyError;
use crate::workload::cluster::Job;
use hiatus_core::fact::{Run, Side};
use hiatus_core::units::JobClass;

/// Machines and GB.
const PAIRS: [(usize, f64); 8] =
    [(3, 5.0), (4, 5.0), (5, 10.0), (6, 10.0), (7, 16.0), (8, 16.0), (9, 32.0), (10, 32.0)];
const PROGRAMS: [Program; 4] = [Program::Grep, Program::Sort, Program::Kmeans, Program::WordCount];

/// What is known of earlier runs, with their classes.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Vec<(JobClass, Run)>);

impl History {
    /// After all training runs.
    pub fn trained(seed: u64) -> Result<History, StudyError> {
        let runs: Vec<_> = PROGRAMS
            .iter()
            .flat_map(|program| PAIRS.map(|pair| (*program, pair)))
            .flat_map(|(program, pair)| Side::BOTH.map(|side| (program, pair, side)))
            .collect();
        let measured = ensemble::runs("training", runs.len(), |at| {
            let (program, (machines, gb), side) = runs[at as usize];
            let work = Work { program, size: gb };
            let size = hybrid(machines).only(side);
            let job = work.job(at as usize, &mut ensemble::chance(seed, at));
            let finished = testbed::run(size, std::slice::from_ref(&job), &[])?;
            let (nodes, took) = (size.of(side) as u32, finished.took[0]);
            Ok((job.class(), Run { same_class: true, side, at_ms: at, took, nodes, input: work.input() }))
        });
        measured.into_iter().collect::<Result<_, _>>().map(History)
    }

    /// The job, of which the scheduler is told all that is known.
    pub fn with(&self, job: Job) -> Job {
        let own = job.class();
        job.ran(self.0.iter().map(|(class, run)| Run { same_class: *class == own, ..*run }))
    }
}
