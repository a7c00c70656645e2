//! How long a simulation takes.

use std::time::Instant;

use crate::report::{Claim, Evidence, Report, Table};
use crate::studies::single::PolicyKind;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::Synthesis;

pub(super) const SPEED: Study =
    Study { id: "speed-3", title: "Seconds to simulate 10,000 jobs (thesis §3.2.3); not the same in every run", run };

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let jobs = Synthesis::default().draw(setting.seed, 0);
    let mut table = Table::new("speed", "10,000 jobs, one thread", &["policy", "wall-clock seconds"]);
    let mut slowest: f64 = 0.0;
    for policy in PolicyKind::ALL {
        let start = Instant::now();
        std::hint::black_box(policy.completions(&jobs));
        let seconds = start.elapsed().as_secs_f64();
        table.row(vec![policy.name().into(), seconds.into()]);
        slowest = slowest.max(seconds);
    }
    let evidence = Evidence::default().at_most("slowest policy (s)", slowest, 0.5);
    Ok(Report {
        tables: vec![table],
        claims: vec![Claim::new("S-28", "10,000 jobs in at most 0.5 s, under every policy", evidence)],
        notes: vec!["`scripts/bench sim` measures CPU time beside the thesis' own simulator.".to_owned()],
        ..Report::default()
    })
}
