//! Advice in tables.

use hiatus_background::hindsight::Past;

use super::{Advice, Gain, Patch, Simulated, Verdict};
use crate::recorded::size_class;
use crate::report::{number, Cell, Sample, Table};

impl Advice {
    /// What was tried, how the best would have been by size class, what to do, and what to set for that.
    pub fn tables(&self, past: &Past) -> Vec<Table> {
        let mut tables = vec![self.candidates()];
        tables.extend(self.classes());
        tables.push(self.verdict());
        tables.extend(self.advised().map(|advised| properties(&Patch::new(&past.properties, advised))));
        tables
    }

    fn candidates(&self) -> Table {
        let columns =
            ["policy", "preemption", "knobs", "mean_s", "gain_%", "low_%", "high_%", "suspensions", "killed", "remark"];
        let title =
            "Settings tried: mean sojourns, and which part of them each saves against the recorded setting simulated";
        let mut table = Table::new("candidates", title, &columns);
        let simulated_s = Sample::new(self.simulated_s.clone()).mean();
        let blank = || Cell::from("");
        let mut row = vec!["as recorded".into(), blank(), blank(), simulated_s.into()];
        row.extend((0..6).map(|_| blank()));
        table.row(row);
        for tried in &self.tried {
            let candidate = &tried.candidate;
            let mut row =
                vec![candidate.policy.into(), candidate.preemption.name().into(), candidate.knobs().as_str().into()];
            match &tried.result {
                Ok(simulated) => {
                    row.push(Sample::new(simulated.sojourns_s.clone()).mean().into());
                    row.extend(percents(simulated.gain));
                    row.extend([Cell::Count(simulated.suspensions), Cell::Count(simulated.kills), blank()]);
                }
                Err(why) => {
                    row.extend((0..6).map(|_| blank()));
                    row.push(why.as_str().into());
                }
            }
            table.row(row);
        }
        table
    }

    /// Of the best that was tried, advised or not.
    fn classes(&self) -> Option<Table> {
        let (candidate, Simulated { sojourns_s: otherwise_s, .. }) = self.best()?;
        let columns =
            ["tasks", "jobs", "recorded", "simulated", "model_error_%", "otherwise", "gain_%", "low_%", "high_%"];
        let title = format!("Mean sojourns in s by seconds of tasks: as recorded, simulated so, and with {candidate}");
        let mut table = Table::new("classes", &title, &columns);
        for (name, jobs) in size_class::members(&self.work_s) {
            let of = |times: &[f64]| -> Vec<f64> { jobs.iter().map(|job| times[*job]).collect() };
            let mean = |times: &[f64]| Sample::new(of(times)).mean();
            let (recorded, simulated) = (mean(&self.recorded_s), mean(&self.simulated_s));
            let mut row = vec![name.into(), jobs.len().into(), recorded.into(), simulated.into()];
            row.extend([(100.0 * (simulated / recorded - 1.0)).into(), mean(otherwise_s).into()]);
            row.extend(percents(Gain::of(&of(&self.simulated_s), &of(otherwise_s), self.seed)));
            table.row(row);
        }
        Some(table)
    }

    fn verdict(&self) -> Table {
        let mut table = Table::new("advice", "Advice", &["do", "because"]);
        let percent = |part: f64| format!("{} %", number(100.0 * part));
        let error = percent(self.model_error);
        let gain = |which: usize| self.tried[which].result.as_ref().map_or(f64::NAN, |simulated| simulated.gain.low);
        let because = match self.verdict {
            Verdict::Change(which) => {
                format!("it saves at least {} of the mean sojourn; the model is {error} off", percent(gain(which)))
            }
            Verdict::TooFew(jobs) => format!("{jobs} jobs are too few to tell; record for longer"),
            Verdict::NothingBetter => "nothing that was tried is better".to_owned(),
            Verdict::WithinError(which) => format!(
                "what the best surely saves ({}) is not above what the model is off ({error})",
                percent(gain(which))
            ),
            Verdict::NoTime => "time was up before anything was tried; give more with --limit".to_owned(),
        };
        let what = if self.advised().is_some() { "change" } else { "keep what you have" };
        table.row(vec![what.into(), because.as_str().into()]);
        table
    }
}

fn percents(gain: Gain) -> [Cell; 3] {
    [gain.mean, gain.low, gain.high].map(|part| Cell::from(100.0 * part))
}

fn properties(patch: &Patch) -> Table {
    let mut table = Table::new("properties", "What to set for that", &["file", "property", "now", "then"]);
    for line in patch.lines() {
        let now = line.now.as_deref().unwrap_or("not set");
        let then = line.then.as_deref().unwrap_or("take it out");
        table.row(vec![line.file.into(), line.property.as_str().into(), now.into(), then.into()]);
    }
    table
}
