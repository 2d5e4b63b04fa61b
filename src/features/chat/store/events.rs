//! The events of messages. The subject is the first message of the chain. Those who read its channel may see the events. The texts of messages are
//! not repeated.
//!
//! A reply costs two rows, in transactions that exist anyway: its decision and its end. The second one also has the start of the reply.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::features::chat::model::decision::Decision;
use crate::features::chat::store::Blocked;
use kernel::agent::ask::{Ask, AskState};
use kernel::agent::turn::TurnState;
use kernel::chat::message::Speaker;
use kernel::db::{Result, Transaction, plain};
use kernel::events::{Event, Topic, record};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, TurnId};

/// Announced only within this process, because each reply has two commits.
pub const MESSAGES: Topic = Topic::new("message").within_process();

/// Announced when a turn ended in a process that does not serve, or without an answer.
pub(crate) const TURNS: Topic = Topic::new("turn");

/// The end of a turn.
pub(super) struct TurnEnd<'a> {
    pub turn: &'a TurnId,
    pub message: &'a MessageId,
    pub channel: &'a ChannelId,
    pub persona: &'a PersonaSlug,
    pub state: TurnState,
    /// The start of the last attempt. None: it never ran.
    pub started_at: Option<DateTime<Utc>>,
    pub attempts: u32,
    pub error: Option<&'a str>,
    /// Who answers the reply.
    pub next: &'a [PersonaSlug],
}

fn event(message: &str, channel: &ChannelId, kind: &'static str, at: DateTime<Utc>) -> Event {
    Event::new(MESSAGES, message, kind, at).seen_in(channel)
}

pub(super) async fn record_decision(
    transaction: &mut Transaction,
    (message, channel): (&MessageId, &ChannelId),
    decision: &Decision,
    at: DateTime<Utc>,
) -> Result<()> {
    let event = event(message.as_str(), channel, "decided", at).with("responders", json!(decision.responders));
    record(transaction, &event.with("reason", decision.explain_without_words())).await
}

pub(super) async fn record_turn_end(transaction: &mut Transaction, end: &TurnEnd<'_>, at: DateTime<Utc>) -> Result<()> {
    let event = event(end.message.as_str(), end.channel, "turn_ended", at).by_persona(end.persona);
    let event = event.with("turn", end.turn.as_str()).with("state", end.state.as_str()).with("attempts", end.attempts);
    let event = event.with("started_at", json!(end.started_at)).with("error", end.error.map(plain));
    let event = if end.next.is_empty() { event } else { event.with("next", json!(end.next)) };
    record(transaction, &event).await
}

pub(super) async fn record_asked(transaction: &mut Transaction, ask: &Ask) -> Result<()> {
    let event = event(ask.message.as_str(), &ask.channel, "asked", ask.asked_at).by_persona(&ask.asker);
    record(transaction, &event.with("ask", ask.id.as_str()).with("askee", ask.askee.as_str())).await
}

pub(super) async fn record_ask_end(transaction: &mut Transaction, ask: &Ask, state: AskState, at: DateTime<Utc>) -> Result<()> {
    let event = event(ask.message.as_str(), &ask.channel, "ask_ended", at);
    let event = if matches!(state, AskState::Answered | AskState::Late) { event.by_persona(&ask.askee) } else { event };
    record(transaction, &event.with("ask", ask.id.as_str()).with("askee", ask.askee.as_str()).with("state", state.as_str())).await
}

pub(super) async fn record_blocked(transaction: &mut Transaction, blocked: &Blocked<'_>) -> Result<()> {
    let from = match blocked.from {
        Speaker::Persona(slug) => slug.as_str(),
        Speaker::Person { name, .. } | Speaker::ForeignBot { name, .. } => name,
    };
    let event = event(blocked.chain.as_str(), blocked.channel, "blocked", blocked.at).with("from", plain(from));
    record(transaction, &event.with("to", blocked.to.as_str()).with("why", blocked.block.as_str())).await
}
