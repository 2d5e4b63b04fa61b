//! A run on its way: one model call after the other, until there is a reply.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::RunError;
use crate::agent::journal::{Journal, JournalEntry};
use crate::agent::run::claims::Claims;
use crate::agent::run::progress::{Progress, Step};
use crate::agent::run::{LazyPrompt, Prompt, Reply, Run, Runner, Tools};
use crate::chat::text::Subtext;
use crate::llm::structured::AnswerFormat;
use crate::llm::{Call, ModelError, ModelMessage, ModelReply, ModelRequest, Picture, ToolCall, ToolSpec, Written};
use crate::money::TokenUsage;
use crate::persona::Persona;

/// Told to the model before the last reply that its message may pay for.
const LAST: &str = "This is your last reply for this message, so calls are not made any more. Answer now, with what there is.";

/// The state of a run.
pub(super) struct Session<'a> {
    pub(super) runner: &'a Runner,
    pub(super) persona: Option<&'a Persona>,
    pub(super) call: Call,
    pub(super) pictures: Vec<Picture>,
    pub(super) max_output_tokens: u32,
    pub(super) keep_partial: bool,
    pub(super) tools: Option<Tools<'a>>,
    pub(super) journal: Option<&'a dyn Journal>,
    pub(super) cancel: &'a CancellationToken,
    pub(super) format: Option<AnswerFormat>,
    pub(super) progress: Progress,
    pub(super) offered: Vec<ToolSpec>,
    pub(super) usage: TokenUsage,
    pub(super) prompt_chars: usize,
    pub(super) broke_off: Option<ModelError>,
    /// The model was already told once that its structured answer is invalid.
    pub(super) is_repaired: bool,
    /// The allowance ended the run before the model wanted to.
    pub(super) is_cut_short: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(runner: &'a Runner, run: Run<'a>, format: Option<AnswerFormat>) -> (Self, LazyPrompt<'a>) {
        let Run { persona, purpose, subject, tier, prompt, max_output_tokens, keep_partial, tools, journal, cancel, allowance, pictures } =
            run;
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
            call: Call { persona: persona.map(|persona| persona.slug.clone()), purpose, subject: subject.to_owned(), tier, allowance },
            pictures,
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
            is_cut_short: false,
        };
        (session, prompt)
    }

    pub(super) async fn drive(mut self, mut prompt: LazyPrompt<'a>) -> Result<Reply, RunError> {
        if let Some(journal) = self.journal {
            for (entry, at) in journal.read().await? {
                self.progress.apply(&entry, at);
            }
        }
        loop {
            match self.progress.step() {
                Step::Conclude(text) => match self.find_fault(&text) {
                    None if text.trim().is_empty() => return Err(self.nothing()),
                    None => match self.find_false_claims(&text).await? {
                        Claims::Corrected(corrections) => return Ok(self.conclude(text, None, corrections)),
                        Claims::SentBack(why) => self.record(JournalEntry::SentBack { why }).await?,
                    },
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
                        return Ok(self.conclude(String::new(), Some(finish), Vec::new()));
                    }
                }
                Step::Unknown(call) => self.give_up(&call).await?,
            }
        }
    }

    /// Stores an entry before the run continues.
    pub(super) async fn record(&mut self, entry: JournalEntry) -> Result<(), RunError> {
        let now = self.runner.clock.now();
        if let Some(journal) = self.journal
            && !journal.append(std::slice::from_ref(&entry), now).await?
        {
            return Err(RunError::Lost);
        }
        self.progress.apply(&entry, now);
        Ok(())
    }

    async fn begin(&mut self, prompt: Prompt) -> Result<(), RunError> {
        let Prompt { system, message, holds_outside, remarks } = prompt;
        self.prompt_chars = system.chars().count() + message.chars().count();
        self.record(JournalEntry::Asked { system, message, tainted: holds_outside, remarks }).await?;
        self.progress.messages.extend(self.format.as_ref().map(|format| ModelMessage::User(format.instruction())));
        Ok(())
    }

    async fn ask(&mut self) -> Result<(), RunError> {
        if self.tools.as_ref().is_some_and(|tools| self.progress.replies >= tools.limits.replies) {
            return Err(RunError::TooManyCalls { calls: self.progress.calls });
        }
        let is_last = !self.offered.is_empty() && self.calls_left().await? == Some(1);
        let mut request = self.request();
        if is_last {
            request.messages.push(ModelMessage::User(LAST.to_owned()));
        }
        let written = self.runner.models.complete_or_break_off(&self.call, &request, self.cancel).await?;
        let Written { reply, broke_off } = written;
        match broke_off {
            Some(error) if !self.keep_partial => return Err(error.into()),
            broke_off => self.broke_off = broke_off,
        }
        self.usage = self.usage + reply.usage;
        self.is_cut_short |= is_last && !reply.calls.is_empty();
        let reply = if is_last { ModelReply { calls: Vec::new(), ..reply } } else { reply };
        let entry = self.replied(reply);
        self.record(entry).await
    }

    /// How many model calls the message may still cost, this run included. None: no limit.
    pub(super) async fn calls_left(&self) -> Result<Option<u32>, RunError> {
        Ok(match &self.call.allowance {
            Some(allowance) => Some(self.runner.models.calls_left(allowance).await?),
            None => None,
        })
    }

    /// The error of a run whose last reply is empty.
    fn nothing(&self) -> RunError {
        match &self.call.allowance {
            Some(allowance) if self.is_cut_short => RunError::OutOfCalls(allowance.calls),
            _ => RunError::Nothing,
        }
    }

    fn request(&self) -> ModelRequest {
        ModelRequest {
            system: self.progress.system.clone(),
            messages: self.progress.messages.clone(),
            pictures: self.pictures.clone(),
            tools: self.offered.clone(),
            schema: self.format.as_ref().map(|format| format.schema.clone()),
            max_output_tokens: self.max_output_tokens,
        }
    }

    /// A reply as stored: without secrets, and with new call ids. Some servers give every call the same id, and some accept only ids of
    /// nine letters and digits.
    fn replied(&self, reply: ModelReply) -> JournalEntry {
        let (model, subject) = (reply.full_name(), self.call.subject.as_str());
        // Calls without offered tools are ignored, and the text counts as the answer.
        let most = self.tools.as_ref().map_or(0, |tools| tools.limits.calls);
        let calls = (self.progress.calls + 1..).zip(reply.calls.into_iter().take(most)).map(|(number, call)| ToolCall {
            id: format!("call{number:05}"),
            name: call.name,
            arguments: self.runner.redact_value(call.arguments, subject),
        });
        let calls = calls.collect();
        JournalEntry::Replied { text: self.runner.redact(reply.text, subject), calls, model }
    }

    /// Why an answer is invalid.
    fn find_fault(&self, text: &str) -> Option<String> {
        self.format.as_ref().and_then(|format| format.check(text).err())
    }

    fn repair(&mut self, reason: String) -> Result<(), RunError> {
        if self.is_repaired {
            return Err(unusable(self.progress.model.as_deref(), reason));
        }
        tracing::debug!(subject = self.call.subject, reason, "asking again for a structured answer");
        self.is_repaired = true;
        self.progress.messages.push(ModelMessage::User(AnswerFormat::correction(&reason)));
        Ok(())
    }

    fn conclude(self, text: String, finish: Option<Value>, corrections: Vec<String>) -> Reply {
        let Self { runner, usage, prompt_chars, broke_off, is_cut_short, call, progress, .. } = self;
        let Progress { model, written, mut remarks, done, proposed, .. } = progress;
        if let Some(allowance) = call.allowance.filter(|_| is_cut_short) {
            let told = format!("There may be more to say: one message may use {} model calls, and these are used up.", allowance.calls);
            remarks.push(Subtext(told).to_string());
        }
        let mut told: Vec<String> = Vec::new();
        for did in done.iter().filter_map(|(tool, trace)| runner.tools.describe_done(tool, trace)) {
            if !told.contains(&did) {
                told.push(did);
            }
        }
        Reply { text, model, usage, prompt_chars, verdict: None, broke_off, finish, written, remarks, done: told, corrections, proposed }
    }
}

pub(super) fn unusable(model: Option<&str>, reason: String) -> RunError {
    let provider = model.and_then(|model| model.split('/').next()).unwrap_or_default().to_owned();
    RunError::Unusable { provider, reason }
}
