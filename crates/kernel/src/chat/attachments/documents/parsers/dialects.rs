//! What the elements of office documents mean for their text.

use std::collections::HashMap;

use super::xml::{Dialect, Element};

/// The most columns of a sheet. Cells beyond are left out.
const COLUMNS: usize = 256;

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
pub(super) struct Microsoft {
    is_text: bool,
    tables: usize,
}

impl Dialect for Microsoft {
    fn start(&mut self, name: &str, element: &Element<'_>, text: &mut String) {
        match name {
            "t" => self.is_text = true,
            "tbl" => self.tables += 1,
            "tab" => text.push('\t'),
            "br" | "cr" => text.push('\n'),
            "pStyle" => {
                let style = element.attribute("val").unwrap_or_default();
                let level = style.strip_prefix("Heading").and_then(|level| level.parse().ok()).or((style == "Title").then_some(1));
                text.push_str(&level.map(hashes).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, text: &mut String) {
        match name {
            "t" => self.is_text = false,
            "p" => end_paragraph(self.tables, text),
            "tc" => text.push_str("| "),
            "tr" => end_row(text),
            "tbl" => self.tables = self.tables.saturating_sub(1),
            _ => {}
        }
    }

    fn takes(&self) -> bool {
        self.is_text
    }
}

/// The formats of `LibreOffice`: `odt`, `ods`, `odp`.
#[derive(Default)]
pub(super) struct Open {
    paragraphs: usize,
    tables: usize,
    /// Notes and deleted passages, which are not part of the text.
    skipped: usize,
}

impl Open {
    fn skips(name: &str) -> bool {
        matches!(name, "annotation" | "tracked-changes" | "notes")
    }
}

impl Dialect for Open {
    fn start(&mut self, name: &str, element: &Element<'_>, text: &mut String) {
        match name {
            name if Self::skips(name) => self.skipped += 1,
            "p" => self.paragraphs += 1,
            "h" => {
                self.paragraphs += 1;
                text.push_str(&hashes(element.attribute("outline-level").and_then(|level| level.parse().ok()).unwrap_or(1)));
            }
            "table" => {
                self.tables += 1;
                text.push_str(&element.attribute("name").map(|name| format!("## {name}\n\n")).unwrap_or_default());
            }
            "tab" => text.push('\t'),
            "s" => text.push(' '),
            "line-break" => text.push('\n'),
            _ => {}
        }
    }

    fn end(&mut self, name: &str, text: &mut String) {
        match name {
            name if Self::skips(name) => self.skipped = self.skipped.saturating_sub(1),
            "p" | "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                if self.skipped == 0 {
                    end_paragraph(self.tables, text);
                }
            }
            "table-cell" => text.push_str("| "),
            "table-row" => end_row(text),
            "table" => {
                self.tables = self.tables.saturating_sub(1);
                text.push('\n');
            }
            _ => {}
        }
    }

    fn takes(&self) -> bool {
        self.paragraphs > 0 && self.skipped == 0
    }
}

/// The texts of an Excel file, which its cells name by their numbers.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) texts: Vec<String>,
    is_text: bool,
}

impl Dialect for Shared {
    fn start(&mut self, name: &str, _: &Element<'_>, _: &mut String) {
        match name {
            "si" => self.texts.push(String::new()),
            "t" => self.is_text = true,
            // How a Japanese text is pronounced.
            "rPh" => self.is_text = false,
            _ => {}
        }
    }

    fn end(&mut self, name: &str, _: &mut String) {
        self.is_text &= name != "t";
    }

    fn takes(&self) -> bool {
        self.is_text
    }

    fn write(&mut self, characters: &str, _: &mut String) {
        if let Some(last) = self.texts.last_mut() {
            last.push_str(characters);
        }
    }
}

/// The sheets of an Excel file: name and reference.
#[derive(Default)]
pub(super) struct Book {
    pub(super) sheets: Vec<(String, String)>,
}

impl Dialect for Book {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        if name == "sheet"
            && let (Some(name), Some(id)) = (element.attribute("name"), element.attribute("id"))
        {
            self.sheets.push((name, id));
        }
    }

    fn end(&mut self, _: &str, _: &mut String) {}

    fn takes(&self) -> bool {
        false
    }
}

/// The targets of references, by their ids.
#[derive(Default)]
pub(super) struct Targets(pub(super) HashMap<String, String>);

impl Dialect for Targets {
    fn start(&mut self, _: &str, element: &Element<'_>, _: &mut String) {
        if let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target")) {
            self.0.insert(id, target);
        }
    }

    fn end(&mut self, _: &str, _: &mut String) {}

    fn takes(&self) -> bool {
        false
    }
}

/// A sheet of an Excel file: a line for each row, with `|` between cells.
#[derive(Default)]
pub(super) struct Sheet<'a> {
    shared: &'a [String],
    row: Vec<String>,
    is_shared: bool,
    is_value: bool,
    /// The column of the present cell.
    column: usize,
    value: String,
}

impl<'a> Sheet<'a> {
    /// `shared`: the texts that cells name by their numbers.
    pub(super) fn new(shared: &'a [String]) -> Self {
        Self { shared, ..Self::default() }
    }
}

impl Dialect for Sheet<'_> {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        match name {
            "row" => self.row.clear(),
            "c" => {
                self.column = element.attribute("r").and_then(|place| column(&place)).unwrap_or(self.row.len());
                self.is_shared = element.attribute("t").as_deref() == Some("s");
                self.value.clear();
            }
            "v" | "t" => self.is_value = true,
            _ => {}
        }
    }

    fn end(&mut self, name: &str, text: &mut String) {
        match name {
            "v" | "t" => self.is_value = false,
            "c" if self.column < COLUMNS => {
                let value = match self.value.parse::<usize>() {
                    Ok(number) if self.is_shared => self.shared.get(number).cloned().unwrap_or_default(),
                    _ => std::mem::take(&mut self.value),
                };
                self.row.resize(self.row.len().max(self.column + 1), String::new());
                self.row[self.column] = value.split_whitespace().collect::<Vec<_>>().join(" ");
            }
            "row" if self.row.iter().any(|cell| !cell.is_empty()) => {
                text.push_str(&self.row.join(" | "));
                text.push('\n');
            }
            _ => {}
        }
    }

    fn takes(&self) -> bool {
        self.is_value
    }

    fn write(&mut self, characters: &str, _: &mut String) {
        self.value.push_str(characters);
    }
}

/// The column of a cell such as `C5`, from 0.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_uppercase);
    let number = letters.fold(0_usize, |number, letter| number.saturating_mul(26).saturating_add(usize::from(letter - b'A') + 1));
    number.checked_sub(1)
}
