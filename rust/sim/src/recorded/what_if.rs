//! What another setting would have done to the jobs of a log: the simulated cluster once with the recorded settings and once with the
//! others, beside what was recorded. How far the first is from that is the model's error.

use hiatus_background::hindsight::setting::{placing, world, Change, Properties};
use hiatus_background::hindsight::Past;
use rayon::prelude::*;

use super::past::Account;
use crate::cluster::{capacity, Outcome, SimulationError};
use crate::report::{Axis, Cell, Plot, Sample, Series, Table};
use crate::workload::cluster::Job;

/// Upper ends of the size classes, in seconds of tasks, and what they are called.
const CLASSES: [(f64, &str); 5] = [
    (60.0, "up to 1 min"),
    (600.0, "up to 10 min"),
    (3_600.0, "up to 1 h"),
    (36_000.0, "up to 10 h"),
    (f64::INFINITY, "more"),
];

/// Recorded, simulated as recorded, and simulated otherwise; a job's place is the same in all.
#[derive(Clone, Debug)]
pub struct WhatIf {
    work_s: Vec<f64>,
    alone_s: Vec<f64>,
    recorded_s: Vec<f64>,
    simulated: Outcome,
    otherwise: Outcome,
}

/// Simulates the jobs of `past` on its cluster, as it was and with `change`. ApplicationMasters may hold `master_share` of each queue,
/// one at least.
///
/// # Errors
/// A property is wrong, or a job cannot run.
pub fn what_if(past: &Past, change: &Change, master_share: f64, seed: u64) -> Result<WhatIf, SimulationError> {
    let recorded = placing(&past.properties);
    let (properties, queues) = capacity::split(&change.properties)?;
    let changed = Past { queues: queues.apply(&past.queues, master_share)?, ..past.clone() };
    let change = Change { properties, ..change.clone() };
    let jobs: Vec<Job> = past.jobs.iter().map(|past| past.job.clone()).collect();
    let run = |past: &Past, properties: &Properties, master_share: f64, jobs: &[Job]| {
        let mut world = world(past, properties, master_share, seed).jobs(jobs);
        world.check()?;
        Ok::<_, SimulationError>(world.finish()?.outcome())
    };
    let alone = Change::to_stock().of(&Properties::new());
    let alone_s: Result<Vec<f64>, SimulationError> = jobs
        .par_iter()
        .map(|job| {
            // By then all nodes have reported.
            let job = Job { at: past.heartbeat + past.heartbeat, ..job.clone() };
            Ok(run(past, &alone, master_share, std::slice::from_ref(&job))?.jobs[0].sojourn_s())
        })
        .collect();
    let (simulated, otherwise) = rayon::join(
        || run(past, &recorded, master_share, &jobs),
        // What ApplicationMasters may hold is in the changed queues.
        || run(&changed, &change.of(&recorded), 0.0, &jobs),
    );
    Ok(WhatIf {
        work_s: jobs.iter().map(Job::work_s).collect(),
        alone_s: alone_s?,
        recorded_s: past.jobs.iter().map(|past| past.sojourn.seconds()).collect(),
        simulated: simulated?,
        otherwise: otherwise?,
    })
}

impl WhatIf {
    fn sojourns(&self) -> [(&'static str, Vec<f64>); 3] {
        let of = |outcome: &Outcome| outcome.jobs.iter().map(|job| job.sojourn_s()).collect();
        [("recorded", self.recorded_s.clone()), ("simulated", of(&self.simulated)), ("otherwise", of(&self.otherwise))]
    }

    /// Mean sojourns and slowdowns by size class, and what it took.
    pub fn tables(&self) -> Vec<Table> {
        let title =
            "Mean sojourns in s by seconds of tasks: as recorded, simulated with those settings, and with the others";
        let columns = ["tasks", "jobs", "recorded", "simulated", "model_error_%", "otherwise", "change_%"];
        let mut sojourns = Table::new("sojourns", title, &columns);
        let title = "Mean slowdowns: sojourns over those of each job alone on the cluster (simulated)";
        let mut slowdowns = Table::new("slowdowns", title, &["tasks", "jobs", "recorded", "simulated", "otherwise"]);
        let class = |work: f64| CLASSES.iter().position(|(end, _)| work <= *end).unwrap_or_default();
        for which in (0..CLASSES.len()).map(Some).chain([None]) {
            let of_class: Vec<usize> = (0..self.work_s.len())
                .filter(|job| which.is_none_or(|which| class(self.work_s[*job]) == which))
                .collect();
            if of_class.is_empty() {
                continue;
            }
            let mean = |of: &dyn Fn(usize) -> f64| Sample::new(of_class.iter().map(|job| of(*job)).collect()).mean();
            let name = || Cell::from(which.map_or("all", |which| CLASSES[which].1));
            let [recorded, simulated, otherwise] = self
                .sojourns()
                .map(|(_, times)| (mean(&|job| times[job]), mean(&|job| times[job] / self.alone_s[job].max(1e-3))));
            let percent = |of: f64, to: f64| Cell::from(100.0 * (of / to - 1.0));
            sojourns.row(vec![
                name(),
                of_class.len().into(),
                recorded.0.into(),
                simulated.0.into(),
                percent(simulated.0, recorded.0),
                otherwise.0.into(),
                percent(otherwise.0, simulated.0),
            ]);
            let (recorded, simulated, otherwise) = (recorded.1, simulated.1, otherwise.1);
            slowdowns.row(vec![name(), of_class.len().into(), recorded.into(), simulated.into(), otherwise.into()]);
        }
        vec![sojourns, slowdowns, self.costs()]
    }

    fn costs(&self) -> Table {
        let mut costs =
            Table::new("costs", "What it took, simulated", &["setting", "suspensions", "killed", "wasted_s"]);
        for (name, outcome) in [("simulated", &self.simulated), ("otherwise", &self.otherwise)] {
            let count = outcome.count;
            let (suspended, killed) = (Cell::Count(count.suspended), Cell::Count(count.preempted + count.expired));
            costs.row(vec![name.into(), suspended, killed, outcome.wasted_s().into()]);
        }
        costs
    }

    /// Which part of the jobs had ended after how long.
    pub fn plot(&self) -> Plot {
        let series = |(name, mut times): (&str, Vec<f64>)| {
            times.sort_unstable_by(f64::total_cmp);
            let jobs = times.len() as f64;
            let points = times.iter().enumerate().map(|(n, time)| (*time, (n + 1) as f64 / jobs)).collect();
            Series { name: name.to_owned(), points }
        };
        Plot {
            name: "what-if".to_owned(),
            title: "Jobs by their sojourn".to_owned(),
            x: Axis::log("sojourn, s"),
            y: Axis::linear("part of the jobs that take no longer"),
            series: self.sojourns().map(series).into(),
        }
    }
}

impl Account {
    /// What of the log is used, and what is not.
    pub fn table(&self) -> Table {
        let mut table = Table::new("read", "Read from the records", &["what", "number"]);
        let left_out = &self.past.left_out;
        let rows = [
            ("jobs used", self.past.jobs.len() as u64),
            ("left out: there before the log began", left_out.before),
            ("left out: there when it ended", left_out.after),
            ("left out: no task came to its end", left_out.without_tasks),
            ("left out: more than one ApplicationMaster, or none of YARN's", left_out.masters),
            ("left out: too many kinds of tasks", left_out.kinds),
            ("nodes", self.past.nodes.len() as u64),
            ("left out: nodes with a label", self.labelled_nodes),
            ("times a node came, went or changed later", self.node_changes),
            ("times the settings changed later", self.reconfigured),
            ("suspensions recorded", self.suspensions),
            ("kills recorded", self.kills),
        ];
        for (what, number) in rows {
            table.row(vec![what.into(), Cell::Count(number)]);
        }
        table
    }
}
