//! The fonts of a page, and how wide their characters are.

use std::collections::BTreeMap;
use std::rc::Rc;

use lopdf::{Dictionary, Document, Encoding, Object, ObjectId};

use super::{PAGE, maps, why};
use crate::chat::attachments::documents::Unreadable;

/// The limit of ranges of widths that a font lists: all codes of two bytes.
const RANGES: usize = 65_536;
/// The limit of fonts of a page. Text in further ones is left out.
const FONTS: usize = 128;
/// The limit of codes for which the fonts of a page list something.
const CODES: u64 = 8 * 65_536;

/// The fonts of a page. Each is made when the page first uses it.
pub(super) struct Fonts<'a> {
    document: &'a Document,
    by_name: BTreeMap<Vec<u8>, &'a Dictionary>,
    /// By the address of the dictionary, because a font may have many names. None: it cannot be read.
    made: BTreeMap<*const Dictionary, Option<Rc<Font<'a>>>>,
    /// How many codes are left.
    left: u64,
}

impl<'a> Fonts<'a> {
    pub(super) fn new(document: &'a Document, page: ObjectId) -> Result<Self, Unreadable> {
        let by_name = document.get_page_fonts(page).map_err(|error| why(&error))?;
        Ok(Self { document, by_name, made: BTreeMap::new(), left: CODES })
    }

    /// None: the page has no such font, or it cannot be read.
    pub(super) fn get(&mut self, name: &[u8]) -> Result<Option<Rc<Font<'a>>>, Unreadable> {
        let Some(dictionary) = self.by_name.get(name).copied() else { return Ok(None) };
        if let Some(made) = self.made.get(&std::ptr::from_ref(dictionary)) {
            return Ok(made.clone());
        }
        if self.made.len() >= FONTS || self.left == 0 {
            return Ok(None);
        }
        let font = self.make(dictionary)?.map(Rc::new);
        self.left = self.left.saturating_sub(font.as_ref().map_or(0, |font| font.codes()));
        self.made.insert(std::ptr::from_ref(dictionary), font.clone());
        Ok(font)
    }

    fn make(&self, dictionary: &'a Dictionary) -> Result<Option<Font<'a>>, Unreadable> {
        let map = entry(self.document, dictionary, b"ToUnicode").and_then(|map| map.as_stream().ok());
        if map.and_then(|map| map.get_plain_content_with_limit(PAGE).ok()).is_some_and(|map| maps::is_too_large(&map)) {
            return Ok(None);
        }
        match dictionary.get_font_encoding_with_limit(self.document, PAGE) {
            Ok(encoding) => Ok(Some(Font::new(self.document, dictionary, encoding))),
            Err(error) if why(&error) == Unreadable::Unpacked => Err(Unreadable::Unpacked),
            Err(_) => Ok(None),
        }
    }
}

/// A font of a page.
pub(super) struct Font<'a> {
    pub(super) encoding: Encoding<'a>,
    /// None: unknown.
    widths: Option<Widths>,
}

/// Codes in a row whose characters have the same width, in thousandths of the font's size.
struct Range {
    first: u32,
    last: u32,
    width: f32,
}

struct Widths {
    /// By their first codes.
    ranges: Vec<Range>,
    default: f32,
    /// Each code has two bytes.
    is_wide: bool,
}

impl Widths {
    fn new(mut ranges: Vec<Range>, default: f32, is_wide: bool) -> Self {
        ranges.sort_by_key(|range| range.first);
        Self { ranges, default, is_wide }
    }

    fn of(&self, code: u32) -> f32 {
        let before = &self.ranges[..self.ranges.partition_point(|range| range.first <= code)];
        before.last().filter(|range| code <= range.last).map_or(self.default, |range| range.width)
    }
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
        let width = |part: &[u8]| (widths.of(code(part)), !widths.is_wide && part == b" ");
        Some(bytes.chunks(length).map(width).collect())
    }

    /// For how many codes it lists something.
    fn codes(&self) -> u64 {
        let widths = self.widths.as_ref().map_or(0, |widths| widths.ranges.len());
        mapped(&self.encoding).saturating_add(widths as u64)
    }
}

/// How many codes an encoding maps to characters.
fn mapped(encoding: &Encoding<'_>) -> u64 {
    match encoding {
        Encoding::UnicodeMapEncoding(map) => {
            let by_length = map.bf_ranges.iter();
            by_length.map(|ranges| ranges.iter().map(|(range, _)| u64::from(range.end() - range.start()) + 1).sum::<u64>()).sum()
        }
        Encoding::Differences(differences) => mapped(&differences.base),
        _ => 0,
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
    let mut ranges = Vec::new();
    let mut rest = entry(document, descendant, b"W").and_then(|listed| listed.as_array().ok()).map_or(&[][..], Vec::as_slice);
    while let [first, second, after @ ..] = rest
        && ranges.len() < RANGES
    {
        let first = code(document, first)?;
        rest = after;
        if let Ok(widths) = document.dereference(second).ok()?.1.as_array() {
            let widths = widths.iter().filter_map(|width| number(document, width));
            ranges.extend(in_a_row(first, widths).take(RANGES - ranges.len()));
        } else if let [width, after @ ..] = rest {
            let (last, width) = (code(document, second)?, number(document, width)?);
            ranges.push(Range { first, last, width });
            rest = after;
        }
    }
    Some(Widths::new(ranges, default, true))
}

/// A range for each of codes in a row.
fn in_a_row(first: u32, widths: impl Iterator<Item = f32>) -> impl Iterator<Item = Range> {
    (first..=u32::MAX).zip(widths).map(|(code, width)| Range { first: code, last: code, width })
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
    Some(Widths::new(in_a_row(first, listed).collect(), missing.unwrap_or(0.0) * scale, false))
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
    Some(Widths::new(in_a_row(32, widths.into_iter().map(f32::from)).collect(), 556.0, false))
}
