//! Text functions used for decisions.

mod flat;
mod plain;
pub mod tokens;

use std::borrow::Cow;

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

pub use flat::{essence, flatten, one_line};
pub use plain::plain_letters;

/// Invisible characters that could hide or reverse text: whatever Unicode has programs ignore by default (zero-width characters, direction
/// marks, tags), separators, annotations and control characters.
pub fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\n' | '\t');
    }
    matches!(c, '\u{2028}'..='\u{202E}' | '\u{FFF9}'..='\u{FFFB}')
        || c.is_control()
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// Removes invisible characters.
pub fn without_invisible(text: &str) -> String {
    // A fast path, because nearly every message has none.
    if text.contains(is_invisible) { text.chars().filter(|c| !is_invisible(*c)).collect() } else { text.to_owned() }
}

/// The text with its first letter as a capital.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// "a, b and c". Empty without words.
pub fn join_with_and(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}

/// Normalises a name for comparison: plain letters, no invisible characters, lower case, no `@`, trimmed.
pub fn fold_name(name: &str) -> String {
    plain_letters(&without_invisible(name)).trim().trim_start_matches('@').to_lowercase()
}

/// The author's own words: without quoted lines (`>`, and everything after `>>>`), code blocks and inline code.
///
/// An unclosed fence reaches to the end, as the platform shows it. A single backtick is an ordinary character.
pub fn without_quotes_and_code(text: &str) -> Cow<'_, str> {
    if !text.contains(['`', '>']) {
        return Cow::Borrowed(text);
    }
    let mut spoken = String::with_capacity(text.len());
    let mut rest = text;
    let mut at_line_start = true;
    while !rest.is_empty() {
        if at_line_start && rest.starts_with(">>>") {
            break;
        }
        if at_line_start && rest.starts_with('>') {
            rest = rest.split_once('\n').map_or("", |(_, next_line)| next_line);
            continue;
        }
        if rest.starts_with('`') {
            let ticks = leading_ticks(rest);
            at_line_start = false;
            match (find_closing_ticks(&rest[ticks..], ticks), ticks) {
                (Some(end), _) => {
                    // Keeps the words on both sides apart.
                    spoken.push(' ');
                    rest = &rest[ticks + end..];
                }
                (None, 3..) => break,
                (None, _) => {
                    spoken.push_str(&rest[..ticks]);
                    rest = &rest[ticks..];
                }
            }
            continue;
        }
        let plain = match rest.find(['`', '\n']) {
            Some(at) if rest[at..].starts_with('\n') => at + 1,
            Some(at) => at,
            None => rest.len(),
        };
        spoken.push_str(&rest[..plain]);
        at_line_start = rest[..plain].ends_with('\n');
        rest = &rest[plain..];
    }
    Cow::Owned(spoken)
}

fn leading_ticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

/// The position after the closing run of `ticks` backticks. A longer run may close a fence.
fn find_closing_ticks(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let run = leading_ticks(&text[at + found..]);
        at += found + run;
        if run == ticks || (ticks >= 3 && run > ticks) {
            return Some(at);
        }
    }
    None
}

/// The similarity of two texts from 0 to 1, ignoring case, punctuation and spacing.
///
/// Compares words and pairs of neighbouring words. One changed word in twenty still gives 0.9.
pub fn similarity(a: &str, b: &str) -> f64 {
    Shingles::of(a).similarity(&Shingles::of(b))
}

/// The words and word pairs of a text, computed once for several comparisons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shingles(Vec<u64>);

impl Shingles {
    pub fn of(text: &str) -> Self {
        let mut shingles = Vec::with_capacity(text.len() / 2);
        let (mut before, mut word) = (None, None);
        for c in text.chars().chain([' ']) {
            if c.is_ascii_alphanumeric() {
                word = Some(hash_on(word, c.to_ascii_lowercase()));
            } else if c.is_alphanumeric() {
                word = c.to_lowercase().fold(word, |word, c| Some(hash_on(word, c)));
            } else if let Some(whole) = word
                && !is_invisible(c)
            {
                shingles.push(whole);
                shingles.extend(before.map(|before: u64| before.rotate_left(17) ^ whole));
                (before, word) = (word, None);
            }
        }
        shingles.sort_unstable();
        Self(shingles)
    }

    /// From 0 to 1. Two texts without words give 0, because nothing is known about them.
    #[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
    pub fn similarity(&self, other: &Self) -> f64 {
        let total = self.0.len() + other.0.len();
        if total == 0 {
            return 0.0;
        }
        let (mut left, mut right, mut shared) = (self.0.iter().peekable(), other.0.iter().peekable(), 0_usize);
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => drop(left.next()),
                std::cmp::Ordering::Greater => drop(right.next()),
                std::cmp::Ordering::Equal => {
                    shared += 1;
                    left.next();
                    right.next();
                }
            }
        }
        (2 * shared) as f64 / total as f64
    }
}

/// One step of FNV-1a. Collisions are harmless here, and the standard library's hash takes ten times as long.
fn hash_on(hash: Option<u64>, c: char) -> u64 {
    (hash.unwrap_or(0xCBF2_9CE4_8422_2325) ^ u64::from(c)).wrapping_mul(0x0000_0100_0000_01B3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_and_code_are_not_what_the_author_says() {
        for (text, spoken) in [
            ("plain words", "plain words"),
            ("> vince, look\nyes", "yes"),
            ("yes\n>vince, look", "yes\n"),
            ("first\n>>> vince\nall of this\nis quoted", "first\n"),
            ("use `@vince` here", "use   here"),
            ("use ``a ` b`` here", "use   here"),
            ("a lone ` stays", "a lone ` stays"),
            ("```\n>>> 1 + 1\n```\nvince, why?", " \nvince, why?"),
            ("before ```rust\nnever closed\nvince,", "before "),
            ("a > b is no quote", "a > b is no quote"),
        ] {
            assert_eq!(without_quotes_and_code(text), spoken, "{text:?}");
        }
    }

    #[test]
    fn what_does_not_show_is_removed_and_what_shows_stays() {
        assert_eq!(without_invisible("v\u{200B}in\u{202E}ce\u{E0041}\0"), "vince");
        // All that Unicode calls ignorable, up to the corners: musical and shorthand format controls, fillers, unassigned ones.
        let ignorable = "\u{AD}\u{34F}\u{61C}\u{115F}\u{1160}\u{17B4}\u{180B}\u{180F}\u{2065}\u{206F}\u{3164}\u{FE00}\u{FEFF}\u{FFA0}\u{FFF0}\u{1BCA0}\u{1BCA3}\u{1D173}\u{1D17A}\u{E0FFF}";
        assert_eq!(without_invisible(&format!("a{ignorable}b")), "ab");
        assert_eq!(without_invisible("zwölf\t→ 十二\n👍"), "zwölf\t→ 十二\n👍");
        assert_eq!(fold_name(" @Vi\u{200D}nce "), "vince");
    }

    #[test]
    fn texts_are_alike_whatever_their_case_and_punctuation() {
        let alike = |a, b| similarity(a, b);
        assert!((alike("Thanks, Vince!", "thanks vince") - 1.0).abs() < f64::EPSILON);
        assert!((alike("Thanks, Vi\u{200B}nce!", "thanks vince") - 1.0).abs() < f64::EPSILON);
        assert!(alike("the costs went up by 4 % this week", "Sentinel found two broken tests") < 0.2);
        assert!(alike("man bites dog", "dog bites man") < 0.9, "order counts");
        assert!(alike("", "").abs() < f64::EPSILON);
    }

    #[test]
    fn one_changed_word_in_a_long_text_is_nearly_the_same() {
        let text = "our costs went up by four percent because the cache was cold after the deployment on monday and we should warm it";
        assert!(similarity(text, &text.replace("monday", "tuesday")) >= 0.9);
        assert!(similarity(text, &text.replace("costs", "sales").replace("cache", "shop").replace("monday", "friday")) < 0.9);
    }

    proptest! {
        #[test]
        fn similarity_is_a_share_and_the_same_both_ways(a in ".{0,80}", b in ".{0,80}") {
            let alike = similarity(&a, &b);
            prop_assert!((0.0..=1.0).contains(&alike));
            prop_assert!((alike - similarity(&b, &a)).abs() < f64::EPSILON);
        }

        #[test]
        fn what_is_in_a_fence_is_never_spoken(before in "[a-z ]{0,20}", inside in "[a-z >\n]{0,40}", after in "[a-z ]{0,20}") {
            let text = format!("{before}\n```\nSECRET {inside}\n```\n{after}");
            prop_assert!(!without_quotes_and_code(&text).contains("SECRET"));
        }

        #[test]
        fn what_is_spoken_never_grows(text in "[a-z>`\n ]{0,80}") {
            prop_assert!(without_quotes_and_code(&text).len() <= text.len());
        }
    }
}
