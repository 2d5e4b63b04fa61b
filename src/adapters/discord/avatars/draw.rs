//! Draws the picture of a persona: its initial on its colour.

use std::convert::Infallible;

use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::{Dimensions, DrawTarget, OriginDimensions, Pixel, Point, Size};
use kernel::persona::Persona;
use kernel::persona::picture::Picture;
use u8g2_fonts::FontRenderer;
use u8g2_fonts::fonts::u8g2_font_logisoso58_tr;
use u8g2_fonts::types::{FontColor, VerticalPosition};

/// Width and height. Discord shows avatars of up to 128 pixels in a profile.
const SIDE: u32 = 128;
/// Has ASCII only.
static FONT: FontRenderer = FontRenderer::new::<u8g2_font_logisoso58_tr>().with_ignore_unknown_chars(true);
const LIGHT: [u8; 3] = [0xff, 0xff, 0xff];
const DARK: [u8; 3] = [0x1b, 0x1f, 0x24];

/// Always the same for a name, a slug and a colour.
pub(super) fn draw(persona: &Persona) -> Picture {
    let [_, ground @ ..] = persona.color.to_be_bytes();
    let letter = readable_on(ground);
    let mask = Mask::with(initial(persona));
    let pixels: Vec<u8> = (0..SIDE * SIDE).flat_map(|index| mix(ground, letter, mask.coverage(index % SIDE, index / SIDE))).collect();
    Picture { media_type: "image/png", bytes: png(&pixels).into() }
}

/// The first letter of the name, or of the slug if the font does not have it.
fn initial(persona: &Persona) -> char {
    let names = [persona.name.as_str(), persona.slug.as_str()];
    let letter = names.into_iter().filter_map(|name| name.chars().next()).find(char::is_ascii_alphanumeric);
    letter.unwrap_or('?').to_ascii_uppercase()
}

/// The colour of the letter: light or dark, whichever contrasts more.
fn readable_on(ground: [u8; 3]) -> [u8; 3] {
    if contrast(ground, LIGHT) >= contrast(ground, DARK) { LIGHT } else { DARK }
}

/// The contrast ratio of WCAG 2.2.
fn contrast(a: [u8; 3], b: [u8; 3]) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(color: [u8; 3]) -> f32 {
    let linear = |channel: u8| {
        let value = f32::from(channel) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let [red, green, blue] = color.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// `share` sixteenths of the letter's colour.
fn mix(ground: [u8; 3], letter: [u8; 3], share: u16) -> [u8; 3] {
    std::array::from_fn(|channel| {
        let sum = u16::from(ground[channel]) * (16 - share) + u16::from(letter[channel]) * share;
        u8::try_from(sum / 16).unwrap_or(u8::MAX)
    })
}

fn png(pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIDE, SIDE);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels).and_then(|()| writer.finish()));
    written.expect("a picture of this size can be stored in memory");
    file
}

/// The pixels that the letter covers.
struct Mask {
    pixels: Vec<bool>,
}

impl Mask {
    /// A letter in the middle. Drawn several times side by side, which makes it bold.
    fn with(letter: char) -> Self {
        const STROKES: [(i32, i32); 4] = [(-1, 0), (1, 0), (0, -1), (0, 1)];
        let mut mask = Self { pixels: vec![false; (SIDE * SIDE) as usize] };
        let dimensions = FONT.get_rendered_dimensions(letter, Point::zero(), VerticalPosition::Baseline);
        let middle = dimensions.ok().and_then(|dimensions| dimensions.bounding_box).map(|letter| letter.center()).unwrap_or_default();
        let start = mask.bounding_box().center() - middle;
        for (right, down) in STROKES {
            // Cannot fail: the font has the letter, and the mask takes every pixel.
            let _ = FONT.render(
                letter,
                start + Point::new(right, down),
                VerticalPosition::Baseline,
                FontColor::Transparent(BinaryColor::On),
                &mut mask,
            );
        }
        mask
    }

    /// How much of a pixel the letter covers, in sixteenths. Its neighbours count too, so that edges are smooth.
    fn coverage(&self, x: u32, y: u32) -> u16 {
        const WEIGHTS: [(u32, u16); 3] = [(0, 1), (1, 2), (2, 1)];
        let weighted = WEIGHTS.iter().flat_map(|(down, first)| WEIGHTS.iter().map(move |(right, second)| (right, down, first * second)));
        weighted.filter(|(right, down, _)| self.is_set(x + *right, y + *down)).map(|(_, _, weight)| weight).sum()
    }

    /// Coordinates count from one, so that there are pixels before the first.
    fn is_set(&self, x: u32, y: u32) -> bool {
        let inside = (1..=SIDE).contains(&x) && (1..=SIDE).contains(&y);
        inside && self.pixels[((y - 1) * SIDE + x - 1) as usize]
    }
}

impl OriginDimensions for Mask {
    fn size(&self) -> Size {
        Size::new_equal(SIDE)
    }
}

impl DrawTarget for Mask {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        let area = self.bounding_box();
        for Pixel(place, color) in pixels {
            if area.contains(place) {
                self.pixels[(place.y.unsigned_abs() * SIDE + place.x.unsigned_abs()) as usize] = color.is_on();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kernel::persona::file;

    use super::*;

    fn persona(slug: &str, name: &str, color: &str) -> Persona {
        let text = format!("---\nname: {name}\nrole: r\ncolor: \"{color}\"\n---\nPrompt.\n");
        file::parse(slug, text.as_bytes()).expect("a persona")
    }

    /// The pixels of a picture.
    fn pixels(picture: &Picture) -> Vec<[u8; 3]> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(&picture.bytes)).read_info().expect("a picture");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("a picture");
        assert_eq!((info.width, info.height, info.color_type), (SIDE, SIDE, png::ColorType::Rgb));
        pixels.as_chunks().0.to_vec()
    }

    #[test]
    fn the_picture_shows_the_initial_in_the_middle_of_the_colour() {
        let picture = draw(&persona("kelly", "Kelly", "#E8684A"));
        assert!(picture.bytes.len() < 4096, "{}", picture.bytes.len());
        let pixels = pixels(&picture);
        let is_letter = |index: usize| pixels[index] != [0xe8, 0x68, 0x4a];
        let (side, letter): (usize, Vec<usize>) = (SIDE as usize, (0..pixels.len()).filter(|index| is_letter(*index)).collect());
        let spread = |of: fn(usize, usize) -> usize| {
            let at: Vec<usize> = letter.iter().map(|index| of(*index, side)).collect();
            (*at.iter().min().expect("a letter"), *at.iter().max().expect("a letter"))
        };
        for (first, last) in [spread(|index, side| index % side), spread(|index, side| index / side)] {
            assert!(last - first > side / 5 && first.abs_diff(side - 1 - last) < 4, "{first} to {last}");
        }
    }

    #[test]
    fn the_same_persona_always_has_the_same_picture_and_others_another() {
        let vince = || persona("vince", "Vince", "#2F9E77");
        assert_eq!(draw(&vince()), draw(&vince()));
        for other in [persona("vince", "Vince", "#2F9E78"), persona("kelly", "Kelly", "#2F9E77")] {
            assert_ne!(draw(&vince()), draw(&other));
        }
        assert_eq!(draw(&persona("zoe", "Жанна", "#2F9E77")), draw(&persona("zed", "Zed", "#2F9E77")), "the font has no Ж");
    }

    #[test]
    fn the_letter_can_be_read_on_every_colour() {
        for color in (0..=0xff_ff_ff).step_by(0x01_35_79) {
            let [_, ground @ ..] = u32::to_be_bytes(color);
            let contrast = contrast(ground, readable_on(ground));
            assert!(contrast > 4.0, "#{color:06X}: {contrast}");
        }
    }
}
