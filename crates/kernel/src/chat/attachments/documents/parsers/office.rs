//! The text of office documents: archives of XML files.

use std::io::{Cursor, Read as _};
use std::time::Instant;

use zip::ZipArchive;
use zip::result::ZipError;

use super::dialects::{Book, Microsoft, Open, Shared, Sheet, Targets};
use super::xml::walk;
use super::{Document, MAX_PAGES, MAX_UNPACKED, Pages, Read, Unreadable};

/// The most files of an archive.
const FILES: usize = 10_000;

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
        // The size that the archive states may be wrong.
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

/// The kind of document that an archive is, by the names in it. None: another one, or it does not open.
pub(crate) fn list_archive(bytes: &[u8]) -> Option<Document> {
    let mut archive = Archive::open(bytes).ok()?;
    let has = |start: &str| archive.files.file_names().flatten().any(|name| name.starts_with(start) && name.ends_with(".xml"));
    let starts = [("word/document", Document::Docx), ("ppt/slides/slide", Document::Pptx), ("xl/workbook", Document::Xlsx)];
    let by_folder = starts.into_iter().find(|(start, _)| has(start));
    by_folder.map(|(_, document)| document).or_else(|| {
        let kind = archive.read("mimetype").ok()??;
        kind.starts_with(b"application/vnd.oasis.opendocument").then_some(Document::OpenDocument)
    })
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
        let text = walk(&xml, &mut Sheet::new(&shared.texts), until)?;
        pages.push(&format!("Sheet {name}"), &text);
    }
    Ok(pages.finish(shown, book.sheets.len()))
}

/// A text without spaces at the ends of lines, and with at most one blank line in a row.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(|line| line.trim_end().trim_end_matches(" |")) {
        if !(line.trim().is_empty() && lines.last().is_none_or(|last| last.trim().is_empty())) {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}
