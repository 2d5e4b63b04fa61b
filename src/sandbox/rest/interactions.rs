//! People using commands, components and modals, with the request that user clients send.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::errors::ApiError;
use super::form::{AllowedMentions, Draft, Resolved, parse_options, parse_required_text};
use super::{Answered, Call, Reply};
use crate::sandbox::gateway::{Audience, Dispatch, Intents};
use crate::sandbox::server::Server;
use crate::sandbox::snowflake::Snowflake;
use crate::sandbox::state::{Account, Answer, Channel, Interaction, InteractionKind, Permissions, Reference, View};

/// Bytes that a file may have; told to bots with each interaction.
const ATTACHMENT_SIZE_LIMIT: usize = super::body::FILE_LIMIT;

/// `POST /interactions`
pub(crate) fn create(call: &mut Call) -> Answered {
    let caller = call.caller()?.clone();
    if caller.is_bot() {
        return Err(ApiError::new(403, 20001, "Bots cannot use this endpoint"));
    }
    let json = call.body.json.clone();
    let kind = json["type"].as_u64().and_then(InteractionKind::parse);
    let kind = kind.ok_or_else(|| ApiError::bad_choice("type", "(2, 3, 4, 5)"))?;
    let application = find_application(call, &json["application_id"])?;
    let channel: Snowflake = parse_id(&json["channel_id"], "channel_id")?;
    let channel = call.channel(channel, &[Permissions::USE_APPLICATION_COMMANDS])?;
    let mut interaction = Interaction {
        id: call.world().next_id(),
        token: Uuid::now_v7().simple().to_string(),
        application,
        user: caller.id,
        channel: channel.id,
        kind,
        nonce: json.get("nonce").cloned(),
        command: None,
        source: None,
        opened_by: None,
        original: None,
        answer: Answer::Waiting,
        created: Instant::now(),
    };
    let data = match kind {
        InteractionKind::Command | InteractionKind::Autocomplete => command_data(call, &mut interaction, &json["data"])?,
        InteractionKind::Component => component_data(call, &mut interaction, &json)?,
        InteractionKind::Modal => modal_data(call, &mut interaction, &json["data"])?,
    };
    announce(call, &caller, &channel, &interaction, &data);
    watch_deadline(call.server, &interaction);
    let window = call.server.options.windows.interaction_token;
    call.world().interactions.insert(interaction, window);
    Ok(Reply::Empty)
}

fn parse_id(value: &Value, path: &str) -> Result<Snowflake, ApiError> {
    serde_json::from_value(value.clone()).map_err(|_| ApiError::required(path))
}

fn find_application(call: &Call, id: &Value) -> Result<Snowflake, ApiError> {
    let id = parse_id(id, "application_id")?;
    let account = call.core.world.accounts.get(id).filter(|account| account.is_bot() && account.active);
    account.map(|account| account.id).ok_or_else(ApiError::unknown_application)
}

fn command_data(call: &mut Call, interaction: &mut Interaction, data: &Value) -> Result<Value, ApiError> {
    let world = &call.core.world;
    let name = data["name"].as_str().unwrap_or_default();
    let command = world.commands.find(interaction.application, world.guild.id, data["id"].as_str(), name);
    let command = command.cloned().ok_or_else(ApiError::unknown_command)?;
    interaction.command = command["name"].as_str().map(str::to_owned);
    let is_partial = interaction.kind == InteractionKind::Autocomplete;
    let files = store_files(call, interaction.channel, data)?;
    let given = with_file_ids(&data["options"], &files);
    let mut wanted = Resolved::default();
    let options = parse_options(&command["options"], &given, is_partial, &mut wanted)?;
    let mut out = json!({ "id": command["id"], "name": command["name"], "type": command["type"] });
    if !command["guild_id"].is_null() {
        out["guild_id"] = command["guild_id"].clone();
    }
    if !options.is_empty() || is_partial {
        out["options"] = Value::Array(options);
    }
    let resolved = resolve(call, interaction.channel, &wanted)?;
    if !resolved.is_empty() {
        out["resolved"] = Value::Object(resolved);
    }
    Ok(out)
}

/// Stores the files of a command. Options name them by their numbers, as user clients do.
fn store_files(call: &mut Call, channel: Snowflake, data: &Value) -> Result<Vec<(u64, Snowflake)>, ApiError> {
    let draft = Draft::parse_json(&json!({ "attachments": data["attachments"] }), &call.body.uploads, AllowedMentions::users_only())?;
    let numbers: Vec<u64> = draft.files.iter().map(|file| file.upload.number).collect();
    let stored = call.world().store_files(&draft)?;
    let ids = stored.iter().map(|attachment| attachment.id);
    let numbered = numbers.into_iter().zip(ids).collect();
    call.world().interactions.keep_files(channel, stored);
    Ok(numbered)
}

fn with_file_ids(options: &Value, files: &[(u64, Snowflake)]) -> Value {
    let mut options = options.clone();
    for option in options.as_array_mut().into_iter().flatten().filter(|option| option["type"] == 11) {
        let number = option["value"].as_u64().or_else(|| option["value"].as_str()?.parse().ok());
        if let Some((_, id)) = files.iter().find(|(file, _)| Some(*file) == number) {
            option["value"] = json!(id);
        }
    }
    options
}

/// The objects behind the ids that options or selects hold.
fn resolve(call: &Call, channel: Snowflake, wanted: &Resolved) -> Result<Map<String, Value>, ApiError> {
    let world = &call.core.world;
    let mut out: Map<String, Value> = Map::new();
    let mut put = |kind: &str, id: Snowflake, value: Value| out.entry(kind).or_insert_with(|| json!({}))[id.to_string()] = value;
    for id in &wanted.users {
        world.accounts.get(*id).ok_or_else(ApiError::unknown_user)?;
        put("users", *id, world.user(*id));
        let mut member = world.bare_member(*id);
        if let Some(fields) = member.as_object_mut() {
            fields.retain(|key, _| key != "deaf" && key != "mute");
        }
        member["permissions"] = json!(Permissions::everyone().bits().to_string());
        put("members", *id, member);
    }
    for id in &wanted.channels {
        let channel = call.channel(*id, &[])?;
        let mut about = json!({
            "id": channel.id, "type": channel.kind.code(), "name": channel.name, "permissions": Permissions::everyone().bits().to_string(),
        });
        if channel.thread.is_some() {
            let whole = world.channel(&channel, Snowflake::MIN);
            about["parent_id"] = whole["parent_id"].clone();
            about["thread_metadata"] = whole["thread_metadata"].clone();
        }
        put("channels", *id, about);
    }
    for id in &wanted.roles {
        let role = world.roles().into_iter().find(|role| role["id"] == json!(id));
        put("roles", *id, role.ok_or_else(|| ApiError::new(404, 10011, "Unknown Role"))?);
    }
    for id in &wanted.attachments {
        let attachment = world.find_attachment(channel, *id).ok_or_else(|| ApiError::new(404, 10080, "Unknown attachment"))?;
        let url = world.links.sign(channel, attachment);
        put(
            "attachments",
            *id,
            json!({
                "id": id, "filename": attachment.filename, "size": attachment.size, "url": url, "proxy_url": url,
                "content_type": attachment.content_type, "ephemeral": true,
            }),
        );
    }
    Ok(out)
}

fn component_data(call: &mut Call, interaction: &mut Interaction, json: &Value) -> Result<Value, ApiError> {
    let message = call.message(interaction.channel, parse_id(&json["message_id"], "message_id")?)?;
    if !message.is_by(interaction.application) {
        return Err(ApiError::unknown_application());
    }
    interaction.source = Some(Reference { channel: message.channel, message: Some(message.id) });
    let custom_id = parse_required_text(&json["data"]["custom_id"], "data.custom_id", 100)?;
    let component = message.components.iter().find_map(|component| find_component(component, &custom_id));
    let component = component.filter(|component| component["disabled"] != true);
    let component =
        component.ok_or_else(|| ApiError::invalid("data.custom_id", "COMPONENT_VALIDATION_FAILED", "Component validation failed"))?;
    let mut out = json!({ "component_type": component["type"], "custom_id": custom_id });
    if let Some(kind @ 3..=8) = component["type"].as_u64() {
        let values = parse_values(component, &json["data"]["values"])?;
        let ids: Vec<Snowflake> = values.iter().filter_map(|value| value.parse().ok()).collect();
        let wanted = match kind {
            5 | 7 => Resolved { users: ids, ..Resolved::default() },
            6 => Resolved { roles: ids, ..Resolved::default() },
            8 => Resolved { channels: ids, ..Resolved::default() },
            _ => Resolved::default(),
        };
        out["values"] = json!(values);
        let resolved = resolve(call, interaction.channel, &wanted)?;
        if kind != 3 {
            out["resolved"] = Value::Object(resolved);
        }
    }
    Ok(out)
}

/// A component anywhere in a layout, by its custom id.
fn find_component<'a>(component: &'a Value, custom_id: &str) -> Option<&'a Value> {
    if component["custom_id"] == *custom_id {
        return Some(component);
    }
    let nested = component["components"].as_array().into_iter().flatten();
    nested
        .chain([&component["component"], &component["accessory"]].into_iter().filter(|inner| inner.is_object()))
        .find_map(|inner| find_component(inner, custom_id))
}

fn parse_values(component: &Value, values: &Value) -> Result<Vec<String>, ApiError> {
    let wrong = || ApiError::invalid("data.values", "COMPONENT_VALIDATION_FAILED", "Component validation failed");
    let values: Vec<String> = serde_json::from_value(values.clone()).map_err(|_| wrong())?;
    let count = values.len() as u64;
    let in_range = count >= component["min_values"].as_u64().unwrap_or(1) && count <= component["max_values"].as_u64().unwrap_or(1);
    let offered = |value: &String| match component["options"].as_array() {
        Some(options) => options.iter().any(|option| option["value"] == **value),
        None => value.parse::<Snowflake>().is_ok(),
    };
    if in_range && values.iter().all(offered) { Ok(values) } else { Err(wrong()) }
}

fn modal_data(call: &mut Call, interaction: &mut Interaction, data: &Value) -> Result<Value, ApiError> {
    let custom_id = parse_required_text(&data["custom_id"], "data.custom_id", 100)?;
    let (application, user) = (interaction.application, interaction.user);
    let shown = call.world().interactions.find_modal(application, user, &custom_id).cloned();
    let shown = shown.ok_or_else(ApiError::unknown_interaction)?;
    interaction.source = shown.source;
    interaction.opened_by = Some(Box::new(shown.opened_by));
    let filled = shown.components.iter().map(|component| fill_in(component, &data["components"])).collect::<Result<Vec<_>, _>>()?;
    call.world().interactions.close_modal(application, user, &custom_id);
    Ok(json!({ "custom_id": custom_id, "components": filled.into_iter().flatten().collect::<Vec<_>>() }))
}

/// A modal's component with what the person entered; nothing for plain text.
fn fill_in(component: &Value, given: &Value) -> Result<Option<Value>, ApiError> {
    let id = &component["id"];
    if let Some(children) = component["components"].as_array() {
        let filled = children.iter().map(|child| fill_in(child, given)).collect::<Result<Vec<_>, _>>()?;
        return Ok(Some(json!({ "type": component["type"], "id": id, "components": filled.into_iter().flatten().collect::<Vec<_>>() })));
    }
    if component["component"].is_object() {
        let inner = fill_in(&component["component"], given)?;
        return Ok(Some(json!({ "type": component["type"], "id": id, "component": inner })));
    }
    let Some(custom_id) = component["custom_id"].as_str() else { return Ok(None) };
    let entered = given.as_array().into_iter().flatten().find_map(|one| find_component(one, custom_id));
    let mut out = json!({ "type": component["type"], "id": id, "custom_id": custom_id });
    if component["type"] != 4 {
        let values = entered.map_or(Value::Null, |entered| entered["values"].clone());
        out["values"] = json!(parse_values(component, &values)?);
        return Ok(Some(out));
    }
    let value = entered.and_then(|entered| entered["value"].as_str()).unwrap_or_default();
    let length = value.chars().count() as u64;
    let path = format!("data.components.{custom_id}");
    if value.is_empty() && component["required"] != false {
        return Err(ApiError::required(&path));
    }
    let max = component["max_length"].as_u64().unwrap_or(4_000);
    if length > max || !value.is_empty() && length < component["min_length"].as_u64().unwrap_or(0) {
        return Err(ApiError::invalid(&path, "BASE_TYPE_BAD_LENGTH", "The length is out of range."));
    }
    out["value"] = json!(value);
    Ok(Some(out))
}

/// Tells the bot everything, and the person's client that it went out.
fn announce(call: &mut Call, caller: &Account, channel: &Channel, interaction: &Interaction, data: &Value) {
    let world = &call.core.world;
    let permissions = world.permissions(caller, channel).bits().to_string();
    let bot_permissions = world.accounts.get(interaction.application).map(|bot| world.permissions(bot, channel).bits().to_string());
    let mut event = json!({
        "id": interaction.id, "application_id": interaction.application, "type": interaction.kind.code(), "data": data,
        "channel": world.channel(channel, interaction.application), "channel_id": channel.id,
        "token": interaction.token, "version": 1, "app_permissions": bot_permissions, "locale": "en-US",
        "entitlements": [], "attachment_size_limit": ATTACHMENT_SIZE_LIMIT,
    });
    if channel.is_direct() {
        event["user"] = world.user(caller.id);
        event["context"] = json!(1);
        event["authorizing_integration_owners"] = json!({ "0": "0" });
    } else {
        let mut member = world.member(caller.id);
        member["permissions"] = json!(permissions);
        event["member"] = member;
        event["guild"] = json!({ "id": world.guild.id, "locale": "en-US", "features": [] });
        event["guild_id"] = json!(world.guild.id);
        event["guild_locale"] = json!("en-US");
        event["context"] = json!(0);
        event["authorizing_integration_owners"] = json!({ "0": world.guild.id });
    }
    let source = interaction.source.and_then(|source| world.messages.get(source.channel, source.message?));
    if let Some(source) = source {
        event["message"] = world.message(source, View::Rest(interaction.application));
    }
    let mark = json!({ "id": interaction.id, "nonce": interaction.nonce });
    call.tell("INTERACTION_CREATE", Audience::User(caller.id), Intents::NONE, mark);
    call.tell("INTERACTION_CREATE", Audience::User(interaction.application), Intents::NONE, event);
}

/// Says "the application did not respond" when nobody has answered in time.
fn watch_deadline(server: &Arc<Server>, interaction: &Interaction) {
    let (server, token) = (Arc::clone(server), interaction.token.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = tokio::time::sleep(server.options.windows.interaction_ack) => {}
            () = server.stop.cancelled() => return,
        }
        let mut core = server.core();
        let Some(interaction) = core.world.interactions.find_mut(&token) else { return };
        if interaction.answer != Answer::Waiting {
            return;
        }
        interaction.answer = Answer::Missed;
        let user = interaction.user;
        let data = json!({ "id": interaction.id, "nonce": interaction.nonce, "reason": "The application did not respond" });
        core.world.dispatches.push(Dispatch::new("INTERACTION_FAILURE", Audience::User(user), Intents::NONE, data));
        core.flush();
    });
}
