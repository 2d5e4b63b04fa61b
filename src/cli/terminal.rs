//! Markdown for a terminal.

use kernel::chat::format::align_tables;
use kernel::chat::medium::Medium;
use kernel::chat::text::{self, Plain};

/// A reply for a terminal: tables are aligned, and Markdown is removed.
pub(super) fn render(markdown: &str) -> String {
    // In a chat a code block keeps the columns of a table. A terminal needs none.
    plain(align_tables(markdown).replace("```\n", "").replace("\n```", "").trim())
}

/// Writes the values of a text, and removes the marks for bold and the backslashes that escape foreign text in a chat.
pub(super) fn plain(markdown: &str) -> String {
    let markdown = text::render(markdown, &Plain);
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek().is_some_and(char::is_ascii_punctuation) => text.extend(rest.next()),
            '*' if rest.next_if_eq(&'*').is_some() => {}
            _ => text.push(c),
        }
    }
    text
}

/// Foreign text on one line, without marks that a terminal would interpret.
pub(super) fn on_one_line(text: &str) -> String {
    plain(&Medium::Chat.line(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_what_was_written() {
        assert_eq!(plain(r"**Split \*\*a\_b\*\*** (#1), `x*y` 2 \<= 3 at C:\\dir\new"), r"Split **a_b** (#1), `x*y` 2 <= 3 at C:\dir\new");
        assert_eq!(plain("<user:discord:42> in <channel:discord:7>\n<small>in short</small>"), "@42 in #7\nin short");
        assert_eq!(on_one_line("a\u{1b}[31m*b*\nc"), "a[31m*b* c");
        assert_eq!(render("Costs\n\n| a | b |\n| --- | --- |\n| **x** | y |\n").matches('`').count(), 0);
    }
}
