//! `hiatus reproduce list|ID|all [--quick]`: published figures and tables, with their claims.

use std::path::PathBuf;
use std::time::Instant;

use super::{emit, CliError, Common};
use crate::report::{Claim, Table};
use crate::studies::{all, select, Setting};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// `list`, `all`, or ids from the list; `fig-3.*` takes every id that starts with `fig-3.`.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// A twentieth of the runs: a first look, in which the noisiest claims may fail.
    #[arg(long)]
    quick: bool,
    /// Folder for tables, plots and claims, one sub-folder per id.
    #[arg(long, default_value = "build/reproduce", value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    if args.ids.iter().any(|id| id == "list") {
        let mut list = Table::new("studies", "Studies", &["id", "what it reproduces"]);
        for study in all() {
            list.row(vec![study.id.into(), study.title.into()]);
        }
        return Ok(emit(&[list], common.format)?);
    }
    let setting = Setting { quick: args.quick, seed: common.seed };
    let mut verdicts: Vec<bool> = Vec::new();
    for study in select(all(), &args.ids)? {
        eprintln!("{}: {}", study.id, study.title);
        let start = Instant::now();
        let report = (study.run)(&setting)?;
        let folder = args.out.join(study.id);
        report
            .write(&folder, study.id, study.title)
            .map_err(|source| CliError::Write { path: folder.clone(), source })?;
        eprintln!("{}: {:.1} s, written to {}", study.id, start.elapsed().as_secs_f64(), folder.display());
        verdicts.extend(report.claims.iter().map(|claim| claim.passes));
        let mut tables = report.tables;
        if !report.claims.is_empty() {
            tables.push(Claim::table(&report.claims));
        }
        emit(&tables, common.format)?;
    }
    let passed = verdicts.iter().filter(|passes| **passes).count();
    eprintln!("{passed} of {} claims pass", verdicts.len());
    Ok(())
}
