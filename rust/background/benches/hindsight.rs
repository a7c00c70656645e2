//! What hindsight costs: `cargo bench -p hiatus-background`. The two simulations, in their own thread, and the most memory of this
//! process while they run (what it has left from before included), for clusters of several sizes, seven tenths full of jobs that want some minutes; and what is added to a step, under its
//! caller's lock.

use hiatus_background::hindsight::setting::Properties;
use hiatus_background::hindsight::{saved, Bounds, Onlooker, Past};
use hiatus_core::units::Millis;
use hiatus_world::job::{gb, secs, Job};
use hiatus_world::{Node, Queue, World};
use std::fs;
use std::time::{Duration, Instant};

const SLOTS: u64 = 10;
const TASK: Millis = Millis(60_000);

/// As many jobs of ten tasks as fill seven tenths of the cluster for that long, of twenty users.
fn jobs(nodes: u64, span: Millis) -> Vec<Job> {
    let count = nodes * SLOTS * span.0 * 7 / 10 / (10 * TASK.0);
    let job = |n: u64| {
        Job::new(&format!("job{n}")).tasks(10, TASK).user(n as u32 % 20).at(Millis(10_000 + span.0 * n / count))
    };
    (0..count).map(job).collect()
}

/// The most memory of the process, in MiB.
fn most_memory_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).map_or(f64::NAN, |kb| kb / 1024.0)
}

fn measure(nodes: u64, minutes: u64) {
    let span = secs(60 * minutes);
    // With the limits of users that CapacityScheduler has by default, and a maximum that is never reached.
    let queue = Queue::new("root.default", 1.0).maximum(0.99).users(1.0, 1.0);
    let stock =
        World::new().unobserved().nodes(nodes as usize, &Node::of(gb(SLOTS as i64))).set("policy", "fifo").queue(queue);
    let mut world = stock.jobs(&jobs(nodes, span)).noted();
    // Both as they are by default.
    let mut onlooker = Onlooker::new(Bounds { window: secs(6 * 3_600), size: 200_000, beats: 5_000_000 });
    let (mut heard, mut facts) = (Duration::ZERO, 0);
    while world.now() < span + secs(600) {
        world.run_until(world.now() + secs(60));
        let steps = std::mem::take(&mut world.steps);
        facts += steps.iter().map(|step| step.facts.len()).sum::<usize>();
        let began = Instant::now();
        for step in &steps {
            onlooker.step(step.now);
            step.facts.iter().for_each(|fact| onlooker.hear(fact));
        }
        heard += began.elapsed();
    }
    let now = world.now();
    drop(world);
    let began = Instant::now();
    let past = onlooker.past();
    let copied = began.elapsed();
    let of = [("mode", "observe"), ("policy", "hfsp")];
    let properties = of.map(|(knob, value)| (format!("yarn.scheduler.hiatus.{knob}"), value.to_owned()));
    let past = Past { properties: Properties::from(properties), ..past };
    // From now on the most memory is counted anew.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let began = Instant::now();
    let Ok(answer) = saved(&past, &|| true) else { panic!("there is an answer") };
    println!(
        "| {nodes} | {} | {:.0} | {:.1} | {:.0} | {:.2} | {:.0} |",
        answer.all.jobs,
        now.since(answer.since).seconds() / 60.0,
        began.elapsed().as_secs_f64(),
        most_memory_mb(),
        copied.as_secs_f64() * 1e3,
        heard.as_secs_f64() * 1e9 / facts as f64,
    );
}

fn main() {
    println!("| nodes | jobs simulated | of the last min | both simulations, s | process, MiB | copy under the lock, ms | ns a fact |");
    println!("|---|---|---|---|---|---|---|");
    for (nodes, minutes) in [(100, 360), (1_000, 30), (5_000, 8)] {
        measure(nodes, minutes);
    }
}
