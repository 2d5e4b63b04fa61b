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
    /// The number of criteria.
    pub(crate) criteria: usize,
    pub(crate) blocks: &'a [Block],
}

pub(crate) fn render_review(review: &Review<'_>) -> String {
    WORK_REVIEW.render(review)
}
