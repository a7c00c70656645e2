//! What of this step concerns history: who came, so that what is known of its class can be told, and what is worth
//! remembering of who went.

use crate::batchmr::Reason;
use crate::fact::Side;
use crate::recurring::{Note, OnSide, Record, Tasks};
use crate::state::{Cluster, Job};
use crate::units::Millis;
use std::collections::BTreeMap;

/// Kinds of tasks that are remembered of one application: MapReduce has two; nobody's needs to fill the history.
const KINDS: usize = 32;

/// The notes of a step whose facts have been taken in.
pub(crate) fn notes(cluster: &mut Cluster, out: &mut Vec<Note>) {
    out.clear();
    for app in cluster.newcomers() {
        out.extend(cluster.jobs().get(&app).map(|job| Note::Came { app, class: job.class }));
    }
    for job in cluster.done() {
        let record = record(cluster, &job);
        out.extend(Some(record).filter(|record| !record.tasks.is_empty()).map(Note::Ended));
    }
}

fn record(cluster: &Cluster, job: &Job) -> Record {
    let mut kinds: BTreeMap<i32, Tasks> = BTreeMap::new();
    for (key, phase) in job.phases.iter().filter(|(_, phase)| phase.finished > 0) {
        let priority = key.priority;
        let kind = kinds.entry(priority).or_insert(Tasks { priority, count: 0, time: Millis(0) });
        kind.count += phase.finished;
        kind.time = kind.time + phase.finished_time;
    }
    Record {
        class: job.class,
        at_ms: job.time_of_day_ms(cluster.now()),
        input: job.site.input,
        sides: sides(cluster, job),
        tasks: kinds.into_values().take(KINDS).collect(),
    }
}

/// How long the job took on the side that it kept to. By its first tasks that may be known of the other side, too: by those it
/// would have taken as much longer or shorter there. Without that no job would ever be known on both sides, since each run is on one.
fn sides(cluster: &Cluster, job: &Job) -> Vec<OnSide> {
    let kept = job.site.verdict.filter(|_| !job.site.strayed);
    let Some((verdict, own, began)) = kept.and_then(|verdict| Some((verdict, verdict.side?, job.began?))) else {
        return Vec::new();
    };
    let took = cluster.now().since(began);
    let on = |side: Side, took: Millis| OnSide { side, took, nodes: cluster.sides()[Some(side)].live_nodes() };
    let sampled = verdict.times.filter(|_| matches!(verdict.reason, Reason::SampleP | Reason::SampleV));
    let other = sampled.map(|times| {
        let ratio = times.on(own.other()) / times.on(own);
        on(own.other(), Millis((took.0 as f64 * ratio) as u64))
    });
    [Some(on(own, took)), other].into_iter().flatten().collect()
}
