//! The manifest of the app: what is pasted at <https://api.slack.com/apps> to make it.

use kernel::commands::{Registry, Shortcut};
use serde_json::{Value, json};

use crate::adapters::slack::commands::{COMMAND, ON_MESSAGE};

const DESCRIPTION: &str = "A team of personas that talk, work and report";

/// What the app may do.
pub(super) const SCOPES: [&str; 17] = [
    "channels:history",
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
    "users:read",
];

/// What an agent may do besides. Only an app that is declared one can have it.
pub(super) const AGENT_SCOPE: &str = "assistant:write";

/// A person pressed stop while an agent worked.
pub(super) const STOPPED: &str = "agent_session_stopped";

/// What Slack reports to it.
const EVENTS: [&str; 22] = [
    "app_home_opened",
    "channel_archive",
    "channel_deleted",
    "channel_left",
    "channel_rename",
    "channel_shared",
    "channel_unarchive",
    "channel_unshared",
    "group_archive",
    "group_deleted",
    "group_left",
    "group_rename",
    "group_unarchive",
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

/// What Slack takes an app for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppKind {
    Plain,
    /// It has a pane of its own, and a button to stop it while it works. Not in all of Slack's plans.
    Agent,
}

/// The manifest of an app called `name`, with what `registry` offers in menus.
pub fn manifest(name: &str, kind: AppKind, registry: &Registry) -> Value {
    let offer = |(path, shortcut): (String, Shortcut)| {
        let described = registry.find(&path).map_or("", |command| command.description);
        [("message", format!("{ON_MESSAGE}{path}")), ("global", path)]
            .map(|(kind, id)| json!({ "name": shortcut.label, "type": kind, "callback_id": id, "description": described }))
    };
    let shortcuts: Vec<Value> = registry.list_shortcuts().into_iter().flat_map(offer).collect();
    let mut manifest = json!({
        "display_information": { "name": name, "description": DESCRIPTION, "background_color": "#2c2d30" },
        "features": {
            "app_home": { "home_tab_enabled": true, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false },
            "bot_user": { "display_name": name, "always_online": true },
            "slash_commands": [{
                "command": COMMAND, "description": "Ask the team for something", "usage_hint": "status | backlog list | standup start | help",
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
    });
    if kind == AppKind::Agent {
        manifest["features"]["agent_view"] = json!({ "agent_description": DESCRIPTION });
        manifest["oauth_config"]["scopes"]["bot"] = with(&SCOPES, AGENT_SCOPE);
        manifest["settings"]["event_subscriptions"]["bot_events"] = with(&EVENTS, STOPPED);
    }
    manifest
}

fn with(names: &[&'static str], another: &'static str) -> Value {
    let mut names: Vec<&str> = names.iter().copied().chain([another]).collect();
    names.sort_unstable();
    json!(names)
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
        let agent = manifest("Teamroom", AppKind::Agent, &registry);
        let manifest = manifest("Teamroom", AppKind::Plain, &registry);
        let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap();
        assert!(text("/display_information/description").len() <= 140);
        assert!(SCOPES.is_sorted() && EVENTS.is_sorted());
        let (scopes, features) = (&agent["oauth_config"]["scopes"]["bot"], &agent["features"]);
        assert!(scopes.as_array().is_some_and(|scopes| scopes.contains(&json!(AGENT_SCOPE)) && scopes.len() == SCOPES.len() + 1));
        assert!(features["agent_view"]["agent_description"].is_string() && manifest["features"]["agent_view"].is_null());
        assert_eq!(text("/features/slash_commands/0/command"), "/team");
        assert_eq!((text("/features/shortcuts/0/callback_id"), text("/features/shortcuts/0/type")), ("message backlog add", "message"));
        assert_eq!((text("/features/shortcuts/1/callback_id"), text("/features/shortcuts/1/type")), ("backlog add", "global"));
    }
}
