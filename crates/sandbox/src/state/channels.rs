//! Channels: text channels of the guild, direct messages, and threads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MessageKind;
use crate::snowflake::{Snowflake, now_ms};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChannelKind {
    Text,
    Direct,
    PublicThread,
    PrivateThread,
}

impl ChannelKind {
    /// Discord's number for it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Direct => 1,
            Self::PublicThread => 11,
            Self::PrivateThread => 12,
        }
    }
}

/// Permissions of one role or member in one channel, in addition to those of the guild.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Overwrite {
    pub(crate) id: Snowflake,
    pub(crate) is_member: bool,
    pub(crate) allow: u64,
    pub(crate) deny: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ThreadState {
    pub(crate) owner: Snowflake,
    pub(crate) archived: bool,
    pub(crate) locked: bool,
    /// Minutes without a message until it is archived: 60, 1440, 4320 or 10080.
    pub(crate) auto_archive_minutes: u32,
    /// Unix milliseconds of the last change of `archived`.
    pub(crate) archive_ms: u64,
    /// Member and the Unix milliseconds of joining.
    pub(crate) members: BTreeMap<Snowflake, u64>,
    pub(crate) message_count: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Channel {
    pub(crate) id: Snowflake,
    pub(crate) kind: ChannelKind,
    pub(crate) name: String,
    pub(crate) topic: Option<String>,
    pub(crate) position: usize,
    /// The parent channel of a thread.
    pub(crate) parent: Option<Snowflake>,
    /// Both sides of a direct channel.
    pub(crate) recipients: Vec<Snowflake>,
    pub(crate) overwrites: Vec<Overwrite>,
    pub(crate) thread: Option<ThreadState>,
    /// Seconds between two messages of one person. Not enforced.
    pub(crate) slowmode_seconds: u32,
    pub(crate) last_message: Option<Snowflake>,
    /// Unix milliseconds of the last pin.
    pub(crate) last_pin_ms: Option<u64>,
}

impl Channel {
    fn new(id: Snowflake, kind: ChannelKind, name: &str) -> Self {
        Self {
            id,
            kind,
            name: name.to_owned(),
            topic: None,
            position: 0,
            parent: None,
            recipients: Vec::new(),
            overwrites: Vec::new(),
            thread: None,
            slowmode_seconds: 0,
            last_message: None,
            last_pin_ms: None,
        }
    }

    pub(crate) fn text(id: Snowflake, name: &str, position: usize) -> Self {
        Self { position, ..Self::new(id, ChannelKind::Text, name) }
    }

    pub(crate) fn direct(id: Snowflake, recipients: [Snowflake; 2]) -> Self {
        Self { recipients: recipients.to_vec(), ..Self::new(id, ChannelKind::Direct, "") }
    }

    pub(crate) fn thread(id: Snowflake, kind: ChannelKind, name: &str, parent: Snowflake, owner: Snowflake) -> Self {
        let state = ThreadState {
            owner,
            archived: false,
            locked: false,
            auto_archive_minutes: 1440,
            archive_ms: now_ms(),
            members: BTreeMap::from([(owner, now_ms())]),
            message_count: 0,
        };
        Self { parent: Some(parent), thread: Some(state), ..Self::new(id, kind, name) }
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.kind == ChannelKind::Direct
    }

    pub(crate) fn count_message(&mut self, id: Snowflake, kind: MessageKind) {
        self.last_message = self.last_message.max(Some(id));
        if let Some(thread) = self.thread.as_mut().filter(|_| kind != MessageKind::ThreadStarter) {
            thread.message_count += 1;
        }
    }

    /// Discord counts existing messages without the one that started the thread.
    pub(crate) fn uncount_message(&mut self, kind: MessageKind) {
        if let Some(thread) = self.thread.as_mut().filter(|_| kind != MessageKind::ThreadStarter) {
            thread.message_count = thread.message_count.saturating_sub(1);
        }
    }
}
