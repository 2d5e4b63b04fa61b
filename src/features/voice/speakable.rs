//! Markdown as words to be spoken. Pure.

use std::fmt::Write as _;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use kernel::chat::text::{self, Part, is_subtext};
use kernel::ids::UserId;

/// The most rows of a table that are read out.
const ROWS: usize = 8;

/// The words of a text. `name_of`: the names of accounts that are mentioned.
pub(super) fn speakable(markdown: &str, name_of: &dyn Fn(&UserId) -> Option<String>) -> String {
    let lines = markdown.lines().filter(|line| !is_subtext(line)).collect::<Vec<_>>().join("\n");
    let named = text::parts(&lines).into_iter().map(|part| match part {
        Part::Markdown(text) => text.to_owned(),
        Part::Mention(id) => name_of(&id).unwrap_or_else(|| "somebody".to_owned()),
        Part::Channel(_) => "a channel".to_owned(),
    });
    let named: String = named.collect();
    let mut reader = Reader::default();
    for event in Parser::new_ext(&named, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        reader.take(event);
    }
    reader.said.lines().map(tidy).filter(|line| line.contains(char::is_alphanumeric)).collect::<Vec<_>>().join("\n")
}

/// A text in parts of at most `limit` characters, that end where a sentence ends if that is possible.
pub(super) fn split(text: &str, limit: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut add = |piece: &str| match parts.last_mut() {
        Some(last) if last.chars().count() + piece.chars().count() <= limit => last.push_str(piece),
        _ => parts.push(piece.to_owned()),
    };
    for sentence in text.split_inclusive(['.', '!', '?', '\n']) {
        if sentence.chars().count() <= limit {
            add(sentence);
            continue;
        }
        for word in sentence.split_inclusive(' ') {
            let letters: Vec<char> = word.chars().collect();
            letters.chunks(limit).for_each(|piece| add(&piece.iter().collect::<String>()));
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| part.contains(char::is_alphanumeric)).collect()
}

#[derive(Default)]
struct Reader {
    said: String,
    in_code: bool,
    in_picture: bool,
    table: Option<Table>,
}

#[derive(Default)]
struct Table {
    heads: Vec<String>,
    cells: Vec<String>,
    in_head: bool,
    rows: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                self.in_code = true;
                self.said.push_str("A piece of code is left out.\n");
            }
            Event::End(TagEnd::CodeBlock) => self.in_code = false,
            Event::Start(Tag::Image { .. }) => self.in_picture = true,
            Event::End(TagEnd::Image) => self.in_picture = false,
            Event::Text(text) | Event::Code(text) if !self.in_code && !self.in_picture => self.push(&text),
            Event::SoftBreak => self.push(" "),
            Event::HardBreak | Event::Rule | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item) => self.end_sentence(),
            Event::Start(tag) => self.start_table(&tag),
            Event::End(tag) => self.end_table(tag),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        match self.table.as_mut().and_then(|table| table.cells.last_mut()) {
            Some(cell) => cell.push_str(text),
            None => self.said.push_str(text),
        }
    }

    fn end_sentence(&mut self) {
        let said = self.said.trim_end();
        let is_open = said.ends_with(|c: char| c.is_alphanumeric() || ")\"'%”’".contains(c));
        self.said.truncate(said.len());
        self.said.push_str(if is_open { ".\n" } else { "\n" });
    }

    fn start_table(&mut self, tag: &Tag<'_>) {
        match (tag, &mut self.table) {
            (Tag::Table(_), _) => self.table = Some(Table::default()),
            (Tag::TableHead, Some(table)) => table.in_head = true,
            (Tag::TableCell, Some(table)) => table.cells.push(String::new()),
            _ => {}
        }
    }

    /// A row is a sentence: the head of each column with its value.
    fn end_table(&mut self, tag: TagEnd) {
        let Some(table) = &mut self.table else { return };
        match tag {
            TagEnd::TableHead => {
                table.heads = std::mem::take(&mut table.cells);
                table.in_head = false;
            }
            TagEnd::TableRow => {
                table.rows += 1;
                let cells = std::mem::take(&mut table.cells);
                if table.rows <= ROWS {
                    let told = table.heads.iter().zip(cells).filter(|(_, cell)| !cell.trim().is_empty());
                    let told: Vec<String> = told.map(|(head, cell)| format!("{head} {cell}").trim().to_owned()).collect();
                    let _ = writeln!(self.said, "{}.", told.join(", "));
                }
            }
            TagEnd::Table => {
                let more = table.rows.saturating_sub(ROWS);
                self.table = None;
                match more {
                    0 => {}
                    1 => self.said.push_str("One more row is in the text.\n"),
                    more => _ = writeln!(self.said, "{more} more rows are in the text."),
                }
            }
            _ => {}
        }
    }
}

/// A line without what nobody says: addresses, marks, pictograms and ids.
fn tidy(line: &str) -> String {
    let words = line.split_whitespace().filter_map(|word| {
        if word.contains("://") || word.starts_with("www.") {
            let end: String = word.chars().rev().take_while(|c| ".,;:!?".contains(*c)).collect();
            return Some(format!("a link{}", end.chars().rev().collect::<String>()));
        }
        let spoken: String = word.chars().filter(|c| is_spoken(*c)).collect();
        match spoken.as_str() {
            _ if word == "→" => Some("to".to_owned()),
            "" => None,
            spoken if is_id(spoken) => spoken.ends_with('.').then(|| ".".to_owned()),
            _ => Some(spoken),
        }
    });
    words.collect::<Vec<_>>().join(" ").replace(" .", ".").replace(" ,", ",")
}

fn is_spoken(c: char) -> bool {
    let is_mark = "#*_`|~<>[]{}\\^".contains(c);
    // Arrows, symbols, pictograms, and characters that only change how these look.
    let is_picture = matches!(c, '\u{2190}'..='\u{2BFF}' | '\u{FE00}'..='\u{FE0F}' | '\u{200B}'..='\u{200F}' | '\u{1F000}'..='\u{1FBFF}');
    !is_mark && !is_picture && !c.is_control()
}

/// A hash or an id: many hexadecimal digits, of which some are figures and some letters.
fn is_id(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_hex = word.len() >= 6 && word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    is_hex && word.contains(|c: char| c.is_ascii_digit()) && word.contains(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(markdown: &str) -> String {
        speakable(markdown, &|id| (id.as_str() == "discord:42").then(|| "Ann".to_owned()))
    }

    #[test]
    fn marks_links_and_code_are_not_spelled() {
        for (markdown, spoken) in [
            ("**Two** _tests_ of `parser` fail", "Two tests of parser fail."),
            ("See [the plan](https://example.org/plan?x=1) or https://example.org/a_b.", "See the plan or a link."),
            ("# News\n- one\n- two, and\n  more\n", "News.\none.\ntwo, and more."),
            ("Look:\n```rust\nfn main() {}\n```\nDone", "Look:\nA piece of code is left out.\nDone."),
            ("<small>summary by a model</small>\nAll is well! 🎉 ✅", "All is well!"),
            ("Item `#a1b2c3` waits, commit 0192f0c1d2 too", "Item waits, commit too."),
            ("4 * 5 is 20 %, not ~~21~~ 22", "4 5 is 20 %, not 21 22."),
            ("Kelly → Vince: look", "Kelly to Vince: look."),
            ("![chart](chart.png) seen", "seen."),
            ("", ""),
            ("---\n***", ""),
        ] {
            assert_eq!(say(markdown), spoken, "{markdown}");
        }
    }

    #[test]
    fn people_are_called_by_their_names() {
        assert_eq!(say("<user:discord:42> asks <user:discord:7> in <channel:discord:1>"), "Ann asks somebody in a channel.");
        assert_eq!(say(r"\<user:discord:42> is text"), "user:discord:42 is text.");
    }

    #[test]
    fn a_row_of_a_table_is_a_sentence() {
        let table = "| feed | value |\n| --- | --- |\n| commits | **512** |\n| tests | |\n";
        assert_eq!(say(table), "feed commits, value 512.\nfeed tests.");
        let long = format!("| n |\n| --- |\n{}", "| x |\n".repeat(ROWS + 3));
        assert!(say(&long).ends_with("n x.\n3 more rows are in the text."));
        assert!(say("| a |\n| --- |\n| `x|` |").contains('a'));
    }

    #[test]
    fn long_texts_are_cut_between_sentences() {
        assert_eq!(split("One. Two? Three and four.", 12), ["One. Two?", "Three and", "four."]);
        assert_eq!(split(&"é".repeat(25), 10).iter().map(|part| part.chars().count()).collect::<Vec<_>>(), [10, 10, 5]);
        assert!(split(" .\n", 10).is_empty());
    }
}
