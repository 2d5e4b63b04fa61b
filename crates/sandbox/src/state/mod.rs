//! The state of the sandbox: one guild with its accounts, channels, messages, webhooks and commands.
//!
//! Durable changes go through [`World::commit`], which appends a [`Record`] to the event file and applies it. A restart
//! applies the same records. Interactions and ephemeral messages are in memory only.
//!
//! Events for clients are queued as [`Dispatch`]es, which the server sends to gateway sessions.

mod accounts;
mod channels;
mod commands;
mod dispatch;
mod files;
mod intents;
mod interactions;
mod links;
mod messages;
mod permissions;
mod pictures;
mod render;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) use accounts::{Account, Accounts};
pub(crate) use channels::{Channel, ChannelKind, Overwrite};
pub(crate) use commands::{Commands, Scope};
pub(crate) use dispatch::{Audience, Dispatch};
pub(crate) use intents::Intents;
pub(crate) use interactions::{Answer, Interaction, InteractionKind, Interactions};
pub(crate) use links::{Links, Signature};
use local_server::{Log, StateError};
pub(crate) use messages::{
    Attachment, Author, InteractionMetadata, Message, MessageKind, Messages, Reaction, Reference, flags, nonce_text,
};
pub(crate) use permissions::{Permissions, find_permission};
pub(crate) use pictures::{BadPicture, Emoji, Picture, Pictures};
pub(crate) use render::{View, application_flags, emoji, own_user, thread_member, without_content};

use super::options::{BotAccount, Options};
use super::snowflake::{Snowflake, Snowflakes};

/// The one server of the sandbox. Its id is also that of the role `@everyone`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Guild {
    pub(crate) id: Snowflake,
    pub(crate) name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Webhook {
    pub(crate) id: Snowflake,
    pub(crate) channel: Snowflake,
    pub(crate) creator: Snowflake,
    pub(crate) name: String,
    pub(crate) token: String,
    /// The bot that created it, if it was not a person.
    pub(crate) application: Option<Snowflake>,
}

/// One change, as a line of the event file. A record with the same id replaces the earlier one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
pub(crate) enum Record {
    Guild(Guild),
    Account(Account),
    Channel(Channel),
    ChannelGone(Snowflake),
    Message(Box<Message>),
    MessageGone { channel: Snowflake, id: Snowflake },
    Webhook(Webhook),
    WebhookGone(Snowflake),
    Commands { scope: Scope, commands: Vec<serde_json::Value> },
    Picture(Picture),
    Emoji(Emoji),
    EmojiGone(Snowflake),
}

pub(crate) struct World {
    pub(crate) guild: Guild,
    pub(crate) accounts: Accounts,
    pub(crate) channels: BTreeMap<Snowflake, Channel>,
    pub(crate) messages: Messages,
    pub(crate) webhooks: BTreeMap<Snowflake, Webhook>,
    pub(crate) commands: Commands,
    pub(crate) pictures: Pictures,
    pub(crate) interactions: Interactions,
    /// Events for clients, in order. The server sends them after each request.
    pub(crate) dispatches: Vec<Dispatch>,
    /// Creates the addresses of attachments.
    pub(crate) links: Links,
    ids: Snowflakes,
    log: Log,
    files: PathBuf,
}

impl World {
    /// Reads the event file in `options.dir`, adds missing accounts and channels of the options, and rewrites the file.
    ///
    /// # Errors
    /// When another sandbox uses the folder, or the folder cannot be read and written.
    pub(crate) fn open(options: &Options, links: Links) -> Result<Self, StateError> {
        let (log, records) = Log::open(&options.dir, options.reset)?;
        let files = options.dir.join("files");
        if options.reset && files.exists() {
            std::fs::remove_dir_all(&files).map_err(|source| StateError::io("clear", &files, source))?;
        }
        std::fs::create_dir_all(&files).map_err(|source| StateError::io("make", &files, source))?;
        let mut ids = Snowflakes::default();
        let guild = Guild { id: ids.next(), name: "Teamroom".to_owned() };
        let mut world = Self {
            guild,
            accounts: Accounts::default(),
            channels: BTreeMap::new(),
            messages: Messages::default(),
            webhooks: BTreeMap::new(),
            commands: Commands::default(),
            pictures: Pictures::default(),
            interactions: Interactions::default(),
            dispatches: Vec::new(),
            links,
            ids,
            log,
            files,
        };
        for record in records {
            world.apply(record);
        }
        world.furnish(options);
        world.compact()?;
        world.sweep_files();
        Ok(world)
    }

    /// Adds accounts and channels of the options that are missing.
    fn furnish(&mut self, options: &Options) {
        for name in &options.people {
            let id = self.accounts.find_person(name).map_or_else(|| self.ids.next(), |account| account.id);
            let known = self.accounts.get(id).cloned();
            self.accounts.put(Account::person(id, name, known));
        }
        for bot in &options.bots {
            let mut account = self.bot_account(bot);
            if options.have_pictures {
                account.avatar.get_or_insert_with(|| "0".repeat(32));
            }
            self.accounts.put(account);
        }
        for name in &options.channels {
            let exists = self.channels.values().any(|channel| channel.kind == ChannelKind::Text && channel.name == *name);
            if !exists {
                let position = self.channels.len();
                let channel = Channel::text(self.ids.next(), name, position);
                self.channels.insert(channel.id, channel);
            }
        }
    }

    fn bot_account(&mut self, bot: &BotAccount) -> Account {
        let known = self.accounts.find_bot(&bot.slug).cloned();
        let id = known.as_ref().map_or_else(|| self.ids.next(), |account| account.id);
        let role = known.as_ref().and_then(|account| account.role).unwrap_or_else(|| self.ids.next());
        Account::bot(id, role, bot, known)
    }

    /// Makes these bots the only ones of the server: adds, renames and removes accounts.
    pub(crate) fn set_bots(&mut self, bots: &[BotAccount]) {
        let gone: Vec<Account> = self
            .accounts
            .members()
            .filter(|account| account.slug.as_deref().is_some_and(|slug| bots.iter().all(|bot| bot.slug != slug)))
            .cloned()
            .collect();
        for account in gone {
            let data = json!({ "guild_id": self.guild.id, "user": self.user(account.id) });
            self.accounts.put(Account { active: false, ..account });
            self.dispatches.push(Dispatch::new("GUILD_MEMBER_REMOVE", Audience::Guild, Intents::GUILD_MEMBERS, data));
        }
        for bot in bots {
            let before = self.accounts.find_bot(&bot.slug).cloned();
            let account = self.bot_account(bot);
            let (id, role) = (account.id, account.role);
            let event = match before {
                Some(before) if before.active && before.name == account.name && before.color == account.color => continue,
                Some(before) if before.active => "UPDATE",
                _ => "ADD",
            };
            self.commit(Record::Account(account));
            let (role_event, member_event) =
                if event == "ADD" { ("GUILD_ROLE_CREATE", "GUILD_MEMBER_ADD") } else { ("GUILD_ROLE_UPDATE", "GUILD_MEMBER_UPDATE") };
            if let Some(role) = self.roles().into_iter().find(|known| known["id"] == json!(role)) {
                let data = json!({ "guild_id": self.guild.id, "role": role });
                self.dispatches.push(Dispatch::new(role_event, Audience::Guild, Intents::GUILDS, data));
            }
            let mut member = self.member(id);
            member["guild_id"] = json!(self.guild.id);
            self.dispatches.push(Dispatch::new(member_event, Audience::Guild, Intents::GUILD_MEMBERS, member));
        }
    }

    fn compact(&mut self) -> Result<(), StateError> {
        let nonces = self.messages.list_nonces();
        let with_nonce = |message: Message| {
            let nonce = nonces.get(&message.id).map(|nonce| json!(nonce));
            Record::Message(Box::new(Message { nonce, ..message }))
        };
        // Messages are written before channels, whose counters already include them.
        let records = std::iter::once(Record::Guild(self.guild.clone()))
            .chain(self.accounts.iter().cloned().map(Record::Account))
            .chain(self.messages.iter().filter(|message| message.ephemeral_to.is_none()).cloned().map(with_nonce))
            .chain(self.channels.values().cloned().map(Record::Channel))
            .chain(self.webhooks.values().cloned().map(Record::Webhook))
            .chain(self.commands.iter().map(|(scope, commands)| Record::Commands { scope, commands: commands.to_vec() }))
            .chain(self.list_used_pictures().into_iter().map(Record::Picture))
            .chain(self.pictures.emojis().cloned().map(Record::Emoji));
        self.log.rewrite(records)
    }

    /// The ids of the members, in a stable order.
    pub(crate) fn members_sorted(&self) -> Vec<Snowflake> {
        self.accounts.members().map(|account| account.id).collect()
    }

    /// The members whose user name, display name or nickname begins with this text.
    pub(crate) fn members_named(&self, beginning: &str) -> impl Iterator<Item = Snowflake> {
        let beginning = beginning.to_lowercase();
        let fits = move |name: &str| name.to_lowercase().starts_with(&beginning);
        let members = self.accounts.members();
        members.filter(move |a| fits(&a.username()) || fits(&a.name) || a.nick.as_deref().is_some_and(&fits)).map(|account| account.id)
    }

    pub(crate) fn next_id(&mut self) -> Snowflake {
        self.ids.next()
    }

    /// Writes the record to the event file and applies it.
    ///
    /// If writing fails, the error is logged and the record still applied. The next run will not have it.
    pub(crate) fn commit(&mut self, record: Record) {
        if let Err(error) = self.log.append(&record) {
            tracing::error!(%error, "the sandbox could not write its event file");
        }
        self.apply(record);
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Guild(guild) => {
                self.ids.skip(guild.id);
                self.guild = guild;
            }
            Record::Account(account) => {
                self.ids.skip(account.id.max(account.role.unwrap_or_default()));
                self.accounts.put(account);
            }
            Record::Channel(channel) => {
                self.ids.skip(channel.id);
                self.channels.insert(channel.id, channel);
            }
            Record::ChannelGone(id) => self.forget_channel(id),
            Record::Message(message) => {
                self.ids.skip(message.id);
                self.put_message(*message);
            }
            Record::MessageGone { channel, id } => {
                if let Some(removed) = self.messages.remove(channel, id) {
                    self.forget_files(&removed);
                    self.channels.entry(channel).and_modify(|channel| channel.uncount_message(removed.kind));
                }
            }
            Record::Webhook(webhook) => {
                self.ids.skip(webhook.id);
                self.webhooks.insert(webhook.id, webhook);
            }
            Record::WebhookGone(id) => {
                self.webhooks.remove(&id);
            }
            Record::Commands { scope, commands } => self.commands.replace(scope, commands),
            Record::Picture(picture) => self.pictures.put(picture),
            Record::Emoji(emoji) => {
                self.ids.skip(emoji.id);
                self.pictures.put_emoji(emoji);
            }
            Record::EmojiGone(id) => self.pictures.remove_emoji(id),
        }
    }

    /// Deletes everything but accounts and channels.
    pub(crate) fn clear(&mut self) {
        let places: Vec<Channel> = self.channels.values().cloned().collect();
        for channel in places {
            if channel.thread.is_some() {
                self.delete_thread(&channel);
                continue;
            }
            let messages: Vec<Message> = self.messages.in_channel(channel.id).cloned().collect();
            for message in messages {
                self.delete_message(&message);
            }
        }
        let webhooks: Vec<Snowflake> = self.webhooks.keys().copied().collect();
        for id in webhooks {
            self.commit(Record::WebhookGone(id));
        }
        let emojis: Vec<Snowflake> = self.pictures.emojis().map(|emoji| emoji.id).collect();
        for id in emojis {
            self.commit(Record::EmojiGone(id));
        }
        let scopes: Vec<Scope> = self.commands.iter().map(|(scope, _)| scope).collect();
        for scope in scopes {
            self.commit(Record::Commands { scope, commands: Vec::new() });
        }
    }

    /// Stores a message in memory. All but ephemeral messages come from [`World::commit`].
    pub(crate) fn put_message(&mut self, mut message: Message) {
        // The nonces are in the event file, so that a client may send again whatever it sent before this server died.
        if let (Some(nonce), Author::User(author)) = (message.nonce.take(), &message.author) {
            self.messages.remember_nonce(*author, message.channel, nonce_text(&nonce), message.id);
        }
        for attachment in &message.attachments {
            self.ids.skip(attachment.id);
        }
        let (channel, id, kind) = (message.channel, message.id, message.kind);
        let is_hidden = message.ephemeral_to.is_some();
        let is_new = self.messages.put(message);
        if let Some(channel) = self.channels.get_mut(&channel)
            && is_new
            && !is_hidden
        {
            channel.count_message(id, kind);
        }
    }

    fn forget_channel(&mut self, id: Snowflake) {
        let threads: Vec<Snowflake> = self.channels.values().filter(|channel| channel.parent == Some(id)).map(|thread| thread.id).collect();
        for removed in threads.into_iter().chain([id]) {
            self.channels.remove(&removed);
            for message in self.messages.remove_channel(removed) {
                self.forget_files(&message);
            }
            self.webhooks.retain(|_, webhook| webhook.channel != removed);
        }
    }
}
