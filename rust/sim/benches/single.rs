//! CPU time of the single-server simulator per policy, as JSON lines. `scripts/bench sim` makes a table of it.
//!
//! A benchmark of its own rather than criterion: it measures CPU time, as the peer it is compared with is measured,
//! and on machines shared with others wall-clock time says little.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use cpu_time::ProcessTime;
use hiatus_sim::studies::single::PolicyKind;
use hiatus_sim::workload::{read_csv, Synthesis, WorkloadError};

#[derive(Parser)]
struct Args {
    /// Jobs from a CSV file; otherwise random ones.
    #[arg(long)]
    jobs: Option<PathBuf>,
    /// How many random jobs, at the defaults of Table 3.1 of the thesis.
    #[arg(long, default_value_t = 10_000)]
    njobs: usize,
    /// CPU seconds to spend on each policy at least, after one run to warm up.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// `cargo bench` gives this.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<(), WorkloadError> {
    let args = Args::parse();
    let jobs = match &args.jobs {
        Some(path) => read_csv(path)?,
        None => Synthesis { njobs: args.njobs, ..Synthesis::default() }.draw(1, 0),
    };
    for policy in PolicyKind::ALL {
        let mut times = Vec::new();
        let mut spent = Duration::ZERO;
        let run = || {
            let start = ProcessTime::now();
            std::hint::black_box(policy.completions(std::hint::black_box(&jobs)));
            start.elapsed()
        };
        run();
        while times.len() < 3 || spent.as_secs_f64() < args.seconds {
            let time = run();
            spent += time;
            times.push(time);
        }
        times.sort_unstable();
        let (median, least) = (times[times.len() / 2].as_secs_f64(), times[0].as_secs_f64());
        let (name, n, runs) = (policy.name(), jobs.len(), times.len());
        println!("{}", serde_json::json!({"policy": name, "jobs": n, "cpu_s": median, "least_s": least, "runs": runs}));
    }
    Ok(())
}
