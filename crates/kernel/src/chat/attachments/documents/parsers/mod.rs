mod archive;
mod dialects;
mod number_formats;
mod open;
mod pdf;
mod remarks;
mod sheets;
mod slides;
#[cfg(test)]
mod tests;
mod word;
mod xml;

use std::time::Instant;

pub(super) use archive::list_archive;

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
        Document::Docx => word::read_docx(bytes, until),
        Document::Pptx => slides::read_pptx(bytes, until),
        Document::Xlsx => sheets::read_xlsx(bytes, until),
        Document::OpenDocument => open::read_open_document(bytes, until),
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

/// A text without spaces at the ends of lines, and with at most one blank line in a row.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(|line| line.trim_end().trim_end_matches(" |")) {
        if !(line.trim().is_empty() && lines.last().is_none_or(|last| last.trim().is_empty())) {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

/// A text without line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
