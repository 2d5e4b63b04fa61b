mod dialects;
mod office;
mod pdf;
#[cfg(test)]
mod tests;
mod xml;

use std::time::Instant;

pub(super) use office::list_archive;

use super::{Document, Read, Unreadable};

/// The limit of bytes that a document may unpack to.
const MAX_UNPACKED: usize = 32 * 1024 * 1024;
/// The limit of text that is kept.
const MAX_TEXT: usize = 1024 * 1024;
/// The most pages, slides or sheets.
const MAX_PAGES: usize = 400;

/// Reads a document. Blocks for at most a little longer than `until`.
///
/// # Errors
/// Why it has no text.
pub(crate) fn read(bytes: &[u8], document: Document, until: Instant) -> Result<Read, Unreadable> {
    let read = std::panic::catch_unwind(|| match document {
        Document::Pdf => pdf::read(bytes, until),
        Document::Docx => office::read_docx(bytes, until),
        Document::Pptx => office::read_pptx(bytes, until),
        Document::Xlsx => office::read_xlsx(bytes, until),
        Document::OpenDocument => office::read_open_document(bytes, until),
    });
    let mut read = read.unwrap_or(Err(Unreadable::Damaged))?;
    if read.text.len() > MAX_TEXT {
        read.text.truncate(read.text.floor_char_boundary(MAX_TEXT));
        read.is_cut = true;
    }
    if !read.text.chars().any(char::is_alphanumeric) {
        return Err(Unreadable::NoText);
    }
    Ok(read)
}

/// Parts of a document under headings, as far as they are kept.
struct Pages {
    text: String,
    until: Instant,
}

impl Pages {
    fn new(until: Instant) -> Self {
        Self { text: String::new(), until }
    }

    /// Whether there is room and time for more.
    fn goes_on(&self) -> Result<bool, Unreadable> {
        if Instant::now() > self.until { Err(Unreadable::Slow) } else { Ok(self.text.len() <= MAX_TEXT) }
    }

    /// Adds a part that is not empty.
    fn push(&mut self, heading: &str, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            let gap = if self.text.is_empty() { "" } else { "\n\n" };
            self.text.extend([gap, "## ", heading, "\n\n", text]);
        }
    }

    fn finish(self, shown: usize, all: usize) -> Read {
        Read { text: self.text, pages: (shown < all).then_some((shown, all)), is_cut: false }
    }
}
