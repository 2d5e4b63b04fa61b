use serde::Serialize;

use kernel::agent::prompt::{Block, Template};

static WORK: Template = Template::new(include_str!("work.md.j2"));

/// What a run of a work item begins with. All texts are clean already.
#[derive(Debug, Serialize)]
pub(crate) struct Work<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    /// `research`, `write` or `build`.
    pub(crate) kind: &'static str,
    /// What is to be done, how and why, as a person said it. Nothing where agents said it: then it is among the blocks.
    pub(crate) words: Option<String>,
    pub(crate) criteria: Vec<String>,
    pub(crate) urgency: &'static str,
    pub(crate) owner: String,
    pub(crate) origin: String,
    /// It was tried before.
    pub(crate) again: bool,
    /// What a run may use, in words.
    pub(crate) limits: String,
    pub(crate) blocks: &'a [Block],
}

/// The message that a run begins with.
pub(crate) fn render_work(work: &Work<'_>) -> String {
    WORK.render(work)
}
