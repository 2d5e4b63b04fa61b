//! Names of people and channels, from the gateway's events.

use std::collections::BTreeMap;

use serde_json::Value;

use super::render::{clean, list, text};

#[derive(Debug, Default)]
pub(super) struct Directory {
    pub me: String,
    pub guild: String,
    /// By id: the position of a channel, and the name as people write it (`@Kelly`, `#general`). Direct conversations have no sign.
    names: BTreeMap<String, (u64, String)>,
}

impl Directory {
    pub(super) fn apply(&mut self, event: &str, data: &Value) {
        match event {
            "READY" => text(&data["user"]["id"]).clone_into(&mut self.me),
            "GUILD_CREATE" => text(&data["id"]).clone_into(&mut self.guild),
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" | "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE" => {
                self.add(data);
            }
            "CHANNEL_DELETE" | "THREAD_DELETE" => drop(self.names.remove(text(&data["id"]))),
            _ => return,
        }
        for object in ["private_channels", "channels", "threads", "members"].iter().flat_map(|key| list(&data[key])) {
            self.add(object);
        }
    }

    /// Adds a member, a channel, a thread or a direct conversation.
    pub(super) fn add(&mut self, object: &Value) {
        let id = object["id"].as_str().unwrap_or(text(&object["user"]["id"]));
        let name = match object["type"].as_u64() {
            None => format!("@{}", object["nick"].as_str().unwrap_or(account_name(&object["user"]))),
            Some(0 | 5 | 10..=12) => format!("#{}", text(&object["name"])),
            Some(1) => format!("{} (direct)", self.user_name(&object["recipients"][0])),
            _ => return,
        };
        // Threads have no position and are listed last.
        self.names.insert(id.to_owned(), (object["position"].as_u64().unwrap_or(u64::MAX), clean(&name)));
    }

    /// The ids and names of channels and threads, in the server's order.
    pub(super) fn list_channels(&self) -> Vec<(&str, &str)> {
        let mut channels: Vec<_> = self.names.iter().filter(|(_, (_, name))| name.starts_with('#')).collect();
        channels.sort_by_key(|(_, (position, _))| *position);
        channels.into_iter().map(|(id, (_, name))| (id.as_str(), name.as_str())).collect()
    }

    /// The names of channels and people, with their sign.
    #[cfg(feature = "line-editor")]
    pub(super) fn list_names(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(|(_, name)| name.as_str()).filter(|name| name.starts_with(['#', '@']))
    }

    pub(super) fn find_name(&self, id: &str) -> Option<&str> {
        self.names.get(id).map(|(_, name)| name.as_str())
    }

    /// The name in the server, or the account's own name: the author of a webhook message is no member.
    pub(super) fn user_name(&self, user: &Value) -> String {
        self.find_name(text(&user["id"])).map_or_else(|| clean(account_name(user)), |name| name.trim_start_matches('@').to_owned())
    }

    /// The id of a channel (`#`) or person (`@`), by name with or without that sign, in any case.
    pub(super) fn find_id(&self, sign: char, name: &str) -> Option<&str> {
        let name = format!("{sign}{}", name.trim_start_matches(sign)).to_lowercase();
        self.names.iter().find(|(_, (_, known))| known.to_lowercase() == name).map(|(id, _)| id.as_str())
    }

    /// Replaces `@Kelly` and `#ops` by mentions. Unknown names stay as typed.
    pub(super) fn write_mentions(&self, typed: &str) -> String {
        let write = |word: &str| {
            let name = word.trim_end_matches(|c: char| c.is_whitespace() || (c.is_ascii_punctuation() && c != '-' && c != '_'));
            let sign = name.chars().next().filter(|sign| matches!(sign, '@' | '#'))?;
            Some(format!("<{sign}{}>{}", self.find_id(sign, name)?, &word[name.len()..]))
        };
        typed.split_inclusive(char::is_whitespace).map(|word| write(word).unwrap_or_else(|| word.to_owned())).collect()
    }

    /// Replaces `<@1>` and `<#1>` by names.
    pub(super) fn read_mentions(&self, written: &str) -> String {
        let (mut out, mut rest) = (String::new(), written);
        while let Some((before, after)) = rest.split_once('<') {
            let mention = after.split_once('>').and_then(|(inside, after)| Some((self.read_mention(inside)?, after)));
            let (shown, after) = mention.unwrap_or_else(|| ("<".to_owned(), after));
            out += before;
            out += &shown;
            rest = after;
        }
        out + rest
    }

    fn read_mention(&self, inside: &str) -> Option<String> {
        let id = inside.strip_prefix(['@', '#'])?.trim_start_matches(['!', '&']);
        id.parse::<u64>().ok()?;
        Some(self.find_name(id).map_or_else(|| format!("{}unknown", &inside[..1]), str::to_owned))
    }
}

fn account_name(user: &Value) -> &str {
    user["global_name"].as_str().or(user["username"].as_str()).unwrap_or("unknown")
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
                "channels": [{ "id": "20", "type": 0, "name": "ops", "position": 2 }, { "id": "21", "type": 0, "name": "general", "position": 1 }],
                "threads": [{ "id": "30", "type": 11, "name": "Costs" }],
                "members": [{ "user": { "id": "3", "username": "you", "global_name": "You" } }, { "user": { "id": "7", "username": "kelly" }, "nick": "Kelly" }],
            }),
        );
        directory.apply("CHANNEL_CREATE", &json!({ "id": "40", "type": 1, "recipients": [{ "id": "7" }] }));
        directory
    }

    #[test]
    fn channels_are_in_the_servers_order_and_found_by_name() {
        let directory = example();
        assert_eq!(directory.list_channels(), [("21", "#general"), ("20", "#ops"), ("30", "#Costs")]);
        assert_eq!(directory.find_id('#', "#General"), Some("21"));
        assert_eq!(directory.find_id('#', "costs"), Some("30"));
        assert_eq!(directory.find_id('@', "kelly"), Some("7"), "the person, not the conversation with them");
        assert_eq!(directory.find_id('#', "kelly"), None);
    }

    #[test]
    fn typed_names_become_mentions_and_spaces_stay() {
        let typed = "@Kelly,  see #ops. @nobody a@kelly @kelly-bot #1";
        assert_eq!(example().write_mentions(typed), "<@7>,  see <#20>. @nobody a@kelly @kelly-bot #1");
    }

    #[test]
    fn mentions_are_shown_by_name() {
        let directory = example();
        assert_eq!(directory.read_mentions("<@7> see <#21> and <@!9>"), "@Kelly see #general and @unknown");
        assert_eq!(directory.read_mentions("a < b, <nothing>, <t:x>, <#>"), "a < b, <nothing>, <t:x>, <#>");
    }
}
