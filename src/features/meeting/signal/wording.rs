//! Detects empty reports and cuts reports to their length limit.

use kernel::chat::text::is_subtext;
use kernel::text::{is_invisible, without_invisible};

/// Phrases that mean "nothing to report", after filler words are removed.
const QUIET: &[&str] = &[
    "nothing",
    "nothing to report",
    "nothing to add",
    "nothing to share",
    "nothing to flag",
    "nothing worth reporting",
    "nothing worth report",
    "nothing changed",
    "nothing has changed",
    "no change",
    "no changes",
    "no update",
    "no updates",
    "no news",
    "all quiet",
    "quiet",
];

/// Filler words.
const FILLERS: &[&str] = &[
    "a",
    "all",
    "and",
    "at",
    "day",
    "else",
    "end",
    "everyone",
    "feeds",
    "for",
    "from",
    "front",
    "good",
    "have",
    "hello",
    "here",
    "hi",
    "i",
    "in",
    "is",
    "it",
    "just",
    "last",
    "me",
    "moment",
    "morning",
    "much",
    "my",
    "new",
    "now",
    "of",
    "on",
    "part",
    "really",
    "report",
    "side",
    "significant",
    "since",
    "so",
    "standup",
    "still",
    "team",
    "thank",
    "thanks",
    "that",
    "the",
    "there",
    "this",
    "to",
    "today",
    "ve",
    "yesterday",
];

/// Whether the report only says that there is nothing to report (STAND-9).
///
/// Small print and parentheses are ignored.
pub fn is_quiet(text: &str) -> bool {
    let visible = without_invisible(text);
    let spoken: Vec<&str> = visible.lines().filter(|line| !is_subtext(line.trim_start())).collect();
    let spoken = without_parentheses(&spoken.join("\n")).to_lowercase().replace(['\'', '’'], " ");
    let words: Vec<&str> = spoken.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is = |words: &[&str]| QUIET.contains(&words.join(" ").as_str());
    let meant: Vec<&str> = words.iter().copied().filter(|word| !FILLERS.contains(word)).collect();
    // Some phrases contain filler words: "all quiet", "nothing to report".
    words.len() <= 14 && (is(&words) || is(&meant))
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = text.chars().filter(|c| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        _ => depth == 0,
    });
    outside.collect()
}

/// Cuts the text to `cap` characters: after a sentence in the second half, or else after a word. Closes an open fence.
pub fn cut_at_sentence(text: &str, cap: usize) -> String {
    let text = text.trim();
    let mut room = cap;
    // Closing a fence needs room, and the shorter cut may be inside another fence.
    for _ in 0..2 {
        let cut = cut(text, room);
        let closing = find_open_fence(&cut).map(|(_, ticks)| format!("\n{}", "`".repeat(ticks))).unwrap_or_default();
        let length = cut.chars().count() + closing.len();
        if length <= cap {
            return cut + &closing;
        }
        room = cap.saturating_sub(closing.len());
    }
    let cut = cut(text, cap);
    find_open_fence(&cut).map_or(cut.as_str(), |(start, _)| cut[..start].trim_end()).to_owned()
}

fn cut(text: &str, room: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(room) else { return text.to_owned() };
    let fits = &text[..end];
    let ends = fits.char_indices().filter(|(at, c)| ends_sentence(*c, text[at + c.len_utf8()..].chars().next()));
    let sentence = ends.map(|(at, c)| at + c.len_utf8()).next_back();
    if let Some(sentence) = sentence.filter(|end| 2 * end >= fits.len()) {
        return fits[..sentence].trim_end().to_owned();
    }
    let Some((last, _)) = fits.char_indices().next_back() else { return String::new() };
    // One character less, to leave room for the ellipsis.
    let word = fits[..last].rfind(char::is_whitespace).filter(|end| 2 * end >= fits.len());
    let kept = &fits[..word.unwrap_or_else(|| whole_character(text, last))];
    format!("{}…", kept.trim_end())
}

fn ends_sentence(c: char, next: Option<char>) -> bool {
    match c {
        '\n' | '。' | '！' | '？' => true,
        // Dots inside `3.5` and `main.rs` end no sentence.
        '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
        _ => false,
    }
}

/// The last position up to `at` that is not inside a combined character.
fn whole_character(text: &str, mut at: usize) -> usize {
    while let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next()) {
        let joined = before == '\u{200D}' || is_invisible(after) || is_modifier(after);
        if !joined {
            break;
        }
        at -= before.len_utf8();
    }
    at
}

/// Combining accents and skin tones.
fn is_modifier(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{20D0}'..='\u{20FF}' | '\u{1F3FB}'..='\u{1F3FF}')
}

/// The start of the unclosed fence and its number of backticks.
fn find_open_fence(text: &str) -> Option<(usize, usize)> {
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    while let Some(found) = text[at..].find("```") {
        let start = at + found;
        let ticks = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        open = match open {
            None => Some((start, ticks)),
            Some((_, opening)) if ticks >= opening => None,
            still => still,
        };
        at = start + ticks;
    }
    open
}
