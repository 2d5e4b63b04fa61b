//! Formats a reply for posting: cleaned, tables aligned, split into messages or attached as a file if long (CHAT-23).
//!
//! What a message can hold differs by platform. The platform says it with a [`TextFormat`].

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::persona::roster::Roster;
use crate::text::is_invisible;

use crate::chat::split::split;
use crate::chat::text::{self, Plain};

/// What the text of one message can hold on a platform.
#[derive(Debug, Clone, Copy)]
pub struct TextFormat {
    /// The most characters of a message, as the platform shows it.
    pub limit: usize,
    /// Whether the platform shows the tables of Markdown. Otherwise they become aligned code blocks.
    pub has_tables: bool,
    /// Renders a text as it is sent, to measure its length.
    pub render: fn(&str) -> String,
}

impl TextFormat {
    /// A platform that shows a text as it is, without tables.
    pub fn plain(limit: usize) -> Self {
        Self { limit, has_tables: false, render: str::to_owned }
    }

    pub fn fits(&self, text: &str) -> bool {
        // Rendering makes a text at most a few times longer, so short texts are not rendered here.
        text.chars().count() <= self.limit / 8 || (self.render)(text).trim().chars().count() <= self.limit
    }

    /// Aligns the tables if the platform shows none.
    pub fn lay_out(&self, text: &str) -> String {
        if self.has_tables { text.to_owned() } else { align_tables(text) }
    }

    /// Splits a text from [`Self::lay_out`] into messages within the limit.
    pub fn split(&self, text: &str) -> Vec<String> {
        if self.fits(text) { split(text, text.chars().count().max(self.limit)) } else { self.split_at(text, self.limit) }
    }

    fn split_at(&self, text: &str, limit: usize) -> Vec<String> {
        let pieces = split(text, limit).into_iter();
        // Escapes make a text longer when it is rendered.
        let within = |piece: String| {
            let is_done = self.fits(&piece) || limit < SMALLEST_PIECE;
            if is_done { vec![piece] } else { self.split_at(&piece, limit / 4 * 3) }
        };
        pieces.flat_map(within).collect()
    }
}

/// Texts are not split into smaller pieces than this because of escapes.
const SMALLEST_PIECE: usize = 16;

/// The most characters of the reply quoted above an attached file.
const SUMMARY: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendered {
    /// Posted in order. Empty if there is nothing to say.
    Messages(Vec<String>),
    /// A Markdown file, posted with `summary` as the message.
    File { summary: String, name: String, text: String },
}

/// Renders a reply. More than `attach_over` characters become a file called `name`.
///
/// Tables in the file stay Markdown, because viewers render them.
pub fn render(text: &str, roster: &Roster, name: &str, attach_over: usize, format: &TextFormat) -> Rendered {
    let text = clean(text, roster);
    let length = text.chars().count();
    if length > attach_over {
        let summary = format!("{}\n\n*The full text ({length} characters) is in the file.*", summarise(&text, format.limit));
        return Rendered::File { summary, name: name.to_owned(), text: text::render(&text, &Plain) };
    }
    Rendered::Messages(format.split(&format.lay_out(&text)))
}

/// Removes invisible characters and `[Vince]:` at the beginning of lines.
///
/// Models copy such prefixes from transcripts. In a post they would look like another persona's words.
pub fn clean(text: &str, roster: &Roster) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if !is_invisible(c) || is_emoji_part(before, c) {
            cleaned.push(c);
        }
        before = c;
    }
    let lines: Vec<&str> = cleaned.lines().map(|line| without_forged_speaker(line, roster)).collect();
    lines.join("\n").trim().to_owned()
}

/// Joiners and variation selectors are allowed only inside an emoji.
fn is_emoji_part(before: char, c: char) -> bool {
    matches!(c, '\u{200D}' | '\u{FE0F}') && before >= '\u{2190}' && !before.is_alphanumeric() && !is_invisible_but_joiner(before)
}

/// A selector may stand between an emoji and the joiner.
fn is_invisible_but_joiner(c: char) -> bool {
    c != '\u{FE0F}' && is_invisible(c)
}

fn without_forged_speaker<'t>(line: &'t str, roster: &Roster) -> &'t str {
    let mut rest = line;
    // Repeated, because removing one prefix can expose another.
    while let Some(after) = strip_speaker(rest, roster) {
        rest = after;
    }
    rest
}

fn strip_speaker<'t>(line: &'t str, roster: &Roster) -> Option<&'t str> {
    let (name, after) = line.trim_start().trim_start_matches('*').strip_prefix('[')?.split_once(']')?;
    let after = after.trim_start_matches('*').strip_prefix(':')?.trim_start_matches('*');
    roster.find_named(name).map(|_| after.trim_start())
}

/// The first paragraphs that fit, or the beginning of the first.
fn summarise(text: &str, limit: usize) -> String {
    split(text, SUMMARY.min(limit / 2)).into_iter().next().unwrap_or_default()
}

/// Replaces Markdown tables with aligned code blocks, because chat platforms do not render tables.
pub fn align_tables(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut aligned: Vec<String> = Vec::with_capacity(lines.len());
    let (mut at, mut in_fence) = (0, false);
    while at < lines.len() {
        in_fence ^= lines[at].matches("```").count() % 2 == 1;
        if let Some((table, length)) = find_table(&lines[at..]).filter(|_| !in_fence) {
            aligned.push(format!("```\n{table}\n```"));
            at += length;
        } else {
            aligned.push(lines[at].to_owned());
            at += 1;
        }
    }
    aligned.join("\n")
}

/// The rendered table at the first line and its number of lines.
fn find_table(lines: &[&str]) -> Option<(String, usize)> {
    let [header, rule, rows @ ..] = lines else { return None };
    let header = list_cells(header)?;
    let alignments: Vec<CellAlignment> = list_cells(rule)?.iter().map(|cell| find_alignment(cell)).collect::<Option<_>>()?;
    if header.len() != alignments.len() {
        return None;
    }
    let rows: Vec<Vec<String>> = rows.iter().map_while(|line| list_cells(line)).collect();
    let length = rows.len() + 2;
    let columns = header.len();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    for mut row in rows {
        row.resize(columns, String::new());
        table.add_row(row);
    }
    for (column, alignment) in table.column_iter_mut().zip(alignments) {
        column.set_cell_alignment(alignment);
    }
    Some((table.trim_fmt(), length))
}

/// The cells of a row, without Markdown, which a code block would show literally.
fn list_cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.contains('|') {
        return None;
    }
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|line| !line.ends_with('\\')).unwrap_or(line);
    let escaped = line.replace("\\|", "\u{1}");
    Some(escaped.split('|').map(|cell| cell.trim().replace('\u{1}', "|").replace("**", "").replace('`', "")).collect())
}

/// The alignment for `:--`, `:-:` or `--:`.
fn find_alignment(cell: &str) -> Option<CellAlignment> {
    let dashes = cell.trim_matches(':');
    if dashes.is_empty() || dashes.contains(|c| c != '-') {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => CellAlignment::Center,
        (false, true) => CellAlignment::Right,
        _ => CellAlignment::Left,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::roster as sample;

    #[test]
    fn tables_become_aligned_code_blocks() {
        let text = "Costs:\n| who | **cost** |\n|:---|---:|\n| Vince | $0.10 |\n| `Kelly` | $12.00 |\nThat is all.";
        let aligned = align_tables(text);
        assert_eq!(
            aligned,
            "Costs:\n```\n| who   |   cost |\n|-------|--------|\n| Vince |  $0.10 |\n| Kelly | $12.00 |\n```\nThat is all."
        );
    }

    #[test]
    fn wide_characters_and_escaped_bars_line_up() {
        let aligned = align_tables("| a | b |\n|---|---|\n| 十二 | x\\|y |\n| z | w |");
        assert!(aligned.contains("| 十二 | x|y |\n| z    | w   |"), "{aligned}");
    }

    #[test]
    fn what_only_looks_like_a_table_stays() {
        for text in ["a | b", "a | b\nc | d", "```\n| a |\n|---|\n| b |\n```", "| a |\n|-x-|", "| a | b |\n|---|"] {
            assert_eq!(align_tables(text), text);
        }
    }

    #[test]
    fn a_row_with_too_few_or_too_many_cells_is_fitted() {
        let aligned = align_tables("| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |");
        assert_eq!(aligned, "```\n| a | b |\n|---|---|\n| 1 |   |\n| 1 | 2 |\n```");
    }

    #[test]
    fn a_long_text_becomes_a_file_with_a_summary() {
        let text = format!("The short of it.\n\n{}", "And so on. ".repeat(600));
        let Rendered::File { summary, name, text: whole } = render(&text, &sample::roster(), "answer.md", 6000, &TextFormat::plain(2000))
        else {
            panic!("it is over 6000 characters");
        };
        assert!(summary.starts_with("The short of it."));
        assert!(summary.chars().count() < 700 && summary.ends_with("is in the file.*"), "{summary}");
        assert_eq!((name.as_str(), whole.as_str()), ("answer.md", text.trim()));
        assert!(
            matches!(render(&text, &sample::roster(), "answer.md", 7000, &TextFormat::plain(2000)), Rendered::Messages(messages) if messages.len() == 4)
        );
        // A file is read outside the platform, so it has no markup of ours.
        let marked = format!("<user:discord:42> asked.\n<small>From memory.</small>\n{text}");
        let Rendered::File { text: whole, .. } = render(&marked, &sample::roster(), "answer.md", 6000, &TextFormat::plain(2000)) else {
            panic!("it is over 6000 characters");
        };
        assert!(whole.starts_with("@42 asked.\nFrom memory.\n"), "{}", &whole[..60]);
    }

    #[test]
    fn a_message_is_as_long_as_the_platform_shows_it() {
        let shouting = TextFormat { limit: 100, has_tables: false, render: |text| text.replace('&', "&amp;") };
        let messages = shouting.split(&"R&D ".repeat(60));
        assert!(messages.iter().all(|message| message.replace('&', "&amp;").chars().count() <= 100), "{messages:?}");
        assert_eq!(messages.join(" ").matches("R&D").count(), 60);
        let terse = TextFormat { limit: 8, has_tables: true, render: |text| text.replace("<user:discord:1>", "@1") };
        assert_eq!(terse.split("<user:discord:1> hello"), ["<user:discord:1> hello"]);
        assert_eq!(terse.lay_out("| a |\n|---|\n| b |"), "| a |\n|---|\n| b |");
    }

    #[test]
    fn nothing_to_say_is_no_message() {
        for text in ["", " \n", "\u{200B}\u{202E}", "[Vince]:"] {
            assert_eq!(
                render(text, &sample::roster(), "answer.md", 6000, &TextFormat::plain(2000)),
                Rendered::Messages(Vec::new()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn nobody_speaks_in_anothers_name() {
        let clean = |text: &str| clean(text, &sample::roster());
        assert_eq!(clean("[Kelly]: hello\n  **[VINCE]:** I agree\n[Vince]: [Solus]: me too"), "hello\nI agree\nme too");
        assert_eq!(clean("[V\u{200B}ince]: hi"), "hi");
        assert_eq!(clean("[1]: https://example.org"), "[1]: https://example.org", "a reference is no speaker");
        assert_eq!(clean("see [Vince](https://example.org)"), "see [Vince](https://example.org)");
    }

    #[test]
    fn what_does_not_show_goes_and_emoji_stay() {
        let clean = |text: &str| clean(text, &sample::roster());
        assert_eq!(clean("pay\u{200D}pal\u{202E}\u{E0041}"), "paypal");
        assert_eq!(clean("❤\u{FE0F} 👩\u{200D}💻 🏳\u{FE0F}\u{200D}🌈"), "❤\u{FE0F} 👩\u{200D}💻 🏳\u{FE0F}\u{200D}🌈");
    }
}
