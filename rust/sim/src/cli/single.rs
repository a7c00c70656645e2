//! `hiatus simulate single`: one workload, one or more policies, one divisible server.

use std::path::PathBuf;

use super::{emit, CliError, Common};
use crate::report::Table;
use crate::studies::single::{PolicyKind, Summary};
use crate::workload::{self, swim, Job, Noise, Synthesis, Workload, WorkloadError};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Policies, comma-separated: fifo, ps, gps, las, srpt, fsp, srpte, srpte+ps, srpte+las, fspe, fspe+ps, fspe+las,
    /// fspe+dc, psbs.
    #[arg(long, value_delimiter = ',', required = true, value_name = "NAME")]
    policy: Vec<PolicyKind>,
    #[command(flatten)]
    source: Source,
    /// Scale the sizes of a file so that Σ size / last arrival is this (default for a SWIM trace: 0.9).
    #[arg(long, value_name = "LOAD", conflicts_with = "synth", value_parser = positive)]
    load: Option<f64>,
    /// Draw the estimates of a file with log-normal errors of this σ, over what the file says.
    #[arg(long, value_name = "SIGMA", conflicts_with = "synth", value_parser = not_negative)]
    sigma: Option<f64>,
    /// Write job,arrival,size,estimate,completion of every job; needs a single policy.
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// Jobs from a file: a SWIM trace (.tsv), else CSV arrival,size[,estimate][,weight].
    #[arg(long, value_name = "FILE")]
    jobs: Option<PathBuf>,
    /// Random jobs: shape=0.25 (or lomax=ALPHA), sigma=0.5, timeshape=1, load=0.9, njobs=10000, alpha=0.
    #[arg(long, value_name = "KEY=VALUE,…")]
    synth: Option<Synthesis>,
}

fn positive(text: &str) -> Result<f64, String> {
    match not_negative(text)? {
        0.0 => Err("must be above 0".to_owned()),
        value => Ok(value),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..f64::INFINITY).contains(&value) => Ok(value),
        _ => Err("must be a finite number of at least 0".to_owned()),
    }
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    if args.out.is_some() && args.policy.len() > 1 {
        return Err(CliError::OnePolicyForOut);
    }
    let jobs = workload(args, common.seed)?;
    let mut columns = vec!["policy".to_owned(), "jobs".to_owned(), "mst".to_owned(), "last_completion".to_owned()];
    columns.extend(Summary::QUANTILES.map(|q| match q {
        1.0 => "slowdown_max".to_owned(),
        _ => format!("slowdown_q{q}"),
    }));
    let mut table = Table::new("summary", "Mean sojourn time (s) and slowdown quantiles", &columns);
    for &policy in &args.policy {
        let completions = policy.completions(&jobs);
        if let Some(path) = &args.out {
            workload::write_csv(path, &jobs, &completions)?;
        }
        let summary = Summary::new(&jobs, &completions);
        let mut row = vec![policy.name().into(), summary.jobs.into()];
        row.extend([summary.mean_sojourn_s.into(), summary.last_completion_s.into()]);
        row.extend(summary.slowdown.map(Into::into));
        table.row(row);
    }
    Ok(emit(&[table], common.format)?)
}

fn workload(args: &Args, seed: u64) -> Result<Workload, WorkloadError> {
    let mut jobs = match (&args.source.jobs, &args.source.synth) {
        (Some(path), _) if path.extension().is_some_and(|extension| extension == "tsv") => {
            swim::single_server(&swim::read(path)?, args.load.unwrap_or(0.9))
        }
        (Some(path), _) => scaled(workload::read_csv(path)?, args.load),
        (None, synth) => synth.unwrap_or_default().draw(seed, 0),
    };
    if let Some(sigma) = args.sigma {
        Noise::draw(jobs.len(), seed, 0).estimate(&mut jobs, sigma);
    }
    Ok(jobs)
}

fn scaled(mut jobs: Vec<Job>, load: Option<f64>) -> Workload {
    if let Some(load) = load {
        workload::set_load(&mut jobs, load);
    }
    jobs
}
