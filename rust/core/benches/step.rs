//! What a step costs with 1,000 nodes of 10 containers and 500 jobs in steady churn: `cargo bench -p hiatus-core --bench
//! step` prints a table of quantiles. The cluster is the one of the law tests, with its observers off; only the core's
//! step is timed.

#[path = "../tests/world/mod.rs"]
mod world;

use std::time::Duration;
use world::{gb, secs, Job, Node, Queue, Timing, World};

const NODES: usize = 1_000;
const JOBS: usize = 500;

fn main() {
    for policy in ["srpt", "fair"] {
        let mut world = World::new()
            .unobserved()
            .timed()
            .set("policy", policy)
            .nodes(NODES, &Node::of(gb(10)))
            .queue(Queue::new("root.a", 0.5))
            .queue(Queue::new("root.b", 0.3))
            .queue(Queue::new("root.c", 0.2));
        for n in 0..JOBS {
            let queue = ["root.a", "root.b", "root.c"][n % 3];
            // Sizes over two orders of magnitude, arrivals over the first minute, far more work than fits.
            let tasks = 10 + (n * 37) % 400;
            let job = Job::new(&format!("job{n}")).queue(queue).at(secs(n as u64 % 60));
            world = world.job(job.tasks(tasks, secs(20 + n as u64 % 40)));
        }
        world.run_until(secs(90));
        world.timings.clear();
        world.run_until(secs(150));
        report(policy, &world);
    }
}

fn report(policy: &str, world: &World) {
    let cluster = world.core().cluster();
    println!(
        "{policy}: {} nodes, {} containers ({} suspended), {} jobs; {} steps in 60 s",
        cluster.nodes.len(),
        cluster.containers.len(),
        cluster.suspended.len(),
        cluster.jobs.len(),
        world.timings.len()
    );
    println!("{:<28}{:>8}{:>12}{:>12}{:>12}", "step", "count", "p50 µs", "p99 µs", "max µs");
    let row = |name: &str, which: &dyn Fn(&Timing) -> bool| {
        let mut spent: Vec<Duration> = world.timings.iter().filter(|t| which(t)).map(|t| t.spent).collect();
        spent.sort_unstable();
        let at = |part: f64| {
            let index = (spent.len() as f64 * part) as usize;
            spent.get(index.min(spent.len().saturating_sub(1))).map_or(0.0, |spent| spent.as_secs_f64() * 1e6)
        };
        println!("{name:<28}{:>8}{:>12.1}{:>12.1}{:>12.1}", spent.len(), at(0.5), at(0.99), at(1.0));
    };
    row("heartbeat", &|timing| !timing.planned);
    row("with a new plan", &|timing| timing.planned);
}
