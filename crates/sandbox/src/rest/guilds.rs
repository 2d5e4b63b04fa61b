//! The guild, its members and roles.

use serde_json::{Map, Value, json};

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
        add_counts(call, &mut guild);
    }
    ok(guild)
}

fn add_counts(call: &RequestContext, guild: &mut Value) {
    let members = call.core.world.members_sorted();
    guild["approximate_member_count"] = json!(members.len());
    guild["approximate_presence_count"] = json!(members.iter().filter(|id| call.core.hub.is_online(**id)).count());
}

/// The guild as non-members see it.
pub(crate) fn preview(call: &mut RequestContext) -> ApiResult {
    let whole = call.core.world.guild_json();
    let shown = ["id", "name", "icon", "description", "splash", "discovery_splash", "features", "emojis", "stickers"];
    let mut preview = Value::Object(shown.iter().map(|key| ((*key).to_owned(), whole[*key].clone())).collect());
    preview["home_header"] = Value::Null;
    add_counts(call, &mut preview);
    ok(preview)
}

/// The guilds of the caller. There is only one.
pub(crate) fn mine(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller()?;
    let world = &call.core.world;
    let is_owner = caller.id == world.accounts.owner();
    let permissions = Permissions::everyone().bits() | if caller.is_bot() { Permissions::bot_role().bits() } else { 0 };
    let mut guild = json!({
        "id": world.guild.id, "name": world.guild.name, "icon": null, "banner": null, "owner": is_owner,
        "permissions": permissions.to_string(), "features": [],
    });
    if call.asks_for("with_counts") {
        add_counts(call, &mut guild);
    }
    let before = call.query_id("before").unwrap_or(Snowflake::MAX);
    let is_on_page = before > world.guild.id && call.query_id("after").is_none_or(|after| after < world.guild.id);
    ok(if is_on_page { json!([guild]) } else { json!([]) })
}

/// The caller's own member. Only people may use this route; bots read their member by id.
pub(crate) fn my_member(call: &mut RequestContext, guild: Snowflake) -> ApiResult {
    let caller = call.caller()?;
    if caller.is_bot() {
        return Err(ApiError::not_for_bots());
    }
    call.guild(guild)?;
    ok(call.core.world.member(caller.id))
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

/// Members whose name or nickname begins with `query`.
pub(crate) fn search_members(call: &mut RequestContext) -> ApiResult {
    let limit = call.limit(1, 1_000)?;
    let query = call.query.get("query").filter(|query| !query.is_empty()).ok_or_else(|| ApiError::required("query"))?;
    let world = &call.core.world;
    ok(world.members_named(query).take(limit).map(|id| world.member(id)).collect())
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

pub(crate) fn role(call: &mut RequestContext, role: Snowflake) -> ApiResult {
    let found = call.core.world.roles().into_iter().find(|known| known["id"] == json!(role));
    found.map_or_else(|| Err(ApiError::unknown_role()), ok)
}

/// How many members have each role. `@everyone` is not counted.
pub(crate) fn role_member_counts(call: &mut RequestContext) -> ApiResult {
    let roles = call.core.world.accounts.members().filter_map(|account| account.role);
    ok(Value::Object(roles.map(|role| (role.to_string(), json!(1))).collect::<Map<_, _>>()))
}
