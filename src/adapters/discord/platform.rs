//! Implements [`kernel::chat::ChatPlatform`] for Discord.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serenity::model::channel::Message;
use serenity::model::id::{ChannelId as SnowflakeChannel, MessageId as SnowflakeMessage};

use crate::adapters::discord::Discord;
use crate::adapters::discord::commands::member;
use crate::adapters::discord::gateway::{Completeness, completeness};
use crate::adapters::discord::identity::Identity;
use crate::adapters::discord::ids::{PLATFORM, from_discord, to_discord};
use crate::adapters::discord::links;
use crate::adapters::discord::markup::TEXT;
use crate::adapters::discord::rest::messages::may_post;
use crate::adapters::discord::rest::threads::may_open_thread;
use crate::adapters::discord::rest::{Failure, code};
use kernel::chat::format::TextFormat;
use kernel::chat::message::{Attachment, Author, Channel, InboundMessage, Place};
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::{ChatPlatform, DownloadError, IdentityState, IdentityStatus, Presence, SendError};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId};

/// Discord checks nonces "in the past few minutes". Two minutes are safe.
const NONCE_WINDOW: Duration = Duration::from_mins(2);

/// Polls of the channel directory before a channel counts as missing: 15 s, enough for a login.
const DIRECTORY_LOOKS: u32 = 60;
const DIRECTORY_LOOK: Duration = Duration::from_millis(250);

#[async_trait]
impl ChatPlatform for Discord {
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        let Some(identity) = self.find_account(&message.persona) else { return self.speak_for(message).await };
        match self.rest.post(&able(identity)?.credential, message).await {
            // The coordinator speaks for the whole team, so its messages do not wait for a permission of its own account.
            Err(failure) if failure.is_of_account() && self.is_coordinator(&message.persona) => self.speak_for(message).await,
            posted => posted.map_err(|failure| self.of_send(failure, &message.channel)),
        }
    }

    async fn edit(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError> {
        let Some(identity) = self.find_account(&message.persona) else { return self.edit_for(message, posted).await };
        let credential = &able(identity)?.credential;
        match self.rest.edit(credential, message, posted).await {
            Err(failure) if failure.has_code(code::THREAD_ARCHIVED) => {
                self.rest.reopen_thread(credential, &message.channel).await?;
                self.rest.edit(credential, message, posted).await.map_err(Failure::of_edit)
            }
            edited => edited.map_err(Failure::of_edit),
        }
    }

    async fn open_thread(&self, channel: &ChannelId, message: &MessageId, name: &str) -> Result<ChannelId, SendError> {
        // A thread on a message has the id of the message.
        let thread = ChannelId::new(message.as_str());
        let id = snowflake(&thread)?;
        if self.hub.channels.find_parent(id).is_some() {
            return Ok(thread);
        }
        let mut refusal = if self.readers(None).next().is_some() {
            SendError::Denied { needs: "Create Public Threads".to_owned() }
        } else {
            self.offline()
        };
        for identity in self.acting(|credential| may_open_thread(credential, channel, message)) {
            match self.rest.open_thread(&identity.credential, channel, message, name).await {
                Ok(opened) => self.hub.channels.record(&opened),
                // An earlier attempt whose answer was lost created the thread, or it existed before. If it was deleted, the lookup fails.
                Err(failure) if failure.has_code(code::THREAD_EXISTS) => {
                    let found = self.rest.get_channel(&identity.credential, &thread).await?;
                    self.hub.channels.record_found(&found, &identity.persona);
                }
                Err(failure) if failure.is_of_account() => {
                    refusal = failure.into();
                    continue;
                }
                Err(failure) => return Err(failure.into()),
            }
            return Ok(thread);
        }
        Err(refusal)
    }

    async fn open_direct(&self, persona: &PersonaSlug, to: &UserId) -> Result<(ChannelId, MessageId), SendError> {
        // Another persona writes for one without an account, and says so.
        let identity = match self.find_account(persona) {
            Some(identity) => able(identity)?,
            None => self.readers(None).next().ok_or_else(|| self.offline())?,
        };
        let opened = self.rest.open_direct(&identity.credential, to).await?;
        self.hub.channels.record_direct(opened.id, &identity.persona);
        // A conversation without messages is read from the beginning, which has its own id.
        let newest = opened.last_message_id.map_or(opened.id.get(), SnowflakeMessage::get);
        Ok((from_discord(opened.id), from_discord(newest)))
    }

    async fn find_posted(&self, message: &OutboundMessage, since: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        let own = self.find_account(&message.persona);
        let posts = self.list_possible_posts(message).await?;
        let mut refusal = self.offline();
        let readers: Vec<_> = match own {
            Some(own) => vec![able(own)?],
            None => self.readers(self.hub.channels.find_direct(snowflake(&message.channel)?).as_ref()).collect(),
        };
        for reader in readers {
            match self.rest.find_posted(&reader.credential, &message.channel, &posts, since).await {
                // A channel that cannot be read back waits for the permission. The message is not given up.
                Err(failure) if failure.is_not_visible() => refusal = failure.into(),
                found => return Ok(found?),
            }
        }
        Err(refusal)
    }

    /// Zero for a webhook, which has no nonce.
    fn nonce_window(&self, message: &OutboundMessage) -> Duration {
        if self.find_account(&message.persona).is_some() { NONCE_WINDOW } else { Duration::ZERO }
    }

    async fn show_typing(&self, persona: &PersonaSlug, channel: &ChannelId) {
        // A persona without an account cannot show typing. The coordinator must not type in its place.
        let Some(identity) = self.identities.get(persona).filter(|identity| identity.can_speak()) else { return };
        if let Err(failure) = self.rest.type_in(&identity.credential, channel).await {
            tracing::debug!(%persona, %channel, %failure, "typing could not be shown");
        }
    }

    async fn set_presence(&self, persona: &PersonaSlug, presence: Presence) {
        if let Some(identity) = self.identities.get(persona) {
            identity.show(presence);
        }
    }

    async fn download(&self, attachment: &Attachment, limit: u64) -> Result<bytes::Bytes, DownloadError> {
        let reader = self.readers(None).next().ok_or(DownloadError::Offline)?;
        self.rest.download(&reader.credential, attachment, limit).await
    }

    async fn list_messages_after(&self, channel: &ChannelId, after: &MessageId, limit: usize) -> Result<Vec<InboundMessage>, SendError> {
        let id = snowflake(channel)?;
        let mut refusal = self.offline();
        for identity in self.readers(self.hub.channels.find_direct(id).as_ref()) {
            match self.rest.list_after(&identity.credential, channel, after, limit).await {
                Ok(messages) => {
                    self.note_channel(identity, id).await;
                    return Ok(messages.into_iter().map(|message| self.seen(identity, message)).collect());
                }
                // A direct conversation, or a channel that only some personas can see.
                Err(failure) if failure.is_not_visible() => refusal = failure.of_read(),
                Err(failure) => return Err(failure.of_read()),
            }
        }
        Err(refusal)
    }

    async fn list_threads_after(&self, channel: &ChannelId, after: &MessageId) -> Result<Vec<Channel>, SendError> {
        let after = to_discord(after.as_str()).map_err(Failure::from)?;
        Ok(self.hub.channels.list_threads_after(snowflake(channel)?, after.into()))
    }

    async fn find_message(&self, channel: &ChannelId, message: &MessageId) -> Result<Option<InboundMessage>, SendError> {
        let id = snowflake(channel)?;
        let mut refusal = self.offline();
        for identity in self.readers(self.hub.channels.find_direct(id).as_ref()) {
            match self.rest.get_message(&identity.credential, channel, message).await {
                Ok(found) => {
                    self.note_channel(identity, id).await;
                    return Ok(Some(self.seen(identity, found)));
                }
                Err(failure) if failure.has_code(code::UNKNOWN_MESSAGE) => return Ok(None),
                Err(failure) if failure.is_not_visible() => refusal = failure.of_read(),
                Err(failure) => return Err(failure.of_read()),
            }
        }
        Err(refusal)
    }

    async fn link_message(&self, channel: &ChannelId, message: &MessageId) -> Option<String> {
        let channel = snowflake(channel).ok()?;
        let message = SnowflakeMessage::from(to_discord(message.as_str()).ok()?);
        let channels = &self.hub.channels;
        Some(links::link(self.rest.address(), channels.find_server(channel), channels.find_parent(channel), channel, message))
    }

    async fn find_channel(&self, name: &str) -> Option<ChannelId> {
        for _ in 0..DIRECTORY_LOOKS {
            if let Some(found) = self.hub.channels.find(name) {
                return Some(from_discord(found));
            }
            tokio::time::sleep(DIRECTORY_LOOK).await;
        }
        None
    }

    fn list_channels(&self) -> Vec<(Channel, MessageId)> {
        self.hub.channels.list()
    }

    fn text_format(&self, _: &ChannelId) -> TextFormat {
        TEXT
    }

    async fn shutdown(&self) {
        self.close().await;
    }

    fn find_speaker(&self, channel: &ChannelId, other_than: &PersonaSlug) -> Option<PersonaSlug> {
        let mut others = self.readers(None).filter(|identity| identity.persona != *other_than);
        others.find(|identity| may_post(&identity.credential, channel)).map(|identity| identity.persona.clone())
    }

    fn find_role(&self, id: &str) -> Option<String> {
        self.hub.channels.find_role(to_discord(id).ok()?.into())
    }

    async fn find_members(&self, name: &str) -> Vec<Author> {
        let Some(reader) = self.readers(None).next() else { return Vec::new() };
        let mut found = Vec::new();
        for server in self.hub.channels.list_servers() {
            match self.rest.search_members(&reader.credential, server, name).await {
                Ok(members) => found.extend(members.iter().map(member)),
                Err(failure) => tracing::warn!(%failure, "the members of a server could not be looked up"),
            }
        }
        found
    }

    fn owner(&self) -> Option<UserId> {
        self.hub.channels.find_owner()
    }

    fn identities(&self) -> Vec<IdentityStatus> {
        let webhook = |persona: &PersonaSlug| {
            let mute = self.identities.values().all(|identity| identity.is_given_up());
            IdentityStatus {
                persona: persona.clone(),
                platform: PLATFORM,
                state: IdentityState::Webhook,
                account: None,
                latency: None,
                trouble: mute.then(|| "it has no token, and no other account of the team can speak for it".to_owned()),
            }
        };
        let status = |slug: &PersonaSlug| self.identities.get(slug).map_or_else(|| webhook(slug), |identity| identity.status());
        self.roster.personas().iter().map(|persona| status(&persona.slug)).collect()
    }
}

impl Discord {
    /// The identity that posts for a persona. None if others speak for it, because it has no token or its account is down.
    pub(super) fn find_account(&self, persona: &PersonaSlug) -> Option<&Arc<Identity>> {
        self.identities.get(persona).filter(|identity| !identity.is_given_up())
    }

    pub(super) fn is_coordinator(&self, persona: &PersonaSlug) -> bool {
        *persona == self.roster.coordinator().slug
    }

    /// Nobody can act at the moment.
    pub(super) fn offline(&self) -> SendError {
        SendError::Offline(self.roster.coordinator().slug.clone())
    }

    /// Identities that can read: first the one that can certainly see the channel, then the coordinator.
    pub(super) fn readers(&self, first: Option<&PersonaSlug>) -> impl Iterator<Item = &Arc<Identity>> {
        let coordinator = &self.roster.coordinator().slug;
        let mut readers: Vec<_> = self.identities.values().filter(|identity| identity.can_speak()).collect();
        readers.sort_by_key(|identity| (Some(&identity.persona) != first, identity.persona != *coordinator));
        readers.into_iter()
    }

    /// A message as an identity read it over REST.
    fn seen(&self, identity: &Identity, mut message: Message) -> InboundMessage {
        let channel = self.hub.channels.describe(message.channel_id);
        message.content = self.hub.accounts.without_roles(&message.content).into_owned();
        let kind = self.hub.accounts.kind_of(&message);
        let complete = completeness(&message, identity.account(), channel.place == Place::Direct) == Completeness::Full;
        self.hub.read(message, channel, kind, identity.persona.clone(), complete)
    }

    /// Looks up a channel that the gateway has not reported, such as a direct conversation from before the start.
    pub(super) async fn note_channel(&self, reader: &Identity, channel: SnowflakeChannel) {
        if self.hub.channels.knows(channel) {
            return;
        }
        match self.rest.get_channel(&reader.credential, &from_discord(channel)).await {
            Ok(found) => self.hub.channels.record_found(&found, &reader.persona),
            Err(failure) => tracing::warn!(%channel, %failure, "a channel could not be looked up"),
        }
    }
}

/// The identity if it can post. Otherwise an error that keeps its messages waiting.
fn able(identity: &Arc<Identity>) -> Result<&Arc<Identity>, SendError> {
    if identity.can_speak() { Ok(identity) } else { Err(SendError::Offline(identity.persona.clone())) }
}

pub(super) fn snowflake(channel: &ChannelId) -> Result<SnowflakeChannel, SendError> {
    Ok(to_discord(channel.as_str()).map_err(Failure::from)?.into())
}
