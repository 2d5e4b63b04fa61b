//! Things that the sandbox's guild does not have, such as emojis of its own, bans and events.
//!
//! Clients ask for them at login and later. Discord answers such requests with an empty list, an unknown id, or a missing permission: bots of the
//! sandbox cannot moderate.

use axum::http::Method;
use serde_json::json;

use super::errors::ApiError;
use super::{ApiResult, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::Permissions;

/// Resources that only moderators may change.
const MODERATED: [&str; 14] = [
    "auto-moderation",
    "bans",
    "bulk-ban",
    "emojis",
    "integrations",
    "members",
    "onboarding",
    "prune",
    "roles",
    "scheduled-events",
    "soundboard-sounds",
    "stickers",
    "templates",
    "welcome-screen",
];

fn unknown(code: u32, what: &str) -> ApiError {
    ApiError::new(404, code, &format!("Unknown {what}"))
}

/// The routes of the guild that no other file handles.
pub(super) fn guild(call: &RequestContext, method: &Method, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", ["emojis" | "stickers" | "scheduled-events"]) => ok(json!([])),
        ("GET", ["regions"]) => voice_regions(),
        ("GET", ["soundboard-sounds"]) => ok(json!({ "items": [] })),
        ("GET", ["emojis", _]) => Err(unknown(10014, "Emoji")),
        ("GET", ["stickers", _]) => Err(unknown(10060, "sticker")),
        ("GET", ["scheduled-events", _, ..]) => Err(unknown(10070, "Guild Scheduled Event")),
        ("GET", ["soundboard-sounds", _]) => Err(unknown(10097, "sound")),
        ("GET", ["voice-states", _]) => Err(unknown(10065, "Voice State")),
        ("GET", ["welcome-screen"]) => Err(unknown(10069, "Guild Welcome Screen")),
        ("GET", ["onboarding"]) => ok(json!({
            "guild_id": call.core.world.guild.id, "prompts": [], "default_channel_ids": [], "enabled": false, "mode": 0,
        })),
        ("GET", _) => for_the_owner(call, path),
        ("PATCH" | "DELETE", []) => refuse_changes(call),
        (_, [what, ..]) if MODERATED.contains(what) => refuse_changes(call),
        _ => Err(ApiError::no_route()),
    }
}

/// Refuses a change. Everybody but the owner lacks the permission; for the owner there is no route.
fn refuse_changes(call: &RequestContext) -> ApiResult {
    Err(if is_owner(call)? { ApiError::no_route() } else { ApiError::missing_permissions() })
}

fn is_owner(call: &RequestContext) -> Result<bool, ApiError> {
    Ok(call.caller_id()? == call.core.world.accounts.owner())
}

/// Lists that only the owner may read.
fn for_the_owner(call: &RequestContext, path: &[&str]) -> ApiResult {
    let answer = match path {
        ["bans" | "integrations" | "invites" | "templates"] | ["auto-moderation", "rules"] => Ok(json!([])),
        ["audit-logs"] => Ok(json!({
            "audit_log_entries": [], "users": [], "integrations": [], "webhooks": [], "guild_scheduled_events": [],
            "threads": [], "application_commands": [], "auto_moderation_rules": [],
        })),
        ["widget"] => Ok(json!({ "enabled": false, "channel_id": null })),
        ["vanity-url"] => Ok(json!({ "code": null, "uses": 0 })),
        ["prune"] => Ok(json!({ "pruned": 0 })),
        ["bans", _] => Err(unknown(10026, "Ban")),
        _ => return Err(ApiError::no_route()),
    };
    if is_owner(call)? { answer.and_then(ok) } else { Err(ApiError::missing_permissions()) }
}

/// The routes of a channel that no other file handles.
pub(super) fn channel(call: &RequestContext, method: &Method, channel: Snowflake, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", ["invites"]) => {
            call.channel(channel, &[Permissions::MANAGE_CHANNELS])?;
            ok(json!([]))
        }
        // Nobody has the permissions to create invites or to manage roles.
        ("POST", ["invites"]) | ("PUT" | "DELETE", ["permissions", _]) => {
            call.channel(channel, &[])?;
            Err(ApiError::missing_permissions())
        }
        ("GET" | "POST", ["polls", ..]) => {
            call.channel(channel, &[])?;
            Err(ApiError::unknown_message())
        }
        _ => Err(ApiError::no_route()),
    }
}

/// The routes of an application, except for its commands.
pub(super) fn application(method: &Method, path: &[&str]) -> ApiResult {
    match (method.as_str(), path) {
        ("GET", ["entitlements" | "skus"] | ["role-connections", "metadata"]) => ok(json!([])),
        ("GET", ["entitlements", _]) => Err(unknown(10029, "entitlement")),
        _ => Err(ApiError::no_route()),
    }
}

/// Nobody has changed the permissions of a command, so there are none.
pub(super) fn command_permissions(one: bool) -> ApiResult {
    if one { Err(unknown(10066, "application command permissions")) } else { ok(json!([])) }
}

/// Routes of Discord as a whole, such as `/voice/regions`.
pub(super) fn elsewhere(call: &RequestContext, method: &Method, path: &[&str]) -> ApiResult {
    if method != Method::GET {
        return Err(ApiError::no_route());
    }
    let answer = match path {
        ["voice", "regions"] => voice_regions(),
        ["sticker-packs"] => ok(json!({ "sticker_packs": [] })),
        ["soundboard-default-sounds"] => ok(json!([])),
        ["stickers", _] => Err(unknown(10060, "sticker")),
        ["invites", _] => Err(unknown(10006, "Invite")),
        ["stage-instances", _] => Err(unknown(10067, "Stage Instance")),
        _ => return Err(ApiError::no_route()),
    };
    call.caller()?;
    answer
}

fn voice_regions() -> ApiResult {
    ok(json!([{ "id": "us-east", "name": "US East", "optimal": true, "deprecated": false, "custom": false }]))
}
