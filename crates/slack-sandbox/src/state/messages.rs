//! Messages and threads.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::channels::{Channel, ChannelKind};
use super::ids::Ts;
use super::reactions::Reaction;
use super::{Audience, Change, World};

/// Older messages of a channel are dropped.
const KEPT: usize = 20_000;

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Author {
    Person(String),
    App { id: String, custom: Option<CustomIdentity> },
}

/// The name and picture of one message, by `chat:write.customize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CustomIdentity {
    pub(crate) username: Option<String>,
    pub(crate) icons: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Set by [`World::post`].
    pub(crate) ts: Ts,
    pub(crate) author: Author,
    pub(crate) subtype: Option<Cow<'static, str>>,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Value>,
    pub(crate) attachments: Vec<Value>,
    pub(crate) files: Vec<String>,
    pub(crate) thread: Option<Ts>,
    /// A reply that the channel shows too.
    pub(crate) broadcast: bool,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) edited: Option<(String, Ts)>,
    pub(crate) metadata: Option<Value>,
    pub(crate) inviter: Option<String>,
    /// The only user who sees it. It is in nobody's history.
    pub(crate) only_for: Option<String>,
    /// Whether Slack may show previews of its links. Apps have to ask for that.
    pub(crate) unfurls: bool,
    /// The time until which it can be streamed. `None` if it is not being streamed.
    pub(crate) streaming: Option<Duration>,
}

impl Message {
    pub(crate) fn new(author: Author, text: impl Into<String>) -> Self {
        Self {
            ts: Ts::default(),
            author,
            subtype: None,
            text: text.into(),
            blocks: Vec::new(),
            attachments: Vec::new(),
            files: Vec::new(),
            thread: None,
            broadcast: false,
            reactions: Vec::new(),
            edited: None,
            metadata: None,
            inviter: None,
            only_for: None,
            unfurls: true,
            streaming: None,
        }
    }

    pub(crate) fn is_by_app(&self, app: &str) -> bool {
        matches!(&self.author, Author::App { id, .. } if id == app)
    }

    /// Shown in the channel itself, not only in a thread.
    pub(crate) fn is_in_channel(&self) -> bool {
        self.only_for.is_none() && (self.thread.is_none_or(|thread| thread == self.ts) || self.broadcast)
    }

    /// A system message, such as that somebody joined. Nobody can reply to it.
    pub(crate) fn is_system(&self) -> bool {
        matches!(self.subtype.as_deref(), Some("channel_join" | "group_join" | "tombstone"))
    }
}

impl World {
    /// Stores a message and sends its events. An app gets those of its own messages too, as with the real Slack.
    pub(crate) fn post(&mut self, channel: &str, mut message: Message) -> Ts {
        message.ts = self.next_ts();
        let ts = message.ts;
        let author = self.author_user(&message.author);
        let (files, is_hidden) = (message.files.clone(), message.only_for.is_some());
        let Some(found) = self.channels.get_mut(channel) else { return ts };
        // A message becomes a parent with its first reply.
        if let Some(parent) = message.thread.filter(|_| !is_hidden).and_then(|thread| found.messages.get_mut(&thread)) {
            parent.thread = Some(parent.ts);
            self.changes.push(Change::message(channel, parent.ts));
        }
        found.messages.insert(ts, message);
        self.changes.push(Change::Message { channel: channel.to_owned(), ts, is_new: true });
        while found.messages.len() > KEPT {
            let Some((oldest, _)) = found.messages.pop_first() else { break };
            self.changes.push(Change::message(channel, oldest));
        }
        if is_hidden {
            return ts;
        }
        self.clear_status(channel, ts);
        for file in &files {
            self.files.entry(file.clone()).and_modify(|file| file.shares.push((channel.to_owned(), ts)));
            self.changes.push(Change::File(file.clone()));
        }
        let Some(found) = self.channels.get(channel) else { return ts };
        let Some(message) = found.messages.get(&ts) else { return ts };
        let mut body = self.message(found, message);
        body["channel"] = json!(channel);
        body["event_ts"] = json!(ts.to_string());
        body["channel_type"] = json!(found.kind.in_events());
        if !files.is_empty() {
            // Only the event has this subtype. The message in the history does not.
            body["subtype"] = json!("file_share");
        }
        let (kind, text, is_system) = (found.kind, message.text.clone(), message.is_system());
        self.announce_message(channel, kind, body.clone());
        // A system message may name a person, for example one who joined. That is not a mention.
        if !is_system {
            self.announce_mentions(channel, kind, &text, &body);
        }
        for file in files {
            let body = json!({
                "type": "file_shared", "file_id": file, "user_id": author, "file": { "id": file }, "channel_id": channel,
                "event_ts": ts.to_string(),
            });
            self.announce("file_shared", "files:read", Audience::Channel(channel.to_owned()), body);
        }
        ts
    }

    /// Clears the status that an app shows in a thread, because it has posted there.
    fn clear_status(&mut self, channel: &str, ts: Ts) {
        let Some(message) = self.find_message(channel, ts).filter(|message| matches!(message.author, Author::App { .. })) else { return };
        if let Some(thread) = message.thread {
            self.assistants.entry((channel.to_owned(), thread)).and_modify(|shown| shown["status"] = json!(""));
            self.changes.push(Change::Doing { channel: channel.to_owned(), thread });
        }
    }

    fn announce_message(&mut self, channel: &str, kind: ChannelKind, body: Value) {
        let event = match kind {
            ChannelKind::Public => "message.channels",
            ChannelKind::Private => "message.groups",
            ChannelKind::Direct => "message.im",
            ChannelKind::Group => "message.mpim",
        };
        self.announce(event, kind.history_scope(), Audience::Channel(channel.to_owned()), body);
    }

    /// Sends a second event to each mentioned app. In a direct conversation a mention has no event of its own.
    fn announce_mentions(&mut self, channel: &str, kind: ChannelKind, text: &str, body: &Value) {
        if kind == ChannelKind::Direct {
            return;
        }
        let mentioned: Vec<String> =
            self.apps.values().filter(|app| text.contains(&format!("<@{}", app.user))).map(|app| app.id.clone()).collect();
        for app in mentioned {
            let mut body = body.clone();
            body["type"] = json!("app_mention");
            if let Some(fields) = body.as_object_mut() {
                fields.remove("channel_type");
            }
            self.announce("app_mention", "app_mentions:read", Audience::App { app, channel: Some(channel.to_owned()) }, body);
        }
    }

    /// Changes a message. `by` is shown as its editor unless it is `None`.
    pub(crate) fn edit(&mut self, channel: &str, ts: Ts, by: Option<&str>, change: impl FnOnce(&mut Message)) {
        let Some(previous) = self.find_message(channel, ts).cloned() else { return };
        let at = self.next_ts();
        let Some(message) = self.channels.get_mut(channel).and_then(|found| found.messages.get_mut(&ts)) else { return };
        change(message);
        if let Some(by) = by {
            message.edited = Some((by.to_owned(), at));
        }
        self.changes.push(Change::message(channel, ts));
        let Some(found) = self.channels.get(channel) else { return };
        if previous.only_for.is_some() {
            return;
        }
        let changed = self.find_message(channel, ts).map(|message| self.message(found, message)).unwrap_or_default();
        let body = json!({
            "type": "message", "subtype": "message_changed", "message": changed, "previous_message": self.message(found, &previous),
            "channel": channel, "hidden": true, "ts": at.to_string(), "event_ts": at.to_string(),
            "channel_type": found.kind.in_events(),
        });
        let kind = found.kind;
        self.announce_message(channel, kind, body);
    }

    /// Deletes a message. A parent with replies stays as a tombstone.
    pub(crate) fn delete(&mut self, channel: &str, ts: Ts) {
        let Some(previous) = self.find_message(channel, ts).cloned() else { return };
        let has_replies = self.channels.get(channel).is_some_and(|found| !replies(found, ts).is_empty());
        if has_replies {
            self.edit(channel, ts, None, |message| {
                let mut tombstone = Message::new(Author::Person("USLACKBOT".to_owned()), "This message was deleted.");
                tombstone.subtype = Some("tombstone".into());
                (tombstone.ts, tombstone.thread) = (message.ts, message.thread);
                *message = tombstone;
            });
            return;
        }
        let at = self.next_ts();
        let Some(found) = self.channels.get(channel) else { return };
        let body = json!({
            "type": "message", "subtype": "message_deleted", "previous_message": self.message(found, &previous), "channel": channel,
            "hidden": true, "deleted_ts": ts.to_string(), "ts": at.to_string(), "event_ts": at.to_string(),
            "channel_type": found.kind.in_events(),
        });
        let kind = found.kind;
        self.channels.entry(channel.to_owned()).and_modify(|found| _ = found.messages.remove(&ts));
        self.changes.push(Change::message(channel, ts));
        // The parent counts one reply less.
        self.changes.extend(previous.thread.filter(|thread| *thread != ts).map(|thread| Change::message(channel, thread)));
        if previous.only_for.is_none() {
            self.announce_message(channel, kind, body);
        }
    }

    pub(crate) fn find_message(&self, channel: &str, ts: Ts) -> Option<&Message> {
        self.channels.get(channel)?.messages.get(&ts)
    }

    pub(super) fn author_user(&self, author: &Author) -> String {
        match author {
            Author::Person(user) => user.clone(),
            Author::App { id, .. } => self.apps.get(id).map(|app| app.user.clone()).unwrap_or_default(),
        }
    }
}

/// The replies of a thread, oldest first.
pub(crate) fn replies(channel: &Channel, thread: Ts) -> Vec<&Message> {
    let is_reply = |message: &&Message| message.thread == Some(thread) && message.ts != thread && message.only_for.is_none();
    channel.messages.range(thread..).map(|(_, message)| message).filter(is_reply).collect()
}
