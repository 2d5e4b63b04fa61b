//! Accounts, their applications and direct channels, and where the gateway is.

use serde_json::json;

use super::errors::ApiError;
use super::form::parse_required_text;
use super::{Answered, Call, ok};
use crate::sandbox::gateway::{Audience, Intents};
use crate::sandbox::limits::{MAX_CONCURRENCY, SESSION_STARTS};
use crate::sandbox::snowflake::Snowflake;
use crate::sandbox::state::{Channel, Record, own_user};

pub(crate) fn gateway(call: &mut Call) -> Answered {
    ok(json!({ "url": call.server.gateway_url() }))
}

pub(crate) fn gateway_bot(call: &mut Call) -> Answered {
    let caller = call.caller_id()?;
    let remaining = SESSION_STARTS.saturating_sub(call.server.limits().sessions_started(caller));
    ok(json!({
        "url": call.server.gateway_url(), "shards": 1,
        "session_start_limit": {
            "total": SESSION_STARTS, "remaining": remaining, "reset_after": 0, "max_concurrency": MAX_CONCURRENCY,
        },
    }))
}

pub(crate) fn me(call: &mut Call) -> Answered {
    ok(own_user(call.caller()?))
}

/// Only the display name can change: there are no avatars here.
pub(crate) fn update_me(call: &mut Call) -> Answered {
    let mut account = call.caller()?.clone();
    if !account.is_bot() {
        // People are found again by the name that the sandbox was started with.
        return Err(ApiError::missing_permissions());
    }
    if !call.body.json["username"].is_null() {
        account.name = parse_required_text(&call.body.json["username"], "username", 32)?;
    }
    let user = own_user(&account);
    let id = account.id;
    call.world().commit(Record::Account(account));
    call.tell("USER_UPDATE", Audience::User(id), Intents::NONE, user.clone());
    ok(user)
}

pub(crate) fn get(call: &mut Call, user: Snowflake) -> Answered {
    call.caller()?;
    let world = &call.core.world;
    world.accounts.get(user).ok_or_else(ApiError::unknown_user)?;
    ok(world.user(user))
}

pub(crate) fn application(call: &mut Call) -> Answered {
    let caller = call.caller()?;
    if !caller.is_bot() {
        return Err(ApiError::unauthorized());
    }
    ok(call.core.world.application(caller))
}

pub(crate) fn direct_channels(call: &mut Call) -> Answered {
    let caller = call.caller_id()?;
    let world = &call.core.world;
    let own = world.channels.values().filter(|channel| channel.recipients.contains(&caller));
    ok(own.map(|channel| world.channel(channel, caller)).collect())
}

pub(crate) fn open_direct(call: &mut Call) -> Answered {
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
    // Bots are not told of direct channels since version 8; user clients are.
    for (user, data) in [(caller, mine.clone()), (recipient, theirs)] {
        if call.core.world.accounts.get(user).is_some_and(|account| !account.is_bot()) {
            call.tell("CHANNEL_CREATE", Audience::User(user), Intents::NONE, data);
        }
    }
    ok(mine)
}
