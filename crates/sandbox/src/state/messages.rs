//! Messages, by channel and id.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::snowflake::{Snowflake, now_ms};

/// Bits of a message's `flags`.
pub(crate) mod flags {
    pub(crate) const SUPPRESS_EMBEDS: u64 = 1 << 2;
    pub(crate) const HAS_THREAD: u64 = 1 << 5;
    pub(crate) const EPHEMERAL: u64 = 1 << 6;
    pub(crate) const LOADING: u64 = 1 << 7;
    pub(crate) const SUPPRESS_NOTIFICATIONS: u64 = 1 << 12;
    pub(crate) const COMPONENTS_V2: u64 = 1 << 15;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MessageKind {
    #[default]
    Default,
    ChannelPinned,
    ThreadCreated,
    Reply,
    Command,
    ThreadStarter,
}

impl MessageKind {
    /// Discord's number for it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Default => 0,
            Self::ChannelPinned => 6,
            Self::ThreadCreated => 18,
            Self::Reply => 19,
            Self::Command => 20,
            Self::ThreadStarter => 21,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Author {
    User(Snowflake),
    Webhook { id: Snowflake, name: String, avatar: Option<String>, application: Option<Snowflake> },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Attachment {
    pub(crate) id: Snowflake,
    pub(crate) filename: String,
    pub(crate) description: Option<String>,
    /// Bytes.
    pub(crate) size: usize,
    pub(crate) content_type: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reaction {
    pub(crate) emoji: String,
    pub(crate) users: Vec<Snowflake>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Reference {
    pub(crate) channel: Snowflake,
    pub(crate) message: Option<Snowflake>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InteractionMetadata {
    pub(crate) id: Snowflake,
    pub(crate) kind: u8,
    pub(crate) user: Snowflake,
    pub(crate) command: Option<String>,
    /// The message whose component was used.
    pub(crate) used_on: Option<Snowflake>,
    /// For a submitted modal: the interaction that the modal was the response to.
    pub(crate) opened_by: Option<Box<InteractionMetadata>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) id: Snowflake,
    pub(crate) channel: Snowflake,
    pub(crate) author: Author,
    pub(crate) kind: MessageKind,
    pub(crate) content: String,
    /// Unix milliseconds of the last edit.
    pub(crate) edited_ms: Option<u64>,
    pub(crate) tts: bool,
    pub(crate) mention_everyone: bool,
    /// Users mentioned by the text or the reply, limited by `allowed_mentions`.
    pub(crate) mentions: Vec<Snowflake>,
    pub(crate) mention_roles: Vec<Snowflake>,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) embeds: Vec<Value>,
    pub(crate) components: Vec<Value>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) pinned: bool,
    pub(crate) flags: u64,
    pub(crate) reference: Option<Reference>,
    /// Only in the event file and in the answer to whoever posted it.
    pub(crate) nonce: Option<Value>,
    pub(crate) interaction: Option<InteractionMetadata>,
    /// The one person who sees it.
    pub(crate) ephemeral_to: Option<Snowflake>,
}

impl Message {
    pub(crate) fn new(id: Snowflake, channel: Snowflake, author: Author, kind: MessageKind) -> Self {
        Self {
            id,
            channel,
            author,
            kind,
            content: String::new(),
            edited_ms: None,
            tts: false,
            mention_everyone: false,
            mentions: Vec::new(),
            mention_roles: Vec::new(),
            attachments: Vec::new(),
            embeds: Vec::new(),
            components: Vec::new(),
            reactions: Vec::new(),
            pinned: false,
            flags: 0,
            reference: None,
            nonce: None,
            interaction: None,
            ephemeral_to: None,
        }
    }

    pub(crate) fn is_by(&self, user: Snowflake) -> bool {
        matches!(&self.author, Author::User(author) if *author == user)
    }

    /// Whether an application gets the interactions of this message. It does for messages of its own and of its webhooks.
    pub(crate) fn is_of(&self, application: Snowflake) -> bool {
        self.is_by(application) || matches!(&self.author, Author::Webhook { application: Some(maker), .. } if *maker == application)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Messages {
    by_channel: HashMap<Snowflake, BTreeMap<Snowflake, Message>>,
    /// The message of each attachment.
    by_attachment: HashMap<Snowflake, Snowflake>,
    nonces: Nonces,
}

impl Messages {
    /// Stores a message. Returns whether it is new.
    pub(crate) fn put(&mut self, message: Message) -> bool {
        self.by_attachment.extend(message.attachments.iter().map(|attachment| (attachment.id, message.id)));
        self.by_channel.entry(message.channel).or_default().insert(message.id, message).is_none()
    }

    pub(crate) fn get(&self, channel: Snowflake, id: Snowflake) -> Option<&Message> {
        self.by_channel.get(&channel)?.get(&id)
    }

    pub(crate) fn find_attachment(&self, channel: Snowflake, id: Snowflake) -> Option<&Attachment> {
        let message = self.get(channel, *self.by_attachment.get(&id)?)?;
        message.attachments.iter().find(|attachment| attachment.id == id)
    }

    pub(crate) fn remove(&mut self, channel: Snowflake, id: Snowflake) -> Option<Message> {
        let removed = self.by_channel.get_mut(&channel)?.remove(&id)?;
        self.forget_attachments(&removed);
        Some(removed)
    }

    pub(crate) fn remove_channel(&mut self, channel: Snowflake) -> Vec<Message> {
        let removed: Vec<Message> = self.by_channel.remove(&channel).into_iter().flat_map(BTreeMap::into_values).collect();
        for message in &removed {
            self.forget_attachments(message);
        }
        removed
    }

    fn forget_attachments(&mut self, message: &Message) {
        for attachment in &message.attachments {
            self.by_attachment.remove(&attachment.id);
        }
    }

    /// The messages of a channel, oldest first.
    pub(crate) fn in_channel(&self, channel: Snowflake) -> impl DoubleEndedIterator<Item = &Message> {
        self.range(channel, Snowflake::MIN, Snowflake::MAX)
    }

    /// The messages between `after` and `before` (both exclusive), oldest first.
    pub(crate) fn range(&self, channel: Snowflake, after: Snowflake, before: Snowflake) -> impl DoubleEndedIterator<Item = &Message> {
        use std::ops::Bound::Excluded;
        // An empty range would panic in the map.
        let range = (after < before).then_some((Excluded(after), Excluded(before)));
        self.by_channel.get(&channel).zip(range).into_iter().flat_map(|(all, range)| all.range(range)).map(|(_, message)| message)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Message> {
        self.by_channel.values().flat_map(BTreeMap::values)
    }

    /// The message that this author posted in this channel with this nonce within the window.
    pub(crate) fn find_by_nonce(&mut self, author: Snowflake, channel: Snowflake, nonce: &str, window: Duration) -> Option<&Message> {
        let id = self.nonces.find(&(author, channel, nonce.to_owned()), window)?;
        self.get(channel, id)
    }

    /// Remembers the nonce of a message of an account, as of the time at which it was posted.
    pub(crate) fn remember_nonce(&mut self, author: Snowflake, channel: Snowflake, nonce: String, id: Snowflake) {
        let age = Duration::from_millis(now_ms().saturating_sub(id.created_ms()));
        if age <= NONCE_MEMORY {
            self.nonces.remember((author, channel, nonce), id, age);
        }
    }

    /// The nonces that are remembered, by message.
    pub(crate) fn list_nonces(&self) -> HashMap<Snowflake, &str> {
        self.nonces.seen.iter().map(|((_, _, nonce), (_, id))| (*id, nonce.as_str())).collect()
    }
}

/// A nonce may be a number too.
pub(crate) fn nonce_text(nonce: &Value) -> String {
    nonce.as_str().map_or_else(|| nonce.to_string(), str::to_owned)
}

type NonceKey = (Snowflake, Snowflake, String);

/// Nonces of the past few minutes.
#[derive(Debug, Default)]
struct Nonces {
    seen: HashMap<NonceKey, (Instant, Snowflake)>,
    by_age: VecDeque<(Instant, NonceKey)>,
}

/// Longer than every window in use. Older nonces are dropped to limit memory.
const NONCE_MEMORY: Duration = Duration::from_mins(10);

impl Nonces {
    fn find(&mut self, key: &NonceKey, window: Duration) -> Option<Snowflake> {
        while self.by_age.front().is_some_and(|(at, _)| at.elapsed() > NONCE_MEMORY) {
            if let Some((at, old)) = self.by_age.pop_front()
                && self.seen.get(&old).is_some_and(|(latest, _)| *latest == at)
            {
                self.seen.remove(&old);
            }
        }
        self.seen.get(key).filter(|(at, _)| at.elapsed() < window).map(|(_, id)| *id)
    }

    fn remember(&mut self, key: NonceKey, id: Snowflake, age: Duration) {
        let now = Instant::now();
        let at = now.checked_sub(age).unwrap_or(now);
        self.seen.insert(key.clone(), (at, id));
        self.by_age.push_back((at, key));
    }
}
