//! The `hiatus` command line: one file per subcommand, each a thin shell around a library call.
//!
//! A new subcommand is a file here with its `Args` (clap) and a `run(&Args, &Common)`, and one arm in [`Command`].

mod advise;
mod cluster;
mod document;
mod flex;
mod fuzz;
mod history;
mod output;
mod recorded;
mod replay;
mod reproduce;
mod simulate;
mod single;
mod what_if;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use output::emit;
pub(crate) use recorded::read_past;

use crate::cluster::SimulationError;
use crate::recorded::RecordedError;
use crate::studies::document::DocumentError;
use crate::studies::StudyError;
use crate::workload::WorkloadError;

/// Hiatus: simulate, reproduce and explain size-based scheduling.
#[derive(Debug, Parser)]
#[command(name = "hiatus", version, about, propagate_version = true)]
struct Hiatus {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a workload through a simulated server or cluster.
    Simulate(simulate::Args),
    /// Reproduce the published figures, with their claims checked.
    Reproduce(reproduce::Args),
    /// Fill the tables of a document from what was reproduced.
    Document(document::Args),
    /// Look for broken laws in random clusters in which everything goes wrong.
    Fuzz(fuzz::Args),
    /// Feed a core what a ResourceManager recorded, and compare its decisions.
    Replay(replay::Args),
    /// Simulate what a ResourceManager recorded with other settings.
    WhatIf(what_if::Args),
    /// Say which settings would have been best for what a ResourceManager recorded, and whether that is sure.
    Advise(advise::Args),
    /// Put what jobs took before Hiatus was there into a ResourceManager's history.
    History(history::Args),
    /// Solve one slot allocation problem with FLEX.
    Flex(flex::Args),
}

/// Options every subcommand takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Seed of every random draw; the same seed gives the same bytes.
    #[arg(long, global = true, default_value_t = 1)]
    pub seed: u64,
    /// Worker threads (0: one per core); the output does not depend on it.
    #[arg(long, global = true, default_value_t = 0)]
    pub threads: usize,
    /// Form of what is printed.
    #[arg(long, global = true, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Form of a printed result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, rounded for reading.
    Table,
    /// One JSON document, numbers in full.
    Json,
    /// Comma-separated values, numbers in full.
    Csv,
}

/// What stops a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    #[error("the recorded setting was not simulated within {limit_s} s; give more with --limit, or fewer hours")]
    NoTime { limit_s: u64 },
    #[error(transparent)]
    Document(#[from] DocumentError),
    #[error("{count} seeds break a law; `hiatus fuzz --seeds 1 --seed {seed}` shows the first")]
    BrokenLaw { count: usize, seed: u64 },
    #[error(transparent)]
    Flex(#[from] flex::FlexError),
    #[error("{}: {source}", path.display())]
    Recorded { path: PathBuf, source: RecordedError },
    #[error(transparent)]
    History(#[from] history::ImportError),
    #[error("cannot start {threads} worker threads: {source}; give fewer with --threads")]
    Threads { threads: usize, source: rayon::ThreadPoolBuildError },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
    #[error("--out takes the completions of one policy: give one --policy, or leave --out away")]
    OnePolicyForOut,
}

/// Parses the command line, runs it and turns the outcome into an exit status.
pub fn main() -> ExitCode {
    let hiatus = Hiatus::parse();
    env_logger::init(); // what the core says, as RUST_LOG asks for it; by default its errors
    match run(&hiatus) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has gone (`hiatus … | head`): nothing is wrong.
        Err(CliError::Print(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(hiatus: &Hiatus) -> Result<(), CliError> {
    let threads = hiatus.common.threads;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|source| CliError::Threads { threads, source })?;
    pool.install(|| match &hiatus.command {
        Command::Simulate(args) => simulate::run(args, &hiatus.common),
        Command::Reproduce(args) => reproduce::run(args, &hiatus.common),
        Command::Document(args) => document::run(args),
        Command::Fuzz(args) => fuzz::run(args, &hiatus.common),
        Command::Replay(args) => replay::run(args, &hiatus.common),
        Command::WhatIf(args) => what_if::run(args, &hiatus.common),
        Command::Advise(args) => advise::run(args, &hiatus.common),
        Command::History(args) => history::run(args, &hiatus.common),
        Command::Flex(args) => flex::run(args),
    })
}
