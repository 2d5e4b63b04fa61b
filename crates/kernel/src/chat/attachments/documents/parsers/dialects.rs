//! What the elements of office documents mean for their text.

use super::one_line;
use super::word::Notes;
use super::xml::{Dialect, Element};

fn hashes(level: usize) -> String {
    format!("{} ", "#".repeat(level.clamp(1, 6)))
}

/// Ends a paragraph. In a table it stays in the line of its row.
fn end_paragraph(tables: usize, text: &mut String) {
    text.push_str(if tables > 0 { " " } else { "\n\n" });
}

fn end_row(text: &mut String) {
    text.truncate(text.trim_end_matches([' ', '|']).len());
    text.push('\n');
}

/// The formats of Microsoft: `docx`, `pptx`.
#[derive(Default)]
pub(super) struct Microsoft<'a> {
    notes: Option<&'a Notes>,
    is_text: bool,
    tables: usize,
    /// How deep the present place is in something that is not shown.
    skipped: usize,
    /// Changes that are open at the present place: where each began, and what it is.
    changes: Vec<(usize, String)>,
    /// Where the last change ended, and what it was.
    changed: (usize, String),
    /// Where the present run of characters began, and whether it is hidden.
    run: (usize, bool),
    pub(super) is_hidden_slide: bool,
}

impl<'a> Microsoft<'a> {
    /// A text that refers to comments and footnotes.
    pub(super) fn with_notes(notes: &'a Notes) -> Self {
        Self { notes: Some(notes), ..Self::default() }
    }

    /// Marks the end of the text, from `start` on, as inserted, deleted or hidden.
    fn mark(&mut self, start: usize, what: String, text: &mut String) {
        let marked = text.split_off(text.floor_char_boundary(start));
        let (inside, plain) = (marked.trim(), &marked[marked.trim_end().len()..]);
        if inside.is_empty() {
            text.push_str(&marked);
        } else if self.changed == (start, what.clone()) && text.ends_with(']') {
            // Word cuts one change into several.
            text.pop();
            text.extend([marked.trim_end(), "]"]);
        } else {
            text.extend([&marked[..marked.len() - marked.trim_start().len()], "[", &what, ": ", inside, "]"]);
        }
        self.changed = (text.len(), what);
        text.push_str(if inside.is_empty() { "" } else { plain });
    }

    /// A comment, footnote or endnote at this place.
    fn refer(&self, kind: &str, element: &Element<'_>, text: &mut String) {
        let note = self.notes.zip(element.attribute("id")).and_then(|(notes, id)| notes.get(kind, &id));
        if let Some(note) = note {
            let gap = if text.is_empty() || text.ends_with(char::is_whitespace) { "" } else { " " };
            text.extend([gap, note]);
        }
    }
}

/// What a change of the text is called.
fn change(name: &str) -> Option<&'static str> {
    match name {
        "ins" | "moveTo" => Some("inserted"),
        "del" | "moveFrom" => Some("deleted"),
        _ => None,
    }
}

impl Dialect for Microsoft<'_> {
    fn start(&mut self, name: &str, element: &Element<'_>, text: &mut String) {
        // A fallback repeats what is shown, and stops of tabs are no tabs.
        let is_slide_number = || name == "fld" && element.attribute("type").is_some_and(|kind| kind == "slidenum");
        if self.skipped > 0 || matches!(name, "Fallback" | "tabs" | "tabLst" | "rPrChange" | "pPrChange") || is_slide_number() {
            self.skipped += 1;
            return;
        }
        if let Some(what) = change(name) {
            let by = element.attribute("author").map(|author| format!(" by {author}")).unwrap_or_default();
            self.changes.push((text.len(), format!("{what}{by}")));
            return;
        }
        match name {
            "sld" => self.is_hidden_slide = element.attribute("show").is_some_and(|show| matches!(show.as_str(), "0" | "false")),
            "r" => self.run = (text.len(), false),
            "vanish" => self.run.1 = element.attribute("val").is_none_or(|_| element.is_set("val")),
            "t" => self.is_text = true,
            "delText" => self.is_text = !self.changes.is_empty(),
            "tbl" => self.tables += 1,
            "tab" => text.push('\t'),
            "br" | "cr" => text.push('\n'),
            "noBreakHyphen" => text.push('-'),
            "commentReference" | "footnoteReference" | "endnoteReference" => {
                self.refer(name.trim_end_matches("Reference"), element, text);
            }
            "pStyle" => {
                let style = element.attribute("val").unwrap_or_default();
                let level = style.strip_prefix("Heading").and_then(|level| level.parse().ok()).or((style == "Title").then_some(1));
                text.push_str(&level.map(hashes).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, text: &mut String) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if change(name).is_some() {
            if let Some((start, what)) = self.changes.pop() {
                self.mark(start, what, text);
            }
            return;
        }
        match name {
            "r" if std::mem::take(&mut self.run.1) => self.mark(self.run.0, "hidden".into(), text),
            "t" | "delText" => self.is_text = false,
            "p" => end_paragraph(self.tables, text),
            "tc" => text.push_str("| "),
            "tr" => end_row(text),
            "tbl" => self.tables = self.tables.saturating_sub(1),
            _ => {}
        }
    }

    fn takes(&self) -> bool {
        self.is_text && self.skipped == 0
    }
}

/// The formats of `LibreOffice`: `odt`, `ods`, `odp`.
#[derive(Default)]
pub(super) struct Open {
    paragraphs: usize,
    tables: usize,
    /// How deep the present place is in deleted passages.
    skipped: usize,
    /// Where comments and footnotes began, and how many paragraphs were open there.
    notes: Vec<(usize, usize)>,
}

/// What a note within the text is called.
fn note(name: &str) -> Option<&'static str> {
    match name {
        "annotation" => Some("comment"),
        "note" => Some("footnote"),
        _ => None,
    }
}

impl Dialect for Open {
    fn start(&mut self, name: &str, element: &Element<'_>, text: &mut String) {
        match name {
            "tracked-changes" => self.skipped += 1,
            name if note(name).is_some() => self.notes.push((text.len(), self.paragraphs)),
            "notes" => text.push_str("Speaker's notes: "),
            "p" => self.paragraphs += 1,
            "h" => {
                self.paragraphs += 1;
                text.push_str(&hashes(element.attribute("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1)));
            }
            "table" => {
                self.tables += 1;
                text.push_str(&element.attribute("name").map(|name| format!("## {name}\n\n")).unwrap_or_default());
            }
            "table-row" if element.attribute("visibility").is_some_and(|visibility| visibility != "visible") => {
                text.push_str("(hidden row) ");
            }
            "tab" => text.push('\t'),
            "s" => text.push(' '),
            "line-break" => text.push('\n'),
            _ => {}
        }
    }

    fn end(&mut self, name: &str, text: &mut String) {
        match name {
            "tracked-changes" => self.skipped = self.skipped.saturating_sub(1),
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                if self.skipped == 0 {
                    end_paragraph(self.tables, text);
                }
            }
            "notes" => {
                let empty = text.trim_end().strip_suffix("Speaker's notes:").map(str::len);
                text.truncate(empty.unwrap_or(text.len()));
            }
            "table-cell" => text.push_str("| "),
            "table-row" => end_row(text),
            "table" => {
                self.tables = self.tables.saturating_sub(1);
                text.push('\n');
            }
            name => {
                if let Some((kind, (start, _))) = note(name).zip(self.notes.pop_if(|_| note(name).is_some())) {
                    let body = one_line(&text.split_off(text.floor_char_boundary(start)));
                    let gap = if text.is_empty() || text.ends_with(char::is_whitespace) { "" } else { " " };
                    text.extend([gap, "[", kind, ": ", &body, "]"]);
                }
            }
        }
    }

    fn takes(&self) -> bool {
        // What a note has outside its own paragraphs describes it: its author, date or number.
        let outside = self.notes.last().map_or(0, |(_, paragraphs)| *paragraphs);
        self.paragraphs > outside && self.skipped == 0
    }
}
