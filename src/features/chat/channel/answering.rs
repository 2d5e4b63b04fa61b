//! The question that a turn puts to a persona, and the messages made from its reply.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::features::chat::Conversation;
use crate::features::chat::channel::asking::AskOrigin;
use crate::features::chat::rules::router::find_speech_act;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::agent::{InChat, Journal, PlaceNote, Question, Refers, Reply, RunError};
use kernel::chat::attachments::display_name;
use kernel::chat::format::Rendered;
use kernel::chat::message::{Author, AuthorKind, Channel, InboundMessage, Place, Speaker, Spoken};
use kernel::chat::outbound::{FileContent, OutboundFile, OutboundKind, OutboundMessage};
use kernel::chat::{Presence, format};
use kernel::ids::{ChainId, ChannelId, MessageId, PersonaSlug, TurnId};
use kernel::memory::{MemorySource, Scope};
use kernel::money::{Allowance, Purpose};

/// The name of a file that holds an answer too long for a message.
const ANSWER_FILE: &str = "answer.md";

/// How long to look for a message on the platform.
const LOOK_UP: Duration = Duration::from_secs(5);

/// How a turn ended: what is stored about it, and the notice that is posted when there is no answer.
pub(crate) struct Ending {
    pub(super) state: TurnState,
    pub(super) reply: Option<Reply>,
    pub(super) error: Option<String>,
    pub(super) notice: Option<String>,
    /// The key of a notice that the reply gives, recorded with the end.
    pub(super) noticed: Option<String>,
}

/// A turn in progress.
#[derive(Clone, Copy)]
pub(super) struct Performing<'a> {
    pub(super) turn: &'a Turn,
    pub(super) journal: &'a dyn Journal,
    /// Receives what the turn is doing.
    pub(super) watch: &'a (dyn Fn(String) + Send + Sync),
    pub(super) cancel: &'a CancellationToken,
}

impl Conversation {
    pub(super) async fn perform(&self, performing: &Performing<'_>) -> Ending {
        let Performing { turn, cancel, .. } = *performing;
        let result = match &turn.trigger {
            Trigger::Ask { ask } => return self.ask_and_relay(ask, cancel).await,
            Trigger::Message => self.answer_message(performing).await,
            Trigger::Agent { from, turn: said_in } => self.answer_agent(performing, from, said_in).await,
        };
        match result {
            Ok(_) if !self.inner.halts.is_paused(&turn.persona) => {
                self.deps().platform.set_presence(&turn.persona, Presence::Listening).await;
            }
            Err(RunError::OutOfBudget(_)) => self.deps().platform.set_presence(&turn.persona, Presence::OutOfBudget).await,
            _ => {}
        }
        self.spare_refusal(turn, Ending::from_result(result, matches!(turn.trigger, Trigger::Message))).await
    }

    async fn answer_message(&self, performing: &Performing<'_>) -> Result<Reply, RunError> {
        let turn = performing.turn;
        let burst = self.read_burst(&turn.message).await?;
        let Some(first) = burst.first() else { return Err(RunError::Cancelled) };
        let (id, name) = (first.author.id.clone(), first.author.name.clone());
        let asker = match first.author.kind {
            AuthorKind::Person => Speaker::Person { id, name },
            _ => Speaker::ForeignBot { id, name },
        };
        let message = super::deciding::join(&burst);
        let mut refers = self.read_references(&message).await?;
        refers.notes.extend(self.note_done_before_edit(&turn.message).await?);
        let answered: Vec<MessageId> = burst.iter().map(|message| message.id.clone()).collect();
        let origin = self.origin_of(turn);
        let request = Question {
            answered: &answered,
            refers: Some(&refers),
            act: find_speech_act(&message.text, &self.deps().roster),
            ..self.question_of(performing, &origin, &first.channel, &asker, &message.text)
        };
        self.deps().agents.answer(&request, performing.cancel).await
    }

    async fn answer_agent(&self, performing: &Performing<'_>, from: &PersonaSlug, said_in: &TurnId) -> Result<Reply, RunError> {
        let turn = performing.turn;
        let store = &self.deps().store;
        let Some(said) = store.find_turn(said_in).await?.and_then(|said| said.reply) else { return Err(RunError::Cancelled) };
        let burst = self.read_burst(&turn.message).await?;
        let Some(first) = burst.first() else { return Err(RunError::Cancelled) };
        let asker = Speaker::Persona(from.clone());
        // The agent speaks for itself, but may refer to the person's files.
        let refers = Refers { replied_to: None, ..self.read_references(first).await? };
        let origin = self.origin_of(turn);
        let request = Question { refers: Some(&refers), ..self.question_of(performing, &origin, &first.channel, &asker, &said) };
        self.deps().agents.answer(&request, performing.cancel).await
    }

    /// The question that a turn puts to a persona.
    fn question_of<'a>(
        &self,
        performing: &Performing<'a>,
        origin: &'a AskOrigin<'a>,
        channel: &'a Channel,
        asker: &'a Speaker,
        text: &'a str,
    ) -> Question<'a> {
        let turn = performing.turn;
        let online = !self.deps().agents.is_offline();
        Question {
            channel: Some(&channel.id),
            channel_name: &channel.name,
            scope: Scope::of(channel),
            source: Some(MemorySource::Message(turn.message.clone())),
            colleagues: Some(origin),
            allowance: Some(self.allowance(&turn.chain, 0)),
            in_chat: Some(InChat { proposes: matches!(asker, Speaker::Person { .. }), watch: Some(performing.watch), ..InChat::default() }),
            // Without a model no calls are made, so there is nothing to record.
            journal: online.then_some(performing.journal),
            ..Question::new(&turn.persona, (Purpose::Chat, turn.id.as_str()), asker, text)
        }
    }

    /// The model calls that a persona at this depth of a chain may make. One call is kept for each asker before it, so that they can answer.
    pub(super) fn allowance(&self, chain: &ChainId, depth: usize) -> Allowance {
        let kept = u32::try_from(depth).unwrap_or(u32::MAX);
        Allowance { chain: chain.clone(), calls: self.deps().guard.model_calls.saturating_sub(kept).max(1) }
    }

    /// The context of a person's message: the message that it replies to, the start of its thread, and facts about the place.
    pub(super) async fn read_references(&self, message: &InboundMessage) -> Result<Refers, RunError> {
        let replied_to = match &message.reply_to {
            Some(reply) => self.find_spoken(&message.channel.id, &reply.message).await?,
            None => None,
        };
        let (in_thread, starter) = match &message.channel.place {
            Place::Thread { parent, starter: Some(starter), .. } => (true, self.find_spoken(parent, starter).await?),
            place => (matches!(place, Place::Thread { .. }), None),
        };
        let mut notes = Vec::new();
        let mut named = Vec::new();
        let text = replied_to.iter().map(|spoken| spoken.text.as_str()).chain([message.text.as_str()]).collect::<Vec<_>>().join("\n");
        for listener in &self.deps().listeners {
            notes.extend(listener.describe_place(&message.channel, self.kind_of(&message.channel)).await?);
            named.extend(listener.list_named(&text, &message.channel).await?);
        }
        Ok(Refers { author: Some(message.author.id.clone()), replied_to, starter, in_thread, notes, named })
    }

    /// A message from the store, or from the platform if it is older than what the team has heard. None if it is gone.
    async fn find_spoken(&self, channel: &ChannelId, message: &MessageId) -> Result<Option<Spoken>, RunError> {
        let deps = self.deps();
        if let Some(spoken) = deps.store.find_spoken(channel, message).await? {
            return Ok(Some(spoken));
        }
        if deps.store.find_message(message).await?.is_some_and(|row| row.deleted_at.is_some()) {
            return Ok(None);
        }
        let found = match tokio::time::timeout(LOOK_UP, deps.platform.find_message(channel, message)).await {
            Ok(Ok(found)) => found,
            // If the lookup fails, the answer is given without the message.
            Ok(Err(error)) => {
                tracing::warn!(%message, %error, "a message that is referred to could not be read");
                None
            }
            Err(_) => None,
        };
        Ok(found.filter(|found| found.complete).and_then(spoken))
    }

    /// What was done for the text of a message before it was edited, so that it is not done twice.
    async fn note_done_before_edit(&self, first: &MessageId) -> Result<Vec<PlaceNote>, RunError> {
        let done = self.deps().store.list_done_before_edit(first).await?;
        let note = |(persona, done): (PersonaSlug, String)| PlaceNote {
            text: format!(
                "The message was edited. For its earlier text {} has done this already: {done}. Do it again only if the new text asks for more, \
                 and undo or change what the new text does not want.",
                self.deps().roster.name_of(&persona)
            ),
            asked_by: "",
            is_of_place: true,
        };
        Ok(done.into_iter().map(note).collect())
    }

    fn origin_of<'a>(&'a self, turn: &'a Turn) -> AskOrigin<'a> {
        let Turn { persona, message, chain, channel, .. } = turn;
        AskOrigin { conversation: self, asker: persona, message, chain, channel, path: vec![persona.clone()] }
    }

    /// The messages that a turn answers, without deleted ones.
    async fn read_burst(&self, first: &MessageId) -> Result<Vec<InboundMessage>, RunError> {
        let rows = self.deps().store.list_burst(first).await?;
        Ok(rows.into_iter().filter(|row| row.deleted_at.is_none()).map(|row| row.message).collect())
    }

    pub(super) fn render(&self, turn: &Turn, text: &str, reply_to: Option<&MessageId>) -> Vec<OutboundMessage> {
        let mut messages = self.render_as(&turn.persona, &turn.channel, text);
        for message in &mut messages {
            message.turn = Some(turn.id.clone());
        }
        if let Some(first) = messages.first_mut() {
            first.reply_to = reply_to.cloned();
        }
        messages
    }

    /// The text of a persona as platform messages, none over the length limit.
    pub(crate) fn render_as(&self, persona: &PersonaSlug, channel: &ChannelId, text: &str) -> Vec<OutboundMessage> {
        let message = |text: String| OutboundMessage::new(persona, channel, OutboundKind::Answer, text);
        match format::render(
            text,
            &self.deps().roster,
            ANSWER_FILE,
            self.deps().chat.attach_over,
            &self.deps().platform.text_format(channel),
        ) {
            Rendered::Messages(texts) => texts.into_iter().map(message).collect(),
            Rendered::File { summary, name, text } => {
                let files = vec![OutboundFile { name, content: FileContent::Text(text) }];
                vec![OutboundMessage { files, ..message(summary) }]
            }
        }
    }
}

/// A message that was read from the platform, with the names of its files. The files themselves were not read.
fn spoken(message: InboundMessage) -> Option<Spoken> {
    let Author { id, name, kind, .. } = message.author;
    let speaker = match kind {
        AuthorKind::Person => Speaker::Person { id, name },
        AuthorKind::Persona(slug) => Speaker::Persona(slug),
        AuthorKind::ForeignBot => Speaker::ForeignBot { id, name },
        AuthorKind::System => return None,
    };
    let files: Vec<String> = message.attachments.iter().map(|file| display_name(&file.name)).collect();
    let files = (!files.is_empty()).then(|| format!("(with {}, posted before I was here and not read)", files.join(", ")));
    let text = [Some(message.text).filter(|text| !text.is_empty()), files].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(Spoken { message: Some(message.id), speaker, answers: None, text, at: message.sent_at, in_meeting: false })
}

impl Ending {
    pub(crate) fn answered(reply: Reply) -> Self {
        Self { state: TurnState::Answered, reply: Some(reply), error: None, notice: None, noticed: None }
    }

    pub(crate) fn failed(error: &str, notice: &str) -> Self {
        Self { state: TurnState::Failed, reply: None, error: Some(error.into()), notice: Some(notice.into()), noticed: None }
    }

    /// Ends the turn without a message.
    pub(super) fn silent(state: TurnState) -> Self {
        Self { state, reply: None, error: None, notice: None, noticed: None }
    }

    /// `to_person`: a person waits for this answer, so a failure is reported to them. Between agents a failure posts nothing.
    pub(crate) fn from_result(result: Result<Reply, RunError>, to_person: bool) -> Self {
        match result {
            Ok(reply) => Self::answered(reply),
            Err(RunError::Cancelled) => Self::silent(TurnState::Cancelled),
            Err(RunError::Nothing) if !to_person => Self::silent(TurnState::Silent),
            Err(error) => Self {
                state: TurnState::Failed,
                reply: None,
                // Agents stay silent about a failure, except when a message has used up its limit of model calls.
                notice: (to_person || matches!(error, RunError::OutOfCalls(_))).then(|| error.for_person()),
                error: Some(error.to_string()),
                noticed: None,
            },
        }
    }
}
