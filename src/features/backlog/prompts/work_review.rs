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
    /// The number of parts. 0: it was carried out itself.
    pub(crate) parts: usize,
    /// The number of criteria.
    pub(crate) criteria: usize,
    /// A file is not here whole, but can be read.
    pub(crate) cut: bool,
    /// Why the last verdict did not count. Empty at first.
    pub(crate) fault: &'a str,
    pub(crate) blocks: &'a [Block],
}

pub(crate) fn render_review(review: &Review<'_>) -> String {
    WORK_REVIEW.render(review)
}
