//! Outgoing messages, as stored in the outbox: text, card, files and buttons as values. The relay sends them; the adapter renders them for its
//! platform and keeps to its limits.

mod button;
mod card;
mod file;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::chat::format::TextFormat;
use crate::chat::text::{self, Plain};
use crate::ids::{ChannelId, MessageId, OutboxId, PersonaSlug, TurnId, UserId};

pub use button::{Button, ButtonStyle};
pub use card::{Card, CardField};
pub use file::{FileContent, OutboundFile};

/// A message to be sent: a row of the outbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutboundMessage {
    pub id: OutboxId,
    /// The sender. Every message names its persona; there is no default.
    pub persona: PersonaSlug,
    pub channel: ChannelId,
    /// The turn that this message answers, completely or in part.
    pub turn: Option<TurnId>,
    pub kind: OutboundKind,
    /// See [`chat::text`](crate::chat::text). Within the platform's limit, by [`TextFormat`].
    pub text: String,
    pub reply_to: Option<MessageId>,
    pub files: Vec<OutboundFile>,
    /// Accounts that this message may ping. No other mention in the text pings.
    pub pings: Vec<UserId>,
    #[serde(rename = "embed", default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// Shown below everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<Button>,
    #[serde(default)]
    pub place: Placement,
    /// From this time on the message is outdated and is not sent any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Sent if this message is given up, because its place is gone or refuses it. Added to the outbox in the transaction that gives this one up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Box<Self>>,
}

impl OutboundMessage {
    /// A plain text in a channel, with a new id and without pings.
    pub fn new(persona: &PersonaSlug, channel: &ChannelId, kind: OutboundKind, text: impl Into<String>) -> Self {
        Self {
            id: OutboxId::generate(),
            persona: persona.clone(),
            channel: channel.clone(),
            turn: None,
            kind,
            text: text.into(),
            reply_to: None,
            files: Vec::new(),
            pings: Vec::new(),
            card: None,
            buttons: Vec::new(),
            place: Placement::Channel,
            until: None,
            instead: None,
        }
    }

    /// A direct message to a person. It is sent in the direct conversation of the two, and its row has that channel from then on.
    pub fn direct(persona: &PersonaSlug, to: &UserId, kind: OutboundKind, text: impl Into<String>) -> Self {
        // The channel is not known yet. The person's id stands in for it, so that messages to one person keep their order.
        let channel = ChannelId::new(to.as_str());
        Self { place: Placement::Direct { to: to.clone() }, ..Self::new(persona, &channel, kind, text) }
    }

    /// The message with what to send if it is given up: the first of `others`, and so on.
    #[must_use]
    pub fn or_else(self, others: impl IntoIterator<Item = Self>) -> Self {
        let mut others = others.into_iter();
        let Some(next) = others.next() else { return self };
        Self { instead: Some(Box::new(next.or_else(others.collect::<Vec<_>>()))), ..self }
    }

    /// Puts a text that is too long for the platform into a file, and shows its beginning. Needed only for a text that was not split for this
    /// platform.
    pub fn fit(&mut self, format: &TextFormat) {
        if format.fits(&self.text) {
            return;
        }
        let room = TextFormat { limit: format.limit.saturating_sub(MORE.len()), ..*format };
        let beginning = room.split(&self.text).into_iter().next().unwrap_or_default() + MORE;
        let text = std::mem::replace(&mut self.text, beginning);
        self.files.push(OutboundFile { name: "message.md".to_owned(), content: FileContent::Text(text::render(&text, &Plain)) });
    }

    /// All visible texts, for filters. Ids of buttons are not visible.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.text];
        for file in &mut self.files {
            texts.push(&mut file.name);
            if let FileContent::Text(text) = &mut file.content {
                texts.push(text);
            }
        }
        if let Some(card) = &mut self.card {
            texts.extend([&mut card.title, &mut card.text]);
            texts.extend(card.fields.iter_mut().flat_map(|field| [&mut field.name, &mut field.value]));
            // The card's image refers to a file by name, and file names are included above.
            texts.extend([&mut card.footer, &mut card.url, &mut card.image].into_iter().flatten());
        }
        texts.extend(self.buttons.iter_mut().map(|button| &mut button.label));
        if let Placement::Thread { name, .. } = &mut self.place {
            texts.push(name);
        }
        texts
    }
}

/// Ends a shortened text. The whole text is in a file.
const MORE: &str = "\n…";

/// The kind of a message. It keeps the team's notices out of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboundKind {
    Answer,
    /// A contribution to a meeting. Part of the context, but not counted by the guard, because the meeting's engine started it.
    Report,
    /// A notice about the team itself: halted, out of budget, interrupted. Never part of a context and never answered.
    Notice,
}

impl OutboundKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Report => "report",
            Self::Notice => "notice",
        }
    }
}

/// The place of a message. Its `channel` is the one whose order applies; for a thread that is the parent channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    #[default]
    Channel,
    /// In the thread on an earlier message of ours. Created with `name` if needed, which may be Markdown. In the channel if the platform has no threads.
    Thread { on: OutboxId, name: String },
    /// Replaces an earlier message of ours.
    Revision { of: OutboxId },
    /// In the direct conversation between the persona and this person. Opened if needed.
    Direct { to: UserId },
}

/// A message accepted by the platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The channel it was posted in. For a message in a thread: the thread.
    pub channel: ChannelId,
    pub message: MessageId,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// Waiting for the first or a later attempt.
    Pending,
    /// Refused because of a missing permission, and kept until the permission is there. Later messages do not wait for it.
    Held,
    Sent,
    /// Given up, with a reason.
    Failed,
}

impl DeliveryState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Held => "held",
            Self::Sent => "sent",
            Self::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_an_earlier_version_is_read() {
        let old = r#"{"id": "0192f0c1d2e37a4b8c5d6e7f8091a2b3", "persona": "vince", "channel": "10", "turn": null, "kind": "answer",
            "text": "hello", "reply_to": null, "files": [{"name": "answer.md", "text": "Hello."}], "pings": ["5"]}"#;
        let read: OutboundMessage = serde_json::from_str(old).unwrap();
        assert_eq!(read.place, Placement::Channel);
        assert_eq!(read.files, [OutboundFile { name: "answer.md".to_owned(), content: FileContent::Text("Hello.".to_owned()) }]);
        assert!(read.card.is_none() && read.buttons.is_empty());
    }

    #[test]
    fn a_text_that_the_platform_cannot_hold_goes_along_as_a_file() {
        let mut message = OutboundMessage::new(
            &"kelly".into(),
            &ChannelId::new("10"),
            OutboundKind::Notice,
            format!("{}<user:discord:42>", "word ".repeat(30)),
        );
        let whole = message.text.clone();
        message.fit(&TextFormat::plain(170));
        assert_eq!((message.text.as_str(), message.files.len()), (whole.as_str(), 0));
        message.fit(&TextFormat::plain(40));
        assert!(message.text.starts_with("word word") && message.text.ends_with("\n…") && message.text.chars().count() <= 40);
        assert_eq!(
            message.files,
            [OutboundFile { name: "message.md".to_owned(), content: FileContent::Text(whole.replace("<user:discord:42>", "@42")) }]
        );
    }

    #[test]
    fn a_row_with_everything_is_read_as_it_was_written() {
        let channel = ChannelId::new("10");
        for place in [
            Placement::Thread { on: OutboxId::generate(), name: "Standup".to_owned() },
            Placement::Revision { of: OutboxId::generate() },
            Placement::Direct { to: "discord:42".into() },
        ] {
            let message = OutboundMessage {
                files: vec![OutboundFile { name: "chart.png".to_owned(), content: FileContent::Bytes(vec![0x89, b'P', 0, 0xff]) }],
                card: Some(Card { title: "Report".to_owned(), image: Some("chart.png".to_owned()), ..Card::default() }),
                buttons: vec![Button { id: "work:1:approve".to_owned(), label: "Approve".to_owned(), style: ButtonStyle::Success }],
                place,
                until: Some(DateTime::UNIX_EPOCH),
                instead: Some(Box::new(OutboundMessage::direct(&"kelly".into(), &"discord:42".into(), OutboundKind::Notice, "look"))),
                ..OutboundMessage::new(&"kelly".into(), &channel, OutboundKind::Notice, "look")
            };
            let written = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<OutboundMessage>(&written).unwrap(), message);
        }
    }
}
