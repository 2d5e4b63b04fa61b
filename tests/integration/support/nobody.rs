//! A platform without channels and people.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::chat::format::TextFormat;
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::{ChatPlatform, SendError};
use kernel::ids::{ChannelId, MessageId};

pub(crate) struct Nobody;

#[async_trait]
impl ChatPlatform for Nobody {
    async fn send(&self, _: &OutboundMessage) -> Result<Posted, SendError> {
        Err(SendError::Unreachable("nobody is here".into()))
    }

    async fn edit(&self, _: &OutboundMessage, _: &MessageId) -> Result<Posted, SendError> {
        Err(SendError::Unreachable("nobody is here".into()))
    }

    async fn open_thread(&self, _: &ChannelId, _: &MessageId, _: &str) -> Result<ChannelId, SendError> {
        Err(SendError::Unreachable("nobody is here".into()))
    }

    async fn find_posted(&self, _: &OutboundMessage, _: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        Ok(None)
    }

    async fn link_message(&self, channel: &ChannelId, message: &MessageId) -> Option<String> {
        Some(format!("https://chat.example/{channel}/{message}"))
    }

    async fn find_channel(&self, _: &str) -> Option<ChannelId> {
        None
    }

    fn text_format(&self, _: &ChannelId) -> TextFormat {
        TextFormat::plain(2000)
    }
}
