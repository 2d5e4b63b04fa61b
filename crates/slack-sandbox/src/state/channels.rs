//! Conversations: public and private channels, direct messages and group messages.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ids::Ts;
use super::messages::{Author, Message};
use super::{Audience, Change, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum ChannelKind {
    Public,
    Private,
    /// Two users.
    Direct,
    /// Three to nine users.
    Group,
}

impl ChannelKind {
    /// Parses a kind as `types` of `conversations.list` names it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "public_channel" => Self::Public,
            "private_channel" => Self::Private,
            "im" => Self::Direct,
            "mpim" => Self::Group,
            _ => return None,
        })
    }

    /// The name of this kind in `channel_type` of an event.
    pub(crate) fn in_events(self) -> &'static str {
        match self {
            Self::Public => "channel",
            Self::Private => "group",
            Self::Direct => "im",
            Self::Group => "mpim",
        }
    }

    pub(crate) fn read_scope(self) -> &'static str {
        match self {
            Self::Public => "channels:read",
            Self::Private => "groups:read",
            Self::Direct => "im:read",
            Self::Group => "mpim:read",
        }
    }

    pub(crate) fn history_scope(self) -> &'static str {
        match self {
            Self::Public => "channels:history",
            Self::Private => "groups:history",
            Self::Direct => "im:history",
            Self::Group => "mpim:history",
        }
    }

    pub(crate) fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::Group)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Channel {
    pub(crate) id: String,
    pub(crate) kind: ChannelKind,
    pub(crate) name: String,
    pub(crate) creator: String,
    pub(crate) created: u64,
    pub(crate) archived: bool,
    pub(crate) shared: bool,
    pub(crate) members: BTreeSet<String>,
    /// Not part of the channel's record: each message has its own record.
    #[serde(skip)]
    pub(crate) messages: BTreeMap<Ts, Message>,
}

impl Channel {
    pub(crate) fn has(&self, user: &str) -> bool {
        self.members.contains(user)
    }

    /// Public channels are visible to everybody, all others to their members.
    pub(crate) fn is_visible_to(&self, user: &str) -> bool {
        self.kind == ChannelKind::Public || self.has(user)
    }
}

impl World {
    pub(crate) fn add_channel(&mut self, kind: ChannelKind, name: &str, creator: &str, shared: bool) -> String {
        let id = self.ids.next(if kind == ChannelKind::Direct { "D" } else { "C" });
        let channel = Channel {
            id: id.clone(),
            kind,
            name: name.to_owned(),
            creator: creator.to_owned(),
            created: self.now().as_secs(),
            archived: false,
            shared,
            members: BTreeSet::new(),
            messages: BTreeMap::new(),
        };
        let (created, context) = (channel.created, self.team.id.clone());
        self.channels.insert(id.clone(), channel);
        self.changes.push(Change::Channel(id.clone()));
        if kind == ChannelKind::Public {
            let about = json!({
                "id": id, "name": name, "created": created, "creator": creator, "is_channel": true, "is_shared": shared,
                "name_normalized": name, "context_team_id": context,
            });
            let body = json!({ "type": "channel_created", "channel": about });
            self.announce("channel_created", "channels:read", Audience::Workspace, body);
        }
        id
    }

    /// A channel by id, or a public one by name, with or without `#`.
    pub(crate) fn find_channel(&self, named: &str) -> Option<&Channel> {
        let by_name = || {
            let name = named.trim_start_matches('#');
            self.channels.values().find(|channel| !channel.kind.is_direct() && channel.name == name)
        };
        self.channels.get(named).or_else(by_name)
    }

    /// The direct or group conversation of exactly these users, opened if there is none.
    pub(crate) fn open_direct(&mut self, users: &BTreeSet<String>) -> (String, bool) {
        let known = self.channels.values().find(|channel| channel.kind.is_direct() && channel.members == *users);
        if let Some(known) = known {
            return (known.id.clone(), true);
        }
        let kind = if users.len() <= 2 { ChannelKind::Direct } else { ChannelKind::Group };
        let names: Vec<String> = users.iter().map(|user| self.user_name(user)).collect();
        let name = if kind == ChannelKind::Direct { String::new() } else { format!("mpdm-{}-1", names.join("--")) };
        let creator = users.first().cloned().unwrap_or_default();
        let id = self.add_channel(kind, &name, &creator, false);
        if let Some(channel) = self.channels.get_mut(&id) {
            channel.members.clone_from(users);
        }
        self.changes.push(Change::Channel(id.clone()));
        (id, false)
    }

    /// Adds a member, posts the message about it and sends the event. Returns false for somebody who is a member already.
    pub(crate) fn join(&mut self, channel: &str, user: &str, inviter: Option<&str>) -> bool {
        let Some(found) = self.channels.get_mut(channel) else { return false };
        if !found.members.insert(user.to_owned()) {
            return false;
        }
        let kind = found.kind;
        self.changes.push(Change::Channel(channel.to_owned()));
        let subtype = if kind == ChannelKind::Public { "channel_join" } else { "group_join" };
        let mut message = Message::new(Author::Person(user.to_owned()), format!("<@{user}> has joined the channel"));
        message.subtype = Some(subtype.into());
        message.inviter = inviter.map(str::to_owned);
        self.post(channel, message);
        let mut body = self.membership("member_joined_channel", channel, user);
        if let Some(inviter) = inviter {
            body["inviter"] = json!(inviter);
        }
        self.announce("member_joined_channel", kind.read_scope(), Audience::Channel(channel.to_owned()), body);
        true
    }

    pub(crate) fn leave(&mut self, channel: &str, user: &str) -> bool {
        let Some(found) = self.channels.get_mut(channel) else { return false };
        let scope = found.kind.read_scope();
        if !found.has(user) {
            return false;
        }
        let body = self.membership("member_left_channel", channel, user);
        // Somebody who leaves still gets the event.
        self.announce("member_left_channel", scope, Audience::Channel(channel.to_owned()), body);
        self.channels.entry(channel.to_owned()).and_modify(|channel| _ = channel.members.remove(user));
        self.changes.push(Change::Channel(channel.to_owned()));
        true
    }

    fn membership(&self, event: &str, channel: &str, user: &str) -> Value {
        let letter = self.channels.get(channel).map_or("C", |channel| if channel.kind == ChannelKind::Public { "C" } else { "G" });
        json!({ "type": event, "user": user, "channel": channel, "channel_type": letter, "team": self.team.id })
    }

    pub(crate) fn rename_channel(&mut self, channel: &str, name: &str) {
        let Some(found) = self.channels.get_mut(channel) else { return };
        name.clone_into(&mut found.name);
        let about = json!({ "id": channel, "name": name, "created": found.created });
        self.changes.push(Change::Channel(channel.to_owned()));
        let body = json!({ "type": "channel_rename", "channel": about });
        self.announce("channel_rename", "channels:read", Audience::Workspace, body);
    }

    pub(crate) fn share_channel(&mut self, channel: &str, on: bool) {
        let Some(found) = self.channels.get_mut(channel) else { return };
        found.shared = on;
        self.changes.push(Change::Channel(channel.to_owned()));
        let event = if on { "channel_shared" } else { "channel_unshared" };
        let body = json!({ "type": event, "channel": channel, "connected_team_id": super::OTHER_TEAM });
        self.announce(event, "channels:read", Audience::Channel(channel.to_owned()), body);
    }

    pub(crate) fn archive(&mut self, channel: &str, user: &str, on: bool) {
        let Some(found) = self.channels.get_mut(channel) else { return };
        found.archived = on;
        self.changes.push(Change::Channel(channel.to_owned()));
        let event = if on { "channel_archive" } else { "channel_unarchive" };
        let body = json!({ "type": event, "channel": channel, "user": user });
        self.announce(event, "channels:read", Audience::Channel(channel.to_owned()), body);
    }

    /// A conversation as `conversations.info` shows it to a user.
    pub(crate) fn conversation(&self, channel: &Channel, viewer: &str) -> Value {
        let is = |kind| channel.kind == kind;
        if is(ChannelKind::Direct) {
            let partner = channel.members.iter().find(|member| *member != viewer).map_or(viewer, String::as_str);
            return json!({
                "id": channel.id, "created": channel.created, "is_archived": channel.archived, "is_im": true,
                "is_org_shared": false, "user": partner, "is_user_deleted": false, "priority": 0, "is_open": true,
                "context_team_id": self.team.id, "updated": channel.created * 1_000,
            });
        }
        let text = json!({ "value": "", "creator": "", "last_set": 0 });
        let mut json = json!({
            "id": channel.id, "name": channel.name, "is_channel": !is(ChannelKind::Group), "is_group": false, "is_im": false,
            "is_mpim": is(ChannelKind::Group), "is_private": !is(ChannelKind::Public), "created": channel.created,
            "is_archived": channel.archived, "is_general": channel.name == "general", "unlinked": 0,
            "name_normalized": channel.name, "is_shared": channel.shared, "is_org_shared": false,
            "is_pending_ext_shared": false, "pending_shared": [], "pending_connected_team_ids": [], "parent_conversation": null,
            "context_team_id": self.team.id, "updated": channel.created * 1_000, "creator": channel.creator,
            "is_ext_shared": channel.shared, "shared_team_ids": [self.team.id], "is_member": channel.has(viewer),
            "topic": text, "purpose": text, "previous_names": [],
        });
        if channel.shared {
            json["shared_team_ids"] = json!([self.team.id, super::OTHER_TEAM]);
            json["conversation_host_id"] = json!(self.team.id);
        }
        json
    }
}
