use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::RwLock;

use serenity::model::channel::{Channel as Found, ChannelType, GuildChannel, PermissionOverwriteType};
use serenity::model::guild::{Guild, Role};
use serenity::model::id::{ChannelId, GuildId, MessageId as SnowflakeMessage, RoleId, UserId};
use serenity::model::permissions::Permissions;

use crate::adapters::discord::ids::{PLATFORM, from_discord, to_discord};
use kernel::chat::message::{Channel, Place};
use kernel::ids::{MessageId, PersonaSlug, complete};

/// Names, parents and readers of channels, from gateway events. serenity's cache would also hold members and messages.
#[derive(Debug, Default)]
pub(crate) struct ChannelDirectory {
    known: RwLock<HashMap<ChannelId, Entry>>,
    /// Whether everybody on a server can see a channel that has no overwrite of its own.
    servers: RwLock<HashMap<GuildId, bool>>,
    owners: RwLock<BTreeMap<GuildId, UserId>>,
    /// The names of roles.
    roles: RwLock<HashMap<RoleId, String>>,
    /// The roles that may manage their server.
    managing: RwLock<HashSet<RoleId>>,
}

#[derive(Debug, Clone)]
enum Entry {
    Channel {
        name: String,
        newest: Option<SnowflakeMessage>,
        server: GuildId,
        category: Option<ChannelId>,
        /// Whether everybody can see it, if its own overwrite says so.
        seen_by_all: Option<bool>,
    },
    Thread {
        name: String,
        parent: ChannelId,
        /// For invited people only.
        private: bool,
        owner: Option<UserId>,
        newest: Option<SnowflakeMessage>,
    },
    /// A direct conversation with this persona.
    Direct { with: PersonaSlug },
    /// The lookup failed. Remembered, so that it is not repeated for each message.
    Unknown,
}

impl ChannelDirectory {
    pub(crate) fn record_server(&self, server: &Guild) {
        server.roles.values().for_each(|role| self.record_role(role));
        self.owners.write().expect("no code panics while it holds the owners").insert(server.id, server.owner_id);
        let mut known = self.write();
        for channel in server.channels.values().chain(&server.threads) {
            known.insert(channel.id, entry_of(channel));
        }
    }

    pub(crate) fn list_servers(&self) -> Vec<GuildId> {
        self.owners.read().expect("no code panics while it holds the owners").keys().copied().collect()
    }

    /// The owner of the team's oldest server.
    pub(crate) fn find_owner(&self) -> Option<kernel::ids::UserId> {
        self.owners.read().expect("no code panics while it holds the owners").values().next().map(from_discord)
    }

    /// Whether somebody with these roles may manage a server, because of one of them or as its owner.
    pub(crate) fn is_manager(&self, user: UserId, roles: &[RoleId]) -> bool {
        let owns = || self.owners.read().expect("no code panics while it holds the owners").values().any(|owner| *owner == user);
        let managing = self.managing.read().expect("no code panics while it holds the roles");
        roles.iter().any(|role| managing.contains(role)) || owns()
    }

    pub(crate) fn find_role(&self, id: RoleId) -> Option<String> {
        self.roles.read().expect("no code panics while it holds the roles").get(&id).cloned()
    }

    /// Notes a role's name, whether it may manage its server, and whether everybody on a server can see channels.
    pub(crate) fn record_role(&self, role: &Role) {
        self.roles.write().expect("no code panics while it holds the roles").insert(role.id, role.name.clone());
        let mut managing = self.managing.write().expect("no code panics while it holds the roles");
        if manages(role.permissions) {
            managing.insert(role.id);
        } else {
            managing.remove(&role.id);
        }
        drop(managing);
        if role.id.get() == role.guild_id.get() {
            let mut servers = self.servers.write().expect("no code panics while it holds the servers");
            servers.insert(role.guild_id, role.permissions.view_channel());
        }
    }

    /// Whether some people on the server cannot read a channel, or this is not known. A channel without an overwrite of its own follows its category,
    /// as in Discord's own clients.
    fn is_private(&self, known: &HashMap<ChannelId, Entry>, channel: ChannelId) -> bool {
        match known.get(&channel) {
            Some(Entry::Channel { server, category, seen_by_all, .. }) => {
                let servers = self.servers.read().expect("no code panics while it holds the servers");
                let of_category = || match known.get(category.as_ref()?) {
                    Some(Entry::Channel { seen_by_all, .. }) => *seen_by_all,
                    // A category that nobody of the team sees.
                    _ => Some(false),
                };
                !seen_by_all.or_else(of_category).or_else(|| servers.get(server).copied()).unwrap_or(false)
            }
            Some(Entry::Thread { private, parent, .. }) => *private || self.is_private(known, *parent),
            Some(Entry::Direct { .. } | Entry::Unknown) | None => true,
        }
    }

    pub(crate) fn record(&self, channel: &GuildChannel) {
        self.write().insert(channel.id, entry_of(channel));
    }

    pub(crate) fn record_direct(&self, channel: ChannelId, with: &PersonaSlug) {
        if !matches!(self.read().get(&channel), Some(Entry::Direct { .. })) {
            self.write().insert(channel, Entry::Direct { with: with.clone() });
        }
    }

    /// Stores what `reader` found out about a channel.
    pub(crate) fn record_found(&self, found: &Found, reader: &PersonaSlug) {
        match found {
            Found::Guild(channel) => self.record(channel),
            Found::Private(channel) => self.record_direct(channel.id, reader),
            _ => {}
        }
    }

    pub(crate) fn record_unknown(&self, channel: ChannelId) {
        self.write().insert(channel, Entry::Unknown);
    }

    pub(crate) fn forget(&self, channel: ChannelId) {
        self.write().remove(&channel);
    }

    /// Whether the channel needs no lookup. A failed lookup is not repeated.
    pub(crate) fn knows(&self, channel: ChannelId) -> bool {
        self.read().contains_key(&channel)
    }

    /// The persona of a direct conversation.
    pub(crate) fn find_direct(&self, channel: ChannelId) -> Option<PersonaSlug> {
        match self.read().get(&channel) {
            Some(Entry::Direct { with }) => Some(with.clone()),
            _ => None,
        }
    }

    /// The server of a channel or thread.
    pub(crate) fn find_server(&self, channel: ChannelId) -> Option<GuildId> {
        let known = self.read();
        let parent = if let Some(Entry::Thread { parent, .. }) = known.get(&channel) { *parent } else { channel };
        if let Some(Entry::Channel { server, .. }) = known.get(&parent) { Some(*server) } else { None }
    }

    /// The parent channel of a thread.
    pub(crate) fn find_parent(&self, channel: ChannelId) -> Option<ChannelId> {
        match self.read().get(&channel) {
            Some(Entry::Thread { parent, .. }) => Some(*parent),
            _ => None,
        }
    }

    /// Describes a channel. An unknown channel has no name.
    pub(crate) fn describe(&self, channel: ChannelId) -> Channel {
        let known = self.read();
        let (name, place) = match known.get(&channel) {
            Some(Entry::Channel { name, .. }) => (name.clone(), Place::Server),
            Some(Entry::Thread { name, parent, owner, .. }) => {
                let parent_name = match known.get(parent) {
                    Some(Entry::Channel { name, .. }) => name.clone(),
                    _ => String::new(),
                };
                let owner = owner.map(from_discord);
                // A thread has the id of the message on which it hangs.
                let starter = Some(from_discord(channel));
                (name.clone(), Place::Thread { parent: from_discord(parent), parent_name, owner, starter })
            }
            Some(Entry::Direct { .. }) => (String::new(), Place::Direct),
            Some(Entry::Unknown) | None => (String::new(), Place::Server),
        };
        Channel { id: from_discord(channel), name, place, private: self.is_private(&known, channel), shared: false }
    }

    /// Channels and threads of servers, each with its newest message at login. A channel without messages is read from the beginning, which
    /// has the channel's own id.
    pub(crate) fn list(&self) -> Vec<(Channel, MessageId)> {
        let places: Vec<_> = self
            .read()
            .iter()
            .filter_map(|(id, entry)| match entry {
                Entry::Channel { newest, .. } | Entry::Thread { newest, .. } => Some((*id, newest.map_or(id.get(), SnowflakeMessage::get))),
                _ => None,
            })
            .collect();
        places.into_iter().map(|(id, newest)| (self.describe(id), from_discord(newest))).collect()
    }

    /// The threads of a channel with a message after `after`, as they were at login.
    pub(crate) fn list_threads_after(&self, channel: ChannelId, after: SnowflakeMessage) -> Vec<Channel> {
        let has_news = |entry: &Entry| matches!(entry, Entry::Thread { parent, newest, .. } if *parent == channel && *newest > Some(after));
        let threads: Vec<_> = self.read().iter().filter(|(_, entry)| has_news(entry)).map(|(id, _)| *id).collect();
        threads.into_iter().map(|id| self.describe(id)).collect()
    }

    /// Finds a server channel by its name or its id, with or without its platform.
    pub(crate) fn find(&self, name: &str) -> Option<ChannelId> {
        let known = self.read();
        let by_name = |entry: &Entry| matches!(entry, Entry::Channel { name: known, .. } if known.eq_ignore_ascii_case(name));
        let id = to_discord(&complete(PLATFORM, name)).ok().map(ChannelId::from);
        id.filter(|id| known.contains_key(id)).or_else(|| known.iter().find(|(_, entry)| by_name(entry)).map(|(id, _)| *id))
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, HashMap<ChannelId, Entry>> {
        self.known.read().expect("no code panics while it holds the channels")
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<ChannelId, Entry>> {
        self.known.write().expect("no code panics while it holds the channels")
    }
}

/// Whether these permissions are those of somebody who manages a server.
pub(crate) fn manages(permissions: Permissions) -> bool {
    permissions.manage_guild() || permissions.administrator()
}

fn entry_of(channel: &GuildChannel) -> Entry {
    let name = channel.name.clone();
    match (channel.kind, channel.parent_id) {
        // The parent of an ordinary channel is its category, where nobody can post.
        (ChannelType::PublicThread | ChannelType::PrivateThread | ChannelType::NewsThread, Some(parent)) => {
            let private = channel.kind == ChannelType::PrivateThread;
            Entry::Thread { name, parent, private, owner: channel.owner_id, newest: channel.last_message_id }
        }
        (_, category) => {
            let (server, newest) = (channel.guild_id, channel.last_message_id);
            Entry::Channel { name, newest, server, category, seen_by_all: seen_by_all(channel) }
        }
    }
}

/// Whether the overwrite for everybody allows or denies seeing a channel.
fn seen_by_all(channel: &GuildChannel) -> Option<bool> {
    let of_everybody = channel
        .permission_overwrites
        .iter()
        .find(|overwrite| matches!(overwrite.kind, PermissionOverwriteType::Role(role) if role.get() == channel.guild_id.get()))?;
    if of_everybody.allow.view_channel() {
        return Some(true);
    }
    of_everybody.deny.view_channel().then_some(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn channel(value: serde_json::Value) -> GuildChannel {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_thread_is_known_with_its_parent_and_its_owner() {
        let channels = ChannelDirectory::default();
        channels.record(&channel(json!({"id": "10", "type": 0, "name": "general", "parent_id": "1"})));
        channels.record(&channel(json!({"id": "20", "type": 11, "name": "plan", "parent_id": "10", "owner_id": "5",
            "thread_metadata": {"archived": false, "auto_archive_duration": 60}})));
        assert_eq!(channels.describe(ChannelId::new(10)).place, Place::Server);
        let thread = channels.describe(ChannelId::new(20));
        assert_eq!(thread.name, "plan");
        assert_eq!(
            thread.place,
            Place::Thread {
                parent: "discord:10".into(),
                parent_name: "general".to_owned(),
                owner: Some("discord:5".into()),
                starter: Some("discord:20".into()),
            }
        );
        assert_eq!(channels.find_parent(ChannelId::new(20)), Some(ChannelId::new(10)));
        assert_eq!(channels.find_parent(ChannelId::new(10)), None);
    }

    #[test]
    fn a_channel_is_private_unless_everybody_is_known_to_see_it() {
        let channels = ChannelDirectory::default();
        let overwrite = |allow: u64, deny: u64| json!([{"id": "1", "type": 0, "allow": allow.to_string(), "deny": deny.to_string()}]);
        let of_a_role = json!([{"id": "9", "type": 0, "allow": "1024", "deny": "0"}]);
        for (id, kind, parent, overwrites) in [
            ("10", 0, None, json!([])),
            ("11", 0, None, overwrite(0, 1024)),
            ("12", 4, None, overwrite(0, 1024)),
            ("13", 0, Some("12"), json!([])),
            ("14", 0, Some("12"), overwrite(1024, 0)),
            ("15", 0, None, of_a_role),
            ("16", 0, Some("99"), json!([])),
            ("20", 11, Some("10"), json!([])),
            ("21", 12, Some("10"), json!([])),
            ("22", 11, Some("11"), json!([])),
        ] {
            let mut value =
                json!({"id": id, "type": kind, "guild_id": "1", "name": "x", "parent_id": parent, "permission_overwrites": overwrites});
            if kind > 4 {
                value["thread_metadata"] = json!({"archived": false, "auto_archive_duration": 60});
            }
            channels.record(&channel(value));
        }
        let private = || [10, 11, 13, 14, 15, 16, 20, 21, 22, 99].map(|id| channels.describe(ChannelId::new(id)).private);
        assert_eq!(private(), [true, true, true, false, true, true, true, true, true, true], "what everybody may do is not known yet");
        let everybody = |permissions: &str| {
            let role = json!({"id": "1", "guild_id": "1", "name": "@everyone", "color": 0, "colors": {"primary_color": 0}, "hoist": false, "managed": false,
                "mentionable": false, "permissions": permissions, "position": 0, "flags": 0});
            channels.record_role(&serde_json::from_value(role).unwrap());
        };
        everybody("1024");
        assert_eq!(private(), [false, true, true, false, false, true, false, true, true, true]);
        everybody("2048");
        assert_eq!(private(), [true, true, true, false, true, true, true, true, true, true]);
    }

    #[test]
    fn a_server_is_managed_by_roles_with_that_permission() {
        let channels = ChannelDirectory::default();
        let allow = |permissions: &str| {
            let role = json!({"id": "7", "guild_id": "1", "name": "Leads", "color": 0, "colors": {"primary_color": 0}, "hoist": false,
                "managed": false, "mentionable": false, "permissions": permissions, "position": 0, "flags": 0});
            channels.record_role(&serde_json::from_value(role).unwrap());
        };
        let is_manager = |roles: &[u64]| channels.is_manager(UserId::new(5), &roles.iter().map(|id| RoleId::new(*id)).collect::<Vec<_>>());
        allow("1024");
        assert!(!is_manager(&[7]), "it may only look");
        for permissions in ["8", "32"] {
            allow(permissions);
            assert!(is_manager(&[6, 7]) && !is_manager(&[6]) && !is_manager(&[]), "{permissions}");
        }
        allow("0");
        assert!(!is_manager(&[7]), "it is not allowed any more");
    }

    #[test]
    fn a_channel_is_found_by_its_name_and_by_its_id_with_or_without_its_platform() {
        let channels = ChannelDirectory::default();
        channels.record(&channel(json!({"id": "10", "type": 0, "name": "general"})));
        for name in ["general", "General", "10", "discord:10"] {
            assert_eq!(channels.find(name), Some(ChannelId::new(10)), "{name}");
        }
        for name in ["", "ops", "11", "slack:10", "discord:"] {
            assert_eq!(channels.find(name), None, "{name}");
        }
    }

    #[test]
    fn a_direct_conversation_belongs_to_the_persona_that_was_written_to_first() {
        let channels = ChannelDirectory::default();
        channels.record_direct(ChannelId::new(30), &"vince".into());
        channels.record_direct(ChannelId::new(30), &"kelly".into());
        assert_eq!(channels.find_direct(ChannelId::new(30)), Some("vince".into()));
        assert_eq!(channels.describe(ChannelId::new(30)).place, Place::Direct);
    }

    #[test]
    fn a_failed_lookup_is_remembered_until_the_channel_shows_up() {
        let channels = ChannelDirectory::default();
        assert!(!channels.knows(ChannelId::new(40)));
        channels.record_unknown(ChannelId::new(40));
        assert!(channels.knows(ChannelId::new(40)));
        channels.record(&channel(json!({"id": "40", "type": 0, "name": "late"})));
        assert_eq!(channels.describe(ChannelId::new(40)).name, "late");
    }
}
