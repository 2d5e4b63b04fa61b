//! Excel files.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use super::archive::Archive;
use super::number_formats::{built_in, show};
use super::remarks::{Authors, read_remarks};
use super::xml::{Dialect, Element};
use super::{MAX_PAGES, MAX_TEXT, Pages, Read, Unreadable, one_line};

/// The limit of columns of a sheet. Cells beyond are left out.
const COLUMNS: usize = 256;
/// The limit of bytes of a text that cells share: Excel's own limit is 32,767 characters.
const SHARED: usize = 4 * 32_767;
/// The limit of formats, and of the length of one: Excel's own.
const FORMATS: usize = 65_490;
const FORMAT: usize = 255;

pub(super) fn read_xlsx(bytes: &[u8], until: Instant) -> Result<Read, Unreadable> {
    let mut archive = Archive::open(bytes, until)?;
    let mut book = Book::default();
    if let Some(xml) = archive.read("xl/sharedStrings.xml")? {
        super::xml::walk(&xml, &mut Shared { texts: &mut book.texts, is_text: false }, until)?;
    }
    archive.walk("xl/workbook.xml", &mut book)?;
    archive.walk_extra("xl/styles.xml", &mut book.styles)?;
    let mut people = Authors::default();
    archive.walk_extra("xl/persons/person.xml", &mut people)?;
    let targets = archive.relations("xl/workbook.xml")?;
    let (mut pages, mut shown) = (Pages::new(until), 0);
    for (name, id) in book.sheets.iter().take(MAX_PAGES) {
        if !pages.goes_on()? {
            break;
        }
        shown += 1;
        let Some(target) = targets.iter().find(|target| target.id == *id) else { continue };
        let Some(xml) = archive.read(&target.path)? else { continue };
        let mut sheet = Sheet::new(&book);
        let rows = super::xml::walk(&xml, &mut sheet, until)?;
        let relations = archive.relations(&target.path)?;
        let remarks = read_remarks(&mut archive, &relations, &people)?;
        let margins = sheet.margins.iter().map(|margin| plain_margin(margin)).filter(|text| text.contains(char::is_alphabetic));
        let lines: Vec<String> = sheet.hidden_columns().into_iter().chain([rows]).chain(remarks).chain(margins).collect();
        pages.push(&format!("Sheet {name}"), &lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n"));
    }
    Ok(pages.finish(shown, book.sheets.len()))
}

/// What all sheets of a file share.
#[derive(Default)]
struct Book {
    /// Names, with a mark if they are hidden, and references.
    sheets: Vec<(String, String)>,
    /// The texts that cells name by their numbers.
    texts: Vec<String>,
    styles: Styles,
    /// Days are counted from 1904 and not from 1900.
    is_1904: bool,
}

impl Dialect for Book {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        match name {
            "workbookPr" => self.is_1904 = element.is_set("date1904"),
            "sheet" => {
                if let (Some(name), Some(id)) = (element.attribute("name"), element.attribute("id")) {
                    let is_hidden = element.attribute("state").is_some_and(|state| state != "visible");
                    self.sheets.push((name + if is_hidden { " (hidden)" } else { "" }, id));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, _: &str, _: &mut String) {}

    fn takes(&self) -> bool {
        false
    }
}

/// The formats of numbers.
#[derive(Default)]
struct Styles {
    /// The file's own formats by their ids.
    formats: HashMap<u32, String>,
    /// The format of each style of cells.
    cells: Vec<u32>,
    is_cells: bool,
}

impl Styles {
    fn format(&self, style: usize) -> &str {
        let id = self.cells.get(style).copied().unwrap_or(0);
        self.formats.get(&id).map_or_else(|| built_in(id), String::as_str)
    }
}

impl Dialect for Styles {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        let id = || element.attribute("numFmtId").and_then(|id| id.parse().ok()).unwrap_or(0);
        match name {
            "numFmt" => {
                if let Some(code) = element.attribute("formatCode").filter(|code| code.len() <= FORMAT && self.formats.len() < FORMATS) {
                    self.formats.insert(id(), code);
                }
            }
            "cellXfs" => self.is_cells = true,
            "xf" if self.is_cells && self.cells.len() < FORMATS => self.cells.push(id()),
            _ => {}
        }
    }

    fn end(&mut self, name: &str, _: &mut String) {
        self.is_cells &= name != "cellXfs";
    }

    fn takes(&self) -> bool {
        false
    }
}

struct Shared<'a> {
    texts: &'a mut Vec<String>,
    is_text: bool,
}

impl Dialect for Shared<'_> {
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
            last.push_str(&characters[..characters.floor_char_boundary(SHARED.saturating_sub(last.len()))]);
        }
    }
}

/// What characters of a sheet belong to.
#[derive(Default, Clone, Copy, PartialEq)]
enum Part {
    #[default]
    None,
    Value,
    Formula,
    Margin,
}

/// A sheet of an Excel file: a line for each row, with `|` between cells.
struct Sheet<'a> {
    book: &'a Book,
    row: Vec<String>,
    /// How many bytes the cells of the row have.
    length: usize,
    is_row_hidden: bool,
    /// The first and last of columns that are hidden, from 0.
    hidden: Vec<(usize, usize)>,
    /// The columns that have cells.
    used: BTreeSet<usize>,
    /// Headers and footers.
    margins: Vec<String>,
    cell: Cell,
    part: Part,
}

/// The present cell.
#[derive(Default)]
struct Cell {
    column: usize,
    kind: String,
    style: usize,
    value: String,
    formula: Option<String>,
}

impl<'a> Sheet<'a> {
    fn new(book: &'a Book) -> Self {
        let (row, hidden, used, margins) = (Vec::new(), Vec::new(), BTreeSet::new(), Vec::new());
        Self { book, row, length: 0, is_row_hidden: false, hidden, used, margins, cell: Cell::default(), part: Part::None }
    }

    /// The present cell as people see it.
    fn show_cell(&mut self) -> String {
        let Cell { kind, style, value, formula, .. } = std::mem::take(&mut self.cell);
        match (kind.as_str(), formula) {
            ("s", _) => value.parse().ok().and_then(|number: usize| self.book.texts.get(number).cloned()).unwrap_or_default(),
            ("str" | "inlineStr", _) => value,
            // A formula that is shared with another cell has no text.
            (_, Some(formula)) if value.trim().is_empty() && formula.is_empty() => "(formula, not calculated)".into(),
            (_, Some(formula)) if value.trim().is_empty() => format!("={formula} (not calculated)"),
            ("b", _) => if value.trim() == "1" { "TRUE" } else { "FALSE" }.into(),
            ("e" | "d", _) => value,
            _ => show(value.trim(), self.book.styles.format(style), self.book.is_1904),
        }
    }

    /// Which columns with cells are hidden.
    fn hidden_columns(&self) -> Option<String> {
        let is_hidden = |column: &usize| self.hidden.iter().any(|(first, last)| (first..=last).contains(&column));
        let letters: Vec<String> = self.used.iter().copied().filter(|column| is_hidden(column)).map(letters).collect();
        (!letters.is_empty()).then(|| format!("(hidden columns: {})", letters.join(", ")))
    }
}

impl Dialect for Sheet<'_> {
    fn start(&mut self, name: &str, element: &Element<'_>, _: &mut String) {
        let number = |name: &str| element.attribute(name).and_then(|number| number.parse::<usize>().ok());
        match name {
            "col" if element.is_set("hidden") && self.hidden.len() < COLUMNS => {
                let first = number("min").unwrap_or(1).saturating_sub(1);
                self.hidden.push((first, number("max").map_or(first, |last| last.saturating_sub(1))));
            }
            "row" => {
                self.row.clear();
                self.length = 0;
                self.is_row_hidden = element.is_set("hidden");
            }
            "c" => {
                let column = element.attribute("r").and_then(|place| column(&place)).unwrap_or(self.row.len());
                let kind = element.attribute("t").unwrap_or_default();
                self.cell = Cell { column, kind, style: number("s").unwrap_or(0), ..Cell::default() };
            }
            "f" => {
                self.cell.formula = Some(String::new());
                self.part = Part::Formula;
            }
            "v" | "t" => self.part = Part::Value,
            // How a Japanese text is pronounced.
            "rPh" => self.part = Part::None,
            "oddHeader" | "oddFooter" | "evenHeader" | "evenFooter" | "firstHeader" | "firstFooter" => {
                self.margins.push(if name.ends_with("Header") { "Header: " } else { "Footer: " }.into());
                self.part = Part::Margin;
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, text: &mut String) {
        self.part = Part::None;
        match name {
            // What no text has room for is not even copied.
            "c" if self.cell.column < COLUMNS && self.length <= MAX_TEXT => {
                let column = self.cell.column;
                let shown = one_line(&self.show_cell());
                self.length += shown.len();
                self.row.resize(self.row.len().max(column + 1), String::new());
                if !shown.is_empty() {
                    self.used.insert(column);
                }
                self.row[column] = shown;
            }
            "row" if self.row.iter().any(|cell| !cell.is_empty()) => {
                text.push_str(if self.is_row_hidden { "(hidden row) " } else { "" });
                text.push_str(&self.row.join(" | "));
                text.push('\n');
            }
            _ => {}
        }
    }

    fn takes(&self) -> bool {
        self.part != Part::None
    }

    fn write(&mut self, characters: &str, _: &mut String) {
        match self.part {
            Part::Value => self.cell.value.push_str(characters),
            Part::Formula => self.cell.formula.get_or_insert_default().push_str(characters),
            Part::Margin => self.margins.last_mut().into_iter().for_each(|margin| margin.push_str(characters)),
            Part::None => {}
        }
    }
}

/// A header or footer without its codes such as `&L`, `&"Arial,Bold"` and `&12`. Page numbers and dates are left out.
fn plain_margin(margin: &str) -> String {
    let mut parts = margin.split('&');
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut is_sign = false;
    for part in parts {
        // `&&` is the sign itself.
        if part.is_empty() {
            text.push('&');
            is_sign = true;
            continue;
        }
        let plain = match part.chars().next() {
            _ if std::mem::take(&mut is_sign) => part,
            Some('"') => part[1..].split_once('"').map_or("", |(_, plain)| plain),
            Some('0'..='9') => part.trim_start_matches(|c: char| c.is_ascii_digit()),
            Some('K') => part.get(7..).unwrap_or_default(),
            Some('L' | 'C' | 'R') => {
                text.push(' ');
                &part[1..]
            }
            first => &part[first.map_or(0, char::len_utf8)..],
        };
        text.push_str(plain);
    }
    let shown = one_line(&text);
    if shown.split_once(':').is_some_and(|(_, rest)| rest.contains(char::is_alphabetic)) { shown } else { String::new() }
}

/// The column of a cell such as `C5`, from 0.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_uppercase);
    let number = letters.fold(0_usize, |number, letter| number.saturating_mul(26).saturating_add(usize::from(letter - b'A') + 1));
    number.checked_sub(1)
}

/// The letters of a column from 0.
fn letters(column: usize) -> String {
    let letter = |number: usize| char::from(b'A' + u8::try_from(number % 26).unwrap_or(0));
    let first = column.checked_sub(26).map(|rest| letter(rest / 26));
    first.into_iter().chain([letter(column)]).collect()
}
