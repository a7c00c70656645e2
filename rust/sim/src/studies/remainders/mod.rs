//! Whether small jobs beside a big one wait longer where nodes are no multiples of its containers, as real nodes are not. Not
//! published anywhere: room that nobody can use must keep nobody from being served.
//!
//! - [`scenes`]: on which clusters, beside which big job, in which queues.

mod scenes;

use crate::cluster::Preemption::{Suspend, Wait};
use crate::report::{Cell, Claim, Evidence, Report, Table};
use crate::studies::small_and_big::{self, Run, Scheduler};
use crate::studies::study::{Setting, Study, StudyError};
use hiatus_core::units::Resource;
use scenes::{Scene, MANY_VCORES, SMALL_CONTAINERS};

/// Small jobs take at most so many times as long as on even nodes, and as in the first row.
const SMALL_OVER_EVEN: f64 = 1.1;
/// The big ones take as long, but for so much either way.
const BIG_OFF_EVEN: f64 = 0.03;
/// At most so many times as much is suspended.
const SUSPENSIONS_OVER_EVEN: f64 = 1.1;

const SCHEDULERS: [Scheduler; 4] = [
    Scheduler::of("hfsp", Suspend),
    Scheduler::of("hfsp", Wait),
    Scheduler::of("fair", Suspend),
    Scheduler::of("srpt", Suspend),
];

pub(super) const REMAINDERS: Study = Study {
    id: "remainders",
    title: "Small jobs beside a big one on nodes with remainders (cluster simulator, not published)",
    run,
};

/// A scene on nodes of one size, by one scheduler.
#[derive(Debug)]
struct Row<'a> {
    scene: &'a Scene,
    node: Resource,
    scheduler: Scheduler,
    run: Run,
    /// The same on even nodes.
    even: Run,
}

impl Row<'_> {
    fn name(&self) -> String {
        format!("{}, {}", self.scene.name, offered(self.node))
    }

    fn over_even(&self, of: fn(&Run) -> f64) -> f64 {
        of(&self.run) / of(&self.even)
    }
}

/// What counts of a node.
fn offered(node: Resource) -> String {
    match node.vcores {
        MANY_VCORES => format!("{} MiB", node.memory_mb),
        few => format!("{few} vcores"),
    }
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let scenes = Scene::all();
    let schedulers = if setting.quick { &SCHEDULERS[..1] } else { &SCHEDULERS[..] };
    let rows = measure(&scenes, schedulers, setting.seed)?;
    let claims = schedulers.iter().flat_map(|scheduler| claims(*scheduler, &rows)).collect();
    let notes = vec![
        "Simulated, settings as they are shipped, but ApplicationMasters may hold everything: a heartbeat of 1 s, 3 s until an \
         ApplicationMaster asks, 1 s until a task works. A big job of 2,000 tasks of 600 s; from 30 s on each minute a small \
         one of 10 tasks of 15 s, 40 in all; each task within 20 %. One draw, the same in all rows."
            .to_owned(),
    ];
    Ok(Report { tables: vec![small_jobs(schedulers, &rows), details(&rows)], claims, notes, ..Report::default() })
}

/// All scenes on all their nodes, by each scheduler.
fn measure<'a>(scenes: &'a [Scene], schedulers: &[Scheduler], seed: u64) -> Result<Vec<Row<'a>>, StudyError> {
    let of_scene = |scene: &'a Scene| {
        scene.rows().flat_map(move |node| schedulers.iter().map(move |scheduler| (scene, node, *scheduler)))
    };
    let plan: Vec<(&Scene, Resource, Scheduler)> = scenes.iter().flat_map(of_scene).collect();
    let run = |number: u64| {
        let (scene, node, scheduler) = plan[number as usize];
        scene.run(node, scheduler, seed)
    };
    let runs = small_and_big::runs("remainders", plan.len(), run)?;
    let mut rows: Vec<Row> = Vec::with_capacity(plan.len());
    for ((scene, node, scheduler), run) in plan.into_iter().zip(runs) {
        let is_even = |row: &&Row| row.scene.name == scene.name && row.scheduler == scheduler;
        // Even nodes are a scene's first row.
        let even = rows.iter().find(is_even).map_or(run, |row| row.run);
        rows.push(Row { scene, node, scheduler, run, even });
    }
    Ok(rows)
}

/// Mean sojourns of small jobs.
fn small_jobs(schedulers: &[Scheduler], rows: &[Row]) -> Table {
    let columns = ["scene", "node"].map(str::to_owned).into_iter().chain(schedulers.iter().map(|one| one.name()));
    let columns: Vec<String> = columns.collect();
    let mut table = Table::new("small-jobs", "Mean sojourn of small jobs, in seconds", &columns);
    for row in rows.chunks(schedulers.len()) {
        let head = [Cell::from(row[0].scene.name), Cell::Text(offered(row[0].node))];
        table.row(head.into_iter().chain(row.iter().map(|row| row.run.small_s.into())).collect());
    }
    table
}

/// All that claims rest on, and what suspensions held.
fn details(rows: &[Row]) -> Table {
    let columns = [
        "scene",
        "node",
        "scheduler",
        "small (s)",
        "small over even",
        "big (s)",
        "big over even",
        "suspensions",
        "a small container",
        "suspended (MiB s)",
        "killed",
    ];
    let mut table = Table::new("rows", "Each row, and over the same scene on even nodes", &columns);
    for row in rows {
        let Run { small_s, big_s, suspensions, suspended_mb_s, killed, .. } = row.run;
        table.row(vec![
            row.scene.name.into(),
            Cell::Text(offered(row.node)),
            Cell::Text(row.scheduler.name()),
            small_s.into(),
            row.over_even(|run| run.small_s).into(),
            big_s.into(),
            row.over_even(|run| run.big_s).into(),
            Cell::Count(suspensions as u64),
            a_small_container(&row.run).into(),
            suspended_mb_s.into(),
            Cell::Count(killed as u64),
        ]);
    }
    table
}

fn a_small_container(run: &Run) -> f64 {
    run.suspensions / SMALL_CONTAINERS
}

fn claims(scheduler: Scheduler, rows: &[Row]) -> Vec<Claim> {
    let rows = || rows.iter().filter(move |row| row.scheduler == scheduler);
    let (mut small, mut big, mut suspensions) = (Evidence::default(), Evidence::default(), Evidence::default());
    for row in rows().filter(|row| row.node != row.scene.even) {
        let name = row.name();
        small = small.at_most(&name, row.over_even(|run| run.small_s), SMALL_OVER_EVEN);
        big = big.within(&name, row.over_even(|run| run.big_s), 1.0 - BIG_OFF_EVEN, 1.0 + BIG_OFF_EVEN);
        let bound = SUSPENSIONS_OVER_EVEN * a_small_container(&row.even);
        suspensions = suspensions.at_most(&name, a_small_container(&row.run), bound);
    }
    let mut claims = vec![
        Claim::new("small", "Small jobs take at most 1.1 times as long as on even nodes", small),
        Claim::new("big", "The big job takes as long as on even nodes, within 3 %", big),
        Claim::new("suspensions", "For a container of small jobs at most 1.1 times as many are suspended", suspensions),
    ];
    // Who waits for two tasks to end on one node waits longer on even nodes, too.
    if scheduler.preemption != Wait {
        let first_s = rows().next().map_or(f64::NAN, |row| row.run.small_s);
        let over_first =
            |evidence: Evidence, row: &Row| evidence.at_most(&row.name(), row.run.small_s / first_s, SMALL_OVER_EVEN);
        let all = rows().fold(Evidence::default(), over_first);
        claims.push(Claim::new("all scenes", "Small jobs take at most 1.1 times as long as in the first row", all));
    }
    claims.into_iter().map(|claim| claim.under(&scheduler.name())).collect()
}
