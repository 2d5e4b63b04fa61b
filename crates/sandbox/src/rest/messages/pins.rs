//! Pinned messages.

use serde_json::{Value, json};

use crate::rest::errors::ApiError;
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::{Snowflake, now_ms, timestamp};
use crate::state::{Audience, Intents, Message, MessageKind, Permissions, Record, Reference};

/// "Maximum number of pinned messages reached"
const LIMIT: usize = 250;

fn pinned<'a>(call: &'a RequestContext, channel: Snowflake) -> impl Iterator<Item = &'a Message> {
    call.core.world.messages.in_channel(channel).rev().filter(|message| message.pinned)
}

pub(crate) fn list(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    call.channel(channel, &[Permissions::READ_MESSAGE_HISTORY])?;
    let limit = call.limit(50, 50)?;
    // The time of pinning is not stored. The message's time gives a similar order.
    let item = |message: &Message| json!({ "message": call.render(message), "pinned_at": timestamp(message.id.created_ms()) });
    let items: Vec<Value> = pinned(call, channel).take(limit).map(item).collect();
    let has_more = pinned(call, channel).count() > limit;
    ok(json!({ "items": items, "has_more": has_more }))
}

pub(crate) fn list_plain(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    call.channel(channel, &[Permissions::READ_MESSAGE_HISTORY])?;
    ok(pinned(call, channel).take(50).map(|message| call.render(message)).collect())
}

pub(crate) fn set(call: &mut RequestContext, channel: Snowflake, message: Snowflake, on: bool) -> ApiResult {
    let mut channel = call.channel(channel, &[Permissions::PIN_MESSAGES])?;
    let mut message = call.message(channel.id, message)?;
    if message.pinned == on {
        return Ok(Reply::Empty);
    }
    if on && pinned(call, channel.id).count() >= LIMIT {
        return Err(ApiError::new(400, 30003, "Maximum number of pins reached (250)"));
    }
    let caller = call.caller_id()?;
    message.pinned = on;
    let id = message.id;
    if on {
        channel.last_pin_ms = Some(now_ms());
        call.world().commit(Record::Channel(channel.clone()));
    }
    call.world().put_changed(message);
    let mut data = json!({ "channel_id": channel.id });
    if let Some(at) = channel.last_pin_ms {
        data["last_pin_timestamp"] = json!(timestamp(at));
    }
    let intents = call.core.world.place(channel.id, &mut data, Intents::GUILDS, Intents::DIRECT_MESSAGES);
    call.dispatch("CHANNEL_PINS_UPDATE", Audience::Channel(channel.id), intents, data);
    if on {
        let reference = Reference { channel: channel.id, message: Some(id) };
        call.world().post_system(channel.id, caller, MessageKind::ChannelPinned, "", reference);
    }
    Ok(Reply::Empty)
}
