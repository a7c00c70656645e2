//! Figures 3.9 to 3.11: recorded workloads.

use std::path::Path;

use crate::report::{Axis, Claim, Evidence, Plot, Report, Series, Table};
use crate::studies::ensemble::Sojourns;
use crate::studies::single::PolicyKind::{self, Fifo, Fsp, Fspe, FspePs, Las, Ps, Srpt, Srpte};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::{swim, Noise, Sizes, Synthesis, Workload};

use super::common::{add_by_sigma, GRID};

pub(super) const FIG_3_9: Study =
    Study { id: "fig-3.9", title: "Tails of the recorded job sizes (thesis Fig 3.9)", run: tails };

pub(super) const FIG_3_10: Study = Study {
    id: "fig-3.10",
    title: "Impact of the error on the Facebook trace of 2010 (thesis Fig 3.10)",
    run: facebook,
};

pub(super) const FIG_3_11: Study =
    Study { id: "fig-3.11", title: "Impact of the error on a substitute for IRCache (thesis Fig 3.11)", run: ircache };

const POLICIES: [PolicyKind; 8] = [Srpt, Fifo, Ps, Las, Fsp, Srpte, Fspe, FspePs];

/// Why IRCache has a substitute, said wherever it is used.
const SUBSTITUTE: &str = "SUBSTITUTE: the IRCache trace is no longer to be had. In its place stand 206,914 jobs (as \
    many as its requests) of Weibull shape 0.177, Poisson arrivals, load 0.9.";

fn facebook_jobs() -> Result<Workload, StudyError> {
    let trace = swim::parse(swim::FB_2010.as_bytes(), Path::new("FB-2010_samples_24_times_1hr_0.tsv"))?;
    Ok(swim::single_server(&trace, 0.9))
}

fn substitute() -> Synthesis {
    Synthesis { sizes: Sizes::Weibull { shape: 0.177 }, njobs: 206_914, ..Synthesis::default() }
}

fn tails(setting: &Setting) -> Result<Report, StudyError> {
    let mut table = Table::new("fig-3.9", "Job sizes", &["workload", "jobs", "largest / mean", "median / mean"]);
    let mut series = Vec::new();
    let mut ratios = Vec::new();
    for (name, jobs) in
        [("Facebook 2010", facebook_jobs()?), ("IRCache substitute", substitute().draw(setting.seed, 0))]
    {
        let mean = jobs.iter().map(|job| job.size).sum::<f64>() / jobs.len() as f64;
        let mut sizes: Vec<f64> = jobs.iter().map(|job| job.size / mean).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let n = sizes.len();
        table.row(vec![name.into(), n.into(), sizes[n - 1].into(), sizes[n / 2].into()]);
        ratios.push(sizes[n - 1]);
        // P(size > sizes[i]) = (n − 1 − i)/n; as many points as a plot can show, all of them in the tail.
        let ranks = (0..n - 1).filter(|i| i % (n / 500) == 0 || n - i < 300);
        let points = ranks.map(|i| (sizes[i], (n - 1 - i) as f64 / n as f64)).collect();
        series.push(Series { name: name.to_owned(), points });
    }
    let evidence = Evidence::default().within("Facebook: log10(largest/mean)", ratios[0].log10(), 2.5, 3.5);
    Ok(Report {
        tables: vec![table],
        plots: vec![Plot {
            name: "fig-3.9".to_owned(),
            title: "CCDF of job sizes".to_owned(),
            x: Axis::log("size / mean size"),
            y: Axis::log("share of larger jobs"),
            series,
        }],
        claims: vec![Claim::new("Fig 3.9", "The largest Facebook job is about 3 orders above the mean", evidence)],
        notes: vec![SUBSTITUTE.to_owned()],
    })
}

fn facebook(setting: &Setting) -> Result<Report, StudyError> {
    let jobs = facebook_jobs()?;
    let count = setting.runs(200);
    let draw = |run| (jobs.clone(), Noise::draw(jobs.len(), setting.seed, run));
    let sojourns = Sojourns::measure("Facebook 2010", count, &POLICIES, &GRID, draw);
    let mut report = Report::default();
    add_by_sigma(&mut report, "fig-3.10", "Facebook 2010", &POLICIES, &sojourns);
    let ratio = |policy, base, sigma| sojourns.ratio(policy, base, sigma).mean();
    let worst = |policy: PolicyKind, base: PolicyKind, sigmas: &[f64]| {
        sigmas.iter().map(|&sigma| ratio(policy, base, sigma)).fold(f64::MIN, f64::max)
    };
    let least = GRID.into_iter().map(|sigma| ratio(Fspe, FspePs, sigma)).fold(f64::MAX, f64::min);
    let evidence = Evidence::default()
        .within("FSPE+PS/SRPT at σ 0.5", ratio(FspePs, Srpt, 0.5), 1.1, 1.2)
        .below("largest FSPE+PS/PS for σ ≤ 2", worst(FspePs, Ps, &GRID[..=8]), 1.0)
        .above("FSPE+PS/PS at σ 4", ratio(FspePs, Ps, 4.0), 1.0)
        .at_least("smallest FSPE / FSPE+PS", least, 1.0);
    report.claims.push(Claim::new(
        "S-25",
        "The Facebook trace behaves like shape 0.25; FSPE+PS never worse than FSPE",
        evidence,
    ));
    report.notes.push(format!(
        "{count} draws of the errors. FB-2010_samples_24_times_1hr_0.tsv of SWIM, size = input + shuffle + output, speed \
         set for a load of 0.9; jobs of size 0 count in the mean sojourn time."
    ));
    Ok(report)
}

fn ircache(setting: &Setting) -> Result<Report, StudyError> {
    let count = setting.runs(60);
    let draw = |run| substitute().draw_exact(setting.seed, run);
    let sojourns = Sojourns::measure("IRCache substitute", count, &POLICIES, &GRID, draw);
    let mut report = Report::default();
    add_by_sigma(&mut report, "fig-3.11", "Substitute for IRCache", &POLICIES, &sojourns);
    let least = GRID.into_iter().map(|sigma| sojourns.ratio(Fspe, FspePs, sigma).mean()).fold(f64::MAX, f64::min);
    let evidence = Evidence::default().at_least("smallest mean FSPE / FSPE+PS over σ", least, 1.0);
    report.claims.push(Claim::new("Fig 3.11", "FSPE+PS always beats FSPE", evidence));
    report.notes.extend([SUBSTITUTE.to_owned(), format!("{count} workloads, each with its own errors.")]);
    Ok(report)
}
