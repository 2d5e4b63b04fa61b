//! Search over documents: passages, BM25, and the sentences that answer; and over lessons, which are a sentence each.
//!
//! By words alone, computed anew for each question: a few hundred kilobytes take milliseconds, and nothing has to be kept in step.
//! It finds and cites; what is said about it is for `offline` and `context`.

mod lessons;
mod library;
mod passage;
mod quote;
mod terms;

use chrono::{DateTime, Utc};

pub use lessons::find_lessons;
pub use library::{Hit, Library};
pub use passage::{Heading, Passage, headings_of};
pub use quote::{Quote, cut};
pub use terms::{Query, QuestionKind, terms_of, words_of};

/// A file that somebody posted in a channel, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelFile {
    /// For showing and citing, never used as a path.
    pub name: String,
    pub text: String,
    /// Display name of who posted it.
    pub by: String,
    pub at: DateTime<Utc>,
}
