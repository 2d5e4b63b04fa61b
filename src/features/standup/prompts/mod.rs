//! The prompts of a standup: report, call, conclusion.

use serde::Serialize;

use kernel::agent::prompt::{Block, Template};

static STANDUP_REPORT: Template = Template::new(include_str!("standup_report.md.j2"));
static STANDUP_CALL: Template = Template::new(include_str!("standup_call.md.j2"));
static STANDUP_CONCLUDE: Template = Template::new(include_str!("standup_conclude.md.j2"));

/// What changes from report to report. All texts are clean already.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    pub(crate) channel: String,
    pub(crate) role: &'a str,
    /// `delta`, `call`, or none.
    pub(crate) duty: Option<&'static str>,
    pub(crate) since: String,
    /// Characters.
    pub(crate) cap: usize,
    /// Of `ratings`; none before the first.
    pub(crate) useful: Option<u64>,
    pub(crate) ratings: u64,
    /// For the persona that makes the call.
    pub(crate) question: Option<Question<'a>>,
    pub(crate) scoreboard: String,
    pub(crate) blocks: &'a [Block],
}

/// The essential question with its terms in words.
#[derive(Debug, Serialize)]
pub(crate) struct Question<'a> {
    pub(crate) text: &'a str,
    pub(crate) terms: String,
    pub(crate) expires: String,
}

/// What the call is asked with.
#[derive(Debug, Serialize)]
pub(crate) struct Call<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    pub(crate) channel: String,
    pub(crate) question: Question<'a>,
    /// The value now, with its unit.
    pub(crate) base: String,
    pub(crate) scoreboard: String,
    pub(crate) blocks: &'a [Block],
}

/// What the conclusion is asked with.
#[derive(Debug, Serialize)]
pub(crate) struct Conclude<'a> {
    pub(crate) marker: &'a str,
    pub(crate) now: String,
    pub(crate) channel: String,
    /// How many actions there may be.
    pub(crate) actions: usize,
    /// Names that an action may be given to.
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
