//! How far Hiatus is from the best possible, and whether suspending pays. Not published anywhere: what changes of suspension are
//! measured by.
//!
//! - [`clairvoyant`]: what could be reached at best;
//! - [`mixes`], [`scene`], [`parts`]: the workloads, on which clusters, and who schedules them;
//! - [`measured`]: what became of them, in [`tables`], and against the bounds in [`claims`].

mod claims;
mod clairvoyant;
mod measured;
mod mixes;
mod parts;
mod scene;
mod tables;

use crate::report::{Axis, Report};
use crate::studies::study::{Setting, Study, StudyError};
use measured::{Measured, Plan};
use mixes::Mix;
use scene::{Scene, Work};

/// The seed that verdicts are of, and that nothing is tuned on. Every other one is for tuning.
const HELD_OUT: u64 = 1;
/// Draws of a row of each part.
const DRAWS: Draws = Draws { big_jobs: 3, mixes: 10, two_sizes: 6 };
/// The same for a first look.
const FEW_DRAWS: Draws = Draws { big_jobs: 1, mixes: 1, two_sizes: 1 };
/// Nodes of the mix's rows that differ in their load.
const FEW_NODES: usize = 5;
/// Seconds between two jobs × nodes, of the mix's rows that differ in their nodes.
const FULL: f64 = 1025.0;

pub(super) const DISTANCE: Study = Study {
    id: "distance",
    title: "Whether suspension pays, and the distance to the best possible (cluster simulator, not published)",
    run,
};

struct Draws {
    big_jobs: usize,
    mixes: usize,
    two_sizes: usize,
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let &Setting { quick, seed } = setting;
    let draws = if quick { FEW_DRAWS } else { DRAWS };
    let measure =
        |label, draws, schedulers: &[_], scenes: Vec<Scene>| Plan { label, draws, seed, schedulers }.measure(scenes);
    let rows = parts::remainders(quick)
        .iter()
        .flat_map(|remainder| parts::big_jobs(quick).iter().map(|count| (*count, *remainder)));
    let scenes = rows.map(|(count, remainder)| parts::beside_big_jobs(count, remainder)).collect();
    let big_jobs = measure("big jobs", draws.big_jobs, &parts::suspending_and_waiting(quick), scenes)?;
    let mixes = measure("mixes", draws.mixes, &parts::of_mixes(quick), parts::mixes())?;
    let two_sizes = measure("two sizes", draws.two_sizes, &parts::of_two_sizes(quick), parts::two_sizes(quick))?;
    let all: Vec<&Measured> = big_jobs.iter().chain(&mixes).chain(&two_sizes).collect();

    let title = |what: &str, draws: usize| format!("{what}: means over {draws} draws, sums of what it cost");
    let tables = vec![
        tables::table("big-jobs", &title("Big jobs beside 40 small ones", draws.big_jobs), &big_jobs),
        tables::table("mixes", &title("Mixes", draws.mixes), &mixes),
        tables::table("two-sizes", &title("Containers of two sizes", draws.two_sizes), &two_sizes),
    ];
    let mixed = |which: fn(usize, f64) -> bool| -> Vec<&Measured> {
        let is_of_it = |one: &&Measured| match one.scene.work {
            Work::Mix(Mix::Mixed, gap_s) => which(one.scene.cluster.nodes, gap_s),
            _ => false,
        };
        mixes.iter().filter(is_of_it).collect()
    };
    let by_load = mixed(|nodes, _| nodes == FEW_NODES);
    let by_nodes = mixed(|nodes, gap_s| nodes as f64 * gap_s == FULL);
    let plots = vec![
        tables::plot("by-load", "The mix on five nodes", Axis::linear("load"), &by_load, |one| one.load),
        tables::plot("by-nodes", "The mix at a load of about 1", Axis::log("nodes"), &by_nodes, |one| {
            one.scene.cluster.nodes as f64
        }),
    ];
    let mut claims = claims::beside_big(&big_jobs);
    claims.extend(claims::mixes(&mixes));
    claims.extend(claims::two_sizes(&two_sizes));
    claims.push(claims::nothing_killed(&all));
    claims.extend(claims::never_worse(&all));
    Ok(Report { tables, plots, claims, notes: notes(seed, &mixes) })
}

fn notes(seed: u64, mixes: &[Measured]) -> Vec<String> {
    let held_out = if seed == HELD_OUT {
        "held out: nothing may be tuned on it"
    } else {
        "for tuning: verdicts are of the seed 1"
    };
    vec![
        format!("Simulated, settings as they are shipped: a heartbeat of 1 s, 3 s until an ApplicationMaster asks, 1 s until a task works. Seed {seed}, {held_out}."),
        "The ideal is least remaining work first by a scheduler that knows all run times and may stop and move work for nothing, as if \
            all nodes were one. Of mixes small jobs are the half of a draw that has less work."
            .to_owned(),
        tables::worst(parts::HFSP, mixes),
    ]
}
