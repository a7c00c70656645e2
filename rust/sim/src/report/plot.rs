//! Line plots as SVG.

use std::io;
use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// How values become positions on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Proportional.
    Linear,
    /// By decimal logarithm: values that are not positive are left out.
    Log,
}

impl Scale {
    fn place(self, value: f64) -> Option<f64> {
        let place = match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        };
        place.is_finite().then_some(place)
    }

    /// Places for grid lines from `low` to `high`, at round values.
    fn ticks(self, low: f64, high: f64) -> Vec<f64> {
        let multiples = |step: f64| {
            let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
            (first..=last).map(move |k| k as f64 * step)
        };
        match self {
            Scale::Linear => {
                let magnitude = 10f64.powf(((high - low) / 10.0).log10().ceil());
                let steps = [magnitude / 5.0, magnitude / 2.0, magnitude];
                let step = steps.into_iter().find(|step| (high - low) / step <= 10.0).unwrap_or(magnitude);
                multiples(step).collect()
            }
            // Over few decades 2 and 5 too, over many not even every power of ten.
            Scale::Log if high - low <= 3.0 => {
                let decades = low.floor() as i32..=high.floor() as i32;
                let round =
                    decades.flat_map(|decade| [1.0f64, 2.0, 5.0].map(|digit| digit.log10() + f64::from(decade)));
                round.filter(|tick| (low..=high).contains(tick)).collect()
            }
            Scale::Log => multiples(((high - low) / 10.0).ceil()).collect(),
        }
    }

    fn label(self, place: f64) -> String {
        match self {
            Scale::Linear => super::number(place),
            Scale::Log => super::number(10f64.powf(place)),
        }
    }
}

/// A labelled axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// Quantity and unit.
    pub label: String,
    /// Its scale.
    pub scale: Scale,
}

impl Axis {
    /// An axis in proportion.
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.to_owned(), scale: Scale::Linear }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Axis {
        Axis { label: label.to_owned(), scale: Scale::Log }
    }
}

/// One line of a plot.
#[derive(Debug, Clone)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in drawing order.
    pub points: Vec<(f64, f64)>,
}

/// Lines over two axes.
#[derive(Debug, Clone)]
pub struct Plot {
    /// Name of its file.
    pub name: String,
    /// What the reader sees above it.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// Pixels, width and height.
const SIZE: (u32, u32) = (860, 520);

impl Plot {
    /// Draws it. Fails only if the drawing library does.
    pub fn to_svg(&self) -> io::Result<String> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let lines: Vec<Vec<(f64, f64)>> = self.series.iter().map(|series| self.place(series)).collect();
        let (x_range, y_range) = (range(&lines, |point| point.0), range(&lines, |point| point.1));
        let text = ("sans-serif", 15).into_font();
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(64)
            .build_cartesian_2d(Ruled::new(x_range, self.x.scale), Ruled::new(y_range, self.y.scale))?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(text.clone())
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .x_label_formatter(&|place| self.x.scale.label(*place))
            .y_label_formatter(&|place| self.y.scale.label(*place))
            .draw()?;
        for (index, (series, line)) in self.series.iter().zip(lines).enumerate() {
            let style = Palette99::pick(index).stroke_width(2);
            chart
                .draw_series(LineSeries::new(line, style))?
                .label(&series.name)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font(text)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        area.present()?;
        Ok(())
    }

    fn place(&self, series: &Series) -> Vec<(f64, f64)> {
        let place = |&(x, y): &(f64, f64)| Some((self.x.scale.place(x)?, self.y.scale.place(y)?));
        series.points.iter().filter_map(place).collect()
    }
}

/// An axis with grid lines where [`Scale::ticks`] wants them: the drawing library would put those of a logarithm at
/// equal steps of it.
struct Ruled {
    range: RangedCoordf64,
    ticks: Vec<f64>,
}

impl Ruled {
    fn new(range: Range<f64>, scale: Scale) -> Ruled {
        Ruled { ticks: scale.ticks(range.start, range.end), range: range.into() }
    }
}

impl Ranged for Ruled {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.range.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.range()
    }
}

/// The range of one coordinate, widened a little; never empty.
fn range(lines: &[Vec<(f64, f64)>], coordinate: fn(&(f64, f64)) -> f64) -> Range<f64> {
    let values = || lines.iter().flatten().map(coordinate);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return 0.0..1.0;
    }
    let margin = if high > low { 0.04 * (high - low) } else { 0.5 };
    low - margin..high + margin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_lines_are_at_round_values() {
        let labels = |scale: Scale, low: f64, high: f64| -> Vec<String> {
            scale.ticks(low, high).into_iter().map(|tick| scale.label(tick)).collect()
        };
        assert_eq!(labels(Scale::Linear, 0.5, 1.01), ["0.5", "0.6", "0.7", "0.8", "0.9", "1"]);
        assert_eq!(labels(Scale::Linear, -3.0, 41.0), ["0", "5", "10", "15", "20", "25", "30", "35", "40"]);
        assert_eq!(labels(Scale::Log, -1.0, 0.65), ["0.1", "0.2", "0.5", "1", "2"]);
        assert_eq!(labels(Scale::Log, -6.2, 6.1), ["1e-6", "0.0001", "0.01", "1", "100", "10000", "1000000"]);
    }

    #[test]
    fn a_plot_leaves_out_what_a_log_axis_cannot_show() {
        let points = vec![(0.0, 1.0), (1.0, 10.0), (10.0, f64::NAN), (100.0, 1000.0)];
        let series = vec![Series { name: "ps".to_owned(), points }];
        let (x, y) = (Axis::log("size"), Axis::log("slowdown"));
        let plot = Plot { name: "p".to_owned(), title: "P".to_owned(), x, y, series };
        assert_eq!(plot.place(&plot.series[0]), [(0.0, 1.0), (2.0, 3.0)]);
        let svg = plot.to_svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("slowdown") && svg.contains("\nps\n"), "{svg}");
    }
}
