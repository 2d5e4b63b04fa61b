//! The team on Slack, as the kernel uses it.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::chat::format::TextFormat;
use kernel::chat::message::{Attachment, Author, Channel, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage, Posted};
use kernel::chat::{ChatPlatform, DownloadError, IdentityStatus, SendError};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId};
use serde_json::Value;

use crate::adapters::slack::Slack;
use crate::adapters::slack::accounts::App;
use crate::adapters::slack::api::{Arguments, Failure};
use crate::adapters::slack::ids::{Spot, channel_id, message_id, to_message, to_spot, to_user};
use crate::adapters::slack::inbound::{SlackMessage, stamp};
use crate::adapters::slack::markup::TEXT;
use crate::adapters::slack::posting::PAGE;

#[async_trait]
impl ChatPlatform for Slack {
    async fn send(&self, message: &OutboundMessage) -> Result<Posted, SendError> {
        let app = self.speaker(&message.persona)?;
        let posted = self.post(app, message).await?;
        // A notice may say that it takes longer.
        let is_done = message.kind != OutboundKind::Notice;
        if is_done && let Ok(Spot { channel, thread: Some(thread) }) = to_spot(&message.channel) {
            self.hub.sessions.end(&app.speaking, channel, thread);
        }
        Ok(posted)
    }

    async fn edit(&self, message: &OutboundMessage, posted: &MessageId) -> Result<Posted, SendError> {
        self.replace(self.speaker(&message.persona)?, message, posted).await
    }

    /// A thread on Slack needs no call: it exists with its first message.
    async fn open_thread(&self, _: &ChannelId, message: &MessageId, _: &str) -> Result<ChannelId, SendError> {
        let (channel, stamp) = to_message(message).map_err(Failure::from)?;
        Ok(channel_id(channel, Some(stamp)))
    }

    async fn open_direct(&self, persona: &PersonaSlug, to: &UserId) -> Result<(ChannelId, MessageId), SendError> {
        let app = self.speaker(persona)?;
        let user = to_user(to).map_err(Failure::from)?;
        let opened = self.api.call(&app.speaking, "conversations.open", Arguments::default().with("users", user)).await?;
        let id = opened.get("channel").and_then(|channel| channel["id"].as_str());
        let id = id.ok_or_else(|| SendError::Unreachable("a conversation without an id".to_owned()))?.to_owned();
        self.hub.directory.look_up(&self.api, &app.speaking, &id).await;
        let newest =
            self.api.call(&app.speaking, "conversations.history", Arguments::default().with("channel", &id).with("limit", "1")).await?;
        let newest = newest.get("messages").and_then(|messages| messages.pointer("/0/ts")).and_then(Value::as_str);
        let newest = newest.map_or_else(|| stamp(self.started), str::to_owned);
        Ok((channel_id(&id, None), message_id(&id, &newest)))
    }

    async fn find_posted(&self, message: &OutboundMessage, since: DateTime<Utc>) -> Result<Option<Posted>, SendError> {
        Ok(self.find_again(self.speaker(&message.persona)?, message, since).await?)
    }

    /// Slack shows an app's activity only in threads.
    async fn show_typing(&self, persona: &PersonaSlug, channel: &ChannelId) {
        let (Ok(app), Ok(Spot { channel, thread: Some(thread) })) = (self.speaker(persona), to_spot(channel)) else { return };
        let (persona, apps) = (self.hub.roster.find(persona), &self.hub.apps);
        // Slack shows the name that was given last, so an app with guests gives its owner's too.
        let named =
            persona.filter(|_| self.hub.roster.personas().iter().any(|guest| apps.shares_an_app(&guest.slug) && apps.is_of(app, guest)));
        if app.is_agent() && self.hub.sessions.go_on(&self.api, &app.speaking, named, channel, thread).await {
            return;
        }
        let guest = persona.filter(|persona| apps.shares_an_app(&persona.slug));
        let status = guest.map_or_else(|| "is thinking…".to_owned(), |guest| format!("is thinking, as {}…", guest.name));
        let arguments = Arguments::default().with("channel_id", channel).with("thread_ts", thread).with("status", status);
        if let Err(failure) = self.api.call(&app.speaking, "assistant.threads.setStatus", arguments).await {
            tracing::debug!(persona = %app.persona, channel, %failure, "that somebody is thinking could not be shown");
        }
    }

    async fn download(&self, attachment: &Attachment, limit: u64) -> Result<bytes::Bytes, DownloadError> {
        let mut why = DownloadError::Offline;
        for app in self.hub.apps.readers(None) {
            match self.api.download(&app.speaking, &attachment.url, limit).await {
                // Only an app that is in the channel may read it.
                Err(error @ DownloadError::Failed(_)) => why = error,
                downloaded => return downloaded,
            }
        }
        Err(why)
    }

    async fn list_messages_after(&self, channel: &ChannelId, after: &MessageId, limit: usize) -> Result<Vec<InboundMessage>, SendError> {
        let spot = to_spot(channel).map_err(Failure::from)?;
        let (_, since) = to_message(after).map_err(Failure::from)?;
        let mut refusal = self.offline();
        for app in self.readers(spot.channel) {
            match self.list_since(app, spot, since).await {
                Ok(found) => return Ok(self.said(app, found, limit).await),
                Err(failure) => refusal = failure.of_read(),
            }
        }
        Err(refusal)
    }

    /// A channel's history holds no answers in threads, only when the last one was written. Threads on older messages are known from before.
    async fn list_threads_after(&self, channel: &ChannelId, after: &MessageId) -> Result<Vec<Channel>, SendError> {
        let (spot, (_, since)) = (to_spot(channel).map_err(Failure::from)?, to_message(after).map_err(Failure::from)?);
        if spot.thread.is_some() {
            return Ok(Vec::new());
        }
        let mut refusal = self.offline();
        for app in self.readers(spot.channel) {
            let newest = match self.read_page(app, spot, Arguments::default().with("limit", PAGE)).await {
                Ok((newest, _)) => newest,
                Err(failure) => {
                    refusal = failure.of_read();
                    continue;
                }
            };
            let mut threads = Vec::new();
            for root in newest.iter().filter(|root| root.latest_reply.as_deref().is_some_and(|latest| latest > since)) {
                threads.push(self.hub.channel_of(app, spot.channel, Some(&root.ts), root.user.as_deref().or(root.bot_id.as_deref())).await);
            }
            return Ok(threads);
        }
        Err(refusal)
    }

    async fn find_message(&self, channel: &ChannelId, message: &MessageId) -> Result<Option<InboundMessage>, SendError> {
        let spot = to_spot(channel).map_err(Failure::from)?;
        let (_, stamp) = to_message(message).map_err(Failure::from)?;
        let mut refusal = self.offline();
        for app in self.readers(spot.channel) {
            match self.look_up_message(app, spot, stamp).await {
                Ok(None) => return Ok(None),
                Ok(Some(found)) => return Ok(Some(self.hub.read(app, found).await)),
                Err(failure) if failure.is("thread_not_found") => return Ok(None),
                Err(failure) => refusal = failure.of_read(),
            }
        }
        Err(refusal)
    }

    async fn link_message(&self, channel: &ChannelId, message: &MessageId) -> Option<String> {
        let (spot, (_, stamp)) = (to_spot(channel).ok()?, to_message(message).ok()?);
        if let Some(page) = self.api.local_page() {
            return Some(format!("{page}#{}/{}/{stamp}", spot.channel, spot.thread.unwrap_or_default()));
        }
        for app in self.readers(spot.channel) {
            let asked = Arguments::default().with("channel", spot.channel).with("message_ts", stamp);
            if let Ok(answer) = self.api.call(&app.speaking, "chat.getPermalink", asked).await {
                return answer.get("permalink").and_then(Value::as_str).map(str::to_owned);
            }
        }
        None
    }

    async fn find_channel(&self, name: &str) -> Option<ChannelId> {
        self.ready.wait().await;
        self.hub.directory.find_named(name)
    }

    async fn find_members(&self, name: &str) -> Vec<Author> {
        let Some(app) = self.hub.apps.readers(None).into_iter().next() else { return Vec::new() };
        self.hub.directory.find_members(&self.api, &app.speaking, name).await.unwrap_or_else(|failure| {
            tracing::warn!(%failure, "the members of the workspace could not be looked up");
            Vec::new()
        })
    }

    fn list_channels(&self) -> Vec<(Channel, MessageId)> {
        self.hub.directory.list(self.started)
    }

    fn text_format(&self, _: &ChannelId) -> TextFormat {
        TEXT
    }

    fn list_voices(&self, _: &ChannelId, account: &PersonaSlug) -> Vec<PersonaSlug> {
        let app = self.hub.apps.of(account);
        let personas = self.hub.roster.personas().iter();
        personas.filter(|persona| app.is_some_and(|app| self.hub.apps.is_of(app, persona))).map(|persona| persona.slug.clone()).collect()
    }

    fn find_speaker(&self, channel: &ChannelId, other_than: &PersonaSlug) -> Option<PersonaSlug> {
        let spot = to_spot(channel).ok()?;
        let members = self.hub.directory.find(spot.channel)?.members;
        self.hub
            .apps
            .readers(None)
            .into_iter()
            .map(|app| &app.persona)
            .find(|persona| *persona != other_than && members.contains(persona))
            .cloned()
    }

    fn identities(&self) -> Vec<IdentityStatus> {
        self.hub.apps.statuses(&self.hub.roster)
    }

    async fn shutdown(&self) {
        self.close().await;
    }
}

impl Slack {
    /// The app that posts for a persona.
    fn speaker(&self, persona: &PersonaSlug) -> Result<&App, SendError> {
        let app = self.hub.apps.of(persona).filter(|app| app.can_speak());
        app.map(AsRef::as_ref).ok_or_else(|| SendError::Offline(persona.clone()))
    }

    /// The apps that can read a channel, as far as is known.
    fn readers(&self, channel: &str) -> Vec<&Arc<App>> {
        let known = self.hub.directory.find(channel);
        let readers = self.hub.apps.readers(None).into_iter();
        readers.filter(|app| known.as_ref().is_none_or(|known| known.members.is_empty() || known.members.contains(&app.persona))).collect()
    }

    /// Nobody can act at the moment.
    fn offline(&self) -> SendError {
        SendError::Offline(self.hub.apps.coordinator().clone())
    }

    /// The messages among these that somebody wrote, ours too.
    async fn said(&self, app: &App, found: Vec<SlackMessage>, limit: usize) -> Vec<InboundMessage> {
        let mut said = Vec::new();
        for message in found.into_iter().filter(SlackMessage::is_said) {
            if said.len() == limit {
                break;
            }
            said.push(self.hub.read(app, message).await);
        }
        said
    }

    async fn look_up_message(&self, app: &App, spot: Spot<'_>, stamp: &str) -> Result<Option<SlackMessage>, Failure> {
        let wanted = Arguments::default().with("oldest", stamp).with("latest", stamp).with("inclusive", "true").with("limit", "2");
        let (page, _) = self.read_page(app, spot, wanted).await?;
        Ok(page.into_iter().find(|message| message.ts == stamp && message.is_said()))
    }
}
