//! Channels with typing, threads and webhooks.
//!
//! There are no categories, voice channels or forums.

pub(crate) mod threads;
pub(crate) mod webhooks;

use serde_json::{Value, json};

use crate::rest::errors::ApiError;
use crate::rest::form::{parse_required_text, parse_text};
use crate::rest::messages::writable_channel;
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::{Snowflake, now_ms};
use crate::state::{Audience, Channel, Intents, Overwrite, Permissions, Record};

const NAME: usize = 100;
const TOPIC: usize = 1_024;

pub(crate) fn get(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    let channel = call.channel(channel, &[])?;
    let caller = call.caller_id()?;
    ok(call.core.world.channel(&channel, caller))
}

pub(crate) fn create(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller()?;
    let is_owner = caller.id == call.core.world.accounts.owner();
    if !caller.is_bot() && !is_owner {
        return Err(ApiError::missing_permissions());
    }
    if call.body.json["type"].as_u64().unwrap_or(0) != 0 {
        return Err(ApiError::bad_choice("type", "(0,)"));
    }
    let name = parse_required_text(&call.body.json["name"], "name", NAME)?.to_lowercase().replace(char::is_whitespace, "-");
    let topic = parse_text(&call.body.json["topic"], "topic", TOPIC)?;
    let overwrites = parse_overwrites(&call.body.json["permission_overwrites"]);
    let world = call.world();
    let position = world.channels.values().filter(|channel| channel.parent.is_none() && !channel.is_direct()).count();
    let channel = Channel { topic, overwrites, ..Channel::text(world.next_id(), &name, position) };
    world.commit(Record::Channel(channel.clone()));
    let data = world.channel(&channel, Snowflake::MIN);
    call.dispatch("CHANNEL_CREATE", Audience::Channel(channel.id), Intents::GUILDS, data.clone());
    Ok(Reply::Json(201, data))
}

pub(crate) fn update(call: &mut RequestContext, id: Snowflake) -> ApiResult {
    let mut channel = call.channel(id, &[])?;
    if channel.thread.is_some() {
        return threads::update(call, channel);
    }
    let mut channel = {
        call.channel(id, &[Permissions::MANAGE_CHANNELS])?;
        if channel.is_direct() {
            return Err(ApiError::wrong_channel_type());
        }
        let body = &call.body.json;
        if !body["name"].is_null() {
            channel.name = parse_required_text(&body["name"], "name", NAME)?;
        }
        if body.get("topic").is_some() {
            channel.topic = parse_text(&body["topic"], "topic", TOPIC)?;
        }
        channel
    };
    let body = &call.body.json;
    if let Some(position) = body["position"].as_u64().and_then(|position| usize::try_from(position).ok()) {
        channel.position = position;
    }
    if let Some(seconds) = body["rate_limit_per_user"].as_u64().and_then(|seconds| u32::try_from(seconds).ok()) {
        channel.slowmode_seconds = seconds;
    }
    if body["permission_overwrites"].is_array() {
        channel.overwrites = parse_overwrites(&body["permission_overwrites"]);
    }
    let world = call.world();
    world.commit(Record::Channel(channel.clone()));
    let data = world.channel(&channel, Snowflake::MIN);
    call.dispatch("CHANNEL_UPDATE", Audience::Guild, Intents::GUILDS, data.clone());
    ok(data)
}

fn parse_overwrites(list: &Value) -> Vec<Overwrite> {
    let bits = |value: &Value| value.as_str().and_then(|text| text.parse().ok()).or(value.as_u64()).unwrap_or(0);
    let one = |overwrite: &Value| {
        let id = serde_json::from_value(overwrite["id"].clone()).ok()?;
        let is_member = overwrite["type"] == 1 || overwrite["type"] == "1" || overwrite["type"] == "member";
        Some(Overwrite { id, is_member, allow: bits(&overwrite["allow"]), deny: bits(&overwrite["deny"]) })
    };
    list.as_array().into_iter().flatten().filter_map(one).collect()
}

pub(crate) fn delete(call: &mut RequestContext, id: Snowflake) -> ApiResult {
    let channel = call.channel(id, &[])?;
    let caller = call.caller_id()?;
    let data = call.core.world.channel(&channel, caller);
    if channel.is_direct() {
        // Closing a direct channel only hides it for the caller.
        return ok(data);
    }
    if let Some(thread) = &channel.thread {
        if thread.owner != caller {
            call.channel(id, &[Permissions::MANAGE_THREADS])?;
        }
        call.world().delete_thread(&channel);
        return ok(data);
    }
    call.channel(id, &[Permissions::MANAGE_CHANNELS])?;
    call.world().commit(Record::ChannelGone(id));
    call.dispatch("CHANNEL_DELETE", Audience::Guild, Intents::GUILDS, data.clone());
    ok(data)
}

pub(crate) fn typing(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    let channel = writable_channel(call, channel)?;
    let caller = call.caller_id()?;
    let world = &call.core.world;
    let mut data = json!({ "channel_id": channel.id, "user_id": caller, "timestamp": now_ms() / 1000 });
    if !channel.is_direct() {
        data["member"] = world.member(caller);
    }
    let intents = world.place(channel.id, &mut data, Intents::GUILD_MESSAGE_TYPING, Intents::DIRECT_MESSAGE_TYPING);
    call.dispatch("TYPING_START", Audience::Channel(channel.id), intents, data);
    Ok(Reply::Empty)
}
