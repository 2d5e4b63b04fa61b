//! Threads and their members.

use serde_json::{Value, json};

use crate::rest::body::Body;
use crate::rest::errors::ApiError;
use crate::rest::form::{AllowedMentions, Draft, parse_required_text};
use crate::rest::messages::Posting;
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::{Snowflake, now_ms};
use crate::state::{
    Audience, Author, Channel, ChannelKind, Dispatch, Intents, MessageKind, Permissions, Record, Reference, World, flags, thread_member,
};

const NAME: usize = 100;
const AUTO_ARCHIVE: [u64; 4] = [60, 1_440, 4_320, 10_080];

/// Name of a new thread, and the minutes until it is archived.
fn parse_thread(body: &Body) -> Result<(String, u32), ApiError> {
    let name = parse_required_text(&body.json["name"], "name", NAME)?;
    Ok((name, parse_auto_archive(&body.json["auto_archive_duration"])?.unwrap_or(1_440)))
}

fn parse_auto_archive(value: &Value) -> Result<Option<u32>, ApiError> {
    let Some(minutes) = value.as_u64() else { return Ok(None) };
    if !AUTO_ARCHIVE.contains(&minutes) {
        return Err(ApiError::bad_choice("auto_archive_duration", "(60, 1440, 4320, 10080)"));
    }
    Ok(u32::try_from(minutes).ok())
}

pub(crate) fn create_from_message(call: &mut RequestContext, channel: Snowflake, message: Snowflake) -> ApiResult {
    let channel = call.channel(channel, &[Permissions::CREATE_PUBLIC_THREADS])?;
    let mut message = call.message(channel.id, message)?;
    if channel.kind != ChannelKind::Text {
        return Err(ApiError::wrong_channel_type());
    }
    if call.core.world.channels.contains_key(&message.id) {
        return Err(ApiError::new(400, 160_004, "A thread has already been created for this message"));
    }
    let (name, minutes) = parse_thread(&call.body)?;
    let caller = call.caller_id()?;
    // The thread has the id of its message.
    let thread = Channel::thread(message.id, ChannelKind::PublicThread, &name, channel.id, caller);
    let data = call.world().open_thread(thread, minutes, caller);
    message.flags |= flags::HAS_THREAD;
    let reference = Reference { channel: channel.id, message: Some(message.id) };
    call.world().put_changed(message.clone());
    call.world().post_system(message.id, caller, MessageKind::ThreadStarter, "", reference);
    Ok(Reply::Json(201, data))
}

pub(crate) fn create(call: &mut RequestContext, channel: Snowflake) -> ApiResult {
    let kind = match call.body.json["type"].as_u64() {
        // Without a type Discord creates a private thread.
        None | Some(12) => ChannelKind::PrivateThread,
        Some(11) => ChannelKind::PublicThread,
        Some(_) => return Err(ApiError::bad_choice("type", "(11, 12)")),
    };
    let needed = match kind {
        ChannelKind::PublicThread => Permissions::CREATE_PUBLIC_THREADS,
        _ => Permissions::CREATE_PRIVATE_THREADS,
    };
    let channel = call.channel(channel, &[needed])?;
    if channel.kind != ChannelKind::Text {
        return Err(ApiError::wrong_channel_type());
    }
    let (name, minutes) = parse_thread(&call.body)?;
    let caller = call.caller_id()?;
    let world = call.world();
    let thread = Channel::thread(world.next_id(), kind, &name, channel.id, caller);
    let id = thread.id;
    let data = world.open_thread(thread, minutes, caller);
    if kind == ChannelKind::PublicThread {
        let reference = Reference { channel: id, message: None };
        world.post_system(channel.id, caller, MessageKind::ThreadCreated, &name, reference);
    }
    // The request may contain a first message, as for forum channels.
    let first = call.body.json["message"].clone();
    if first.is_object() {
        let draft = Draft::parse_json(&first, &call.body.uploads, AllowedMentions::all())?;
        call.world().post(Posting::new(id, Author::User(caller), MessageKind::Default), draft)?;
    }
    Ok(Reply::Json(201, data))
}

pub(crate) fn update(call: &mut RequestContext, mut channel: Channel) -> ApiResult {
    let caller = call.caller()?.clone();
    let may_manage = call.core.world.permissions(&caller, &channel).has(Permissions::MANAGE_THREADS);
    let Some(thread) = &mut channel.thread else { return Err(ApiError::wrong_channel_type()) };
    // Everybody may unarchive a thread. Other changes are for its owner and moderators.
    let body = &call.body.json;
    let only_reopens = body["archived"] == false && body.as_object().is_some_and(|body| body.len() == 1);
    if !may_manage && thread.owner != caller.id && (!only_reopens || thread.locked) {
        return Err(ApiError::missing_permissions());
    }
    let changes_more = body.as_object().is_some_and(|body| body.keys().any(|key| key != "archived" && key != "locked"));
    if thread.archived && body["archived"] != false && changes_more {
        return Err(ApiError::archived_thread());
    }
    if let Some(archived) = body["archived"].as_bool() {
        thread.archived = archived;
        thread.archive_ms = now_ms();
    }
    if let Some(locked) = body["locked"].as_bool() {
        if !may_manage {
            return Err(ApiError::missing_permissions());
        }
        thread.locked = locked;
    }
    if let Some(minutes) = parse_auto_archive(&body["auto_archive_duration"])? {
        thread.auto_archive_minutes = minutes;
    }
    if !body["name"].is_null() {
        channel.name = parse_required_text(&body["name"], "name", NAME)?;
    }
    let data = call.core.world.channel(&channel, caller.id);
    call.world().put_thread(&channel, true, &[], &[]);
    ok(data)
}

pub(crate) fn active(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller_id()?;
    let world = &call.core.world;
    let open = world.channels.values().filter(|c| c.thread.as_ref().is_some_and(|thread| !thread.archived));
    let threads: Vec<&Channel> = open.filter(|channel| world.can_view(caller, channel)).collect();
    ok(thread_list(world, &threads, caller))
}

/// The archived threads of one kind, latest first. `joined_only` leaves out private threads that the caller has not joined.
pub(crate) fn archived(call: &mut RequestContext, channel: Snowflake, kind: ChannelKind, joined_only: bool) -> ApiResult {
    let needed: &[Permissions] = match kind {
        ChannelKind::PrivateThread if !joined_only => &[Permissions::READ_MESSAGE_HISTORY, Permissions::MANAGE_THREADS],
        _ => &[Permissions::READ_MESSAGE_HISTORY],
    };
    let channel = call.channel(channel, needed)?;
    let limit = call.limit(50, 100)?;
    let caller = call.caller_id()?;
    let world = &call.core.world;
    let before = call.query.get("before").and_then(|text| chrono::DateTime::parse_from_rfc3339(text).ok());
    let before = before.map_or(u64::MAX, |time| u64::try_from(time.timestamp_millis()).unwrap_or(0));
    let archived = |channel: &&Channel| {
        channel.thread.as_ref().is_some_and(|t| t.archived && t.archive_ms < before && (!joined_only || t.members.contains_key(&caller)))
    };
    let mut threads: Vec<&Channel> =
        world.channels.values().filter(|thread| thread.parent == Some(channel.id) && thread.kind == kind).filter(archived).collect();
    threads.sort_by_key(|channel| std::cmp::Reverse(channel.thread.as_ref().map(|thread| thread.archive_ms)));
    let mut list = thread_list(world, &threads[..threads.len().min(limit)], caller);
    list["has_more"] = json!(threads.len() > limit);
    ok(list)
}

fn thread_list(world: &World, threads: &[&Channel], caller: Snowflake) -> Value {
    json!({
        "threads": threads.iter().map(|thread| world.channel(thread, caller)).collect::<Vec<_>>(),
        "members": threads.iter().filter_map(|thread| thread_member(thread, caller)).collect::<Vec<_>>(),
        "has_more": false,
    })
}

/// A thread that the caller can see.
fn find_thread(call: &RequestContext, id: Snowflake) -> Result<Channel, ApiError> {
    let channel = call.channel(id, &[])?;
    if channel.thread.is_some() { Ok(channel) } else { Err(ApiError::wrong_channel_type()) }
}

pub(crate) fn members(call: &mut RequestContext, thread: Snowflake) -> ApiResult {
    let thread = find_thread(call, thread)?;
    let ids = thread.thread.iter().flat_map(|state| state.members.keys().copied());
    if !call.asks_for("with_member") {
        return ok(ids.filter_map(|user| thread_member(&thread, user)).collect());
    }
    // "When `with_member` is set to `true`, the results will be paginated".
    let limit = call.limit(100, 100)?;
    let after = call.query_id("after").unwrap_or_default();
    let world = &call.core.world;
    ok(ids.filter(|user| *user > after).take(limit).filter_map(|user| world.whole_thread_member(&thread, user)).collect())
}

pub(crate) fn member(call: &mut RequestContext, thread: Snowflake, user: Snowflake) -> ApiResult {
    let thread = find_thread(call, thread)?;
    let found =
        if call.asks_for("with_member") { call.core.world.whole_thread_member(&thread, user) } else { thread_member(&thread, user) };
    found.map_or_else(|| Err(ApiError::unknown_member()), ok)
}

pub(crate) fn add_member(call: &mut RequestContext, thread: Snowflake, user: Snowflake) -> ApiResult {
    let mut thread = find_thread(call, thread)?;
    let world = call.world();
    if world.accounts.get(user).is_none() {
        return Err(ApiError::unknown_user());
    }
    let Some(state) = &mut thread.thread else { return Err(ApiError::wrong_channel_type()) };
    if state.archived {
        return Err(ApiError::archived_thread());
    }
    let is_new = !state.members.contains_key(&user);
    state.members.entry(user).or_insert_with(now_ms);
    if is_new {
        world.put_thread(&thread, false, &[user], &[]);
    }
    Ok(Reply::Empty)
}

pub(crate) fn remove_member(call: &mut RequestContext, thread: Snowflake, user: Snowflake) -> ApiResult {
    let mut thread = find_thread(call, thread)?;
    let caller = call.caller_id()?;
    let Some(state) = &mut thread.thread else { return Err(ApiError::wrong_channel_type()) };
    if user != caller && state.owner != caller {
        call.channel(thread.id, &[Permissions::MANAGE_THREADS])?;
    }
    state.members.remove(&user).ok_or_else(ApiError::unknown_member)?;
    call.world().put_thread(&thread, false, &[], &[user]);
    Ok(Reply::Empty)
}

impl World {
    fn open_thread(&mut self, mut channel: Channel, minutes: u32, opener: Snowflake) -> Value {
        if let Some(thread) = &mut channel.thread {
            thread.auto_archive_minutes = minutes;
        }
        self.commit(Record::Channel(channel.clone()));
        let data = self.channel(&channel, opener);
        let mut event = data.clone();
        // Without this field discord.py assumes that the bot was added to an existing thread.
        event["newly_created"] = json!(true);
        self.dispatches.push(Dispatch::new("THREAD_CREATE", Audience::Channel(channel.id), Intents::GUILDS, event));
        data
    }

    /// Stores a changed thread and sends events for the thread, joined members and members who left.
    pub(crate) fn put_thread(&mut self, channel: &Channel, is_changed: bool, joined: &[Snowflake], left: &[Snowflake]) {
        let id = channel.id;
        self.commit(Record::Channel(channel.clone()));
        if is_changed {
            let mut data = self.channel(channel, Snowflake::MIN);
            data.as_object_mut().map(|fields| fields.remove("member"));
            self.dispatches.push(Dispatch::new("THREAD_UPDATE", Audience::Channel(id), Intents::GUILDS, data));
        }
        if joined.is_empty() && left.is_empty() {
            return;
        }
        let mut added: Vec<Value> = joined.iter().filter_map(|user| self.whole_thread_member(channel, *user)).collect();
        // "The thread member objects will also include the guild member and nullable presence objects".
        for member in &mut added {
            member["presence"] = Value::Null;
        }
        let count = channel.thread.as_ref().map_or(0, |thread| thread.members.len());
        let mut data = json!({ "id": id, "guild_id": self.guild.id, "member_count": count });
        if !added.is_empty() {
            data["added_members"] = json!(added);
        }
        if !left.is_empty() {
            data["removed_member_ids"] = json!(left);
        }
        self.dispatches.push(Dispatch::new("THREAD_MEMBERS_UPDATE", Audience::Channel(id), Intents::GUILDS, data));
    }

    pub(crate) fn delete_thread(&mut self, thread: &Channel) {
        let data = json!({
            "id": thread.id, "guild_id": self.guild.id, "parent_id": thread.parent, "type": thread.kind.code(),
        });
        self.dispatches.push(Dispatch::new("THREAD_DELETE", Audience::Guild, Intents::GUILDS, data));
        self.commit(Record::ChannelGone(thread.id));
    }
}
