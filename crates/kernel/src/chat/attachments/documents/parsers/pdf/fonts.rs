//! How wide the characters of a font are.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Encoding, Object};

/// The limit of widths that a font lists: all codes of two bytes.
const WIDTHS: usize = 65_536;

/// A font of a page.
pub(super) struct Font<'a> {
    pub(super) encoding: Encoding<'a>,
    /// In thousandths of the font's size, by code. None: unknown.
    widths: Option<Widths>,
}

struct Widths {
    by_code: HashMap<u32, f32>,
    default: f32,
    /// Each code has two bytes.
    is_wide: bool,
}

impl<'a> Font<'a> {
    pub(super) fn new(document: &Document, font: &Dictionary, encoding: Encoding<'a>) -> Self {
        let widths = composite(document, font).or_else(|| simple(document, font)).or_else(|| standard(font));
        Self { encoding, widths }
    }

    /// The widths of the characters of a string, and whether each is a space of one byte. None: unknown.
    pub(super) fn widths(&self, bytes: &[u8]) -> Option<Vec<(f32, bool)>> {
        let widths = self.widths.as_ref()?;
        let length = if widths.is_wide { 2 } else { 1 };
        let code = |part: &[u8]| part.iter().fold(0, |code, byte| code * 256 + u32::from(*byte));
        let width = |part: &[u8]| (widths.by_code.get(&code(part)).copied().unwrap_or(widths.default), !widths.is_wide && part == b" ");
        Some(bytes.chunks(length).map(width).collect())
    }
}

fn entry<'a>(document: &'a Document, dictionary: &'a Dictionary, key: &[u8]) -> Option<&'a Object> {
    document.dereference(dictionary.get(key).ok()?).ok().map(|(_, object)| object)
}

fn number(document: &Document, object: &Object) -> Option<f32> {
    document.dereference(object).ok()?.1.as_float().ok().filter(|number| number.is_finite())
}

/// A number that is a code.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float stays within bounds")]
fn code(document: &Document, object: &Object) -> Option<u32> {
    number(document, object).map(|number| number as u32)
}

/// The widths of a font with codes of two bytes: `first [width …]` or `first last width`.
fn composite(document: &Document, font: &Dictionary) -> Option<Widths> {
    let descendants = entry(document, font, b"DescendantFonts")?.as_array().ok()?;
    let descendant = document.dereference(descendants.first()?).ok()?.1.as_dict().ok()?;
    let default = entry(document, descendant, b"DW").and_then(|width| number(document, width)).unwrap_or(1000.0);
    let mut by_code = HashMap::new();
    let mut rest = entry(document, descendant, b"W").and_then(|listed| listed.as_array().ok()).map_or(&[][..], Vec::as_slice);
    while let [first, second, after @ ..] = rest {
        let first = code(document, first)?;
        rest = after;
        if let Ok(widths) = document.dereference(second).ok()?.1.as_array() {
            let widths = widths.iter().filter_map(|width| number(document, width));
            by_code.extend((first..).zip(widths).take(WIDTHS.saturating_sub(by_code.len())));
        } else if let [width, after @ ..] = rest {
            let (last, width) = (code(document, second)?, number(document, width)?);
            by_code.extend((first..=last).map(|code| (code, width)).take(WIDTHS.saturating_sub(by_code.len())));
            rest = after;
        }
    }
    Some(Widths { by_code, default, is_wide: true })
}

fn simple(document: &Document, font: &Dictionary) -> Option<Widths> {
    let widths = entry(document, font, b"Widths")?.as_array().ok()?;
    let first = entry(document, font, b"FirstChar").and_then(|first| code(document, first)).unwrap_or(0);
    // The characters of a font of type 3 have a scale of their own.
    let matrix = entry(document, font, b"FontMatrix").and_then(|matrix| matrix.as_array().ok());
    let scale = matrix.and_then(|matrix| number(document, matrix.first()?)).map_or(1.0, |scale| scale.abs() * 1000.0);
    let descriptor = entry(document, font, b"FontDescriptor").and_then(|descriptor| descriptor.as_dict().ok());
    let missing = descriptor.and_then(|descriptor| entry(document, descriptor, b"MissingWidth")).and_then(|width| number(document, width));
    let listed = widths.iter().take(256).map(|width| number(document, width).unwrap_or(0.0) * scale);
    Some(Widths { by_code: (first..).zip(listed).collect(), default: missing.unwrap_or(0.0) * scale, is_wide: false })
}

/// The widths from the space to the tilde of fonts that every reader has.
const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278,
    278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722,
    667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556,
    556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 278,
    278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722,
    722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500,
    500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];

/// A font that every reader has, and whose widths a file need not list. Bold ones are only a little wider.
fn standard(font: &Dictionary) -> Option<Widths> {
    let name = String::from_utf8_lossy(font.get(b"BaseFont").ok()?.as_name().ok()?).into_owned();
    let widths = match name.as_str() {
        name if name.starts_with("Courier") => [600; 95],
        name if name.starts_with("Helvetica") || name.starts_with("Arial") => HELVETICA,
        name if name.starts_with("Times") => TIMES,
        _ => return None,
    };
    Some(Widths { by_code: (32..).zip(widths.map(f32::from)).collect(), default: 556.0, is_wide: false })
}
