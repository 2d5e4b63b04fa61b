//! Splits a document into passages that can be cited by line.

/// The size of a passage: room for a paragraph with its reason, and short enough for a precise match.
const MAX_CHARS: usize = 1200;

/// Consecutive lines of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// Each line with its number, from 1.
    pub lines: Vec<(usize, String)>,
    /// Contains fenced code or a drawing, which rarely answers a question.
    pub code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading<'a> {
    /// 1 for the title.
    pub level: usize,
    pub line: usize,
    pub title: &'a str,
}

/// The headings of a document. A `#` in fenced code is ignored.
pub fn headings_of(text: &str) -> Vec<Heading<'_>> {
    let mut fenced = false;
    let mut headings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        fenced ^= is_fence(line);
        headings.extend(heading(line).filter(|_| !fenced).map(|(level, title)| Heading { level, line: index + 1, title }));
    }
    headings
}

impl Passage {
    pub fn text(&self) -> String {
        self.lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
    }

    fn chars(&self) -> usize {
        self.lines.iter().map(|(_, line)| line.chars().count() + 1).sum()
    }

    /// It introduces the next block: "Two changes:".
    fn announces(&self) -> bool {
        self.lines.last().is_some_and(|(_, line)| line.trim_end_matches(['*', '_']).ends_with(':'))
    }
}

/// Splits at headings and blank lines, and long blocks also at line ends. Fenced code is kept together if it fits.
pub fn split(text: &str) -> Vec<Passage> {
    let mut splitter = Splitter::default();
    for (index, line) in text.lines().enumerate() {
        splitter.take(index + 1, line);
    }
    splitter.close();
    splitter.passages
}

#[derive(Default)]
struct Splitter {
    passages: Vec<Passage>,
    /// Level and text of the current headings.
    headings: Vec<(usize, String)>,
    lines: Vec<(usize, String)>,
    chars: usize,
    fenced: bool,
    code: bool,
}

impl Splitter {
    fn take(&mut self, number: usize, line: &str) {
        self.fenced ^= is_fence(line);
        match heading(line).filter(|_| !self.fenced) {
            Some((level, title)) => {
                self.close();
                self.headings.retain(|(open, _)| *open < level);
                self.headings.push((level, title.to_owned()));
            }
            None if !self.fenced && (line.trim().is_empty() || is_rule(line)) => self.close(),
            None => {
                for piece in pieces(line) {
                    if self.chars + piece.len() > MAX_CHARS {
                        self.close();
                    }
                    self.chars += piece.len() + 1;
                    self.code |= self.fenced;
                    self.lines.push((number, piece.to_owned()));
                }
            }
        }
    }

    fn close(&mut self) {
        self.chars = 0;
        if self.lines.is_empty() {
            return;
        }
        let headings = self.headings.iter().map(|(_, title)| title.clone()).collect();
        let passage = Passage { headings, lines: std::mem::take(&mut self.lines), code: std::mem::take(&mut self.code) };
        match self.passages.last_mut() {
            // An introduction is joined with the block that follows.
            Some(last) if last.announces() && last.headings == passage.headings && last.chars() + passage.chars() <= MAX_CHARS => {
                last.lines.extend(passage.lines);
                last.code |= passage.code;
            }
            _ => self.passages.push(passage),
        }
    }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let title = rest.strip_prefix(' ')?.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !title.is_empty()).then_some((level, title))
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && ["-", "*", "_", "="].iter().any(|mark| line.replace(mark, "").is_empty())
}

/// Splits a line that is longer than a passage, at spaces if possible.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while rest.len() > MAX_CHARS {
        let limit = rest.floor_char_boundary(MAX_CHARS);
        let at = rest[..limit].rfind(' ').filter(|at| *at > 0).unwrap_or(limit);
        pieces.push(&rest[..at]);
        rest = &rest[at..];
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_know_their_headings_and_lines() {
        let passages = split("# Log\n\nIntro.\n\n---\n\n## First\nOne\ntwo\n\n### Deep\nthree\n## Second\nfour\n");
        let found: Vec<_> = passages.iter().map(|p| (p.headings.join("/"), p.lines[0].0, p.lines[p.lines.len() - 1].0, p.text())).collect();
        let expected =
            [("Log", 3, 3, "Intro."), ("Log/First", 8, 9, "One\ntwo"), ("Log/First/Deep", 12, 12, "three"), ("Log/Second", 14, 14, "four")];
        assert_eq!(found, expected.map(|(heading, first, last, text)| (heading.to_owned(), first, last, text.to_owned())));
    }

    #[test]
    fn an_announcement_takes_in_what_it_announces() {
        let passages = split("**Decision:** Two changes:\n\n1. One\n2. Two\n\nAfter.");
        assert_eq!(passages[0].text(), "**Decision:** Two changes:\n1. One\n2. Two");
        assert_eq!(passages[1].text(), "After.");
    }

    proptest::proptest! {
        #[test]
        fn every_line_of_a_passage_stands_in_the_document_under_its_number(text in "([a-c #`*:\\-\n]|ä|\r){0,200}") {
            let lines: Vec<&str> = text.lines().collect();
            let passages = split(&text);
            for (number, line) in passages.iter().flat_map(|passage| &passage.lines) {
                proptest::prop_assert!(lines[number - 1].contains(line.as_str()));
            }
            let numbers: Vec<_> = passages.iter().flat_map(|passage| &passage.lines).map(|(number, _)| *number).collect();
            proptest::prop_assert!(numbers.is_sorted());
        }
    }

    #[test]
    fn a_heading_inside_code_is_code() {
        let text = "# Title\n```sh\n# a comment\n\nls\n```\n";
        assert_eq!(headings_of(text), [Heading { level: 1, line: 1, title: "Title" }]);
        let passages = split(text);
        assert!(passages[0].code);
        assert_eq!(passages.len(), 1);
        assert_eq!(passages[0].headings, ["Title"]);
    }

    #[test]
    fn a_file_without_line_breaks_is_cut_and_nothing_is_lost() {
        let text = "wörter ".repeat(2000);
        let passages = split(&text);
        assert!(passages.iter().all(|passage| passage.text().len() <= MAX_CHARS + 1));
        assert_eq!(passages.iter().map(Passage::text).collect::<String>().replace('\n', ""), text);
        assert!(split(&"x".repeat(5000)).len() > 4);
        assert!(split("").is_empty());
    }
}
