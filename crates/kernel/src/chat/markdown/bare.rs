//! Markdown as plain text, for places that show no markup at all.

use super::simplify;
use crate::chat::text::{Markup, render};

/// The words of a text without any mark, on one line.
pub fn bare(markdown: &str, markup: &impl Markup) -> String {
    let named = without_cut_values(render(markdown, &Escaped(markup)));
    let lines: Vec<String> = simplify(&named).split('\n').map(|line| words(block(line))).collect();
    lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text that was cut may end within a value.
fn without_cut_values(mut text: String) -> String {
    while let Some(at) = text.find("<user:").or_else(|| text.find("<channel:")) {
        let end = text[at..].find(|c: char| c.is_whitespace() || matches!(c, '>' | '…')).map_or(text.len(), |end| at + end);
        let end = end + text[end..].chars().next().filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8);
        text.replace_range(at..end, "");
    }
    text
}

/// Names in place of values. Their characters are no marks.
struct Escaped<'m, M>(&'m M);

impl<M: Markup> Escaped<'_, M> {
    fn escape(name: &str) -> String {
        let mut escaped = String::new();
        super::inline::push_text(name, &mut escaped);
        // `simplify` reads it.
        escaped.replace('&', "\\&").replace('$', "\\$")
    }
}

impl<M: Markup> Markup for Escaped<'_, M> {
    fn mention(&self, user: &crate::ids::UserId) -> String {
        Self::escape(&self.0.mention(user))
    }

    fn channel(&self, channel: &crate::ids::ChannelId) -> String {
        Self::escape(&self.0.channel(channel))
    }

    fn subtext(&self, line: &str) -> String {
        self.0.subtext(line)
    }
}

/// A line without the marks of headings, quotations and lists.
fn block(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    let title = line.trim_start_matches('#');
    if title.len() < line.len() && title.starts_with(' ') {
        return title.trim_start();
    }
    ["- ", "* ", "+ ", "```"].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
}

/// A line without emphasis, code and links.
fn words(line: &str) -> String {
    let line = line.replace("<http", "http").replace('`', "");
    let mut text = String::with_capacity(line.len());
    let mut rest = &*line;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let next = after.chars().next().unwrap_or(' ');
        let (shown, length) = match c {
            '\\' if next.is_ascii_punctuation() => (&after[..1], 2),
            '*' | '~' if next == c => ("", 2),
            '*' if !(before.is_whitespace() && next.is_whitespace()) => ("", 1),
            '_' if !(before.is_alphanumeric() && next.is_alphanumeric()) => ("", 1),
            '[' => match label(rest) {
                Some((label, length)) => (label, length),
                None => ("[", 1),
            },
            c => (&rest[..c.len_utf8()], c.len_utf8()),
        };
        text.push_str(shown);
        before = c;
        rest = &rest[length..];
    }
    text
}

/// The label of a link, and the length of the link.
fn label(text: &str) -> Option<(&str, usize)> {
    let (label, after) = text.strip_prefix('[')?.split_once("](")?;
    let (address, _) = after.split_once(')')?;
    let is_link = address.trim_start_matches('<').starts_with("http") && !label.contains('[');
    is_link.then_some((label, label.len() + address.len() + 4))
}
