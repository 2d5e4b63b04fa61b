//! Formats numbers, times and text from outside for answers.

use crate::feeds::{FeedError, Value};
use crate::figure::amount;
use crate::memory::retrieval::cut;
use crate::text::without_invisible;
use crate::time::Today;

pub fn count(number: usize, what: &str) -> String {
    match what.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if number == 1 => format!("1 {what}"),
        Some(stem) => format!("{number} {stem}ies"),
        None if what.ends_with("ch") => format!("{number} {what}es"),
        None => format!("{number} {what}s"),
    }
}

/// Text from outside on one line, cut to `limit`, without mentions and links.
pub fn foreign(text: &str, limit: usize) -> String {
    let line = without_invisible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    // The full-width `＠` looks the same but mentions nobody.
    cut(&line.replace('@', "＠").replace("](", "] ("), limit)
}

/// Text from outside as a block quote without mentions.
pub fn block_quote(text: &str) -> String {
    // A fence would open a code block in the rest of the answer.
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("```"));
    let lines = lines.map(|line| format!("> {}", foreign(line, 1500).replace("```", "`")));
    lines.collect::<Vec<_>>().join("\n")
}

/// A value with its name: `latency 840 ms`.
pub fn spell(value: &Value) -> String {
    format!("{} {}", foreign(&value.name, 60), amount(value.number, &value.name, &value.unit))
}

/// Describes a feed without data.
pub fn failure(feed: &str, error: &FeedError, today: Today) -> String {
    match error {
        FeedError::NoDataSince { since, reason } => format!("{feed}: no data since {} ({reason})", today.show(*since)),
        FeedError::TimedOut(_) | FeedError::Failed(_) => format!("{feed}: no data; {}", foreign(&error.to_string(), 300)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_line_can_neither_call_nor_link_nor_hide() {
        assert_eq!(foreign("Fix\n@Vince [click](http://x) \u{202e}x\u{200b}y", 80), "Fix ＠Vince [click] (http://x) xy");
        assert_eq!(block_quote("a\n```sh\n@here ```"), "> a\n> ＠here `");
    }

    #[test]
    fn things_are_counted_in_their_plural() {
        assert_eq!([count(1, "entry"), count(4, "entry"), count(2, "branch")], ["1 entry", "4 entries", "2 branches"]);
        assert_eq!([count(2, "day"), count(0, "commit")], ["2 days", "0 commits"]);
    }
}
