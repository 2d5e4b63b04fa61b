//! Outgoing messages, as stored in the outbox. The relay sends them; the adapter renders them for its platform.

mod button;
mod embed;
mod file;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ids::{ChannelId, MessageId, OutboxId, PersonaSlug, TurnId, UserId};

pub use button::{Button, ButtonStyle};
pub use embed::{Embed, EmbedField};
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
    /// At most 2000 characters by Discord's count. `chat::split` ensures that.
    pub text: String,
    pub reply_to: Option<MessageId>,
    pub files: Vec<OutboundFile>,
    /// Accounts that this message may ping. No other mention in the text pings.
    pub pings: Vec<UserId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embed: Option<Embed>,
    /// At most 25, shown below everything else in rows of five.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<Button>,
    #[serde(default)]
    pub place: Placement,
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
            embed: None,
            buttons: Vec::new(),
            place: Placement::Channel,
        }
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
        if let Some(embed) = &mut self.embed {
            texts.extend([&mut embed.title, &mut embed.text]);
            texts.extend(embed.fields.iter_mut().flat_map(|field| [&mut field.name, &mut field.value]));
            // The embed's image refers to a file by name, and file names are included above.
            texts.extend([&mut embed.footer, &mut embed.url, &mut embed.image].into_iter().flatten());
        }
        texts.extend(self.buttons.iter_mut().map(|button| &mut button.label));
        if let Placement::Thread { name, .. } = &mut self.place {
            texts.push(name);
        }
        texts
    }

    /// The key for the platform's deduplication. The same row always has the same nonce, so a retry after a crash is recognised. Discord
    /// accepts at most 25 characters, and some ids differ only after those. The nonce is therefore 100 bits of a digest of the id.
    pub fn nonce(&self) -> String {
        let digest = Sha256::digest(self.id.as_str());
        let hex = digest.iter().take(13).fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        hex.chars().take(25).collect()
    }
}

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
    /// In the thread on an earlier message of ours. Created with `name` (at most 100 characters) if needed.
    Thread { on: OutboxId, name: String },
    /// Replaces an earlier message of ours.
    Revision { of: OutboxId },
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
    Sent,
    /// Given up, with a reason.
    Failed,
}

impl DeliveryState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sent => "sent",
            Self::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_whose_ids_differ_at_their_ends_only_are_two_to_the_platform() {
        let nonce = |id: &str| {
            let message = OutboundMessage::new(&"kelly".into(), &ChannelId::new("10"), OutboundKind::Notice, "look");
            OutboundMessage { id: OutboxId::new(id), ..message }.nonce()
        };
        let reminder = nonce("work-01a202228a4875989368a4abdd2e334e-0");
        assert_eq!(reminder.len(), 25);
        assert_eq!(reminder, nonce("work-01a202228a4875989368a4abdd2e334e-0"));
        assert_ne!(reminder, nonce("work-01a202228a4875989368a4accaffe7f6-0"), "noted in the same millisecond");
        assert_ne!(reminder, nonce("work-01a202228a4875989368a4abdd2e334e-0-waiting"), "another message about the same item");
    }

    #[test]
    fn a_row_of_an_earlier_version_is_read() {
        let old = r#"{"id": "0192f0c1d2e37a4b8c5d6e7f8091a2b3", "persona": "vince", "channel": "10", "turn": null, "kind": "answer",
            "text": "hello", "reply_to": null, "files": [{"name": "answer.md", "text": "Hello."}], "pings": ["5"]}"#;
        let read: OutboundMessage = serde_json::from_str(old).unwrap();
        assert_eq!(read.place, Placement::Channel);
        assert_eq!(read.files, [OutboundFile { name: "answer.md".to_owned(), content: FileContent::Text("Hello.".to_owned()) }]);
        assert!(read.embed.is_none() && read.buttons.is_empty());
    }

    #[test]
    fn a_row_with_everything_is_read_as_it_was_written() {
        let channel = ChannelId::new("10");
        for place in
            [Placement::Thread { on: OutboxId::generate(), name: "Standup".to_owned() }, Placement::Revision { of: OutboxId::generate() }]
        {
            let message = OutboundMessage {
                files: vec![OutboundFile { name: "chart.png".to_owned(), content: FileContent::Bytes(vec![0x89, b'P', 0, 0xff]) }],
                embed: Some(Embed { title: "Report".to_owned(), image: Some("chart.png".to_owned()), ..Embed::default() }),
                buttons: vec![Button { id: "work:1:approve".to_owned(), label: "Approve".to_owned(), style: ButtonStyle::Success }],
                place,
                ..OutboundMessage::new(&"kelly".into(), &channel, OutboundKind::Notice, "look")
            };
            let written = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<OutboundMessage>(&written).unwrap(), message);
        }
    }
}
