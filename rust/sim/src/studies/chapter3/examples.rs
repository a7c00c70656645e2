//! Figure 3.1: what an over- and an under-estimated job do to the others.

use crate::report::{Claim, Evidence, Report, Table};
use crate::studies::single::PolicyKind;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::Job;

pub(super) const FIG_3_1: Study = Study {
    id: "fig-3.1",
    title: "Examples of over- and under-estimated jobs under SRPTE (thesis Fig 3.1)",
    run: |_: &Setting| Ok::<_, StudyError>(run()),
};

fn run() -> Report {
    let columns = ["case", "job", "arrival", "size", "estimate", "completion"];
    let mut table = Table::new("fig-3.1", "SRPTE with one wrong estimate", &columns);
    let mut complete = |case: &str, jobs: [(f64, f64, f64); 3], first: usize| -> Vec<f64> {
        let jobs = jobs.map(|(arrival, size, estimate)| Job { estimate, ..Job::exact(arrival, size) });
        let completions = PolicyKind::Srpte.completions(&jobs);
        for (index, (job, completion)) in jobs.iter().zip(&completions).enumerate() {
            let name = format!("J{}", first + index);
            let numbers = [job.arrival, job.size, job.estimate, *completion];
            let mut row = vec![case.into(), name.as_str().into()];
            row.extend(numbers.map(Into::into));
            table.row(row);
        }
        completions
    };
    let exact = complete("exact", [(0.0, 5.0, 5.0), (1.0, 4.5, 4.5), (6.0, 4.0, 4.0)], 1);
    let over = complete("J1 over-estimated", [(0.0, 5.0, 9.0), (1.0, 4.5, 4.5), (6.0, 4.0, 4.0)], 1);
    complete("exact", [(0.0, 10.0, 10.0), (4.0, 1.0, 1.0), (6.0, 1.0, 1.0)], 4);
    let under = complete("J4 under-estimated", [(0.0, 10.0, 3.0), (4.0, 1.0, 1.0), (6.0, 1.0, 1.0)], 4);
    let over_claim = Evidence::default().at_least("J1 delayed by", over[0] - exact[0], 5.0).at_most(
        "J2 delayed by",
        over[1] - exact[1],
        0.0,
    );
    let under_claim = Evidence::default()
        .within("J4 completes at", under[0], 10.0, 10.0)
        .at_least("J5 completes at", under[1], under[0])
        .at_least("J6 completes at", under[2], under[0]);
    Report {
        tables: vec![table],
        claims: vec![
            Claim::new(
                "Fig 3.1 left",
                "An over-estimated job is preempted by the others and suffers alone",
                over_claim,
            ),
            Claim::new("Fig 3.1 right", "An under-estimated job blocks all others until it ends", under_claim),
        ],
        notes: vec!["The thesis draws these examples without numbers; the sizes are ours.".to_owned()],
        ..Report::default()
    }
}
