//! Test data.

use chrono::{DateTime, TimeDelta, TimeZone, Utc};

use kernel::agent::ask::{Ask, AskState};
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::chat::message::{Attachment, Author, AuthorKind, Channel, InboundMessage, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::store::ChannelSeen;
use kernel::db::StoreError;
use kernel::ids::{AskId, ChannelId, MessageId, TurnId};
use kernel::memory::{Memory, MemoryKind, MemorySource};
use kernel::money::TokenUsage;
use teamroom::features::backlog::model::{Origin, Owner, Urgency, WorkItem};
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{Decided, Finished, finish_turn};
use teamroom::store::Store;

pub(crate) fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 12, 0, 0).unwrap()
}

/// Seconds after noon.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    noon() + TimeDelta::seconds(seconds)
}

pub(crate) fn general() -> Channel {
    Channel { id: "discord:10".into(), name: "general".into(), place: Place::Server, private: false, shared: false }
}

/// A channel that was heard up to this message.
pub(crate) fn seen(channel: Channel, message: &str, at: DateTime<Utc>) -> ChannelSeen {
    ChannelSeen { channel, last_message: message.into(), last_at: at }
}

/// A message by Ada in `#general`, at seconds after noon.
pub(crate) fn message(id: &str, text: &str, seconds: i64) -> InboundMessage {
    InboundMessage {
        id: id.into(),
        channel: general(),
        author: Author { id: "1".into(), name: "Ada".into(), aliases: Vec::new(), kind: AuthorKind::Person, roles: vec!["r1".into()] },
        text: text.into(),
        mentions: vec!["2".into()],
        reply_to: None,
        attachments: Vec::new(),
        sent_at: at(seconds),
        seen_by: "kelly".into(),
        complete: true,
    }
}

pub(crate) fn attachment() -> Attachment {
    Attachment { id: "f1".into(), name: "roadmap.md".into(), size: 12, content_type: None, url: "http://127.0.0.1/f1".into() }
}

pub(crate) fn turn(message: &str, persona: &str) -> Turn {
    Turn {
        id: TurnId::generate(),
        message: message.into(),
        chain: message.into(),
        channel: general().id,
        persona: persona.into(),
        trigger: Trigger::Message,
        state: TurnState::Queued,
        queued_at: at(1),
    }
}

pub(crate) fn ask(message: &str) -> Ask {
    Ask {
        id: AskId::generate(),
        message: message.into(),
        chain: message.into(),
        channel: general().id,
        asker: "kelly".into(),
        askee: "vince".into(),
        question: "what about SOL?".into(),
        path: vec!["kelly".into()],
        state: AskState::Asked,
        answer: None,
        asked_at: at(1),
        deadline: at(91),
    }
}

/// A message by Kelly in `#general`.
pub(crate) fn line(text: &str) -> OutboundMessage {
    line_in(&general().id, text)
}

pub(crate) fn line_in(channel: &ChannelId, text: &str) -> OutboundMessage {
    OutboundMessage::new(&"kelly".into(), channel, OutboundKind::Answer, text)
}

pub(crate) fn answer(turn: &Turn, text: &str) -> OutboundMessage {
    OutboundMessage { persona: turn.persona.clone(), turn: Some(turn.id.clone()), reply_to: Some(turn.message.clone()), ..line(text) }
}

/// Claims Ada's message and stores the decision that `turns` answer it.
pub(crate) async fn decided(store: &Store, id: &str, turns: &[Turn]) {
    store.claim(&message(id, "which of you is right?", 0), at(0)).await.unwrap();
    let decision = Decision::by(turns.iter().map(|turn| turn.persona.clone()).collect(), Reason::Mentioned);
    let messages: [MessageId; 1] = [id.into()];
    let done = store
        .decide(&Decided { messages: &messages, decision: &decision, turns, asks: &[], outbox: &[], effect: None, at: at(1) })
        .await
        .unwrap();
    assert!(done);
}

/// The end of a turn: answered, without messages.
pub(crate) fn finished(turn: &Turn) -> Finished<'_> {
    Finished {
        turn,
        state: TurnState::Answered,
        attempts: 1,
        started_at: at(3),
        reply: Some("Solus is."),
        model: Some("scripted"),
        error: None,
        usage: TokenUsage { input: 100, cached: 40, output: 7 },
        prompt_chars: 400,
        noticed: None,
        outbox: &[],
        approvals: &[],
        next: None,
        at: at(5),
    }
}

/// Ends a turn as its job does.
pub(crate) async fn finish(store: &Store, finished: &Finished<'_>) -> Result<bool, StoreError> {
    let mut transaction = store.database().db().begin().await?;
    let done = finish_turn(&mut transaction, finished).await?;
    transaction.commit().await?;
    Ok(done)
}

/// An action of Vince, created `seconds` after noon.
pub(crate) fn item(what: &str, seconds: i64) -> WorkItem {
    WorkItem {
        how: "By profiling it.".into(),
        why: "Checkout got slow.".into(),
        urgency: Urgency::Today,
        criteria: vec!["the profile is posted".into()],
        ..WorkItem::new(what, Owner::Persona("vince".into()), Origin::CommandLine, at(seconds))
    }
}

/// A lesson for the whole team.
pub(crate) fn lesson(text: &str) -> Memory {
    Memory { tags: vec!["latency".into()], ..Memory::new(MemoryKind::Lesson, text, MemorySource::Message("m1".into()), at(60)) }
}
