//! The text of office documents: archives of XML files.

use std::collections::HashMap;
use std::io::{Cursor, Read as _};
use std::time::Instant;

use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{Dialect, Element, walk};
use super::{MAX_PAGES, MAX_UNPACKED, Pages, Read, Unreadable};

/// The most files of an archive.
const FILES: usize = 10_000;
/// The most columns of a sheet. Cells beyond are left out.
const COLUMNS: usize = 256;

/// An archive with what is left of the size that it may unpack to.
struct Archive<'a> {
    files: ZipArchive<Cursor<&'a [u8]>>,
    left: usize,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        // An encrypted office file is no archive but a container of Microsoft's.
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(Unreadable::Protected);
        }
        let files = ZipArchive::new(Cursor::new(bytes)).map_err(|_| Unreadable::Damaged)?;
        if files.len() > FILES { Err(Unreadable::Damaged) } else { Ok(Self { files, left: MAX_UNPACKED }) }
    }

    /// A file of the archive. None if it is not there.
    fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        let file = match self.files.by_name(name) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => return Err(Unreadable::Protected),
            Err(_) => return Err(Unreadable::Damaged),
        };
        let mut bytes = Vec::new();
        // The size in the archive may lie.
        file.take(self.left as u64 + 1).read_to_end(&mut bytes).map_err(|_| Unreadable::Damaged)?;
        self.left = self.left.checked_sub(bytes.len()).ok_or(Unreadable::Unpacked)?;
        Ok(Some(bytes))
    }

    fn need(&mut self, name: &str) -> Result<Vec<u8>, Unreadable> {
        self.read(name)?.ok_or(Unreadable::Damaged)
    }

    /// The files `{prefix}1.xml`, `{prefix}2.xml` and so on, in the order of their numbers.
    fn list_numbered(&self, prefix: &str) -> Vec<String> {
        let number = |name: &str| name.strip_prefix(prefix)?.strip_suffix(".xml")?.parse::<u32>().ok();
        let names = self.files.file_names().filter_map(|name| name.ok().map(std::borrow::Cow::into_owned));
        let mut found: Vec<(u32, String)> = names.filter_map(|name| Some((number(&name)?, name))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, name)| name).collect()
    }
}

pub(super) fn read_docx(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let xml = Archive::open(bytes)?.need("word/document.xml")?;
    Ok(Read { text: tidy(&walk(&xml, &mut Microsoft::default(), until)?), ..Read::default() })
}

pub(super) fn read_pptx(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let mut archive = Archive::open(bytes)?;
    let slides = archive.list_numbered("ppt/slides/slide");
    if slides.is_empty() {
        return Err(Unreadable::Damaged);
    }
    let (mut pages, mut shown) = (Pages::new(until), 0);
    for (slide, number) in slides.iter().take(MAX_PAGES).zip(1..) {
        if !pages.goes_on()? {
            break;
        }
        let text = walk(&archive.need(slide)?, &mut Microsoft::default(), until)?;
        pages.push(&format!("Slide {number}"), &tidy(&text));
        shown = number;
    }
    Ok(pages.finish(shown, slides.len()))
}

pub(super) fn read_open_document(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let mut archive = Archive::open(bytes)?;
    let manifest = archive.read("META-INF/manifest.xml")?.unwrap_or_default();
    if String::from_utf8_lossy(&manifest).contains("encryption-data") {
        return Err(Unreadable::Protected);
    }
    let xml = archive.need("content.xml")?;
    Ok(Read { text: tidy(&walk(&xml, &mut Open::default(), until)?), ..Read::default() })
}

pub(super) fn read_xlsx(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let mut archive = Archive::open(bytes)?;
    let mut shared = Shared::default();
    if let Some(xml) = archive.read("xl/sharedStrings.xml")? {
        walk(&xml, &mut shared, until)?;
    }
    let mut book = Book::default();
    walk(&archive.need("xl/workbook.xml")?, &mut book, until)?;
    let mut targets = Targets::default();
    if let Some(xml) = archive.read("xl/_rels/workbook.xml.rels")? {
        walk(&xml, &mut targets, until)?;
    }
    let (mut pages, mut shown) = (Pages::new(until), 0);
    for (name, id) in book.sheets.iter().take(MAX_PAGES) {
        if !pages.goes_on()? {
            break;
        }
        shown += 1;
        let Some(target) = targets.0.get(id) else { continue };
        let path = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
        let Some(xml) = archive.read(&path)? else { continue };
        let mut sheet = Sheet { shared: &shared.texts, ..Sheet::default() };
        let text = walk(&xml, &mut sheet, until)?;
        pages.push(&format!("Sheet {name}"), &text);
    }
    Ok(pages.finish(shown, book.sheets.len()))
}

/// Without spaces at ends of lines, and with at most one blank line in a row.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(|line| line.trim_end().trim_end_matches(" |")) {
        if !(line.trim().is_empty() && lines.last().is_none_or(|last| last.trim().is_empty())) {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

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

/// Word and PowerPoint.
#[derive(Default)]
struct Microsoft {
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

/// OpenDocument.
#[derive(Default)]
struct Open {
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
struct Shared {
    texts: Vec<String>,
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
struct Book {
    sheets: Vec<(String, String)>,
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

/// What references mean.
#[derive(Default)]
struct Targets(HashMap<String, String>);

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
struct Sheet<'a> {
    shared: &'a [String],
    row: Vec<String>,
    is_shared: bool,
    is_value: bool,
    /// The column of the present cell.
    column: usize,
    value: String,
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
