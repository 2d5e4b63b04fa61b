//! Several platforms as one: each call goes to the platform of its channel, message or person.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::future::join_all;

use kernel::chat::format::TextFormat;
use kernel::chat::message::{Attachment, Author, Channel, InboundMessage};
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::{ChatPlatform, DownloadError, IdentityStatus, Presence, SendError};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId};

use crate::adapters::{discord, slack};

/// What a message can hold in a channel, without a connection to its platform.
pub fn text_format(channel: &ChannelId) -> TextFormat {
    if channel.platform() == Some(slack::PLATFORM) { slack::TEXT } else { discord::TEXT }
}

/// The platforms of a team. If a name fits several, the first one counts.
pub struct Platforms {
    all: Vec<(&'static str, Arc<dyn ChatPlatform>)>,
}

impl Platforms {
    /// Each platform comes with its name in ids.
    pub fn new(all: Vec<(&'static str, Arc<dyn ChatPlatform>)>) -> Self {
        Self { all }
    }

    /// The platform with this name. Without a name, the first one.
    fn of(&self, platform: Option<&str>) -> Result<&dyn ChatPlatform, SendError> {
        let is_it = |(name, _): &&(&str, Arc<dyn ChatPlatform>)| platform.is_none_or(|platform| platform == *name);
        let found = self.all.iter().find(is_it).map(|(_, found)| &**found);
        found.ok_or_else(|| SendError::Refused(format!("the team is not on {}", platform.unwrap_or("any platform"))))
    }

    fn each(&self) -> impl Iterator<Item = &Arc<dyn ChatPlatform>> {
        self.all.iter().map(|(_, platform)| platform)
    }
}

#[async_trait]
impl ChatPlatform for Platforms {
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        self.of(message.channel.platform())?.send(message).await
    }

    async fn edit(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError> {
        self.of(posted.platform())?.edit(message, posted).await
    }

    async fn open_thread(&self, channel: &ChannelId, message: &MessageId, name: &str) -> Result<ChannelId, SendError> {
        self.of(channel.platform())?.open_thread(channel, message, name).await
    }

    async fn open_direct(&self, persona: &PersonaSlug, to: &UserId) -> Result<(ChannelId, MessageId), SendError> {
        self.of(to.platform())?.open_direct(persona, to).await
    }

    async fn find_posted(&self, message: &OutboundMessage, since: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        self.of(message.channel.platform())?.find_posted(message, since).await
    }

    fn nonce_window(&self, message: &OutboundMessage) -> Duration {
        self.of(message.channel.platform()).map_or(Duration::ZERO, |platform| platform.nonce_window(message))
    }

    async fn show_typing(&self, persona: &PersonaSlug, channel: &ChannelId) {
        if let Ok(platform) = self.of(channel.platform()) {
            platform.show_typing(persona, channel).await;
        }
    }

    async fn set_presence(&self, persona: &PersonaSlug, presence: Presence) {
        join_all(self.each().map(|platform| platform.set_presence(persona, presence))).await;
    }

    async fn download(&self, attachment: &Attachment, limit: u64) -> Result<Bytes, DownloadError> {
        let platform = attachment.id.split_once(':').map(|(platform, _)| platform);
        self.of(platform).map_err(|_| DownloadError::ForeignHost)?.download(attachment, limit).await
    }

    async fn list_messages_after(&self, channel: &ChannelId, after: &MessageId, limit: usize) -> Result<Vec<InboundMessage>, SendError> {
        self.of(channel.platform())?.list_messages_after(channel, after, limit).await
    }

    async fn list_threads_after(&self, channel: &ChannelId, after: &MessageId) -> Result<Vec<Channel>, SendError> {
        self.of(channel.platform())?.list_threads_after(channel, after).await
    }

    async fn find_message(&self, channel: &ChannelId, message: &MessageId) -> Result<Option<InboundMessage>, SendError> {
        self.of(channel.platform())?.find_message(channel, message).await
    }

    async fn link_message(&self, channel: &ChannelId, message: &MessageId) -> Option<String> {
        self.of(channel.platform()).ok()?.link_message(channel, message).await
    }

    async fn find_channel(&self, name: &str) -> Option<ChannelId> {
        // The answer about a name with a platform does not wait for other platforms.
        let named = name.split_once(':').and_then(|(platform, _)| self.of(Some(platform)).ok());
        if let Some(platform) = named {
            return platform.find_channel(name).await;
        }
        join_all(self.each().map(|platform| platform.find_channel(name))).await.into_iter().flatten().next()
    }

    fn list_channels(&self) -> Vec<(Channel, MessageId)> {
        self.each().flat_map(|platform| platform.list_channels()).collect()
    }

    fn text_format(&self, channel: &ChannelId) -> TextFormat {
        self.of(channel.platform()).map_or_else(|_| text_format(channel), |platform| platform.text_format(channel))
    }

    fn list_voices(&self, channel: &ChannelId, account: &PersonaSlug) -> Vec<PersonaSlug> {
        self.of(channel.platform()).map_or_else(|_| Vec::new(), |platform| platform.list_voices(channel, account))
    }

    fn find_speaker(&self, channel: &ChannelId, other_than: &PersonaSlug) -> Option<PersonaSlug> {
        self.of(channel.platform()).ok()?.find_speaker(channel, other_than)
    }

    fn find_role(&self, id: &str) -> Option<String> {
        self.each().find_map(|platform| platform.find_role(id))
    }

    async fn find_members(&self, name: &str) -> Vec<Author> {
        join_all(self.each().map(|platform| platform.find_members(name))).await.into_iter().flatten().collect()
    }

    fn owner(&self) -> Option<UserId> {
        self.each().find_map(|platform| platform.owner())
    }

    fn identities(&self) -> Vec<IdentityStatus> {
        self.each().flat_map(|platform| platform.identities()).collect()
    }

    async fn shutdown(&self) {
        join_all(self.each().map(|platform| platform.shutdown())).await;
    }
}
