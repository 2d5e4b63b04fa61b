//! Interactions: a person uses a command, a component or a modal, and a bot responds.
//!
//! This file handles the request of user clients, sends the interaction to the bot and enforces the deadline.
//! `command`, `component` and `modal` check the request; `callbacks` and `followups` are the bot's responses;
//! `registration` is for commands. Interactions are lost at a restart.

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

use crate::rest::errors::ApiError;
use crate::rest::{ApiResult, Reply, RequestContext};
use crate::server::Server;
use crate::snowflake::Snowflake;
use crate::state::{Account, Answer, Audience, Channel, Dispatch, Intents, Interaction, InteractionKind, Permissions, View};

/// File size limit in bytes. Each interaction has it.
const ATTACHMENT_SIZE_LIMIT: usize = crate::rest::body::FILE_LIMIT;

/// `POST /interactions`
pub(crate) fn create(call: &mut RequestContext) -> ApiResult {
    let caller = call.caller()?.clone();
    if caller.is_bot() {
        return Err(ApiError::not_for_bots());
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

fn find_application(call: &RequestContext, id: &Value) -> Result<Snowflake, ApiError> {
    let id = parse_id(id, "application_id")?;
    let account = call.core.world.accounts.get(id).filter(|account| account.is_bot() && account.active);
    account.map(|account| account.id).ok_or_else(ApiError::unknown_application)
}

/// Sends the interaction to the bot, and confirms it to the person's client.
fn announce(call: &mut RequestContext, caller: &Account, channel: &Channel, interaction: &Interaction, data: &Value) {
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
    call.dispatch("INTERACTION_CREATE", Audience::User(caller.id), Intents::NONE, mark);
    call.dispatch("INTERACTION_CREATE", Audience::User(interaction.application), Intents::NONE, event);
}

/// Reports "the application did not respond" after the deadline.
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
