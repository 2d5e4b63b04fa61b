//! The manifest of the app: what is pasted at <https://api.slack.com/apps> to make it.

use serde_json::{Value, json};

use crate::adapters::slack::commands::COMMAND;

/// What the app may do.
pub(super) const SCOPES: [&str; 21] = [
    "app_mentions:read",
    "channels:history",
    "channels:join",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "chat:write.public",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "reactions:read",
    "reactions:write",
    "team:read",
    "users:read",
];

/// What Slack reports to it.
const EVENTS: [&str; 17] = [
    "app_home_opened",
    "channel_archive",
    "channel_deleted",
    "channel_left",
    "channel_rename",
    "channel_unarchive",
    "group_left",
    "group_rename",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
    "reaction_removed",
    "user_change",
];

/// The manifest of an app called `name`.
pub fn manifest(name: &str) -> Value {
    json!({
        "display_information": { "name": name, "description": "A team of personas that talk, work and report", "background_color": "#2c2d30" },
        "features": {
            "app_home": { "home_tab_enabled": true, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false },
            "bot_user": { "display_name": name, "always_online": true },
            "slash_commands": [{
                "command": COMMAND, "description": "Ask the team for something", "usage_hint": "status | backlog list | standup run | help",
                "should_escape": true,
            }],
        },
        "oauth_config": { "scopes": { "bot": SCOPES } },
        "settings": {
            "event_subscriptions": { "bot_events": EVENTS },
            "interactivity": { "is_enabled": true },
            "org_deploy_enabled": false,
            "socket_mode_enabled": true,
            "token_rotation_enabled": false,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_keeps_to_slacks_limits() {
        let manifest = manifest("Teamroom");
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap();
        assert!(text("/display_information/description").len() <= 140);
        assert!(SCOPES.is_sorted() && EVENTS.is_sorted());
        assert_eq!(text("/features/slash_commands/0/command"), "/team");
    }
}
