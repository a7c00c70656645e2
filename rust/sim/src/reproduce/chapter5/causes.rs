//! Why HFSP's advantage over Fair is not the published one: the same comparison with one thing changed at a time.

use hiatus_core::settings::CLUSTER_PREFIX;
use rayon::prelude::*;

use super::experiment::draws;
use super::{Setting, Study, StudyError, METHOD};
use crate::cluster::testbed::Testbed;
use crate::cluster::Preemption;
use crate::cluster::SimulationError;
use crate::report::{Cell, Report, Sample, Table};
use crate::workload::cluster::{Job, Mix, TaskTimes};

pub(super) const CAUSES: Study =
    Study { id: "causes-5", title: "Chapter 5: what keeps HFSP from its published advantage over Fair", run };

/// What is changed.
#[derive(Clone, Copy, Debug)]
struct Change {
    name: &'static str,
    /// HFSP's; Fair waits.
    preemption: Preemption,
    /// Share of the slots for training.
    training_share: f64,
    /// Sizes are told, as by users who know them: first estimates, until training tells the rest.
    sizes_told: bool,
    /// Share of maps done before reduces start, under both schedulers.
    slowstart: f64,
}

const UNCHANGED: Change = Change {
    name: "nothing changed",
    preemption: Preemption::Wait,
    training_share: 0.25,
    sizes_told: false,
    slowstart: 0.8,
};

const CHANGES: [Change; 7] = [
    UNCHANGED,
    Change { name: "half of the slots for training", training_share: 0.5, ..UNCHANGED },
    Change { name: "sizes told", sizes_told: true, ..UNCHANGED },
    Change { name: "no reduce before all maps are done", slowstart: 1.0, ..UNCHANGED },
    Change { name: "the last two", sizes_told: true, slowstart: 1.0, ..UNCHANGED },
    Change { name: "suspending", preemption: Preemption::Suspend, ..UNCHANGED },
    Change { name: "the last three", preemption: Preemption::Suspend, sizes_told: true, slowstart: 1.0, ..UNCHANGED },
];

impl Change {
    fn apply(&self, job: &Job) -> Job {
        let mut job = job.clone();
        for stage in job.stages.iter_mut().skip(1) {
            stage.slowstart = self.slowstart;
        }
        if self.sizes_told {
            let size = format!("hiatus.size={}", job.work_s());
            job = job.tag(&size);
        }
        job
    }

    /// Mean response under HFSP over that under Fair.
    fn ratio(&self, jobs: &[Job], seed: u64) -> Result<f64, SimulationError> {
        let jobs: Vec<Job> = jobs.iter().map(|job| self.apply(job)).collect();
        let mean = |policy: &str, preemption| -> Result<f64, SimulationError> {
            let mut testbed = Testbed::thesis(policy, preemption);
            testbed.properties.push((format!("{CLUSTER_PREFIX}training-share"), self.training_share.to_string()));
            Ok(testbed.world(&jobs, seed)?.finish()?.outcome().mean_sojourn_s(|_| true))
        };
        Ok(mean("hfsp", self.preemption)? / mean("fair", Preemption::Wait)?)
    }
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let columns = ["task times", "changed", "DEV", "TEST", "PROD"];
    let mut table =
        Table::new("causes-5", "Mean response under HFSP over that under Fair, means over the draws", &columns);
    for (times, name) in [(TaskTimes::ByBin, "by bin"), (TaskTimes::Published, "published times")] {
        for change in CHANGES {
            let mut row: Vec<Cell> = vec![name.into(), change.name.into()];
            for mix in Mix::ALL {
                let ratio = |jobs: &Vec<Job>| change.ratio(jobs, setting.seed);
                let ratios =
                    draws(setting, mix, times).par_iter().map(ratio).collect::<Result<_, SimulationError>>()?;
                row.push(Sample::new(ratios).mean().into());
            }
            table.row(row);
        }
    }
    Ok(Report { tables: vec![table], notes: vec![METHOD.to_owned()], ..Report::default() })
}
