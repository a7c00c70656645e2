//! §4.1, Fig. 5: 10 jobs on 100 slots, where the best of all orderings can be had.

use hiatus_core::flex::Metric;

use super::measure::{ratios, Ratio, Ratios, Reference, COLUMNS};
use super::workload::{Shape, BASE};
use crate::report::{number, Axis, Cell, Claim, Evidence, Plot, Report, Series, Table};
use crate::studies::study::{Setting, Study, StudyError};

/// Experiments per point, as in the paper.
const RUNS: usize = 100;

pub(super) const BASE_CASE: Study =
    Study { id: "flex-base", title: "FIFO, FAIR and FLEX over the optimum, base case (FLEX §4.1)", run: base };

pub(super) const FIG_5A: Study =
    Study { id: "flex-5a", title: "Ratios to the optimum as the slack varies (FLEX Fig. 5a)", run: slack };

pub(super) const FIG_5B: Study = Study {
    id: "flex-5b",
    title: "Ratios to the optimum as the number of small jobs varies (FLEX Fig. 5b)",
    run: small,
};

pub(super) const FIG_5C: Study =
    Study { id: "flex-5c", title: "Ratios to the optimum for every metric (FLEX Fig. 5c)", run: metrics };

fn measure(label: &str, shape: Shape, metric: Metric, setting: &Setting) -> Result<Ratios, StudyError> {
    ratios(label, shape, metric, Reference::Optimum, setting.seed, setting.runs(RUNS))
}

/// A table of ratios, one row per point, whose first columns are `what`.
fn table(name: &str, title: &str, what: &[&str], rows: impl Iterator<Item = Vec<Cell>>) -> Table {
    let columns: Vec<&str> = what.iter().copied().chain(COLUMNS).collect();
    let mut table = Table::new(name, title, &columns);
    rows.for_each(|row| table.row(row));
    table
}

fn row(what: Cell, ratios: &Ratios, runs: usize) -> Vec<Cell> {
    [what].into_iter().chain(ratios.cells(runs)).collect()
}

/// The paper's six curves.
fn plot(name: &str, title: &str, x: Axis, points: &[(f64, Ratios)]) -> Plot {
    type Pick = fn(&Ratios) -> Ratio;
    let schemes: [(&str, Pick); 3] = [("FIFO", |r| r.fifo), ("FAIR", |r| r.fair), ("FLEX", |r| r.flex)];
    let line = |scheme: &str, which: &str, value: &dyn Fn(&Ratios) -> f64| Series {
        name: format!("{scheme} {which}"),
        points: points.iter().map(|(x, ratios)| (*x, value(ratios))).collect(),
    };
    let lines = |(scheme, pick): (&str, Pick)| {
        [line(scheme, "mean", &|r| pick(r).mean), line(scheme, "worst", &|r| pick(r).worst)]
    };
    let series = schemes.into_iter().flat_map(lines).collect();
    let y = Axis::linear("value / value of the best ordering");
    Plot { name: name.to_owned(), title: title.to_owned(), x, y, series }
}

fn base(setting: &Setting) -> Result<Report, StudyError> {
    let runs = setting.runs(RUNS);
    let r = measure("base case", BASE, Metric::AvgResponse, setting)?;
    let none = |count: usize| Evidence::default().at_most("violations", count as f64, 0.0);
    let claims = vec![
        Claim::new(
            "C1",
            "FLEX is at most 0.1 % above the optimum, in the worst of 100",
            Evidence::default().at_most("worst", r.flex.worst, 1.001),
        )
        .remark(format!("equal to the optimum in {} of {} runs", r.equal, runs - r.left_out)),
        Claim::new(
            "C2",
            "FAIR is 154 % of the optimum on average, 161 % at worst",
            Evidence::default().within("mean", r.fair.mean, 1.50, 1.58).at_most("worst", r.fair.worst, 1.70),
        ),
        Claim::new(
            "C3",
            "FIFO is 207 % of the optimum on average, 324 % at worst",
            Evidence::default().within("mean", r.fifo.mean, 1.85, 2.15).within("worst", r.fifo.worst, 2.9, 4.2),
        ),
        Claim::new("C8", "every interval keeps minima and maxima and wastes no slot", none(r.violations[0])),
        Claim::new("C13", "every job holds a slot", none(r.violations[1])),
        Claim::new("C14", "FAIR gives FLEX's allocation back when it is its minima", none(r.violations[2])),
    ];
    let title = "Average response time over the optimum: 8 of 10 jobs small, slack 75 %, 100 slots";
    let rows = [row("base case".into(), &r, runs)].into_iter();
    Ok(Report { tables: vec![table("base", title, &["experiment"], rows)], claims, ..Report::default() })
}

fn slack(setting: &Setting) -> Result<Report, StudyError> {
    let percents = [0, 5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 100];
    let mut points = Vec::new();
    for percent in percents {
        let slack = f64::from(percent);
        let shape = Shape { slack: slack / 100.0, ..BASE };
        points.push((slack, measure(&format!("slack {percent} %"), shape, Metric::AvgResponse, setting)?));
    }
    let mut rises = Evidence::default();
    for pair in points.windows(2).filter(|pair| pair[1].0 <= 95.0) {
        let label = format!("FAIR mean at slack {} %", pair[1].0);
        rises = rises.at_least(&label, pair[1].1.fair.mean, pair[0].1.fair.mean);
    }
    let largest = points.iter().map(|(_, r)| r.flex.mean).fold(f64::NAN, f64::max);
    let evidence = rises.at_most("largest FLEX mean", largest, 1.001);
    let claims = vec![Claim::new(
        "C4",
        "FAIR's ratio rises with the slack (0 to 95 %), FLEX stays at the optimum at every slack",
        evidence,
    )];
    let x = Axis::linear("slack (%)");
    let title = "Average response time over the optimum, by slack";
    let rows = points.iter().map(|(slack, r)| row((*slack).into(), r, setting.runs(RUNS)));
    let tables = vec![table("slack", title, &["slack (%)"], rows)];
    Ok(Report { tables, plots: vec![plot("slack", title, x, &points)], claims, ..Report::default() })
}

fn small(setting: &Setting) -> Result<Report, StudyError> {
    let mut points = Vec::new();
    for small in 0..BASE.jobs {
        let shape = Shape { small, ..BASE };
        points.push((small as f64, measure(&format!("{small} small jobs"), shape, Metric::AvgResponse, setting)?));
    }
    let spread = |ratio: Ratio| ratio.worst - ratio.mean;
    let peak = points.iter().max_by(|a, b| a.1.fifo.mean.total_cmp(&b.1.fifo.mean)).map_or(f64::NAN, |p| p.0);
    let mut robust = Evidence::default().within("small jobs where FIFO's mean peaks", peak, 6.0, 9.0);
    let mut flat = Evidence::default();
    for (small, r) in &points {
        robust = robust.above(
            &format!("FIFO worst − mean over FAIR's with {small} small jobs"),
            spread(r.fifo) / spread(r.fair),
            1.0,
        );
        flat = flat.within(&format!("FAIR mean with {small} small jobs"), r.fair.mean, 1.40, 1.70);
    }
    let largest = points.iter().map(|(_, r)| r.flex.mean).fold(f64::NAN, f64::max);
    let claims = vec![
        Claim::new(
            "C5",
            "FIFO is not robust (worst far above average), and at its worst at about 80 % small jobs",
            robust,
        ),
        Claim::new(
            "C6",
            "FAIR is about 50 % above FLEX whatever the share of small jobs, FLEX at the optimum",
            flat.at_most("largest FLEX mean", largest, 1.001),
        ),
    ];
    let x = Axis::linear("small jobs (of 10)");
    let title = "Average response time over the optimum, by small jobs";
    let rows = points.iter().map(|(small, r)| row((*small).into(), r, setting.runs(RUNS)));
    let tables = vec![table("small", title, &["small jobs"], rows)];
    Ok(Report { tables, plots: vec![plot("small", title, x, &points)], claims, ..Report::default() })
}

/// Metrics on which the paper sees FLEX clearly ahead.
const CLEARLY_BETTER: [Metric; 6] = [
    Metric::WeightedResponse,
    Metric::MaxWeightedTardiness,
    Metric::NumberTardy,
    Metric::WeightedNumberTardy,
    Metric::AvgStretch,
    Metric::MaxStretch,
];

fn metrics(setting: &Setting) -> Result<Report, StudyError> {
    let runs = setting.runs(RUNS);
    let mut measured = Vec::new();
    for metric in Metric::ALL {
        measured.push((metric, measure(metric.name(), BASE, metric, setting)?));
    }
    let (mut clearly, mut never_worse) = (Evidence::default(), Evidence::default());
    for (metric, r) in &measured {
        if CLEARLY_BETTER.contains(metric) {
            let text = format!("{metric}: FLEX, with FAIR {} and FIFO {},", number(r.fair.mean), number(r.fifo.mean));
            clearly = clearly.below(&text, r.flex.mean, r.fair.mean.min(r.fifo.mean));
        } else {
            let [_, fair, flex] = r.values;
            never_worse = never_worse.at_most(&format!("{metric}: FLEX"), flex, fair);
        }
    }
    let claims = vec![
        Claim::new(
            "C7",
            "FLEX is better than FAIR and FIFO on average: weighted response, max weighted tardiness, (weighted) \
             number of tardy jobs, average and maximum stretch",
            clearly,
        ),
        Claim::new("C7", "on every other metric FLEX is not worse than FAIR on average (mean values)", never_worse),
    ];
    let title = "Every metric over its optimum: 8 of 10 jobs small, slack 75 %";
    let columns =
        [&["metric"], &COLUMNS[..], &["left out", "FLEX optimal", "FIFO value", "FAIR value", "FLEX value"]].concat();
    let mut table = Table::new("metrics", title, &columns);
    for (metric, r) in &measured {
        let mut cells = row(metric.name().into(), r, runs);
        cells.extend([r.left_out.into(), r.equal.into()]);
        cells.extend(r.values.map(Cell::from));
        table.row(cells);
    }
    let x = Axis::linear("metric (row of the table)");
    let points: Vec<(f64, Ratios)> = (1..).map(f64::from).zip(measured.into_iter().map(|(_, r)| r)).collect();
    let notes = vec![
        "Left out of the ratios, as in the paper: experiments whose optimum is not above 0 (all of average lateness); \
         the values at the right are means of all. FIFO may fall below 1: it ignores the \
         minima. The optimum is the best packing over all orderings."
            .to_owned(),
    ];
    Ok(Report { tables: vec![table], plots: vec![plot("metrics", title, x, &points)], claims, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flex_claims_c1_c2_c3_hold_in_the_base_case() {
        let report = base(&Setting { quick: true, seed: 1 }).expect("valid problems");
        assert_eq!(report.claims.len(), 6);
        for claim in &report.claims {
            assert!(claim.passes, "{}: {}", claim.id, claim.measured);
        }
    }

    #[test]
    fn flex_fig_5_the_same_seed_gives_the_same_ratios() {
        let setting = Setting { quick: true, seed: 5 };
        let measured =
            || format!("{:?}", measure("twice", BASE, Metric::NumberTardy, &setting).expect("valid problems"));
        assert_eq!(measured(), measured());
    }
}
