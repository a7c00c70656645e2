//! `hiatus simulate …`: one workload, one model of the machine.

use clap::Subcommand;

use super::{cluster, single, CliError, Common};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, Subcommand)]
enum Model {
    /// One divisible server, as in the scheduling literature.
    Single(single::Args),
    /// A YARN cluster, under the scheduler that runs in its ResourceManager.
    Cluster(Box<cluster::Args>),
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    match &args.model {
        Model::Single(args) => single::run(args, common),
        Model::Cluster(args) => cluster::run(args, common),
    }
}
