//! Why HFSP's advantage over Fair is not the published one: the same comparison with one thing changed at a time, and which of the
//! claims then hold.

use super::claims::{h_c1, h_c12, h_c2, h_c3, h_c4, h_c5, h_c6, h_c7};
use super::experiment::METHOD;
use super::experiment::{Conditions, Experiment, FAIR, FIFO, HFSP};
use crate::cluster::Preemption;
use crate::report::{Cell, Report, Table};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::TaskTimes;

pub(super) const CAUSES: Study =
    Study { id: "causes-5", title: "Chapter 5: what keeps HFSP from its published advantage over Fair", run };

/// The defaults of what the testbed sets otherwise.
const DEFAULT_GUARDS: &[(&str, &str)] =
    &[("max-suspended-memory", "0.5"), ("max-suspension-ms", "600000"), ("resume-locality-ms", "300000")];

/// What is changed, and to what.
type Change = (&'static str, fn(Conditions) -> Conditions);

const CHANGES: [Change; 11] = [
    ("nothing changed", |was| was),
    ("a quarter of the slots for training", |was| Conditions { knobs: &[("training-slots", "0")], ..was }),
    ("ageing counts on after training", |was| Conditions { knobs: &[("after-training", "retain-ageing")], ..was }),
    ("sizes told", told),
    ("no reduce before all maps are done", late_reduces),
    ("the last two", |was| late_reduces(told(was))),
    ("gaps of two thirds", |was| Conditions { gap: 2.0 / 3.0, ..was }),
    ("gaps of three halves", |was| Conditions { gap: 1.5, ..was }),
    ("suspending", suspending),
    ("suspending, guards by default", |was| Conditions { knobs: DEFAULT_GUARDS, ..suspending(was) }),
    ("suspending, sizes told, no reduce before all maps are done", |was| suspending(late_reduces(told(was)))),
];

fn told(was: Conditions) -> Conditions {
    Conditions { sizes_told: true, ..was }
}

fn late_reduces(was: Conditions) -> Conditions {
    Conditions { slowstart: 1.0, ..was }
}

fn suspending(was: Conditions) -> Conditions {
    Conditions { hfsp: Preemption::Suspend, ..was }
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let columns = ["task times", "changed", "DEV", "TEST", "PROD", "hold", "do not"];
    let title = "Mean response under HFSP over that under Fair, means over the draws, and which claims (H-C) hold";
    let mut table = Table::new("causes-5", title, &columns);
    for (times, name) in [(TaskTimes::ByBin, "by bin"), (TaskTimes::Published, "published times")] {
        for (changed, change) in CHANGES {
            let all = Experiment::all(setting, change(times.into()), &[HFSP, FAIR, FIFO])?;
            let [dev, test, prod] = all.as_slice() else { continue };
            let claims =
                [h_c1(&all), h_c2(dev), h_c3(test), h_c4(prod), h_c5(&all), h_c6(dev), h_c7(prod), h_c12(&all)];
            let named = |holds: bool| {
                let those = claims.iter().filter(|claim| claim.passes == holds);
                Cell::Text(those.map(|claim| claim.id.trim_start_matches("H-C")).collect::<Vec<_>>().join(", "))
            };
            let mut row: Vec<Cell> = vec![name.into(), changed.into()];
            row.extend(all.iter().map(|one| one.mean_ratio(HFSP, FAIR).mean().into()));
            row.extend([named(true), named(false)]);
            table.row(row);
        }
    }
    Ok(Report { tables: vec![table], notes: vec![METHOD.to_owned()], ..Report::default() })
}
