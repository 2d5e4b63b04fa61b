//! Tools: what a model may have done besides writing, each with a schema, limits and a risk (TOOL-2).
//!
//! A [`Tool`] does one thing and says what the world outside the item's workspace may notice of it; whether it may be done is `policy`'s, which
//! sees only that, the rights of the persona and whether text from outside is in the turn. Nothing here asks a model or knows prompts.

mod arguments;
mod backlog_add;
pub mod command;
mod git;
mod limits;
mod local;
mod memory;
mod policy;
mod read_feed;
mod schema;
mod toolbox;
pub mod web;
pub mod workspace;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::domain::approval::Risk;
use crate::domain::ids::{PersonaSlug, WorkItemId};
use crate::domain::work::Trace;

pub use limits::{RESEARCH, ResearchLimits, Spent};
pub use local::{LocalParts, local_tools};
pub use policy::Decision;
pub use read_feed::FeedReader;
pub use toolbox::Toolbox;

/// One thing that can be done.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    fn name(&self) -> &'static str;

    /// For the model: what it does and when to use it.
    fn description(&self) -> String;

    /// The JSON schema of its arguments, an object without other properties.
    fn parameters(&self) -> Value;

    fn limits(&self) -> ToolLimits {
        ToolLimits::default()
    }

    /// What this call may do to the world outside the workspace. The arguments fit the schema.
    fn risk(&self, arguments: &Value, setting: &ToolSetting<'_>) -> Risk;

    /// Does it. The arguments fit the schema, and policy has allowed it.
    async fn call(&self, arguments: &Value, setting: &ToolSetting<'_>) -> Result<ToolOutput, ToolError>;
}

/// What a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLimits {
    pub timeout: Duration,
    /// The most characters of its text that a model is told.
    pub chars: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(20), chars: 8000 }
    }
}

/// Where and for whom a call is made.
pub struct ToolSetting<'a> {
    pub persona: &'a PersonaSlug,
    pub item: &'a WorkItemId,
    /// Addresses that the run may fetch without composing them: those in the item's own words, and those that searches and pages gave.
    pub seen: &'a [String],
    /// The run holds text from outside (TRUST-1).
    pub tainted: bool,
    pub now: DateTime<Utc>,
    pub cancel: &'a CancellationToken,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    pub text: String,
    /// The text is from outside (TRUST-1).
    pub outside: bool,
    pub trace: Option<Trace>,
}

/// Why nothing came of it, as a sentence that the model is told. It is the tool's own: no word of it is from outside, or an error would carry
/// into a run what only marked text may.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It may not be done: an address inside, a path that leaves the workspace.
    #[error("{0}")]
    Refused(String),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
}
