//! Searches documents (passages, BM25, quotations) and lessons.
//!
//! Full-text search only, without a stored index: a few hundred kilobytes take milliseconds. `offline` and `context` use the results.

mod lessons;
mod library;
mod passage;
mod quote;
mod terms;

pub use lessons::find_lessons;
pub use library::{Hit, Library};
pub use passage::{Heading, Passage, headings_of};
pub use quote::{Quote, cut};
pub use terms::{Query, QuestionKind, terms_of, words_of};
