//! Tools that models can call, each with a schema, limits and a risk (TOOL-2).
//!
//! A [`Tool`] does one thing and reports the risk of each call. `policy` decides whether the call is allowed.

mod act;
pub mod approval;
mod arguments;
pub mod command;
pub mod git;
mod limits;

mod policy;
pub mod read_feed;
pub(crate) mod schema;
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
use crate::memory::retrieval::terms_of;
use crate::memory::{MemorySource, Scope, Teacher};
use crate::tools::approval::Risk;

pub use act::Act;
pub use limits::{RESEARCH, ResearchLimits, ResearchUse};

pub use arguments::parse_arguments;
pub use policy::Decision;
pub use read_feed::FeedReader;
pub use toolbox::Toolbox;
pub use trace::Trace;

#[async_trait]
pub trait Tool: Send + Sync + 'static {
    fn name(&self) -> &'static str;

    /// What it does and when to use it, for the model.
    fn description(&self) -> String;

    /// Words by which people ask for it, in any language. They offer it at once to a run that is about them; any other run finds it by its description.
    fn asked_by(&self) -> &'static str {
        ""
    }

    /// The JSON schema of its arguments: an object without additional properties.
    fn parameters(&self) -> Value;

    fn limits(&self) -> ToolLimits {
        ToolLimits::default()
    }

    /// Whether it needs a workspace. Otherwise it is offered to all runs.
    fn needs_workspace(&self) -> bool {
        false
    }

    /// Whether it acts upon somebody's message. Otherwise it is offered to all runs.
    fn needs_message(&self) -> bool {
        false
    }

    /// The effects of this call outside the workspace. The arguments match the schema.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk;

    /// Whether every persona has it in a conversation with a person, whatever its file lists.
    fn is_for_all(&self) -> bool {
        false
    }

    /// Whether the person who is answered has asked for exactly this call, so that text from outside cannot have caused it.
    fn is_asked_for(&self, _arguments: &Value, _context: &ToolContext<'_>) -> bool {
        false
    }

    /// Whether the call throws work away, so that a person has to allow it in any case.
    fn discards(&self, _arguments: &Value) -> bool {
        false
    }

    /// Whether the same call of the same message may be made again after a crash, because it has an effect only once.
    fn is_repeatable(&self) -> bool {
        true
    }

    /// What a call is doing, for the line that people see while it runs: "Reading example.org".
    fn describe_doing(&self, _arguments: &Value) -> Option<String> {
        None
    }

    /// What a successful call has done, as small print below the answer: "Added `#a1b2c3` to the backlog".
    fn describe_done(&self, _trace: &Trace) -> Option<String> {
        None
    }

    /// A call as a question to the person who has to allow it, with everything in it: "May I add this to the backlog?".
    fn describe_wish(&self, arguments: &Value) -> String {
        let arguments = approval::show_arguments(arguments).trim_end().replace("```", "'''");
        format!("May I call `{}`?\n```\n{arguments}\n```", self.name())
    }

    /// What such a call does and takes, for a model that reads only what people wrote. Nothing in it may come from the values of the arguments.
    fn outline(&self, _arguments: &Value) -> String {
        format!("{}\nIts arguments: {}", self.description(), self.parameters())
    }

    /// Executes the call. The arguments match the schema, and the policy allows it.
    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError>;
}

/// The time and size limits of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolLimits {
    pub timeout: Duration,
    /// Characters of the result for the model.
    pub chars: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(20), chars: 8000 }
    }
}

/// The person whose message a run answers, and what the message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedBy {
    pub person: Teacher,
    pub text: String,
    /// The text of the message that it replies to. Empty: it replies to none.
    pub replied_to: String,
    /// What people said before it, and the ids that the team named, one line each. No other text is in it.
    pub talk: Vec<String>,
}

impl AskedBy {
    /// Whether a text stands word for word in the message, so that it holds nothing that the run has read elsewhere. Questions in it do not count,
    /// because they ask for nothing to be written.
    pub fn says(&self, text: &str) -> bool {
        self.statements().iter().any(|statement| holds(statement, text))
    }

    /// Whether the message names something, or replies to a message with this id and no other.
    pub fn points_to(&self, reference: &str) -> bool {
        let ids = ids_in(&self.replied_to);
        self.says(reference) || (ids.len() == 1 && ids[0].trim_start_matches('#') == reference.trim_start_matches('#'))
    }

    /// As [`Self::says`], with the words in any order and form: "the certificate has to be renewed" for "Renew the certificate".
    pub fn has_words_of(&self, text: &str) -> bool {
        let (said, terms) = (terms_of(&self.statements().join(" ")), terms_of(text));
        !terms.is_empty() && terms.iter().all(|term| said.contains(term))
    }

    /// The text between its questions.
    fn statements(&self) -> Vec<String> {
        let ends = |(place, c): (usize, char)| {
            let is_last = self.text[place + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace);
            (c == '\n' || "？。".contains(c) || (".!?؟".contains(c) && is_last)).then(|| place + c.len_utf8())
        };
        let mut from = 0;
        let ends = self.text.char_indices().filter_map(ends).chain([self.text.len()]);
        let sentences: Vec<&str> = ends.map(|end| &self.text[std::mem::replace(&mut from, end)..end]).collect();
        let is_question = |sentence: &&str| sentence.trim_end().ends_with(['?', '？', '؟']);
        sentences.split(|sentence| is_question(sentence)).map(<[&str]>::concat).collect()
    }
}

/// The short ids of items and the like in a text, as `#a1b2c3`, each once.
pub fn ids_in(text: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for rest in text.split('#').skip(1) {
        let id: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        let id = format!("#{id}");
        if id.len() == 7 && id[1..].chars().all(|c| c.is_ascii_hexdigit()) && !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Whether the words of a part stand one after the other in a text.
fn holds(text: &str, part: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let (text, part) = (words(text), words(part));
    !part.is_empty() && text.windows(part.len()).any(|found| found == part)
}

/// The run that makes a call.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    pub persona: &'a PersonaSlug,
    /// The item whose workspace is used. None in a conversation.
    pub workspace: Option<&'a WorkItemId>,
    /// The source recorded for stored data. None: nothing can be stored.
    pub source: Option<&'a MemorySource>,
    /// Which memories the run may be told, and where those that it saves may be told.
    pub scope: &'a Scope,
    /// None in a run that answers no person.
    pub asked_by: Option<&'a AskedBy>,
    /// Addresses that may be fetched without approval: from the task's text, searches and fetched pages.
    pub seen: &'a [String],
    /// The run contains text from outside (TRUST-1).
    pub tainted: bool,
    pub now: DateTime<Utc>,
    pub cancel: &'a CancellationToken,
}

impl<'a> ToolContext<'a> {
    /// # Errors
    /// The run has no workspace. It was not offered the tool, so the model invented the call.
    pub fn get_workspace(&self) -> Result<&'a WorkItemId, ToolError> {
        self.workspace.ok_or_else(|| ToolError::Refused("there is no workspace in a conversation".into()))
    }

    /// # Errors
    /// The run has no source to record.
    pub fn get_source(&self) -> Result<&'a MemorySource, ToolError> {
        self.source.ok_or_else(|| ToolError::Refused("nothing can be stored from here".into()))
    }
}

/// How a call ended (TOOL-1). Only `ok` counts as a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Ok,
    /// It failed, or the result is unknown.
    Failed,
    /// Refused by the policy, a person or the tool.
    Refused,
    /// Not done yet: a person is asked.
    Proposed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    pub text: String,
    /// The text comes from outside (TRUST-1).
    pub outside: bool,
    pub trace: Option<Trace>,
}

/// Why a call failed, as a sentence for the model. Written by the tool itself: text from outside may enter a run only inside markers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// Not allowed: an address inside the network, a path outside the workspace.
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    Failed(String),
}
