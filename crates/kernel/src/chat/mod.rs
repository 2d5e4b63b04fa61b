//! The interface to chat platforms, and text functions for all of them: values in text, splitting, formatting, redaction, attachments.
//!
//! Platform independent. Only `outbox::relay` calls [`ChatPlatform::send`], `edit`, `open_thread` and `open_direct`.

pub mod attachments;
mod forged;
pub mod format;
pub mod markdown;
pub mod medium;
pub mod message;
pub mod outbound;
pub mod outbox;
pub mod redact;
pub mod split;
pub mod store;
pub mod text;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::chat::format::TextFormat;
use crate::chat::message::{Attachment, Author, Channel, InboundMessage};
use crate::chat::outbound::{OutboundMessage, Posted};
use crate::chat::store::Reaction;
use crate::ids::{ChannelId, MessageId, PersonaSlug, UserId};

/// A chat platform. Methods that a platform need not support have a default.
#[async_trait]
pub trait ChatPlatform: Send + Sync + 'static {
    /// Posts a message as its persona. Sending the same row again within the nonce window returns the first message.
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError>;

    /// Replaces text, card, buttons and files of `posted`, a message of the same persona in `message.channel`. Idempotent.
    ///
    /// # Errors
    /// [`SendError::Gone`] if the message does not exist any more.
    async fn edit(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError>;

    /// Returns the thread on a message. Creates it with `name` if needed.
    ///
    /// # Errors
    /// [`SendError::Denied`] or [`SendError::Refused`] if no thread is possible: missing permission, or the message or thread was deleted.
    async fn open_thread(&self, channel: &ChannelId, message: &MessageId, name: &str) -> Result<ChannelId, SendError>;

    /// Returns the direct conversation between a persona and a person, with an id at or before its newest message. Opens it if needed, which the
    /// person does not notice.
    ///
    /// # Errors
    /// [`SendError::Refused`] if the platform or the persona has none. That a person accepts no direct messages may become known only in `send`.
    async fn open_direct(&self, _persona: &PersonaSlug, _to: &UserId) -> Result<(ChannelId, MessageId), SendError> {
        Err(SendError::Refused("this platform has no direct messages".to_owned()))
    }

    /// Checks whether `message` was posted at or after `since`. Used for a retry after the nonce window, and for personas without an
    /// account.
    async fn find_posted(&self, message: &OutboundMessage, since: DateTime<Utc>) -> Result<Option<Posted>, SendError>;

    /// How long after the first attempt the platform drops a repeated `send` of the same message. Zero where it never does.
    fn nonce_window(&self, _message: &OutboundMessage) -> Duration {
        Duration::ZERO
    }

    /// Shows a persona as typing for up to 10 s. Errors are ignored.
    async fn show_typing(&self, _persona: &PersonaSlug, _channel: &ChannelId) {}

    /// Sets a persona's presence. Errors are ignored.
    async fn set_presence(&self, _persona: &PersonaSlug, _presence: Presence) {}

    /// Downloads at most `limit` bytes of an attachment, only from the platform's own hosts.
    async fn download(&self, _attachment: &Attachment, _limit: u64) -> Result<bytes::Bytes, DownloadError> {
        Err(DownloadError::ForeignHost)
    }

    /// At most `limit` messages after `after`, oldest first, read by any identity with access.
    async fn list_messages_after(&self, _channel: &ChannelId, _after: &MessageId, _limit: usize) -> Result<Vec<InboundMessage>, SendError> {
        Ok(Vec::new())
    }

    /// The threads of a channel in which something was said after `after`.
    async fn list_threads_after(&self, _channel: &ChannelId, _after: &MessageId) -> Result<Vec<Channel>, SendError> {
        Ok(Vec::new())
    }

    /// A message of a channel, read by any identity with access. None only if it was deleted.
    async fn find_message(&self, _channel: &ChannelId, _message: &MessageId) -> Result<Option<InboundMessage>, SendError> {
        Err(SendError::Refused("this platform does not look up messages".to_owned()))
    }

    /// The address under which people open a message of a channel or thread. None where there is none.
    async fn link_message(&self, _channel: &ChannelId, _message: &MessageId) -> Option<String> {
        None
    }

    /// Finds a channel by its name or its id, with or without its platform. After a start, waits a while for the platform to report it.
    async fn find_channel(&self, name: &str) -> Option<ChannelId>;

    /// The reported channels and threads of servers, each with an id at or before its newest message. Also direct conversations where the platform
    /// lists them, each with an id before the messages that may still wait for an answer.
    fn list_channels(&self) -> Vec<(Channel, MessageId)> {
        Vec::new()
    }

    /// What the text of one message can hold in a channel.
    fn text_format(&self, channel: &ChannelId) -> TextFormat;

    /// The personas that can speak in a direct conversation in which `account` was written to: those who share its account.
    fn list_voices(&self, _channel: &ChannelId, account: &PersonaSlug) -> Vec<PersonaSlug> {
        vec![account.clone()]
    }

    /// A persona that can post in a channel, as far as is known, other than `persona`.
    fn find_speaker(&self, _channel: &ChannelId, _other_than: &PersonaSlug) -> Option<PersonaSlug> {
        None
    }

    /// The name of a role on the team's servers.
    fn find_role(&self, _id: &str) -> Option<String> {
        None
    }

    /// Members of the team's servers with a name that begins with `name`, whether they have ever written something or not. Empty where the platform
    /// cannot tell.
    async fn find_members(&self, _name: &str) -> Vec<Author> {
        Vec::new()
    }

    /// The person who may change everything where the team works.
    fn owner(&self) -> Option<UserId> {
        None
    }

    /// The state of each identity.
    fn identities(&self) -> Vec<IdentityStatus> {
        Vec::new()
    }

    /// Takes all identities offline.
    async fn shutdown(&self) {}
}

/// An event from the platform.
#[derive(Debug, Clone)]
pub enum PlatformEvent {
    Message(Box<InboundMessage>),
    /// A person edited a message. The text is `None` if this identity may not read it.
    Edited {
        message: MessageId,
        channel: ChannelId,
        text: Option<String>,
        edited_at: DateTime<Utc>,
    },
    Deleted {
        messages: Vec<MessageId>,
        channel: ChannelId,
    },
    /// A person reacted to a message.
    Reacted(Box<Reaction>),
    /// Reactions were taken away: one person's with one emoji, all with one emoji, or all.
    Unreacted {
        message: MessageId,
        person: Option<UserId>,
        emoji: Option<String>,
    },
    /// The platform has looked up the title of a link in a message.
    Unfurled {
        message: MessageId,
        channel: ChannelId,
        url: String,
        title: String,
    },
    /// A person pressed the button with which the platform offers to stop what the team does in a channel.
    StopPressed {
        author: Box<Author>,
        channel: Box<Channel>,
    },
    /// A person used a command or a button.
    Seen {
        author: Box<Author>,
        channel: Box<Channel>,
    },
    /// An identity is online under this account. Missed messages need to be fetched.
    Ready {
        persona: PersonaSlug,
        account: UserId,
    },
    /// The name of a persona on the server. None: its own name.
    Nickname {
        persona: PersonaSlug,
        nickname: Option<String>,
    },
    /// Somebody changed what the team may do. Things that a missing permission prevented may be possible now.
    PermissionsChanged,
    /// A problem of an identity, worded for people, with what to do.
    Trouble {
        persona: PersonaSlug,
        text: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Listening,
    InMeeting,
    Paused,
    OutOfBudget,
}

#[derive(Debug, Clone, PartialEq)]
pub struct IdentityStatus {
    pub persona: PersonaSlug,
    /// The platform's name in ids.
    pub platform: &'static str,
    pub state: IdentityState,
    pub account: Option<UserId>,
    /// Round trip of the last heartbeat.
    pub latency: Option<Duration>,
    /// The last problem, worded for people, with what to do.
    pub trouble: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityState {
    Connecting,
    Ready,
    /// The connection was lost. A reconnect is in progress.
    Reconnecting,
    /// Given up until a person fixes it.
    Down,
    /// Has no account and posts through a webhook.
    Webhook,
}

/// Why a call to the platform failed. The variant says how to handle it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The call may have succeeded. Retry with the same nonce.
    #[error("cannot reach the platform: {0}")]
    Unreachable(String),
    #[error("the platform asks to wait {0:?}")]
    RateLimited(Duration),
    /// The identity is offline. The message waits for it.
    #[error("{0} is not connected")]
    Offline(PersonaSlug),
    /// A missing permission, in the platform's words. The message is kept until it is there.
    #[error("the permission {needs} is missing")]
    Denied { needs: String },
    /// Permanent: a deleted channel, a blocked text.
    #[error("the platform refused: {0}")]
    Refused(String),
    /// The message to edit was deleted, or belongs to another account.
    #[error("it was deleted: {0}")]
    Gone(String),
}

/// Why a download failed, worded for the sender of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    #[error("it is not on the platform's own host")]
    ForeignHost,
    /// No identity is online yet. A retry may succeed.
    #[error("no persona is online to download it")]
    Offline,
    #[error("the download failed: {0}")]
    Failed(String),
}
