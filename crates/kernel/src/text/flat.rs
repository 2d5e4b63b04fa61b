//! Text for table cells and list items, and comparison by subject.

use crate::chat::text::{Part, parts};
use crate::text::without_invisible;

/// A text on one line of at most `limit` characters, cut at a word. Marks stay, because they may belong to a name such as `test_cases.csv` or `[2]`:
/// where the text is shown, [`Medium`](crate::chat::medium::Medium) escapes them. Only the mark of a heading, a quotation or a list goes.
pub fn one_line(text: &str, limit: usize) -> String {
    let line = without_invisible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    // Not the mark of an option or a number.
    let line = ["# ", "## ", "### ", "> ", "- ", "+ ", "* "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(&line);
    cut(line, limit)
}

/// A model's text as one line of at most `limit` characters, without formatting and mentions. For what is posted without escapes: a name in a sentence.
/// What is stored, or shown to a model, is [`one_line`].
pub fn flatten(text: &str, limit: usize) -> String {
    let words = parts(text).into_iter().map(|part| if let Part::Markdown(text) = part { text } else { "" });
    let visible = without_invisible(&words.collect::<String>());
    let mut flat = String::with_capacity(visible.len());
    let mut chars = visible.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // Replaces `_`: in `checkout_p95` and similar names, two of them would start italics.
            '_' => flat.push(' '),
            '`' | '*' | '~' | '|' | '[' | ']' | '@' | '\\' => {}
            // `<b>` is markup; `< 5` and `<= 5` are text.
            '<' if chars.peek().is_some_and(|next| !matches!(next, ' ' | '=' | '0'..='9')) => {}
            c => flat.push(c),
        }
    }
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = flat.trim_start_matches(['#', '>', ' ']);
    let flat = flat.strip_prefix("- ").or_else(|| flat.strip_prefix("+ ")).unwrap_or(flat);
    cut(flat, limit)
}

fn cut(line: &str, limit: usize) -> String {
    if line.chars().count() <= limit {
        return line.to_owned();
    }
    let kept: String = line.chars().take(limit.saturating_sub(1)).collect();
    let whole_words = kept.rfind(' ').filter(|end| *end >= kept.len() / 2).map_or(kept.as_str(), |end| &kept[..end]);
    format!("{}…", whole_words.trim_end())
}

/// Words without a subject.
const EMPTY: &[&str] = &[
    "a", "an", "and", "at", "by", "for", "from", "in", "into", "is", "its", "my", "of", "on", "our", "the", "their", "this", "to", "with",
];

/// The significant words of a short text, normalised and sorted: "Latency of the checkouts" becomes `checkout latency`.
///
/// Texts with equal results have the same subject. For near matches use [`similarity`](crate::text::similarity).
pub fn essence(text: &str) -> String {
    let visible = without_invisible(text).to_lowercase();
    let words = visible.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !EMPTY.contains(word));
    let mut words: Vec<&str> = words.map(singular).collect();
    words.sort_unstable();
    words.join(" ")
}

/// A simple singular for comparison: `costs` becomes `cost`; `status` and `process` stay.
fn singular(word: &str) -> &str {
    let stays = word.len() <= 3 || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is");
    word.strip_suffix('s').filter(|_| !stays).unwrap_or(word)
}
