//! Webhooks and follow-ups of interactions. Both have the same routes; follow-ups use the application's id and the
//! interaction's token.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::rest::errors::ApiError;
use crate::rest::form::{AllowedMentions, Draft, parse_required_text, parse_text};
use crate::rest::interactions::followups;
use crate::rest::messages::Posting;
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{Account, Audience, Author, Intents, Message, MessageKind, Permissions, Record, Webhook};

const NAME: usize = 80;
const PER_CHANNEL: usize = 15;

/// "Webhook names cannot contain the substrings `clyde` or `discord`."
fn check_name(name: &str, path: &str) -> Result<(), ApiError> {
    let lower = name.to_lowercase();
    let Some(bad) = ["clyde", "discord"].into_iter().find(|bad| lower.contains(bad)) else { return Ok(()) };
    let text = format!("Username cannot contain \"{bad}\"");
    Err(ApiError::invalid(path, "USERNAME_INVALID_CONTAINS", &text))
}

pub(crate) fn create(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    let channel = call.channel(channel, &[Permissions::MANAGE_WEBHOOKS])?;
    if channel.thread.is_some() || channel.is_direct() {
        return Err(ApiError::wrong_channel_type());
    }
    let name = parse_required_text(&call.body.json["name"], "name", NAME)?;
    check_name(&name, "name")?;
    if in_channel(call, channel.id).count() >= PER_CHANNEL {
        return Err(ApiError::new(400, 30007, "Maximum number of webhooks reached (15)"));
    }
    let caller = call.caller()?.clone();
    let id = call.world().next_id();
    let webhook = Webhook {
        id,
        channel: channel.id,
        creator: caller.id,
        name,
        token: Uuid::now_v7().simple().to_string(),
        application: caller.is_bot().then_some(caller.id),
    };
    call.world().commit(Record::Webhook(webhook.clone()));
    dispatch_update(call, channel.id);
    ok(call.core.world.webhook(&webhook, true))
}

fn dispatch_update(call: &mut RequestContext, channel: Snowflake) {
    let data = json!({ "guild_id": call.core.world.guild.id, "channel_id": channel });
    call.dispatch("WEBHOOKS_UPDATE", Audience::Channel(channel), Intents::GUILD_WEBHOOKS, data);
}

fn in_channel<'a>(call: &'a RequestContext, channel: Snowflake) -> impl Iterator<Item = &'a Webhook> {
    call.core.world.webhooks.values().filter(move |webhook| webhook.channel == channel)
}

pub(crate) fn list_in_channel(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    call.channel(channel, &[Permissions::MANAGE_WEBHOOKS])?;
    ok(in_channel(call, channel).map(|webhook| call.core.world.webhook(webhook, true)).collect())
}

pub(crate) fn list(call: &mut RequestContext) -> ApiResult {
    let world = &call.core.world;
    ok(world.webhooks.values().map(|webhook| world.webhook(webhook, true)).collect())
}

/// A webhook, for a request with its token or from a caller who may manage it.
fn find(call: &RequestContext, id: Snowflake, token: Option<&str>) -> Result<Webhook, ApiError> {
    let webhook = call.core.world.webhooks.get(&id).ok_or_else(ApiError::unknown_webhook)?;
    match token {
        Some(token) if token == webhook.token => {}
        Some(_) => return Err(ApiError::invalid_token()),
        None => {
            call.channel(webhook.channel, &[Permissions::MANAGE_WEBHOOKS])?;
        }
    }
    Ok(webhook.clone())
}

pub(crate) fn get(call: &mut RequestContext, id: Snowflake, token: Option<&str>) -> ApiResult {
    let webhook = find(call, id, token)?;
    ok(call.core.world.webhook(&webhook, token.is_none()))
}

pub(crate) fn update(call: &mut RequestContext, id: Snowflake, token: Option<&str>) -> ApiResult {
    let mut webhook = find(call, id, token)?;
    if !call.body.json["name"].is_null() {
        webhook.name = parse_required_text(&call.body.json["name"], "name", NAME)?;
        check_name(&webhook.name, "name")?;
    }
    call.world().commit(Record::Webhook(webhook.clone()));
    dispatch_update(call, webhook.channel);
    ok(call.core.world.webhook(&webhook, token.is_none()))
}

pub(crate) fn delete(call: &mut RequestContext, id: Snowflake, token: Option<&str>) -> ApiResult {
    let webhook = find(call, id, token)?;
    call.world().commit(Record::WebhookGone(id));
    dispatch_update(call, webhook.channel);
    Ok(Reply::Empty)
}

fn is_application(call: &RequestContext, id: Snowflake) -> bool {
    call.core.world.accounts.get(id).is_some_and(Account::is_bot)
}

pub(crate) fn execute(call: &mut RequestContext, id: Snowflake, token: &str) -> ApiResult {
    if is_application(call, id) {
        return followups::create(call, id, token);
    }
    let webhook = find(call, id, Some(token))?;
    let draft = Draft::parse(&call.body, AllowedMentions::all())?;
    if draft.is_empty() {
        return Err(ApiError::empty_message());
    }
    let name = parse_text(&call.body.json["username"], "username", NAME)?.filter(|name| !name.is_empty());
    if let Some(name) = &name {
        check_name(name, "username")?;
    }
    let author = Author::Webhook {
        id: webhook.id,
        name: name.unwrap_or(webhook.name),
        avatar: call.body.json["avatar_url"].as_str().map(|url| call.core.world.hash_of_avatar(url)),
        application: webhook.application,
    };
    let channel = place(call, webhook.channel)?;
    let message = call.world().post(Posting::new(channel, author, MessageKind::Default), draft)?;
    if call.asks_for("wait") { ok(call.render(&message)) } else { Ok(Reply::Empty) }
}

/// The webhook's channel, or the thread in the query.
fn place(call: &RequestContext, channel: Snowflake) -> Result<Snowflake, ApiError> {
    let Some(thread) = call.query_id("thread_id") else { return Ok(channel) };
    let found = call.core.world.channels.get(&thread).filter(|thread| thread.parent == Some(channel));
    found.map(|thread| thread.id).ok_or_else(ApiError::unknown_channel)
}

/// A message of this webhook or interaction.
fn find_message(call: &RequestContext, id: Snowflake, token: &str, message: &str) -> Result<Message, ApiError> {
    if is_application(call, id) {
        return followups::find_message(call, id, token, message);
    }
    let webhook = find(call, id, Some(token))?;
    let channel = place(call, webhook.channel)?;
    let found = message.parse().ok().and_then(|message| call.core.world.messages.get(channel, message));
    let own = found.filter(|found| matches!(&found.author, Author::Webhook { id, .. } if *id == webhook.id));
    own.cloned().ok_or_else(ApiError::unknown_message)
}

pub(crate) fn get_message(call: &mut RequestContext, id: Snowflake, token: &str, message: &str) -> ApiResult {
    let message = find_message(call, id, token, message)?;
    ok(call.render(&message))
}

pub(crate) fn update_message(call: &mut RequestContext, id: Snowflake, token: &str, message: &str) -> ApiResult {
    let message = find_message(call, id, token, message)?;
    let draft = Draft::parse(&call.body, AllowedMentions::users_only())?;
    let edited = call.world().edit(message, draft)?;
    if is_application(call, id) {
        followups::was_edited(call, token, edited.id);
    }
    let rendered: Value = call.render(&edited);
    ok(rendered)
}

pub(crate) fn delete_message(call: &mut RequestContext, id: Snowflake, token: &str, message: &str) -> ApiResult {
    let message = find_message(call, id, token, message)?;
    call.world().delete_message(&message);
    Ok(Reply::Empty)
}
