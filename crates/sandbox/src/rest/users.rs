//! Accounts, applications, direct channels, and the gateway's address.

use serde_json::{Value, json};

use super::body::FILE_LIMIT;
use super::emojis::take_picture;
use super::errors::ApiError;
use super::form::parse_required_text;
use super::{ApiResult, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{Audience, Channel, Intents, Record, own_user};

pub(crate) fn gateway(call: &mut RequestContext) -> ApiResult {
    ok(json!({ "url": call.server.gateway_url() }))
}

pub(crate) fn gateway_bot(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller_id()?;
    let starts = call.server.limits().session_starts(caller);
    ok(json!({ "url": call.server.gateway_url(), "shards": 1, "session_start_limit": starts }))
}

pub(crate) fn me(call: &mut RequestContext) -> ApiResult {
    ok(own_user(call.caller()?))
}

/// The display name and the avatar can change.
pub(crate) fn update_me(call: &mut RequestContext) -> ApiResult {
    let mut account = call.caller()?.clone();
    if !account.is_bot() {
        // People keep the name with which the sandbox was started.
        return Err(ApiError::missing_permissions());
    }
    if !call.body.json["username"].is_null() {
        account.name = parse_required_text(&call.body.json["username"], "username", 32)?;
    }
    if let Some(image) = call.body.json.get("avatar") {
        account.avatar = match image {
            Value::Null => None,
            image => Some(take_picture(call, &image.clone(), "avatar", FILE_LIMIT)?),
        };
    }
    let user = own_user(&account);
    let id = account.id;
    call.world().commit(Record::Account(account));
    call.dispatch("USER_UPDATE", Audience::User(id), Intents::NONE, user.clone());
    let mut member = call.core.world.member(id);
    member["guild_id"] = json!(call.core.world.guild.id);
    call.dispatch("GUILD_MEMBER_UPDATE", Audience::Guild, Intents::GUILD_MEMBERS, member);
    ok(user)
}

pub(crate) fn get(call: &mut RequestContext, user: Snowflake) -> ApiResult {
    call.caller()?;
    let world = &call.core.world;
    world.accounts.get(user).ok_or_else(ApiError::unknown_user)?;
    ok(world.user(user))
}

pub(crate) fn application(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller()?;
    if !caller.is_bot() {
        return Err(ApiError::unauthorized());
    }
    ok(call.core.world.application(caller))
}

pub(crate) fn direct_channels(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller_id()?;
    let world = &call.core.world;
    let own = world.channels.values().filter(|channel| channel.recipients.contains(&caller));
    ok(own.map(|channel| world.channel(channel, caller)).collect())
}

pub(crate) fn open_direct(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller_id()?;
    let recipient: Snowflake =
        serde_json::from_value(call.body.json["recipient_id"].clone()).map_err(|_| ApiError::required("recipient_id"))?;
    let world = call.world();
    if recipient == caller || world.accounts.get(recipient).is_none() {
        return Err(ApiError::new(400, 50033, "Invalid Recipient(s)"));
    }
    let both = [caller, recipient];
    let known = world.channels.values().find(|c| c.is_direct() && both.iter().all(|id| c.recipients.contains(id)));
    if let Some(channel) = known {
        return ok(world.channel(channel, caller));
    }
    let channel = Channel::direct(world.next_id(), both);
    world.commit(Record::Channel(channel.clone()));
    let (mine, theirs) = (world.channel(&channel, caller), world.channel(&channel, recipient));
    // Since version 8 only user clients get events about direct channels.
    for (user, data) in [(caller, mine.clone()), (recipient, theirs)] {
        if call.core.world.accounts.get(user).is_some_and(|account| !account.is_bot()) {
            call.dispatch("CHANNEL_CREATE", Audience::User(user), Intents::NONE, data);
        }
    }
    ok(mine)
}
