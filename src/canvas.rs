//! Draws pictures: shapes and text, as PNG. A picture is drawn larger and scaled down for smooth edges, and is the same on every machine.

use std::convert::Infallible;

use anyhow::Context as _;
use embedded_graphics::pixelcolor::PixelColor;
use embedded_graphics::prelude::{Dimensions, DrawTarget, Drawable, OriginDimensions, Pixel, Point, Primitive, Size};
use embedded_graphics::primitives::{Circle, Line, PrimitiveStyle, PrimitiveStyleBuilder, Rectangle, RoundedRectangle, Triangle};
use u8g2_fonts::FontRenderer;
use u8g2_fonts::fonts::{u8g2_font_fub30_tr, u8g2_font_fur30_tr, u8g2_font_helvB24_te, u8g2_font_helvR18_te};
use u8g2_fonts::types::{FontColor, VerticalPosition};

pub(crate) use u8g2_fonts::types::HorizontalAlignment;

/// Each pixel is the mean of `SCALE` × `SCALE` drawn pixels.
const SCALE: u16 = 2;

/// These two contain only ASCII. Capitals are 15 pixels high in the final picture.
pub(crate) static REGULAR: FontRenderer = FontRenderer::new::<u8g2_font_fur30_tr>().with_ignore_unknown_chars(true);
pub(crate) static BOLD: FontRenderer = FontRenderer::new::<u8g2_font_fub30_tr>().with_ignore_unknown_chars(true);

/// These two contain all Latin letters. Capitals are 12 and 9 pixels high.
pub(crate) static NAME: FontRenderer = FontRenderer::new::<u8g2_font_helvB24_te>().with_ignore_unknown_chars(true);
pub(crate) static SMALL: FontRenderer = FontRenderer::new::<u8g2_font_helvR18_te>().with_ignore_unknown_chars(true);

/// Marks a text that was cut at its end.
const MORE: &str = "...";

/// Replaces a character that a font does not have.
const UNKNOWN: char = '?';

/// The number of straight lines in a curve.
const PIECES: u8 = 24;

/// A position in pixels from the top left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position(pub(crate) f32, pub(crate) f32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Paper,
    /// The background of a box.
    Pale,
    Text,
    Dim,
    Grid,
    Line,
    Mint,
    Blue,
    Purple,
    Orange,
    Green,
    Red,
    Brown,
}

impl PixelColor for Color {
    type Raw = ();
}

impl Color {
    const fn rgb(self) -> [u8; 3] {
        match self {
            Self::Paper => [0xff, 0xff, 0xff],
            Self::Pale => [0xf6, 0xf7, 0xf9],
            Self::Text => [0x2b, 0x33, 0x3d],
            Self::Dim => [0x5b, 0x66, 0x72],
            Self::Grid => [0xe3, 0xe7, 0xec],
            Self::Line => [0xa3, 0xad, 0xb8],
            Self::Mint => [0xd8, 0xe9, 0xde],
            Self::Blue => [0x1f, 0x6f, 0xb2],
            Self::Purple => [0x8a, 0x4f, 0xa3],
            Self::Orange => [0xb8, 0x5c, 0x1e],
            Self::Green => [0x1d, 0x7a, 0x3c],
            Self::Red => [0xa3, 0x26, 0x1d],
            Self::Brown => [0x8a, 0x5a, 0x00],
        }
    }
}

#[derive(Debug)]
pub(crate) struct Canvas {
    size: Size,
    pixels: Vec<Color>,
}

impl Canvas {
    pub(crate) fn new(width: u16, height: u16) -> Self {
        let size = Size::new(u32::from(width), u32::from(height)) * u32::from(SCALE);
        Self { size, pixels: vec![Color::Paper; size.width as usize * size.height as usize] }
    }

    pub(crate) fn line(&mut self, from: Position, to: Position, width: f32, color: Color) {
        let Ok(()) = Line::new(scaled(from), scaled(to)).into_styled(PrimitiveStyle::with_stroke(color, length(width))).draw(self);
    }

    pub(crate) fn disc(&mut self, center: Position, diameter: f32, color: Color) {
        let Ok(()) = Circle::with_center(scaled(center), length(diameter)).into_styled(PrimitiveStyle::with_fill(color)).draw(self);
    }

    pub(crate) fn rectangle(&mut self, top_left: Position, bottom_right: Position, color: Color) {
        let Ok(()) = self.fill_solid(&Rectangle::with_corners(scaled(top_left), scaled(bottom_right)), color);
    }

    /// A box with round corners.
    pub(crate) fn panel(&mut self, top_left: Position, bottom_right: Position, radius: f32, fill: Color, border: Color) {
        let area = Rectangle::with_corners(scaled(top_left), scaled(bottom_right));
        let corner = Size::new(length(radius), length(radius));
        let style = PrimitiveStyleBuilder::new().fill_color(fill).stroke_color(border).stroke_width(u32::from(SCALE)).build();
        let Ok(()) = RoundedRectangle::with_equal_corners(area, corner).into_styled(style).draw(self);
    }

    /// A curve that begins and ends horizontally.
    pub(crate) fn curve(&mut self, from: Position, to: Position, width: f32, color: Color) {
        let middle = f32::midpoint(from.0, to.0);
        let at = |piece: u8| {
            let t = f32::from(piece) / f32::from(PIECES);
            let u = 1.0 - t;
            let bend = 3.0 * t * u * middle;
            let x = u * u * u * from.0 + bend + t * t * t * to.0;
            let y = (u * u * u + 3.0 * u * u * t) * from.1 + (3.0 * u * t * t + t * t * t) * to.1;
            Position(x, y)
        };
        for piece in 0..PIECES {
            self.line(at(piece), at(piece + 1), width, color);
        }
    }

    /// An arrowhead that points to the right, at `tip`.
    pub(crate) fn arrowhead(&mut self, tip: Position, size: f32, color: Color) {
        let [above, below] = [-0.6, 0.6].map(|side| Position(tip.0 - size, tip.1 + side * size));
        let triangle = Triangle::new(scaled(tip), scaled(above), scaled(below));
        let Ok(()) = triangle.into_styled(PrimitiveStyle::with_fill(color)).draw(self);
    }

    /// Draws a line of text, vertically centred at `at`. Characters missing in the font are skipped.
    pub(crate) fn text(&mut self, font: &FontRenderer, text: &str, at: Position, align: HorizontalAlignment, color: Color) {
        // Cannot fail: unknown characters are ignored, no background is drawn, and the canvas has no errors.
        let _ = font.render_aligned(text, scaled(at), VerticalPosition::Center, align, FontColor::Transparent(color), self);
    }

    /// # Errors
    /// The encoder fails, which no known input causes.
    pub(crate) fn png(&self) -> anyhow::Result<Vec<u8>> {
        let scale = u32::from(SCALE);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.size.width / scale, self.size.height / scale);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().context("beginning a picture")?;
        writer.write_image_data(&self.scaled_down()).context("storing a picture")?;
        writer.finish().context("ending a picture")?;
        Ok(file)
    }

    fn scaled_down(&self) -> Vec<u8> {
        let scale = usize::from(SCALE);
        let width = self.size.width as usize;
        let mut bytes = Vec::with_capacity(self.pixels.len() / (scale * scale) * 3);
        for rows in self.pixels.chunks_exact(width * scale) {
            for column in (0..width).step_by(scale) {
                let mut sums = [0_u16; 3];
                for color in rows.chunks_exact(width).flat_map(|row| &row[column..column + scale]) {
                    sums = std::array::from_fn(|channel| sums[channel] + u16::from(color.rgb()[channel]));
                }
                bytes.extend(sums.map(|sum| u8::try_from(sum / (SCALE * SCALE)).unwrap_or(u8::MAX)));
            }
        }
        bytes
    }
}

/// The width of a text in pixels.
pub(crate) fn text_width(font: &FontRenderer, text: &str) -> f32 {
    let dimensions = font.get_rendered_dimensions(text, Point::zero(), VerticalPosition::Center);
    let advance = dimensions.map_or(0, |dimensions| dimensions.advance.x);
    f32::from(u16::try_from(advance).unwrap_or(u16::MAX)) / f32::from(SCALE)
}

/// The text in characters that the font has.
fn drawable(font: &FontRenderer, text: &str) -> String {
    let mut drawn = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_whitespace() => drawn.push(' '),
            _ if text_width(font, c.encode_utf8(&mut [0; 4])) > 0.0 => drawn.push(c),
            '‘' | '’' | '‚' => drawn.push('\''),
            '“' | '”' | '„' => drawn.push('"'),
            '‐' | '‑' | '–' | '—' | '−' => drawn.push('-'),
            '…' => drawn.push_str(MORE),
            _ => drawn.push(UNKNOWN),
        }
    }
    drawn
}

/// The text in lines of at most this width, cut where `lines` are not enough. A character that the font does not have becomes a question mark.
pub(crate) fn wrap(font: &FontRenderer, text: &str, width: f32, lines: usize) -> Vec<String> {
    let fits = |text: &str| text_width(font, text) <= width;
    let text = drawable(font, text);
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = wrapped.last_mut()
            && fits(&format!("{line} {word}"))
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        if wrapped.len() > lines {
            break;
        }
        wrapped.push(String::new());
        for c in word.chars() {
            // A word that is wider than a line is broken.
            if wrapped.len() <= lines && wrapped.last().is_some_and(|line| !line.is_empty() && !fits(&format!("{line}{c}"))) {
                wrapped.push(String::new());
            }
            wrapped.last_mut().expect("one was begun").push(c);
        }
    }
    if wrapped.len() > lines {
        wrapped.truncate(lines);
        if let Some(last) = wrapped.last_mut() {
            while !last.is_empty() && !fits(&format!("{last}{MORE}")) {
                last.pop();
            }
            last.truncate(last.trim_end().len());
            last.push_str(MORE);
        }
    }
    wrapped
}

#[expect(clippy::cast_possible_truncation, reason = "places are within the picture, or cut off by it")]
fn scaled(at: Position) -> Point {
    let coordinate = |value: f32| (value * f32::from(SCALE)).round() as i32;
    Point::new(coordinate(at.0), coordinate(at.1))
}

fn length(pixels: f32) -> u32 {
    scaled(Position(pixels, 0.0)).x.unsigned_abs()
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        self.size
    }
}

impl DrawTarget for Canvas {
    type Color = Color;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Color>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        let area = self.bounding_box();
        for Pixel(place, color) in pixels {
            if area.contains(place) {
                let (x, y) = (place.x.unsigned_abs(), place.y.unsigned_abs());
                self.pixels[(y * self.size.width + x) as usize] = color;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture as rows of pixels.
    fn rows(canvas: &Canvas) -> Vec<Vec<[u8; 3]>> {
        let width = canvas.size.width as usize / usize::from(SCALE);
        canvas.scaled_down().chunks_exact(width * 3).map(|row| row.as_chunks().0.to_vec()).collect()
    }

    #[test]
    fn an_edge_within_a_pixel_is_smooth() {
        let mut canvas = Canvas::new(10, 10);
        canvas.rectangle(Position(2.0, 2.0), Position(4.0, 8.0), Color::Text);
        let row = &rows(&canvas)[4];
        assert_eq!((row[1], row[3]), (Color::Paper.rgb(), Color::Text.rgb()));
        let [red, _, _] = row[4];
        assert!(Color::Text.rgb()[0] < red && red < 255, "{red}");
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        let mut canvas = Canvas::new(10, 10);
        canvas.line(Position(-50.0, 5.0), Position(50.0, 5.0), 2.0, Color::Blue);
        canvas.disc(Position(f32::NAN, 30.0), 4.0, Color::Purple);
        let row = &rows(&canvas)[5];
        assert_eq!((row[0], row[9]), (Color::Blue.rgb(), Color::Blue.rgb()));
    }

    #[test]
    fn text_is_as_wide_as_it_says_and_leaves_out_what_the_font_has_not() {
        let mut canvas = Canvas::new(200, 40);
        canvas.text(&BOLD, "Minutes \u{1f600}", Position(0.0, 20.0), HorizontalAlignment::Left, Color::Orange);
        let rows = rows(&canvas);
        let is_marked = |x: &usize| rows.iter().any(|row| row[*x] != Color::Paper.rgb());
        let last = (0..200).rfind(is_marked).unwrap();
        let width = text_width(&BOLD, "Minutes");
        assert!((width - 6.0..width + 1.0).contains(&f32::from(u16::try_from(last).unwrap())), "{last} of {width}");
    }

    #[test]
    fn a_long_text_is_wrapped_between_words_and_cut_at_the_end() {
        let width = text_width(&NAME, "Describe the payment");
        let wrap = |text: &str| wrap(&NAME, text, width, 2);
        assert_eq!(wrap("Describe the cart"), ["Describe the cart"]);
        assert_eq!(wrap("Describe the payment in full"), ["Describe the payment", "in full"]);
        let cut = wrap(&"Describe the payment ".repeat(9));
        assert!(cut.len() == 2 && cut[1].ends_with("...") && text_width(&NAME, &cut[1]) <= width, "{cut:?}");
        let broken = wrap(&"x".repeat(500));
        assert!(broken.len() == 2 && broken.iter().all(|line| text_width(&NAME, line) <= width), "{broken:?}");
        assert_eq!(wrap("Größe, žluťoučký, \u{65e5}"), ["Größe, žluťoučký, ?"]);
        assert_eq!(wrap("“So” – and…"), ["\"So\" - and..."]);
        assert!(wrap(" \n").is_empty());
    }

    #[test]
    fn a_curve_begins_and_ends_where_it_is_told_to() {
        let mut canvas = Canvas::new(60, 40);
        canvas.curve(Position(5.0, 5.0), Position(55.0, 35.0), 2.0, Color::Line);
        canvas.arrowhead(Position(55.0, 35.0), 8.0, Color::Red);
        let rows = rows(&canvas);
        assert_eq!((rows[5][7], rows[20][30], rows[35][50]), (Color::Line.rgb(), Color::Line.rgb(), Color::Red.rgb()));
        assert_eq!((rows[5][50], rows[35][10]), (Color::Paper.rgb(), Color::Paper.rgb()));
    }

    #[test]
    fn a_panel_has_a_border_and_round_corners() {
        let mut canvas = Canvas::new(40, 40);
        canvas.panel(Position(5.0, 5.0), Position(35.0, 35.0), 6.0, Color::Pale, Color::Text);
        let rows = rows(&canvas);
        assert_eq!((rows[20][20], rows[5][5]), (Color::Pale.rgb(), Color::Paper.rgb()));
        assert!(rows[20][5] != Color::Paper.rgb() && rows[20][5] != Color::Pale.rgb());
    }
}
