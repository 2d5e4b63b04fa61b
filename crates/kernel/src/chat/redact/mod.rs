//! Finds and replaces secrets in texts before they are posted, logged or stored (CHAT-25).
//!
//! Three methods: known values are found in every encoding (plain, URL-encoded, hex, base64, with invisible characters in between), common token
//! formats are found by their pattern, and other values by the label before them. Secrets that a model reverses or spells out are not found; no text filter can guarantee
//! that.
//!
//! Redact before splitting, because half a token matches no pattern.

mod labelled;
mod shapes;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use secrecy::{ExposeSecret, SecretString};

use crate::chat::outbound::OutboundMessage;
use crate::text::is_invisible;

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are ignored, because they occur inside ordinary words.
const SHORTEST_SECRET: usize = 6;

#[derive(Clone)]
pub struct Redactor {
    /// The known values in all encodings.
    known: Vec<SecretString>,
}

impl Redactor {
    /// Looks for these values and for the token formats. Ignores values of less than six characters.
    pub fn new(secrets: &[SecretString]) -> Self {
        let values = secrets.iter().map(|secret| secret.expose_secret().trim()).filter(|value| value.chars().count() >= SHORTEST_SECRET);
        let mut known: Vec<String> = values.flat_map(ways_of_writing).collect();
        known.sort_unstable();
        known.dedup();
        Self { known: known.into_iter().map(SecretString::from).collect() }
    }

    /// The redacted text and the number of secrets found.
    pub fn redact<'t>(&self, text: &'t str) -> (Cow<'t, str>, usize) {
        let visible = Visible::of(text);
        let found = merge(self.find(&visible.text));
        if found.is_empty() {
            return (Cow::Borrowed(text), 0);
        }
        let mut redacted = String::with_capacity(text.len());
        let mut end = 0;
        for secret in &found {
            let original = visible.original(secret);
            redacted.push_str(&text[end..original.start]);
            redacted.push_str(REDACTED);
            end = original.end;
        }
        redacted.push_str(&text[end..]);
        (Cow::Owned(redacted), found.len())
    }

    /// Redacts every text of a message. Returns the number of secrets.
    pub fn redact_message(&self, message: &mut OutboundMessage) -> usize {
        let mut count = 0;
        for text in message.texts_mut() {
            let (redacted, found) = self.redact(text);
            if found > 0 {
                *text = redacted.into_owned();
            }
            count += found;
        }
        count
    }

    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let known = self.known.iter().flat_map(|value| text.match_indices(value.expose_secret()).map(|(at, found)| at..at + found.len()));
        known.chain(shapes::find(text)).chain(labelled::find(text)).filter(|range| text[range.clone()] != *REDACTED).collect()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("known", &self.known.len()).finish()
    }
}

/// Merges overlapping matches.
fn merge(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The visible characters of a text, with their positions in the original.
struct Visible<'t> {
    text: Cow<'t, str>,
    /// For each run of visible text: its start here and in the original. Empty if both texts are equal.
    runs: Vec<(usize, usize)>,
}

impl<'t> Visible<'t> {
    fn of(text: &'t str) -> Self {
        if !text.contains(is_invisible) {
            return Self { text: Cow::Borrowed(text), runs: Vec::new() };
        }
        let (mut visible, mut runs, mut in_run) = (String::with_capacity(text.len()), Vec::new(), false);
        for (at, c) in text.char_indices() {
            if is_invisible(c) {
                in_run = false;
                continue;
            }
            if !in_run {
                runs.push((visible.len(), at));
                in_run = true;
            }
            visible.push(c);
        }
        Self { text: Cow::Owned(visible), runs }
    }

    /// The range in the original from the first to the last byte of this range.
    fn original(&self, range: &Range<usize>) -> Range<usize> {
        if self.runs.is_empty() {
            return range.clone();
        }
        let place = |at: usize| {
            let run = self.runs.partition_point(|(begins, _)| *begins <= at).saturating_sub(1);
            at - self.runs[run].0 + self.runs[run].1
        };
        place(range.start)..place(range.end - 1) + 1
    }
}

/// All encodings of a value: plain, URL-encoded, hex, and base64 at each alignment inside a longer value.
fn ways_of_writing(value: &str) -> Vec<String> {
    let bytes = value.as_bytes();
    let mut ways = vec![value.to_owned(), percent(bytes, hex), percent(bytes, upper_hex), hex(bytes), upper_hex(bytes)];
    for before in 0..3 {
        let inner = base64_inside(bytes, before);
        // A few characters of base64 would match by accident.
        if inner.len() >= SHORTEST_SECRET + 2 {
            ways.push(inner.replace('+', "-").replace('/', "_"));
            ways.push(inner);
        }
    }
    ways
}

/// URL-encodes a value. `escape` writes the hex digits of a byte, in upper or lower case.
fn percent(bytes: &[u8], escape: fn(&[u8]) -> String) -> String {
    let mut encoded = String::with_capacity(bytes.len() * 3);
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(char::from(*byte)),
            _ => {
                encoded.push('%');
                encoded.push_str(&escape(&[*byte]));
            }
        }
    }
    encoded
}

fn upper_hex(bytes: &[u8]) -> String {
    hex(bytes).to_uppercase()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).expect("half a byte is below sixteen");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The base64 characters that depend only on these bytes, if `before` (0 to 2) other bytes precede them in their group. This finds a
/// password inside `Authorization: Basic`. No crate offers it.
fn base64_inside(bytes: &[u8], before: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let total = (before + bytes.len()) * 8;
    let bit = |at: usize| (bytes[at / 8 - before] >> (7 - at % 8)) & 1;
    let first = (before * 8).div_ceil(6);
    let character = |sextet: usize| (sextet * 6..sextet * 6 + 6).fold(0, |value, at| value << 1 | bit(at));
    (first..total / 6).map(|sextet| char::from(ALPHABET[usize::from(character(sextet))])).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CANARY: &str = "s3cr3t/Canary+value?42";

    fn redact(text: &str) -> (String, usize) {
        let (redacted, count) = Redactor::new(&[SecretString::from(CANARY)]).redact(text);
        (redacted.into_owned(), count)
    }

    #[test]
    fn a_known_value_is_found_however_it_is_written() {
        for written in [
            CANARY,
            "s3cr3t%2FCanary%2Bvalue%3F42",
            "s3cr3t%2fCanary%2bvalue%3f42",
            "7333637233742f43616e6172792b76616c75653f3432",
            "7333637233742F43616E6172792B76616C75653F3432",
            "s3cr3t/Ca\u{200B}nary+val\u{2060}ue?\u{E0041}42",
        ] {
            assert_eq!(redact(&format!("it is {written}, yes")), (format!("it is {REDACTED}, yes"), 1), "{written}");
        }
    }

    #[test]
    fn base64_is_found_alone_and_inside_a_longer_value() {
        // Made with `printf … | base64`: the secret alone; after `user:`; after `us:`; after `a` and before `bb`.
        for written in [
            "czNjcjN0L0NhbmFyeSt2YWx1ZT80Mg==",
            "dXNlcjpzM2NyM3QvQ2FuYXJ5K3ZhbHVlPzQy",
            "dXM6czNjcjN0L0NhbmFyeSt2YWx1ZT80Mg==",
            "YXMzY3IzdC9DYW5hcnkrdmFsdWU/NDJiYg==",
            "YXMzY3IzdC9DYW5hcnkrdmFsdWU_NDJiYg",
        ] {
            let (redacted, count) = redact(written);
            assert_eq!(count, 1, "{written} → {redacted}");
            assert!(redacted.len() < REDACTED.len() + 10, "{written} → {redacted}");
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in [
            "the risk-management-of-our-whole-portfolio is fine",
            "see https://example.org:8080/a@b and 12:30",
            "task-force, desk-bound, ask-me-anything-about-everything",
            "version 1.2.3 of No.Such.Thing",
            "commit 27c84c0de5f1a2b3c4d5e6f708192a3b4c5d6e7f",
            "Bearer of bad news",
            "[redacted]",
            "",
        ] {
            let (redacted, count) = Redactor::new(&[]).redact(text);
            assert!(matches!(redacted, Cow::Borrowed(same) if same == text), "{text} → {redacted}");
            assert_eq!(count, 0);
        }
    }

    #[test]
    fn each_secret_counts_once_and_overlaps_are_one() {
        assert_eq!(redact(&format!("{CANARY} and {CANARY}")).1, 2);
        assert_eq!(redact(&format!("postgres://u:{CANARY}@h")).1, 1);
        assert_eq!(redact(&format!("sk-{CANARY}")).1, 1);
    }

    #[test]
    fn short_values_are_not_looked_for_and_nothing_is_printed() {
        let redactor = Redactor::new(&[SecretString::from("abc"), SecretString::from(""), SecretString::from(CANARY)]);
        assert_eq!(redactor.redact("abc").1, 0);
        assert!(!format!("{redactor:?}").contains("Canary"));
    }

    proptest! {
        #[test]
        fn a_secret_never_gets_out_whatever_is_around_it(
            secret in "[A-Za-z0-9+/_=-]{8,40}",
            before in "\\PC{0,20}",
            after in "\\PC{0,20}",
            gap in prop::sample::select(vec!["", "\u{200B}", "\u{202E}"]),
        ) {
            let written: String = secret.chars().flat_map(|c| std::iter::once(c).chain(gap.chars())).collect();
            let redactor = Redactor::new(&[SecretString::from(secret.clone())]);
            let text = format!("{before} {written} {after}");
            let (redacted, count) = redactor.redact(&text);
            prop_assert!(count >= 1);
            prop_assert!(!crate::text::without_invisible(&redacted).contains(&secret));
            prop_assert!(redacted.contains(REDACTED));
        }
    }

    #[test]
    fn no_part_of_a_message_is_overlooked() {
        use crate::chat::outbound::{Button, ButtonStyle, Card, CardField, FileContent, OutboundFile, OutboundKind, Placement};

        let leak = || "see hunter2-hunter2".to_owned();
        let mut message = OutboundMessage {
            files: vec![OutboundFile { name: leak(), content: FileContent::Text(leak()) }],
            card: Some(Card {
                title: leak(),
                text: leak(),
                color: 0,
                fields: vec![CardField { name: leak(), value: leak(), inline: false }],
                footer: Some(leak()),
                url: Some(leak()),
                image: Some(leak()),
            }),
            buttons: vec![Button { id: "b".to_owned(), label: leak(), style: ButtonStyle::Primary }],
            place: Placement::Thread { on: "1".into(), name: leak() },
            ..OutboundMessage::new(&"kelly".into(), &"10".into(), OutboundKind::Answer, leak())
        };
        let redactor = Redactor::new(&["hunter2-hunter2".to_owned().into()]);
        assert_eq!(redactor.redact_message(&mut message), 12);
        assert!(!serde_json::to_string(&message).unwrap().contains("hunter2"));
        assert_eq!(redactor.redact_message(&mut message), 0);
    }
}
