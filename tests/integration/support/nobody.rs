//! A platform that nobody is on.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::chat::format::TextFormat;
use kernel::chat::message::{Attachment, Channel, InboundMessage};
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::{ChatPlatform, DownloadError, IdentityStatus, Presence, SendError};
use kernel::ids::{ChannelId, MessageId, PersonaSlug};

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

    fn nonce_window(&self, _: &PersonaSlug) -> Duration {
        Duration::ZERO
    }

    async fn show_typing(&self, _: &PersonaSlug, _: &ChannelId) {}

    async fn set_presence(&self, _: &PersonaSlug, _: Presence) {}

    async fn download(&self, _: &Attachment, _: u64) -> Result<bytes::Bytes, DownloadError> {
        Err(DownloadError::ForeignHost)
    }

    async fn list_messages_after(&self, _: &ChannelId, _: &MessageId, _: usize) -> Result<Vec<InboundMessage>, SendError> {
        Ok(Vec::new())
    }

    async fn find_channel(&self, _: &str) -> Option<ChannelId> {
        None
    }

    fn list_channels(&self) -> Vec<(Channel, MessageId)> {
        Vec::new()
    }

    fn name(&self) -> &'static str {
        "nobody"
    }

    fn text_format(&self) -> TextFormat {
        TextFormat::plain(2000)
    }

    fn identities(&self) -> Vec<IdentityStatus> {
        Vec::new()
    }
}
