//! `hiatus fuzz`: random clusters, work and faults, with the scheduler's laws checked after every step.

use std::panic;

use indicatif::{ParallelProgressIterator, ProgressBar};
use rayon::prelude::*;

use super::{emit, CliError, Common};
use crate::cluster::fuzz::{judge, survive, Verdict};
use crate::cluster::Faults;
use crate::report::{Cell, Table};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A broken law is printed with its seed; `hiatus fuzz --seeds 1 --seed SEED` runs that one again and \
    stops where it breaks. The laws have their numbers from docs/architecture.md."
)]
pub(crate) struct Args {
    /// How many seeds to try, from --seed on.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Nothing goes wrong: only clusters, settings and work are random.
    #[arg(long)]
    calm: bool,
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    let faults = if args.calm { Faults::default() } else { Faults::ALL };
    let seeds: Vec<u64> = (0..args.seeds).map(|n| common.seed.wrapping_add(n)).collect();
    if let [seed] = seeds[..] {
        // One seed is run in the open: a broken law stops it with its message and, if asked for, its backtrace.
        let world = survive(seed, faults);
        let (steps, jobs) = (world.count.steps, world.apps().len());
        println!("seed {seed}: no law broken in {steps} steps; {} decisions; {jobs} jobs", world.decided.len());
        return Ok(());
    }
    let loud = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let bar = ProgressBar::new(args.seeds);
    let verdicts: Vec<Verdict> = seeds.into_par_iter().progress_with(bar).map(|seed| judge(seed, faults)).collect();
    panic::set_hook(loud);
    report(&verdicts, common)
}

fn report(verdicts: &[Verdict], common: &Common) -> Result<(), CliError> {
    let broken: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.broken.is_some()).collect();
    let mut summary = Table::new("fuzz", "Random worlds", &["seeds", "steps", "suspensions", "broken"]);
    let sum = |of: fn(&Verdict) -> u64| Cell::Count(verdicts.iter().map(of).sum());
    summary.row(vec![verdicts.len().into(), sum(|v| v.steps), sum(|v| v.suspended), broken.len().into()]);
    let mut laws = Table::new("broken", "Broken laws", &["seed", "law"]);
    for verdict in &broken {
        let first_line = verdict.broken.iter().flat_map(|text| text.lines()).next().unwrap_or_default();
        laws.row(vec![Cell::Count(verdict.seed), first_line.into()]);
    }
    emit(if broken.is_empty() { vec![summary] } else { vec![summary, laws] }.as_slice(), common.format)?;
    match broken.first() {
        None => Ok(()),
        Some(first) => Err(CliError::BrokenLaw { count: broken.len(), seed: first.seed }),
    }
}
