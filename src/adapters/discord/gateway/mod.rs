//! Converts gateway events to platform events.
//!
//! There is one [`Gateway`] per identity. It never blocks: it records channels, drops events that another identity
//! has forwarded already, converts the rest, and passes them to [`pump()`]. It does not decide whether a message is answered.

mod channels;
mod dedup;
mod message;
mod pump;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use serenity::model::channel::{Message, Reaction};
use serenity::model::event::{
    ChannelCreateEvent, ChannelUpdateEvent, Event, GuildCreateEvent, MessageUpdateEvent, ThreadCreateEvent, ThreadUpdateEvent,
};
use serenity::model::gateway::Ready;
use serenity::model::id::{ChannelId, GuildId, MessageId, UserId};
use tokio::sync::mpsc;

pub(crate) use channels::{ChannelDirectory, manages};
pub(crate) use dedup::Completeness;
use dedup::{Deduplicator, SeenEvent};
pub(crate) use message::{completeness, names_of};
use message::{inbound, list_titles, show_emoji};
pub(crate) use pump::{Incoming, pump};

use crate::adapters::discord::accounts::OwnAccounts;
use crate::adapters::discord::avatars::AccountAvatar;
use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::identity::{Identity, content_trouble};
use crate::adapters::discord::ids::from_discord;
use kernel::chat::PlatformEvent;
use kernel::chat::message::{AuthorKind, Channel, InboundMessage, SERVER_MANAGER};
use kernel::ids::PersonaSlug;

/// Shared by all identities.
pub(crate) struct Hub {
    pub(crate) accounts: OwnAccounts,
    pub(crate) channels: ChannelDirectory,
    seen: Deduplicator,
    /// Servers to listen to. Empty: all.
    allowed: Vec<GuildId>,
    incoming: mpsc::UnboundedSender<Incoming>,
    /// Held while an event is handled. Otherwise one identity could pass on a message before another passes on the one before it.
    in_order: Mutex<()>,
}

impl Hub {
    pub(crate) fn new(accounts: OwnAccounts, allowed: Vec<GuildId>, incoming: mpsc::UnboundedSender<Incoming>) -> Self {
        Self {
            accounts,
            channels: ChannelDirectory::default(),
            seen: Deduplicator::default(),
            allowed,
            incoming,
            in_order: Mutex::default(),
        }
    }

    /// Direct conversations have no server and are always allowed.
    pub(crate) fn is_allowed(&self, server: Option<GuildId>) -> bool {
        self.allowed.is_empty() || server.is_none_or(|server| self.allowed.contains(&server))
    }

    /// The message as `seen_by` received it. Discord does not say in a message whether its author may manage the server.
    pub(crate) fn read(
        &self,
        message: Message,
        channel: Channel,
        kind: AuthorKind,
        seen_by: PersonaSlug,
        complete: bool,
    ) -> InboundMessage {
        let manages = self.channels.is_manager(message.author.id, message.member.as_ref().map_or(&[], |member| &member.roles));
        let mut read = inbound(message, channel, kind, seen_by, complete);
        read.author.roles.extend(manages.then(|| SERVER_MANAGER.to_owned()));
        read
    }

    pub(crate) fn announce(&self, event: PlatformEvent) {
        self.hand_over(Incoming::Event(event));
    }

    fn hand_over(&self, incoming: Incoming) {
        // The receiver is dropped only at shutdown.
        let _ = self.incoming.send(incoming);
    }
}

/// The receiving end of one identity.
pub(crate) struct Gateway {
    pub(crate) identity: Arc<Identity>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) interactions: Arc<Interactions>,
    /// None without a persona.
    pub(crate) avatar: Option<AccountAvatar>,
}

impl Gateway {
    /// Handles one event of the gateway, without blocking.
    pub(crate) fn dispatch(&self, event: Event) {
        let hub = Arc::clone(&self.hub);
        let _one_at_a_time = hub.in_order.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Ready(event) => self.ready(&event.ready),
            Event::Resumed(_) => self.identity.connected(),
            Event::MessageCreate(event) => self.message(event.message),
            Event::MessageUpdate(event) => self.updated(&event),
            Event::MessageDelete(event) => self.deleted(event.channel_id, event.guild_id, &[event.message_id]),
            Event::MessageDeleteBulk(event) => self.deleted(event.channel_id, event.guild_id, &event.ids),
            Event::ReactionAdd(event) => self.reacted(&event.reaction),
            Event::ReactionRemove(event) => self.unreacted(&event.reaction, event.reaction.user_id),
            Event::ReactionRemoveEmoji(event) => self.unreacted(&event.reaction, None),
            Event::ReactionRemoveAll(event) => {
                let message = from_discord(event.message_id);
                self.hub.announce(PlatformEvent::Unreacted { message, person: None, emoji: None });
            }
            Event::InteractionCreate(event) => self.interactions.dispatch(event.interaction),
            event => self.note_channels(event),
        }
    }

    fn ready(&self, ready: &Ready) {
        self.hub.accounts.record(&self.identity.persona, ready.user.id, ready.application.id);
        self.identity.ready(ready.user.id);
        self.interactions.came_online(ready.application.id);
        if let Some(avatar) = &self.avatar {
            avatar.came_online(&self.interactions.runtime, ready.user.id, ready.user.avatar.is_some());
        }
        self.hub.announce(PlatformEvent::Ready { persona: self.identity.persona.clone(), account: from_discord(ready.user.id) });
    }

    fn message(&self, mut message: Message) {
        if !self.hub.is_allowed(message.guild_id) {
            return;
        }
        let completeness = completeness(&message, self.identity.account(), message.guild_id.is_none());
        if self.identity.note_reading(completeness) {
            self.hub.announce(PlatformEvent::Trouble {
                persona: self.identity.persona.clone(),
                text: content_trouble(&self.identity.credential.name),
            });
        }
        if !self.hub.seen.is_new(SeenEvent::Message(message.id), completeness) {
            return;
        }
        if message.guild_id.is_none() {
            self.hub.channels.record_direct(message.channel_id, &self.identity.persona);
        }
        let (seen_by, complete) = (self.identity.persona.clone(), completeness == Completeness::Full);
        if !self.hub.channels.knows(message.channel_id) {
            self.hub.hand_over(Incoming::Unplaced { message: Box::new(message), seen_by, complete });
            return;
        }
        message.content = self.hub.accounts.without_roles(&message.content).into_owned();
        let kind = self.hub.accounts.kind_of(&message);
        let channel = self.hub.channels.describe(message.channel_id);
        let titles = if message.author.bot { Vec::new() } else { list_titles(&message.embeds) };
        let (id, place) = (message.id, message.channel_id);
        self.hub.announce(PlatformEvent::Message(Box::new(self.hub.read(message, channel, kind, seen_by, complete))));
        self.unfurled(id, place, titles);
    }

    /// Reports the titles of links. A bot's embeds are part of its message. A person's embeds are previews that Discord made of links.
    fn unfurled(&self, message: MessageId, channel: ChannelId, titles: Vec<(String, String)>) {
        for (url, title) in titles {
            if self.hub.seen.is_new(SeenEvent::Link(message, hash_of(&url, &title)), Completeness::Full) {
                let (message, channel) = (from_discord(message), from_discord(channel));
                self.hub.announce(PlatformEvent::Unfurled { message, channel, url, title });
            }
        }
    }

    fn reacted(&self, added: &Reaction) {
        let Some(person) = added.user_id.filter(|person| !self.hub.accounts.owns(*person)) else { return };
        let user = added.member.as_ref().map(|member| &member.user);
        if user.is_some_and(|user| user.bot) || !self.hub.is_allowed(added.guild_id) {
            return;
        }
        let nick = added.member.as_ref().and_then(|member| member.nick.clone());
        let name = user.map(|user| names_of(nick, user.global_name.clone(), user.name.clone()).0).unwrap_or_default();
        self.hub.announce(PlatformEvent::Reacted(Box::new(kernel::chat::store::Reaction {
            message: from_discord(added.message_id),
            channel: from_discord(added.channel_id),
            person: from_discord(person),
            name,
            emoji: show_emoji(&added.emoji),
        })));
    }

    fn unreacted(&self, removed: &Reaction, person: Option<UserId>) {
        if self.hub.is_allowed(removed.guild_id) {
            self.hub.announce(PlatformEvent::Unreacted {
                message: from_discord(removed.message_id),
                person: person.map(from_discord),
                emoji: Some(show_emoji(&removed.emoji)),
            });
        }
    }

    fn updated(&self, update: &MessageUpdateEvent) {
        let ours = update.author.as_ref().is_some_and(|author| self.hub.accounts.owns(author.id));
        if ours || !self.hub.is_allowed(update.guild_id) {
            return;
        }
        if update.author.as_ref().is_none_or(|author| !author.bot) {
            self.unfurled(update.id, update.channel_id, list_titles(update.embeds.as_deref().unwrap_or_default()));
        }
        let Some((text, edited_at)) = message::correction(update) else { return };
        let completeness = if text.is_some() { Completeness::Full } else { Completeness::Withheld };
        if self.hub.seen.is_new(SeenEvent::Edit(update.id, edited_at.timestamp_micros()), completeness) {
            let (message, channel) = (from_discord(update.id), from_discord(update.channel_id));
            let text = text.map(|text| self.hub.accounts.without_roles(&text).into_owned());
            self.hub.announce(PlatformEvent::Edited { message, channel, text, edited_at });
        }
    }

    fn deleted(&self, channel: ChannelId, server: Option<GuildId>, messages: &[MessageId]) {
        if !self.hub.is_allowed(server) {
            return;
        }
        let news = messages.iter().filter(|message| self.hub.seen.is_new(SeenEvent::Deletion(**message), Completeness::Full));
        let messages: Vec<_> = news.map(from_discord).collect();
        if !messages.is_empty() {
            self.hub.announce(PlatformEvent::Deleted { messages, channel: from_discord(channel) });
        }
    }

    fn note_nickname(&self, nickname: Option<&str>) {
        let persona = self.identity.persona.clone();
        self.hub.announce(PlatformEvent::Nickname { persona, nickname: nickname.map(str::to_owned) });
    }

    /// A call that was refused may be allowed now.
    fn permissions_changed(&self) {
        self.identity.credential.forgive();
        self.hub.announce(PlatformEvent::PermissionsChanged);
    }

    fn note_channels(&self, event: Event) {
        let channels = &self.hub.channels;
        match event {
            Event::GuildCreate(GuildCreateEvent { guild, .. }) => {
                channels.record_server(&guild);
                self.permissions_changed();
                guild.roles.values().for_each(|role| self.hub.accounts.record_role(role));
                if let Some(nickname) = self.identity.account().and_then(|me| guild.members.get(&me)?.nick.as_deref()) {
                    self.note_nickname(Some(nickname));
                }
            }
            Event::GuildMemberUpdate(event) if Some(event.user.id) == self.identity.account() => {
                self.note_nickname(event.nick.as_deref());
                // The account may have got another role.
                self.permissions_changed();
            }
            Event::GuildRoleCreate(event) => {
                channels.record_role(&event.role);
                self.hub.accounts.record_role(&event.role);
            }
            // A channel that this identity may see from now on counts as created.
            Event::ChannelCreate(ChannelCreateEvent { channel, .. }) | Event::ChannelUpdate(ChannelUpdateEvent { channel, .. }) => {
                channels.record(&channel);
                self.permissions_changed();
            }
            Event::GuildRoleUpdate(event) => {
                channels.record_role(&event.role);
                self.permissions_changed();
            }
            Event::ThreadCreate(ThreadCreateEvent { thread, .. }) | Event::ThreadUpdate(ThreadUpdateEvent { thread, .. }) => {
                channels.record(&thread);
            }
            Event::ThreadListSync(event) => event.threads.iter().for_each(|thread| channels.record(thread)),
            Event::ChannelDelete(event) => channels.forget(event.channel.id),
            Event::ThreadDelete(event) => channels.forget(event.thread.id),
            _ => {}
        }
    }
}

/// A hash to tell titles of links apart, because Discord repeats the update.
fn hash_of(url: &str, title: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (url, title).hash(&mut hasher);
    hasher.finish()
}
