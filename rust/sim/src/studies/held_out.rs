//! Advice from one day, judged on the next: what `hiatus advise` promised, and what came. Not published anywhere.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hiatus_background::hindsight::setting::{world, Change, Properties};
use hiatus_background::hindsight::{Past, PastJob};
use hiatus_core::units::Resource;
use rayon::prelude::*;

use crate::cluster::{Faults, Node, Preemption, Queue, SimulationError};
use crate::recorded::advice::{advise, Candidate, Gain};
use crate::report::{Claim, Evidence, Report, Table};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{millis, secs, swim_jobs, Bins, Job, Mix, SwimModel};
use crate::workload::swim;

pub(super) const HELD_OUT: Study = Study {
    id: "held-out",
    title: "What hiatus advise promised of one day, and what came on the next (cluster simulator, not published)",
    run,
};

/// What the first day would keep busy of the cluster.
const LOAD: f64 = 0.9;
/// CapacityScheduler's own limit of ApplicationMasters.
const MASTER_SHARE: f64 = 0.1;
/// What happens, and the model does not know: so many tasks fail, and are run again.
const FAILING: f64 = 0.02;
/// Nothing is left out for want of time: the same table on every machine.
const LIMIT: Duration = Duration::from_secs(86_400);
const HOUR_S: f64 = 3_600.0;

/// Two days of one cluster.
struct Pair {
    name: &'static str,
    nodes: usize,
    /// Containers of 1 GiB of a node.
    containers: i64,
    days: [Vec<Job>; 2],
}

/// Hours of a trace one after the other: SWIM's traces are 24 hours, drawn from months.
fn hours(name: &'static str, text: &str, hours: f64) -> Result<Pair, StudyError> {
    let (nodes, containers) = (30, 8);
    let trace = swim::parse(text.as_bytes(), Path::new(name))?;
    let day = |number: f64, scale: f64| {
        let (begin, end) = (number * hours * HOUR_S, (number + 1.0) * hours * HOUR_S);
        let within = trace.iter().filter(|job| (begin..end).contains(&job.submit_s));
        let moved: Vec<_> = within.map(|job| swim::SwimJob { submit_s: job.submit_s - begin, ..*job }).collect();
        swim_jobs(&moved, SwimModel { scale, jobs: usize::MAX })
    };
    let work_s = day(0.0, 1.0).iter().map(Job::work_s).sum::<f64>();
    let scale = LOAD * hours * HOUR_S * nodes as f64 * containers as f64 / work_s;
    Ok(Pair { name, nodes, containers, days: [day(0.0, scale), day(1.0, scale)] })
}

/// Two draws of a mix of PigMix's queries, with its own arrivals.
fn pigmix(name: &'static str, mix: Mix, setting: &Setting) -> Pair {
    let bins = Bins { jobs: if setting.quick { 40 } else { 100 }, ..Bins::of(mix) };
    Pair { name, nodes: 20, containers: 4, days: [0, 1].map(|day| bins.draw(setting.seed, day)) }
}

fn pairs(setting: &Setting) -> Result<Vec<Pair>, StudyError> {
    let (of_2009, of_2010) = if setting.quick { (1.0, 0.25) } else { (6.0, 2.0) };
    Ok(vec![
        hours("FB-2009", swim::FB_2009, of_2009)?,
        hours("FB-2010", swim::FB_2010, of_2010)?,
        pigmix("PigMix TEST", Mix::Test, setting),
        pigmix("PigMix PROD", Mix::Prod, setting),
    ])
}

/// CapacityScheduler's `fair` ordering, which takes nothing back.
fn fair() -> Properties {
    let change = Change { policy: Some("fair".to_owned()), preemption: Some(Preemption::Wait), ..Change::default() };
    change.of(&Properties::new())
}

/// A day as it would have been recorded.
fn past(pair: &Pair, jobs: &[Job], properties: &Properties, seed: u64) -> Result<Past, SimulationError> {
    let size = Resource::new(1_024 * pair.containers, pair.containers);
    // By then all nodes have reported.
    let later = |job: &Job| Job { at: job.at + secs(2), ..job.clone() };
    let past = Past {
        properties: properties.clone(),
        nodes: vec![Node::of(size); pair.nodes],
        queues: vec![Queue::new("root.default", 1.0).master_share(0.0)],
        heartbeat: secs(1),
        master_start: secs(3),
        ..Past::default()
    };
    let jobs: Vec<Job> = jobs.iter().map(later).collect();
    let sojourns = lived(&past, &jobs, properties, seed)?;
    let known = jobs.into_iter().zip(sojourns).map(|(job, took_s)| {
        let sojourn = millis(took_s);
        Arc::new(PastJob { job, sojourn })
    });
    Ok(Past { jobs: known.collect(), ..past })
}

/// What really becomes of the jobs: their sojourns in seconds.
fn lived(past: &Past, jobs: &[Job], properties: &Properties, seed: u64) -> Result<Vec<f64>, SimulationError> {
    let faults = Faults { fail_task: FAILING, ..Faults::default() };
    let mut world = world(past, properties, MASTER_SHARE, seed).faults(faults).jobs(jobs);
    world.check()?;
    Ok(world.finish()?.outcome().jobs.iter().map(|job| job.sojourn_s()).collect())
}

/// What was promised of the first day, and what came of it on the second.
struct Judged {
    pair: Pair,
    error: f64,
    /// The best setting on the first day, what it would have gained then, and whether it is advised.
    best: Candidate,
    promised: Gain,
    advised: bool,
    came: Gain,
}

fn judge(pair: Pair, seed: u64) -> Result<Option<Judged>, StudyError> {
    let settings = fair();
    let first = past(&pair, &pair.days[0], &settings, seed)?;
    let advice = advise(&first, MASTER_SHARE, LIMIT, seed)?;
    let Some((best, simulated)) = advice.best() else { return Ok(None) };
    let second = past(&pair, &pair.days[1], &settings, seed + 1)?;
    let jobs: Vec<Job> = second.jobs.iter().map(|past| past.job.clone()).collect();
    let was_s: Vec<f64> = second.jobs.iter().map(|past| past.sojourn.seconds()).collect();
    let is_s = lived(&second, &jobs, &best.change().of(&settings), seed + 1)?;
    Ok(Some(Judged {
        error: advice.model_error,
        best: best.clone(),
        promised: simulated.gain,
        advised: advice.advised().is_some(),
        came: Gain::of(&was_s, &is_s, seed),
        pair,
    }))
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let judged: Vec<Option<Judged>> =
        pairs(setting)?.into_par_iter().map(|pair| judge(pair, setting.seed)).collect::<Result<_, _>>()?;
    let judged: Vec<Judged> = judged.into_iter().flatten().collect();
    let columns = [
        "days",
        "jobs",
        "best setting of the first day",
        "model error %",
        "promised %",
        "low",
        "high",
        "advised",
        "came on the second %",
        "low",
        "high",
    ];
    let title = "Part of the mean sojourn under fair that is saved: promised of one day, and come on the next";
    let mut table = Table::new("days", title, &columns);
    let (mut better, mut kept) = (Evidence::default(), Evidence::default());
    for one in &judged {
        let jobs = one.pair.days.each_ref().map(|day| day.len().to_string()).join(" and ");
        let percents = |gain: &Gain| [gain.mean, gain.low, gain.high].map(|part| (100.0 * part).into());
        let mut row = vec![one.pair.name.into(), jobs.as_str().into(), one.best.to_string().as_str().into()];
        row.push((100.0 * one.error).into());
        row.extend(percents(&one.promised));
        row.push(if one.advised { "yes" } else { "no" }.into());
        row.extend(percents(&one.came));
        table.row(row);
        if one.advised {
            better = better.above(one.pair.name, one.came.mean, 0.0);
            kept = kept.at_least(one.pair.name, one.came.mean, one.promised.low);
        }
    }
    let claims = vec![
        Claim::new("advice helps", "What is advised of one day saves time on the next", better),
        Claim::new("promises are kept", "It saves at least the low end of what was promised", kept),
    ];
    let notes = vec![format!(
        "Simulated. FB-2009 and FB-2010: hours of SWIM's traces one after the other (each is of another day) on 30 nodes of \
         8 containers, the first day at {LOAD} of them, the second by the same factor. PigMix: two draws of the thesis' \
         mixes on 20 nodes of 4. Both days run under fair, and the second under what was best of the first, too; {} % of all \
         tasks fail, which the model does not know. Brackets of 95 %.",
        100.0 * FAILING
    )];
    Ok(Report { tables: vec![table], claims, notes, ..Report::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_of_a_trace_follow_each_other_and_the_first_has_the_load() {
        let pair = hours("FB-2009", swim::FB_2009, 1.0).unwrap();
        let [first, second] = &pair.days;
        assert!(first.len() > 50 && second.len() > 50, "{} and {}", first.len(), second.len());
        for day in [first, second] {
            assert!(day.iter().all(|job| job.at < secs(3_600)));
        }
        let load = first.iter().map(Job::work_s).sum::<f64>() / (HOUR_S * 240.0);
        assert!((load - LOAD).abs() < 0.1, "{load}");
    }

    #[test]
    fn what_is_recorded_is_what_was_lived() {
        let setting = Setting { quick: true, seed: 1 };
        let mut pair = pigmix("PigMix TEST", Mix::Test, &setting);
        pair.days[0].truncate(5);
        let past = past(&pair, &pair.days[0], &fair(), 1).unwrap();
        let jobs: Vec<Job> = past.jobs.iter().map(|past| past.job.clone()).collect();
        let again = lived(&past, &jobs, &fair(), 1).unwrap();
        let recorded: Vec<f64> = past.jobs.iter().map(|past| past.sojourn.seconds()).collect();
        assert_eq!((past.jobs.len(), again), (5, recorded));
    }
}
