//! Chapter 4 of the thesis: the illustrative examples that one server can show.

use crate::report::{Claim, Evidence, Report, Table};
use crate::studies::single::{mean_sojourn, PolicyKind};
use crate::workload::Job;

use crate::studies::study::{Setting, Study, StudyError};

/// The studies of this chapter.
pub(super) const STUDIES: &[&Study] = &[
    &Study {
        id: "fig-4.1",
        title: "Sizes updated for ever cost more than one wrong order (thesis Fig 4.1)",
        run: flapping,
    },
    &Study { id: "fig-4.2", title: "Virtual and real progress (thesis Fig 4.2)", run: virtual_progress },
    &Study {
        id: "fig-4.4",
        title: "A wrong order of similar and of different sizes (thesis Fig 4.4)",
        run: wrong_order,
    },
];

/// Cases of one figure: who completes when, and the mean response time published for it.
struct Cases {
    table: Table,
    evidence: Evidence,
}

impl Cases {
    fn new(name: &str, title: &str) -> Cases {
        let columns = ["case", "policy", "completions", "mean response", "published"];
        Cases { table: Table::new(name, title, &columns), evidence: Evidence::default() }
    }

    fn add(&mut self, case: &str, policy: PolicyKind, jobs: &[Job], published: f64) {
        let completions = policy.completions(jobs);
        let mean = mean_sojourn(jobs, &completions);
        let times: Vec<String> = completions.iter().map(f64::to_string).collect();
        self.table.row(vec![
            case.into(),
            policy.name().into(),
            times.join(", ").as_str().into(),
            mean.into(),
            published.into(),
        ]);
        let evidence = std::mem::take(&mut self.evidence);
        self.evidence = evidence.within(case, mean, published - 1e-9, published + 1e-9);
    }

    fn report(self, id: &'static str, statement: &'static str, note: &str) -> Result<Report, StudyError> {
        Ok(Report {
            tables: vec![self.table],
            claims: vec![Claim::new(id, statement, self.evidence)],
            notes: vec![note.to_owned()],
            ..Report::default()
        })
    }
}

/// Jobs that arrive together; sizes and estimates.
fn together(jobs: &[(f64, f64)]) -> Vec<Job> {
    jobs.iter().map(|&(size, estimate)| Job { estimate, ..Job::exact(0.0, size) }).collect()
}

fn flapping(_: &Setting) -> Result<Report, StudyError> {
    let mut cases = Cases::new("fig-4.1", "Two jobs, sizes 3 and 2");
    cases.add("right order", PolicyKind::Fspe, &together(&[(3.0, 3.0), (2.0, 2.0)]), 3.5);
    cases.add("inverted once", PolicyKind::Fspe, &together(&[(3.0, 2.0), (2.0, 3.0)]), 4.0);
    cases.add("flapping", PolicyKind::Ps, &together(&[(3.0, 3.0), (2.0, 2.0)]), 4.5);
    let note = "Estimates that overtake each other again and again serve the jobs in turn: the limit is PS.";
    cases.report("Fig 4.1", "Continuous updates are worse than one wrong order: means 3.5, 4, 4.5", note)
}

fn virtual_progress(_: &Setting) -> Result<Report, StudyError> {
    let jobs = [Job::exact(0.0, 3.0), Job::exact(0.0, 4.0), Job::exact(3.0, 3.0)];
    let mut cases = Cases::new("fig-4.2", "Jobs of sizes 3 and 4 at time 0, of size 3 at time 3");
    cases.add("virtual (PS)", PolicyKind::Ps, &jobs, (7.5 + 9.5 + 7.0) / 3.0);
    cases.add("real (FSP)", PolicyKind::Fsp, &jobs, (3.0 + 7.0 + 7.0) / 3.0);
    let note =
        "At time 3 the second job has 2.5 left virtually and the third 3: the second is served first, though in \
                reality it is the larger (4 against 3).";
    cases.report("Fig 4.2", "Virtual completions 7.5, 9.5, 10; real completions 3, 7, 10", note)
}

fn wrong_order(_: &Setting) -> Result<Report, StudyError> {
    let mut cases = Cases::new("fig-4.4", "Two jobs that arrive together");
    for (sizes, large, published) in
        [("sizes 1 and 2", 2.0, [2.0, 2.5, 2.5]), ("sizes 1 and 10", 10.0, [6.0, 10.5, 6.5])]
    {
        let right = together(&[(1.0, 1.0), (large, large)]);
        let wrong = together(&[(1.0, large), (large, 1.0)]);
        cases.add(&format!("{sizes}: right order"), PolicyKind::Fspe, &right, published[0]);
        cases.add(&format!("{sizes}: wrong order"), PolicyKind::Fspe, &wrong, published[1]);
        cases.add(&format!("{sizes}: PS"), PolicyKind::Ps, &right, published[2]);
    }
    cases.report("Fig 4.4", "A wrong order costs little among similar sizes, much among different ones", "")
}
