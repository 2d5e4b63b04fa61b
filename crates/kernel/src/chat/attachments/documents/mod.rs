//! PDF and office documents as text (CHAT-27).
//!
//! A document is hostile until proven otherwise: it unpacks to a bounded size, its pages and its time are limited, and a panic of a parser is an
//! unreadable file.

#[cfg(feature = "documents")]
mod parsers;

#[cfg(not(feature = "documents"))]
use std::time::Instant;

use crate::chat::attachments::ending_of;
#[cfg(feature = "documents")]
use parsers::list_archive;
#[cfg(feature = "documents")]
pub(super) use parsers::read;

/// A kind of document, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    /// `odt`, `ods` and `odp`.
    OpenDocument,
}

impl Document {
    pub fn of(name: &str) -> Option<Self> {
        match ending_of(name)?.as_str() {
            "pdf" => Some(Self::Pdf),
            "docx" => Some(Self::Docx),
            "pptx" => Some(Self::Pptx),
            "xlsx" => Some(Self::Xlsx),
            "odt" | "ods" | "odp" => Some(Self::OpenDocument),
            _ => None,
        }
    }
}

/// The kind of document that the bytes of a file are. The name counts only for archives that are of no known kind, because such a file is a damaged document.
pub(super) fn recognise(bytes: &[u8], name: &str) -> Option<Document> {
    let named = Document::of(name);
    let has_mark = |bytes: &[u8]| bytes.windows(PDF.len()).any(|window| window == PDF);
    // The mark may be preceded by other bytes, but a text about PDF files is none.
    if bytes.trim_ascii_start().starts_with(PDF) || named == Some(Document::Pdf) && has_mark(&bytes[..bytes.len().min(1024)]) {
        return Some(Document::Pdf);
    }
    match bytes {
        [b'P', b'K', 3, 4, ..] => list_archive(bytes).or(named),
        // An encrypted document is in a container of Microsoft's, as are those of before 2007.
        [0xD0, 0xCF, 0x11, 0xE0, ..] => named.or_else(|| is_encrypted(bytes).then_some(Document::Docx)),
        _ => None,
    }
}

/// The start of a PDF.
const PDF: &[u8] = b"%PDF-";

/// Whether a container of Microsoft's has an entry for an encrypted document. Its names are in UTF-16.
fn is_encrypted(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(name.len()).any(|window| window == name)
}

/// A build without parsers.
#[cfg(not(feature = "documents"))]
fn list_archive(_: &[u8]) -> Option<Document> {
    None
}

/// Why a document has no text. It completes "I can't read it: …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it is damaged or not what its name says")]
    Damaged,
    #[error("it is protected by a password")]
    Protected,
    #[error("it unpacks to more than 32 MiB")]
    Unpacked,
    #[error("it has pictures only and no text")]
    NoText,
    #[error("it takes too long to read")]
    Slow,
    #[error("this program was built without the feature \"documents\"")]
    NotBuilt,
}

/// The text of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) text: String,
    /// How many pages, slides or sheets are in the text, and how many there are. None if all are in the text.
    pub(super) pages: Option<(usize, usize)>,
    /// The text was longer than what is kept.
    pub(super) is_cut: bool,
}

/// A build without parsers.
#[cfg(not(feature = "documents"))]
pub(super) fn read(_: &[u8], _: Document, _: Instant) -> Result<Read, Unreadable> {
    Err(Unreadable::NotBuilt)
}
