use serde::Serialize;

use kernel::agent::prompt::Template;

static AMENDMENT: Template = Template::new(include_str!("amendment.md.j2"));

/// The prompt that drafts what a persona is told to do differently. All texts are sanitised already.
#[derive(Debug, Serialize)]
pub(crate) struct Amendment<'a> {
    pub(crate) marker: &'a str,
    /// The persona's name, and its own prompt.
    pub(crate) persona: String,
    pub(crate) prompt: String,
    /// The kind of work.
    pub(crate) skill: &'a str,
    pub(crate) reasons: String,
    /// The text of the amendment in use. Empty: none.
    pub(crate) before: String,
    /// Why the last draft was refused.
    pub(crate) faults: Vec<String>,
}

pub(crate) fn render_amendment(amendment: &Amendment<'_>) -> String {
    AMENDMENT.render(amendment)
}
