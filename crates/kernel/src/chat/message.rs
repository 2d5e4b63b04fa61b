use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{ChannelId, MessageId, PersonaSlug, UserId};

/// A message as one of the team's identities received it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboundMessage {
    pub id: MessageId,
    pub channel: Channel,
    pub author: Author,
    /// With mentions as values, see [`chat::text`](crate::chat::text).
    pub text: String,
    /// Accounts mentioned in the text, in order. The ping of a reply is not included.
    pub mentions: Vec<UserId>,
    pub reply_to: Option<ReplyTo>,
    pub attachments: Vec<Attachment>,
    pub sent_at: DateTime<Utc>,
    /// The persona whose identity received it. In a direct conversation: the persona addressed.
    pub seen_by: PersonaSlug,
    /// False if the platform withheld text and attachments, because the identity lacks a permission.
    pub complete: bool,
}

impl InboundMessage {
    /// True without visible text and files.
    pub fn is_empty(&self) -> bool {
        self.attachments.is_empty() && crate::text::without_invisible(&self.text).trim().is_empty()
    }
}

/// The channel of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub id: ChannelId,
    /// The name without `#`. Empty in a direct conversation.
    pub name: String,
    pub place: Place,
    /// Not everybody on the server can read it, or this is not known.
    #[serde(default = "unknown")]
    pub private: bool,
    /// People of another company read it too.
    #[serde(default)]
    pub shared: bool,
}

impl Channel {
    /// Whether a person means this channel: by its name or its id, with or without its platform, such as `ops`, `#ops` or `slack:ops`.
    pub fn is_called(&self, written: &str) -> bool {
        let written = written.trim();
        let is_it = |written: &str| {
            let name = written.trim_start_matches('#');
            self.id.bare() == written || (self.place == Place::Server && self.name.eq_ignore_ascii_case(name))
        };
        let named = self.id.platform().and_then(|platform| written.strip_prefix(platform)?.strip_prefix(':'));
        self.id.as_str() == written || is_it(named.unwrap_or(written))
    }
}

/// A channel that was stored without this field counts as private.
fn unknown() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A channel of a server.
    Server,
    /// A thread below a channel.
    Thread {
        parent: ChannelId,
        parent_name: String,
        owner: Option<UserId>,
        /// The message that the thread was started on, if any.
        #[serde(default)]
        starter: Option<MessageId>,
    },
    /// A direct conversation between a person and a persona.
    Direct,
}

/// The author of a message. Determined by account id and the platform's bot flag, never by display name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub id: UserId,
    /// For display only.
    pub name: String,
    /// What else the author is called, such as the account's name. For display and for finding a person, never for rights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub kind: AuthorKind,
    /// Ids of the author's roles on the server, and [`SERVER_MANAGER`], [`GUEST`] and [`STRANGER`] where the platform says so.
    pub roles: Vec<String>,
}

/// A role of those who may manage the server.
pub const SERVER_MANAGER: &str = "server-manager";

/// A role of those whom the workspace has invited without making them members.
pub const GUEST: &str = "guest";

/// A role of people of other companies, who share a channel with the workspace.
pub const STRANGER: &str = "stranger";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    Person,
    Persona(PersonaSlug),
    ForeignBot,
    /// The platform itself: a member joined, a message was pinned, a thread was opened.
    System,
}

/// The message that a reply answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTo {
    pub message: MessageId,
    /// None if the platform did not report it.
    pub author: Option<UserId>,
}

/// An attachment that is not downloaded yet. The name is for display only, never a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub id: String,
    pub name: String,
    /// Size in bytes, as announced by the platform.
    pub size: u64,
    pub content_type: Option<String>,
    pub url: String,
}

/// The purpose of a channel. Configured by id or by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    Chat,
    Standup,
    Knowledge,
    Work,
    Ops,
    Ignore,
}

/// One line of a channel's transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spoken {
    pub message: Option<MessageId>,
    pub speaker: Speaker,
    /// The agent being answered, if one agent answers another.
    pub answers: Option<Speaker>,
    pub text: String,
    pub at: DateTime<Utc>,
    /// Posted in a meeting. The meeting's engine decides who speaks, so this does not count as agents talking to each other.
    pub in_meeting: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Person { id: UserId, name: String },
    Persona(PersonaSlug),
    ForeignBot { id: UserId, name: String },
}

impl Speaker {
    /// True for our personas and for other bots.
    pub fn is_agent(&self) -> bool {
        !matches!(self, Self::Person { .. })
    }
}
