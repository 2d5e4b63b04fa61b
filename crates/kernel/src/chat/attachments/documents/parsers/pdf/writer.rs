//! Follows the drawing of a page, as far as its text is concerned.

use std::rc::Rc;

use lopdf::{Document, Object};

use super::fonts::{Font, Fonts};
use super::lines::{Lines, Piece};
use crate::chat::attachments::documents::Unreadable;
use crate::chat::attachments::documents::parsers::MAX_TEXT;

/// The limit of graphics states within each other.
const STATES: usize = 256;

/// A transformation: `[a b c d e f]`.
#[derive(Debug, Clone, Copy)]
struct Matrix([f32; 6]);

impl Matrix {
    const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn moved(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// This transformation, and then another one.
    fn then(self, other: Self) -> Self {
        let (one, by) = (self.0, other.0);
        let x = |at: usize| one[at] * by[0] + one[at + 1] * by[2];
        let y = |at: usize| one[at] * by[1] + one[at + 1] * by[3];
        Self([x(0), y(0), x(2), y(2), x(4) + by[4], y(4) + by[5]])
    }
}

/// What `q` keeps and `Q` brings back.
#[derive(Clone)]
struct State<'a> {
    page: Matrix,
    font: Option<Rc<Font<'a>>>,
    size: f32,
    /// Extra space after each character, and after each space.
    spacing: (f32, f32),
    /// How wide characters are drawn: 1 is as they are.
    stretch: f32,
    leading: f32,
    rise: f32,
}

/// Follows operators of a page.
pub(super) struct Writer<'a> {
    fonts: Fonts<'a>,
    state: State<'a>,
    kept: Vec<State<'a>>,
    /// The start of the present line, and the place of the next character.
    line: Matrix,
    text: Matrix,
    lines: Lines,
}

impl<'a> Writer<'a> {
    pub(super) fn new(fonts: Fonts<'a>) -> Self {
        let page = Matrix::IDENTITY;
        let state = State { page, font: None, size: 0.0, spacing: (0.0, 0.0), stretch: 1.0, leading: 0.0, rise: 0.0 };
        Self { fonts, state, kept: Vec::new(), line: page, text: page, lines: Lines::default() }
    }

    pub(super) fn finish(self) -> String {
        self.lines.finish()
    }

    pub(super) fn apply(&mut self, operator: &str, operands: &[Object]) -> Result<(), Unreadable> {
        let number = |at: usize| {
            let number = operands.get(at).and_then(|operand| operand.as_float().ok()).unwrap_or_default();
            if number.is_finite() { number } else { 0.0 }
        };
        let matrix = || Matrix(std::array::from_fn(number));
        match operator {
            "q" if self.kept.len() < STATES => self.kept.push(self.state.clone()),
            "Q" => self.state = self.kept.pop().unwrap_or_else(|| self.state.clone()),
            "cm" => self.state.page = matrix().then(self.state.page),
            "Tf" => {
                let name = operands.first().and_then(|font| font.as_name().ok());
                self.state.font = name.map(|name| self.fonts.get(name)).transpose()?.flatten();
                self.state.size = number(1);
            }
            "Tc" => self.state.spacing.0 = number(0),
            "Tw" => self.state.spacing.1 = number(0),
            "Tz" => self.state.stretch = number(0) / 100.0,
            "TL" => self.state.leading = number(0),
            "Ts" => self.state.rise = number(0),
            "BT" => self.place(Matrix::IDENTITY),
            "Tm" => self.place(matrix()),
            "Td" => self.place(Matrix::moved(number(0), number(1)).then(self.line)),
            "TD" => {
                self.state.leading = -number(1);
                self.place(Matrix::moved(number(0), number(1)).then(self.line));
            }
            "T*" => self.next_line(),
            "Tj" | "TJ" => self.show_all(operands),
            "'" => {
                self.next_line();
                self.show_all(operands);
            }
            "\"" => {
                self.state.spacing = (number(1), number(0));
                self.next_line();
                self.show_all(operands.get(2..).unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    fn place(&mut self, at: Matrix) {
        (self.line, self.text) = (at, at);
    }

    fn next_line(&mut self) {
        self.lines.end_line();
        self.place(Matrix::moved(0.0, -self.state.leading).then(self.line));
    }

    fn show_all(&mut self, objects: &[Object]) {
        for object in objects {
            self.show(object);
        }
    }

    /// Draws a string, or moves by a number, or both as a list says.
    fn show(&mut self, object: &Object) {
        match object {
            Object::String(bytes, _) => self.show_text(bytes),
            Object::Array(pieces) => pieces.iter().filter(|piece| !matches!(piece, Object::Array(_))).for_each(|piece| self.show(piece)),
            other => {
                let gap = other.as_float().unwrap_or_default();
                self.advance(-gap / 1000.0 * self.state.size * self.state.stretch);
            }
        }
    }

    fn advance(&mut self, by: f32) {
        self.text = Matrix::moved(by, 0.0).then(self.text);
    }

    fn show_text(&mut self, bytes: &[u8]) {
        let Some(font) = &self.state.font else { return };
        let text = Document::decode_text(&font.encoding, bytes).unwrap_or_default();
        let State { size, spacing, stretch, .. } = self.state;
        let widths = font.widths(bytes);
        // The space after the last character is not part of it, but the next one is drawn behind it.
        let width =
            |(width, is_space): &(f32, bool)| (width / 1000.0 * size + spacing.0 + if *is_space { spacing.1 } else { 0.0 }) * stretch;
        let all: Option<f32> = widths.map(|widths| widths.iter().map(width).sum());
        let place = Matrix::moved(0.0, self.state.rise).then(self.text).then(self.state.page).0;
        self.advance(all.unwrap_or_default());
        let (scale, height) = (place[0].hypot(place[1]), place[2].hypot(place[3]));
        let (x, y) = (place[4], place[5]);
        let is_drawn = scale > f32::EPSILON && scale.is_finite() && x.is_finite() && y.is_finite();
        if text.is_empty() || !is_drawn || self.lines.len() > MAX_TEXT {
            return;
        }
        let (along, across) = (place[0] / scale, place[1] / scale);
        let start = x * along + y * across;
        let end = all.map(|all| start + all * scale);
        let size = (size * height.max(scale * stretch.abs().min(1.0))).abs();
        self.lines.push(Piece { text, start, end, line: y * along - x * across, direction: (along, across), size });
    }
}
