//! `hiatus what-if LOG`: what another setting would have done to what a ResourceManager recorded, or YARN itself kept.

use std::fs;
use std::path::PathBuf;

use clap::ArgAction;
use hiatus_background::hindsight::setting::Change;

use super::cluster::{property, share};
use super::{emit, read_past, CliError, Common};
use crate::cluster::Preemption;
use crate::recorded::what_if::what_if;
use crate::recorded::RecordedError;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Limits: jobs arrive as they did, whatever the setting, and tasks run as long as they did, wherever they run; memory \
    that suspended tasks keep slows nobody down; what users may hold in a queue, locality and the shares of labelled \
    partitions are not in a log; stages of one job run one after the other; ApplicationMasters end with their last \
    task; what failed by itself counts as a task like others. `model_error_%` says how far the simulation with the \
    recorded settings is from what was recorded: a change that is not much larger means nothing. Where the log was \
    recorded in mode observe, or is YARN's own records, FIFO without preemption stands for stock CapacityScheduler."
)]
pub(crate) struct Args {
    /// The log; or the folder in which scripts/save-history put the records of a YARN that may have no Hiatus.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Policy of every queue, as yarn.scheduler.hiatus.policy.
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// How resources are taken back in every queue: wait, suspend, kill, adaptive.
    #[arg(long, value_name = "HOW")]
    preemption: Option<Preemption>,
    /// A knob of Hiatus by its whole name, or a property of CapacityScheduler's queues (queues, capacity, maximum-capacity,
    /// minimum-user-limit-percent, user-limit-factor, maximum-am-resource-percent, disable_preemption,
    /// intra-queue-preemption.disable_preemption); all else is refused. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = property, action = ArgAction::Append)]
    properties: Vec<(String, String)>,
    /// What ApplicationMasters may hold of each queue, one at least; as CapacityScheduler's
    /// maximum-am-resource-percent, which is not in the log. What they held there at once they may hold, too.
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = share)]
    master_share: f64,
    /// Draw which part of the jobs had ended after how long.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    let account = read_past(&args.log)?;
    if account.past.jobs.is_empty() {
        emit(&[account.table()], common.format)?;
        return Err(CliError::Recorded { path: args.log.clone(), source: RecordedError::NoJobs });
    }
    let change =
        Change { policy: args.policy.clone(), preemption: args.preemption, properties: args.properties.clone() };
    let compared = what_if(&account.past, &change, args.master_share, common.seed)?;
    let mut tables = compared.tables();
    tables.insert(0, account.table());
    emit(&tables, common.format)?;
    if let Some(path) = &args.plot {
        fs::write(path, compared.plot().to_svg()?).map_err(|source| CliError::Write { path: path.clone(), source })?;
    }
    Ok(())
}
