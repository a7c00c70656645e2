//! What another setting would have done to the jobs of a log: the simulated cluster once with the recorded settings and once with the
//! others, beside what was recorded. How far the first is from that is the model's error.

use hiatus_background::hindsight::setting::Change;
use hiatus_background::hindsight::Past;

use super::model::Model;
use super::past::Account;
use super::size_class;
use crate::cluster::{Outcome, SimulationError};
use crate::report::{Axis, Cell, Plot, Sample, Series, Table};
use crate::workload::cluster::Job;

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
    let model = Model::new(past, master_share, seed);
    let alone_s = model.alone_s();
    let (simulated, otherwise) = rayon::join(|| model.as_recorded(&|| true), || model.with(change, &|| true));
    Ok(WhatIf {
        work_s: model.jobs().iter().map(Job::work_s).collect(),
        alone_s: alone_s?,
        recorded_s: model.recorded_s(),
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
        for (name, of_class) in size_class::members(&self.work_s) {
            let mean = |of: &dyn Fn(usize) -> f64| Sample::new(of_class.iter().map(|job| of(*job)).collect()).mean();
            let name = || Cell::from(name);
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
