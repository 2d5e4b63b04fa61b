//! The prompts of a standup: report, call, conclusion.

use serde::Serialize;

use kernel::agent::prompt::{Block, Template};

static STANDUP_REPORT: Template = Template::new(include_str!("standup_report.md.j2"));
static STANDUP_CALL: Template = Template::new(include_str!("standup_call.md.j2"));
static STANDUP_CONCLUDE: Template = Template::new(include_str!("standup_conclude.md.j2"));

/// The variable part of a report prompt. All texts are sanitised already.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    pub(crate) channel: String,
    pub(crate) role: &'a str,
    /// `delta`, `call`, or none.
    pub(crate) duty: Option<&'static str>,
    pub(crate) since: String,
    /// In characters.
    pub(crate) cap: usize,
    /// Useful ones among `ratings`. None before the first rating.
    pub(crate) useful: Option<u64>,
    pub(crate) ratings: u64,
    /// For the persona that makes the call.
    pub(crate) question: Option<Question<'a>>,
    pub(crate) scoreboard: String,
    pub(crate) blocks: &'a [Block],
}

/// The essential question with its terms.
#[derive(Debug, Serialize)]
pub(crate) struct Question<'a> {
    pub(crate) text: &'a str,
    pub(crate) terms: String,
    pub(crate) expires: String,
}

/// The prompt of a call.
#[derive(Debug, Serialize)]
pub(crate) struct Call<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    pub(crate) channel: String,
    pub(crate) question: Question<'a>,
    /// The current value with its unit.
    pub(crate) base: String,
    pub(crate) scoreboard: String,
    pub(crate) blocks: &'a [Block],
}

/// The prompt of the conclusion.
#[derive(Debug, Serialize)]
pub(crate) struct Conclude<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    pub(crate) channel: String,
    /// The most actions.
    pub(crate) actions: usize,
    /// Possible owners of actions.
    pub(crate) owners: Vec<String>,
    pub(crate) blocks: &'a [Block],
}

pub(crate) fn render_report(report: &Report<'_>) -> String {
    STANDUP_REPORT.render(report)
}

pub(crate) fn render_call(call: &Call<'_>) -> String {
    STANDUP_CALL.render(call)
}

pub(crate) fn render_conclude(conclude: &Conclude<'_>) -> String {
    STANDUP_CONCLUDE.render(conclude)
}
