//! A schedule as a picture: time across, slots up, one colour per job.

use std::io;

use hiatus_core::flex::Schedule;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Pixels, width and height.
const SIZE: (u32, u32) = (960, 540);
/// A rectangle narrower or lower than this share of the picture has no room for its job's name.
const NAMED_FROM: (f64, f64) = (0.035, 0.04);

/// Draws the slots each job holds over time, stacked in priority order.
pub(super) fn draw(
    title: &str,
    ids: &[String],
    slots: u32,
    order: &[usize],
    schedule: &Schedule,
) -> io::Result<String> {
    let mut svg = String::new();
    try_draw(&mut svg, title, ids, slots, order, schedule).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(svg)
}

fn try_draw(
    svg: &mut String,
    title: &str,
    ids: &[String],
    slots: u32,
    order: &[usize],
    schedule: &Schedule,
) -> Result<(), Box<dyn std::error::Error>> {
    let end = schedule.intervals.last().map_or(1.0, |interval| interval.end);
    let top = f64::from(slots.max(1));
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    chart.configure_mesh().disable_mesh().x_desc("time (s)").y_desc("slots").draw()?;
    let name_style = ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Center));
    for interval in &schedule.intervals {
        let mut bottom = 0.0;
        for &job in order {
            let height = f64::from(interval.slots[job]);
            if height == 0.0 {
                continue;
            }
            let corners = [(interval.start, bottom), (interval.end, bottom + height)];
            chart.draw_series([Rectangle::new(corners, colour(job).filled())])?;
            chart.draw_series([Rectangle::new(corners, WHITE.stroke_width(1))])?;
            let width = interval.end - interval.start;
            if width >= NAMED_FROM.0 * end && height >= NAMED_FROM.1 * top {
                let middle = ((interval.start + interval.end) / 2.0, bottom + height / 2.0);
                chart.draw_series([Text::new(ids[job].clone(), middle, name_style.clone())])?;
            }
            bottom += height;
        }
    }
    area.present()?;
    Ok(())
}

/// Hues a golden angle apart, so that neighbours differ.
fn colour(job: usize) -> HSLColor {
    HSLColor((job as f64 * 0.618_034).fract(), 0.55, 0.70)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hiatus_core::flex::Interval;

    #[test]
    fn a_schedule_is_drawn_with_its_jobs() {
        let intervals = vec![
            Interval { start: 0.0, end: 2.0, slots: vec![3, 1] },
            Interval { start: 2.0, end: 3.0, slots: vec![0, 4] },
        ];
        let schedule = Schedule { intervals, completion: vec![2.0, 3.0] };
        let svg = draw("avg-response 2.5", &["wc".to_owned(), "sort".to_owned()], 4, &[0, 1], &schedule).unwrap();
        // Three allocations, each filled and framed, on a background.
        assert_eq!(svg.matches("<rect").count(), 7, "{svg}");
        assert_eq!((svg.matches("\nwc\n").count(), svg.matches("\nsort\n").count()), (1, 2));
    }

    #[test]
    fn a_schedule_of_nothing_is_drawn_empty() {
        let nothing = Schedule { intervals: Vec::new(), completion: Vec::new() };
        assert!(draw("t", &[], 0, &[], &nothing).unwrap().starts_with("<svg"));
    }
}
