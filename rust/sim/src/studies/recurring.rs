//! What a second run of a recurring job gains by history. Not published anywhere.

use hiatus_core::fact::PhaseKey;
use hiatus_core::policy::{EstimateError, EstimatesOff};
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::{Millis, Resource};
use rand::seq::SliceRandom;
use rand::Rng;

use crate::cluster::testbed::{isolation, Room, Testbed};
use crate::cluster::{Outcome, Preemption};
use crate::report::{Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{gb, millis, Arrivals, Bins, Job, Mix, Stage, Times};

const DRAWS: usize = 10;
/// Jobs that come back.
const CLASSES: usize = 12;
/// How often each of them comes.
const ROUNDS: usize = 4;
const JOBS: usize = CLASSES * ROUNDS;
const NODES: usize = 10;
const CONTAINERS_PER_NODE: i64 = 4;
/// Mean time between two jobs, in seconds: the cluster is busy for most of the time.
const GAP_S: f64 = 75.0;
/// Runs of a class differ by so much in the number of their tasks, and in how long these take on average.
const TASKS_SPREAD: f64 = 0.2;
const TIME_SPREAD: f64 = 0.1;
/// An ApplicationMaster is small beside a task, and nodes have room for all of them.
const MASTER: Resource = Resource { memory_mb: 64, vcores: 0 };

/// Phases of fewer tasks are over when they are sized.
const SIZED: u32 = 5;
/// With history first estimates of later runs may be off by this factor on average.
const CLOSE: f64 = 1.25;
/// First runs, of which nothing is known, may take this much longer for the others' history.
const UNHARMED: f64 = 1.05;

pub(super) const RECURRING: Study = Study {
    id: "recurring",
    title: "What a second run of a recurring job gains by history (cluster simulator, not published)",
    run,
};

/// A cluster under hfsp; what may be suspended, and for how long, is the default.
fn testbed() -> Testbed {
    let masters_mb = MASTER.memory_mb * JOBS as i64 / NODES as i64;
    let room = Room::Pool(gb(CONTAINERS_PER_NODE) + Resource::new(masters_mb, CONTAINERS_PER_NODE));
    let properties = vec![(format!("{CLUSTER_PREFIX}policy"), "hfsp".to_owned())];
    Testbed { nodes: NODES, room, properties, ..Testbed::thesis("hfsp", Preemption::Suspend) }
}

/// The stage with other tasks of its kind.
fn again(stage: &Stage, tasks: f64, time: f64, rng: &mut impl Rng) -> Stage {
    let (known, count) = (stage.times.count(), (f64::from(stage.times.count()) * tasks).round().max(1.0) as u32);
    let each = (0..count).map(|_| millis(stage.times.of(rng.random_range(0..known)).seconds() * time));
    Stage { times: Times::Each(each.collect()), ..stage.clone() }
}

/// When reduces are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduces {
    /// When a part of the maps is done: they hold containers, and wait for the rest.
    Early,
    /// When all are done.
    AfterMaps,
}

/// Jobs of [`CLASSES`] classes in [`ROUNDS`] rounds, in each of which every class comes once, in random order.
fn jobs(seed: u64, run: u64, reduces: Reduces) -> Vec<Job> {
    let gaps = Bins { jobs: JOBS, arrivals: Arrivals::Poisson(GAP_S), ..Bins::of(Mix::Test) };
    let arrivals: Vec<Millis> = gaps.draw(seed, run).iter().map(|job| job.at).collect();
    let classes = Bins { jobs: CLASSES, ..gaps }.draw(seed, run);
    let mut rng = ensemble::chance(seed, run);
    let mut order: Vec<usize> = (0..CLASSES).collect();
    let mut jobs = Vec::new();
    for (number, round) in arrivals.chunks(CLASSES).enumerate() {
        order.shuffle(&mut rng);
        for (at, class) in round.iter().zip(&order) {
            let tasks = rng.random_range(1.0 - TASKS_SPREAD..1.0 + TASKS_SPREAD);
            let time = rng.random_range(1.0 - TIME_SPREAD..1.0 + TIME_SPREAD);
            let stages = &classes[*class].stages;
            // A job has as many reduces whatever its input.
            let stage = |(n, stage)| again(stage, if n == 0 { tasks } else { 1.0 }, time, &mut rng);
            let mut stages: Vec<Stage> = stages.iter().enumerate().map(stage).collect();
            if reduces == Reduces::AfterMaps {
                stages.iter_mut().for_each(|stage| stage.slowstart = 1.0);
            }
            let name = format!("class {} run {}", letter(*class), number);
            jobs.push(Job { name, at: *at, master: MASTER, stages, ..classes[*class].clone() });
        }
    }
    jobs
}

/// A class's number as a letter: digits of a name are no part of its class.
fn letter(number: usize) -> char {
    (b'a' + number as u8) as char
}

/// First runs, or all later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    First,
    Later,
}

impl Runs {
    const ALL: [Runs; 2] = [Runs::First, Runs::Later];

    fn name(self) -> &'static str {
        match self {
            Runs::First => "first",
            Runs::Later => "later",
        }
    }

    /// Whether the job in that place is one of these.
    fn has(self, at: usize) -> bool {
        (at < CLASSES) == (self == Runs::First)
    }
}

/// What one draw says of first or of later runs.
#[derive(Clone, Copy, Debug)]
struct Seen {
    sojourn_s: f64,
    slowdown: f64,
    /// By which factor first estimates were off, of maps and of reduces.
    off: [f64; 2],
    /// The same of those runs that came when one of their class had ended.
    off_known: [f64; 2],
}

impl Seen {
    fn of(jobs: &[Job], outcome: &Outcome, alone_s: &[f64], runs: Runs) -> Seen {
        let all = || outcome.jobs.iter().zip(alone_s).enumerate().filter(|(at, _)| runs.has(*at));
        let mean = |of: fn((f64, f64)) -> f64| {
            Sample::new(all().map(|(_, (job, alone))| of((job.sojourn_s(), *alone))).collect()).mean()
        };
        let off = |of: &dyn Fn(usize) -> bool| {
            [true, false].map(|maps| {
                let mut off = EstimatesOff::default();
                let phases = outcome.estimates.iter().filter(|phase| (phase.priority == PhaseKey::MAPS) == maps);
                for phase in phases.filter(|phase| of(phase.app.0 as usize)) {
                    let first = phase.first.map(|ratio| EstimateError { ratio, ..*phase });
                    first.iter().for_each(|error| off.add(error));
                }
                off.factor()
            })
        };
        let known = |at: usize| {
            let before = |other: usize| outcome.jobs[other].finished.is_some_and(|end| end <= jobs[at].at);
            (0..jobs.len()).any(|other| jobs[other].class() == jobs[at].class() && before(other))
        };
        let off_known = off(&|at| runs.has(at) && known(at));
        let off = off(&|at| runs.has(at));
        Seen {
            sojourn_s: mean(|(sojourn, _)| sojourn),
            slowdown: mean(|(sojourn, alone)| sojourn / alone),
            off,
            off_known,
        }
    }
}

/// By which factor the size of a stage of later runs is off that of the runs before it on average, as a geometric mean over those of
/// five tasks or more: what is known of these runs can tell no more.
fn differ(jobs: &[Job], stage: usize) -> f64 {
    let size = |job: &&Job| job.stages.get(stage).map(|stage| stage.times.total_s() / f64::from(stage.times.count()));
    let factors = jobs.iter().enumerate().filter_map(|(at, job)| {
        let has_enough = job.stages.get(stage).is_some_and(|stage| stage.times.count() >= SIZED);
        let before: Vec<f64> =
            jobs[..at].iter().filter(|other| other.class() == job.class()).filter_map(|j| size(&j)).collect();
        let mean = before.iter().sum::<f64>() / before.len() as f64;
        let own = size(&job).filter(|_| has_enough && !before.is_empty())?;
        Some((own / mean).ln().abs())
    });
    let factors: Vec<f64> = factors.collect();
    (factors.iter().sum::<f64>() / factors.len() as f64).exp()
}

/// One draw: first and later runs, without and with history.
type Draw = [[Seen; 2]; 2];

fn outcome(jobs: &[Job], seed: u64, history: bool) -> Result<Outcome, StudyError> {
    let world = testbed().world(jobs, seed).map_err(StudyError::Cluster)?;
    let mut world = if history { world.remembering() } else { world };
    Ok(world.finish().map_err(StudyError::Cluster)?.outcome())
}

fn measure(seed: u64, run: u64, reduces: Reduces) -> Result<Draw, StudyError> {
    let jobs = jobs(seed, run, reduces);
    let alone_s = isolation(&jobs, &testbed()).map_err(StudyError::Cluster)?;
    let (without, with) = (outcome(&jobs, seed, false)?, outcome(&jobs, seed, true)?);
    Ok(Runs::ALL.map(|runs| [&without, &with].map(|outcome| Seen::of(&jobs, outcome, &alone_s, runs))))
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let draws = if setting.quick { 5 } else { DRAWS };
    let under = |reduces: Reduces| -> Result<Vec<Draw>, StudyError> {
        let label = format!("recurring, reduces {reduces:?}");
        ensemble::runs(&label, draws, |run| measure(setting.seed, run, reduces)).into_iter().collect()
    };
    let (all, after_maps) = (under(Reduces::Early)?, under(Reduces::AfterMaps)?);
    let sample = |of: &dyn Fn(&Draw) -> f64| Sample::new(all.iter().map(of).collect());
    let columns = [
        "runs",
        "what",
        "without history",
        "half width (95 %)",
        "with",
        "half width",
        "with over without",
        "half width",
    ];
    let title = format!("First and later runs without and with history, means over {draws} draws");
    let mut table = Table::new("recurring", &title, &columns);
    type Measure = fn(&Seen) -> f64;
    let measures: [(&str, Measure); 4] = [
        ("mean sojourn (s)", |seen| seen.sojourn_s),
        ("mean slowdown", |seen| seen.slowdown),
        ("first estimate of maps off by the factor", |seen| seen.off[0]),
        ("first estimate of reduces off by the factor", |seen| seen.off[1]),
    ];
    for (at, runs) in Runs::ALL.into_iter().enumerate() {
        for (what, of) in measures {
            let (without, with) = (sample(&|draw| of(&draw[at][0])), sample(&|draw| of(&draw[at][1])));
            let ratio = sample(&|draw| of(&draw[at][1]) / of(&draw[at][0]));
            let numbers = [&without, &with, &ratio].map(|one| [one.mean(), one.half_width()]).concat();
            let words = [runs.name(), what].map(Into::into).into_iter();
            table.row(words.chain(numbers.into_iter().map(Into::into)).collect());
        }
    }
    let ratio = |runs: usize| sample(&|draw| draw[runs][1].sojourn_s / draw[runs][0].sojourn_s);
    let most = |sample: Sample| sample.mean() + sample.half_width();
    let off = |phase: usize| sample(&|draw| draw[1][1].off[phase]).mean();
    let columns = ["of later runs", "maps off by the factor", "half width (95 %)", "reduces", "half width"];
    let mut causes = Table::new("recurring-causes", "First estimates with history, and what they could know", &columns);
    let mut row = |name: &str, of: &dyn Fn(usize) -> Sample| {
        let cells = [0, 1].map(of).map(|off| [off.mean(), off.half_width()]).concat();
        causes.row(std::iter::once(name.into()).chain(cells.into_iter().map(Into::into)).collect());
    };
    let of =
        |draws: &[Draw], what: &dyn Fn(&Seen) -> f64| Sample::new(draws.iter().map(|draw| what(&draw[1][1])).collect());
    row("all", &|phase| of(&all, &|seen| seen.off[phase]));
    row("all, where reduces are asked for when all maps are done", &|phase| of(&after_maps, &|seen| seen.off[phase]));
    row("those that came when one of their class had ended", &|phase| of(&all, &|seen| seen.off_known[phase]));
    let drawn = |run: usize| jobs(setting.seed, run as u64, Reduces::Early);
    row("their own mean task over that of the runs before", &|phase| {
        Sample::new((0..draws).map(|run| differ(&drawn(run), phase)).collect())
    });
    let claims =
        vec![
            Claim::new(
                "history is right",
                "With history the first estimates of later runs are off by a quarter at most, on average",
                Evidence::default().at_most("maps", off(0), CLOSE).at_most("reduces", off(1), CLOSE),
            ),
            Claim::new(
                "a second run gains",
                "With history later runs are over sooner, with 95 % confidence, and first runs hardly later",
                Evidence::default()
                    .below("later runs' sojourn over that without, upper end", most(ratio(1)), 1.0)
                    .at_most("first runs', upper end", most(ratio(0)), UNHARMED),
            ),
        ];
    let notes = vec![format!(
        "Simulated: {NODES} nodes of {CONTAINERS_PER_NODE} containers, heartbeats of 3 s, hfsp with suspension and its default limits; \
         {CLASSES} jobs of the mix TEST that come {ROUNDS} times each, in random order, with a mean gap of {GAP_S} s. Runs of one differ by \
         ± {} % in their number of maps and by ± {} % in the mean time of their tasks, which are drawn anew from those of its kind. Both \
         sides have the same jobs. Factors are geometric means over phases that are sized before any of them was seen, that is, of five tasks or more; \
         1 is exact.",
        TASKS_SPREAD * 100.0,
        TIME_SPREAD * 100.0
    )];
    Ok(Report { tables: vec![table, causes], claims, notes, ..Report::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::cluster::secs;
    use std::collections::BTreeSet;

    #[test]
    fn every_class_comes_once_a_round_and_with_other_tasks() {
        let jobs = jobs(1, 0, Reduces::Early);
        for round in jobs.chunks(CLASSES) {
            assert_eq!(round.iter().map(Job::class).collect::<BTreeSet<_>>().len(), CLASSES);
        }
        let of_a: Vec<&Job> = jobs.iter().filter(|job| job.class() == jobs[0].class()).collect();
        assert_eq!(of_a.len(), ROUNDS);
        assert_ne!(of_a[0].stages, of_a[1].stages);
    }

    #[test]
    fn with_history_a_later_run_is_expected_to_take_what_its_class_took() {
        let of = |name: &str, each, at| Job::new(name).tasks(20, secs(each)).at(secs(at));
        // Nothing is learnt of the last job: nobody plans after its end.
        let jobs = [of("long 1", 100, 0), of("quick 1", 10, 400), of("long 2", 100, 500), of("quick 2", 10, 900)];
        let firsts = |history| {
            let outcome = outcome(&jobs, 1, history).unwrap();
            outcome.estimates.iter().map(|phase| (phase.app.0, phase.first.unwrap())).collect::<Vec<_>>()
        };
        let of_the_second = |history| firsts(history).into_iter().find(|(app, _)| *app == 2).unwrap().1;
        assert!((of_the_second(true) - 1.0).abs() < 0.05, "{}", of_the_second(true));
        assert!(of_the_second(false) < 0.7, "the mean of a long and a quick job: {}", of_the_second(false));
    }
}
