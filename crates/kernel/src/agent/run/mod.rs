//! The agent loop: prompt, tools, limits and journal in, reply out.
//!
//! [`Runner`] starts a `session`, which asks the model, executes its tool calls and repeats until the model answers. `progress` computes its
//! state from the journal; `call` checks and executes one call, `own_words` finds out whether a person asked for it. Without a journal the same entries are kept in memory.

mod call;
mod claims;
mod offer;
mod own_words;
mod progress;
mod session;
mod shorten;
mod spoken;

use std::pin::Pin;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::journal::Journal;
use crate::agent::{AnswerVerdict, RunError};
use crate::chat::redact::Redactor;
use crate::db::StoreError;
use crate::ids::{ApprovalId, WorkItemId};
use crate::llm::structured::{AnswerFormat, Structured, parse_answer};
use crate::llm::{ModelError, Models, Picture, ToolCall, ToolSpec};
use crate::memory::{MemorySource, Scope};
use crate::money::{Allowance, Purpose, TokenUsage};
use crate::persona::roster::Roster;
use crate::persona::{Persona, Tier};
use crate::time::SharedClock;
use crate::tools::approval::Risk;
use crate::tools::{AskedBy, ToolError, ToolOutput, Toolbox};

pub use offer::list_fitting;
pub use progress::{Progress, addresses_in};
use session::{Session, unusable};

/// The prompt of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The part that is the same for all runs.
    pub system: String,
    pub message: String,
    /// Contains text from outside (TRUST-1).
    pub holds_outside: bool,
    /// Lines of small print that are added below the reply.
    pub remarks: Vec<String>,
}

/// A prompt that is built when a new run starts. A resumed run takes it from the journal.
pub type LazyPrompt<'a> = Pin<Box<dyn Future<Output = Result<Prompt, RunError>> + Send + 'a>>;

pub struct Run<'a> {
    /// None if no persona answers, for example in a classification.
    pub persona: Option<&'a Persona>,
    /// Recorded in the ledger together with `subject`. Both decide which budget pays.
    pub purpose: Purpose,
    pub subject: &'a str,
    pub tier: Tier,
    /// The model calls that the person's message may still pay for. None: only money is a limit.
    pub allowance: Option<Allowance>,
    /// Shown with the prompt.
    pub pictures: Vec<Picture>,
    pub prompt: LazyPrompt<'a>,
    pub max_output_tokens: u32,
    /// `cancel` is a deadline: when it fires, a partial answer is accepted.
    pub keep_partial: bool,
    pub tools: Option<Tools<'a>>,
    pub journal: Option<&'a dyn Journal>,
    pub cancel: &'a CancellationToken,
}

impl<'a> Run<'a> {
    /// A single reply of a persona, without tools and journal.
    pub fn new(
        persona: &'a Persona,
        (purpose, subject): (Purpose, &'a str),
        prompt: Prompt,
        max_output_tokens: u32,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self {
            persona: Some(persona),
            purpose,
            subject,
            tier: persona.tier,
            allowance: None,
            pictures: Vec::new(),
            prompt: Box::pin(std::future::ready(Ok(prompt))),
            max_output_tokens,
            keep_partial: false,
            tools: None,
            journal: None,
            cancel,
        }
    }
}

/// The tools of a run.
pub struct Tools<'a> {
    /// The names of the team's tools that the run may call.
    pub listed: Vec<String>,
    pub offer: Offer,
    /// Tools that the caller executes.
    pub own: Vec<Box<dyn OwnTool + 'a>>,
    /// The item whose workspace is used. None: workspace tools are not offered.
    pub workspace: Option<&'a WorkItemId>,
    /// The source recorded for what tools store.
    pub source: Option<MemorySource>,
    /// Which memories the tools find, and where those that they save may be told.
    pub scope: Scope,
    /// The person whose message is answered.
    pub asked_by: Option<AskedBy>,
    /// Addresses in the person's own words, which may be fetched without approval.
    pub addresses: Vec<String>,
    /// None: calls that need approval are refused.
    pub approvals: Option<&'a dyn Approvals>,
    /// None outside of conversations.
    pub in_chat: Option<InChat<'a>>,
    pub limits: Limits,
}

impl Tools<'_> {
    /// Whether somebody's message is answered, which some tools act upon.
    fn is_for_message(&self) -> bool {
        matches!(self.source, Some(MemorySource::Message(_)))
    }
}

/// Which of the listed tools stand in a request with all their arguments. The model finds the others by `find_tool`, or calls them by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    All,
    Fitting {
        /// What the run is about, in the words of whoever asks.
        about: String,
        /// The tools that are offered whatever it is about, in every run of this kind.
        first: Vec<&'static str>,
        /// Those that code has chosen for this run.
        also: Vec<&'static str>,
    },
}

/// A run whose answer goes to a person in a conversation. What it claims to have done is checked.
#[derive(Clone, Copy, Default)]
pub struct InChat<'a> {
    /// Calls that change the team's data and need approval are proposed to the person below the answer.
    pub proposes: bool,
    /// Those whom the answer may speak of: what is said to be passed on to a colleague is checked.
    pub roster: Option<&'a Roster>,
    /// Hears what the run is doing, for the person who waits.
    pub watch: Option<&'a (dyn Fn(String) + Send + Sync)>,
}

/// The limits of a run (TOOL-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most calls. Further ones are refused.
    pub calls: usize,
    /// The most replies, against models that keep calling tools after the limit.
    pub replies: usize,
}

impl Limits {
    pub const CHAT: Self = Self { calls: 8, replies: 10 };
    pub const WORK: Self = Self { calls: 24, replies: 32 };
}

/// A tool of a single run, executed by the caller.
#[async_trait]
pub trait OwnTool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// Whether a successful call ends the run. Such a call is not counted.
    fn ends_run(&self) -> bool {
        false
    }

    /// See [`Tool::describe_doing`](crate::tools::Tool::describe_doing).
    fn describe_doing(&self, _arguments: &Value) -> Option<String> {
        None
    }

    /// Executes the tool. A call that a crash interrupted is made again.
    ///
    /// # Errors
    /// A sentence for the model, or why the run ends.
    async fn call(&self, arguments: &Value, progress: &Progress) -> Result<ToolOutput, CallError>;
}

/// Why a call of the caller's tool has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The model is told, and the run goes on.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The run ends before the call has a result. The call is made again when the run resumes.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<StoreError> for CallError {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

/// Asks a person to approve a call (TRUST-3).
#[async_trait]
pub trait Approvals: Send + Sync {
    /// The decision on this call. Creates a request if there is none.
    async fn request(&self, call: &ToolCall, risk: Risk, why: &str) -> Result<Consent, RunError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// Approved. The call may be made once after this time.
    Allowed {
        at: DateTime<Utc>,
    },
    Refused,
    /// No decision yet. The run stops and resumes after the decision.
    Asked(ApprovalId),
}

/// The result of a run. Contains no secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: String,
    /// `provider/model`. None if code wrote the reply.
    pub model: Option<String>,
    /// Tokens used in this process. Earlier usage, before a restart, is in the ledger.
    pub usage: TokenUsage,
    /// The size of the prompt, for benchmarks.
    pub prompt_chars: usize,
    /// What the answer is worth. None if a model wrote it and nobody has judged it yet.
    pub verdict: Option<AnswerVerdict>,
    /// Why the answer is incomplete. None if it is complete.
    pub broke_off: Option<ModelError>,
    /// The arguments of the tool that ended the run. None if it ended with text.
    pub finish: Option<Value>,
    /// Files the run wrote, in order of first write.
    pub written: Vec<String>,
    /// Lines of small print that are added below the reply.
    pub remarks: Vec<String>,
    /// What was done with tools, as small print.
    pub done: Vec<String>,
    /// Corrections of what the reply claims although it was not done.
    pub corrections: Vec<String>,
    /// Calls that a person has to allow first.
    pub proposed: Vec<ToolCall>,
}

impl Reply {
    /// A reply composed by code.
    pub fn plain(text: String) -> Self {
        Self {
            text,
            model: None,
            usage: TokenUsage::default(),
            prompt_chars: 0,
            verdict: None,
            broke_off: None,
            finish: None,
            written: Vec::new(),
            remarks: Vec::new(),
            done: Vec::new(),
            corrections: Vec::new(),
            proposed: Vec::new(),
        }
    }
}

/// Runs agents. Independent of personas, prompts and the database.
pub struct Runner {
    pub models: Models,
    pub tools: Toolbox,
    pub redactor: Redactor,
    pub clock: SharedClock,
}

impl Runner {
    /// Runs until the model answers. Holds no lock or transaction during model calls.
    ///
    /// # Errors
    /// There is no answer, or not yet: see [`RunError`].
    pub async fn run(&self, run: Run<'_>) -> Result<Reply, RunError> {
        let (session, prompt) = Session::new(self, run, None);
        session.drive(prompt).await
    }

    /// Asks for a value of `T`. `T` must be a struct, because providers require an object at the top. An invalid answer is rejected once
    /// with the reason.
    ///
    /// # Errors
    /// As [`Self::run`], and [`RunError::Unusable`] if the second answer is invalid too.
    pub async fn run_structured<T: DeserializeOwned + JsonSchema>(&self, run: Run<'_>) -> Result<Structured<T>, RunError> {
        let (session, prompt) = Session::new(self, run, Some(AnswerFormat::of::<T>()));
        let reply = session.drive(prompt).await?;
        let model = reply.model.unwrap_or_default();
        let value = parse_answer(&reply.text).map_err(|reason| unusable(Some(&model), reason))?;
        Ok(Structured { value, model })
    }

    /// Removes secrets and logs how many. `subject` identifies the text in the log.
    pub fn redact(&self, text: String, subject: &str) -> String {
        let (clean, redacted) = self.redactor.redact(&text);
        if redacted == 0 {
            return text;
        }
        metrics::counter!("teamroom_redactions_total").increment(redacted as u64);
        tracing::warn!(subject, redacted, "secrets were removed from an answer");
        clean.into_owned()
    }

    fn redact_value(&self, value: Value, subject: &str) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(text, subject)),
            Value::Array(values) => values.into_iter().map(|value| self.redact_value(value, subject)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, self.redact_value(value, subject))).collect())
            }
            plain => plain,
        }
    }
}
