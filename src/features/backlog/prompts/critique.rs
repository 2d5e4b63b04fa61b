use serde::Serialize;

use kernel::agent::prompt::{Block, Template};

static CRITIQUE: Template = Template::new(include_str!("critique.md.j2"));
static QUESTIONS: Template = Template::new(include_str!("questions.md.j2"));

/// The prompt of an author's critique of its own work. All texts are sanitised already.
#[derive(Debug, Serialize)]
pub(crate) struct Critique<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    /// The number of criteria.
    pub(crate) criteria: usize,
    /// The number of questions that it is to answer.
    pub(crate) questions: usize,
    pub(crate) blocks: &'a [Block],
}

pub(crate) fn render_critique(critique: &Critique<'_>) -> String {
    CRITIQUE.render(critique)
}

/// The prompt that divides a matter into questions.
#[derive(Debug, Serialize)]
pub(crate) struct Questions<'a> {
    pub(crate) marker: &'a str,
    /// The most questions.
    pub(crate) most: usize,
    pub(crate) blocks: &'a [Block],
}

pub(crate) fn render_questions(questions: &Questions<'_>) -> String {
    QUESTIONS.render(questions)
}
