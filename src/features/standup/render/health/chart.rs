use crate::canvas::{BOLD, Canvas, Color, HorizontalAlignment, Position, REGULAR, text_width};
use crate::features::standup::model::health::StandupFigures;
use kernel::figure;

/// In pixels. A phone shows the picture at a third of its width, so the text is large.
const WIDTH: u16 = 1000;
const HEIGHT: u16 = 606;
/// The left and right ends of the lines. The axis labels are to the left.
const LEFT: f32 = 92.0;
const RIGHT: f32 = 972.0;
const TITLE_HEIGHT: f32 = 40.0;
/// Between the axis and its labels.
const GAP: f32 = 12.0;
/// Between a point and the centre of its label.
const LABEL_DISTANCE: f32 = 20.0;
/// The minimum distance between labels in a row.
const LABEL_GAP: f32 = 10.0;

const LINE: f32 = 3.5;
const POINT: f32 = 13.0;
const HOLE: f32 = 6.0;

/// In percent, see STAND-17.
const HEALTHY: [f32; 2] = [30.0, 50.0];

/// One diagram: a title, an axis with `ticks` steps, and a line with a point per standup.
struct Panel {
    title: &'static str,
    unit: &'static str,
    color: Color,
    figure: fn(&StandupFigures) -> Option<f32>,
    /// Top and bottom in the picture.
    plot: [f32; 2],
    ticks: u8,
    /// The end of the axis. `None`: computed from the highest value.
    highest: Option<f32>,
    band: Option<[f32; 2]>,
}

const PANELS: [Panel; 3] = [
    Panel {
        title: "\"Nothing to report\" per standup (band: healthy, 30-50 %)",
        unit: " %",
        color: Color::Blue,
        figure: quiet_percent,
        plot: [54.0, 224.0],
        ticks: 4,
        highest: Some(100.0),
        band: Some(HEALTHY),
    },
    Panel {
        title: "Words per report",
        unit: "",
        color: Color::Purple,
        figure: words_per_report,
        plot: [290.0, 390.0],
        ticks: 2,
        highest: None,
        band: None,
    },
    Panel {
        title: "Minutes per standup",
        unit: "",
        color: Color::Orange,
        figure: minutes,
        plot: [456.0, 556.0],
        ticks: 2,
        highest: None,
        band: None,
    },
];

/// Draws standups, oldest first, as PNG: the share of empty reports with the healthy band, the length of reports, and the duration.
///
/// The font is embedded, so the picture is the same on every machine.
///
/// # Errors
/// The encoder fails, which no known input causes.
pub fn draw_health(standups: &[StandupFigures]) -> anyhow::Result<Vec<u8>> {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    for panel in &PANELS {
        panel.draw(&mut canvas, standups);
    }
    let days: Vec<String> = standups.iter().map(|standup| standup.day.format("%-d %b").to_string()).collect();
    let every = label_step(&days);
    // Counted from the newest standup, so that its day is always shown.
    for (number, day) in days.iter().enumerate().rev().step_by(every) {
        let at = Position(x_of(number, days.len()), f32::from(HEIGHT) - 24.0);
        canvas.text(&REGULAR, day, at, HorizontalAlignment::Center, Color::Text);
    }
    canvas.png()
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas, standups: &[StandupFigures]) {
        let [top, bottom] = self.plot;
        let values: Vec<Option<f32>> = standups.iter().map(self.figure).collect();
        let highest = self.highest.unwrap_or_else(|| axis_end(values.iter().flatten().copied().fold(0.0, f32::max)));
        let height_of = |value: f32| bottom - (bottom - top) * value / highest;

        canvas.text(&BOLD, self.title, Position(GAP, top - TITLE_HEIGHT + 12.0), HorizontalAlignment::Left, self.color);
        if let Some([low, high]) = self.band {
            canvas.rectangle(Position(LEFT, height_of(high)), Position(RIGHT, height_of(low)), Color::Mint);
        }
        for step in 0..=self.ticks {
            let value = highest * f32::from(step) / f32::from(self.ticks);
            let y = height_of(value);
            canvas.line(Position(LEFT, y), Position(RIGHT, y), 1.0, Color::Grid);
            let label = format!("{}{}", format_number(value), self.unit);
            canvas.text(&REGULAR, &label, Position(LEFT - GAP, y), HorizontalAlignment::Right, Color::Text);
        }

        let points: Vec<Option<Position>> = values
            .iter()
            .enumerate()
            .map(|(number, value)| value.map(|value| Position(x_of(number, values.len()), height_of(value))))
            .collect();
        for pair in points.windows(2) {
            if let [Some(from), Some(to)] = pair {
                canvas.line(*from, *to, LINE, self.color);
            }
        }
        for point in points.iter().flatten() {
            canvas.disc(*point, POINT, self.color);
            canvas.disc(*point, HOLE, Color::Paper);
        }
        let labels: Vec<String> = values.iter().map(|value| value.map(format_number).unwrap_or_default()).collect();
        let every = label_step(&labels);
        for (number, label) in labels.iter().enumerate().rev().step_by(every) {
            let Some(Position(x, y)) = points[number] else { continue };
            let below = is_valley(&points, number) && y + LABEL_DISTANCE + 10.0 < bottom;
            let y = if below { y + LABEL_DISTANCE } else { y - LABEL_DISTANCE };
            canvas.text(&REGULAR, label, Position(x, y), HorizontalAlignment::Center, self.color);
        }
    }
}

/// Whether the line rises on both sides of this point. A label above it would cross the line.
fn is_valley(points: &[Option<Position>], number: usize) -> bool {
    let y = |number: Option<usize>| points.get(number?).copied().flatten().map(|Position(_, y)| y);
    let (before, here, after) = (y(number.checked_sub(1)), y(Some(number)), y(number.checked_add(1)));
    let higher = |other: Option<f32>| other.is_none_or(|other| here.is_some_and(|here| other < here));
    (before.is_some() || after.is_some()) && higher(before) && higher(after)
}

/// The x position of a standup: the middle of its share of the width.
#[expect(clippy::cast_precision_loss, reason = "a picture shows some dozens of standups")]
fn x_of(number: usize, of: usize) -> f32 {
    LEFT + (RIGHT - LEFT) * (number as f32 + 0.5) / of as f32
}

/// Shows every label (1), every second (2), and so on, so that they do not overlap.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some dozens of labels, positive")]
fn label_step(labels: &[String]) -> usize {
    let widest = labels.iter().map(|label| text_width(&REGULAR, label)).fold(0.0, f32::max);
    ((widest + LABEL_GAP) * labels.len() as f32 / (RIGHT - LEFT)).ceil().max(1.0) as usize
}

/// The end of the axis: a number that is easy to halve.
fn axis_end(highest: f32) -> f32 {
    let power = 10_f32.powf(highest.max(1.0).log10().floor());
    [1.0, 2.0, 4.0, 5.0, 6.0, 8.0].into_iter().map(|digit| digit * power).find(|end| *end >= highest).unwrap_or(10.0 * power)
}

/// A number with at most four digits.
fn format_number(value: f32) -> String {
    let value = f64::from(value);
    if value >= 1e12 {
        return format!("{value:.0e}");
    }
    let units = [(1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")];
    match units.into_iter().find(|(least, _, _)| value >= *least) {
        Some((_, divisor, unit)) => format!("{:.0}{unit}", value / divisor),
        None => figure::number(value),
    }
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
    use kernel::money::Money;

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
        assert_eq!(size(&png), (u32::from(WIDTH), u32::from(HEIGHT)));
    }

    #[test]
    fn few_standups_and_extreme_ones_are_drawn_too() {
        let nothing_said = standup(2, 0, 0, 0, 0);
        let huge = standup(3, 1, u32::MAX / 2, u32::MAX, u64::MAX);
        for standups in [vec![], vec![nothing_said.clone()], vec![standup(1, 4, 2, 200, 95), nothing_said, huge]] {
            assert_eq!(size(&draw_health(&standups).unwrap()), (u32::from(WIDTH), u32::from(HEIGHT)), "{standups:?}");
        }
    }

    #[test]
    fn each_figure_is_drawn_in_its_colour() {
        let picture = |standups: &[StandupFigures]| draw_health(standups).unwrap();
        let usual = picture(&[standup(1, 4, 2, 200, 95)]);
        let others = [standup(1, 4, 3, 200, 95), standup(1, 4, 2, 300, 95), standup(1, 4, 2, 200, 180), standup(9, 4, 2, 200, 95)];
        for other in others {
            assert_ne!(picture(std::slice::from_ref(&other)), usual, "{other:?}");
        }
    }

    #[test]
    fn the_font_has_all_characters_of_the_titles() {
        assert!(PANELS.iter().all(|panel| panel.title.is_ascii() && panel.unit.is_ascii()));
    }

    #[test]
    fn axes_end_at_round_numbers() {
        let ends = [0.0, 1.0, 1.1, 49.0, 50.0, 51.0, 217.0, 850.0].map(|highest| format_number(axis_end(highest)));
        assert_eq!(ends, ["1", "1", "2", "50", "50", "60", "400", "1000"]);
    }

    #[test]
    fn numbers_stay_short() {
        let shown = [0.0, 3.3, 9999.0, 12_345.0, 2.5e6, 4.3e9, 3e17].map(format_number);
        assert_eq!(shown, ["0", "3.3", "9999", "12k", "2M", "4G", "3e17"]);
    }

    #[test]
    fn labels_that_would_overlap_are_thinned() {
        let labels = |count: usize| vec!["12 Nov".to_owned(); count];
        assert_eq!([labels(3), labels(10), labels(24)].map(|labels| label_step(&labels)), [1, 1, 3]);
    }
}
