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
