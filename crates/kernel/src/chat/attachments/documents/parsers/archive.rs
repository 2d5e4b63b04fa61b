//! Office documents are archives of XML files, which refer to each other by relations.

use std::io::{Cursor, Read as _};
use std::time::Instant;

use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{Dialect, Element, walk};
use super::{Document, MAX_UNPACKED, Unreadable};

/// The limit of files in an archive.
const FILES: usize = 10_000;

/// An archive with what is left of the size that it may unpack to.
pub(super) struct Archive<'a> {
    files: ZipArchive<Cursor<&'a [u8]>>,
    left: usize,
    until: Instant,
}

/// How a part of a document refers to another one.
#[derive(Debug, Default)]
pub(super) struct Relation {
    pub(super) id: String,
    pub(super) kind: String,
    /// The path in the archive.
    pub(super) path: String,
}

impl<'a> Archive<'a> {
    pub(super) fn open(bytes: &'a [u8], until: Instant) -> Result<Self, Unreadable> {
        // An encrypted office file is no archive but a container of Microsoft's.
        if bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(Unreadable::Protected);
        }
        let files = ZipArchive::new(Cursor::new(bytes)).map_err(|_| Unreadable::Damaged)?;
        if files.len() > FILES { Err(Unreadable::Damaged) } else { Ok(Self { files, left: MAX_UNPACKED, until }) }
    }

    /// A file of the archive. None if it is not there.
    pub(super) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Unreadable> {
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

    /// The text of a part that the document cannot do without.
    pub(super) fn walk(&mut self, name: &str, dialect: &mut impl Dialect) -> Result<String, Unreadable> {
        let xml = self.read(name)?.ok_or(Unreadable::Damaged)?;
        walk(&xml, dialect, self.until)
    }

    /// The text of a part that may be missing. A damaged one costs what it holds, and not the file.
    pub(super) fn walk_extra(&mut self, name: &str, dialect: &mut impl Dialect) -> Result<String, Unreadable> {
        match self.walk(name, dialect) {
            Err(Unreadable::Damaged) => Ok(String::new()),
            walked => walked,
        }
    }

    /// What a part refers to within the archive.
    pub(super) fn relations(&mut self, part: &str) -> Result<Vec<Relation>, Unreadable> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let mut relations = Relations { folder: folder.to_owned(), found: Vec::new() };
        self.walk_extra(&format!("{folder}/_rels/{name}.rels"), &mut relations)?;
        Ok(relations.found)
    }

    /// The files `{prefix}1.xml`, `{prefix}2.xml` and so on, in the order of their numbers.
    pub(super) fn list_numbered(&self, prefix: &str) -> Vec<String> {
        let number = |name: &str| name.strip_prefix(prefix)?.strip_suffix(".xml")?.parse::<u32>().ok();
        let names = self.files.file_names().filter_map(|name| name.ok().map(std::borrow::Cow::into_owned));
        let mut found: Vec<(u32, String)> = names.filter_map(|name| Some((number(&name)?, name))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, name)| name).collect()
    }
}

/// The kind of document that an archive is, by the names in it. None: another one, or it does not open.
pub(crate) fn list_archive(bytes: &[u8]) -> Option<Document> {
    let files = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let has = |start: &str| files.file_names().flatten().any(|name| name.starts_with(start) && name.ends_with(".xml"));
    let starts = [("word/document", Document::Docx), ("ppt/slides/slide", Document::Pptx), ("xl/workbook", Document::Xlsx)];
    let by_folder = starts.into_iter().find(|(start, _)| has(start));
    by_folder.map(|(_, document)| document).or_else(|| is_open_document(files).then_some(Document::OpenDocument))
}

fn is_open_document(mut files: ZipArchive<Cursor<&[u8]>>) -> bool {
    const KIND: &[u8] = b"application/vnd.oasis.opendocument";
    let mut kind = [0; KIND.len()];
    files.by_name("mimetype").is_ok_and(|mut file| file.read_exact(&mut kind).is_ok()) && kind == KIND
}

struct Relations {
    folder: String,
    found: Vec<Relation>,
}

impl Dialect for Relations {
    fn start(&mut self, _: &str, element: &Element<'_>, _: &mut String) {
        if let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
            && self.found.len() < FILES
        {
            let kind = element.attribute("Type").unwrap_or_default();
            self.found.push(Relation { id, kind, path: resolve(&self.folder, &target) });
        }
    }

    fn end(&mut self, _: &str, _: &mut String) {}

    fn takes(&self) -> bool {
        false
    }
}

/// The path of a target that is relative to a folder.
fn resolve(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}
