//! Text that stands inside something else (a cell of a table, a line of a list), and what it is about.

use crate::text::without_invisible;

/// A text of a model as one line of at most `limit` characters that formats nothing and mentions nobody.
pub fn flatten(text: &str, limit: usize) -> String {
    let visible = without_invisible(text);
    let mut flat = String::with_capacity(visible.len());
    let mut chars = visible.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A name such as `checkout_p95` is told by its words; between two underscores text would be slanted.
            '_' => flat.push(' '),
            '`' | '*' | '~' | '|' | '[' | ']' | '@' | '\\' => {}
            // `<#1>` and `<:name:1>` draw something; `< 5` and `<= 5` are read.
            '<' if chars.peek().is_some_and(|next| !matches!(next, ' ' | '=' | '0'..='9')) => {}
            c => flat.push(c),
        }
    }
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat = flat.trim_start_matches(['#', '>', ' ']);
    let flat = flat.strip_prefix("- ").or_else(|| flat.strip_prefix("+ ")).unwrap_or(flat);
    if flat.chars().count() <= limit {
        return flat.to_owned();
    }
    let kept: String = flat.chars().take(limit.saturating_sub(1)).collect();
    let whole_words = kept.rfind(' ').filter(|end| *end >= kept.len() / 2).map_or(kept.as_str(), |end| &kept[..end]);
    format!("{}…", whole_words.trim_end())
}

/// Words that do not tell one subject from another.
const EMPTY: &[&str] = &[
    "a", "an", "and", "at", "by", "for", "from", "in", "into", "is", "its", "my", "of", "on", "our", "the", "their", "this", "to", "with",
];

/// The words that carry the meaning of a short text, each in one form and in one order: "Latency of the checkouts" is `checkout latency`.
///
/// Two texts with the same essence are about the same; how near others are is for [`similarity`](crate::text::similarity).
pub fn essence(text: &str) -> String {
    let visible = without_invisible(text).to_lowercase();
    let words = visible.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !EMPTY.contains(word));
    let mut words: Vec<&str> = words.map(singular).collect();
    words.sort_unstable();
    words.join(" ")
}

/// Near enough to compare by: `costs` is `cost`, and `status` and `process` stay.
fn singular(word: &str) -> &str {
    let stays = word.len() <= 3 || word.ends_with("ss") || word.ends_with("us") || word.ends_with("is");
    word.strip_suffix('s').filter(|_| !stays).unwrap_or(word)
}
