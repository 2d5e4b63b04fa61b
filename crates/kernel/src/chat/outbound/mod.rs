//! What the team posts: a text with whatever hangs on it, and where it appears.
//!
//! These are rows of the outbox and what they are stored as. How they are sent is the relay's matter, how they look on a platform the adapter's.

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

/// One platform message to be sent: a row of the outbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutboundMessage {
    pub id: OutboxId,
    /// Who speaks. Every message names its identity; there is no default one.
    pub persona: PersonaSlug,
    pub channel: ChannelId,
    /// The turn whose answer this is, or a part of it.
    pub turn: Option<TurnId>,
    pub kind: OutboundKind,
    /// At most 2000 characters, as Discord counts them; `chat::split` sees to it.
    pub text: String,
    pub reply_to: Option<MessageId>,
    pub files: Vec<OutboundFile>,
    /// Accounts that this message may ping. Nobody else is, whatever the text says.
    pub pings: Vec<UserId>,
    /// A framed card below the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embed: Option<Embed>,
    /// At most 25; they stand below everything else, five in a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buttons: Vec<Button>,
    #[serde(default)]
    pub place: Placement,
}

impl OutboundMessage {
    /// A text in a channel, under a new id, that answers nothing, carries nothing and pings nobody.
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

    /// Every text that somebody may get to see, for whoever has to look through all of them. The ids of buttons show nowhere.
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
            // The picture goes by the name of its file, which is among the texts too.
            texts.extend([&mut embed.footer, &mut embed.url, &mut embed.image].into_iter().flatten());
        }
        texts.extend(self.buttons.iter_mut().map(|button| &mut button.label));
        if let Placement::Thread { name, .. } = &mut self.place {
            texts.push(name);
        }
        texts
    }

    /// The key by which the platform drops a repetition. The same row always gives the same nonce, so a retry after a crash is
    /// the same message. Discord takes at most 25 characters, and ids that say what they are about differ only behind these: a digest of the
    /// whole id, of which 100 bits are left, keeps them apart.
    pub fn nonce(&self) -> String {
        let digest = Sha256::digest(self.id.as_str());
        let hex = digest.iter().take(13).fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        hex.chars().take(25).collect()
    }
}

/// What a message is, so that the team's own lines are never taken for talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboundKind {
    /// A persona speaks.
    Answer,
    /// A persona speaks in a meeting. Part of a context; the guard does not count it, since a meeting's engine started it.
    Report,
    /// The team says something about itself: halted, out of budget, interrupted. Never part of a context and never answered.
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

/// Where a message appears. Its `channel` is always the one whose order it keeps: for a thread the channel above it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    #[default]
    Channel,
    /// In the thread that hangs on an earlier message of ours; opened when it is not there yet, under `name` (at most 100 characters).
    Thread { on: OutboxId, name: String },
    /// In place of an earlier message of ours, which it replaces.
    Revision { of: OutboxId },
}

/// A message that the platform has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Where it stands: for a message in a thread that thread, whatever channel its row waited for.
    pub channel: ChannelId,
    pub message: MessageId,
    pub at: DateTime<Utc>,
}

/// Where an outbox row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// To be sent, at the first or a later attempt.
    Pending,
    Sent,
    /// Given up on, with a reason.
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
