//! Creates and edits messages of users, webhooks, interactions and threads.

use serde_json::Value;

use crate::rest::errors::ApiError;
use crate::rest::form::Draft;
use crate::snowflake::{Snowflake, now_ms};
use crate::state::{
    Attachment, Audience, Author, Channel, Dispatch, Intents, InteractionMetadata, Message, MessageKind, Record, Reference, View, World,
    flags,
};

/// A message that has passed all checks but is not posted yet.
pub(crate) struct Posting {
    pub(crate) channel: Snowflake,
    pub(crate) author: Author,
    pub(crate) kind: MessageKind,
    pub(crate) reference: Option<Reference>,
    pub(crate) interaction: Option<InteractionMetadata>,
    /// The one person who may see it.
    pub(crate) ephemeral_to: Option<Snowflake>,
    /// Flags that the platform sets.
    pub(crate) flags: u64,
    pub(crate) may_mention_everyone: bool,
}

impl Posting {
    pub(crate) fn new(channel: Snowflake, author: Author, kind: MessageKind) -> Self {
        Self { channel, author, kind, reference: None, interaction: None, ephemeral_to: None, flags: 0, may_mention_everyone: true }
    }
}

impl Draft {
    pub(crate) fn is_empty(&self) -> bool {
        let is_blank = self.content.as_deref().is_none_or(|content| content.trim().is_empty());
        is_blank
            && self.embeds.as_ref().is_none_or(Vec::is_empty)
            && self.components.as_ref().is_none_or(Vec::is_empty)
            && self.files.is_empty()
    }
}

impl World {
    /// Posts a message and sends its event to everybody who can see it.
    pub(crate) fn post(&mut self, posting: Posting, draft: Draft) -> Result<Message, ApiError> {
        let attachments = self.store_files(&draft)?;
        let mut message = Message::new(self.next_id(), posting.channel, posting.author, posting.kind);
        let mentions = draft.allowed.find_in(draft.content.as_deref().unwrap_or_default());
        message.mention_everyone = mentions.everyone && posting.may_mention_everyone;
        message.mentions = self.known_users(mentions.users);
        message.mention_roles = mentions.roles;
        message.reference = posting.reference;
        if posting.kind == MessageKind::Reply && draft.allowed.replied_user {
            self.mention_replied(&mut message);
        }
        // Discord trims the text of people.
        draft.content.as_deref().unwrap_or_default().trim().clone_into(&mut message.content);
        message.embeds = draft.embeds.unwrap_or_default();
        message.components = draft.components.unwrap_or_default();
        message.attachments = attachments;
        message.tts = draft.tts;
        message.flags = draft.flags.unwrap_or(0) & !flags::EPHEMERAL | posting.flags;
        message.interaction = posting.interaction;
        message.ephemeral_to = posting.ephemeral_to;
        message.nonce = draft.nonce;
        self.announce_new(&message);
        Ok(message)
    }

    /// A message of the platform itself, such as "a thread was started".
    pub(crate) fn post_system(&mut self, channel: Snowflake, author: Snowflake, kind: MessageKind, content: &str, reference: Reference) {
        let mut message = Message::new(self.next_id(), channel, Author::User(author), kind);
        content.clone_into(&mut message.content);
        message.reference = Some(reference);
        self.announce_new(&message);
    }

    fn announce_new(&mut self, message: &Message) {
        self.keep(message.clone());
        self.wake_thread(message.channel, &message.author);
        self.tell_of("MESSAGE_CREATE", message);
    }

    fn keep(&mut self, message: Message) {
        if message.ephemeral_to.is_some() {
            self.put_message(message);
        } else {
            self.commit(Record::Message(Box::new(message)));
        }
    }

    /// Edits a message. Parts that are not in the draft stay.
    pub(crate) fn edit(&mut self, mut message: Message, draft: Draft) -> Result<Message, ApiError> {
        let added = self.store_files(&draft)?;
        if let Some(kept) = draft.kept {
            message.attachments.retain(|attachment| kept.contains(&attachment.id));
        }
        message.attachments.extend(added);
        if let Some(content) = draft.content {
            let mentions = draft.allowed.find_in(&content);
            message.mention_everyone = mentions.everyone;
            message.mentions = self.known_users(mentions.users);
            message.mention_roles = mentions.roles;
            content.trim().clone_into(&mut message.content);
        }
        if let Some(embeds) = draft.embeds {
            message.embeds = embeds;
        }
        if let Some(components) = draft.components {
            message.components = components;
        }
        if let Some(wanted) = draft.flags {
            message.flags = message.flags & !flags::SUPPRESS_EMBEDS | wanted & flags::SUPPRESS_EMBEDS;
        }
        // The response to a deferred interaction does not count as an edit.
        let was_loading = message.flags & flags::LOADING != 0;
        message.flags &= !flags::LOADING;
        message.edited_ms = if was_loading { None } else { Some(now_ms()) };
        if message.content.is_empty() && message.embeds.is_empty() && message.attachments.is_empty() && message.components.is_empty() {
            return Err(ApiError::empty_message());
        }
        self.put_changed(message.clone());
        Ok(message)
    }

    /// Stores a changed message and sends its event to everybody who can see it.
    pub(crate) fn put_changed(&mut self, message: Message) {
        self.tell_of("MESSAGE_UPDATE", &message);
        self.keep(message);
    }

    /// Stores a message with changed reactions. Reactions have their own event.
    pub(crate) fn keep_reactions(&mut self, message: Message) {
        self.keep(message);
    }

    pub(crate) fn delete_message(&mut self, message: &Message) {
        let mut data = serde_json::json!({ "id": message.id, "channel_id": message.channel });
        let intents = self.place(message.channel, &mut data, Intents::GUILD_MESSAGES, Intents::DIRECT_MESSAGES);
        let audience = audience(message);
        self.dispatches.push(Dispatch::new("MESSAGE_DELETE", audience, intents, data));
        self.commit(Record::MessageGone { channel: message.channel, id: message.id });
    }

    /// Adds the guild id to an event, and chooses the intent for the kind of channel.
    pub(crate) fn place(&self, channel: Snowflake, data: &mut Value, in_guild: Intents, in_direct: Intents) -> Intents {
        if self.channels.get(&channel).is_some_and(Channel::is_direct) {
            return in_direct;
        }
        data["guild_id"] = serde_json::json!(self.guild.id);
        in_guild
    }

    fn tell_of(&mut self, event: &'static str, message: &Message) {
        let data = self.message(message, View::Gateway);
        let is_direct = self.channels.get(&message.channel).is_some_and(Channel::is_direct);
        let intents = if is_direct { Intents::DIRECT_MESSAGES } else { Intents::GUILD_MESSAGES };
        let mut dispatch = Dispatch::new(event, audience(message), intents, data);
        if !is_direct {
            let author = match &message.author {
                Author::User(id) => Some(*id),
                Author::Webhook { application, .. } => *application,
            };
            dispatch.readers = Some(message.mentions.iter().copied().chain(author).collect());
        }
        self.dispatches.push(dispatch);
    }

    /// Somebody who posts in a thread joins it and unarchives it.
    fn wake_thread(&mut self, channel: Snowflake, author: &Author) {
        let Some(mut thread) = self.channels.get(&channel).filter(|c| c.thread.is_some()).cloned() else { return };
        let Some(state) = &mut thread.thread else { return };
        let was_archived = state.archived;
        state.archived = false;
        let joined = match author {
            Author::User(user) if !state.members.contains_key(user) => {
                state.members.insert(*user, now_ms());
                Some(*user)
            }
            _ => None,
        };
        if was_archived || joined.is_some() {
            self.put_thread(&thread, was_archived, joined.as_slice(), &[]);
        }
    }

    fn known_users(&self, ids: Vec<Snowflake>) -> Vec<Snowflake> {
        ids.into_iter().filter(|id| self.accounts.get(*id).is_some()).collect()
    }

    fn mention_replied(&self, message: &mut Message) {
        let replied = message.reference.and_then(|r| self.messages.get(r.channel, r.message?));
        if let Some(Author::User(author)) = replied.map(|replied| &replied.author)
            && !message.mentions.contains(author)
        {
            message.mentions.push(*author);
        }
    }

    /// Writes the files to the disk under generated names.
    pub(crate) fn store_files(&mut self, draft: &Draft) -> Result<Vec<Attachment>, ApiError> {
        let mut stored = Vec::new();
        for file in &draft.files {
            let id = self.next_id();
            let path = self.file_path(id);
            std::fs::write(&path, &file.upload.bytes).map_err(|error| {
                tracing::error!(%error, path = %path.display(), "an attachment could not be written");
                ApiError::new(500, 0, "500: Internal Server Error")
            })?;
            stored.push(Attachment {
                id,
                filename: file.upload.filename.clone(),
                description: file.description.clone(),
                size: file.upload.bytes.len(),
                content_type: content_type(&file.upload.filename, file.upload.content_type.as_deref()),
            });
        }
        Ok(stored)
    }

    /// The users pinged by a message: the mentioned ones, and with `@everyone` all who can see the channel.
    pub(crate) fn find_pings(&self, id: Snowflake) -> Option<Vec<Snowflake>> {
        let message = self.channels.keys().find_map(|channel| self.messages.get(*channel, id))?;
        if message.flags & flags::SUPPRESS_NOTIFICATIONS != 0 {
            return Some(Vec::new());
        }
        if !message.mention_everyone {
            return Some(message.mentions.clone());
        }
        let channel = self.channels.get(&message.channel)?;
        Some(self.accounts.members().map(|a| a.id).filter(|id| !message.is_by(*id) && self.can_view(*id, channel)).collect())
    }
}

fn audience(message: &Message) -> Audience {
    message.ephemeral_to.map_or(Audience::Channel(message.channel), Audience::User)
}

/// The client's content type, or the one for the file extension.
fn content_type(filename: &str, given: Option<&str>) -> String {
    let by_name = match filename.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("txt" | "log") => Some("text/plain; charset=utf-8"),
        Some("md") => Some("text/markdown; charset=utf-8"),
        Some("json") => Some("application/json; charset=utf-8"),
        Some("csv") => Some("text/csv; charset=utf-8"),
        Some("html" | "htm") => Some("text/html; charset=utf-8"),
        Some("png") => Some("image/png"),
        Some("jpg" | "jpeg") => Some("image/jpeg"),
        Some("gif") => Some("image/gif"),
        Some("webp") => Some("image/webp"),
        Some("svg") => Some("image/svg+xml"),
        Some("pdf") => Some("application/pdf"),
        Some("zip") => Some("application/zip"),
        Some("ogg" | "opus") => Some("audio/ogg"),
        Some("mp3") => Some("audio/mpeg"),
        Some("m4a") => Some("audio/mp4"),
        Some("wav") => Some("audio/wav"),
        Some("flac") => Some("audio/flac"),
        _ => None,
    };
    let given = given.filter(|given| *given != "application/octet-stream");
    by_name.or(given).unwrap_or("application/octet-stream").to_owned()
}
