//! Interactions: a person uses a command, a component or a modal, and a bot answers.
//!
//! This file takes the request that user clients send, tells the bot, and watches the deadline. `command`,
//! `component` and `modal` check what the person did; `callbacks` and `followups` are the bot's side; `registration`
//! is where bots say which commands they have. Interactions are not kept over a restart.

pub(crate) mod callbacks;
mod command;
mod component;
pub(crate) mod followups;
mod modal;
pub(crate) mod registration;
mod resolved;

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::sandbox::gateway::{Audience, Dispatch, Intents};
use crate::sandbox::rest::errors::ApiError;
use crate::sandbox::rest::{Answered, Call, Reply};
use crate::sandbox::server::Server;
use crate::sandbox::snowflake::Snowflake;
use crate::sandbox::state::{Account, Answer, Channel, Interaction, InteractionKind, Permissions, View};

/// Bytes that a file may have; told to bots with each interaction.
const ATTACHMENT_SIZE_LIMIT: usize = crate::sandbox::rest::body::FILE_LIMIT;

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
        InteractionKind::Command | InteractionKind::Autocomplete => command::parse(call, &mut interaction, &json["data"])?,
        InteractionKind::Component => component::parse(call, &mut interaction, &json)?,
        InteractionKind::Modal => modal::parse(call, &mut interaction, &json["data"])?,
    };
    announce(call, &caller, &channel, &interaction, &data);
    watch_deadline(call.server, &interaction);
    let window = call.server.options.windows.interaction_token;
    call.world().interactions.insert(interaction, window);
    Ok(Reply::Empty)
}

pub(crate) fn parse_id(value: &Value, path: &str) -> Result<Snowflake, ApiError> {
    serde_json::from_value(value.clone()).map_err(|_| ApiError::required(path))
}

fn find_application(call: &Call, id: &Value) -> Result<Snowflake, ApiError> {
    let id = parse_id(id, "application_id")?;
    let account = call.core.world.accounts.get(id).filter(|account| account.is_bot() && account.active);
    account.map(|account| account.id).ok_or_else(ApiError::unknown_application)
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
