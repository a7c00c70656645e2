//! How often the truth lies in the interval that is forecast of a job's end. Not published anywhere: it is what stands behind the
//! figures that are shown to users.

use hiatus_background::forecast::{Foresight, Prospect, Rules, Unknown, MEANT};
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::{AppId, Millis, Resource};

use crate::cluster::testbed::{Room, Testbed};
use crate::cluster::{Preemption, World};
use crate::report::{Claim, Evidence, Report, Sample, Table};
use crate::studies::ensemble;
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{gb, Arrivals, Bins, Job, Mix};

const DRAWS: usize = 5;
/// Draws, one after the other, from which forecasts have learnt when those of one more are checked.
const SEEN: usize = 4;
const JOBS: usize = 40;
const NODES: usize = 10;
const CONTAINERS_PER_NODE: i64 = 4;
/// Mean time between two jobs, in seconds: the cluster is busy for most of the time.
const GAP_S: f64 = 75.0;
/// A forecast is made so often.
const EVERY: Millis = Millis(120_000);
/// An ApplicationMaster is small beside a task, and nodes have room for all of them.
const MASTER: Resource = Resource { memory_mb: 64, vcores: 0 };
/// As far may the part of the truths that the interval holds be from what is meant, where nobody arrives later.
const OFF: f64 = 0.1;

pub(super) const FORECAST: Study = Study {
    id: "forecast",
    title: "How often a job's end lies in the interval that was forecast (cluster simulator, not published)",
    run,
};

/// Under what forecasts are made.
#[derive(Clone, Copy, Debug)]
struct Case {
    policy: &'static str,
    preemption: Preemption,
    /// Jobs come one after the other; otherwise all are there at the begin.
    arrivals: bool,
}

const CASES: &[Case] = &[
    Case { policy: "hfsp", preemption: Preemption::Suspend, arrivals: false },
    Case { policy: "hfsp", preemption: Preemption::Suspend, arrivals: true },
    Case { policy: "srpt", preemption: Preemption::Suspend, arrivals: true },
    Case { policy: "fair", preemption: Preemption::Suspend, arrivals: true },
    Case { policy: "fifo", preemption: Preemption::Wait, arrivals: true },
];

/// A forecast of one job, and the truth.
#[derive(Clone, Copy, Debug)]
struct Checked {
    made: Millis,
    prospect: Prospect,
    end: Millis,
    suspended: bool,
    /// Nobody arrived between it and the job's end.
    undisturbed: bool,
}

/// All forecasts of one draw, and how many were refused, of jobs that were there.
#[derive(Clone, Debug, Default)]
struct Measured {
    checked: Vec<Checked>,
    refused: usize,
}

fn testbed(case: &Case) -> Testbed {
    let masters_mb = MASTER.memory_mb * JOBS as i64 / NODES as i64;
    let room = Room::Pool(gb(CONTAINERS_PER_NODE) + Resource::new(masters_mb, CONTAINERS_PER_NODE));
    // What may be suspended, and for how long, is the default.
    let properties = vec![(format!("{CLUSTER_PREFIX}policy"), case.policy.to_owned())];
    Testbed { nodes: NODES, room, properties, ..Testbed::thesis(case.policy, case.preemption) }
}

fn jobs(case: &Case, seed: u64, run: u64) -> Vec<Job> {
    let bins = Bins { jobs: JOBS, arrivals: Arrivals::Poisson(GAP_S), ..Bins::of(Mix::Test) };
    let at = |job: &Job| if case.arrivals { job.at } else { Millis(0) };
    bins.draw(seed, run).into_iter().map(|job| Job { master: MASTER, at: at(&job), ..job }).collect()
}

/// Makes forecasts all along, until all jobs have ended.
fn look_ahead(
    foresight: &mut Foresight,
    world: &mut World,
    rules: &Rules,
    mut made: impl FnMut(&World, AppId, Result<Prospect, Unknown>),
) {
    while world.apps().iter().any(|app| app.finished.is_none()) {
        world.run_until(world.now() + EVERY);
        let forecast = foresight.look(world.core(), rules, |app| world.apps()[app.0 as usize].finished);
        forecast.jobs.into_iter().for_each(|(app, told)| made(world, app, told));
    }
}

/// Compares the forecasts of the last of these draws with what came. They learn from those before.
fn measure(case: &Case, draws: &[Vec<Job>], seed: u64) -> Result<Measured, StudyError> {
    let testbed = testbed(case);
    let rules = Rules { heartbeat: testbed.heartbeat, ..Rules::default() };
    let (mut foresight, mut made, mut measured) = (Foresight::default(), Vec::new(), Measured::default());
    let Some((jobs, earlier)) = draws.split_last() else { return Ok(measured) };
    for jobs in earlier {
        let mut world = testbed.world(jobs, seed).map_err(StudyError::Cluster)?;
        look_ahead(&mut foresight, &mut world, &rules, |_, _, _| {});
    }
    let mut world = testbed.world(jobs, seed).map_err(StudyError::Cluster)?;
    look_ahead(&mut foresight, &mut world, &rules, |world, app, told| {
        let so_far = world.apps()[app.0 as usize].spent.suspensions;
        let is_suspended = world.core().cluster().jobs().get(&app).is_some_and(|job| !job.suspended.is_empty());
        match told {
            Ok(prospect) => made.push((app, world.now(), prospect, so_far, is_suspended)),
            Err(_) => measured.refused += 1,
        }
    });
    let fate = |app: AppId| &world.apps()[app.0 as usize];
    for (app, made, prospect, so_far, is_suspended) in made {
        let Some(end) = fate(app).finished else { continue };
        let suspended = is_suspended || fate(app).spent.suspensions > so_far;
        let undisturbed = !jobs.iter().any(|job| job.at > made && job.at < end);
        measured.checked.push(Checked { made, prospect, end, suspended, undisturbed });
    }
    Ok(measured)
}

/// The part of those for which `which` holds, 0…1.
fn part<'a>(of: impl Iterator<Item = &'a Checked>, which: impl Fn(&Checked) -> bool) -> f64 {
    Sample::new(of.map(|one| f64::from(u8::from(which(one)))).collect()).mean()
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let (draws, most_seen) = if setting.quick { (2, 1) } else { (DRAWS, SEEN) };
    let columns = [
        "policy",
        "preemption",
        "arrivals",
        "jobs seen before",
        "forecasts",
        "none made",
        "held",
        "ended before",
        "ended after",
        "held, nobody arriving",
        "median error",
        "said likely, suspended",
        "said unlikely, suspended",
    ];
    let title = format!("How often the truth lay in the interval, {draws} draws together");
    let mut table = Table::new("forecast", &title, &columns);
    let (mut from_nothing, mut learnt) = (Evidence::default(), Evidence::default());
    for (seen, case) in [0, most_seen].into_iter().flat_map(|seen| CASES.iter().map(move |case| (seen, case))) {
        let name = format!("forecast {}, {seen} seen", case.policy);
        let chain = |run: u64| -> Vec<Vec<Job>> {
            let before = (0..seen as u64).map(|one| DRAWS as u64 + run * SEEN as u64 + one);
            before.chain([run]).map(|draw| jobs(case, setting.seed, draw)).collect()
        };
        let all: Vec<Measured> = ensemble::runs(&name, draws, |run| measure(case, &chain(run), setting.seed))
            .into_iter()
            .collect::<Result<_, _>>()?;
        let checked: Vec<Checked> = all.iter().flat_map(|one| one.checked.iter().copied()).collect();
        let all_of = || checked.iter();
        let held = |one: &Checked| one.prospect.holds(one.end);
        let likely = |one: &&Checked| one.prospect.suspended >= 0.5;
        let calm = part(all_of().filter(|one| one.undisturbed), held);
        let error =
            |one: &Checked| one.prospect.end.0.abs_diff(one.end.0) as f64 / one.end.since(one.made).0.max(1) as f64;
        let numbers = [
            part(all_of(), held),
            part(all_of(), |one| one.end < one.prospect.earliest),
            part(all_of(), |one| one.prospect.latest.is_some_and(|latest| one.end > latest)),
            calm,
            Sample::new(all_of().map(error).collect()).quantile(0.5),
            part(all_of().filter(likely), |one| one.suspended),
            part(all_of().filter(|one| !likely(one)), |one| one.suspended),
        ];
        let arrivals = if case.arrivals { "one by one" } else { "all at once" };
        let evidence = if seen == 0 { &mut from_nothing } else { &mut learnt };
        *evidence = std::mem::take(evidence).at_least(&format!("{}, {arrivals}", case.policy), calm, MEANT - OFF);
        let words = [case.policy, case.preemption.name(), arrivals].map(Into::into).into_iter();
        let counts = [seen * JOBS, checked.len(), all.iter().map(|one| one.refused).sum()].map(Into::into);
        table.row(words.chain(counts).chain(numbers.map(Into::into)).collect());
    }
    let notes = vec![format!(
        "Simulated: {NODES} nodes of {CONTAINERS_PER_NODE} containers, heartbeats of 3 s, {JOBS} jobs of the mix TEST, with a mean gap \
         of {GAP_S} s or all at once. A forecast of every job every two minutes; {MEANT} of the truths are meant to lie in the interval. \
         What became of earlier forecasts moves it: of the same draw, and of {most_seen} draws before or none. \
         The median error is the distance of truth and forecast over the time that was really left."
    )];
    let statement =
        format!("Where nobody arrives later the interval holds {MEANT} of the truths, or {OFF} less at worst");
    let after = format!("The same once the ends of {} jobs have been seen", most_seen * JOBS);
    let claims = vec![
        Claim::new("the interval is true", &statement, from_nothing),
        Claim::new("the interval becomes true", &after, learnt),
    ];
    Ok(Report { tables: vec![table], claims, notes, ..Report::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_forecast_and_each_forecast_is_checked_against_its_end() {
        let few: Vec<Job> = jobs(&CASES[0], 1, 0).into_iter().take(4).collect();
        let measured = measure(&CASES[0], &[few.clone(), few], 1).unwrap();
        assert!(measured
            .checked
            .iter()
            .all(|one| one.undisturbed && one.end > one.made && one.prospect.earliest >= one.made));
        assert!(!measured.checked.is_empty());
    }
}
