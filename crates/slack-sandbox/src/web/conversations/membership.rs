//! Joining, leaving, inviting, creating and archiving.

use serde_json::{Value, json};

use super::{ApiError, Call, Channel, ChannelKind, Outcome};

const NAME_LIMIT: usize = 80;

pub(crate) fn join(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    if channel.kind != ChannelKind::Public {
        return Err(ApiError::new("method_not_supported_for_channel_type"));
    }
    if channel.archived {
        return Err(ApiError::new("is_archived"));
    }
    let user = call.app.user.clone();
    let is_new = call.world().join(&channel.id, &user, None);
    if !is_new {
        call.warnings.push("already_in_channel");
    }
    Ok(json!({ "channel": shown(call, &channel.id) }))
}

pub(crate) fn leave(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    require_write(call, &channel)?;
    if channel.kind.is_direct() {
        return Err(ApiError::new("method_not_supported_for_channel_type"));
    }
    if channel.name == "general" {
        return Err(ApiError::new("cant_leave_general"));
    }
    let user = call.app.user.clone();
    let has_left = call.world().leave(&channel.id, &user);
    Ok(if has_left { json!({}) } else { json!({ "not_in_channel": true }) })
}

pub(crate) fn create(call: &mut Call) -> Outcome {
    let name = call.arguments.find("name").ok_or_else(|| ApiError::new("invalid_name_required"))?;
    let is_private = call.arguments.flag("is_private");
    call.require_scope(if is_private { "groups:write" } else { "channels:manage" })?;
    if name.chars().count() > NAME_LIMIT {
        return Err(ApiError::new("invalid_name_maxlength"));
    }
    let is_allowed = |c: char| (c.is_alphanumeric() && !c.is_uppercase()) || "-_".contains(c);
    if !name.chars().all(is_allowed) {
        return Err(ApiError::new("invalid_name_specials"));
    }
    if call.core.world.find_channel(&name).is_some() {
        return Err(ApiError::new("name_taken"));
    }
    let user = call.app.user.clone();
    let kind = if is_private { ChannelKind::Private } else { ChannelKind::Public };
    let id = call.world().add_channel(kind, &name, &user, false);
    call.world().join(&id, &user, None);
    Ok(json!({ "channel": shown(call, &id) }))
}

pub(crate) fn invite(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    require_write(call, &channel)?;
    let users = call.arguments.list("users");
    let bot = call.app.user.clone();
    let problem = |user: &String| -> Option<&'static str> {
        if *user == bot {
            Some("cant_invite_self")
        } else if !call.core.world.users.contains_key(user) {
            Some("user_not_found")
        } else if channel.has(user) {
            Some("already_in_channel")
        } else {
            None
        }
    };
    if users.is_empty() {
        return Err(ApiError::new("no_user"));
    }
    if channel.archived {
        return Err(ApiError::new("is_archived"));
    }
    if !channel.has(&bot) {
        return Err(ApiError::new("not_in_channel"));
    }
    let problems: Vec<(String, &str)> = users.iter().filter_map(|user| Some((user.clone(), problem(user)?))).collect();
    if let Some((_, first)) = problems.first() {
        let errors: Vec<Value> = problems.iter().map(|(user, error)| json!({ "user": user, "ok": false, "error": error })).collect();
        return Err(ApiError::new(first).with("errors", json!(errors)));
    }
    for user in users {
        call.world().join(&channel.id, &user, Some(&bot));
    }
    Ok(json!({ "channel": shown(call, &channel.id) }))
}

pub(crate) fn archive(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    require_write(call, &channel)?;
    if channel.kind.is_direct() {
        return Err(ApiError::new("method_not_supported_for_channel_type"));
    }
    if channel.name == "general" {
        return Err(ApiError::new("cant_archive_general"));
    }
    if channel.archived {
        return Err(ApiError::new("already_archived"));
    }
    let user = call.app.user.clone();
    call.world().archive(&channel.id, &user, true);
    Ok(json!({}))
}

fn require_write(call: &Call, channel: &Channel) -> Result<(), ApiError> {
    call.require_scope(match channel.kind {
        ChannelKind::Public => "channels:manage",
        ChannelKind::Private => "groups:write",
        ChannelKind::Direct => "im:write",
        ChannelKind::Group => "mpim:write",
    })
}

fn shown(call: &Call, channel: &str) -> Value {
    let world = &call.core.world;
    world.channels.get(channel).map_or(Value::Null, |channel| world.conversation(channel, &call.app.user))
}
