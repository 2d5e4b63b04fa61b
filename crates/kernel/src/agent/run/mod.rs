//! One way to ask a persona: prompt, tools, limits, journal → reply.
//!
//! [`Runner`] asks the model, carries out its tool calls and asks again until the model answers. `progress` tells from the journal where a run
//! stands, `call` decides on one call and makes it. A run without a journal keeps the same entries in memory.

mod call;
mod progress;

use std::pin::Pin;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::RunError;
use crate::agent::journal::{Journal, JournalEntry};
use crate::agent::run::progress::Step;
use crate::chat::redact::Redactor;
use crate::ids::{ApprovalId, WorkItemId};
use crate::llm::structured::{AnswerFormat, Structured, parse_answer};
use crate::llm::{Call, ModelError, ModelMessage, ModelReply, ModelRequest, Models, ToolCall, ToolSpec, Written};
use crate::memory::MemorySource;
use crate::money::{Purpose, TokenUsage};
use crate::persona::{Persona, Tier};
use crate::time::SharedClock;
use crate::tools::approval::Risk;
use crate::tools::{ToolError, ToolOutput, Toolbox};

pub use progress::{Progress, addresses_in};

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The part that stays the same from run to run.
    pub system: String,
    pub message: String,
    /// It holds text from outside (TRUST-1).
    pub holds_outside: bool,
}

/// A prompt that is built when the run begins. A run that continues has it in its journal, and nothing is read for it.
pub type LazyPrompt<'a> = Pin<Box<dyn Future<Output = Result<Prompt, RunError>> + Send + 'a>>;

/// One question to a model.
pub struct Run<'a> {
    /// None for a question that no persona answers, such as a classification.
    pub persona: Option<&'a Persona>,
    /// With `subject` the place in the ledger, which says whose budget pays.
    pub purpose: Purpose,
    pub subject: &'a str,
    pub tier: Tier,
    pub prompt: LazyPrompt<'a>,
    pub max_output_tokens: u32,
    /// Half an answer is better than none: `cancel` is a deadline.
    pub keep_partial: bool,
    pub tools: Option<Tools<'a>>,
    pub journal: Option<&'a dyn Journal>,
    pub cancel: &'a CancellationToken,
}

impl<'a> Run<'a> {
    /// A persona answers in one reply, without tools and without a journal.
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
            prompt: Box::pin(std::future::ready(Ok(prompt))),
            max_output_tokens,
            keep_partial: false,
            tools: None,
            journal: None,
            cancel,
        }
    }
}

/// What a run may do besides writing.
pub struct Tools<'a> {
    /// The names of those of the team's tools that are offered.
    pub listed: Vec<String>,
    /// Tools that the caller carries out.
    pub own: Vec<Box<dyn OwnTool + 'a>>,
    /// The item in whose workspace files are written. None: tools that need a workspace are not offered.
    pub workspace: Option<&'a WorkItemId>,
    /// Where the things come from that tools store.
    pub source: Option<MemorySource>,
    /// Addresses in the words of the person who asks, which may be fetched without approval.
    pub addresses: Vec<String>,
    /// None: nobody can be asked, and a call that a person has to allow is refused.
    pub approvals: Option<&'a dyn Approvals>,
    pub limits: Limits,
}

/// How much a run may do (TOOL-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls that are made. Further ones are refused.
    pub calls: usize,
    /// Replies of the model. One that goes on calling when no call is left goes round in circles.
    pub replies: usize,
}

impl Limits {
    pub const CHAT: Self = Self { calls: 8, replies: 10 };
    pub const WORK: Self = Self { calls: 24, replies: 32 };
}

/// A tool of one run, which the run's caller carries out.
#[async_trait]
pub trait OwnTool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// A call that succeeds is the end of the run, and is not counted.
    fn ends_run(&self) -> bool {
        false
    }

    /// Does it.
    ///
    /// # Errors
    /// A sentence for the model.
    async fn call(&self, arguments: &Value, progress: &Progress) -> Result<ToolOutput, ToolError>;
}

/// Where a person is asked for a call that policy does not allow (TRUST-3).
#[async_trait]
pub trait Approvals: Send + Sync {
    /// What a person said to this very call. Asks a person where nobody was asked yet.
    async fn request(&self, call: &ToolCall, risk: Risk, why: &str) -> Result<Consent, RunError>;
}

/// What a person said to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Consent {
    /// It may be made once after this time.
    Allowed {
        at: DateTime<Utc>,
    },
    Refused,
    /// Nothing yet. The run stops here and continues when the person has decided.
    Asked(ApprovalId),
}

/// What a run came to. It holds no secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: String,
    /// `provider/model`; none when no model wrote it.
    pub model: Option<String>,
    /// What this process used; what an earlier one used before a restart is in the ledger.
    pub usage: TokenUsage,
    /// The size of the prompt, for the benchmark.
    pub prompt_chars: usize,
    /// Why there is no more of it; none of an answer that is whole.
    pub broke_off: Option<ModelError>,
    /// The arguments of the tool that ended the run; none where it ended in words.
    pub finish: Option<Value>,
    /// Files that the run wrote, in the order of their first writing.
    pub written: Vec<String>,
}

impl Reply {
    /// A reply put together by code.
    pub fn plain(text: String) -> Self {
        Self { text, model: None, usage: TokenUsage::default(), prompt_chars: 0, broke_off: None, finish: None, written: Vec::new() }
    }
}

/// Everything that runs are made with. Knows no persona, no prompt and no database.
pub struct Runner {
    pub models: Models,
    pub tools: Toolbox,
    pub redactor: Redactor,
    pub clock: SharedClock,
}

impl Runner {
    /// Runs until the model answers. Nothing is held over the model call.
    ///
    /// # Errors
    /// There is no answer, or not yet: see [`RunError`].
    pub async fn run(&self, run: Run<'_>) -> Result<Reply, RunError> {
        let (session, prompt) = Session::new(self, run, None);
        session.drive(prompt).await
    }

    /// Asks for a value of `T`, which is a struct: providers want an object at the top. An answer that cannot be used is asked for once more,
    /// with the reason.
    ///
    /// # Errors
    /// As of [`Self::run`], and [`RunError::Unusable`] when the second answer cannot be used either.
    pub async fn run_structured<T: DeserializeOwned + JsonSchema>(&self, run: Run<'_>) -> Result<Structured<T>, RunError> {
        let (session, prompt) = Session::new(self, run, Some(AnswerFormat::of::<T>()));
        let reply = session.drive(prompt).await?;
        let model = reply.model.unwrap_or_default();
        let value = parse_answer(&reply.text).map_err(|reason| unusable(Some(&model), reason))?;
        Ok(Structured { value, model })
    }

    /// Removes secrets and counts what was removed. `subject` says in the log what the text belongs to.
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

/// A run under way.
struct Session<'a> {
    runner: &'a Runner,
    persona: Option<&'a Persona>,
    call: Call,
    max_output_tokens: u32,
    keep_partial: bool,
    tools: Option<Tools<'a>>,
    journal: Option<&'a dyn Journal>,
    cancel: &'a CancellationToken,
    format: Option<AnswerFormat>,
    progress: Progress,
    offered: Vec<ToolSpec>,
    usage: TokenUsage,
    prompt_chars: usize,
    broke_off: Option<ModelError>,
    /// The model was told what is wrong with its structured answer.
    is_repaired: bool,
}

impl<'a> Session<'a> {
    fn new(runner: &'a Runner, run: Run<'a>, format: Option<AnswerFormat>) -> (Self, LazyPrompt<'a>) {
        let Run { persona, purpose, subject, tier, prompt, max_output_tokens, keep_partial, tools, journal, cancel } = run;
        let mut offered = Vec::new();
        let mut progress = Progress::default();
        if let Some(tools) = &tools {
            offered = runner.tools.specs(&tools.listed, tools.workspace.is_some());
            offered.extend(tools.own.iter().map(|own| own.spec()));
            progress.seen.clone_from(&tools.addresses);
        }
        let session = Self {
            runner,
            persona,
            call: Call { persona: persona.map(|persona| persona.slug.clone()), purpose, subject: subject.to_owned(), tier },
            max_output_tokens,
            keep_partial,
            tools,
            journal,
            cancel,
            format,
            progress,
            offered,
            usage: TokenUsage::default(),
            prompt_chars: 0,
            broke_off: None,
            is_repaired: false,
        };
        (session, prompt)
    }

    async fn drive(mut self, mut prompt: LazyPrompt<'a>) -> Result<Reply, RunError> {
        if let Some(journal) = self.journal {
            for (entry, at) in journal.read().await? {
                self.progress.apply(&entry, at);
            }
        }
        loop {
            match self.progress.step() {
                Step::Conclude(text) => match self.find_fault(&text) {
                    None if text.trim().is_empty() => return Err(RunError::Nothing),
                    None => return Ok(self.conclude(text, None)),
                    Some(reason) => self.repair(reason)?,
                },
                _ if self.cancel.is_cancelled() => return Err(RunError::Cancelled),
                Step::Begin => {
                    let prompt = tokio::select! {
                        prompt = &mut prompt => prompt?,
                        () = self.cancel.cancelled() => return Err(RunError::Cancelled),
                    };
                    self.begin(prompt).await?;
                }
                Step::Ask => self.ask().await?,
                Step::Call(call) => {
                    if let Some(finish) = self.carry_out(&call).await? {
                        return Ok(self.conclude(String::new(), Some(finish)));
                    }
                }
                Step::Unknown(call) => self.give_up(&call).await?,
            }
        }
    }

    /// Stores an entry before anything rests on it.
    async fn record(&mut self, entry: JournalEntry) -> Result<(), RunError> {
        let now = self.runner.clock.now();
        if let Some(journal) = self.journal
            && !journal.append(&entry, now).await?
        {
            return Err(RunError::Lost);
        }
        self.progress.apply(&entry, now);
        Ok(())
    }

    async fn begin(&mut self, prompt: Prompt) -> Result<(), RunError> {
        let Prompt { system, message, holds_outside } = prompt;
        self.prompt_chars = system.chars().count() + message.chars().count();
        self.record(JournalEntry::Asked { system, message, tainted: holds_outside }).await?;
        self.progress.messages.extend(self.format.as_ref().map(|format| ModelMessage::User(format.instruction())));
        Ok(())
    }

    async fn ask(&mut self) -> Result<(), RunError> {
        if self.tools.as_ref().is_some_and(|tools| self.progress.replies >= tools.limits.replies) {
            return Err(RunError::TooManyCalls { calls: self.progress.calls });
        }
        let written = self.runner.models.complete_or_break_off(&self.call, &self.request(), self.cancel).await?;
        let Written { reply, broke_off } = written;
        match broke_off {
            Some(error) if !self.keep_partial => return Err(error.into()),
            broke_off => self.broke_off = broke_off,
        }
        self.usage = self.usage + reply.usage;
        let entry = self.replied(reply);
        self.record(entry).await
    }

    fn request(&self) -> ModelRequest {
        ModelRequest {
            system: self.progress.system.clone(),
            messages: self.progress.messages.clone(),
            tools: self.offered.clone(),
            schema: self.format.as_ref().map(|format| format.schema.clone()),
            max_output_tokens: self.max_output_tokens,
        }
    }

    /// A reply as it is kept: without secrets, and its calls under ids of ours. Some servers give every call the same id, and some take
    /// back none but those of nine letters and digits.
    fn replied(&self, reply: ModelReply) -> JournalEntry {
        let (model, subject) = (reply.full_name(), self.call.subject.as_str());
        // Where no tools are offered a call is no answer, and what was said beside it is.
        let most = self.tools.as_ref().map_or(0, |tools| tools.limits.calls);
        let calls = (self.progress.calls + 1..).zip(reply.calls.into_iter().take(most)).map(|(number, call)| ToolCall {
            id: format!("call{number:05}"),
            name: call.name,
            arguments: self.runner.redact_value(call.arguments, subject),
        });
        let calls = calls.collect();
        JournalEntry::Replied { text: self.runner.redact(reply.text, subject), calls, model }
    }

    /// Why an answer cannot be used.
    fn find_fault(&self, text: &str) -> Option<String> {
        self.format.as_ref().and_then(|format| format.check(text).err())
    }

    fn repair(&mut self, reason: String) -> Result<(), RunError> {
        if self.is_repaired {
            return Err(unusable(self.progress.model.as_deref(), reason));
        }
        tracing::debug!(subject = self.call.subject, reason, "asking again for a structured answer");
        self.is_repaired = true;
        self.progress.messages.push(ModelMessage::User(AnswerFormat::complaint(&reason)));
        Ok(())
    }

    fn conclude(self, text: String, finish: Option<Value>) -> Reply {
        let Progress { model, written, .. } = self.progress;
        Reply { text, model, usage: self.usage, prompt_chars: self.prompt_chars, broke_off: self.broke_off, finish, written }
    }
}

fn unusable(model: Option<&str>, reason: String) -> RunError {
    let provider = model.and_then(|model| model.split('/').next()).unwrap_or_default().to_owned();
    RunError::Unusable { provider, reason }
}
