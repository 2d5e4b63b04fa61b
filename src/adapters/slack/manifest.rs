//! The manifest of the app: what is pasted at <https://api.slack.com/apps> to make it.

use kernel::commands::{Registry, Shortcut};
use serde_json::{Value, json};

use crate::adapters::slack::commands::{COMMAND, ON_MESSAGE};

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
const EVENTS: [&str; 19] = [
    "app_home_opened",
    "channel_archive",
    "channel_deleted",
    "channel_left",
    "channel_rename",
    "channel_shared",
    "channel_unarchive",
    "channel_unshared",
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

/// The manifest of an app called `name`, with what `registry` offers in menus.
pub fn manifest(name: &str, registry: &Registry) -> Value {
    let offer = |(path, shortcut): (String, Shortcut)| {
        let described = registry.find(&path).map_or("", |command| command.description);
        [("message", format!("{ON_MESSAGE}{path}")), ("global", path)]
            .map(|(kind, id)| json!({ "name": shortcut.label, "type": kind, "callback_id": id, "description": described }))
    };
    let shortcuts: Vec<Value> = registry.list_shortcuts().into_iter().flat_map(offer).collect();
    json!({
        "display_information": { "name": name, "description": "A team of personas that talk, work and report", "background_color": "#2c2d30" },
        "features": {
            "app_home": { "home_tab_enabled": true, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false },
            "bot_user": { "display_name": name, "always_online": true },
            "slash_commands": [{
                "command": COMMAND, "description": "Ask the team for something", "usage_hint": "status | backlog list | standup run | help",
                "should_escape": true,
            }],
            "shortcuts": shortcuts,
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
    use kernel::commands::{CommandSpec, Services, permit_all};

    use super::*;

    #[test]
    fn the_manifest_keeps_to_slacks_limits() {
        let mut registry = Registry::new("slack", permit_all());
        let nothing = Services::new("").late::<()>();
        let add = CommandSpec::new("add", "Add an item.").offered_as("Add to the backlog", "what");
        registry.group(CommandSpec::new("backlog", "Items."), &nothing).command(add, |(), _| Box::pin(async { anyhow::bail!("not here") }));
        let manifest = manifest("Teamroom", &registry);
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap();
        assert!(text("/display_information/description").len() <= 140);
        assert!(SCOPES.is_sorted() && EVENTS.is_sorted());
        assert_eq!(text("/features/slash_commands/0/command"), "/team");
        assert_eq!((text("/features/shortcuts/0/callback_id"), text("/features/shortcuts/0/type")), ("message backlog add", "message"));
        assert_eq!((text("/features/shortcuts/1/callback_id"), text("/features/shortcuts/1/type")), ("backlog add", "global"));
    }
}
