//! Messages of a channel, their reactions and pins.
//!
//! `posting` is shared with webhooks, interactions and threads. This folder decides who may post; `form` decides what a
//! body may contain.

pub(crate) mod pins;
mod posting;
pub(crate) mod reactions;

use serde_json::{Value, json};

use crate::rest::errors::ApiError;
use crate::rest::form::{AllowedMentions, Draft};
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::{Snowflake, now_ms};
use crate::state::{Audience, Author, Channel, Intents, Message, MessageKind, Permissions, Record, Reference, nonce_text};
pub(crate) use posting::Posting;

const PAGE: usize = 50;
const PAGE_MAX: usize = 100;
/// "Any message IDs … older than 2 weeks" cannot be deleted in bulk.
const BULK_AGE_MS: u64 = 14 * 24 * 60 * 60 * 1000;

pub(crate) fn list(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    let channel = call.channel(channel, &[])?;
    let limit = call.limit(PAGE, PAGE_MAX)?;
    let caller = call.caller()?.clone();
    let world = &call.core.world;
    if !world.permissions(&caller, &channel).has(Permissions::READ_MESSAGE_HISTORY) {
        return ok(json!([]));
    }
    let visible = |message: &&Message| message.ephemeral_to.is_none_or(|person| person == caller.id);
    let older = |before| world.messages.range(channel.id, Snowflake::MIN, before).rev().filter(visible);
    let newer = |after| world.messages.range(channel.id, after, Snowflake::MAX).filter(visible);
    // Newest first, for `before` and for `after`.
    let page: Vec<&Message> = if let Some(after) = call.query_id("after") {
        let mut page: Vec<_> = newer(after).take(limit).collect();
        page.reverse();
        page
    } else if let Some(around) = call.query_id("around") {
        let mut page: Vec<_> = newer(around).take(limit / 2).collect();
        page.reverse();
        page.extend(world.messages.get(channel.id, around).filter(visible));
        let room = limit.saturating_sub(page.len());
        page.extend(older(around).take(room));
        page
    } else {
        older(call.query_id("before").unwrap_or(Snowflake::MAX)).take(limit).collect()
    };
    ok(page.into_iter().map(|message| call.render(message)).collect())
}

pub(crate) fn get(call: &mut RequestContext, channel: Snowflake, message: Snowflake) -> ApiResult {
    call.channel(channel, &[Permissions::READ_MESSAGE_HISTORY])?;
    let message = call.message(channel, message)?;
    ok(call.render(&message))
}

pub(crate) fn create(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    let channel = writable_channel(call, channel)?;
    if call.caller()?.is_bot() && channel.recipients.iter().any(|person| call.server.faults.has_closed_direct(&person.to_string())) {
        return Err(ApiError::new(403, 50007, "Cannot send messages to this user"));
    }
    let draft = Draft::parse(&call.body, AllowedMentions::all())?;
    if draft.is_empty() {
        return Err(ApiError::empty_message());
    }
    let caller = call.caller()?.clone();
    let held = call.core.world.permissions(&caller, &channel);
    if !draft.files.is_empty() && !held.has(Permissions::ATTACH_FILES)
        || draft.embeds.as_ref().is_some_and(|embeds| !embeds.is_empty()) && !held.has(Permissions::EMBED_LINKS)
    {
        return Err(ApiError::missing_permissions());
    }
    if let Some(nonce) = draft.nonce.as_ref().filter(|_| draft.enforce_nonce).map(nonce_text) {
        let window = call.server.faults.nonce_window(call.server.options.windows.nonce);
        if let Some(earlier) = call.world().messages.find_by_nonce(caller.id, channel.id, &nonce, window).cloned() {
            return ok(with_nonce(call.render(&earlier), draft.nonce.as_ref()));
        }
    }
    let mut posting = Posting::new(channel.id, Author::User(caller.id), MessageKind::Default);
    posting.may_mention_everyone = held.has(Permissions::MENTION_EVERYONE);
    posting.reference = find_replied(call, &channel, &draft)?;
    if posting.reference.is_some() {
        posting.kind = MessageKind::Reply;
    }
    let message = call.world().post(posting, draft)?;
    let rendered = call.render(&message);
    ok(rendered)
}

fn with_nonce(mut message: Value, nonce: Option<&Value>) -> Value {
    message["nonce"] = nonce.cloned().unwrap_or_default();
    message
}

/// A channel in which the caller may post.
pub(crate) fn writable_channel(call: &RequestContext, id: Snowflake) -> Result<Channel, ApiError> {
    let kind = call.core.world.channels.get(&id).map(|channel| channel.thread.is_some());
    let needed = if kind == Some(true) { Permissions::SEND_MESSAGES_IN_THREADS } else { Permissions::SEND_MESSAGES };
    let channel = call.channel(id, &[needed])?;
    if channel.thread.as_ref().is_some_and(|thread| thread.archived && thread.locked) {
        return Err(ApiError::archived_thread());
    }
    Ok(channel)
}

/// The message that a draft replies to. `None` if it does not exist and `fail_if_not_exists` is false.
fn find_replied(call: &RequestContext, channel: &Channel, draft: &Draft) -> Result<Option<Reference>, ApiError> {
    let Some(reply) = draft.replies_to else { return Ok(None) };
    let elsewhere = reply.channel.is_some_and(|id| id != channel.id);
    match call.message(channel.id, reply.message) {
        Ok(replied) if !elsewhere && replied.ephemeral_to.is_none() => {
            Ok(Some(Reference { channel: channel.id, message: Some(reply.message) }))
        }
        _ if !reply.fail_if_not_exists => Ok(None),
        _ => Err(ApiError::invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")),
    }
}

pub(crate) fn update(call: &mut RequestContext, channel: Snowflake, message: Snowflake) -> ApiResult {
    let channel = call.channel(channel, &[])?;
    let message = call.message(channel.id, message)?;
    let draft = Draft::parse(&call.body, AllowedMentions::all())?;
    let caller = call.caller()?;
    if !message.is_by(caller.id) {
        // Others may only hide embeds, with a permission.
        let only_flags = call.body.json.as_object().is_some_and(|body| body.keys().all(|key| key == "flags"));
        let may_manage = call.core.world.permissions(caller, &channel).has(Permissions::MANAGE_MESSAGES);
        if !(only_flags && may_manage) {
            return Err(ApiError::not_the_author());
        }
    }
    check_user_message(&message)?;
    let edited = call.world().edit(message, draft)?;
    ok(call.render(&edited))
}

fn check_user_message(message: &Message) -> Result<(), ApiError> {
    match message.kind {
        MessageKind::Default | MessageKind::Reply | MessageKind::Command => Ok(()),
        _ => Err(ApiError::system_message()),
    }
}

pub(crate) fn delete(call: &mut RequestContext, channel: Snowflake, message: Snowflake) -> ApiResult {
    let channel = call.channel(channel, &[])?;
    let message = call.message(channel.id, message)?;
    let caller = call.caller()?;
    let is_own = message.is_by(caller.id) || message.ephemeral_to == Some(caller.id);
    if !is_own && channel.is_direct() {
        return Err(ApiError::new(403, 50003, "Cannot execute action on a DM channel"));
    }
    if !is_own && !call.core.world.permissions(caller, &channel).has(Permissions::MANAGE_MESSAGES) {
        return Err(ApiError::missing_permissions());
    }
    call.world().delete_message(&message);
    Ok(Reply::Empty)
}

pub(crate) fn bulk_delete(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    let channel = call.channel(channel, &[Permissions::MANAGE_MESSAGES])?;
    let ids: Vec<Snowflake> = serde_json::from_value(call.body.json["messages"].clone()).map_err(|_| ApiError::required("messages"))?;
    if !(2..=100).contains(&ids.len()) {
        return Err(ApiError::new(
            400,
            50016,
            "Provided too few or too many messages to delete. Must provide at least 2 and fewer than 100 messages to delete.",
        ));
    }
    if ids.iter().any(|id| now_ms().saturating_sub(id.created_ms()) > BULK_AGE_MS) {
        return Err(ApiError::new(400, 50034, "You can only bulk delete messages that are under 14 days old."));
    }
    let world = call.world();
    let deleted: Vec<Snowflake> = ids.into_iter().filter(|id| world.messages.get(channel.id, *id).is_some()).collect();
    for id in &deleted {
        world.commit(Record::MessageGone { channel: channel.id, id: *id });
    }
    let data = json!({ "ids": deleted, "channel_id": channel.id, "guild_id": world.guild.id });
    call.dispatch("MESSAGE_DELETE_BULK", Audience::Channel(channel.id), Intents::GUILD_MESSAGES, data);
    Ok(Reply::Empty)
}
