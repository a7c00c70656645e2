//! What the worst user can gain by each application tag: one job of a workload lies, or lies not, and all else is alike. Not
//! published anywhere; it is why the knobs about hints have the defaults they have.

use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::Resource;
use rayon::prelude::*;

use crate::cluster::testbed::{Room, Testbed};
use crate::cluster::Preemption;
use crate::cluster::{Outcome, SimulationError};
use crate::report::{Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{gb, Arrivals, Bins, Job, Mix};

const DRAWS: usize = 10;
const JOBS: usize = 30;
const NODES: usize = 10;
const CONTAINERS_PER_NODE: i64 = 4;
/// Mean time between two jobs, in seconds: the cluster is busy for most of the time.
const GAP_S: f64 = 75.0;
/// An ApplicationMaster is small beside a task, and nodes have room for all of them.
const MASTER: Resource = Resource { memory_mb: 64, vcores: 0 };
/// With the default knobs a tag may better a job's own sojourn to this part of what it was, on average.
const HARMLESS: f64 = 0.9;

pub(super) const HINTS: Study =
    Study { id: "hints", title: "What the worst user gains by each tag (cluster simulator, not published)", run };

/// A queue's knobs.
type Knobs = &'static [(&'static str, &'static str)];

const HFSP: Knobs = &[("policy", "hfsp")];
const RESPONSE: Knobs = &[("policy", "flex")];
const WEIGHTED: Knobs = &[("policy", "flex"), ("flex-metric", "weighted-response")];
/// Everybody should be done in ten minutes.
const TARDINESS: Knobs = &[("policy", "flex"), ("flex-metric", "total-tardiness"), ("flex-deadline-s", "600")];
const TARDY: Knobs = &[("policy", "flex"), ("flex-metric", "number-tardy"), ("flex-deadline-s", "600")];
const SLA: Knobs = &[("policy", "flex"), ("flex-metric", "sla"), ("flex-sla", "600:1")];

/// What an administrator may allow.
const WEIGHTS: Knobs = &[("hints-max-weight", "100")];
const PENALTIES: Knobs = &[("hints-max-penalty", "1000000")];
const METRICS: Knobs = &[("hints-metric", "honour")];

/// A lie, under what it is told.
#[derive(Clone, Copy, Debug)]
struct Lie {
    tag: &'static str,
    queue: Knobs,
    /// Knobs about hints that are not the default.
    allowed: Knobs,
    tags: &'static [&'static str],
}

const fn lie(tag: &'static str, queue: Knobs, allowed: Knobs, tags: &'static [&'static str]) -> Lie {
    Lie { tag, queue, allowed, tags }
}

const LIES: &[Lie] = &[
    lie("size", HFSP, &[], &["hiatus.size=0.001"]),
    lie("size", HFSP, &[], &["hiatus.size=1000"]),
    lie("size", RESPONSE, &[], &["hiatus.size=0.001"]),
    lie("weight", HFSP, &[], &["hiatus.weight=100"]),
    lie("weight", HFSP, WEIGHTS, &["hiatus.weight=100"]),
    lie("weight", WEIGHTED, &[], &["hiatus.weight=100"]),
    lie("weight", WEIGHTED, WEIGHTS, &["hiatus.weight=100"]),
    lie("deadline", TARDINESS, &[], &["hiatus.deadline=+0"]),
    lie("deadline", TARDY, &[], &["hiatus.deadline=+60"]),
    lie("sla", SLA, &[], &["hiatus.sla=60:0.5/3600:1e300"]),
    lie("sla", SLA, PENALTIES, &["hiatus.sla=60:0.5/3600:1e300"]),
    lie("metric", TARDY, &[], &["hiatus.metric=total-tardiness", "hiatus.deadline=+0"]),
    lie("metric", TARDY, METRICS, &["hiatus.metric=total-tardiness", "hiatus.deadline=+0"]),
];

/// Which job of a workload lies.
const LIARS: [(&str, f64); 2] = [("median", 0.5), ("largest", 1.0)];

fn testbed(knobs: impl Iterator<Item = &'static (&'static str, &'static str)>) -> Testbed {
    let masters_mb = MASTER.memory_mb * JOBS as i64 / NODES as i64;
    let room = Room::Pool(gb(CONTAINERS_PER_NODE) + Resource::new(masters_mb, CONTAINERS_PER_NODE));
    let properties = knobs.map(|(knob, value)| (format!("{CLUSTER_PREFIX}{knob}"), (*value).to_owned())).collect();
    // What may be suspended, and for how long, is the default.
    Testbed { nodes: NODES, room, properties, ..Testbed::thesis("hfsp", Preemption::Suspend) }
}

/// The jobs of one draw.
fn jobs(seed: u64, run: u64) -> Vec<Job> {
    let bins = Bins { jobs: JOBS, arrivals: Arrivals::Poisson(GAP_S), ..Bins::of(Mix::Test) };
    let small = |job: Job| Job { master: MASTER, ..job };
    bins.draw(seed, run).into_iter().map(small).collect()
}

/// The place of the job that has more work than that part of the others.
fn at_rank(jobs: &[Job], part: f64) -> usize {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|a, b| jobs[*a].work_s().total_cmp(&jobs[*b].work_s()));
    order[((jobs.len() - 1) as f64 * part) as usize]
}

/// What became of one lie in one draw: the liar's sojourn, and the others' mean sojourn, over what they were without it.
#[derive(Clone, Copy, Debug)]
struct Effect {
    own: f64,
    others: f64,
}

impl Effect {
    fn of(lying: &Outcome, silent: &Outcome, liar: usize) -> Effect {
        let sum = |outcome: &Outcome| outcome.jobs.iter().map(|job| job.sojourn_s()).sum::<f64>();
        let own = |outcome: &Outcome| outcome.jobs[liar].sojourn_s();
        let others = |outcome: &Outcome| sum(outcome) - own(outcome);
        Effect { own: own(lying) / own(silent), others: others(lying) / others(silent) }
    }
}

/// Effects of every lie, told by every liar, in one draw.
fn measure(seed: u64, run: u64) -> Result<Vec<Effect>, StudyError> {
    let jobs = jobs(seed, run);
    let under = |lie: &Lie, jobs: &[Job]| -> Result<Outcome, SimulationError> {
        Ok(testbed(lie.queue.iter().chain(lie.allowed)).world(jobs, seed)?.finish()?.outcome())
    };
    let effects = |lie: &Lie| {
        let silent = under(lie, &jobs)?;
        let effect = |(_, part): (&str, f64)| {
            let (liar, mut jobs) = (at_rank(&jobs, part), jobs.clone());
            jobs[liar].tags.extend(lie.tags.iter().map(|tag| (*tag).to_owned()));
            Ok(Effect::of(&under(lie, &jobs)?, &silent, liar))
        };
        LIARS.into_iter().map(effect).collect::<Result<Vec<_>, StudyError>>()
    };
    Ok(LIES.par_iter().map(effects).collect::<Result<Vec<_>, _>>()?.concat())
}

fn knobs(knobs: Knobs) -> String {
    let one = |(knob, value): &(&str, &str)| format!("{knob}={value}");
    knobs.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let draws = if setting.quick { 2 } else { DRAWS };
    let effects: Vec<Vec<Effect>> =
        ensemble::runs("hints", draws, |run| measure(setting.seed, run)).into_iter().collect::<Result<_, _>>()?;
    let columns = [
        "tag",
        "says",
        "queue",
        "allowed",
        "job",
        "its sojourn",
        "half width (95 %)",
        "best draw",
        "others' sojourn",
        "half width (95 %)",
    ];
    let title = format!("Sojourn with the tag over that without, means over {draws} draws");
    let mut table = Table::new("hints", &title, &columns);
    let mut harmless = Evidence::default();
    for (at, (lie, (liar, _))) in LIES.iter().flat_map(|lie| LIARS.map(|liar| (lie, liar))).enumerate() {
        let sample = |of: fn(&Effect) -> f64| Sample::new(effects.iter().map(|draw| of(&draw[at])).collect());
        let (own, others) = (sample(|effect| effect.own), sample(|effect| effect.others));
        let (says, queue) = (lie.tags.join(" "), knobs(lie.queue));
        if lie.allowed.is_empty() && lie.queue == HFSP {
            harmless = harmless.at_least(&format!("{says}, {liar} job"), own.mean(), HARMLESS);
        }
        let numbers = [own.mean(), own.half_width(), own.quantile(0.0), others.mean(), others.half_width()];
        let words = [lie.tag, &says, &queue, &knobs(lie.allowed), liar];
        table.row(words.map(Into::into).into_iter().chain(numbers.map(Into::into)).collect());
    }
    let statement = "Under hfsp and the default knobs no tag gains a job more than a tenth of its sojourn";
    let notes = vec![format!(
        "Simulated: {NODES} nodes of {CONTAINERS_PER_NODE} containers, heartbeats of 3 s, {JOBS} jobs of the mix TEST with a \
         mean gap of {GAP_S} s, suspension with its default limits. One job of each draw has the tag, all else is alike; \
         below 1 the tag gains."
    )];
    let claims = vec![Claim::new("hints are harmless", statement, harmless)];
    Ok(Report { tables: vec![table], claims, notes, ..Report::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_liars_are_the_median_and_the_largest_job() {
        let jobs = jobs(1, 0);
        let work = |part| jobs[at_rank(&jobs, part)].work_s();
        let below = jobs.iter().filter(|job| job.work_s() < work(0.5)).count();
        assert_eq!(below, (JOBS - 1) / 2);
        assert!(jobs.iter().all(|job| job.work_s() <= work(1.0)));
    }

    #[test]
    fn a_tag_that_says_nothing_changes_nothing() {
        let jobs: Vec<Job> = jobs(1, 0).into_iter().take(6).collect();
        let outcome = |jobs: &[Job]| testbed(HFSP.iter()).world(jobs, 1).unwrap().finish().unwrap().outcome();
        let tagged: Vec<Job> = jobs.iter().map(|job| job.clone().tag("etl")).collect();
        let effect = Effect::of(&outcome(&tagged), &outcome(&jobs), 0);
        assert_eq!((effect.own, effect.others), (1.0, 1.0));
    }
}
