//! Names of people and channels, from the gateway's events.

use std::collections::BTreeMap;

use chrono::{DateTime, Local};
use serde_json::Value;

#[derive(Debug, Default)]
pub(super) struct Directory {
    pub me: String,
    pub guild: String,
    people: BTreeMap<String, String>,
    channels: BTreeMap<String, Channel>,
}

#[derive(Debug)]
pub(super) struct Channel {
    pub name: String,
    kind: u64,
    position: u64,
}

impl Channel {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, 0 | 5)
    }

    pub(super) fn is_thread(&self) -> bool {
        matches!(self.kind, 10..=12)
    }

    pub(super) fn is_direct(&self) -> bool {
        self.kind == 1
    }
}

impl Directory {
    pub(super) fn apply(&mut self, kind: &str, data: &Value) {
        match kind {
            "READY" => self.me = id(&data["user"]),
            "GUILD_CREATE" => {
                self.guild = id(data);
                for channel in list(&data["channels"]).iter().chain(list(&data["threads"])) {
                    self.add_channel(channel);
                }
                for member in list(&data["members"]) {
                    self.add_member(member);
                }
            }
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => self.add_channel(data),
            "CHANNEL_DELETE" | "THREAD_DELETE" => drop(self.channels.remove(&id(data))),
            "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" => self.add_member(data),
            _ => {}
        }
    }

    pub(super) fn add_channel(&mut self, channel: &Value) {
        let recipients = || list(&channel["recipients"]).iter().map(|user| format!("@{}", self.user_name(user))).collect::<Vec<_>>();
        let name = channel["name"].as_str().map_or_else(|| recipients().join(", "), str::to_owned);
        let kind = channel["type"].as_u64().unwrap_or_default();
        let position = channel["position"].as_u64().unwrap_or_default();
        self.channels.insert(id(channel), Channel { name: clean(&name), kind, position });
    }

    fn add_member(&mut self, member: &Value) {
        let name = member["nick"].as_str().map_or_else(|| account_name(&member["user"]), clean);
        self.people.insert(id(&member["user"]), name);
    }

    /// Text channels in the server's order.
    pub(super) fn list_channels(&self) -> Vec<(&String, &Channel)> {
        let mut channels: Vec<_> = self.channels.iter().filter(|(_, channel)| channel.is_text()).collect();
        channels.sort_by_key(|(_, channel)| channel.position);
        channels
    }

    pub(super) fn list_threads(&self) -> Vec<&Channel> {
        self.channels.values().filter(|channel| channel.is_thread()).collect()
    }

    pub(super) fn find_channel(&self, id: &str) -> Option<&Channel> {
        self.channels.get(id)
    }

    /// The id of a channel or thread, by name with or without `#`, in any case.
    pub(super) fn find_channel_id(&self, name: &str) -> Option<&String> {
        let name = name.trim().trim_start_matches('#').to_lowercase();
        self.channels.iter().find(|(_, channel)| !channel.is_direct() && channel.name.to_lowercase() == name).map(|(id, _)| id)
    }

    /// The id of a person or bot, by name with or without `@`, in any case.
    pub(super) fn find_person_id(&self, name: &str) -> Option<&String> {
        let name = name.trim().trim_start_matches('@').to_lowercase();
        self.people.iter().find(|(_, known)| known.to_lowercase() == name).map(|(id, _)| id)
    }

    /// `#general`, a thread's name, or `@Kelly` for a direct conversation.
    pub(super) fn channel_name(&self, id: &str) -> String {
        match self.channels.get(id) {
            Some(channel) if channel.is_text() => format!("#{}", channel.name),
            Some(channel) => channel.name.clone(),
            None => "unknown channel".to_owned(),
        }
    }

    pub(super) fn person_name(&self, id: &str) -> &str {
        self.people.get(id).map_or("unknown", String::as_str)
    }

    /// The name in the server, or the account's own name. A webhook's messages have no member.
    pub(super) fn user_name(&self, user: &Value) -> String {
        self.people.get(&id(user)).cloned().unwrap_or_else(|| account_name(user))
    }

    /// Replaces `@Kelly` by a mention and `#ops` by a channel link. Unknown names stay as typed.
    pub(super) fn resolve_mentions(&self, text: &str) -> String {
        let resolve = |word: &str| {
            let name = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '-' && c != '_');
            let mention = match name.chars().next()? {
                '@' => format!("<@{}>", self.find_person_id(name)?),
                '#' => format!("<#{}>", self.find_channel_id(name)?),
                _ => return None,
            };
            Some(mention + &word[name.len()..])
        };
        let pieces = text.split_inclusive(char::is_whitespace);
        pieces
            .map(|piece| {
                let word = piece.trim_end();
                resolve(word).map_or_else(|| piece.to_owned(), |mention| mention + &piece[word.len()..])
            })
            .collect()
    }

    /// Replaces `<@1>`, `<#1>` and `<t:1:R>` by names and dates.
    pub(super) fn render_mentions(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('<') {
            out.push_str(before);
            let mention = after.split_once('>').and_then(|(inside, after)| Some((self.render_mention(inside)?, after)));
            (out, rest) = match mention {
                Some((name, after)) => (out + &name, after),
                None => (out + "<", after),
            };
        }
        out + rest
    }

    fn render_mention(&self, inside: &str) -> Option<String> {
        let is_id = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(user) = inside.strip_prefix('@') {
            let user = user.trim_start_matches('!');
            return is_id(user).then(|| format!("@{}", self.person_name(user)));
        }
        if let Some(channel) = inside.strip_prefix('#') {
            return is_id(channel).then(|| self.channel_name(channel));
        }
        let time = inside.strip_prefix("t:")?;
        let time = DateTime::from_timestamp(time.split(':').next()?.parse().ok()?, 0)?;
        Some(time.with_timezone(&Local).format("%a %-d %b, %H:%M").to_string())
    }
}

fn account_name(user: &Value) -> String {
    clean(user["global_name"].as_str().or(user["username"].as_str()).unwrap_or("unknown"))
}

pub(super) fn id(object: &Value) -> String {
    object["id"].as_str().unwrap_or_default().to_owned()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One line without control characters, and without the characters that reorder text.
/// They could move the cursor, change the window's title or hide what was written.
pub(super) fn clean(text: &str) -> String {
    let reorders = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c }).filter(|&c| !c.is_control() && !reorders(c)).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in super::super) fn example() -> Directory {
        let mut directory = Directory::default();
        directory.apply("READY", &json!({ "user": { "id": "3" } }));
        directory.apply(
            "GUILD_CREATE",
            &json!({
                "id": "10",
                "channels": [{ "id": "21", "type": 0, "name": "general", "position": 1 }, { "id": "20", "type": 0, "name": "ops", "position": 2 }],
                "threads": [{ "id": "30", "type": 11, "name": "Costs" }],
                "members": [{ "user": { "id": "3", "username": "you", "global_name": "You" } }, { "user": { "id": "7", "username": "kelly", "global_name": "Kelly" } }],
            }),
        );
        directory
    }

    #[test]
    fn channels_are_in_the_servers_order_and_found_by_name() {
        let directory = example();
        let names: Vec<_> = directory.list_channels().into_iter().map(|(id, _)| directory.channel_name(id)).collect();
        assert_eq!(names, ["#general", "#ops"]);
        assert_eq!(directory.find_channel_id("#General").map(String::as_str), Some("21"));
        assert_eq!(directory.find_channel_id("costs").map(String::as_str), Some("30"));
        assert!(directory.find_channel_id("nowhere").is_none());
    }

    #[test]
    fn typed_names_become_mentions_and_spaces_stay() {
        assert_eq!(example().resolve_mentions("@Kelly,  see #ops. @nobody a@kelly"), "<@7>,  see <#20>. @nobody a@kelly");
    }

    #[test]
    fn mentions_are_shown_by_name() {
        let directory = example();
        assert_eq!(directory.render_mentions("<@7> see <#21> and <@!8>"), "@Kelly see #general and @unknown");
        assert_eq!(directory.render_mentions("a < b, <nothing>, <t:x>"), "a < b, <nothing>, <t:x>");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\x07\u{9b}31m\u{202E}c\r\nd"), "a[2Jb31mc d");
    }
}
