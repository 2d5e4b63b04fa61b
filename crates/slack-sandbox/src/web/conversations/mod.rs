//! `conversations.*` and `users.conversations`.

mod history;
mod membership;

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub(crate) use history::{history, thread};
pub(crate) use membership::{archive, create, invite, join, leave};

use super::paging::page;
use super::{ApiError, Call, Channel, ChannelKind, Outcome};

/// "Supply between 1 and 8 user IDs"
const USERS_IN_GROUP: usize = 8;

pub(crate) fn list(call: &mut Call) -> Outcome {
    let kinds = kinds(call)?;
    let user = call.app.user.clone();
    let skips_archived = call.arguments.flag("exclude_archived");
    // Of direct conversations only those of the bot are listed.
    let is_listed =
        |channel: &&Channel| kinds.contains(&channel.kind) && channel.is_visible_to(&user) && !(skips_archived && channel.archived);
    let all: Vec<Channel> = call.core.world.channels.values().filter(is_listed).cloned().collect();
    let page = page(&call.arguments, all, 100, 1_000)?;
    let channels: Vec<Value> = page
        .items
        .iter()
        .map(|channel| {
            let mut json = call.core.world.conversation(channel, &user);
            if !channel.kind.is_direct() {
                json["num_members"] = json!(channel.members.len());
            }
            json
        })
        .collect();
    Ok(json!({ "channels": channels, "response_metadata": page.metadata() }))
}

/// The conversations of the bot, or those that it shares with somebody.
pub(crate) fn of_user(call: &mut Call) -> Outcome {
    let kinds = kinds(call)?;
    let bot = call.app.user.clone();
    let user = call.arguments.find("user").unwrap_or_else(|| bot.clone());
    if !call.core.world.users.contains_key(&user) {
        return Err(ApiError::new("user_not_found"));
    }
    let skips_archived = call.arguments.flag("exclude_archived");
    let is_listed = |channel: &&Channel| {
        kinds.contains(&channel.kind) && channel.has(&user) && channel.is_visible_to(&bot) && !(skips_archived && channel.archived)
    };
    let all: Vec<Channel> = call.core.world.channels.values().filter(is_listed).cloned().collect();
    let page = page(&call.arguments, all, 100, 1_000)?;
    let channels: Vec<Value> = page
        .items
        .iter()
        .map(|channel| {
            let mut json = call.core.world.conversation(channel, &bot);
            json.as_object_mut().map(|fields| fields.remove("is_member"));
            json
        })
        .collect();
    Ok(json!({ "channels": channels, "response_metadata": page.metadata() }))
}

/// The requested kinds of conversations. Each kind needs its own scope.
fn kinds(call: &Call) -> Result<BTreeSet<ChannelKind>, ApiError> {
    let named = call.arguments.list("types");
    let kinds: Option<BTreeSet<ChannelKind>> = named.iter().map(|name| ChannelKind::parse(name)).collect();
    let mut kinds = kinds.ok_or_else(|| ApiError::new("invalid_types"))?;
    if kinds.is_empty() {
        kinds.insert(ChannelKind::Public);
    }
    for kind in &kinds {
        call.require_scope(kind.read_scope())?;
    }
    Ok(kinds)
}

pub(crate) fn info(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    call.require_scope(channel.kind.read_scope())?;
    let mut json = call.core.world.conversation(&channel, &call.app.user);
    if call.arguments.flag("include_num_members") {
        json["num_members"] = json!(channel.members.len());
    }
    if channel.has(&call.app.user) {
        json["last_read"] = json!("0000000000.000000");
    }
    Ok(json!({ "channel": json }))
}

pub(crate) fn members(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    call.require_scope(channel.kind.read_scope())?;
    let page = page(&call.arguments, channel.members.iter().cloned().collect(), 100, 1_000)?;
    Ok(json!({ "members": page.items, "response_metadata": page.metadata() }))
}

/// Opens a direct or group conversation, or returns the existing one.
pub(crate) fn open(call: &mut Call) -> Outcome {
    let bot = call.app.user.clone();
    let (id, already_open) = if call.arguments.has("channel") {
        let channel = call.channel("channel")?;
        if !channel.kind.is_direct() {
            return Err(ApiError::new("method_not_supported_for_channel_type"));
        }
        (channel.id, true)
    } else {
        let users: BTreeSet<String> = call.arguments.list("users").into_iter().collect();
        check_partners(call, &users)?;
        let mut members = users;
        members.insert(bot.clone());
        call.world().open_direct(&members)
    };
    let world = &call.core.world;
    let channel = world.channels.get(&id).ok_or_else(|| ApiError::new("channel_not_found"))?;
    let shown = if call.arguments.flag("return_im") { world.conversation(channel, &bot) } else { json!({ "id": id }) };
    Ok(if already_open { json!({ "channel": shown, "already_open": true, "no_op": true }) } else { json!({ "channel": shown }) })
}

fn check_partners(call: &Call, users: &BTreeSet<String>) -> Result<(), ApiError> {
    if users.is_empty() {
        return Err(ApiError::new("users_list_not_supplied"));
    }
    if users.len() > USERS_IN_GROUP {
        return Err(ApiError::new("too_many_users"));
    }
    for id in users {
        let user = call.core.world.users.get(id).ok_or_else(|| ApiError::new("user_not_found"))?;
        if user.deactivated {
            return Err(ApiError::new("user_disabled"));
        }
    }
    let is_bot = |id: &String| call.core.world.app_of_user(id).is_some();
    if users.len() == 1 && users.iter().all(is_bot) {
        return Err(ApiError::new("cannot_dm_bot"));
    }
    call.require_scope(if users.len() == 1 { "im:write" } else { "mpim:write" })
}
