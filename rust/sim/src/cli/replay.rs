//! `hiatus replay LOG`: whether the core decides the same once more.

use std::path::PathBuf;

use super::{emit, CliError, Common};
use crate::recorded::replay::{replay, Replayed};
use crate::recorded::{self, RecordedError};
use crate::report::{Cell, Table};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The log is one that a ResourceManager wrote with yarn.scheduler.hiatus.rm.record-dir. It is read by the \
    release that wrote it. The exit status is 0 if every decision is the same, byte for byte, to the end of the log."
)]
pub(crate) struct Args {
    /// The log.
    #[arg(value_name = "LOG")]
    log: PathBuf,
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    let failed = |source: RecordedError| CliError::Recorded { path: args.log.clone(), source };
    let mut log = recorded::open(&args.log).map_err(failed)?;
    let mut done = Replayed::default();
    let outcome = replay(&mut log, &mut done);
    // Up to where it failed, too.
    emit(&[table(&done)], common.format)?;
    outcome.map_err(|error| failed(error.into()))
}

fn table(done: &Replayed) -> Table {
    let columns = ["steps", "facts", "decisions", "configurations", "from_ms", "lasted_s", "ends_within_a_step"];
    let mut table = Table::new("replay", "Replayed with the same decisions", &columns);
    table.row(vec![
        Cell::Count(done.steps),
        Cell::Count(done.facts),
        Cell::Count(done.decisions),
        Cell::Count(done.configurations),
        Cell::Count(u64::try_from(done.from_ms).unwrap_or_default()),
        (done.lasted_ms as f64 / 1000.0).into(),
        (if done.ends_within_a_step { "yes" } else { "no" }).into(),
    ]);
    table
}
