use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::{Colleagues, MOST_CALLS, Readings, Reply, TurnError, TurnInput, ask_tool};
use crate::chat::redact::Redactor;
use crate::clock::SharedClock;
use crate::domain::message::Spoken;
use crate::domain::persona::Persona;
use crate::domain::roster::Roster;
use crate::domain::usage::{Purpose, TokenUsage};
use crate::llm::{Call, ModelMessage, ModelRequest, Models};
use crate::persona::context::{self, ContextBudget, ContextInput, Question};
use crate::persona::offline::{self, OfflineQuestion};
use crate::persona::retrieval::{ChannelFile, find_lessons};
use crate::store::{FileText, Store};

/// How many lines of a channel are read for a turn; the context takes what fits its budget.
const TRANSCRIPT: u32 = 30;

/// How many of a channel's earlier files a turn may look into.
const CHANNEL_FILES: u32 = 12;

/// How many lessons on the subject of a question a turn is told.
const LESSONS: usize = 5;

/// A channel in which the team runs without a model is told so once in this time.
const OFFLINE_NOTICE_EVERY: Duration = Duration::from_hours(24);

/// Performs turns.
pub struct Performer {
    pub roster: Arc<Roster>,
    pub team: String,
    pub store: Store,
    pub models: Models,
    pub max_output_tokens: u32,
    pub readings: Readings,
    pub redactor: Redactor,
    pub clock: SharedClock,
}

/// What a turn knows of its channel.
struct Heard {
    now: DateTime<Utc>,
    /// Before the question, oldest first.
    transcript: Vec<Spoken>,
    files: Vec<ChannelFile>,
    /// Posted before, newest first.
    channel_files: Vec<ChannelFile>,
}

impl Performer {
    /// Asks a persona once. Store and feeds are read before; nothing is held over the model call.
    pub async fn perform(
        &self,
        input: &TurnInput<'_>,
        colleagues: &dyn Colleagues,
        cancel: &CancellationToken,
    ) -> Result<Reply, TurnError> {
        let persona = self.roster.find(input.persona).ok_or_else(|| TurnError::NoPersona(input.persona.clone()))?;
        let heard = self.hear(input).await?;
        let mut reply = if self.models.is_offline() {
            tokio::select! {
                reply = self.compose(persona, input, &heard) => reply?,
                () = cancel.cancelled() => return Err(TurnError::Cancelled),
            }
        } else {
            self.think(persona, input, &heard, colleagues, cancel).await?
        };
        let (text, redacted) = self.redactor.redact(&reply.text);
        if redacted > 0 {
            metrics::counter!("teamroom_redactions_total").increment(redacted as u64);
            tracing::warn!(persona = %input.persona, subject = input.subject, redacted, "secrets were taken out of an answer");
            reply.text = text.into_owned();
        }
        Ok(reply)
    }

    /// One line on what thinks for the team, for `/status`.
    pub fn describe_models(&self) -> String {
        if self.models.is_offline() {
            return "No language model is configured: we answer offline, from feeds and files alone.".into();
        }
        let providers: Vec<_> = self
            .models
            .status()
            .into_iter()
            .map(|provider| {
                let trouble =
                    provider.last_error.map_or(String::new(), |(at, error)| format!(", trouble since {}: {error}", at.format("%H:%M UTC")));
                format!(
                    "{} ({}; {} of {} calls under way{trouble})",
                    provider.name,
                    provider.models.join(", "),
                    provider.in_flight,
                    provider.parallel
                )
            })
            .collect();
        format!("Language models: {}.", providers.join("; "))
    }

    async fn hear(&self, input: &TurnInput<'_>) -> Result<Heard, TurnError> {
        let channel = &input.channel.id;
        let mut transcript = self.store.list_spoken(channel, TRANSCRIPT).await?;
        transcript.retain(|line| !line.message.as_ref().is_some_and(|id| input.answered.contains(id)));
        // An agent's message has no id before it is posted; it is the last line with these words.
        if input.asker.is_agent()
            && let Some(at) = transcript.iter().rposition(|line| line.speaker == *input.asker && line.text == input.question)
        {
            transcript.remove(at);
        }
        let mut channel_files = self.store.list_channel_files(channel, CHANNEL_FILES).await?;
        channel_files.retain(|file| !input.files.iter().any(|own| own.id == file.id));
        Ok(Heard { now: self.clock.now(), transcript, files: readable(input.files), channel_files: readable(&channel_files) })
    }

    async fn compose(&self, persona: &Persona, input: &TurnInput<'_>, heard: &Heard) -> Result<Reply, TurnError> {
        let composed = offline::compose(&OfflineQuestion {
            persona,
            roster: &self.roster,
            text: input.question,
            files: &heard.files,
            channel_files: &heard.channel_files,
            transcript: &heard.transcript,
            feeds: self.readings.feeds_of(&persona.slug),
            now: heard.now,
        })
        .await;
        let mut text = composed.text;
        let key = format!("offline:{}", input.channel.id);
        // Work is not read as talk: its answers go into reports and on the board.
        if input.purpose != Purpose::Step && self.store.claim_notice(&key, heard.now, OFFLINE_NOTICE_EVERY).await? {
            text.push('\n');
            text.push_str(offline::EXPLANATION);
        }
        Ok(Reply::plain(text))
    }

    async fn think(
        &self,
        persona: &Persona,
        input: &TurnInput<'_>,
        heard: &Heard,
        colleagues: &dyn Colleagues,
        cancel: &CancellationToken,
    ) -> Result<Reply, TurnError> {
        let read = tokio::select! {
            read = self.readings.read(&persona.slug) => read,
            () = cancel.cancelled() => return Err(TurnError::Cancelled),
        };
        let lessons = find_lessons(&self.store, input.question, &persona.slug, LESSONS).await?;
        let built = context::build(&ContextInput {
            team: &self.team,
            roster: &self.roster,
            persona,
            now: heard.now,
            channel: &input.channel.name,
            question: Question { from: input.asker, text: input.question, through: input.through },
            transcript: &heard.transcript,
            files: &heard.files,
            channel_files: &heard.channel_files,
            documents: &read.documents,
            feeds: &read.reports,
            lessons: &lessons,
            budget: ContextBudget::default(),
            marker: &context::new_marker(),
            max_output_tokens: self.max_output_tokens,
        });
        let prompt_chars = built.sections.iter().map(|(_, chars)| chars).sum();
        tracing::debug!(subject = input.subject, persona = %persona.slug, sections = ?built.sections, "prompt");
        let mut request = built.request;
        if persona.tools.iter().any(|tool| tool == ask_tool::NAME) {
            request.tools.push(ask_tool::spec(&self.roster));
        }
        self.converse(persona, input, request, prompt_chars, colleagues, cancel).await
    }

    /// Asks the model until it answers in words, carrying out its tool calls in between.
    async fn converse(
        &self,
        persona: &Persona,
        input: &TurnInput<'_>,
        mut request: ModelRequest,
        prompt_chars: usize,
        colleagues: &dyn Colleagues,
        cancel: &CancellationToken,
    ) -> Result<Reply, TurnError> {
        let call =
            Call { persona: Some(persona.slug.clone()), purpose: input.purpose, subject: input.subject.to_owned(), tier: persona.tier };
        let mut usage = TokenUsage::default();
        let mut calls_left = MOST_CALLS;
        loop {
            let reply = self.models.complete(&call, &request, cancel).await?;
            usage = usage + reply.usage;
            if reply.calls.is_empty() {
                let model = Some(reply.full_name());
                return Ok(Reply { text: reply.text, model, usage, prompt_chars });
            }
            calls_left = calls_left.checked_sub(reply.calls.len()).ok_or(TurnError::TooManyCalls)?;
            let mut results = Vec::new();
            for wanted in &reply.calls {
                let text = tokio::select! {
                    text = ask_tool::call(wanted, input, colleagues) => text,
                    () = cancel.cancelled() => return Err(TurnError::Cancelled),
                };
                results.push(ModelMessage::ToolResult { call: wanted.id.clone(), text });
            }
            request.messages.push(ModelMessage::Assistant { text: reply.text, calls: reply.calls });
            request.messages.extend(results);
        }
    }
}

/// Files that could be read, as the composer and the context want them.
fn readable(files: &[FileText]) -> Vec<ChannelFile> {
    let text = |file: &FileText| file.text.clone();
    files
        .iter()
        .filter_map(|file| Some(ChannelFile { name: file.name.clone(), text: text(file)?, by: file.by.clone(), at: file.at }))
        .collect()
}
