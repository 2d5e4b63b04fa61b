//! A persona answers a question: by a model where one is configured, else by the offline composer.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::agent::ask_tool::{self, AskAgent, Colleagues};
use crate::agent::context::{ContextBudget, ContextInput};
use crate::agent::journal::{Journal, JournalEntry};
use crate::agent::offline::OfflineQuestion;
use crate::agent::run::{Limits, OwnTool, Prompt, Reply, Run, Runner, Tools, addresses_in};
use crate::agent::{Readings, RunError, context, offline, prompt};
use crate::chat::message::{Speaker, Spoken};
use crate::chat::store::FileText;
use crate::db::Database;
use crate::ids::{ChannelId, MessageId, PersonaSlug};
use crate::llm::Structured;
use crate::memory::MemorySource;
use crate::memory::retrieval::{ChannelFile, find_lessons};
use crate::money::Purpose;
use crate::persona::Persona;
use crate::persona::roster::Roster;

/// How many lines of a channel are read for an answer; the context takes what fits its budget.
const TRANSCRIPT: u32 = 30;

/// How many of a channel's earlier files an answer may draw on.
const CHANNEL_FILES: u32 = 12;

/// How many lessons on the subject of a question are told.
const LESSONS: usize = 5;

/// How often a channel is told that the team runs without a model.
const OFFLINE_NOTICE_EVERY: Duration = Duration::from_hours(24);

/// The personas of the team, ready to be asked.
pub struct Agents {
    pub runner: Runner,
    pub roster: Arc<Roster>,
    /// The team's name.
    pub team: String,
    pub store: Database,
    pub readings: Readings,
    pub max_output_tokens: u32,
}

/// What a persona is asked, and by whom.
pub struct Question<'a> {
    pub persona: &'a PersonaSlug,
    /// With `subject` the place in the ledger.
    pub purpose: Purpose,
    pub subject: &'a str,
    pub asker: &'a Speaker,
    /// The persona that puts a person's question to this one.
    pub through: Option<&'a PersonaSlug>,
    pub text: &'a str,
    /// Files that came with the question.
    pub files: &'a [FileText],
    /// Whose transcript and files are told. None for a question that was asked in no channel.
    pub channel: Option<&'a ChannelId>,
    /// Empty in a direct conversation.
    pub channel_name: &'a str,
    /// The messages that hold the question; the transcript leaves them out.
    pub answered: &'a [MessageId],
    /// Where the things come from that tools store. None: nothing can be stored.
    pub source: Option<MemorySource>,
    /// None: the persona answers alone.
    pub colleagues: Option<&'a dyn Colleagues>,
    pub journal: Option<&'a dyn Journal>,
}

impl<'a> Question<'a> {
    /// A question in no channel, without files and without anybody else to ask.
    pub fn new(persona: &'a PersonaSlug, (purpose, subject): (Purpose, &'a str), asker: &'a Speaker, text: &'a str) -> Self {
        Self {
            persona,
            purpose,
            subject,
            asker,
            through: None,
            text,
            files: &[],
            channel: None,
            channel_name: "",
            answered: &[],
            source: None,
            colleagues: None,
            journal: None,
        }
    }
}

/// What is known of the channel in which a question was asked.
struct Surroundings {
    now: DateTime<Utc>,
    /// Before the question, oldest first.
    transcript: Vec<Spoken>,
    files: Vec<ChannelFile>,
    /// Posted before, newest first.
    channel_files: Vec<ChannelFile>,
}

impl Agents {
    /// See [`Runner::run`].
    ///
    /// # Errors
    /// There is no answer, or not yet.
    pub async fn run(&self, run: Run<'_>) -> Result<Reply, RunError> {
        self.runner.run(run).await
    }

    /// See [`Runner::run_structured`].
    ///
    /// # Errors
    /// There is no usable value.
    pub async fn run_structured<T: DeserializeOwned + JsonSchema>(&self, run: Run<'_>) -> Result<Structured<T>, RunError> {
        self.runner.run_structured(run).await
    }

    /// Whether no model is configured.
    pub fn is_offline(&self) -> bool {
        self.runner.models.is_offline()
    }

    /// The part of a prompt that stays the same for a persona.
    pub fn system_prompt(&self, persona: &Persona) -> String {
        prompt::render_system(&self.team, &self.roster, persona)
    }

    /// Asks a persona. Where the question has a journal, an answer that is stored there is returned, and nobody is asked again.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn answer(&self, question: &Question<'_>, cancel: &CancellationToken) -> Result<Reply, RunError> {
        let persona = self.roster.find(question.persona).ok_or_else(|| RunError::NoPersona(question.persona.clone()))?;
        if self.is_offline() {
            return tokio::select! {
                reply = self.compose(persona, question) => reply,
                () = cancel.cancelled() => Err(RunError::Cancelled),
            };
        }
        let by_person = !question.asker.is_agent();
        let mut own: Vec<Box<dyn OwnTool + '_>> = Vec::new();
        if let Some(colleagues) = question.colleagues.filter(|_| persona.tools.iter().any(|tool| tool == ask_tool::NAME)) {
            own.push(Box::new(AskAgent { roster: &self.roster, colleagues }));
        }
        let tools = Tools {
            listed: persona.tools.clone(),
            own,
            workspace: None,
            source: question.source.clone(),
            addresses: if by_person { addresses_in(question.text) } else { Vec::new() },
            approvals: None,
            limits: Limits::CHAT,
        };
        self.run(Run {
            persona: Some(persona),
            purpose: question.purpose,
            subject: question.subject,
            tier: persona.tier,
            prompt: Box::pin(self.build_prompt(persona, question)),
            max_output_tokens: self.max_output_tokens,
            keep_partial: false,
            tools: Some(tools),
            journal: question.journal,
            cancel,
        })
        .await
    }

    /// One line on the language models, for `/status`.
    pub fn describe_models(&self) -> String {
        if self.is_offline() {
            return "No language model is configured: we answer offline, from feeds and files alone.".into();
        }
        let providers: Vec<_> = self
            .runner
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

    async fn look_around(&self, question: &Question<'_>) -> Result<Surroundings, RunError> {
        let now = self.runner.clock.now();
        let files = readable(question.files);
        let Some(channel) = question.channel else {
            return Ok(Surroundings { now, transcript: Vec::new(), files, channel_files: Vec::new() });
        };
        let mut transcript = self.store.list_spoken(channel, TRANSCRIPT).await?;
        transcript.retain(|line| !line.message.as_ref().is_some_and(|id| question.answered.contains(id)));
        // An agent's message has no id before it is posted; it is the last line with these words.
        if question.asker.is_agent()
            && let Some(at) = transcript.iter().rposition(|line| line.speaker == *question.asker && line.text == question.text)
        {
            transcript.remove(at);
        }
        let mut channel_files = self.store.list_channel_files(channel, CHANNEL_FILES).await?;
        channel_files.retain(|file| !question.files.iter().any(|own| own.id == file.id));
        Ok(Surroundings { now, transcript, files, channel_files: readable(&channel_files) })
    }

    async fn compose(&self, persona: &Persona, question: &Question<'_>) -> Result<Reply, RunError> {
        if let Some(journal) = question.journal
            && let Some(reply) = find_reply(journal.read().await?)
        {
            return Ok(reply);
        }
        let Surroundings { now, transcript, files, channel_files } = self.look_around(question).await?;
        let composed = offline::compose(&OfflineQuestion {
            persona,
            roster: &self.roster,
            text: question.text,
            files: &files,
            channel_files: &channel_files,
            transcript: &transcript,
            feeds: self.readings.feeds_of(&persona.slug),
            now,
        })
        .await;
        let mut text = composed.text;
        let key = format!("offline:{}", question.channel.map_or("terminal", ChannelId::as_str));
        // An answer that becomes part of a work item goes into reports, where the notice has no place.
        if question.purpose != Purpose::Step && self.store.claim_notice(&key, now, OFFLINE_NOTICE_EVERY).await? {
            text.push('\n');
            text.push_str(offline::EXPLANATION);
        }
        let text = self.runner.redact(text, question.subject);
        if let Some(journal) = question.journal {
            let entry = JournalEntry::Replied { text: text.clone(), calls: Vec::new(), model: String::new() };
            if !journal.append(&entry, self.runner.clock.now()).await? {
                return Err(RunError::Lost);
            }
        }
        Ok(Reply::plain(text))
    }

    async fn build_prompt(&self, persona: &Persona, question: &Question<'_>) -> Result<Prompt, RunError> {
        let Surroundings { now, transcript, files, channel_files } = self.look_around(question).await?;
        let read = self.readings.read(&persona.slug).await;
        let lessons = find_lessons(&self.store, question.text, &persona.slug, LESSONS).await?;
        let built = context::build(&ContextInput {
            team: &self.team,
            roster: &self.roster,
            persona,
            now,
            channel: question.channel_name,
            question: context::Question { from: question.asker, text: question.text, through: question.through },
            transcript: &transcript,
            files: &files,
            channel_files: &channel_files,
            documents: &read.documents,
            feeds: &read.reports,
            lessons: &lessons,
            budget: ContextBudget::default(),
            marker: &context::new_marker(),
        });
        tracing::debug!(subject = question.subject, persona = %persona.slug, sections = ?built.sections, "prompt");
        Ok(built.prompt)
    }
}

/// The answer that a journal ends with.
fn find_reply(journal: Vec<(JournalEntry, DateTime<Utc>)>) -> Option<Reply> {
    match journal.into_iter().next_back() {
        Some((JournalEntry::Replied { text, calls, model }, _)) if calls.is_empty() => {
            Some(Reply { model: (!model.is_empty()).then_some(model), ..Reply::plain(text) })
        }
        _ => None,
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
