//! The platform for a process without identities. Its messages stay in the outbox, and the serving process posts them.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::adapters::platforms::text_format;
use kernel::chat::format::TextFormat;
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::{ChatPlatform, SendError};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId};

pub(super) struct Elsewhere;

#[async_trait]
impl ChatPlatform for Elsewhere {
    async fn send(&self, _message: &OutboundMessage) -> Result<Posted, SendError> {
        Err(not_here())
    }

    async fn edit(&self, _message: &OutboundMessage, _posted: &MessageId) -> Result<Posted, SendError> {
        Err(not_here())
    }

    async fn open_thread(&self, _channel: &ChannelId, _message: &MessageId, _name: &str) -> Result<ChannelId, SendError> {
        Err(not_here())
    }

    async fn open_direct(&self, _persona: &PersonaSlug, _to: &UserId) -> Result<(ChannelId, MessageId), SendError> {
        Err(not_here())
    }

    async fn find_posted(&self, _message: &OutboundMessage, _since: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        Err(not_here())
    }

    async fn find_channel(&self, _name: &str) -> Option<ChannelId> {
        None
    }

    fn text_format(&self, channel: &ChannelId) -> TextFormat {
        text_format(channel)
    }
}

fn not_here() -> SendError {
    SendError::Unreachable("this process has no identities".to_owned())
}
