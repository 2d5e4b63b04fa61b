use std::collections::VecDeque;

use crate::text::without_invisible;

/// The most characters kept: the end, where test runners print the summary.
const TOLD: usize = 4000;

/// The most bytes in memory while the command runs.
const HELD: usize = 64 * 1024;

/// The end of the output.
#[derive(Debug, Default)]
pub(super) struct Tail(VecDeque<u8>);

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.extend(&bytes[bytes.len().saturating_sub(HELD)..]);
        self.0.drain(..self.0.len().saturating_sub(HELD));
    }

    /// As text without invisible characters.
    pub(super) fn render(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        let text = without_invisible(&without_sequences(&String::from_utf8_lossy(&bytes)));
        let start = text.char_indices().rev().nth(TOLD - 1).map_or(0, |(at, _)| at);
        text[start..].trim().to_owned()
    }
}

/// Removes terminal colours: `ESC [ … letter`. Other escapes are removed as invisible characters.
fn without_sequences(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut pieces = text.split("\u{1b}[");
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|c: char| ('@'..='~').contains(&c)).map_or(piece.len(), |end| end + 1);
        plain.push_str(&piece[end..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[&[u8]]) -> String {
        let mut tail = Tail::default();
        for piece in pieces {
            tail.push(piece);
        }
        tail.render()
    }

    #[test]
    fn the_end_is_kept_without_colours_and_what_does_not_show() {
        assert_eq!(told(&[b"\x1b[1;31mFAILED\x1b[0m two\r\n", "zw\u{200B}ölf\0 \u{1b}]x".as_bytes()]), "FAILED two\nzwölf ]x");
        assert_eq!(told(&[b"\x1b[", b"31"]), "", "a sequence without an end");
        assert_eq!(told(&[b"ok \xff"]), "ok \u{FFFD}");
    }

    #[test]
    fn a_flood_is_cut_to_its_end() {
        let flood = vec![b'x'; 3 * HELD];
        let mut tail = Tail::default();
        tail.push(&flood);
        tail.push("é".repeat(TOLD).as_bytes());
        assert_eq!((tail.0.len(), tail.render()), (HELD, "é".repeat(TOLD)));
    }
}
