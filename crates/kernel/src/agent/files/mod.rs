//! The files of a conversation, for the prompt and for the offline composer: which of them a question is about (`select`), what stands in them
//! (`search`), and what an answer says about how much of them was read (`remarks`).

mod remarks;
mod search;
mod select;

use chrono::{DateTime, Utc};

pub use remarks::{PartRead, amount, remark_on_parts};
pub use search::Search;
pub use select::{Asked, Selection, select};

use crate::chat::attachments::Media;
use crate::ids::MessageId;

/// A file as far as it is known without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// The platform's id of the attachment.
    pub id: String,
    pub message: MessageId,
    /// For display and citations, never a path.
    pub name: String,
    /// Display name of the sender.
    pub by: String,
    /// Whether the asking person posted it.
    pub by_asker: bool,
    pub at: DateTime<Utc>,
    /// Whether it has text, or can be shown.
    pub is_readable: bool,
    /// Whether it is a picture whose bytes are kept.
    pub has_picture: bool,
    /// Why it could not be read, or not all of it. A sentence.
    pub note: Option<String>,
}

impl KnownFile {
    pub fn media(&self) -> Option<Media> {
        Media::of(&self.name)
    }
}

/// A file with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub by: String,
    pub at: DateTime<Utc>,
    /// None if it could not be read. `note` says why.
    pub text: Option<String>,
    /// A picture that the model sees.
    pub is_shown: bool,
    /// A recording whose words are in the text of its message.
    pub is_heard: bool,
    pub note: Option<String>,
}

impl File {
    pub fn media(&self) -> Option<Media> {
        Media::of(&self.name)
    }
}

/// The files that an answer may look into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// The files that the question is about, as far as that is known.
    pub focus: Vec<File>,
    /// The question came with the files in focus, replies to them, or names them. Else they are only the newest.
    pub is_meant: bool,
    /// The question stands in the thread of its files.
    pub in_thread: bool,
    /// A file that the question is about could not be read. No other file may answer in its place.
    pub is_closed: bool,
    /// Other files of the conversation.
    pub near: Vec<File>,
    /// Files from before the conversation. They count only if they fit better than anything else.
    pub older: Vec<File>,
}

impl Files {
    /// The files that the question is surely about and that have text.
    pub fn list_meant(&self) -> impl Iterator<Item = (&File, &str)> {
        self.focus.iter().filter(|_| self.is_meant).filter_map(|file| Some((file, file.text.as_deref()?)))
    }

    /// Why files that the question is surely about were not read, or not all of them. Sentences for the answer.
    pub fn list_notes(&self) -> Vec<&str> {
        self.list_noted().map(|(_, note)| note).collect()
    }

    /// These notes with their files.
    pub fn list_noted(&self) -> impl Iterator<Item = (&File, &str)> {
        self.focus.iter().filter(|_| self.is_meant).filter_map(|file| Some((file, file.note.as_deref()?)))
    }
}
