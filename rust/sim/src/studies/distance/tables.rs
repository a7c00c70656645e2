//! The study's tables and plots.

use super::clairvoyant::Order;
use super::measured::Measured;
use super::parts::{HFSP, STOCK};
use crate::report::{Axis, Cell, Plot, Sample, Series, Table};
use crate::studies::small_and_big::{Run, Scheduler};

/// Each scene by each scheduler, and by the clairvoyant: means over the draws, and the worst draw.
pub(super) fn table(name: &str, title: &str, measured: &[Measured]) -> Table {
    let columns = [
        "scene",
        "load",
        "scheduler",
        "small (s)",
        "big (s)",
        "all (s)",
        "makespan (s)",
        "over the ideal",
        "worst draw",
        "killed",
        "suspensions",
        "suspended (MiB s)",
    ];
    let mut table = Table::new(name, title, &columns);
    for one in measured {
        let head = |who: &str| vec![Cell::from(one.scene.name.as_str()), one.load.into(), who.into()];
        let compared = |over: &Sample| [over.mean(), over.quantile(1.0)].map(Cell::from);
        for scheduler in one.schedulers() {
            let mean = |of: fn(&Run) -> f64| Cell::from(one.sample(scheduler, of).mean());
            let mut row = head(&scheduler.name());
            row.extend([
                mean(|run| run.small_s),
                mean(|run| run.big_s),
                mean(|run| run.mean_s),
                mean(|run| run.makespan_s),
            ]);
            row.extend(compared(&one.over(scheduler, Order::Srpt)));
            row.extend(costs(one, scheduler));
            table.row(row);
        }
        for order in &Order::ALL[1..] {
            let mut row = head(&format!("{}, clairvoyant", order.name()));
            row.extend(["", "", "", ""].map(Cell::from));
            row.extend(compared(&one.bound_over_ideal(*order)));
            row.extend(["", "", ""].map(Cell::from));
            table.row(row);
        }
    }
    table
}

/// Sums over the draws: kills, suspensions, and what those held.
fn costs(one: &Measured, scheduler: Scheduler) -> [Cell; 3] {
    let count = |total: f64| Cell::Count(total as u64);
    [
        count(one.total(scheduler, |run| run.killed)),
        count(one.total(scheduler, |run| run.suspensions)),
        one.total(scheduler, |run| run.suspended_mb_s).into(),
    ]
}

/// The schedulers of plots; those that were not run have no line.
const PLOTTED: [Scheduler; 3] = [HFSP, HFSP.waiting(), STOCK];

/// Mean sojourn over the ideal's, over something of the scenes.
pub(super) fn plot(name: &str, title: &str, x: Axis, measured: &[&Measured], place: impl Fn(&Measured) -> f64) -> Plot {
    let line = |name: String, over: &dyn Fn(&Measured) -> f64| {
        let mut points: Vec<(f64, f64)> = measured.iter().map(|one| (place(one), over(one))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name, points }
    };
    let ran = PLOTTED.into_iter().filter(|scheduler| measured.iter().all(|one| one.has(*scheduler)));
    let mut series: Vec<Series> =
        ran.map(|scheduler| line(scheduler.name(), &|one| one.over(scheduler, Order::Srpt).mean())).collect();
    let bounds = [Order::Fsp, Order::Sjf];
    series.extend(
        bounds.map(|order| line(format!("{}, clairvoyant", order.name()), &|one| one.bound_over_ideal(order).mean())),
    );
    let y = Axis::linear("mean sojourn over the ideal's");
    Plot { name: name.to_owned(), title: title.to_owned(), x, y, series }
}

/// The scene and the draw that are farthest from the ideal under the scheduler, in words.
pub(super) fn worst(scheduler: Scheduler, measured: &[Measured]) -> String {
    let in_mean = measured.iter().map(|one| (one.over(scheduler, Order::Srpt).mean(), one));
    let in_draw = measured.iter().flat_map(|one| {
        let over = one.over(scheduler, Order::Srpt);
        over.values().iter().enumerate().map(|(draw, over)| (*over, draw, one)).collect::<Vec<_>>()
    });
    let Some((mean, row)) = in_mean.max_by(|a, b| a.0.total_cmp(&b.0)) else { return String::new() };
    let Some((over, draw, one)) = in_draw.max_by(|a, b| a.0.total_cmp(&b.0)) else { return String::new() };
    let (name, row, one) = (scheduler.name(), &row.scene.name, &one.scene.name);
    format!("The worst row of {name}: {row}, {mean:.2} of the ideal. The worst draw: {one}, draw {draw}, {over:.2}.")
}
