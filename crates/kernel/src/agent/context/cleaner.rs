//! Makes text from outside safe to show: inside the markers of a data block, in a tag, or on one line.

use crate::memory::retrieval::cut;
use crate::text::without_invisible;

/// A new marker with 48 random bits: impossible to guess within a turn, and short.
pub fn new_marker() -> String {
    format!("{:012x}", fastrand::u64(..) >> 16)
}

/// Neutralises text from outside.
#[derive(Clone, Copy)]
pub struct Cleaner<'a> {
    pub marker: &'a str,
}

impl Cleaner<'_> {
    /// Removes invisible characters and the marker, and cuts to about `bytes`.
    pub fn text(self, text: &str, bytes: usize) -> String {
        let clean = without_invisible(text).trim_end().replace(self.marker, "…");
        if clean.len() <= bytes {
            return clean;
        }
        let kept = &clean[..clean.floor_char_boundary(bytes)];
        format!("{kept}…\n(cut: {} characters more)", clean[kept.len()..].chars().count())
    }

    /// Removes invisible characters and the marker.
    pub fn whole(self, text: &str) -> String {
        self.text(text.trim(), usize::MAX)
    }

    /// One line of at most `chars` characters.
    pub fn line(self, text: &str, chars: usize) -> String {
        let clean = self.text(text, usize::MAX);
        cut(&clean.split_whitespace().collect::<Vec<_>>().join(" "), chars)
    }
}

/// A name that is safe inside a tag: one line, no angle brackets or quotes, no invisible characters, at most 32 characters.
pub fn flat_name(name: &str) -> String {
    let shown = without_invisible(name).replace(|c: char| "[]<>{}()|`#*@:,".contains(c), " ");
    let flat = cut(&shown.split_whitespace().collect::<Vec<_>>().join(" "), 32);
    if flat.is_empty() { "somebody".into() } else { flat }
}

/// A file name or path that is safe inside a tag.
pub(super) fn file_name(name: &str) -> String {
    let shown = without_invisible(name).replace(['<', '>', '|'], " ");
    cut(&shown.split_whitespace().collect::<Vec<_>>().join(" "), 120)
}

/// A title without characters that could look like a tag.
pub(super) fn flat_title(title: &str) -> String {
    title.replace(['<', '>', '[', ']', '|'], " ")
}
