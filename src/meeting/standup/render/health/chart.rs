use anyhow::Context as _;
use charts_rs::{Align, ChildChart, Color, LineChart, MarkArea, MarkLineCategory, MultiChart, Series, Symbol, svg_to_png};

use crate::domain::health::StandupFigures;

/// In pixels. A phone shows the picture at a third of its width, so the text is large.
const WIDTH: f32 = 1000.0;
const SHARE_HEIGHT: f32 = 230.0;
const SMALL_HEIGHT: f32 = 140.0;
const DAYS_HEIGHT: f32 = 36.0;
const FONT: f32 = 20.0;
const LABEL: f32 = 17.0;
/// In percent; see STAND-17.
const HEALTHY: [f32; 2] = [30.0, 50.0];

const INK: Color = Color { r: 0x2b, g: 0x33, b: 0x3d, a: 0xff };
const GRID: Color = Color { r: 0xe3, g: 0xe7, b: 0xec, a: 0xff };
const PAPER: Color = Color { r: 0xff, g: 0xff, b: 0xff, a: 0xff };
const BAND: Color = Color { r: 0x3b, g: 0x8f, b: 0x5a, a: 0xff };
const SHARE: Color = Color { r: 0x1f, g: 0x6f, b: 0xb2, a: 0xff };
const WORDS: Color = Color { r: 0x8a, g: 0x4f, b: 0xa3, a: 0xff };
const TIME: Color = Color { r: 0xb8, g: 0x5c, b: 0x1e, a: 0xff };

/// The standups, oldest first, as a PNG picture: how many of their reports said nothing with the healthy band, how long reports were, how long it took.
///
/// The font is the one that the drawing crate brings, so it looks the same on every machine. It has no emoji; only figures and words of ours are drawn.
///
/// # Errors
/// When the picture cannot be drawn; there is no input that is known to cause it.
pub fn draw_health(standups: &[StandupFigures]) -> anyhow::Result<Vec<u8>> {
    let days: Vec<String> = standups.iter().map(|standup| standup.day.format("%-d %b").to_string()).collect();
    let mut share = panel("\"Nothing to report\" per standup (band: healthy, 30–50 %)", &days, SHARE, standups, quiet_percent);
    share.height = SHARE_HEIGHT;
    share.series_list[0].mark_areas = vec![MarkArea {
        from: MarkLineCategory::Value(HEALTHY[0]),
        to: MarkLineCategory::Value(HEALTHY[1]),
        color: Some(BAND),
        opacity: Some(0.2),
    }];
    let axis = &mut share.y_axis_configs[0];
    (axis.min, axis.max, axis.split_number, axis.formatter) = (Some(0.0), Some(100.0), 5, Some("{c} %".to_owned()));
    let words = panel("Words per report", &days, WORDS, standups, words_per_report);
    let mut time = panel("Minutes per standup", &days, TIME, standups, minutes);
    time.x_axis.hidden = false;
    time.height = SMALL_HEIGHT + DAYS_HEIGHT;
    let mut chart = MultiChart::new();
    (chart.gap, chart.margin, chart.background_color, chart.align_plots) = (0.0, 0.0.into(), Some(PAPER), true);
    for panel in [share, words, time] {
        chart.add(ChildChart::Line(panel, None));
    }
    let drawn = chart.svg().context("drawing the health of the standup")?;
    svg_to_png(&drawn).context("turning the health of the standup into a picture")
}

/// One figure of all standups, as a line with a point each. Where a standup has no such figure the line is interrupted.
fn panel(title: &str, days: &[String], color: Color, standups: &[StandupFigures], figure: fn(&StandupFigures) -> Option<f32>) -> LineChart {
    let mut series = Series::new_nullable(title.to_owned(), standups.iter().map(figure).collect());
    series.label_show = true;
    series.symbol = Some(Symbol::Circle(5.0, Some(color)));
    let mut chart = LineChart::new_with_theme(vec![series], days.to_vec(), charts_rs::THEME_LIGHT);
    (chart.width, chart.height, chart.background_color) = (WIDTH, SMALL_HEIGHT, PAPER);
    chart.margin = (12.0, 6.0, 24.0, 6.0).into();
    (chart.series.colors, chart.series.stroke_width) = (vec![color], 3.0);
    (chart.title.text, chart.title.align, chart.title.height) = (title.to_owned(), Align::Left, 30.0);
    (chart.title.font.size, chart.title.font.color) = (FONT, color);
    chart.title.margin = Some(0.0.into());
    chart.legend.show = Some(false);
    (chart.series.label.font.size, chart.series.label.font.color, chart.series.label.formatter) = (LABEL, color, "{c}".to_owned());
    (chart.x_axis.font.size, chart.x_axis.font.color, chart.x_axis.height) = (LABEL, INK, DAYS_HEIGHT);
    chart.x_axis.hidden = true;
    chart.grid.stroke_color = GRID;
    chart.empty_text = Some("No data".to_owned());
    for axis in &mut chart.y_axis_configs {
        (axis.font.size, axis.font.color, axis.min, axis.split_number) = (LABEL, INK, Some(0.0), 2);
    }
    chart
}

#[expect(clippy::cast_precision_loss, reason = "counts of a standup are small")]
fn quiet_percent(standup: &StandupFigures) -> Option<f32> {
    let answered = standup.reports + standup.quiet;
    (answered > 0).then(|| (standup.quiet as f32 * 100.0 / answered as f32).round())
}

#[expect(clippy::cast_precision_loss, reason = "counts of a standup are small")]
fn words_per_report(standup: &StandupFigures) -> Option<f32> {
    (standup.reports > 0).then(|| (standup.words as f32 / standup.reports as f32).round())
}

#[expect(clippy::cast_precision_loss, clippy::unnecessary_wraps, reason = "a standup takes minutes, and each has taken some")]
fn minutes(standup: &StandupFigures) -> Option<f32> {
    Some((standup.seconds as f32 / 6.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::usage::Money;

    fn standup(day: u32, reports: u32, quiet: u32, words: u32, seconds: u64) -> StandupFigures {
        let day = chrono::NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        StandupFigures { day, reports, quiet, skipped: 0, words, useful: 0, not_useful: 0, seconds, cost: Money::ZERO }
    }

    fn size(png: &[u8]) -> (u32, u32) {
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        (number(16), number(20))
    }

    #[test]
    fn fourteen_standups_are_drawn() {
        let standups: Vec<_> =
            (1..15).map(|day| standup(day, 3 + day % 3, day % 4, 150 + 13 * (day % 5), 90 + u64::from(day * 37 % 200))).collect();
        let png = draw_health(&standups).unwrap();
        assert_eq!(size(&png), (1000, 546));
    }

    #[test]
    fn few_standups_and_extreme_ones_are_drawn_too() {
        let nothing_said = standup(2, 0, 0, 0, 0);
        let huge = standup(3, 1, u32::MAX / 2, u32::MAX, u64::MAX);
        for standups in [vec![], vec![nothing_said.clone()], vec![standup(1, 4, 2, 200, 95), nothing_said, huge]] {
            assert_eq!(size(&draw_health(&standups).unwrap()), (1000, 546), "{standups:?}");
        }
    }

    /// The picture is made of the font that comes with the drawing crate: text of it leaves marks where a missing font would leave none.
    #[test]
    fn the_text_is_drawn_without_fonts_of_the_system() {
        assert_eq!(charts_rs::get_font_families().unwrap(), ["Roboto"]);
        let (labelled, bare) = (draw_health(&[standup(1, 4, 2, 200, 95)]).unwrap(), draw_health(&[]).unwrap());
        assert!(labelled.len() > bare.len() && bare.len() > 2000, "{} and {} bytes", labelled.len(), bare.len());
    }
}
