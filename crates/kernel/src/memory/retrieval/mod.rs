//! Searches documents (passages, BM25, quotations).
//!
//! Full-text search only, without a stored index: a few hundred kilobytes take milliseconds. `offline` and `context` use the results. Memories have
//! their own search, in [`memory::search`](crate::memory::search).

mod library;
mod passage;
mod quote;
mod terms;

pub use library::{Hit, Library};
pub use passage::{Heading, Passage, headings_of, split};
pub use quote::{Quote, cut};
pub use terms::{Query, QuestionKind, terms_of, words_of};
pub(super) use terms::{is_stop_word, stem};
