//! `hiatus history import FOLDER DIRECTORY`: what jobs took before Hiatus was there, into the history of a ResourceManager.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Subcommand;
use hiatus_core::recurring::Record;
use hiatus_history::{Bounds, Store};

use super::{emit, CliError, Common};
use crate::recorded::history::{self, finished};
use crate::report::Table;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Remember jobs that YARN itself kept, as far as they ended before everything that the history knows.
    #[command(after_help = "No ResourceManager may have the history open: import before the first start with \
        yarn.scheduler.hiatus.rm.history-dir, or while that is not set. One that starts meanwhile waits.")]
    Import(Import),
}

#[derive(Debug, clap::Args)]
struct Import {
    /// In which `scripts/save-history --names` put the records of the JobHistoryServer.
    folder: PathBuf,
    /// As yarn.scheduler.hiatus.rm.history-dir; made if it is not there. Run this as the ResourceManager's user.
    directory: PathBuf,
    /// As yarn.scheduler.hiatus.rm.history-max-runs.
    #[arg(long, value_name = "RUNS", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    max_runs: u64,
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportError {
    #[error(transparent)]
    Saved(#[from] history::HistoryError),
    #[error(transparent)]
    Store(#[from] hiatus_history::HistoryError),
    #[error("the history has {known} runs, and would be cut down to {most}; give --max-runs as yarn.scheduler.hiatus.rm.history-max-runs says")]
    Bound { known: u64, most: u64 },
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    let Command::Import(args) = &args.command;
    Ok(emit(&[import(args)?], common.format)?)
}

fn import(args: &Import) -> Result<Table, ImportError> {
    let found = finished(&args.folder)?;
    let mut store = Store::open(&args.directory, Bounds { runs: args.max_runs })?;
    let known = store.runs()?;
    if known > args.max_runs {
        return Err(ImportError::Bound { known, most: args.max_runs });
    }
    // Hiatus' clock and the JobHistoryServer's differ by a little: of what both know nothing may be there twice.
    let known_since_ms = store.oldest_ms()?.unwrap_or(u64::MAX);
    let (mut older, known): (Vec<Record>, Vec<Record>) =
        found.records.into_iter().partition(|record| record.at_ms < known_since_ms);
    older.sort_by_key(|record| record.at_ms);
    store.remember(&older)?;
    let classes: BTreeSet<_> = older.iter().map(|record| record.class.0).collect();
    let mut table = Table::new("import", "Imported into the history", &["what", "number"]);
    for (what, number) in [
        ("runs read in", older.len()),
        ("of so many classes", classes.len()),
        ("left out: not before what the history knows", known.len()),
        ("left out: failed, without tasks or without a name", found.left_out),
        ("runs known now", store.runs()? as usize),
    ] {
        table.row(vec![what.into(), number.into()]);
    }
    Ok(table)
}
