//! The text of a PDF, page by page, in the order in which it is drawn.

use std::collections::BTreeMap;
use std::time::Instant;

use lopdf::content::Content;
use lopdf::{DecompressError, Document, Encoding, Error, LoadOptions, Object, ObjectId};

use super::{MAX_PAGES, MAX_UNPACKED, Pages, Read, Unreadable};

/// The most bytes that one page may unpack to.
const PAGE: usize = 4 * 1024 * 1024;
/// The most bytes that all streams unpacked on loading may have together.
const LOADING: usize = 2 * MAX_UNPACKED;
/// The end of a stream.
const END: &[u8] = b"endstream";
/// A gap in a line that is a space, in thousandths of the font's size.
const SPACE: f32 = -180.0;

pub(super) fn read(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    // lopdf limits each stream, so the total limit is divided by the number of streams.
    let streams = bytes.windows(END.len()).filter(|window| *window == END).count().max(2);
    let options = LoadOptions::with_max_decompressed_size(LOADING / streams);
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| why(&error))?;
    if document.is_encrypted() {
        return Err(Unreadable::Protected);
    }
    let numbers = document.get_pages();
    let (mut pages, mut shown) = (Pages::new(until), 0);
    for (number, id) in numbers.iter().take(MAX_PAGES) {
        if !pages.goes_on()? {
            break;
        }
        // A page that cannot be read does not spoil the others.
        match page_text(&document, *id) {
            Ok(text) => pages.push(&format!("Page {number}"), &text),
            Err(error) => match why(&error) {
                Unreadable::Damaged => {}
                why => return Err(why),
            },
        }
        shown += 1;
    }
    Ok(pages.finish(shown, numbers.len()))
}

fn why(error: &Error) -> Unreadable {
    match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => Unreadable::Unpacked,
        Error::InvalidPassword | Error::Decryption(_) => Unreadable::Protected,
        _ => Unreadable::Damaged,
    }
}

fn page_text(document: &Document, page: ObjectId) -> Result<String, Error> {
    let fonts = document.get_page_fonts(page)?;
    let mut encodings: BTreeMap<Vec<u8>, Encoding<'_>> = BTreeMap::new();
    for (name, font) in fonts {
        match font.get_font_encoding_with_limit(document, PAGE) {
            Ok(encoding) => drop(encodings.insert(name, encoding)),
            Err(error) if why(&error) == Unreadable::Unpacked => return Err(error),
            Err(_) => {}
        }
    }
    let content = Content::decode(&document.get_page_content_with_limit(page, PAGE)?)?;
    let mut writer = Writer::default();
    let mut encoding = None;
    for operation in &content.operations {
        let operands = &operation.operands;
        let number = |at: usize| operands.get(at).and_then(|operand| operand.as_float().ok()).unwrap_or_default();
        match operation.operator.as_str() {
            "Tf" => encoding = operands.first().and_then(|font| font.as_name().ok()).and_then(|font| encodings.get(font)),
            "BT" => writer.place(0.0),
            "Td" | "TD" => writer.place(writer.y + number(1)),
            "Tm" => writer.place(number(5)),
            "T*" | "cm" => writer.break_line(),
            "Tj" => writer.show(operands, encoding),
            "TJ" => operands.iter().filter_map(|operand| operand.as_array().ok()).for_each(|array| writer.show(array, encoding)),
            "'" => {
                writer.break_line();
                writer.show(operands, encoding);
            }
            "\"" => {
                writer.break_line();
                writer.show(operands.get(2..).unwrap_or_default(), encoding);
            }
            _ => {}
        }
    }
    Ok(writer.text)
}

/// Arranges words by their position: a new height begins a new line, a gap within a line separates two words.
#[derive(Default)]
struct Writer {
    text: String,
    y: f32,
    /// The height of the last word.
    shown_at: f32,
    has_moved: bool,
    is_new_line: bool,
}

impl Writer {
    fn place(&mut self, y: f32) {
        self.y = y;
        self.has_moved = true;
    }

    fn break_line(&mut self) {
        self.is_new_line = true;
    }

    fn show(&mut self, pieces: &[Object], encoding: Option<&Encoding<'_>>) {
        let Some(encoding) = encoding else { return };
        if self.is_new_line || (self.y - self.shown_at).abs() > 0.5 {
            self.separate('\n');
        } else if self.has_moved {
            self.separate(' ');
        }
        (self.shown_at, self.has_moved, self.is_new_line) = (self.y, false, false);
        for piece in pieces {
            if let Object::String(bytes, _) = piece {
                self.text.push_str(&Document::decode_text(encoding, bytes).unwrap_or_default());
            } else if piece.as_float().is_ok_and(|gap| gap < SPACE) {
                self.separate(' ');
            }
        }
    }

    fn separate(&mut self, by: char) {
        if !self.text.is_empty() && !self.text.ends_with(['\n', by]) {
            self.text.push(by);
        }
    }
}
