//! The server as this person sees it: who and which channels there are, by name.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::model::{Channel, Member, Message, Role, User};

/// How a name is shown: the account's name and its role's colour as `0xRRGGBB`, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub text: String,
    pub color: Option<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Guild {
    pub id: String,
    pub me: User,
    channels: BTreeMap<String, Channel>,
    members: BTreeMap<String, Member>,
    roles: BTreeMap<String, Role>,
    statuses: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entered {
    id: String,
    channels: Vec<Channel>,
    threads: Vec<Channel>,
    members: Vec<Member>,
    roles: Vec<Role>,
    presences: Vec<Presence>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Presence {
    user: User,
    status: String,
}

impl Guild {
    /// Applies an event about the server itself; events about messages are none of its business.
    ///
    /// # Errors
    /// When the event does not have the shape the protocol gives it.
    pub(super) fn apply(&mut self, kind: &str, data: &Value) -> serde_json::Result<()> {
        match kind {
            "READY" => self.me = User::deserialize(&data["user"])?,
            "GUILD_CREATE" => self.enter(Entered::deserialize(data)?),
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => self.put_channel(Channel::deserialize(data)?),
            "CHANNEL_DELETE" | "THREAD_DELETE" => drop(self.channels.remove(data["id"].as_str().unwrap_or_default())),
            "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" => self.put_member(Member::deserialize(data)?),
            "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
                let role = Role::deserialize(&data["role"])?;
                self.roles.insert(role.id.clone(), role);
            }
            "PRESENCE_UPDATE" => self.put_presence(Presence::deserialize(data)?),
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, entered: Entered) {
        self.id = entered.id;
        self.channels.retain(|_, channel| channel.is_direct());
        self.roles = entered.roles.into_iter().map(|role| (role.id.clone(), role)).collect();
        entered.channels.into_iter().chain(entered.threads).for_each(|channel| self.put_channel(channel));
        entered.members.into_iter().for_each(|member| self.put_member(member));
        entered.presences.into_iter().for_each(|presence| self.put_presence(presence));
    }

    pub(super) fn put_channel(&mut self, channel: Channel) {
        self.channels.insert(channel.id.clone(), channel);
    }

    /// The server does not tell a thread's size again with each message.
    pub(super) fn count_message(&mut self, channel: &str) {
        if let Some(channel) = self.channels.get_mut(channel) {
            channel.message_count += 1;
        }
    }

    fn put_member(&mut self, member: Member) {
        self.members.insert(member.user.id.clone(), member);
    }

    fn put_presence(&mut self, presence: Presence) {
        self.statuses.insert(presence.user.id, presence.status);
    }

    pub(super) fn find_channel(&self, id: &str) -> Option<&Channel> {
        self.channels.get(id)
    }

    /// A channel or thread by its name, with or without the leading `#`, case ignored.
    pub(super) fn find_channel_named(&self, name: &str) -> Option<&Channel> {
        let name = name.trim().trim_start_matches('#').to_lowercase();
        let mut known = self.list_channels().into_iter().chain(self.channels.values().filter(|channel| channel.is_thread()));
        known.find(|channel| channel.name.as_deref().is_some_and(|known| known.to_lowercase() == name))
    }

    /// Text channels in the server's order.
    pub(super) fn list_channels(&self) -> Vec<&Channel> {
        let mut channels: Vec<_> = self.channels.values().filter(|channel| channel.is_text()).collect();
        channels.sort_by_key(|channel| (channel.position, channel.id.len(), channel.id.clone()));
        channels
    }

    pub(super) fn list_threads(&self, parent: &str) -> Vec<&Channel> {
        self.channels.values().filter(|channel| channel.is_thread() && channel.parent_id.as_deref() == Some(parent)).collect()
    }

    /// `#general`, a thread's name, or whom a direct conversation is with.
    pub(super) fn channel_name(&self, id: &str) -> String {
        let Some(channel) = self.channels.get(id) else { return "an unknown channel".to_owned() };
        match &channel.name {
            Some(name) if channel.is_text() => format!("#{name}"),
            Some(name) => name.clone(),
            None => channel.recipients.iter().map(|user| format!("@{}", self.name(user).text)).collect::<Vec<_>>().join(", "),
        }
    }

    /// Everybody but this person, personas first, each with its status.
    pub(super) fn list_people(&self) -> Vec<(Name, bool, &str)> {
        let mut people: Vec<_> =
            self.members.values().map(|member| (self.name(&member.user), member.user.bot, self.status(&member.user.id))).collect();
        people.sort_by_key(|(name, bot, _)| (!bot, name.text.to_lowercase()));
        people
    }

    fn status(&self, id: &str) -> &str {
        self.statuses.get(id).map_or("offline", String::as_str)
    }

    /// The account with this name, case ignored.
    pub(super) fn find_user_named(&self, name: &str) -> Option<&User> {
        let name = name.trim().trim_start_matches('@').to_lowercase();
        let mut users = self.members.values().map(|member| &member.user);
        users.find(|user| self.name(user).text.to_lowercase() == name || user.username.to_lowercase() == name)
    }

    pub(super) fn name(&self, user: &User) -> Name {
        let member = self.members.get(&user.id);
        let nick = member.and_then(|member| member.nick.clone());
        let known = member.map_or(user, |member| &member.user);
        let text = nick.or_else(|| known.global_name.clone()).unwrap_or_else(|| known.username.clone());
        Name { text, color: member.and_then(|member| self.color(member)) }
    }

    pub(super) fn name_by_id(&self, id: &str) -> Name {
        let unknown = || Name { text: "unknown".to_owned(), color: None };
        self.members.get(id).map_or_else(unknown, |member| self.name(&member.user))
    }

    /// The author's name; a persona that speaks through a webhook carries its own.
    pub(super) fn author(&self, message: &Message) -> Name {
        // Answers to commands carry a webhook id too, but are written by the account itself.
        if message.webhook_id.is_none() || self.members.contains_key(&message.author.id) {
            return self.name(&message.author);
        }
        let same = self.find_user_named(&message.author.username).map(|user| self.name(user));
        Name { text: message.author.username.clone(), color: same.and_then(|name| name.color) }
    }

    pub(super) fn role_name(&self, id: &str) -> Option<&str> {
        self.roles.get(id).map(|role| role.name.as_str())
    }

    pub(super) fn find_role_named(&self, name: &str) -> Option<&Role> {
        self.roles.values().find(|role| role.name.eq_ignore_ascii_case(name.trim_start_matches('@')))
    }

    /// The colour of the highest role that has one.
    fn color(&self, member: &Member) -> Option<u32> {
        let roles = member.roles.iter().filter_map(|id| self.roles.get(id));
        roles.filter(|role| role.color != 0).max_by_key(|role| role.position).map(|role| role.color)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// You, Kelly in blue with a role, two channels and a thread.
    pub(in super::super) fn example_guild() -> Guild {
        let mut guild = Guild::default();
        let ready = json!({ "user": { "id": "3", "username": "you", "global_name": "You" } });
        guild.apply("READY", &ready).expect("a READY");
        let entered = json!({
            "id": "10",
            "channels": [{ "id": "21", "type": 0, "name": "ops", "position": 1 }, { "id": "20", "type": 0, "name": "general", "position": 0 }],
            "threads": [{ "id": "30", "type": 11, "name": "Costs", "parent_id": "20" }],
            "roles": [{ "id": "10", "name": "@everyone" }, { "id": "90", "name": "Operators", "position": 1, "color": 0 }, { "id": "91", "name": "Kelly", "position": 2, "color": 0x003f_7cac }],
            "members": [{ "user": { "id": "3", "username": "you", "global_name": "You" }, "roles": [] },
                { "user": { "id": "7", "username": "kelly", "global_name": "Kelly", "bot": true }, "roles": ["90", "91"] }],
            "presences": [{ "user": { "id": "7" }, "status": "online" }],
        });
        guild.apply("GUILD_CREATE", &entered).expect("a GUILD_CREATE");
        guild
    }

    #[test]
    fn channels_stand_in_the_servers_order_and_are_found_by_name() {
        let guild = example_guild();
        let names: Vec<_> = guild.list_channels().iter().map(|channel| guild.channel_name(&channel.id)).collect();
        assert_eq!(names, ["#general", "#ops"]);
        assert_eq!(guild.find_channel_named("#General").map(|channel| channel.id.as_str()), Some("20"));
        assert_eq!(guild.find_channel_named("costs").map(|channel| channel.id.as_str()), Some("30"));
        assert!(guild.find_channel_named("nowhere").is_none());
    }

    #[test]
    fn a_persona_that_speaks_through_a_webhook_keeps_its_colour() {
        let guild = example_guild();
        let author = User { id: "555".to_owned(), username: "Kelly".to_owned(), ..User::default() };
        let message = Message { webhook_id: Some("555".to_owned()), author, ..Message::default() };
        assert_eq!(guild.author(&message), Name { text: "Kelly".to_owned(), color: Some(0x003f_7cac) });
    }

    #[test]
    fn personas_come_before_people() {
        let guild = example_guild();
        let people: Vec<_> = guild.list_people().into_iter().map(|(name, bot, status)| (name.text, bot, status)).collect();
        assert_eq!(people, [("Kelly".to_owned(), true, "online"), ("You".to_owned(), false, "offline")]);
    }
}
