use serde::Serialize;

use kernel::agent::prompt::{Block, Template};

static WORK_REVIEW: Template = Template::new(include_str!("work_review.md.j2"));

/// The prompt of a review. All texts are sanitised already.
#[derive(Debug, Serialize)]
pub(crate) struct Review<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    /// The name of the persona that did the work.
    pub(crate) author: String,
    /// The number of parts. 0: the item has no parts.
    pub(crate) parts: usize,
    /// The number of criteria.
    pub(crate) criteria: usize,
    /// At least one file is cut in the prompt, but tools can read all of it.
    pub(crate) cut: bool,
    /// A result before this one was not accepted.
    pub(crate) again: bool,
    /// Why the last verdict did not count. Empty at first.
    pub(crate) fault: &'a str,
    pub(crate) blocks: &'a [Block],
}

pub(crate) fn render_review(review: &Review<'_>) -> String {
    WORK_REVIEW.render(review)
}
