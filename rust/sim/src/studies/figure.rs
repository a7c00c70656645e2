//! A figure of curves with confidence: the same points as a readable table, a complete table and a plot.

use crate::report::{number, Axis, Plot, Report, Sample, Series, Table};

/// A curve, each point measured in several runs.
#[derive(Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points: place on the horizontal axis, and what was measured there.
    pub points: Vec<(f64, Sample)>,
}

/// Adds a figure to a report: means as a table with a column per curve, everything as a table with a row per point,
/// and a plot of the means. The curves share their places on the horizontal axis.
pub fn add(report: &mut Report, name: &str, title: &str, x: Axis, y: Axis, curves: &[Curve]) {
    let mut columns = vec![x.label.clone()];
    columns.extend(curves.iter().map(|curve| curve.name.clone()));
    let mut means = Table::new(name, &format!("{title}: means of {}", y.label), &columns);
    for (index, (place, _)) in curves.first().map_or(&[][..], |curve| &curve.points).iter().enumerate() {
        let mut row = vec![(*place).into()];
        row.extend(curves.iter().map(|curve| curve.points[index].1.mean().into()));
        means.row(row);
    }
    let columns = ["curve", &x.label, "mean", "half width (95 %)", "median", "runs"];
    let mut details = Table::new(&format!("{name}-details"), &format!("{title}: {}", y.label), &columns);
    for curve in curves {
        for (place, sample) in &curve.points {
            let (mean, half_width, median) = (sample.mean(), sample.half_width(), sample.median());
            let name = curve.name.as_str().into();
            details.row(vec![
                name,
                (*place).into(),
                mean.into(),
                half_width.into(),
                median.into(),
                sample.len().into(),
            ]);
        }
    }
    let line = |curve: &Curve| Series {
        name: curve.name.clone(),
        points: curve.points.iter().map(|(place, sample)| (*place, sample.mean())).collect(),
    };
    let series = curves.iter().map(line).collect();
    report.plots.push(Plot { name: name.to_owned(), title: title.to_owned(), x, y, series });
    report.tables.extend([means, details]);
}

/// Names a point in the evidence for a claim.
pub fn at(what: &str, coordinate: &str, value: f64) -> String {
    format!("{what} at {coordinate} {}", number(value))
}
