//! A directive in numbered parts: every heading, list item, table row, block of code and paragraph of what a person handed in (WORK-12). Plans
//! cite parts by number, and each part is served, left out for a reason, or shown as open.

mod reader;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use kernel::memory::retrieval::cut;
use reader::Reader;

/// The fewest characters of a part that are worth showing.
const LEAST: usize = 24;

/// Maximum length of all parts, where only their subject matters.
const SHORT: usize = 4000;

/// What somebody wants done, in order of the documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Directive {
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    pub kind: PartKind,
    /// The whole text, without the marks of its kind.
    pub text: String,
    /// The number of the heading above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// A document, if there are several.
    Document,
    Heading(u8),
    Item,
    /// A list item with a box, ticked or not.
    Task(bool),
    Row,
    Code,
    Paragraph,
}

impl Directive {
    /// Reads Markdown or plain text. Without a file the message itself is the directive.
    pub fn read(documents: &[(String, String)], message: &str) -> Self {
        let mut reader = Reader::default();
        match documents {
            [] => reader.read(message),
            [(_, text)] => reader.read(text),
            several => {
                for (name, text) in several {
                    reader.headings.clear();
                    reader.push(PartKind::Document, name);
                    reader.headings.push((0, reader.parts.len()));
                    reader.read(text);
                }
            }
        }
        Self { parts: reader.parts }
    }

    /// A part by its number, which begins at 1.
    pub fn find(&self, number: usize) -> Option<&Part> {
        number.checked_sub(1).and_then(|place| self.parts.get(place))
    }

    pub fn numbers(&self) -> RangeInclusive<usize> {
        1..=self.parts.len()
    }

    /// The numbers of the part and of everything below it.
    pub fn with_all_below(&self, number: usize) -> RangeInclusive<usize> {
        let is_below = |part: &&Part| self.is_below(part, number);
        let has_more = self.find(number).is_some_and(|part| matches!(part.kind, PartKind::Heading(_) | PartKind::Document));
        let below = if has_more { self.parts[number..].iter().take_while(is_below).count() } else { 0 };
        number..=number + below
    }

    fn is_below(&self, part: &Part, heading: usize) -> bool {
        let mut above = part.under;
        while let Some(number) = above {
            if number == heading {
                return true;
            }
            above = self.find(number).and_then(|part| part.under);
        }
        false
    }

    /// Whether it is built like a plan of work: it has several parts that are to be done.
    pub fn has_structure(&self) -> bool {
        let counts = |part: &&Part| !matches!(part.kind, PartKind::Document | PartKind::Paragraph);
        self.parts.iter().filter(counts).count() >= 3
    }

    /// Whether it has several items, boxes or rows, as a list of what is to be done has.
    pub fn lists_things(&self) -> bool {
        self.parts.iter().filter(|part| matches!(part.kind, PartKind::Item | PartKind::Task(_) | PartKind::Row)).count() >= 3
    }

    /// The parts in short, for a prompt that only asks what they are about.
    pub fn render_in_short(&self) -> String {
        self.render_within(SHORT)
    }

    /// The parts, a line each, within `room` characters: whole if they fit, or else the longest are cut first, and say how much is left out.
    pub fn render_within(&self, room: usize) -> String {
        let lengths: Vec<usize> = self.parts.iter().map(|part| part.text.chars().count()).collect();
        // Room for the number and the mark of each line.
        let room = room.saturating_sub(lengths.len() * 14);
        let all = |each: usize| lengths.iter().map(|length| length.min(&each)).sum::<usize>();
        let longest = lengths.iter().copied().max().unwrap_or_default();
        let (mut each, mut too_long) = (LEAST, longest.max(LEAST) + 1);
        while too_long - each > 1 {
            let middle = each.midpoint(too_long);
            if all(middle) <= room { each = middle } else { too_long = middle }
        }
        // If there are too many parts even for that, those that say most are shown, and the others are counted.
        let is_crowded = all(each) > room;
        let says_most = |part: &Part| matches!(part.kind, PartKind::Heading(_) | PartKind::Document | PartKind::Task(_));
        let mut shown: Vec<String> = Vec::new();
        let (mut used, mut left_out): (usize, Option<usize>) = (0, None);
        for (number, part) in self.numbers().zip(&self.parts) {
            let most = if says_most(part) { room } else { room / 2 };
            if is_crowded && used > most {
                left_out.get_or_insert(number);
                continue;
            }
            shown.extend(left_out.take().map(|first| left_out_line(first, number - 1)));
            let more = lengths[number - 1].saturating_sub(each);
            let more = if more == 0 { String::new() } else { format!(" ({more} characters left out)") };
            let line = format!("[{number}] {}{more}", part.render(each));
            used += line.len();
            shown.push(line);
        }
        shown.extend(left_out.map(|first| left_out_line(first, self.parts.len())));
        shown.join("\n")
    }
}

fn left_out_line(first: usize, last: usize) -> String {
    format!("[{first}–{last}] (parts that are not shown)")
}

impl Part {
    /// The part on one line of at most `chars` characters of text, with a mark of its kind.
    pub fn render(&self, chars: usize) -> String {
        self.mark(&cut(&self.text.split_whitespace().collect::<Vec<_>>().join(" "), chars))
    }

    /// The whole text with its line breaks, with a mark of its kind.
    pub fn render_whole(&self) -> String {
        let gap = if self.kind == PartKind::Code { "\n" } else { "" };
        self.mark(&format!("{gap}{}", self.text))
    }

    fn mark(&self, line: &str) -> String {
        match self.kind {
            PartKind::Document => format!("file {line}"),
            PartKind::Heading(level) => format!("{} {line}", "#".repeat(level.into())),
            PartKind::Item => format!("- {line}"),
            PartKind::Task(done) => format!("- [{}] {line}", if done { "x" } else { " " }),
            PartKind::Row => format!("| {line} |"),
            PartKind::Code => format!("code: {line}"),
            PartKind::Paragraph => line.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directive(markdown: &str) -> Directive {
        Directive::read(&[("roadmap.md".to_owned(), markdown.to_owned())], "")
    }

    fn lines(markdown: &str) -> Vec<String> {
        directive(markdown).parts.iter().map(|part| part.render(200)).collect()
    }

    #[test]
    fn headings_lists_tables_code_and_boxes_are_parts() {
        let text = "# Shop\n\nIt sells\n**tea**.\n\n## Must\n- a cart\n  - with `sizes`\n- [ ] pay\n- [x] log in\n\n1. first\n\n   more of it\n\
                    \n| what | when |\n|---|---|\n| beta | May |\n\n```sh\nmake all\n```\n";
        assert_eq!(
            lines(text),
            [
                "# Shop",
                "It sells tea.",
                "## Must",
                "- a cart",
                "- with sizes",
                "- [ ] pay",
                "- [x] log in",
                "- first more of it",
                "| what | when |",
                "| beta | May |",
                "code: make all"
            ]
        );
    }

    #[test]
    fn names_keep_their_marks_and_links_their_addresses() {
        for name in ["as_json", "test_cases.csv", "__init__.py", "_private", "rows[2]", r"C:\new_dir", "a*b", "--dry-run", "x_1 and y_2"] {
            assert_eq!(lines(&format!("- use {name}\n")), [format!("- use {name}")]);
        }
        assert_eq!(
            lines("See [the prices](https://a.example/p_1), <https://b.example>."),
            ["See the prices (https://a.example/p_1), https://b.example."]
        );
    }

    #[test]
    fn a_part_knows_the_headings_above_it() {
        let directive = directive("# A\n## B\n- b\n# C\nc\n");
        assert_eq!([1, 2, 3, 4].map(|number| directive.with_all_below(number)), [1..=3, 2..=3, 3..=3, 4..=5]);
    }

    #[test]
    fn several_documents_are_told_apart() {
        let documents = [("a.md".to_owned(), "# A\nx".to_owned()), ("b.txt".to_owned(), "just text".to_owned())];
        let directive = Directive::read(&documents, "build this");
        let lines: Vec<_> = directive.parts.iter().map(|part| part.render(80)).collect();
        assert_eq!(lines, ["file a.md", "# A", "x", "file b.txt", "just text"]);
        assert_eq!(directive.with_all_below(4), 4..=5);
    }

    #[test]
    fn a_message_without_a_file_is_the_directive() {
        let directive = Directive::read(&[], "please do:\n- a\n- b\n- c");
        assert_eq!(directive.parts.len(), 4);
        assert!(directive.has_structure());
        assert!(!Directive::read(&[], "how are you?\n\nfine?").has_structure());
    }

    #[test]
    fn no_part_of_a_long_document_is_missing_from_the_prompt_unless_a_line_counts_it() {
        let heading = |number: usize| if number % 50 == 1 { "\n## Part\n" } else { "" };
        let words = "word ".repeat(30);
        let text = (1..=3000).map(|number| format!("{}- item {number} {words}\n", heading(number))).collect::<Vec<_>>().concat();
        let directive = directive(&text);
        assert_eq!(directive.parts.len(), 3060);
        for room in [72_000, 20_000, 800_000] {
            let shown = directive.render_within(room);
            assert!(shown.chars().count() <= room + room / 5, "{} of {room}", shown.chars().count());
            let mut named = std::collections::BTreeSet::new();
            for line in shown.lines() {
                let (range, _) = line[1..].split_once(']').unwrap();
                let (from, to) = range.split_once('–').unwrap_or((range, range));
                named.extend(from.parse::<usize>().unwrap()..=to.parse().unwrap());
            }
            assert_eq!(named.len(), 3060, "{room}");
        }
    }

    #[test]
    fn long_parts_are_whole_where_there_is_room_and_name_what_is_left_out_where_there_is_not() {
        let long = "word ".repeat(600);
        let directive = directive(&format!("# Shop\n\n- short\n- {long}\n"));
        let line = format!("[3] - {}", long.trim());
        assert!(directive.render_within(10_000).contains(&line));
        let shown = directive.render_within(1000);
        assert!(shown.contains("[2] - short\n") && shown.ends_with(" characters left out)"), "{shown}");
    }

    #[test]
    fn a_prompt_holds_its_room_however_many_parts_there_are() {
        for text in ["# a\n".repeat(60_000), "- a\n".repeat(60_000), "- [ ] a\n".repeat(60_000), "# a\n## b\nc\n".repeat(20_000)] {
            let directive = directive(&text);
            assert_eq!(directive.parts.len(), 60_000);
            assert!(directive.render_within(72_000).len() < 144_000, "{}", directive.render_within(72_000).len());
        }
    }

    #[test]
    fn hostile_text_is_text() {
        assert_eq!(lines(""), Vec::<String>::new());
        assert_eq!(lines("<script>alert(1)</script>\n"), ["<script>alert(1)</script>"]);
        assert!(!lines(&"- ".repeat(5000)).iter().any(String::is_empty));
        assert_eq!(lines(&format!("{}deep", "> ".repeat(500))), ["deep"]);
    }
}
