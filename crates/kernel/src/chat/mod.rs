//! What a chat platform can do, and what every platform's text needs: splitting, formatting, redaction, attachments to text.
//!
//! Nothing here knows which platform it is. [`ChatPlatform::send`], `edit` and `open_thread` are for `outbox::relay` alone.

pub mod attachments;
pub mod format;
pub mod medium;
pub mod message;
pub mod outbound;
pub mod outbox;
pub mod redact;
pub mod split;
pub mod store;

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::chat::message::{Attachment, Channel, InboundMessage};
use crate::chat::outbound::{OutboundMessage, Posted};
use crate::ids::{ChannelId, MessageId, PersonaSlug, UserId};

/// A chat platform as the team uses it.
#[async_trait]
pub trait ChatPlatform: Send + Sync + 'static {
    /// Posts a message as its persona. Sending the same row again within the platform's nonce window gives the first message, no second one.
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError>;

    /// Replaces `posted`, a message of the same persona in `message.channel`, by `message`: its text, embed, buttons and files. May be done twice.
    ///
    /// # Errors
    /// [`SendError::Gone`] when there is nothing (any more) that could be replaced.
    async fn edit(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError>;

    /// The thread that hangs on a message of a channel; opened under `name` when there is none yet.
    ///
    /// # Errors
    /// [`SendError::Refused`] when there can be none: it may not be opened here, or the message or the thread was deleted.
    async fn open_thread(&self, channel: &ChannelId, message: &MessageId, name: &str) -> Result<ChannelId, SendError>;

    /// Reads back whether `message` was posted at or after `since`: for a retry after the nonce window, and for personas without an account.
    async fn find_posted(&self, message: &OutboundMessage, since: DateTime<Utc>) -> Result<Option<Posted>, SendError>;

    /// For how long after the first attempt a repeated `send` of the same row is dropped by the platform. Zero for a persona that speaks
    /// through a webhook, since webhooks know no nonce.
    fn nonce_window(&self, persona: &PersonaSlug) -> Duration;

    /// Shows that a persona is typing; fades by itself within 10 s. Failure is of no consequence.
    async fn show_typing(&self, persona: &PersonaSlug, channel: &ChannelId);

    /// Shows what a persona is doing. Failure is of no consequence.
    async fn set_presence(&self, persona: &PersonaSlug, presence: Presence);

    /// Fetches a file of a message, at most `limit` bytes, from the platform's own hosts only.
    async fn download(&self, attachment: &Attachment, limit: u64) -> Result<bytes::Bytes, DownloadError>;

    /// What was said in a channel after `after`, as whoever of the team may read it, oldest first, at most `limit` messages.
    async fn list_messages_after(&self, channel: &ChannelId, after: &MessageId, limit: usize) -> Result<Vec<InboundMessage>, SendError>;

    /// The id of a channel, by its id or name, once the platform has told of it. Waits a while for that after a start.
    async fn find_channel(&self, name: &str) -> Option<ChannelId>;

    /// The server channels and threads that the platform has told of, each with an id at or before its newest message.
    fn list_channels(&self) -> Vec<(Channel, MessageId)>;

    /// The platform's name in the store: `discord`.
    fn name(&self) -> &'static str;

    /// How each identity fares.
    fn identities(&self) -> Vec<IdentityStatus>;
}

/// Something that happened on the platform.
#[derive(Debug, Clone)]
pub enum PlatformEvent {
    Message(Box<InboundMessage>),
    /// A person changed the text of a message. `None` where this identity may not read it.
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
    /// An identity is online (again) under this account; what was missed is to be fetched.
    Ready {
        persona: PersonaSlug,
        account: UserId,
    },
    /// An identity has a trouble worth telling people, in plain words with the remedy.
    Trouble {
        persona: PersonaSlug,
        text: String,
    },
}

/// What a persona is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Listening,
    InMeeting,
    Paused,
    OutOfBudget,
}

/// How an identity fares.
#[derive(Debug, Clone, PartialEq)]
pub struct IdentityStatus {
    pub persona: PersonaSlug,
    pub state: IdentityState,
    pub account: Option<UserId>,
    /// Round trip of the last heartbeat.
    pub latency: Option<Duration>,
    /// The last trouble, in plain words with the remedy.
    pub trouble: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdentityState {
    Connecting,
    Ready,
    /// Connection lost; it is being tried again.
    Reconnecting,
    /// Given up on until somebody mends it.
    Down,
    /// Has no account and speaks through a webhook.
    Webhook,
}

/// Why a call to the platform failed, sorted by what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// It may have been done or not; try again, with the same nonce.
    #[error("the platform could not be reached: {0}")]
    Unreachable(String),
    #[error("the platform asks to wait {0:?}")]
    RateLimited(Duration),
    /// This identity is not online; the message waits for it.
    #[error("{0} is not connected")]
    Offline(PersonaSlug),
    /// It will never work: a lost permission, a deleted channel, a blocked text.
    #[error("the platform refused: {0}")]
    Refused(String),
    /// The message to be replaced does not exist (any more), or is not this persona's.
    #[error("it is gone: {0}")]
    Gone(String),
}

/// Why a file could not be fetched, in words for the person who sent it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    #[error("it does not lie on the platform's own host")]
    ForeignHost,
    /// No identity is online to fetch it; one may be in a moment.
    #[error("nobody is online to fetch it")]
    Offline,
    #[error("it could not be fetched: {0}")]
    Failed(String),
}
