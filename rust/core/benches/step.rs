//! What a step costs with 1,000 nodes of 10 containers and 500 jobs in steady churn: `cargo bench -p hiatus-core --bench
//! step` prints a table of quantiles. Four fifths of the nodes are for maps, the others for reduces, so that FLEX has two problems to
//! solve for each queue. The cluster is the one of the law tests, with its observers off; only the core's step is timed.

#[path = "../tests/world/mod.rs"]
mod world;

use hiatus_core::units::PartitionId;
use std::time::Duration;
use world::{gb, secs, Job, Node, Queue, Stage, Times, Timing, World};

const MAP_NODES: usize = 800;
const REDUCE_NODES: usize = 200;
const REDUCE_SLOTS: u32 = 1;
const JOBS: usize = 500;
const ONE: &[(&str, f64)] = &[("root.a", 1.0)];
const THREE: &[(&str, f64)] = &[("root.a", 0.5), ("root.b", 0.3), ("root.c", 0.2)];

fn main() {
    for (policy, queues) in [("srpt", THREE), ("fair", THREE), ("flex", THREE), ("flex", ONE)] {
        let mut world = World::new()
            .unobserved()
            .timed()
            .set("policy", policy)
            .nodes(MAP_NODES, &Node::of(gb(10)))
            .nodes(REDUCE_NODES, &Node::of(gb(10)).exclusive_partition(REDUCE_SLOTS));
        for (path, guaranteed) in queues {
            world = world.queue(Queue::new(path, *guaranteed));
        }
        for n in 0..JOBS {
            world = world.job(job(n).queue(queues[n % queues.len()].0));
        }
        world.run_until(secs(90));
        world.timings.clear();
        world.run_until(secs(150));
        report(&format!("{policy}, {} queues", queues.len()), &world);
    }
}

/// Sizes over two orders of magnitude, arrivals over the first minute, far more work than fits.
fn job(n: usize) -> Job {
    let (maps, each) = (10 + (n * 37) % 400, secs(20 + n as u64 % 40));
    let reduces = Stage {
        times: Times::Same { count: 1 + maps as u32 / 10, each },
        size: gb(1),
        partition: Some(PartitionId(REDUCE_SLOTS)),
        slowstart: 0.05,
    };
    Job::new(&format!("job{n}")).at(secs(n as u64 % 60)).tasks(maps, each).stage(reduces)
}

fn report(title: &str, world: &World) {
    let cluster = world.core().cluster();
    println!(
        "{title}: {} nodes, {} containers ({} suspended), {} jobs; {} steps in 60 s",
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
