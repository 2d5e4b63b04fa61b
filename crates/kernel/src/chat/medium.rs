//! Escapes text from outside inside our Markdown, so that it is shown literally.

use crate::chat::text::{Part, parts};
use crate::text::without_invisible;

/// Where the Markdown is shown. Tables behave differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A chat message. Tables become code blocks when posted.
    Chat,
    /// A Markdown file, as GitHub renders it.
    File,
}

impl Medium {
    /// Text from outside on one line, escaped.
    ///
    /// Words that would become a link, a preview or a mention are put into inline code. Escaping does not help there, because clients link
    /// bare addresses anyway. Blank text becomes a dash, because empty marks mean something else: `****` is a rule.
    pub fn line(self, text: &str) -> String {
        let visible = flatten(text);
        if visible.is_empty() {
            return BLANK.to_owned();
        }
        let words: Vec<String> = visible.split(' ').map(|word| if is_live(word) { code(word) } else { escape(word) }).collect();
        let line = words.join(" ");
        let marker = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = line.len() - marker.len();
        let begins_block = if number > 0 {
            marker.strip_prefix(['.', ')']).is_some_and(|text| text.is_empty() || text.starts_with(' '))
        } else {
            marker.starts_with(['#', '>', '-', '+', '='])
        };
        if begins_block { format!("{}\\{marker}", &line[..number]) } else { line }
    }

    /// Like `line`, with at most `limit` characters of Markdown.
    pub fn line_within(self, text: &str, limit: usize) -> String {
        let mut room = limit;
        loop {
            let line = self.line(&shorten(text, room));
            let over = line.chars().count().saturating_sub(limit);
            if over == 0 || room == 0 {
                return line;
            }
            // Most characters that count twice are escapes.
            room -= over.div_ceil(2).min(room);
        }
    }

    /// Text from outside as a table cell; a dash if blank.
    pub fn cell(self, text: &str) -> String {
        let visible = flatten(text);
        match self {
            // It becomes a code block, in which no mark is shown.
            Self::Chat if !visible.is_empty() => visible.chars().map(in_cell).collect(),
            Self::Chat | Self::File => self.line(&visible),
        }
    }
}

fn escape(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len() + 4);
    for c in word.chars() {
        // `&` and `$` begin entities and formulas.
        if "\\*_~`|[]<&$".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A character of a cell that becomes a part of a code block.
fn in_cell(c: char) -> String {
    match c {
        '`' => "'".to_owned(),
        '\\' | '|' | '*' | '[' | '<' | '&' | '$' => format!("\\{c}"),
        c => c.to_string(),
    }
}

/// Shown for blank text.
const BLANK: &str = "–";

/// One line without invisible characters.
pub fn flatten(text: &str) -> String {
    let visible = without_invisible(&text.replace(['\n', '\r', '\t'], " "));
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line of at most `limit` characters, cut at a word boundary if possible.
pub fn shorten(text: &str, limit: usize) -> String {
    let flat = flatten(text);
    let Some((end, _)) = flat.char_indices().nth(limit) else { return flat };
    let room = flat[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    let border = flat[..end].rfind(' ').filter(|at| *at > room / 2);
    format!("{}…", flat[..border.unwrap_or(room)].trim_end())
}

/// Whether a client would turn the word into a link, a mention or a preview.
fn is_live(word: &str) -> bool {
    if parts(word).iter().any(|part| !matches!(part, Part::Markdown(_))) {
        return true;
    }
    let word = word.to_lowercase();
    // `www` is listed without its dot, because the full stop of our sentence may follow it and make a link.
    ["@", "://", "www", "mailto:", "discord.gg/"].iter().any(|mark| word.contains(mark))
}

/// Inline code. Escapes `|`, which would end a table cell.
fn code(word: &str) -> String {
    format!("`{}`", word.replace('`', "'").replace('|', "¦"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_are_shown_and_do_nothing() {
        assert_eq!(Medium::Chat.line("# a *b* [c](d) <e> f_g ||h||"), r"\# a \*b\* \[c\](d) \<e> f\_g \|\|h\|\|");
        assert_eq!(Medium::File.line("<b>A&amp;B</b> ![x](y) $1"), r"\<b>A\&amp;B\</b> !\[x\](y) \$1");
        assert_eq!(Medium::Chat.line("R&D costs $5"), r"R\&D costs \$5");
    }

    #[test]
    fn what_would_be_a_link_or_a_mention_is_code() {
        assert_eq!(Medium::Chat.line("see https://evil.example/?a=`b|c now"), "see `https://evil.example/?a='b¦c` now");
        for live in [
            "@everyone",
            "<user:discord:123>",
            "<channel:discord:7>",
            "WWW.evil.example",
            "ann@example.org",
            "www",
            "discord.gg/abc",
            "[x](http://y)",
        ] {
            assert_eq!(Medium::File.line(live), format!("`{live}`"));
        }
    }

    #[test]
    fn headings_quotes_lists_and_underlines_do_not_begin() {
        for (text, line) in [
            ("## a", r"\## a"),
            ("> a", r"\> a"),
            ("a > b #1", "a > b #1"),
            ("- a", r"\- a"),
            ("12. b", r"12\. b"),
            ("3) c", r"3\) c"),
            ("===", r"\==="),
            ("5 d", "5 d"),
            ("2-3", "2-3"),
            ("3.14", "3.14"),
        ] {
            assert_eq!(Medium::File.line(text), line);
        }
    }

    #[test]
    fn a_cell_holds_together() {
        assert_eq!(Medium::Chat.cell(r"^a$|^b$ &amp; \[c]"), r"^a\$\|^b\$ \&amp; \\\[c]");
        assert_eq!(Medium::Chat.cell("a | b\n```c"), r"a \| b '''c");
        assert_eq!(Medium::File.cell("a\\|b\r\n| --- |"), r"a\\\|b \| --- \|");
        for medium in [Medium::Chat, Medium::File] {
            assert_eq!([medium.cell(" \u{200B}"), medium.line("\n")], ["–", "–"]);
        }
    }

    #[test]
    fn a_text_is_cut_at_a_word() {
        assert_eq!(shorten("one two three", 13), "one two three");
        assert_eq!(shorten("one two three", 12), "one two…");
        assert_eq!(shorten("onetwothree", 6), "onetw…");
        assert_eq!(shorten("שלום עולם", 7), "שלום…");
    }

    proptest! {
        #[test]
        fn nothing_foreign_breaks_a_line_or_a_cell(text in "([a-z]|[-|`*_#<>@\\\\\\[\\]()!&$=~. \n]|\\PC){0,60}") {
            for medium in [Medium::Chat, Medium::File] {
                for shown in [medium.line(&text), medium.cell(&text)] {
                    prop_assert!(!shown.contains(['\n', '\r']), "{shown:?}");
                    // Every `|` follows an odd number of backslashes, so none ends a cell.
                    for (at, _) in shown.match_indices('|') {
                        let before = shown[..at].len() - shown[..at].trim_end_matches('\\').len();
                        prop_assert!(before >= 1 && (medium == Medium::Chat || before % 2 == 1), "{shown:?}");
                    }
                }
                prop_assert!(!medium.cell(&text).is_empty() && !medium.line(&text).is_empty());
            }
        }

        #[test]
        fn a_cut_text_fits(text in "([ *@]|\\PC){0,80}", limit in 4usize..60) {
            prop_assert!(shorten(&text, limit).chars().count() <= limit);
            prop_assert!(Medium::File.line_within(&text, limit).chars().count() <= limit);
        }
    }
}
