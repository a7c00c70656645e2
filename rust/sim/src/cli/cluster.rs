//! `hiatus simulate cluster`: a workload on a simulated YARN cluster, under the scheduler that runs in the
//! ResourceManager.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use clap::ArgAction;
use hiatus_core::units::{Millis, Resource};
use rayon::prelude::*;

use super::{emit, CliError, Common};
use crate::cluster::testbed::{Room, Testbed};
use crate::cluster::Preemption;
use crate::cluster::{isolation, Faults, Outcome, SimulationError};
use crate::report::{Cell, Sample, Table};
use crate::workload::cluster::{self as jobs, Arrivals, Bins, Job, Mix, SwimModel};
use crate::workload::{swim, WorkloadError};

/// Workloads of more jobs are compared with each job alone only on request: it takes a simulation per job.
const FEW_JOBS: usize = 1_000;

#[derive(Debug, clap::Args)]
#[command(after_help = "Nothing is simulated twice: the scheduler is the one that runs in the ResourceManager, and \
    `--policy fifo,fair --preemption wait` stand for CapacityScheduler's FIFO and fair orderings. The JSON format is \
    that of live workloads; `simulated` in a job says what its tasks do.")]
pub(crate) struct Args {
    /// FILE.json, dev, test or prod (HFSP thesis, Table 5.1), or swim:FILE.tsv (swim:fb-2009, swim:fb-2010: built in).
    #[arg(long, value_name = "WORKLOAD")]
    workload: Source,
    /// Policies, comma-separated: fifo, fair, las, srpt, hfsp.
    #[arg(long, value_delimiter = ',', required = true, value_name = "NAME")]
    policy: Vec<String>,
    /// How resources are taken back, comma-separated: wait, suspend, kill, adaptive.
    #[arg(long, value_delimiter = ',', default_value = "suspend", value_name = "HOW")]
    preemption: Vec<Preemption>,
    /// Number of nodes.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nodes: u32,
    /// Map and reduce slots of a node, as in Hadoop 1, instead of one pool for all containers.
    #[arg(long, value_name = "MAPS,REDUCES", conflicts_with_all = ["node_mb", "node_vcores", "master_share"], value_parser = slots)]
    slots: Option<(u32, u32)>,
    /// Memory of a node for containers, in MiB.
    #[arg(long, default_value_t = 8192, value_parser = clap::value_parser!(i64).range(1..=1 << 40))]
    node_mb: i64,
    /// Virtual cores of a node for containers.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(i64).range(0..=1 << 20))]
    node_vcores: i64,
    /// What ApplicationMasters may hold of each queue, one at least; as CapacityScheduler's
    /// maximum-am-resource-percent.
    #[arg(long, default_value_t = 0.1, value_name = "SHARE", value_parser = share)]
    master_share: f64,
    /// Milliseconds between two heartbeats of a node.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=600_000))]
    heartbeat_ms: u64,
    /// Milliseconds that an ApplicationMaster needs from its start to its first asks.
    #[arg(long, default_value_t = 3_000, value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    master_start_ms: u64,
    /// Milliseconds that a task needs from its start to its work.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    task_start_ms: u64,
    /// Milliseconds that continuing a paused container costs per GiB of its memory.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    resume_ms_per_gb: u64,
    /// Probability that a task fails at its end.
    #[arg(long, default_value_t = 0.0, value_parser = probability)]
    fail_task: f64,
    /// Probability that a node is lost at a heartbeat, for 20 s.
    #[arg(long, default_value_t = 0.0, value_parser = probability)]
    lose_node: f64,
    /// Number of jobs: of dev, test and prod (default 100), or the first ones of a trace.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
    /// How the jobs of dev, test and prod arrive, unless as in the table: poisson:SECONDS, periodic:SECONDS or
    /// burst:JOBS:SECONDS.
    #[arg(long, value_name = "HOW")]
    arrivals: Option<Arrivals>,
    /// The bytes of a trace are multiplied by this.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = scale)]
    scale: f64,
    /// How many draws of dev, test or prod to run.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: u32,
    /// A knob of Hiatus by its whole name, or a property of CapacityScheduler's queues (queues, capacity, maximum-capacity,
    /// minimum-user-limit-percent, user-limit-factor, maximum-am-resource-percent, disable_preemption,
    /// intra-queue-preemption.disable_preemption); all else is refused. May be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = property, action = ArgAction::Append)]
    properties: Vec<(String, String)>,
    /// Compare every job with itself alone on the cluster even if there are more than 1000.
    #[arg(long)]
    slowdown: bool,
    /// Write what became of every job, as CSV.
    #[arg(long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Write the jobs of the first draw as JSON, to be simulated again or replayed on a cluster.
    #[arg(long, value_name = "FILE.json")]
    save: Option<PathBuf>,
}

/// Where jobs come from.
#[derive(Clone, Debug)]
enum Source {
    Json(PathBuf),
    Bins(Mix),
    Swim(PathBuf),
}

impl FromStr for Source {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Source, Self::Err> {
        Ok(match (text.strip_prefix("swim:"), text.parse()) {
            (Some(path), _) => Source::Swim(path.into()),
            (None, Ok(mix)) => Source::Bins(mix),
            (None, Err(())) => Source::Json(text.into()),
        })
    }
}

fn slots(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once(',').and_then(|(maps, reduces)| Some((maps.parse().ok()?, reduces.parse().ok()?)));
    parts.filter(|(maps, reduces)| *maps > 0 && *reduces > 0).ok_or_else(|| "must be two numbers above 0".to_owned())
}

fn probability(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (0.0..=0.5).contains(value));
    value.ok_or_else(|| "must be a number from 0 to 0.5".to_owned())
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| *value > 0.0 && *value <= 1.0);
    value.ok_or_else(|| "must be a number above 0, at most 1".to_owned())
}

fn scale(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| "must be a finite number above 0".to_owned())
}

pub(super) fn property(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    pair.ok_or_else(|| "must be KEY=VALUE".to_owned())
}

/// One simulation.
struct Run {
    policy: String,
    preemption: Preemption,
    draw: usize,
    outcome: Outcome,
}

pub(crate) fn run(args: &Args, common: &Common) -> Result<(), CliError> {
    let draws = match &args.workload {
        Source::Bins(_) => args.seeds,
        _ => 1,
    };
    let workloads: Vec<Vec<Job>> =
        (0..u64::from(draws)).map(|draw| workload(args, common.seed, draw)).collect::<Result<_, _>>()?;
    if let Some(path) = &args.save {
        jobs::write(path, &workloads[0])?;
    }
    let mut plan = Vec::new();
    for policy in &args.policy {
        for preemption in &args.preemption {
            plan.extend((0..workloads.len()).map(|draw| (policy.clone(), *preemption, draw)));
        }
    }
    let began = Instant::now();
    let runs: Vec<Run> = plan
        .into_par_iter()
        .map(|(policy, preemption, draw)| {
            let outcome = testbed(args, &policy, preemption).world(&workloads[draw], common.seed)?.finish()?.outcome();
            Ok(Run { policy, preemption, draw, outcome })
        })
        .collect::<Result<_, SimulationError>>()?;
    tell_speed(&runs, began.elapsed().as_secs_f64());
    let alone = if args.slowdown || workloads[0].len() <= FEW_JOBS { Some(isolate(args, &workloads)?) } else { None };
    if let Some(path) = &args.out {
        let write = |source| CliError::Write { path: path.clone(), source };
        let file = fs::File::create(path).map_err(write)?;
        per_job(&runs, alone.as_deref()).write_csv(file).map_err(write)?;
    }
    Ok(emit(&tables(&runs, alone.as_deref()), common.format)?)
}

fn workload(args: &Args, seed: u64, draw: u64) -> Result<Vec<Job>, WorkloadError> {
    match &args.workload {
        Source::Json(path) => jobs::read(path),
        Source::Bins(mix) => {
            let mut bins = Bins::of(*mix);
            bins.jobs = args.jobs.map_or(bins.jobs, |jobs| jobs as usize);
            bins.arrivals = args.arrivals.unwrap_or(bins.arrivals);
            Ok(bins.draw(seed, draw))
        }
        Source::Swim(path) => {
            let trace = match path.to_str() {
                Some("fb-2009") => swim::parse(swim::FB_2009.as_bytes(), path)?,
                Some("fb-2010") => swim::parse(swim::FB_2010.as_bytes(), path)?,
                _ => swim::read(path)?,
            };
            let jobs = args.jobs.map_or(usize::MAX, |jobs| jobs as usize);
            Ok(jobs::swim_jobs(&trace, SwimModel { scale: args.scale, jobs }))
        }
    }
}

fn testbed(args: &Args, policy: &str, preemption: Preemption) -> Testbed {
    // Beside slots, ApplicationMasters have room of their own.
    let (room, master_share) = match args.slots {
        Some((maps, reduces)) => (Room::Slots { maps, reduces }, 1.0),
        None => (Room::Pool(Resource::new(args.node_mb, args.node_vcores)), args.master_share),
    };
    Testbed {
        nodes: args.nodes as usize,
        room,
        policy: policy.to_owned(),
        preemption,
        master_share,
        heartbeat: Millis(args.heartbeat_ms),
        master_start: Millis(args.master_start_ms),
        task_start: Millis(args.task_start_ms),
        resume_ms_per_gb: args.resume_ms_per_gb,
        properties: args.properties.clone(),
        faults: Faults { fail_task: args.fail_task, lose_node: args.lose_node, ..Faults::default() },
    }
}

/// How long each job takes alone, under FIFO and without faults; a list per draw.
fn isolate(args: &Args, workloads: &[Vec<Job>]) -> Result<Vec<Vec<f64>>, SimulationError> {
    let alone =
        Testbed { faults: Faults::default(), properties: Vec::new(), ..testbed(args, "fifo", Preemption::Wait) };
    workloads.iter().map(|jobs| isolation(jobs, &alone)).collect()
}

/// Speed and memory go to standard error: they differ from run to run.
fn tell_speed(runs: &[Run], seconds: f64) {
    let sum = |count: fn(&Run) -> u64| runs.iter().map(count).sum::<u64>();
    let (events, steps) = (sum(|run| run.outcome.count.events), sum(|run| run.outcome.count.steps));
    let rate = events as f64 / seconds.max(1e-9);
    let memory = peak_memory_mb().map_or(String::new(), |mb| format!(", peak memory {mb} MiB"));
    eprintln!("{events} events, {steps} steps in {seconds:.1} s: {rate:.0} events/s{memory}");
}

/// The process's largest resident set so far, where the system tells.
fn peak_memory_mb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok().map(|kb: u64| kb / 1024)
}

fn tables(runs: &[Run], alone: Option<&[Vec<f64>]>) -> Vec<Table> {
    let columns = ["policy", "preemption", "bin", "jobs", "mean_s", "median_s", "q90_s", "max_s"];
    let slowdowns = ["slowdown_q50", "slowdown_q90", "slowdown_max"];
    let columns: Vec<&str> = columns.into_iter().chain(slowdowns.into_iter().filter(|_| alone.is_some())).collect();
    let mut sojourns = Table::new("sojourns", "Sojourn times, submission to end", &columns);
    let columns = ["policy", "preemption", "makespan_s", "suspensions", "resumes", "killed", "lost_tasks", "wasted_s"];
    let mut costs = Table::new("costs", "What it took (sums over the draws, makespans as means)", &columns);
    for group in runs.chunk_by(|a, b| (&a.policy, a.preemption) == (&b.policy, b.preemption)) {
        let head = || vec![Cell::from(group[0].policy.as_str()), group[0].preemption.name().into()];
        let jobs = || {
            group.iter().flat_map(|run| {
                let alone = |n: usize| alone.map_or(f64::NAN, |alone| alone[run.draw][n]);
                run.outcome.jobs.iter().enumerate().map(move |(n, job)| (job, job.sojourn_s() / alone(n)))
            })
        };
        let mut bins: Vec<u32> = jobs().map(|(job, _)| job.bin).collect();
        bins.sort_unstable();
        bins.dedup();
        let rows = bins.iter().filter(|_| bins.len() > 1).map(|bin| Some(*bin)).chain([None]);
        for bin in rows {
            let of_bin = jobs().filter(|(job, _)| bin.is_none_or(|bin| job.bin == bin));
            let (times, slowdowns): (Vec<f64>, Vec<f64>) =
                of_bin.map(|(job, slowdown)| (job.sojourn_s(), slowdown)).unzip();
            let mut row = head();
            row.push(bin.map_or("all".into(), |bin| Cell::Count(u64::from(bin))));
            let (times, slowdowns) = (Sample::new(times), Sample::new(slowdowns));
            row.extend([times.len().into(), times.mean().into()]);
            row.extend([0.5, 0.9, 1.0].map(|q| times.quantile(q).into()));
            if alone.is_some() {
                row.extend([0.5, 0.9, 1.0].map(|q| slowdowns.quantile(q).into()));
            }
            sojourns.row(row);
        }
        let sum = |of: &dyn Fn(&Outcome) -> f64| group.iter().map(|run| of(&run.outcome)).sum::<f64>();
        let count = |of: &dyn Fn(&Outcome) -> u64| Cell::Count(group.iter().map(|run| of(&run.outcome)).sum());
        let mut row = head();
        row.push((sum(&|outcome| outcome.makespan.seconds()) / group.len() as f64).into());
        row.push(count(&|outcome| outcome.count.suspended));
        row.push(count(&|outcome| outcome.count.resumed));
        row.push(count(&|outcome| outcome.count.preempted + outcome.count.expired));
        row.push(count(&|outcome| outcome.jobs.iter().map(|job| job.spent.lost_tasks).sum()));
        row.push(sum(&Outcome::wasted_s).into());
        costs.row(row);
    }
    vec![sojourns, costs]
}

fn per_job(runs: &[Run], alone: Option<&[Vec<f64>]>) -> Table {
    let columns = [
        "policy",
        "preemption",
        "draw",
        "job",
        "bin",
        "submitted_s",
        "started_s",
        "finished_s",
        "sojourn_s",
        "alone_s",
        "work_s",
        "lost_tasks",
        "wasted_s",
        "suspensions",
    ];
    let mut table = Table::new("jobs", "Jobs", &columns);
    for run in runs {
        for (n, job) in run.outcome.jobs.iter().enumerate() {
            let seconds = |at: Option<Millis>| at.map_or(Cell::from(""), |at| at.seconds().into());
            table.row(vec![
                run.policy.as_str().into(),
                run.preemption.name().into(),
                run.draw.into(),
                job.name.as_str().into(),
                Cell::Count(u64::from(job.bin)),
                job.submitted.seconds().into(),
                seconds(job.started),
                seconds(job.finished),
                job.sojourn_s().into(),
                alone.map_or("".into(), |alone| alone[run.draw][n].into()),
                job.work_s.into(),
                Cell::Count(job.spent.lost_tasks),
                job.spent.wasted_s.into(),
                Cell::Count(job.spent.suspensions),
            ]);
        }
    }
    table
}
