//! A run in progress: one model call after the other, until there is a reply.

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::RunError;
use crate::agent::journal::{Journal, JournalEntry};
use crate::agent::offline::wording::foreign;
use crate::agent::run::claims::Claims;
use crate::agent::run::offer::Offered;
use crate::agent::run::progress::{Progress, Step};
use crate::agent::run::shorten::shorten;
use crate::agent::run::{LazyPrompt, Prompt, Reply, Run, Runner, Tools};
use crate::chat::text::Subtext;
use crate::llm::structured::AnswerFormat;
use crate::llm::{Call, Cause, ModelError, ModelMessage, ModelReply, ModelRequest, Picture, ToolCall, Written};
use crate::money::{Purpose, TokenUsage};
use crate::persona::Persona;

/// Told to the model before the last reply that the person's message can pay for.
const LAST: &str = "This is your last reply for this message, so calls are not made any more. Answer now, with what there is.";

/// Told to the model after an answer that reached its limit. The repeated words show how both parts fit together.
const GO_ON: &str = "Your answer was cut off at its length limit. Go on from there, and begin with the last three words that you wrote.";

/// Added below an answer that is still cut off after that.
const CUT_OFF: &str = "Cut off at the length limit of one answer. Ask me to go on for the rest.";

/// Added below an answer to a prompt that was too long.
const SHORTENED: &str = "What I was given is longer than the language model can read at once, so I have read only parts of it.";

/// Limit of a remark about pictures, in characters.
const REMARK: usize = 400;

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
    pub(super) offered: Offered,
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
        let mut offered = Offered::default();
        let mut progress = Progress::default();
        if let Some(tools) = &tools {
            offered = Offered::new(&runner.tools, tools);
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
                Step::Stuck => return Err(RunError::Stuck { times: self.progress.repeats(), tools: self.progress.last_tools() }),
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
        let mut request = self.request(is_last);
        let mut written = self.runner.models.complete_or_break_off(&self.call, &request, self.cancel).await;
        if let Err(error) = &written
            && error.cause() == Some(Cause::ContextLength)
            && shorten(&mut self.progress.messages)
        {
            tracing::info!(subject = self.call.subject, %error, "the prompt is shortened");
            self.progress.remarks.push(Subtext(SHORTENED).to_string());
            request = self.request(is_last);
            written = self.runner.models.complete_or_break_off(&self.call, &request, self.cancel).await;
        }
        let Written { mut reply, mut broke_off } = written?;
        for remark in std::mem::take(&mut reply.remarks) {
            let remark = Subtext(foreign(&remark, REMARK)).to_string();
            if !self.progress.remarks.contains(&remark) {
                self.progress.remarks.push(remark);
            }
        }
        // Only text is continued. A structured value that is cut off may still parse and mean something else.
        if matches!(broke_off, Some(ModelError::AtLimit { .. })) && !self.keep_partial && self.format.is_none() {
            if self.go_on(request, &mut reply).await? {
                broke_off = None;
            } else if self.call.purpose != Purpose::Step {
                reply.text = format!("{} …\n{}", reply.text.trim_end(), Subtext(CUT_OFF));
                broke_off = None;
            }
        }
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

    /// Lets the model finish an answer that was cut off, once. True if the answer is complete then. An incomplete answer says so, and is never the
    /// result of a work item.
    async fn go_on(&mut self, mut request: ModelRequest, reply: &mut ModelReply) -> Result<bool, RunError> {
        request.messages.push(ModelMessage::Assistant { text: reply.text.trim_end().to_owned(), calls: Vec::new() });
        request.messages.push(ModelMessage::User(GO_ON.to_owned()));
        match self.runner.models.complete_or_break_off(&self.call, &request, self.cancel).await {
            Ok(Written { reply: rest, broke_off }) => {
                reply.text = joined(&reply.text, &rest.text);
                reply.usage = reply.usage + rest.usage;
                Ok(broke_off.is_none())
            }
            Err(ModelError::Cancelled) => Err(RunError::Cancelled),
            Err(error) => {
                tracing::info!(subject = self.call.subject, %error, "an answer stays cut off");
                Ok(false)
            }
        }
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

    fn request(&self, is_last: bool) -> ModelRequest {
        let mut messages = self.progress.messages.clone();
        if is_last {
            messages.push(ModelMessage::User(LAST.to_owned()));
        }
        ModelRequest {
            system: self.progress.system.clone(),
            messages,
            pictures: self.pictures.clone(),
            tools: self.offered.list(&self.progress),
            named_tools: self.offered.list_named(),
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
        let text = self.persona.map_or(reply.text.as_str(), |persona| without_own_name(&reply.text, &persona.name));
        JournalEntry::Replied { text: self.runner.redact(text.to_owned(), subject), calls, model }
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

/// A reply without the name of its speaker, which the platform shows anyway.
fn without_own_name<'t>(text: &'t str, name: &str) -> &'t str {
    let prefixes = [format!("{name}:"), format!("**{name}:**"), format!("**{name}**:")];
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix.as_str())).map_or(text, str::trim_start)
}

/// The least and the most bytes that both parts of an answer have in common.
const OVERLAP: std::ops::RangeInclusive<usize> = 3..=200;

/// Joins two parts of an answer. The second one repeats the end of the first.
fn joined(first: &str, second: &str) -> String {
    let (end, second) = (first.trim_end(), second.trim_start().trim_start_matches(['…', '.']).trim_start());
    let most = (*OVERLAP.end()).min(second.len());
    let common = (*OVERLAP.start()..=most).rev().find(|length| second.is_char_boundary(*length) && end.ends_with(&second[..*length]));
    match common {
        Some(length) => format!("{end}{}", &second[length..]),
        None if end.len() < first.len() || second.is_empty() => format!("{first}{second}"),
        None if second.starts_with(['-', '*', '#']) => format!("{end}\n{second}"),
        None if second.starts_with([',', ';', ':', '.', '!', '?', ')']) => format!("{end}{second}"),
        // A word that was cut in the middle cannot be told from two words.
        None => format!("{end} {second}"),
    }
}

pub(super) fn unusable(model: Option<&str>, reason: String) -> RunError {
    let provider = model.and_then(|model| model.split('/').next()).unwrap_or_default().to_owned();
    RunError::Unusable { provider, reason }
}

#[cfg(test)]
mod tests {
    use super::{joined, without_own_name};

    #[test]
    fn a_reply_does_not_begin_with_the_name_of_who_speaks() {
        for text in ["Vince: All is well.", "**Vince:** All is well.", "**Vince**: All is well.", "All is well."] {
            assert_eq!(without_own_name(text, "Vince"), "All is well.");
        }
        assert_eq!(without_own_name("Vincent: away.", "Vince"), "Vincent: away.");
    }

    #[test]
    fn two_parts_of_an_answer_are_joined_where_they_overlap() {
        for (first, second, whole) in [
            ("The harbour silts up from", "silts up from the north.", "The harbour silts up from the north."),
            ("The harbour silts up fr", "silts up from the north.", "The harbour silts up from the north."),
            ("It silts up ", "from the north.", "It silts up from the north."),
            ("It silts up", "from the north.", "It silts up from the north."),
            ("One,", " two.", "One, two."),
            ("- one", "- two", "- one\n- two"),
            ("One", ", two.", "One, two."),
            ("- one\n- two", "- two\n- three", "- one\n- two\n- three"),
            ("It is ", "", "It is "),
        ] {
            assert_eq!(joined(first, second), whole);
        }
    }
}
