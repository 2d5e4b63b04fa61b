//! The guild, its members and roles.

use serde_json::json;

use super::errors::ApiError;
use super::form::parse_text;
use super::{ApiResult, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{Audience, Intents, Permissions, Record};

const NICK: usize = 32;

pub(crate) fn get(call: &mut RequestContext) -> ApiResult {
    let world = &call.core.world;
    let mut guild = world.guild_json();
    guild["nsfw"] = json!(false);
    guild["home_header"] = json!(null);
    guild["latest_onboarding_question_id"] = json!(null);
    if call.asks_for("with_counts") {
        let members = world.members_sorted();
        guild["approximate_member_count"] = json!(members.len());
        guild["approximate_presence_count"] = json!(members.iter().filter(|id| call.core.hub.is_online(**id)).count());
    }
    ok(guild)
}

/// The guilds of the caller: the one there is.
pub(crate) fn mine(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller()?;
    let world = &call.core.world;
    let is_owner = caller.id == world.accounts.owner();
    let permissions = Permissions::everyone().bits() | if caller.is_bot() { Permissions::bot_role().bits() } else { 0 };
    ok(json!([{
        "id": world.guild.id, "name": world.guild.name, "icon": null, "banner": null, "owner": is_owner,
        "permissions": permissions.to_string(), "features": [],
    }]))
}

pub(crate) fn channels(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller_id()?;
    let world = &call.core.world;
    let listed = world.channels.values().filter(|c| c.thread.is_none() && !c.is_direct() && world.can_view(caller, c));
    ok(listed.map(|channel| world.channel(channel, caller)).collect())
}

pub(crate) fn members(call: &mut RequestContext) -> ApiResult {
    let limit = call.limit(1, 1_000)?;
    let after = call.query_id("after").unwrap_or_default();
    let world = &call.core.world;
    ok(world.members_sorted().into_iter().filter(|id| *id > after).take(limit).map(|id| world.member(id)).collect())
}

pub(crate) fn member(call: &mut RequestContext, user: Snowflake) -> ApiResult {
    let world = &call.core.world;
    if !world.members_sorted().contains(&user) {
        return Err(ApiError::unknown_member());
    }
    ok(world.member(user))
}

pub(crate) fn rename_me(call: &mut RequestContext) -> ApiResult {
    let mut account = call.caller()?.clone();
    account.nick = parse_text(&call.body.json["nick"], "nick", NICK)?.filter(|nick| !nick.is_empty());
    let id = account.id;
    call.world().commit(Record::Account(account));
    let member = call.core.world.member(id);
    let mut data = member.clone();
    data["guild_id"] = json!(call.core.world.guild.id);
    call.dispatch("GUILD_MEMBER_UPDATE", Audience::Guild, Intents::GUILD_MEMBERS, data);
    ok(member)
}

pub(crate) fn roles(call: &mut RequestContext) -> ApiResult {
    ok(call.core.world.roles().into())
}
