//! One turn, from the row that asks for it to the row that holds its answer.

use std::collections::VecDeque;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::features::chat::channel::asking::AskOrigin;
use crate::features::chat::channel::queue::ChannelQueue;
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::store::{AskUpdate, Finished, FollowUp};
use crate::features::chat::{Conversation, Running};
use kernel::agent::ask::AskState;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::agent::{Question, Reply, RunError};
use kernel::catch_panic::contain;
use kernel::chat::format::Rendered;
use kernel::chat::message::{AuthorKind, Channel, InboundMessage, Speaker};
use kernel::chat::outbound::{FileContent, OutboundFile, OutboundKind, OutboundMessage};
use kernel::chat::{Presence, format};
use kernel::db::StoreError;
use kernel::ids::{ChannelId, MessageId, PersonaSlug, TurnId};
use kernel::memory::MemorySource;
use kernel::money::Purpose;

/// A turn that was begun this often and never ended has taken the process down with it; it is not begun again.
const MOST_ATTEMPTS: u32 = 3;

/// The name of a file that holds an answer too long for a message.
const ANSWER_FILE: &str = "answer.md";

/// Typing fades after 10 s on Discord; it is shown anew before that.
const TYPING_EVERY: Duration = Duration::from_secs(8);

/// An answer that comes at once needs no typing before it.
const TYPING_AFTER: Duration = Duration::from_millis(150);

/// How a turn ended: what is to be stored about it, and what is said where there is no answer.
pub(crate) struct Ending {
    state: TurnState,
    reply: Option<Reply>,
    error: Option<String>,
    notice: Option<String>,
}

impl Conversation {
    /// Runs one turn and returns those that follow from it. `queued` are the turns that come next anyway.
    pub(crate) async fn run_turn(&self, turn: &Turn, queued: &VecDeque<Turn>, queue: &ChannelQueue) -> anyhow::Result<Vec<Turn>> {
        let parts = self.parts();
        let cancel = parts.kill.child_token();
        // Before it begins, so that no stop misses it.
        let _registered = self.register(turn, &cancel);
        let begin = || parts.store.begin_turn(&turn.id, parts.clock.now());
        let Some(turn) = self.persist("beginning a turn", begin).await? else { return Ok(Vec::new()) };
        let ending = if self.inner.halts.was_halted_since(&turn.channel, turn.queued_at) {
            Ending::silent(TurnState::Cancelled)
        } else if turn.attempts > MOST_ATTEMPTS {
            self.give_up_ask(&turn).await?;
            Ending::failed(
                "it was begun three times and never ended",
                "I had to give up on this: it stopped me three times. Please put it another way.",
            )
        } else {
            let _showing = self.show_progress(&turn, &cancel);
            // On the heap: with a model call inside it is large, and every channel's task would hold it.
            let performing = async { Ok(Box::pin(self.perform(&turn, &cancel)).await) };
            contain(performing).await.unwrap_or_else(|panic| {
                tracing::error!(turn = %turn.id, error = format!("{panic:#}"), "a turn broke off");
                Ending::failed("it panicked", "Something went wrong inside me. It is in the log; please ask again.")
            })
        };
        if parts.kill.is_cancelled() && ending.reply.is_none() {
            // The process is ending by order, which is no fault of the turn; the next start begins it again.
            parts.store.release_turn(&turn).await?;
            return Ok(Vec::new());
        }
        self.conclude(&turn, ending, queued, queue).await
    }

    /// An ask whose turn is given up must not be carried out by every start from now on.
    async fn give_up_ask(&self, turn: &Turn) -> Result<(), StoreError> {
        if let Trigger::Ask { ask } = &turn.trigger {
            let failed = AskUpdate { ask, state: AskState::Failed, answer: None };
            self.parts().store.settle_ask(&failed, &[], self.parts().clock.now()).await?;
        }
        Ok(())
    }

    async fn perform(&self, turn: &Turn, cancel: &CancellationToken) -> Ending {
        let result = match &turn.trigger {
            Trigger::Ask { ask } => return self.ask_and_relay(ask, cancel).await,
            Trigger::Message => self.answer_message(turn, cancel).await,
            Trigger::Agent { from, turn: said_in } => self.answer_agent(turn, from, said_in, cancel).await,
        };
        match result {
            Ok(_) if !self.inner.halts.is_paused(&turn.persona) => {
                self.parts().platform.set_presence(&turn.persona, Presence::Listening).await;
            }
            Err(RunError::OutOfBudget(_)) => self.parts().platform.set_presence(&turn.persona, Presence::OutOfBudget).await,
            _ => {}
        }
        Ending::from_result(result, matches!(turn.trigger, Trigger::Message))
    }

    async fn answer_message(&self, turn: &Turn, cancel: &CancellationToken) -> Result<Reply, RunError> {
        let store = &self.parts().store;
        let burst = self.read_burst(&turn.message).await?;
        let Some(first) = burst.first() else { return Err(RunError::Cancelled) };
        let (id, name) = (first.author.id.clone(), first.author.name.clone());
        let asker = match first.author.kind {
            AuthorKind::Person => Speaker::Person { id, name },
            _ => Speaker::ForeignBot { id, name },
        };
        let question = super::deciding::join(&burst).text;
        let mut files = Vec::new();
        for message in &burst {
            if !message.attachments.is_empty() {
                files.extend(store.list_message_files(&message.id).await?);
            }
        }
        let answered: Vec<MessageId> = burst.iter().map(|message| message.id.clone()).collect();
        let origin = self.origin_of(turn);
        let request = Question { answered: &answered, files: &files, ..question_of(turn, &origin, &first.channel, &asker, &question) };
        self.parts().agents.answer(&request, cancel).await
    }

    async fn answer_agent(&self, turn: &Turn, from: &PersonaSlug, said_in: &TurnId, cancel: &CancellationToken) -> Result<Reply, RunError> {
        let store = &self.parts().store;
        let Some(said) = store.find_turn(said_in).await?.and_then(|said| said.reply) else { return Err(RunError::Cancelled) };
        let burst = self.read_burst(&turn.message).await?;
        let Some(first) = burst.first() else { return Err(RunError::Cancelled) };
        let asker = Speaker::Persona(from.clone());
        let origin = self.origin_of(turn);
        self.parts().agents.answer(&question_of(turn, &origin, &first.channel, &asker, &said), cancel).await
    }

    fn origin_of<'a>(&'a self, turn: &'a Turn) -> AskOrigin<'a> {
        let Turn { persona, message, chain, channel, .. } = turn;
        AskOrigin { conversation: self, asker: persona, message, chain, channel, path: vec![persona.clone()] }
    }

    /// The messages that a turn answers; none when the first was deleted.
    async fn read_burst(&self, first: &MessageId) -> Result<Vec<InboundMessage>, RunError> {
        let rows = self.parts().store.list_burst(first).await?;
        Ok(rows.into_iter().filter(|row| row.deleted_at.is_none()).map(|row| row.message).collect())
    }

    /// Stores how a turn ended, together with what is to be said and who speaks next.
    async fn conclude(&self, turn: &Turn, ending: Ending, queued: &VecDeque<Turn>, queue: &ChannelQueue) -> anyhow::Result<Vec<Turn>> {
        let parts = self.parts();
        let now = parts.clock.now();
        // In a busy channel the answer points at what it answers.
        let reply_to = queue.has_message().then(|| turn.message.clone());
        let mut outbox = Vec::new();
        let mut follow_ups = Vec::new();
        if let Some(reply) = &ending.reply {
            outbox.extend(self.render(turn, &reply.text, reply_to.as_ref()));
            // What a persona relays are another's words; they address nobody in its name.
            if !matches!(turn.trigger, Trigger::Ask { .. }) {
                follow_ups = self.hand_over(turn, &reply.text, queued).await;
            }
        }
        outbox.extend(ending.notice.as_deref().map(|text| Self::notice(&turn.persona, &turn.channel, text)));
        let next = (!follow_ups.is_empty())
            .then(|| Decision::by(follow_ups.iter().map(|turn| turn.persona.clone()).collect(), Reason::AgentMention));
        let finished = Finished {
            turn,
            state: ending.state,
            reply: ending.reply.as_ref().map(|reply| reply.text.as_str()),
            model: ending.reply.as_ref().and_then(|reply| reply.model.as_deref()),
            error: ending.error.as_deref(),
            prompt_chars: ending.reply.as_ref().map_or(0, |reply| reply.prompt_chars as u64),
            outbox: &outbox,
            next: next.as_ref().map(|decision| FollowUp { decision, turns: &follow_ups }),
            usage: ending.reply.as_ref().map(|reply| reply.usage).unwrap_or_default(),
            at: now,
        };
        let stored = self.persist("storing an answer", || parts.store.finish_turn(&finished)).await?;
        // It may have been stored by the attempt before the store went away.
        if !stored && parts.store.find_turn(&turn.id).await?.is_none_or(|row| row.turn.state != ending.state) {
            tracing::info!(message = %turn.message, turn = %turn.id, "the turn was over already; its answer is dropped");
            return Ok(Vec::new());
        }
        parts.relay.wake(&turn.channel);
        metrics::counter!("teamroom_turns_total", "persona" => turn.persona.to_string(), "state" => ending.state.as_str()).increment(1);
        tracing::info!(
            message = %turn.message,
            turn = %turn.id,
            persona = %turn.persona,
            state = ending.state.as_str(),
            error = ending.error.as_deref(),
            "turn over"
        );
        Ok(follow_ups)
    }

    fn render(&self, turn: &Turn, text: &str, reply_to: Option<&MessageId>) -> Vec<OutboundMessage> {
        let mut messages = self.render_as(&turn.persona, &turn.channel, text);
        for message in &mut messages {
            message.turn = Some(turn.id.clone());
        }
        if let Some(first) = messages.first_mut() {
            first.reply_to = reply_to.cloned();
        }
        messages
    }

    /// Text of a persona as the platform's messages, none over the limit.
    pub(crate) fn render_as(&self, persona: &PersonaSlug, channel: &ChannelId, text: &str) -> Vec<OutboundMessage> {
        let message = |text: String| OutboundMessage::new(persona, channel, OutboundKind::Answer, text);
        match format::render(text, &self.parts().roster, ANSWER_FILE, self.parts().chat.attach_over) {
            Rendered::Messages(texts) => texts.into_iter().map(message).collect(),
            Rendered::File { summary, name, text } => {
                let files = vec![OutboundFile { name, content: FileContent::Text(text) }];
                vec![OutboundMessage { files, ..message(summary) }]
            }
        }
    }

    /// Shows typing while the turn lasts, and past the set time says that it is still at work. Ends when the guard is dropped.
    fn show_progress(&self, turn: &Turn, cancel: &CancellationToken) -> tokio_util::sync::DropGuard {
        let over = cancel.child_token();
        let conversation = self.clone();
        let (turn, ended) = (turn.clone(), over.clone());
        self.parts().tasks.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = conversation.keep_company(&turn) => {}
            }
        });
        over.drop_guard()
    }

    async fn keep_company(&self, turn: &Turn) {
        let parts = self.parts();
        let (clock, still_after) = (&parts.clock, parts.chat.still_thinking_after);
        let mut waited = TYPING_AFTER;
        let mut told = false;
        clock.sleep(TYPING_AFTER).await;
        loop {
            parts.platform.show_typing(&turn.persona, &turn.channel).await;
            let until_told = if told { TYPING_EVERY } else { still_after.saturating_sub(waited).max(Duration::from_millis(1)) };
            let wait = TYPING_EVERY.min(until_told);
            clock.sleep(wait).await;
            waited += wait;
            if !told && waited >= still_after {
                told = true;
                let doing = match &turn.trigger {
                    Trigger::Ask { .. } => "I have asked and am waiting for the answer.",
                    _ => "I am still on it; the answer comes here.",
                };
                if let Err(error) = self.post(Self::notice(&turn.persona, &turn.channel, doing)).await {
                    tracing::warn!(%error, "cannot say that a turn takes longer");
                }
            }
        }
    }

    fn register(&self, turn: &Turn, cancel: &CancellationToken) -> Registered<'_> {
        let running = Running { channel: turn.channel.clone(), message: turn.message.clone(), cancel: cancel.clone() };
        self.running().insert(turn.id.clone(), running);
        Registered { conversation: self, turn: turn.id.clone() }
    }
}

/// What a persona is asked in a turn.
fn question_of<'a>(turn: &'a Turn, origin: &'a AskOrigin<'a>, channel: &'a Channel, asker: &'a Speaker, text: &'a str) -> Question<'a> {
    Question {
        channel: Some(&channel.id),
        channel_name: &channel.name,
        source: Some(MemorySource::Message(turn.message.clone())),
        colleagues: Some(origin),
        ..Question::new(&turn.persona, (Purpose::Chat, turn.id.as_str()), asker, text)
    }
}

impl Ending {
    pub(crate) fn answered(reply: Reply) -> Self {
        Self { state: TurnState::Answered, reply: Some(reply), error: None, notice: None }
    }

    pub(crate) fn failed(error: &str, notice: &str) -> Self {
        Self { state: TurnState::Failed, reply: None, error: Some(error.into()), notice: Some(notice.into()) }
    }

    /// Nothing is said.
    fn silent(state: TurnState) -> Self {
        Self { state, reply: None, error: None, notice: None }
    }

    /// `to_person`: a person waits for this answer and is told when there is none. Among agents a failure is silence.
    pub(crate) fn from_result(result: Result<Reply, RunError>, to_person: bool) -> Self {
        match result {
            Ok(reply) => Self::answered(reply),
            Err(RunError::Cancelled) => Self::silent(TurnState::Cancelled),
            Err(RunError::Nothing) if !to_person => Self::silent(TurnState::Silent),
            Err(error) => Self {
                state: TurnState::Failed,
                reply: None,
                notice: to_person.then(|| error.for_person()),
                error: Some(error.to_string()),
            },
        }
    }
}

/// Takes a turn off the list of running ones when it ends, however it ends.
struct Registered<'a> {
    conversation: &'a Conversation,
    turn: TurnId,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.conversation.running().remove(&self.turn);
    }
}
