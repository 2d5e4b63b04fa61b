//! An event for gateway clients, and who receives it.

use serde_json::Value;

use super::intents::Intents;
use crate::snowflake::Snowflake;

/// The receivers of an event, before their intents are applied.
#[derive(Clone, Debug)]
pub(crate) enum Audience {
    Guild,
    /// Everybody who can see this channel.
    Channel(Snowflake),
    User(Snowflake),
}

/// One event.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(crate) event: &'static str,
    pub(crate) audience: Audience,
    pub(crate) intents: Intents,
    pub(crate) data: Value,
    /// For messages in the guild: the users who get the text even without the message-content intent.
    pub(crate) readers: Option<Vec<Snowflake>>,
}

impl Dispatch {
    pub(crate) fn new(event: &'static str, audience: Audience, intents: Intents, data: Value) -> Self {
        Self { event, audience, intents, data, readers: None }
    }
}
