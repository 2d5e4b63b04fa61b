//! The Web API: `POST /api/{method}`.
//!
//! [`serve`] handles a call: fault, token, scope, rate limit, method. [`methods`] is the table of methods;
//! each other file or folder has those of one area. A method holds the lock of the state and does not wait.

mod apps;
mod arguments;
mod assistant;
mod blocks;
mod chat;
mod conversations;
mod errors;
mod files;
mod methods;
mod paging;
mod reactions;
mod responses;
mod serving;
mod team;
mod users;
mod views;

use serde_json::Value;

use arguments::Arguments;
use errors::ApiError;

pub(crate) use files::{download, upload};
pub(crate) use methods::names as method_names;
pub(crate) use responses::respond;
pub(crate) use serving::{serve, sign_in};

use super::server::Core;
use super::state::{App, Channel, ChannelKind, Message, Ts, World};

pub(crate) type Outcome = Result<Value, ApiError>;

#[expect(clippy::unnecessary_wraps, reason = "methods end with it, and they answer with an outcome")]
pub(crate) fn ok(answer: Value) -> Outcome {
    Ok(answer)
}

/// One call of a method.
pub(crate) struct Call<'a> {
    pub(crate) core: &'a mut Core,
    /// The app that the token belongs to.
    pub(crate) app: App,
    pub(crate) arguments: Arguments,
    pub(crate) warnings: Vec<&'static str>,
}

impl Call<'_> {
    pub(crate) fn world(&mut self) -> &mut World {
        &mut self.core.world
    }

    pub(crate) fn require_scope(&self, scope: &str) -> Result<(), ApiError> {
        if self.app.has_scope(scope) { Ok(()) } else { Err(ApiError::missing_scope(scope, &self.app.provided())) }
    }

    /// A conversation that the bot can see.
    pub(crate) fn channel(&self, argument: &str) -> Result<Channel, ApiError> {
        let id = self.arguments.text(argument)?;
        let found = self.core.world.channels.get(&id).filter(|channel| channel.is_visible_to(&self.app.user));
        found.cloned().ok_or_else(|| ApiError::new("channel_not_found"))
    }

    /// A conversation whose messages the bot may read.
    pub(crate) fn readable_channel(&self, argument: &str) -> Result<Channel, ApiError> {
        let channel = self.channel(argument)?;
        self.require_scope(channel.kind.history_scope())?;
        // A bot reads only channels that it was invited to, even if they are public.
        if channel.has(&self.app.user) { Ok(channel) } else { Err(ApiError::new("not_in_channel")) }
    }

    /// The message of a channel whose timestamp is in this argument.
    pub(crate) fn message(&self, channel: &Channel, argument: &str) -> Result<Message, ApiError> {
        let ts = self.arguments.text(argument)?.parse::<Ts>().map_err(|_| ApiError::new("message_not_found"))?;
        let found = channel.messages.get(&ts).filter(|message| message.only_for.is_none());
        found.cloned().ok_or_else(|| ApiError::new("message_not_found"))
    }
}
