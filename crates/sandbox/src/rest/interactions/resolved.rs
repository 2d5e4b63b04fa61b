//! The objects for the ids in an interaction.

use serde_json::{Map, Value, json};

use crate::rest::RequestContext;
use crate::rest::errors::ApiError;
use crate::rest::form::Resolved;
use crate::snowflake::Snowflake;
use crate::state::Permissions;

/// The objects for the ids in options or select menus.
pub(crate) fn resolve(call: &RequestContext, channel: Snowflake, wanted: &Resolved) -> Result<Map<String, Value>, ApiError> {
    let world = &call.core.world;
    let mut out: Map<String, Value> = Map::new();
    let mut put = |kind: &str, id: Snowflake, value: Value| out.entry(kind).or_insert_with(|| json!({}))[id.to_string()] = value;
    for id in &wanted.users {
        world.accounts.get(*id).ok_or_else(ApiError::unknown_user)?;
        put("users", *id, world.user(*id));
        let mut member = world.bare_member(*id);
        if let Some(fields) = member.as_object_mut() {
            fields.retain(|key, _| key != "deaf" && key != "mute");
        }
        member["permissions"] = json!(Permissions::everyone().bits().to_string());
        put("members", *id, member);
    }
    for id in &wanted.channels {
        let channel = call.channel(*id, &[])?;
        let mut about = json!({
            "id": channel.id, "type": channel.kind.code(), "name": channel.name, "permissions": Permissions::everyone().bits().to_string(),
        });
        if channel.thread.is_some() {
            let whole = world.channel(&channel, Snowflake::MIN);
            about["parent_id"] = whole["parent_id"].clone();
            about["thread_metadata"] = whole["thread_metadata"].clone();
        }
        put("channels", *id, about);
    }
    for id in &wanted.roles {
        let role = world.roles().into_iter().find(|role| role["id"] == json!(id));
        put("roles", *id, role.ok_or_else(|| ApiError::new(404, 10011, "Unknown Role"))?);
    }
    for id in &wanted.attachments {
        let attachment = world.find_attachment(channel, *id).ok_or_else(|| ApiError::new(404, 10080, "Unknown attachment"))?;
        let url = world.links.sign(channel, attachment);
        put(
            "attachments",
            *id,
            json!({
                "id": id, "filename": attachment.filename, "size": attachment.size, "url": url, "proxy_url": url,
                "content_type": attachment.content_type, "ephemeral": true,
            }),
        );
    }
    Ok(out)
}
