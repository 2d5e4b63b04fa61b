//! The text of a PDF, page by page, in the order in which it is drawn. Words are put together by their positions.

mod fonts;
mod lines;
pub(super) mod maps;
mod writer;

use std::time::Instant;

use lopdf::content::Content;
use lopdf::{DecompressError, Document, Error, LoadOptions, ObjectId};

use fonts::Fonts;
use writer::Writer;

use super::{MAX_PAGES, MAX_UNPACKED, Pages, Read, Unreadable};

/// The most bytes that one page may unpack to.
const PAGE: usize = 4 * 1024 * 1024;
/// The most bytes that all streams unpacked on loading may have together.
const LOADING: usize = 2 * MAX_UNPACKED;
/// The end of a stream.
const END: &[u8] = b"endstream";
/// How many operators are followed between two looks at the clock.
const LOOK: usize = 256;

pub(super) fn read(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    // lopdf limits each stream, so the total limit is divided by the number of streams.
    let streams = bytes.windows(END.len()).filter(|window| *window == END).count().max(2);
    let options = LoadOptions::with_max_decompressed_size(LOADING / streams);
    let document = Document::load_mem_with_options(bytes, options).map_err(|error| why(&error))?;
    // A document that opens without a password is decrypted by now, whatever its owner's password allows.
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
        match page_text(&document, *id, until) {
            Ok(text) => pages.push(&format!("Page {number}"), &text),
            Err(Unreadable::Damaged) => {}
            Err(why) => return Err(why),
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

pub(super) fn page_text(document: &Document, page: ObjectId, until: Instant) -> Result<String, Unreadable> {
    let content = document.get_page_content_with_limit(page, PAGE).and_then(|content| Content::decode(&content));
    let content = content.map_err(|error| why(&error))?;
    let mut writer = Writer::new(Fonts::new(document, page)?);
    for (count, operation) in content.operations.iter().enumerate() {
        // A font may take long.
        if (count % LOOK == 0 || operation.operator == "Tf") && Instant::now() > until {
            return Err(Unreadable::Slow);
        }
        writer.apply(&operation.operator, &operation.operands)?;
    }
    Ok(writer.finish())
}
