//! How long one epoch of FLEX takes (Wolf et al. 2010, §4.2: less than 10 ms with 172 jobs, both phases).
//!
//! `cargo bench -p hiatus-core --bench flex`

use std::hint::black_box;

use cpu_time::ThreadTime;
use criterion::{BenchmarkId, Criterion};
use hiatus_core::flex::{default_evaluations, evaluations, solve, Job, Metric, Problem, Terms};

/// One large job in five, ten times the size of the small ones; minima take a quarter of the slots.
fn problem(metric: Metric, jobs: u32, slots: u32) -> Problem {
    let unit =
        |i: u32, salt: u32| f64::from((i.wrapping_mul(2_654_435_761) ^ salt.wrapping_mul(40_503)) % 1000) / 1000.0;
    let horizon = 30.0 * 1.5;
    let job = |i: u32| {
        let share = if i.is_multiple_of(5) { 10.0 } else { 1.0 } * (0.5 + unit(i, 1)) / 2.8;
        let work = 30.0 * f64::from(slots) / f64::from(jobs) * share;
        let max = (work as u32).clamp(1, slots);
        let terms = Terms {
            weight: unit(i, 2),
            deadline: Some(unit(i, 3) * horizon),
            steps: Vec::new(),
            alone: work / f64::from(max),
        };
        let penalty = metric.penalty(&terms).expect("all terms are given");
        Job { work, min: (slots / 4 / jobs).clamp(1, max), max, age: 0.0, penalty }
    };
    Problem { slots, aggregate: metric.aggregate(), jobs: (0..jobs).map(job).collect() }
}

fn epoch(problem: &Problem) -> f64 {
    solve(problem, &mut evaluations(default_evaluations(problem.jobs.len()))).expect("valid").value
}

fn epochs(criterion: &mut Criterion) {
    for metric in [Metric::AvgResponse, Metric::NumberTardy, Metric::MaxTardiness] {
        let mut group = criterion.benchmark_group(format!("flex/{metric}"));
        group.sample_size(10);
        for jobs in [10, 30, 100, 172, 300, 1000] {
            for slots in [100, 1000, 10_000] {
                let problem = problem(metric, jobs, slots);
                group.bench_function(BenchmarkId::new(format!("{jobs}-jobs"), format!("{slots}-slots")), |b| {
                    // CPU time, not wall-clock time: other programs on the machine do not count.
                    b.iter_custom(|times| {
                        let start = ThreadTime::now();
                        for _ in 0..times {
                            black_box(epoch(black_box(&problem)));
                        }
                        start.elapsed()
                    });
                });
            }
        }
        group.finish();
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    epochs(&mut criterion);
    criterion.final_summary();
}
