//! Tools: what a model may do besides writing, each with a schema, limits and a risk (TOOL-2).
//!
//! A [`Tool`] does one thing and tells the risk of each call. `policy` decides whether the call may be made. Nothing here asks a model or knows
//! prompts.

pub mod approval;
mod arguments;
pub mod command;
pub mod git;
mod limits;

mod policy;
pub mod read_feed;
mod schema;
pub mod settings;
mod toolbox;
mod trace;
pub mod web;
pub mod workspace;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ids::{PersonaSlug, WorkItemId};
use crate::memory::MemorySource;
use crate::tools::approval::Risk;

pub use limits::{RESEARCH, ResearchLimits, ResearchUse};

pub use arguments::parse_arguments;
pub use policy::Decision;
pub use read_feed::FeedReader;
pub use toolbox::Toolbox;
pub use trace::Trace;

/// One thing that a model can have done.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    fn name(&self) -> &'static str;

    /// What it does and when to use it, for the model.
    fn description(&self) -> String;

    /// The JSON schema of its arguments, an object without other properties.
    fn parameters(&self) -> Value;

    fn limits(&self) -> ToolLimits {
        ToolLimits::default()
    }

    /// Whether it works on files of a workspace. Runs without one are not offered it.
    fn needs_workspace(&self) -> bool {
        false
    }

    /// What this call may do outside the workspace. The arguments fit the schema.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk;

    /// Makes the call. The arguments fit the schema, and policy has allowed it.
    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError>;
}

/// How long a call and its result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLimits {
    pub timeout: Duration,
    /// Characters of its text that a model is told.
    pub chars: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(20), chars: 8000 }
    }
}

/// The run that a call is made in.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    pub persona: &'a PersonaSlug,
    /// The item whose workspace holds the files. None in a conversation.
    pub workspace: Option<&'a WorkItemId>,
    /// Where the things come from that the call stores. None: nothing can be stored.
    pub source: Option<&'a MemorySource>,
    /// Addresses that may be fetched without approval: those in the task's own words, and those that searches and pages gave.
    pub seen: &'a [String],
    /// The run holds text from outside (TRUST-1).
    pub tainted: bool,
    pub now: DateTime<Utc>,
    pub cancel: &'a CancellationToken,
}

impl<'a> ToolContext<'a> {
    /// # Errors
    /// The run has no workspace. Such a run is not offered the tool, so the model made the call up.
    pub fn get_workspace(&self) -> Result<&'a WorkItemId, ToolError> {
        self.workspace.ok_or_else(|| ToolError::Refused("there is no workspace in a conversation".into()))
    }

    /// # Errors
    /// The run has nothing that what it stores could belong to.
    pub fn get_source(&self) -> Result<&'a MemorySource, ToolError> {
        self.source.ok_or_else(|| ToolError::Refused("nothing can be stored from here".into()))
    }
}

/// How a call ended (TOOL-1). Only `ok` counts as a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Ok,
    /// It was tried and did not work, or nobody knows whether it did.
    Failed,
    /// Policy, a person or the tool said no.
    Refused,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    pub text: String,
    /// The text is from outside (TRUST-1).
    pub outside: bool,
    pub trace: Option<Trace>,
}

/// Why a call has no result, as a sentence for the model. Tools write it themselves and quote nothing from outside, which only marked text may
/// carry into a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It is not allowed: an address inside the network, a path that leaves the workspace.
    #[error("{0}")]
    Refused(String),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
}
