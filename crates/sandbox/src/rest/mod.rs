//! The REST API, version 10. Version 9 needs nothing else here.
//!
//! [`serve`] handles a request: faults, rate limits, body, [`routes`], headers, journal. Each other file or folder
//! handles the requests for one resource. A handler holds the lock of the state and does not wait.

mod absent;
mod body;
mod channels;
mod emojis;
mod errors;
mod form;
mod guilds;
mod interactions;
mod messages;
mod routes;
mod serving;
mod users;

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use serde_json::Value;

pub(crate) use serving::serve;

use body::Body;
use errors::ApiError;

use super::server::{Core, Server};
use super::snowflake::Snowflake;
use super::state::{Account, Audience, Channel, Dispatch, Intents, Message, Permissions, View, World};

/// A successful response.
#[derive(Debug)]
pub(crate) enum Reply {
    Json(u16, Value),
    Empty,
}

pub(crate) type ApiResult = Result<Reply, ApiError>;

#[expect(clippy::unnecessary_wraps, reason = "handlers end with it, and they answer with a result")]
pub(crate) fn ok(json: Value) -> ApiResult {
    Ok(Reply::Json(200, json))
}

/// The context of one request.
pub(crate) struct RequestContext<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) core: MutexGuard<'a, Core>,
    /// `None` on routes with a token in the path.
    caller: Option<Account>,
    pub(crate) query: HashMap<String, String>,
    pub(crate) body: Body,
}

impl RequestContext<'_> {
    pub(crate) fn world(&mut self) -> &mut World {
        &mut self.core.world
    }

    pub(crate) fn caller(&self) -> Result<&Account, ApiError> {
        self.caller.as_ref().ok_or_else(ApiError::unauthorized)
    }

    pub(crate) fn caller_id(&self) -> Result<Snowflake, ApiError> {
        self.caller().map(|account| account.id)
    }

    /// A number of the query between 1 and `max`.
    pub(crate) fn limit(&self, default: usize, max: usize) -> Result<usize, ApiError> {
        let Some(text) = self.query.get("limit") else { return Ok(default) };
        let limit = text.parse().ok().filter(|limit| (1..=max).contains(limit));
        let wanted = format!("int value should be between 1 and {max}.");
        limit.ok_or_else(|| ApiError::invalid("limit", "NUMBER_TYPE_MAX", &wanted))
    }

    /// Whether a flag of the query is set. discord.py sends `1`, others `true`.
    pub(crate) fn asks_for(&self, key: &str) -> bool {
        self.query.get(key).is_some_and(|value| ["true", "1"].contains(&value.to_lowercase().as_str()))
    }

    pub(crate) fn query_id(&self, key: &str) -> Option<Snowflake> {
        self.query.get(key)?.parse().ok()
    }

    /// A channel in which the caller has the needed permissions. Missing access and an unknown channel are different
    /// errors.
    pub(crate) fn channel(&self, id: Snowflake, needed: &[Permissions]) -> Result<Channel, ApiError> {
        let world = &self.core.world;
        let channel = world.channels.get(&id).ok_or_else(ApiError::unknown_channel)?;
        let caller = self.caller()?;
        if !world.can_view(caller.id, channel) {
            return Err(ApiError::missing_access());
        }
        let held = world.permissions(caller, channel);
        if !needed.iter().all(|permission| held.has(*permission)) {
            return Err(ApiError::missing_permissions());
        }
        Ok(channel.clone())
    }

    /// A message that the caller can see.
    pub(crate) fn message(&self, channel: Snowflake, id: Snowflake) -> Result<Message, ApiError> {
        let message = self.core.world.messages.get(channel, id).ok_or_else(ApiError::unknown_message)?;
        let caller = self.caller_id()?;
        if message.ephemeral_to.is_some_and(|person| person != caller) {
            return Err(ApiError::unknown_message());
        }
        Ok(message.clone())
    }

    pub(crate) fn guild(&self, id: Snowflake) -> Result<(), ApiError> {
        self.caller()?;
        if self.core.world.guild.id == id { Ok(()) } else { Err(ApiError::unknown_guild()) }
    }

    /// A message as JSON for the caller. A bot without message content gets no text over REST either.
    pub(crate) fn render(&self, message: &Message) -> Value {
        let world = &self.core.world;
        let Some(caller) = &self.caller else { return world.message(message, View::Rest(Snowflake::MIN)) };
        let rendered = world.message(message, View::Rest(caller.id));
        let is_direct = world.channels.get(&message.channel).is_some_and(Channel::is_direct);
        let readable = caller.intents_content || is_direct || message.is_by(caller.id) || message.mentions.contains(&caller.id);
        if readable { rendered } else { super::state::without_content(rendered) }
    }

    pub(crate) fn dispatch(&mut self, event: &'static str, audience: Audience, intents: Intents, data: Value) {
        self.core.world.dispatches.push(Dispatch::new(event, audience, intents, data));
    }
}
