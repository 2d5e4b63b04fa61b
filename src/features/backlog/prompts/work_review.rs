use serde::Serialize;

use kernel::agent::prompt::{Block, Template};

static WORK_REVIEW: Template = Template::new(include_str!("work_review.md.j2"));

/// What somebody who judges work is asked with. All texts are clean already.
#[derive(Debug, Serialize)]
pub(crate) struct Review<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    /// The name of whoever carried it out.
    pub(crate) author: String,
    /// How many criteria the item has.
    pub(crate) criteria: usize,
    pub(crate) blocks: &'a [Block],
}

pub(crate) fn render_review(review: &Review<'_>) -> String {
    WORK_REVIEW.render(review)
}
