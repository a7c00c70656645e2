//! Random clusters under random work, with everything going wrong for a while. The observers check the laws after every
//! step; in the end every job must have finished. A failing seed reproduces by its number.

use super::{Faults, Node, Queue, Speculation, World};
use crate::workload::cluster::{gb, secs, Job, Shuffle};
use hiatus_core::fact::{Run, Side};
use hiatus_core::settings::{PolicyKind, Word};
use hiatus_core::units::{Millis, PartitionId, Resource};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// For how many seconds faults are injected.
const TROUBLE: u64 = 300;

/// Sizes of nodes and containers. In most worlds they are crooked, in memory and virtual cores: no node is a multiple of anything, as
/// few are. Drawn apart: in the others a seed's world is what it was before there were such.
struct Sizes(Option<Xoshiro256PlusPlus>);

impl Sizes {
    fn of(seed: u64) -> Sizes {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xc7_00_6e_d0);
        Sizes(rng.random_bool(0.7).then_some(rng))
    }

    /// A node of that memory, and a remainder.
    fn node(&mut self, round: i64) -> Resource {
        let Some(rng) = &mut self.0 else { return gb(round) };
        let more_mb = one(rng, &[0, 256, 400, 512, 768, 900, 1_000]);
        Resource::new(round * 1024 + more_mb, rng.random_range(round.max(12)..20))
    }

    /// A task's container of about that memory.
    fn task(&mut self, round: i64) -> Resource {
        let Some(rng) = &mut self.0 else { return gb(round) };
        let less_mb = one(rng, &[0, 0, 0, 128, 256, 512]);
        Resource::new(round * 1024 - less_mb, one(rng, &[1, 1, 1, 2, 3]))
    }

    /// A job of long tasks that want all there is, in half of such worlds: what a container leaves lies waste for long.
    fn big(&mut self, leaf: &str) -> Option<Job> {
        let master = self.master();
        let size = self.task(1);
        let rng = self.0.as_mut()?;
        let (tasks, each) = (rng.random_range(30..90), secs(rng.random_range(60..200)));
        let big = Job { master, ..Job::new("big") }.queue(leaf).sized_tasks(tasks, each, size);
        rng.random_bool(0.5).then_some(big)
    }

    fn master(&mut self) -> Resource {
        let Some(rng) = &mut self.0 else { return gb(1) };
        Resource::new(one(rng, &[1_024, 1_024, 700, 256]), 1)
    }
}

/// A cluster, its settings and its work, all from the seed.
pub fn random_world(seed: u64, faults: Faults) -> World {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut world = random_settings(World::seeded(seed).faults(faults), &mut rng);
    // Drawn apart: in the others a seed's world is what it was before there were backups.
    let mut apart = Xoshiro256PlusPlus::seed_from_u64(!seed);
    let speculation = one(&mut apart, &[None, None, None, Some(Speculation::Late), Some(Speculation::BatchMr)]);
    if let Some(rule) = speculation {
        world = world.speculating(rule);
    }
    let mut sizes = Sizes::of(seed);
    // These two can hold anything, even with all ApplicationMasters on them, so that every job can finish.
    let mixed = rng.random_bool(0.4);
    let mut sides = |world: World, rng: &mut Xoshiro256PlusPlus, node: Node| {
        let side = if mixed { one(rng, &[None, Some(Side::Physical), Some(Side::Virtual)]) } else { None };
        let slow = speculation.is_some() && apart.random_bool(0.4);
        let node = if slow { node.slower(one(&mut apart, &[3.0, 10.0]), 5.0) } else { node };
        world.node(Node { side, ..node })
    };
    for side in Side::BOTH {
        world = world.node(Node { side: mixed.then_some(side), ..Node::of(sizes.node(12)) });
    }
    let labelled = rng.random_bool(0.3);
    for _ in 0..rng.random_range(0..5) {
        let node = Node::of(sizes.node(one(&mut rng, &[4, 8, 12])));
        let node = if rng.random_bool(0.2) { node.rigid() } else { node };
        let node = if rng.random_bool(0.3) { node.ram_and_swap(gb(one(&mut rng, &[6, 14]))) } else { node };
        world = sides(world, &mut rng, node);
    }
    if labelled {
        let node = Node::of(sizes.node(12));
        let node = if rng.random_bool(0.5) { node.shared_partition(1) } else { node.exclusive_partition(1) };
        world = sides(world, &mut rng, node);
    }
    let leaves = random_queues(&mut world, &mut rng, &mut apart);
    world = world.set("max-am-share", one(&mut apart, &["0", "0.5", "1"]));
    if let Some(big) = sizes.big(&leaves[0]) {
        world = world.job(big);
    }
    let nodes = world.machines().len() as u32;
    let mut types = Types::of(seed);
    world = types.settings(world);
    let mut choosy = Choosy { rng: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0xb1ac_c1a1), nodes, mixed };
    for id in 0..rng.random_range(2..9) {
        let leaf = &leaves[rng.random_range(0..leaves.len())];
        let label = labelled && rng.random_bool(0.3);
        world = world.job(types.job(choosy.job(random_job(id, leaf, label, &mut sizes, &mut rng))));
    }
    world
}

/// Jobs that ask for several kinds of containers at once, and that want none on some nodes. Drawn apart, too.
struct Choosy {
    rng: Xoshiro256PlusPlus,
    nodes: u32,
    mixed: bool,
}

impl Choosy {
    fn job(&mut self, job: Job) -> Job {
        let rng = &mut self.rng;
        let job = if rng.random_bool(0.2) { Choosy::at_once(job, rng) } else { job };
        if job.partition != PartitionId(0) || !rng.random_bool(0.3) {
            return job;
        }
        // The first two, of which each is on a side of its own if any is, are all that is sure to stay; a job of small tasks needs one.
        let small = !self.mixed && job.stages.iter().all(|stage| stage.size.memory_mb <= 2_048);
        let one = Some(rng.random_range(0..2)).filter(|_| small);
        let others: Vec<u32> = (2..self.nodes).filter(|_| rng.random_bool(0.5)).collect();
        job.blacklisting(one.into_iter().chain(others))
    }

    fn at_once(job: Job, rng: &mut impl Rng) -> Job {
        let Some(Resource { memory_mb, vcores }) = job.stages.first().map(|stage| stage.size) else { return job };
        let size = Resource::new((memory_mb * one(rng, &[1, 2, 3, 4, 8]) / 2).min(8_192), vcores);
        let (tasks, each) = (rng.random_range(1..8), secs(rng.random_range(1..60)));
        Job { shuffle: None, ..job }.sized_tasks(tasks, each, size).at_once()
    }
}

/// Who may be suspended, in a third of the worlds. Drawn apart, too.
struct Types(Option<Xoshiro256PlusPlus>);

impl Types {
    fn of(seed: u64) -> Types {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5a_fe_77_e5);
        Types(rng.random_bool(0.3).then_some(rng))
    }

    fn settings(&mut self, world: World) -> World {
        let Some(rng) = &mut self.0 else { return world };
        let world = world.set("suspend-types", one(rng, &["MAPREDUCE, SPARK", "SPARK", "YARN", "*"]));
        world.set("hints-suspend", one(rng, &["ignore", "honour", "honour"]))
    }

    /// MapReduce's ApplicationMaster is told by its jobs' type: only those of others have any.
    fn job(&mut self, job: Job) -> Job {
        let Some(rng) = &mut self.0 else { return job };
        let job = if job.at_once { job.of_type(one(rng, &["SPARK", "YARN", "Apache Flink"])) } else { job };
        match one(rng, &[None, None, Some("hiatus.suspend=yes"), Some("hiatus.suspend=no")]) {
            Some(tag) => job.tag(tag),
            None => job,
        }
    }
}

fn one<T: Copy>(rng: &mut impl Rng, words: &[T]) -> T {
    words[rng.random_range(0..words.len())]
}

fn random_settings(world: World, rng: &mut impl Rng) -> World {
    let heartbeat = one(rng, &[secs(1), secs(3), secs(6)]);
    let cost = one(rng, &[0, 0, 500]);
    let choices: [(&str, &[&str]); 30] = [
        ("policy", PolicyKind::NAMES),
        ("mode", &["order", "suspend", "suspend", "kill"]),
        ("preemption", &["wait", "suspend", "suspend", "suspend-or-kill", "kill", "adaptive"]),
        (
            "victims",
            &["youngest", "smallest-memory", "nearest-to-completion", "largest-job", "gp", "gp", "evenly", "from-each"],
        ),
        ("gp-class", &["guarantee", "guarantee", "non-production", "production"]),
        ("gp-candidates", &["nonproduction", "overshare"]),
        ("gp-max-kills", &["0", "3"]),
        ("gp-starvation", &["off", "on", "on"]),
        ("gp-interval-ms", &["100", "5000"]),
        ("gp-period-ms", &["1000", "20000"]),
        ("gp-long-task-ms", &["0", "20000"]),
        ("gp-quality", &["0.5", "0.9", "1"]),
        ("gp-timeout-ms", &["0", "40000"]),
        ("lend", &["off", "maps", "maps"]),
        ("lend-threshold", &["0", "0.2", "1"]),
        ("lend-resume-part", &["0", "0.4", "1"]),
        ("lend-wait", &["off", "on"]),
        ("resume-locality-ms", &["0", "20000", "300000"]),
        ("min-run-ms", &["0", "2000", "5000"]),
        ("min-resumed-ms", &["0", "10000"]),
        ("preemption-threshold", &["0.2", "1"]),
        ("suspension-budget-ms", &["0", "20000", "1800000"]),
        ("max-suspension-ms", &["20000", "120000"]),
        ("max-suspended-memory", &["0.25", "0.5", "2"]),
        ("large-ask-delay-ms", &["0", "3000"]),
        ("plan-interval-ms", &["0", "100", "1000"]),
        ("batchmr-placer", &["off", "on"]),
        ("batchmr-samples", &["0", "1", "4"]),
        ("batchmr-sampling-timeout-ms", &["1000", "20000", "60000"]),
        ("batchmr-spill", &["off", "on"]),
    ];
    let world = match rng.random_range(0..4) {
        0 => world,
        1 => world.telling_progress(),
        _ => world.telling_tasks(),
    };
    let world = world.heartbeat(heartbeat).resume_cost(cost).set("stall-timeout-ms", "20000");
    let world = world.set("claim-timeout-ms", one(rng, &["10000", "30000"]));
    // Ten minutes by default: as long may room lie idle that is collected for a large ask, and law 8's observer waits two.
    let world = world.set("large-ask-timeout-ms", "60000");
    choices.into_iter().fold(world, |world, (knob, values)| world.set(knob, one(rng, values)))
}

fn random_job(id: u32, leaf: &str, label: bool, sizes: &mut Sizes, rng: &mut impl Rng) -> Job {
    let mut job = Job { master: sizes.master(), ..Job::new(&format!("job{id}")) }
        .at(secs(rng.random_range(0..TROUBLE)))
        .queue(leaf)
        .user(rng.random_range(0..3))
        .priority(rng.random_range(0..12_i32).saturating_sub(9).max(0)) // Mostly equal.
        .patience(one(rng, &[0, 0, 3]))
        .launch_delay(one(rng, &[secs(0), secs(1), secs(4)]));
    if label {
        job = job.partition(1);
    }
    for _ in 0..one(rng, &[0, 0, 2, 4]) {
        let (side, took) = (one(rng, &Side::BOTH), secs(rng.random_range(10..100)));
        let (nodes, input) = (rng.random_range(1..4), one(rng, &[1_000_000_000, 2_000_000_000]));
        job = job.ran([Run { same_class: rng.random_bool(0.8), side, at_ms: 0, took, nodes, input }]);
    }
    if rng.random_bool(0.3) {
        job = job.tag(one(rng, &["hiatus.input-bytes=1000000000", "hiatus.input-bytes=2000000000"]));
    }
    for _ in 0..rng.random_range(1..3) {
        let round = one(rng, &[1, 1, 2, if label { 4 } else { 8 }]);
        let tasks = if round == 8 { rng.random_range(1..4) } else { rng.random_range(1..25) };
        job = job.sized_tasks(tasks, secs(rng.random_range(1..60)), sizes.task(round));
        if let Some(stage) = job.stages.last_mut() {
            stage.slowstart = one(rng, &[1.0, 0.8, 0.05]);
        }
    }
    if rng.random_bool(0.5) {
        let (fetch, ramp_up) = (one(rng, &[Millis(0), Millis(300), secs(2)]), one(rng, &[0.3, 0.5, 1.0]));
        job = job.shuffle(Shuffle { fetch, ramp_up });
    }
    job
}

/// Flat or nested, with some queues limited or protected. What came later is drawn `apart`.
fn random_queues(world: &mut World, rng: &mut impl Rng, apart: &mut impl Rng) -> Vec<String> {
    let shares: &[(&str, f64)] = [
        &[("root.default", 1.0)][..],
        &[("root.a", 0.6), ("root.b", 0.4)],
        &[("root.a", 0.5), ("root.a.x", 0.3), ("root.a.y", 0.2), ("root.b", 0.5)],
    ]
    .choose(rng)
    .copied()
    .unwrap_or_default();
    for (path, guaranteed) in shares {
        let mut queue = Queue::new(path, *guaranteed);
        if rng.random_bool(0.2) {
            queue = queue.not_preemptable();
        }
        if apart.random_bool(0.2) {
            queue = queue.not_preemptable_within();
        }
        if rng.random_bool(0.2) {
            queue = queue.master_share(0.1);
        }
        if rng.random_bool(0.2) {
            queue = queue.maximum(0.9_f64.max(*guaranteed));
        }
        if rng.random_bool(0.3) {
            queue = queue.users(one(rng, &[1.0, 0.5, 0.25]), one(rng, &[0.5, 1.0, 2.0, f64::INFINITY]));
        }
        world.add_queue(queue);
    }
    let is_parent = |path: &str| shares.iter().any(|(other, _)| other.starts_with(&format!("{path}.")));
    shares.iter().map(|(path, _)| path.to_string()).filter(|path| !is_parent(path)).collect()
}

/// Runs the seed's cluster through its trouble and to the end of its work.
///
/// # Panics
/// If a law is broken, with the law's number.
pub fn survive(seed: u64, faults: Faults) -> World {
    let mut world = random_world(seed, faults);
    world.run_until(secs(TROUBLE)).calm().run();
    assert_eq!(world.count.stalled, 0, "a container reached its node before the demotion that made room for it");
    world
}

/// What came of one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The seed.
    pub seed: u64,
    /// Steps of the core that were observed.
    pub steps: u64,
    /// Containers suspended.
    pub suspended: u64,
    /// The law that was broken, and how.
    pub broken: Option<String>,
}

/// [`survive`], with a broken law as a value.
pub fn judge(seed: u64, faults: Faults) -> Verdict {
    match catch_unwind(AssertUnwindSafe(|| survive(seed, faults).count)) {
        Ok(count) => Verdict { seed, steps: count.steps, suspended: count.suspended, broken: None },
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            let broken = Some(text.unwrap_or_else(|| "a panic without a message".to_owned()));
            Verdict { seed, steps: 0, suspended: 0, broken }
        }
    }
}
