//! Jobs that are alike and arrive together, under policies with sizes: whether they end one after the other, as under `fifo`. Not published
//! anywhere. HFSP's promise is that no job ends later than under equal sharing; it is broken first where jobs are alike.

use crate::cluster::testbed::Testbed;
use crate::cluster::Preemption::{Suspend, Wait};
use crate::cluster::SimulationError;
use crate::report::{Cell, Claim, Evidence, Report, Table};
use crate::studies::ensemble::chance;
use crate::studies::small_and_big::{self, tasks, Run, Scheduler};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{secs, Job, Stage};
use hiatus_core::settings::CLUSTER_PREFIX;
use hiatus_core::units::Resource;

/// Jobs end in the mean so many times as late as under `fifo`, at most.
const OVER_FIFO: f64 = 1.03;
/// What is guessed of a task before any was seen changes the mean by such a part at most.
const BY_GUESS: f64 = 0.01;

/// Of jobs whose tasks' times have a spread; the others are the same in every draw.
const DRAWS: u64 = 10;
/// Between two arrivals, in seconds.
const GAP_S: u64 = 2;
const NODES: usize = 4;
/// Containers of a node.
const PLACES: i64 = 4;
/// An ApplicationMaster takes no task's room.
const MASTER: Resource = Resource { memory_mb: 1, vcores: 0 };
const TASK: Resource = Resource { memory_mb: 512, vcores: 0 };

const FIFO: Scheduler = Scheduler::of("fifo", Wait);
const FAIR: Scheduler = Scheduler::of("fair", Wait);
/// Those that know sizes.
const WITH_SIZES: [Scheduler; 6] = [
    Scheduler::of("hfsp", Wait),
    Scheduler::of("hfsp", Suspend),
    Scheduler::of("srpt", Wait),
    Scheduler::of("srpt", Suspend),
    Scheduler::of("flex", Wait),
    Scheduler::of("flex", Suspend),
];

pub(super) const LIKE_JOBS: Study = Study {
    id: "like-jobs",
    title: "Jobs that are alike, one after the other (cluster simulator, not published)",
    run,
};

/// Jobs that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Likes {
    jobs: u64,
    /// Tasks of each, and what one takes in the mean, in seconds; each phase is asked for when the one before it is done.
    phases: &'static [(u32, f64)],
    /// Each task's time is within so much of its mean, as a part of it.
    spread: f64,
    /// What is guessed of a task, in seconds; what is shipped if none.
    guess_s: Option<u64>,
}

const fn likes(jobs: u64, phases: &'static [(u32, f64)], spread: f64) -> Likes {
    Likes { jobs, phases, spread, guess_s: None }
}

/// Three short jobs, of which something is guessed.
const GUESSED: [Likes; 3] = [
    likes(3, &[(21, 200.0)], 0.0),
    Likes { guess_s: Some(1), ..likes(3, &[(21, 200.0)], 0.0) },
    Likes { guess_s: Some(3_600), ..likes(3, &[(21, 200.0)], 0.0) },
];
/// Those of the first look.
const FIRST: [Likes; 6] = [
    likes(3, &[(21, 20.0)], 0.0),
    likes(3, &[(21, 50.0)], 0.0),
    likes(3, &[(21, 70.0)], 0.0),
    likes(3, &[(21, 900.0)], 0.0),
    likes(6, &[(32, 20.0)], 0.0),
    likes(8, &[(40, 150.0)], 0.3),
];
const OTHERS: [Likes; 17] = [
    likes(6, &[(32, 200.0)], 0.0),
    likes(3, &[(160, 20.0)], 0.0),
    likes(6, &[(21, 900.0)], 0.5),
    likes(10, &[(16, 20.0)], 0.0),
    likes(20, &[(16, 60.0)], 0.0),
    likes(20, &[(32, 5.0)], 0.0),
    likes(20, &[(80, 60.0)], 0.5),
    likes(6, &[(5, 200.0)], 0.0),
    likes(4, &[(1_600, 5.0)], 0.0),
    likes(2, &[(100, 3_600.0)], 0.0),
    likes(3, &[(21, 20.0), (8, 20.0)], 0.0),
    likes(3, &[(21, 70.0), (16, 200.0)], 0.3),
    likes(6, &[(32, 100.0), (8, 30.0)], 0.3),
    likes(6, &[(32, 100.0), (8, 300.0)], 0.5),
    likes(10, &[(40, 30.0), (5, 120.0)], 0.2),
    likes(10, &[(40, 300.0), (10, 60.0)], 0.2),
    likes(20, &[(16, 5.0), (4, 5.0)], 0.3),
];

impl Likes {
    fn name(&self) -> String {
        let phases: Vec<String> = self.phases.iter().map(|(count, mean_s)| format!("{count} of {mean_s} s")).collect();
        let spread = if self.spread > 0.0 { format!(", ± {:.0} %", 100.0 * self.spread) } else { String::new() };
        let guess = self.guess_s.map(|guess_s| format!(", guessed {guess_s} s")).unwrap_or_default();
        format!("{} × {}{spread}{guess}", self.jobs, phases.join(", "))
    }

    /// The longest task, in seconds.
    fn longest_s(&self) -> f64 {
        self.phases.iter().map(|(_, mean_s)| mean_s * (1.0 + self.spread)).fold(0.0, f64::max)
    }

    fn draws(&self) -> u64 {
        if self.spread > 0.0 {
            DRAWS
        } else {
            1
        }
    }

    fn draw(&self, seed: u64, draw: u64) -> Vec<Job> {
        let mut rng = chance(seed, draw);
        let mut stage = |(count, mean_s): (u32, f64)| {
            let times = tasks(count, mean_s, self.spread, &mut rng);
            Stage { times, size: TASK, partition: None, slowstart: 1.0 }
        };
        let job = |number: u64| {
            let job = Job { master: MASTER, ..Job::new(&format!("job {number}")).at(secs(GAP_S * number)) };
            self.phases.iter().fold(job, |job, phase| job.stage(stage(*phase)))
        };
        (0..self.jobs).map(job).collect()
    }

    fn run(&self, scheduler: Scheduler, seed: u64, draw: u64) -> Result<Run, SimulationError> {
        let guess = self.guess_s.map(|guess_s| (format!("{CLUSTER_PREFIX}default-task-ms"), format!("{guess_s}000")));
        let node_mb = PLACES * TASK.memory_mb + self.jobs as i64 * MASTER.memory_mb;
        let shipped = scheduler.testbed(NODES, Resource::new(node_mb, PLACES + 1));
        let testbed = Testbed { properties: guess.into_iter().collect(), ..shipped };
        Ok(Run::of(&testbed.world(&self.draw(seed, draw), seed)?.finish()?.outcome()))
    }
}

/// Jobs that were run: in each draw by `fifo`, and by each scheduler.
#[derive(Debug)]
struct Row {
    likes: Likes,
    fifo: Vec<Run>,
    runs: Vec<(Scheduler, Vec<Run>)>,
}

/// A measure of a scheduler in a row: of its draws, and those by `fifo`.
type Measure = fn(&[Run], &[Run]) -> f64;

/// Mean sojourn over that under `fifo`, in the mean of all draws.
fn over_fifo(runs: &[Run], fifo: &[Run]) -> f64 {
    ratios(runs, fifo).sum::<f64>() / runs.len() as f64
}

/// The same in the worst draw.
fn worst_over_fifo(runs: &[Run], fifo: &[Run]) -> f64 {
    ratios(runs, fifo).fold(f64::NAN, f64::max)
}

fn ratios<'a>(runs: &'a [Run], fifo: &'a [Run]) -> impl Iterator<Item = f64> + 'a {
    runs.iter().zip(fifo).map(|(run, fifo)| run.mean_s / fifo.mean_s)
}

/// By how many seconds the last job ends later than under `fifo`, in the worst draw.
fn later_s(runs: &[Run], fifo: &[Run]) -> f64 {
    runs.iter().zip(fifo).map(|(run, fifo)| run.makespan_s - fifo.makespan_s).fold(f64::NAN, f64::max)
}

impl Row {
    /// A measure under that scheduler.
    fn under(&self, scheduler: Scheduler, of: Measure) -> f64 {
        let runs = self.runs.iter().find(|(other, _)| *other == scheduler);
        runs.map_or(f64::NAN, |(_, runs)| of(runs, &self.fifo))
    }
}

fn run(setting: &Setting) -> Result<Report, StudyError> {
    let with_sizes = if setting.quick { &WITH_SIZES[..2] } else { &WITH_SIZES[..] };
    let others: &[Likes] = if setting.quick { &[] } else { &OTHERS };
    let all: Vec<Likes> = FIRST.iter().chain(&GUESSED).chain(others).copied().collect();
    let rows = measure(&all, with_sizes, setting.seed)?;
    let claims = with_sizes.iter().flat_map(|scheduler| claims(*scheduler, &rows)).collect();
    let notes = vec![
        "Simulated, settings as they are shipped; four nodes of four containers, and room for ApplicationMasters beside them. Jobs come \
         2 s apart, nothing else runs. *Over `fifo`*: mean sojourn over that under `fifo`. Where tasks' times have a spread, ten draws, the same in all columns."
            .to_owned(),
    ];
    let last_end = "When the last job ends: by how many seconds later than under `fifo`, in the worst draw";
    let drawn: Vec<&Row> = rows.iter().filter(|row| row.likes.draws() > 1).collect();
    let all: Vec<&Row> = rows.iter().collect();
    let tables = vec![
        table("like-jobs", "Mean sojourn over that under `fifo`", &all, |run| run.mean_s, over_fifo),
        table("worst-draw", "The same in the worst of ten draws", &drawn, |run| run.mean_s, worst_over_fifo),
        table("last-end", last_end, &all, |run| run.makespan_s, later_s),
    ];
    Ok(Report { tables, claims, notes, ..Report::default() })
}

fn measure(all: &[Likes], with_sizes: &[Scheduler], seed: u64) -> Result<Vec<Row>, StudyError> {
    let schedulers: Vec<Scheduler> = [FIFO, FAIR].into_iter().chain(with_sizes.iter().copied()).collect();
    let drawn = |likes: Likes, scheduler| (0..likes.draws()).map(move |draw| (likes, scheduler, draw));
    let of_row =
        |likes: &Likes| schedulers.iter().flat_map(move |scheduler| drawn(*likes, *scheduler)).collect::<Vec<_>>();
    let planned: Vec<(Likes, Scheduler, u64)> = all.iter().flat_map(of_row).collect();
    let run = |number: u64| {
        let (likes, scheduler, draw) = planned[number as usize];
        likes.run(scheduler, seed, draw)
    };
    let mut runs = small_and_big::runs("like-jobs", planned.len(), run)?.into_iter();
    let row = |likes: &Likes| {
        let mut draws = || runs.by_ref().take(likes.draws() as usize).collect::<Vec<_>>();
        Row {
            likes: *likes,
            fifo: draws(),
            runs: schedulers[1..].iter().map(|scheduler| (*scheduler, draws())).collect(),
        }
    };
    Ok(all.iter().map(row).collect())
}

fn table(name: &str, title: &str, rows: &[&Row], of_fifo: fn(&Run) -> f64, of: Measure) -> Table {
    let head = ["jobs", "fifo (s)"].map(str::to_owned).into_iter();
    let schedulers = rows.iter().take(1).flat_map(|row| &row.runs).map(|(scheduler, _)| scheduler.name());
    let columns: Vec<String> = head.chain(schedulers).collect();
    let mut table = Table::new(name, title, &columns);
    for row in rows {
        let fifo = row.fifo.iter().map(of_fifo).sum::<f64>() / row.fifo.len() as f64;
        let head = [Cell::Text(row.likes.name()), fifo.into()];
        table.row(head.into_iter().chain(row.runs.iter().map(|(_, runs)| of(runs, &row.fifo).into())).collect());
    }
    table
}

fn claims(scheduler: Scheduler, rows: &[Row]) -> Vec<Claim> {
    let worst = |of: &dyn Fn(&Row) -> f64, bound: f64| {
        let (name, value) = rows
            .iter()
            .map(|row| (row.likes.name(), of(row)))
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .unwrap_or((String::new(), f64::NAN));
        Evidence::default().at_most(&format!("worst: {name}"), value, bound)
    };
    let mean = worst(&|row| row.under(scheduler, over_fifo), OVER_FIFO);
    let last = worst(&|row| row.under(scheduler, later_s) / row.likes.longest_s(), 1.0);
    let guess = rows.iter().fold(Evidence::default(), |evidence, row| {
        let shipped = Likes { guess_s: None, ..row.likes };
        let unguessed = rows.iter().find(|other| other.likes == shipped);
        match (row.likes.guess_s, unguessed) {
            (Some(_), Some(unguessed)) => {
                let [guessed, shipped] = [row, unguessed].map(|row| row.under(scheduler, over_fifo));
                let ratio = guessed / shipped;
                evidence.within(&row.likes.name(), ratio, 1.0 - BY_GUESS, 1.0 + BY_GUESS)
            }
            _ => evidence,
        }
    });
    let claims = [
        Claim::new(
            "mean",
            "The mean is at most 1.03 times that of `fifo`, in the mean of ten draws where times have a spread",
            mean,
        ),
        Claim::new(
            "last end",
            "The last job ends later than under `fifo` by the longest task at most, in every draw",
            last,
        ),
        Claim::new("guess", "What is guessed of a task before any was seen changes the mean by 1 % at most", guess),
    ];
    claims.map(|claim| claim.under(&scheduler.name())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_named_after_what_they_are_of_and_come_one_after_the_other() {
        let jobs = Likes { guess_s: Some(1), ..likes(3, &[(21, 70.0), (16, 200.0)], 0.3) };
        assert_eq!(jobs.name(), "3 × 21 of 70 s, 16 of 200 s, ± 30 %, guessed 1 s");
        assert_eq!(jobs.longest_s(), 260.0);
        let drawn = jobs.draw(1, 0);
        assert_eq!(drawn.iter().map(|job| job.at.seconds()).collect::<Vec<_>>(), [0.0, 2.0, 4.0]);
        assert_eq!(drawn[0].stages.iter().map(|stage| stage.times.count()).collect::<Vec<_>>(), [21, 16]);
    }
}
