//! The plan as a picture: waves from left to right, a box for each step, and lines from what is needed to what needs it.

use crate::canvas::{Canvas, Color, HorizontalAlignment, NAME, Position, SMALL, text_width, wrap};
use crate::features::backlog::model::WorkStatus;
use crate::features::backlog::model::layout::{Corner, Layout, Lengths, Node};
use kernel::ids::WorkItemId;

/// In pixels.
const LENGTHS: Lengths = Lengths { width: 272, height: 92, between_waves: 64, between_boxes: 16, passage: 8, head: 34, margin: 20 };

/// The colour of the state, at the left of a box.
const BAND: f32 = 6.0;
const PADDING: f32 = 18.0;

/// Positions in a box: the middles of the title's lines, the middle of the line below, and the radius of the corners.
const TITLE: [f32; 2] = [20.0, 42.0];
const BELOW: f32 = 72.0;
const RADIUS: f32 = 8.0;

const LINE: f32 = 1.75;
const ARROW: f32 = 9.0;

/// The space between the owner and the state.
const GAP: f32 = 10.0;

/// A step as it is drawn.
#[derive(Debug, Clone)]
pub(in crate::features::mission) struct DrawnStep {
    pub(in crate::features::mission) item: WorkItemId,
    pub(in crate::features::mission) needs: Vec<WorkItemId>,
    pub(in crate::features::mission) title: String,
    pub(in crate::features::mission) owner: String,
    /// None before it is in the backlog.
    pub(in crate::features::mission) status: Option<WorkStatus>,
    /// The kind of its work. Shown until there is a status.
    pub(in crate::features::mission) kind: &'static str,
}

/// Draws steps as PNG.
///
/// # Errors
/// The encoder fails, which no known input causes.
pub(in crate::features::mission) fn draw_graph(steps: &[DrawnStep]) -> anyhow::Result<Vec<u8>> {
    let nodes: Vec<Node<'_>> = steps.iter().map(|step| Node { id: &step.item, needs: &step.needs }).collect();
    let layout = Layout::of(&nodes, &LENGTHS);
    let mut canvas = Canvas::new(clamped(layout.width), clamped(layout.height));
    for (number, left) in (1..).zip(&layout.waves) {
        let at = Position(pixels(*left), pixels(LENGTHS.margin) + 8.0);
        canvas.text(&SMALL, &format!("Wave {number}"), at, HorizontalAlignment::Left, Color::Dim);
    }
    let is_done = |step: usize| steps[step].status == Some(WorkStatus::Done);
    // Lines that leave finished steps lie above the others.
    for done in [false, true] {
        let color = if done { Color::Green } else { Color::Line };
        for line in layout.lines.iter().filter(|line| is_done(line.from) == done) {
            let points: Vec<Position> = line.points.iter().map(|&(x, y)| Position(pixels(x), pixels(y))).collect();
            for (number, pair) in points.windows(2).enumerate() {
                let is_last = number + 2 == points.len();
                let end = if is_last { Position(pair[1].0 - ARROW, pair[1].1) } else { pair[1] };
                canvas.curve(pair[0], end, LINE, color);
                if is_last {
                    canvas.arrowhead(pair[1], ARROW, color);
                }
            }
        }
    }
    for (step, corner) in steps.iter().zip(&layout.boxes) {
        step.draw(&mut canvas, corner);
    }
    canvas.png()
}

impl DrawnStep {
    fn draw(&self, canvas: &mut Canvas, corner: &Corner) {
        let (left, top) = (pixels(corner.left), pixels(corner.top));
        let (right, bottom) = (left + pixels(LENGTHS.width), top + pixels(LENGTHS.height));
        let color = self.status.map_or(Color::Line, color_of);
        canvas.panel(Position(left, top), Position(right, bottom), RADIUS, color, Color::Line);
        canvas.panel(Position(left + BAND, top), Position(right, bottom), RADIUS, Color::Pale, Color::Line);
        let inside = left + PADDING;
        let end = right - PADDING / 2.0;
        let title = wrap(&NAME, &self.title, end - inside, TITLE.len());
        for (line, y) in title.iter().zip(TITLE) {
            canvas.text(&NAME, line, Position(inside, top + y), HorizontalAlignment::Left, Color::Text);
        }
        let state = self.status.map_or_else(|| self.kind.to_owned(), |status| status.as_str().replace('_', " "));
        let color = self.status.map_or(Color::Dim, color_of);
        canvas.text(&SMALL, &state, Position(end, top + BELOW), HorizontalAlignment::Right, color);
        let room = end - inside - text_width(&SMALL, &state) - GAP;
        if let [owner] = wrap(&SMALL, &self.owner, room, 1).as_slice() {
            canvas.text(&SMALL, owner, Position(inside, top + BELOW), HorizontalAlignment::Left, Color::Text);
        }
    }
}

fn color_of(status: WorkStatus) -> Color {
    match status {
        WorkStatus::Done => Color::Green,
        WorkStatus::InProgress => Color::Blue,
        WorkStatus::InReview | WorkStatus::Waiting => Color::Brown,
        WorkStatus::Failed | WorkStatus::Cancelled => Color::Red,
        WorkStatus::New | WorkStatus::Ready | WorkStatus::Blocked => Color::Dim,
    }
}

fn clamped(length: i32) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

fn pixels(length: i32) -> f32 {
    f32::from(clamped(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: usize, needs: &[usize], status: Option<WorkStatus>) -> DrawnStep {
        DrawnStep {
            item: format!("{number:02}").as_str().into(),
            needs: needs.iter().map(|need| format!("{need:02}").as_str().into()).collect(),
            title: "Describe the payment by invoice and what is said in it, for every country".into(),
            owner: "Eliza".into(),
            status,
            kind: "write",
        }
    }

    fn size(png: &[u8]) -> (u32, u32) {
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        (number(16), number(20))
    }

    #[test]
    fn the_same_steps_give_the_same_picture_and_each_state_another() {
        let draw = |status| draw_graph(&[step(0, &[], status), step(1, &[0], None)]).unwrap();
        let plain = draw(None);
        assert_eq!(plain, draw(None));
        assert_eq!(size(&plain), (2 * 272 + 64 + 40, 92 + 34 + 40));
        let mut seen = vec![plain];
        for status in WorkStatus::ALL {
            let drawn = draw(Some(status));
            assert!(!seen.contains(&drawn), "{status:?}");
            seen.push(drawn);
        }
    }

    #[test]
    fn forty_steps_in_eight_waves_are_drawn() {
        let steps: Vec<DrawnStep> = (0..40)
            .map(|number: usize| {
                let status = WorkStatus::ALL[number % WorkStatus::ALL.len()];
                let needs: Vec<usize> = match number {
                    0..5 => Vec::new(),
                    39 => (0..39).collect(),
                    _ => vec![number - 5, (number / 5 - 1) * 5 + (number * 2 + 1) % 5],
                };
                step(number, &needs, Some(status))
            })
            .collect();
        let png = draw_graph(&steps).unwrap();
        let (width, height) = size(&png);
        assert!(width < 3200 && height < 800 && png.len() < 1 << 20, "{width} × {height}, {} bytes", png.len());
    }

    #[test]
    fn any_words_are_drawn() {
        for title in ["", " ", "\u{202e}<b>&\n", "任务", &"x".repeat(5000)] {
            draw_graph(&[DrawnStep { title: title.to_owned(), owner: title.to_owned(), ..step(0, &[], None) }]).unwrap();
        }
        draw_graph(&[]).unwrap();
    }
}
