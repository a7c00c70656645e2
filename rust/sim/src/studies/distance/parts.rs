//! The three parts of the study: which scenes each has, and who schedules them.

use super::mixes::Mix;
use super::scene::{Cluster, Scene, Work};
use crate::cluster::Preemption::{Suspend, Wait};
use crate::studies::small_and_big::Scheduler;
use crate::workload::cluster::Mix as Bin;

/// A node of the mixes has room for eight tasks of 2 GiB, and for eight ApplicationMasters of 1 MiB.
const MIX_NODE_MB: i64 = 8 * 2048 + 8;
/// What a node has beyond whole containers where it has a remainder, in MiB.
const REMAINDER_MB: i64 = 512;
/// CapacityScheduler's `maximum-am-resource-percent`, where ApplicationMasters are as large as tasks and may not fill the cluster.
const MASTER_SHARE: f64 = 0.1;

/// HFSP as it is shipped, which all is about.
pub(super) const HFSP: Scheduler = Scheduler::of("hfsp", Suspend);
/// Of each policy that orders jobs the one that suspends.
pub(super) const POLICIES: [Scheduler; 5] = [
    HFSP,
    Scheduler::of("srpt", Suspend),
    Scheduler::of("las", Suspend),
    Scheduler::of("fair", Suspend),
    Scheduler::of("flex", Suspend),
];
/// What stock does, or nearly.
pub(super) const STOCK: Scheduler = Scheduler::of("fair", Wait);
/// HFSP that is told the sizes.
pub(super) const TOLD: Scheduler = Scheduler { told: true, ..HFSP };

/// All policies, suspending and waiting, or HFSP only.
pub(super) fn suspending_and_waiting(quick: bool) -> Vec<Scheduler> {
    let policies = if quick { &POLICIES[..1] } else { &POLICIES[..] };
    policies.iter().flat_map(|policy| [*policy, policy.waiting()]).collect()
}

/// Those of the mixes.
pub(super) fn of_mixes(quick: bool) -> Vec<Scheduler> {
    let told = (!quick).then_some(TOLD);
    suspending_and_waiting(quick).into_iter().chain(told).collect()
}

/// Those of containers of two sizes.
pub(super) fn of_two_sizes(quick: bool) -> Vec<Scheduler> {
    let stock = quick.then_some(STOCK);
    suspending_and_waiting(quick).into_iter().chain(stock).collect()
}

/// How many big jobs there are, in the order of the rows.
pub(super) fn big_jobs(quick: bool) -> &'static [u32] {
    if quick {
        &[1, 3, 10]
    } else {
        &[1, 2, 3, 5, 10, 20]
    }
}

/// Whether nodes have remainders, in the order of the rows.
pub(super) fn remainders(quick: bool) -> &'static [bool] {
    if quick {
        &[false]
    } else {
        &[false, true]
    }
}

/// Part A: big jobs beside small ones, on nodes of eight containers.
pub(super) fn beside_big_jobs(count: u32, remainder: bool) -> Scene {
    let node_mb = 8192 + if remainder { REMAINDER_MB } else { 0 };
    let name = format!("{count} big{}", if remainder { ", remainders" } else { "" });
    let cluster = Cluster { nodes: 40, node_mb, task_mb: 1024, master_share: MASTER_SHARE };
    Scene { name, cluster, work: Work::BigJobs(count) }
}

/// Rows of part B: name, mix, seconds between two jobs, and nodes of eight tasks.
const MIXES: [(&str, Mix, f64, usize); 13] = [
    ("mix, 500 s", Mix::Mixed, 500.0, 5),
    ("mix, 330 s", Mix::Mixed, 330.0, 5),
    ("mix, 250 s", Mix::Mixed, 250.0, 5),
    ("mix, 205 s", Mix::Mixed, 205.0, 5),
    ("mix, 180 s", Mix::Mixed, 180.0, 5),
    ("mix, 102.5 s", Mix::Mixed, 102.5, 10),
    ("mix, 51.25 s", Mix::Mixed, 51.25, 20),
    ("mix, 20.5 s", Mix::Mixed, 20.5, 50),
    ("mix, 10.25 s", Mix::Mixed, 10.25, 100),
    ("short", Mix::Short, 33.0, 5),
    ("reduces", Mix::Reduces, 80.0, 5),
    ("like", Mix::Like, 105.0, 5),
    ("wave", Mix::Wave, 200.0, 5),
];
/// Those that are run on one node of forty tasks, too, where nothing that is suspended is pinned.
const ON_ONE_NODE: [(&str, Mix, f64); 5] = [
    ("mix, 205 s", Mix::Mixed, 205.0),
    ("short", Mix::Short, 33.0),
    ("reduces", Mix::Reduces, 80.0),
    ("like", Mix::Like, 105.0),
    ("wave", Mix::Wave, 200.0),
];

/// Part B: mixes at several loads, on few nodes and on many.
pub(super) fn mixes() -> Vec<Scene> {
    let scene = |name, mix, gap_s, nodes, node_mb| {
        let cluster = Cluster { nodes, node_mb, task_mb: 2048, master_share: 1.0 };
        Scene { name, cluster, work: Work::Mix(mix, gap_s) }
    };
    let several = MIXES
        .iter()
        .map(|&(name, mix, gap_s, nodes)| scene(format!("{name}, {nodes} nodes"), mix, gap_s, nodes, MIX_NODE_MB));
    let one = ON_ONE_NODE
        .iter()
        .map(|&(name, mix, gap_s)| scene(format!("{name}, one node"), mix, gap_s, 1, 5 * MIX_NODE_MB));
    several.chain(one).collect()
}

/// Part C: maps of 1 GiB and reduces of 2 GiB at a load above 1, and the thesis' workloads.
pub(super) fn two_sizes(quick: bool) -> Vec<Scene> {
    let scene = |name: &str, nodes, node_mb, master_share, work| Scene {
        name: name.to_owned(),
        cluster: Cluster { nodes, node_mb, task_mb: 1024, master_share },
        work,
    };
    let jobs = Work::Mix(Mix::TwoSizes, 44.0);
    let mut scenes = vec![
        scene("maps and reduces, 20 nodes of 4 GiB", 20, 4096 + 8, 1.0, jobs),
        scene("maps and reduces, 5 nodes of 16 GiB", 5, 4 * (4096 + 8), 1.0, jobs),
    ];
    if !quick {
        // Without a limit PROD's ApplicationMasters fill the cluster, and hardly a task runs.
        scenes.extend([
            scene("TEST, 20 nodes of 4 GiB", 20, 4096, 1.0, Work::Bins(Bin::Test)),
            scene("DEV, 10 nodes of 4 GiB", 10, 4096, 1.0, Work::Bins(Bin::Dev)),
            scene("PROD, 20 nodes of 4 GiB", 20, 4096, MASTER_SHARE, Work::Bins(Bin::Prod)),
        ]);
    }
    scenes
}
