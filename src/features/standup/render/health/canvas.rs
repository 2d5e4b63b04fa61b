//! Draws shapes and text. The picture is drawn larger and scaled down for smooth edges.

use std::convert::Infallible;

use anyhow::Context as _;
use embedded_graphics::pixelcolor::PixelColor;
use embedded_graphics::prelude::{Dimensions, DrawTarget, Drawable, OriginDimensions, Pixel, Point, Primitive, Size};
use embedded_graphics::primitives::{Circle, Line, PrimitiveStyle, Rectangle};
use u8g2_fonts::FontRenderer;
use u8g2_fonts::fonts::{u8g2_font_fub30_tr, u8g2_font_fur30_tr};
use u8g2_fonts::types::{FontColor, HorizontalAlignment, VerticalPosition};

/// Each pixel is the mean of `SCALE` × `SCALE` drawn pixels.
const SCALE: u16 = 2;

/// Both fonts contain only ASCII. Capitals are 15 pixels high in the final picture.
pub(super) static REGULAR: FontRenderer = FontRenderer::new::<u8g2_font_fur30_tr>().with_ignore_unknown_chars(true);
pub(super) static BOLD: FontRenderer = FontRenderer::new::<u8g2_font_fub30_tr>().with_ignore_unknown_chars(true);

/// A position in pixels from the top left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position(pub(super) f32, pub(super) f32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    Paper,
    Text,
    Grid,
    Band,
    Share,
    Words,
    Minutes,
}

impl PixelColor for Color {
    type Raw = ();
}

impl Color {
    const fn rgb(self) -> [u8; 3] {
        match self {
            Self::Paper => [0xff, 0xff, 0xff],
            Self::Text => [0x2b, 0x33, 0x3d],
            Self::Grid => [0xe3, 0xe7, 0xec],
            Self::Band => [0xd8, 0xe9, 0xde],
            Self::Share => [0x1f, 0x6f, 0xb2],
            Self::Words => [0x8a, 0x4f, 0xa3],
            Self::Minutes => [0xb8, 0x5c, 0x1e],
        }
    }
}

#[derive(Debug)]
pub(super) struct Canvas {
    size: Size,
    pixels: Vec<Color>,
}

impl Canvas {
    pub(super) fn new(width: u16, height: u16) -> Self {
        let size = Size::new(u32::from(width), u32::from(height)) * u32::from(SCALE);
        Self { size, pixels: vec![Color::Paper; size.width as usize * size.height as usize] }
    }

    pub(super) fn line(&mut self, from: Position, to: Position, width: f32, color: Color) {
        let Ok(()) = Line::new(scaled(from), scaled(to)).into_styled(PrimitiveStyle::with_stroke(color, length(width))).draw(self);
    }

    pub(super) fn disc(&mut self, center: Position, diameter: f32, color: Color) {
        let Ok(()) = Circle::with_center(scaled(center), length(diameter)).into_styled(PrimitiveStyle::with_fill(color)).draw(self);
    }

    pub(super) fn rectangle(&mut self, top_left: Position, bottom_right: Position, color: Color) {
        let Ok(()) = self.fill_solid(&Rectangle::with_corners(scaled(top_left), scaled(bottom_right)), color);
    }

    /// Draws a line of text, vertically centred at `at`. Characters missing in the font are skipped.
    pub(super) fn text(&mut self, font: &FontRenderer, text: &str, at: Position, align: HorizontalAlignment, color: Color) {
        // Cannot fail: unknown characters are ignored, no background is drawn, and the canvas has no errors.
        let _ = font.render_aligned(text, scaled(at), VerticalPosition::Center, align, FontColor::Transparent(color), self);
    }

    /// # Errors
    /// The encoder fails, which no known input causes.
    pub(super) fn png(&self) -> anyhow::Result<Vec<u8>> {
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
pub(super) fn text_width(font: &FontRenderer, text: &str) -> f32 {
    let dimensions = font.get_rendered_dimensions(text, Point::zero(), VerticalPosition::Center);
    let advance = dimensions.map_or(0, |dimensions| dimensions.advance.x);
    f32::from(u16::try_from(advance).unwrap_or(u16::MAX)) / f32::from(SCALE)
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
        canvas.line(Position(-50.0, 5.0), Position(50.0, 5.0), 2.0, Color::Share);
        canvas.disc(Position(f32::NAN, 30.0), 4.0, Color::Words);
        let row = &rows(&canvas)[5];
        assert_eq!((row[0], row[9]), (Color::Share.rgb(), Color::Share.rgb()));
    }

    #[test]
    fn text_is_as_wide_as_it_says_and_leaves_out_what_the_font_has_not() {
        let mut canvas = Canvas::new(200, 40);
        canvas.text(&BOLD, "Minutes \u{1f600}", Position(0.0, 20.0), HorizontalAlignment::Left, Color::Minutes);
        let rows = rows(&canvas);
        let is_marked = |x: &usize| rows.iter().any(|row| row[*x] != Color::Paper.rgb());
        let last = (0..200).rfind(is_marked).unwrap();
        let width = text_width(&BOLD, "Minutes");
        assert!((width - 6.0..width + 1.0).contains(&f32::from(u16::try_from(last).unwrap())), "{last} of {width}");
    }
}
