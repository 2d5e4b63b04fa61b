//! Answers questions as a persona: with a model if one is configured, otherwise with the offline composer.

mod composed;
mod models;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::future;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use crate::agent::ask_tool::{self, AskAgent, Colleagues};
use crate::agent::context::{ContextBudget, ContextInput};
use crate::agent::findings::{self, Finding};
use crate::agent::journal::{Journal, JournalEntry};
use crate::agent::prompt::PromptKind;
use crate::agent::run::{InChat, Limits, Offer, OwnTool, Prompt, Reply, Run, Runner, Tools, addresses_in};
use crate::agent::surroundings::{Refers, Surroundings};
use crate::agent::{Readings, RunError, budget, context, prompt};
use crate::chat::message::{Speaker, Spoken};
use crate::chat::store::FileText;
use crate::chat::text::{Subtext, is_subtext};
use crate::db::{Database, StoreError};
use crate::ids::{ChannelId, MessageId, PersonaSlug, UserId};
use crate::llm::{ModelError, Speech, Structured, Transcription, cause};
use crate::memory::retrieval::Quote;
use crate::memory::{MemorySource, Recall, Scope, Teacher};
use crate::money::{Allowance, Purpose};
use crate::persona::roster::Roster;
use crate::persona::{Persona, Tier};
use crate::time::Today;
use crate::tools::{AskedBy, ids_in};

/// The most lessons on the question's subject in a prompt.
const LESSONS: usize = 5;

/// The most summaries of what was said before the transcript.
const SPANS: u32 = 5;

/// The most older messages and parts of documents in a prompt.
const HEARD: usize = 6;

/// Lines of the talk that show what a person asks for in their own words.
const TALK: usize = 8;

pub struct Agents {
    pub runner: Runner,
    pub roster: Arc<Roster>,
    /// The team's name.
    pub team: String,
    pub store: Database,
    pub readings: Readings,
    /// Speaks for the personas.
    pub speech: Option<Arc<Speech>>,
    /// Understands voice messages.
    pub transcription: Option<Transcription>,
    pub max_output_tokens: u32,
}

/// What a message wants of the persona that it addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpeechAct {
    Question,
    Request,
    /// It only tells something.
    Statement,
    /// It only greets, in any language.
    Greeting,
    /// A name, thanks, or anything that the rules do not recognise.
    #[default]
    Other,
}

/// A question to a persona.
pub struct Question<'a> {
    pub persona: &'a PersonaSlug,
    /// Recorded in the ledger together with `subject`.
    pub purpose: Purpose,
    pub subject: &'a str,
    pub asker: &'a Speaker,
    /// The persona that forwards a person's question.
    pub through: Option<&'a PersonaSlug>,
    pub text: &'a str,
    pub act: SpeechAct,
    /// Files given with a question outside of channels. In a channel the store has them.
    pub files: &'a [FileText],
    /// The channel whose transcript and files are read. None for a question outside of channels.
    pub channel: Option<&'a ChannelId>,
    /// Empty in a direct conversation.
    pub channel_name: &'a str,
    /// Which memories the answer may tell.
    pub scope: Scope,
    /// The messages that contain the question. The transcript leaves them out.
    pub answered: &'a [MessageId],
    /// None outside of channels.
    pub refers: Option<&'a Refers>,
    /// The source recorded for what tools store. None: nothing can be stored.
    pub source: Option<MemorySource>,
    /// None: the persona cannot ask others.
    pub colleagues: Option<&'a dyn Colleagues>,
    /// The model calls that the person's message may still pay for. None: only money is a limit.
    pub allowance: Option<Allowance>,
    /// None outside of conversations.
    pub in_chat: Option<InChat<'a>>,
    pub journal: Option<&'a dyn Journal>,
}

impl<'a> Question<'a> {
    /// A question outside of channels, without files and colleagues.
    pub fn new(persona: &'a PersonaSlug, (purpose, subject): (Purpose, &'a str), asker: &'a Speaker, text: &'a str) -> Self {
        Self {
            persona,
            purpose,
            subject,
            asker,
            through: None,
            text,
            act: SpeechAct::Other,
            files: &[],
            channel: None,
            channel_name: "",
            scope: Scope::TEAM,
            answered: &[],
            refers: None,
            source: None,
            colleagues: None,
            allowance: None,
            in_chat: None,
            journal: None,
        }
    }
}

impl Agents {
    /// See [`Runner::run`].
    ///
    /// # Errors
    /// There is no answer, or not yet.
    pub async fn run(&self, run: Run<'_>) -> Result<Reply, RunError> {
        self.runner.run(run).await.map_err(|error| self.dated(error))
    }

    /// See [`Runner::run_structured`].
    ///
    /// # Errors
    /// There is no usable value.
    pub async fn run_structured<T: DeserializeOwned + JsonSchema>(&self, run: Run<'_>) -> Result<Structured<T>, RunError> {
        self.runner.run_structured(run).await.map_err(|error| self.dated(error))
    }

    /// A model that is used up, with the time at which it is back as the team reads it.
    fn dated(&self, error: RunError) -> RunError {
        let RunError::Model(ModelError::UsedUp { provider, until }) = &error else { return error };
        let provider = cause::shown(provider);
        let time = self.roster.today(self.runner.clock.now()).show(*until);
        RunError::NotYet { at: *until, why: format!("the language model at {provider} is used up until {time}") }
    }

    /// Whether any model sees pictures, so that their bytes are worth keeping.
    pub fn has_eyes(&self) -> bool {
        self.runner.models.has_eyes()
    }

    /// Whether no model is configured.
    pub fn is_offline(&self) -> bool {
        self.runner.models.is_offline()
    }

    /// The tokens that a prompt for a tier may have.
    pub fn prompt_tokens(&self, tier: Tier) -> usize {
        budget::prompt_tokens(self.runner.models.window(tier))
    }

    /// The part of the prompt that is the same for all prompts of a persona of one kind.
    pub fn system_prompt(&self, persona: &Persona, kind: PromptKind) -> String {
        prompt::render_system(&self.team, &self.roster, persona, kind)
    }

    /// The tools with which a persona looks things up, for a run that answers no person. Those that change something are left out.
    pub fn list_reading_tools(&self, persona: &Persona) -> Vec<String> {
        let acts = self.runner.tools.acts();
        let changes = |tool: &str| acts.iter().any(|act| act.done_by.contains(&tool));
        listed_tools(persona).into_iter().filter(|tool| !changes(tool)).collect()
    }

    /// Asks a persona. If the journal already contains an answer, returns that without a model call.
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
        let mut own: Vec<Box<dyn OwnTool + '_>> = Vec::new();
        if let Some(colleagues) = question.colleagues.filter(|_| persona.tools.iter().any(|tool| tool == ask_tool::NAME)) {
            own.push(Box::new(AskAgent { roster: &self.roster, colleagues }));
        }
        let mut around = self.look_around(question, self.runner.models.sees(persona.tier)).await?;
        let pictures = std::mem::take(&mut around.pictures);
        let mut listed = listed_tools(persona);
        if question.in_chat.is_some_and(|in_chat| in_chat.proposes) {
            listed.extend(self.runner.tools.list_for_all().map(str::to_owned));
        }
        let tools = Tools {
            listed,
            offer: offer_for(question, &around),
            own,
            workspace: None,
            source: question.source.clone(),
            scope: question.scope.clone(),
            asked_by: asked_by(question, &around),
            addresses: if question.asker.is_agent() { Vec::new() } else { addresses_of_people(question, &around) },
            approvals: None,
            in_chat: question.in_chat.map(|in_chat| InChat { roster: Some(&self.roster), ..in_chat }),
            limits: Limits::CHAT,
        };
        let answered = self
            .run(Run {
                persona: Some(persona),
                purpose: question.purpose,
                subject: question.subject,
                tier: persona.tier,
                allowance: question.allowance.clone(),
                pictures,
                prompt: Box::pin(self.build_prompt(persona, question, around)),
                max_output_tokens: self.max_output_tokens,
                keep_partial: false,
                tools: Some(tools),
                journal: question.journal,
                cancel,
            })
            .await;
        let is_awaited = question.purpose != Purpose::Step && matches!(question.asker, Speaker::Person { .. });
        let reply = match answered {
            Err(error) if is_awaited && error.is_outage() => return self.stand_in(persona, question, error).await,
            answered => answered?,
        };
        // The result of a work item consists of the reply alone.
        Ok(if question.purpose == Purpose::Step { reply } else { with_notes(reply) })
    }

    /// What the team has found out today on a subject and may be told in `scope`, best first. `outside`: also what may quote somebody outside.
    ///
    /// # Errors
    /// The database is unavailable.
    pub async fn find_findings(
        &self,
        persona: &PersonaSlug,
        subject: &str,
        scope: &Scope,
        outside: bool,
    ) -> Result<Vec<Quote>, StoreError> {
        let mut found = self.store.list_findings(scope, findings::since(&self.roster, self.runner.clock.now())).await?;
        found.retain(|finding| outside || !finding.outside);
        Ok(self.quote_findings(&findings::choose(&found, subject, persona)))
    }

    fn quote_findings(&self, found: &[Finding]) -> Vec<Quote> {
        let now = self.runner.clock.now();
        found.iter().map(|finding| finding.quote(&self.roster, now)).collect()
    }

    async fn build_prompt(&self, persona: &Persona, question: &Question<'_>, around: Surroundings) -> Result<Prompt, RunError> {
        let Surroundings { now, question: text, transcript, refers, files, annotations, .. } = around;
        let read = self.readings.read(&persona.slug).await;
        let mut found = self.store.list_findings(&question.scope, findings::since(&self.roster, now)).await?;
        // Those of this channel stand in its transcript.
        found.retain(|finding| finding.channel.is_none() || finding.channel.as_ref() != question.channel);
        let found = self.quote_findings(&findings::choose(&found, &text, &persona.slug));
        let asked = recall(persona, question, LESSONS, self.roster.today(now));
        let shown = transcript.iter().chain(&refers.replied_to).chain(&refers.starter).filter_map(|line| line.message.as_ref());
        let shown: Vec<&MessageId> = shown.chain(question.answered).collect();
        let spans = async {
            match question.channel {
                Some(channel) => self.store.list_spans(channel, SPANS).await,
                None => Ok(Vec::new()),
            }
        };
        let ((lessons, heard), spans) = future::try_join(self.store.recall_for_answer(&asked, HEARD, &shown), spans).await?;
        self.store.record_used(lessons.iter().chain(&heard), now).await?;
        let built = context::build(&ContextInput {
            team: &self.team,
            roster: &self.roster,
            persona,
            now,
            channel: question.channel_name,
            question: context::Question { from: question.asker, text: &text, through: question.through },
            transcript: &transcript,
            replied_to: refers.replied_to.as_ref(),
            starter: refers.starter.as_ref(),
            notes: &refers.notes,
            named: &refers.named,
            files: &files,
            annotations: &annotations,
            passages: &read.find_passages(&text),
            feeds: &read.reports,
            findings: &found,
            lessons: &lessons,
            heard: &heard,
            spans: &spans,
            budget: ContextBudget::of(self.prompt_tokens(persona.tier)),
            marker: &context::new_marker(),
        });
        tracing::debug!(subject = question.subject, persona = %persona.slug, sections = ?built.sections, "prompt");
        Ok(built.prompt)
    }
}

/// Personas with tools can read what the team has made.
const READS: [&str; 3] = ["item_read", "meeting_read", "skill_read"];

fn listed_tools(persona: &Persona) -> Vec<String> {
    let reads = READS.into_iter().filter(|_| !persona.tools.is_empty()).map(str::to_owned);
    let reads = reads.filter(|tool| !persona.tools.contains(tool));
    persona.tools.iter().cloned().chain(reads).collect()
}

/// The tools of a conversation: those that carry out what is asked for, and those for what the words, and what they refer to, are about.
fn offer_for(question: &Question<'_>, around: &Surroundings) -> Offer {
    let Surroundings { refers, .. } = around;
    let referred = refers.replied_to.iter().chain(&refers.starter).map(|line| line.text.as_str());
    let about = std::iter::once(around.question.as_str()).chain(referred).collect::<Vec<_>>().join("\n");
    let mut also = Vec::new();
    // What the rules do not recognise may be a request in any language.
    if matches!(question.act, SpeechAct::Request | SpeechAct::Other) {
        also.push("backlog_add");
    }
    if !refers.named.is_empty() {
        also.push("item_read");
    }
    Offer::Fitting { about, first: vec!["team_command"], also }
}

/// The web addresses that people have written: in the message, in the messages that it refers to, and in those before it.
fn addresses_of_people(question: &Question<'_>, around: &Surroundings) -> Vec<String> {
    let by_person = |line: &&Spoken| matches!(line.speaker, Speaker::Person { .. });
    let Surroundings { refers, transcript, .. } = around;
    let lines = refers.replied_to.iter().chain(&refers.starter).chain(transcript).filter(by_person).map(|line| line.text.as_str());
    std::iter::once(question.text).chain(lines).flat_map(addresses_in).collect()
}

/// The answer with the lines that code adds below it: corrections, what was done, and what was read.
fn with_notes(reply: Reply) -> Reply {
    let done = (!reply.done.is_empty()).then(|| Subtext(reply.done.join(" · ")).to_string());
    let mut text = reply.text.trim_end().to_owned();
    for note in reply.corrections.iter().chain(&done).chain(&reply.remarks) {
        text.push('\n');
        text.push_str(note);
    }
    Reply { text, ..reply }
}

fn recall<'a>(persona: &'a Persona, question: &'a Question<'_>, limit: usize, today: Today) -> Recall<'a> {
    let asker = match question.asker {
        Speaker::Person { id, .. } => Some(id),
        Speaker::Persona(_) | Speaker::ForeignBot { .. } => None,
    };
    Recall { asker, today: Some(today), ..Recall::new(question.text, &question.scope, limit).of(&persona.slug) }
}

/// With names in place of ids, as the model reads it.
fn asked_by(question: &Question<'_>, around: &Surroundings) -> Option<AskedBy> {
    match question.asker {
        Speaker::Person { id, name } if question.through.is_none() => {
            let person = Teacher { id: Some(id.clone()), name: name.clone() };
            let replied_to = around.refers.replied_to.as_ref().map_or_else(String::new, |spoken| spoken.text.clone());
            Some(AskedBy { person, text: around.typed.clone(), replied_to, talk: talk_of(around, id) })
        }
        _ => None,
    }
}

/// The talk before a question without anything that an agent wrote but ids: those in lines that code has added, or the only one that is named.
fn talk_of(around: &Surroundings, asker: &UserId) -> Vec<String> {
    let line = |spoken: &Spoken| match &spoken.speaker {
        Speaker::Person { id, .. } if id == asker => Some(format!("they: {}", around.typed_of(spoken))),
        Speaker::Person { .. } => Some(format!("somebody else: {}", around.typed_of(spoken))),
        Speaker::Persona(_) => {
            let added: Vec<&str> = spoken.text.lines().filter(|line| is_subtext(line)).collect();
            let named = ids_in(&spoken.text);
            let ids = if named.len() == 1 { named } else { ids_in(&added.join(" ")) };
            (!ids.is_empty()).then(|| format!("(the team named {})", ids.join(", ")))
        }
        Speaker::ForeignBot { .. } => None,
    };
    let last = around.transcript.len().saturating_sub(TALK);
    around.transcript[last..].iter().chain(&around.refers.replied_to).filter_map(line).collect()
}

/// The answer at the end of a journal, with its verdict if it was judged.
fn find_reply(journal: Vec<(JournalEntry, DateTime<Utc>)>) -> Option<Reply> {
    let mut entries = journal.into_iter().map(|(entry, _)| entry).rev().peekable();
    let verdict = match entries.peek() {
        Some(JournalEntry::Judged { verdict, .. }) => Some(*verdict),
        _ => None,
    };
    match entries.nth(usize::from(verdict.is_some())) {
        Some(JournalEntry::Replied { text, calls, model }) if calls.is_empty() => {
            Some(Reply { model: (!model.is_empty()).then_some(model), verdict, ..Reply::plain(text) })
        }
        _ => None,
    }
}
