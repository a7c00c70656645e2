//! `hiatus advise LOG`: which of a few settings would have been best for what a ResourceManager recorded, or YARN itself kept.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::cluster::share;
use super::{emit, read_past, CliError, Common, Format};
use crate::cluster::SimulationError;
use crate::recorded::advice::{advise, Patch};
use crate::recorded::RecordedError;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Tried are fifo, fair, las, srpt and hfsp, each with preemption wait and suspend, and the best of these with a few \
    knobs more, one after the other. Something is advised only if what it surely saves (`low_%`: the low end of a 95 % \
    interval, over blocks of jobs) is above the model's error: what sums of sojourns by size class are off. \
    Limits are those of `hiatus what-if`. It is as good as tomorrow is like the day that was recorded."
)]
pub(crate) struct Args {
    /// The log; or the folder in which scripts/save-history put the records of a YARN that may have no Hiatus.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// What ApplicationMasters may hold of each queue, one at least; as CapacityScheduler's
    /// maximum-am-resource-percent, which is not in the log. What they held there at once they may hold, too.
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = share)]
    master_share: f64,
    /// After so many seconds nothing more is tried, and what was tried is told.
    #[arg(long, default_value_t = 600, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: u64,
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    let account = read_past(&args.log)?;
    if account.past.jobs.is_empty() {
        emit(&[account.table()], common.format)?;
        return Err(CliError::Recorded { path: args.log.clone(), source: RecordedError::NoJobs });
    }
    let advice =
        advise(&account.past, args.master_share, Duration::from_secs(args.limit), common.seed).map_err(|error| {
            match error {
                SimulationError::Unwanted => CliError::NoTime { limit_s: args.limit },
                error => error.into(),
            }
        })?;
    let mut tables = advice.tables(&account.past);
    tables.insert(0, account.table());
    emit(&tables, common.format)?;
    if let (Some(advised), Format::Table) = (advice.advised(), common.format) {
        let xml = Patch::new(&account.past.properties, advised).xml();
        write!(io::stdout(), "\nFor capacity-scheduler.xml:\n{xml}")?;
    }
    Ok(())
}
