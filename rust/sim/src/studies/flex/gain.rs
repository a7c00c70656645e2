//! §4.2: FLEX against FAIR on a cluster, maps and reduces, by the average response time (Fig. 6, claims C9 to C11).
//!
//! The paper gives 26 hosts, ten jobs that take about 45 minutes together, a gain of "almost 50 %" if they come at once,
//! and the axes; not the slots, the tasks, how the sizes depend on σ, or how much of the cluster one job can use. Chosen
//! here: two map slots and one reduce slot a host, maps of 30 s and reduces of 60 s on average, one reduce for ten maps,
//! slowstart 0.05 as in Hadoop 0.20, and sizes in equal ratios whose smallest is 10^(−σ/4) of the largest. What one job can
//! use, and how much work there is, are those for which the 45 minutes and the gain at once come out (`flex-6-sizes`);
//! everything else follows. Nothing is preempted there, nor here.

use rand::seq::SliceRandom;
use rand::Rng;

use super::cluster::{draws, outcome, stage};
use super::workload::rng;
use crate::cluster::testbed::{Room, Testbed};
use crate::cluster::{Outcome, Preemption};
use crate::report::{number, Axis, Cell, Claim, Evidence, Report, Sample, Table};
use crate::studies::figure::{add, Curve};
use crate::studies::study::{Setting, Study, StudyError};
use crate::workload::cluster::{Arrivals, Job};

/// Draws of each point.
const DRAWS: usize = 10;
const HOSTS: usize = 26;
const MAPS_PER_HOST: u32 = 2;
const REDUCES_PER_HOST: u32 = 1;
const MAP_S: f64 = 30.0;
const REDUCE_S: f64 = 60.0;
const MAPS_PER_REDUCE: f64 = 10.0;
const SLOWSTART: f64 = 0.05;
/// What the ten jobs take if they come at once, under FAIR.
const TOGETHER_MIN: f64 = 45.0;
/// How often the work is corrected by what it took.
const CORRECTIONS: usize = 3;
/// Parts of the slots that one job may have tasks for.
const BREADTHS: [(f64, &str); 4] = [
    (f64::INFINITY, "the cluster and more"),
    (0.5, "a half of it"),
    (0.375, "three eighths of it"),
    (0.25, "a quarter of it"),
];

pub(super) const FIG_6A: Study =
    Study { id: "flex-6a", title: "Average response, FLEX and FAIR, as the slack varies (FLEX Fig. 6a)", run: slack };
pub(super) const FIG_6B: Study = Study {
    id: "flex-6b",
    title: "Average response, FLEX and FAIR, as the gap between jobs varies (FLEX Fig. 6b)",
    run: gaps,
};
pub(super) const FIG_6C: Study = Study {
    id: "flex-6c",
    title: "Average response, FLEX and FAIR, as the sizes of the jobs differ (FLEX Fig. 6c)",
    run: sizes,
};
pub(super) const SIZES: Study = Study {
    id: "flex-6-sizes",
    title: "Jobs that take 45 minutes together, by how much of the cluster one can use (FLEX §4.2)",
    run: sizing,
};
pub(super) const MORE_JOBS: Study = Study {
    id: "flex-more-jobs",
    title: "Average response, FLEX and FAIR, with 20 and 40 jobs and a mix of 172 (FLEX §4.2)",
    run: more_jobs,
};

/// What an experiment varies.
#[derive(Clone, Copy, Debug)]
struct Shape {
    jobs: Population,
    /// Mean gap between arrivals, exponential, in minutes.
    gap_min: f64,
    /// Part of the slots that no minimum claims.
    slack: f64,
    /// Minutes for which the maps of all jobs keep all map slots busy.
    work_min: f64,
    /// Part of the slots that one job has tasks for; the fewer, the longer they are.
    breadth: f64,
    /// Whether there are reduces.
    reduces: bool,
}

/// Which jobs.
#[derive(Clone, Copy, Debug)]
enum Population {
    /// So many, whose sizes differ by σ.
    Spread(usize, f64),
    /// Like GridMix2's: 172 jobs, of ten six small, three of ten times the size, and one of fifty times.
    Mix,
}

const BASE: Shape = Shape {
    jobs: Population::Spread(10, 1.0),
    gap_min: 0.0,
    slack: 0.95,
    work_min: 29.7,
    breadth: 0.375,
    reduces: true,
};

impl Population {
    /// Maps of each job, in order of arrival, of so many.
    fn maps(self, all_maps: f64, rng: &mut impl Rng) -> Vec<f64> {
        let mut sizes: Vec<f64> = match self {
            Population::Spread(jobs, sigma) => {
                let ratio = |job: usize| -sigma / 4.0 * job as f64 / (jobs - 1) as f64;
                (0..jobs).map(|job| 10f64.powf(ratio(job))).collect()
            }
            Population::Mix => {
                let class = |job: usize| [1.0, 10.0, 50.0][usize::from(job % 10 >= 6) + usize::from(job % 10 == 9)];
                (0..172).map(class).collect()
            }
        };
        let all: f64 = sizes.iter().sum();
        sizes.iter_mut().for_each(|size| *size = (*size / all * all_maps).ceil());
        sizes.shuffle(rng);
        sizes
    }
}

fn draw(shape: Shape, seed: u64, run: u64) -> Vec<Job> {
    let mut rng = rng(seed, run);
    let (map_slots, reduce_slots) =
        (f64::from(HOSTS as u32 * MAPS_PER_HOST), f64::from(HOSTS as u32 * REDUCES_PER_HOST));
    let sizes = shape.jobs.maps(shape.work_min * 60.0 * map_slots / MAP_S, &mut rng);
    let at = Arrivals::Poisson(shape.gap_min * 60.0).draw(sizes.len(), &mut rng);
    let mut stage = |tasks: f64, mean_s: f64, slots: f64, slowstart: f64| {
        let fewer = tasks.min((shape.breadth * slots).ceil());
        stage(fewer, mean_s * tasks / fewer, slowstart, &mut rng)
    };
    let job = |(number, maps): (usize, f64)| {
        let mut stages = vec![stage(maps, MAP_S, map_slots, 1.0)];
        if shape.reduces {
            stages.push(stage((maps / MAPS_PER_REDUCE).ceil(), REDUCE_S, reduce_slots, SLOWSTART));
        }
        Job { stages, ..Job::new(&format!("job{number}")) }.at(at[number])
    };
    sizes.into_iter().enumerate().map(job).collect()
}

/// What becomes of the same jobs under FAIR and under FLEX.
fn under_both(shape: Shape, seed: u64, run: u64) -> Result<[Outcome; 2], StudyError> {
    let jobs = draw(shape, seed, run);
    let under = |policy: &str| {
        let room = Room::Slots { maps: MAPS_PER_HOST, reduces: REDUCES_PER_HOST };
        let testbed = Testbed { nodes: HOSTS, room, ..Testbed::thesis(policy, Preemption::Wait) };
        let knobs = [("flex-slack", shape.slack.to_string())];
        outcome(testbed, &knobs, &jobs, seed)
    };
    Ok([under("fair")?, under("flex")?])
}

fn response_min(outcome: &Outcome) -> f64 {
    outcome.mean_sojourn_s(|_| true) / 60.0
}

/// One point of a figure.
struct Point {
    x: f64,
    fair: Sample,
    flex: Sample,
    gain: Sample,
    /// FAIR's, in minutes.
    makespan: Sample,
}

fn measure(setting: &Setting, label: &str, x: f64, shape: Shape) -> Result<Point, StudyError> {
    let all = draws(setting, label, DRAWS, |run| under_both(shape, setting.seed, run))?;
    let sample = |of: fn(&[Outcome; 2]) -> f64| Sample::new(all.iter().map(of).collect());
    Ok(Point {
        x,
        fair: sample(|[fair, _]| response_min(fair)),
        flex: sample(|[_, flex]| response_min(flex)),
        gain: sample(|[fair, flex]| response_min(fair) / response_min(flex) - 1.0),
        makespan: sample(|[fair, _]| fair.makespan.seconds() / 60.0),
    })
}

/// A row per point.
fn gain_table(name: &str, title: &str, x: &str, points: &[Point]) -> Table {
    let columns = [x, "FAIR (min)", "FLEX (min)", "gain (%)", "half width (95 %)", "draws"];
    let mut table = Table::new(name, title, &columns);
    for point in points {
        table.row(vec![
            point.x.into(),
            point.fair.mean().into(),
            point.flex.mean().into(),
            (100.0 * point.gain.mean()).into(),
            (100.0 * point.gain.half_width()).into(),
            point.gain.len().into(),
        ]);
    }
    table
}

fn report(name: &str, title: &str, x: &str, points: Vec<Point>, claims: Vec<Claim>) -> Report {
    let mut report = Report { claims, ..Report::default() };
    let about = "FAIR's average response over FLEX's, less 1, in %";
    report.tables.push(gain_table(&format!("{name}-gain"), about, x, &points));
    let curve = |name: &str, of: fn(&Point) -> &Sample| Curve {
        name: name.to_owned(),
        points: points.iter().map(|point| (point.x, of(point).clone())).collect(),
    };
    let curves = [curve("FAIR", |point| &point.fair), curve("FLEX", |point| &point.flex)];
    add(&mut report, name, title, Axis::linear(x), Axis::linear("average response (min)"), &curves);
    report.notes.push(
        "Simulated: 26 hosts of 2 map slots and 1 reduce slot, heartbeats of 3 s, FLEX epochs of 500 ms, nothing \
         preempted; what the paper leaves open was chosen, so gains are compared, not minutes."
            .to_owned(),
    );
    report
}

fn gain(point: &Point) -> f64 {
    point.gain.mean()
}

/// FLEX's average response over FAIR's.
fn ratio(point: &Point) -> f64 {
    1.0 / (1.0 + gain(point))
}

fn slack(setting: &Setting) -> Result<Report, StudyError> {
    let mut points = Vec::new();
    for percent in [15.0, 35.0, 55.0, 75.0, 95.0] {
        let shape = Shape { slack: percent / 100.0, ..BASE };
        points.push(measure(setting, &format!("slack {percent} %"), percent, shape)?);
    }
    let (low, high) = (gain(&points[0]), gain(&points[4]));
    let evidence = Evidence::default().at_least("gain at slack 95 %", high, 0.4).below("at 15 %", low, high / 2.0);
    let statement = "The gain over FAIR grows with the slack: at least 40 % at 95 %, at 15 % less than half of that";
    let claims = vec![Claim::new("C9", statement, evidence)];
    Ok(report("fig-6a", "All jobs at once, by slack", "slack (%)", points, claims))
}

fn gaps(setting: &Setting) -> Result<Report, StudyError> {
    let mut points = Vec::new();
    for gap_min in [0.0, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0] {
        points.push(measure(setting, &format!("gap {gap_min} min"), gap_min, Shape { gap_min, ..BASE })?);
    }
    let evidence = Evidence::default().within("FLEX / FAIR at 4 min", ratio(&points[5]), 0.95, 1.05);
    let statement = "The gain vanishes with little overlap: FLEX within 5 % of FAIR at gaps above 3 min";
    let later: Vec<String> = points[6..].iter().map(|p| format!("{} at {} min", number(ratio(p)), p.x)).collect();
    let claims = vec![Claim::new("C10", statement, evidence).remark(format!("FLEX / FAIR is {}", later.join(", ")))];
    Ok(report("fig-6b", "Slack 95 %, by the mean gap between jobs", "mean gap (min)", points, claims))
}

/// What one job may have tasks for, and for each so much work that FAIR takes 45 minutes for all at once.
fn sizing(setting: &Setting) -> Result<Report, StudyError> {
    let columns = [
        "a job has tasks for",
        "work of the maps (min)",
        "FAIR's makespan (min)",
        "gain at once (%)",
        "gain at 4 min (%)",
        "half width (95 %)",
    ];
    let mut table = Table::new("fig-6-sizes", "Jobs that take 45 minutes together", &columns);
    for (breadth, name) in BREADTHS {
        let mut shape = Shape { breadth, work_min: TOGETHER_MIN, ..BASE };
        for _ in 0..CORRECTIONS {
            let spent_min =
                measure(setting, &format!("{name}, {} min", number(shape.work_min)), 0.0, shape)?.makespan.mean();
            shape.work_min *= TOGETHER_MIN / spent_min;
        }
        let at =
            |gap_min: f64| measure(setting, &format!("{name}, gap {gap_min} min"), gap_min, Shape { gap_min, ..shape });
        let (once, apart) = (at(0.0)?, at(4.0)?);
        let gains = [once.gain.mean(), apart.gain.mean(), apart.gain.half_width()].map(|part| Cell::from(100.0 * part));
        let row = [name.into(), shape.work_min.into(), once.makespan.mean().into()];
        table.row(row.into_iter().chain(gains).collect());
    }
    let base = measure(setting, "as chosen", 0.0, BASE)?;
    let evidence = Evidence::default().within("FAIR's makespan (min)", base.makespan.mean(), 43.0, 47.0).within(
        "gain at once",
        gain(&base),
        0.4,
        0.55,
    );
    let statement = "What was chosen is what the paper tells: about 45 minutes together, a gain of almost 50 % at once";
    Ok(Report { tables: vec![table], claims: vec![Claim::new("sizes", statement, evidence)], ..Report::default() })
}

fn sizes(setting: &Setting) -> Result<Report, StudyError> {
    let of = |reduces: bool| -> Result<Vec<Point>, StudyError> {
        let point = |sigma| {
            let shape = Shape { jobs: Population::Spread(10, sigma), reduces, ..BASE };
            measure(setting, &format!("sigma {sigma}"), sigma, shape)
        };
        [0.0, 1.0, 2.0, 3.0, 4.0].into_iter().map(point).collect()
    };
    let (points, maps_only) = (of(true)?, of(false)?);
    let evidence = Evidence::default().at_most("FLEX / FAIR at 4", ratio(&points[4]), 1.02);
    let claims = vec![Claim::new("C11, σ > 3", "FLEX is not worse than FAIR where the sizes differ most", evidence)];
    let x = "σ of the sizes";
    let mut report = report("fig-6c", "All jobs at once, slack 95 %, by σ", x, points, claims);
    report.tables.push(gain_table("fig-6c-maps-only", "The same without reduces", x, &maps_only));
    Ok(report)
}

fn more_jobs(setting: &Setting) -> Result<Report, StudyError> {
    let shape = |jobs| Shape { jobs: Population::Spread(jobs, 1.0), ..BASE };
    // A gap of 8 s: the mix arrives during the first half of the time that its work takes.
    let mix = Shape { jobs: Population::Mix, gap_min: 8.0 / 60.0, ..BASE };
    let points = vec![
        measure(setting, "20 jobs", 20.0, shape(20))?,
        measure(setting, "40 jobs", 40.0, shape(40))?,
        measure(setting, "mix of 172 jobs", 172.0, mix)?,
    ];
    let evidence = Evidence::default()
        .at_least("gain with 20 jobs", gain(&points[0]), 0.15)
        .at_least("with 40 jobs", gain(&points[1]), 0.15)
        .at_least("with the mix of 172", gain(&points[2]), 0.2);
    let statement = "The gain persists: at least 15 % with 20 and 40 jobs (text: 20 %), 20 % with 172 (text: 30 %)";
    let claims = vec![Claim::new("C11", statement, evidence)];
    Ok(report("more-jobs", "Slack 95 %: 20 and 40 jobs at once, and 172 that arrive", "jobs", points, claims))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flex_2_2_jobs_have_the_work_of_the_experiment_and_differ_by_sigma() {
        for (jobs, count) in [(Population::Spread(10, 4.0), 10), (Population::Mix, 172)] {
            let drawn = draw(Shape { jobs, ..BASE }, 1, 0);
            assert_eq!(drawn.len(), count);
            let maps: f64 = drawn.iter().map(|job| job.stages[0].times.total_s()).sum();
            let minutes = maps / f64::from(HOSTS as u32 * MAPS_PER_HOST) / 60.0;
            let more = minutes / BASE.work_min - 1.0;
            assert!((-0.03..0.07).contains(&more), "{minutes}: sizes are rounded up");
        }
        let sizes = Population::Spread(10, 4.0).maps(4680.0, &mut rng(1, 0));
        let (least, most) = (sizes.iter().copied().fold(f64::MAX, f64::min), sizes.iter().copied().fold(0.0, f64::max));
        assert!((9.5..10.5).contains(&(most / least)), "{least} {most}");
    }
}
