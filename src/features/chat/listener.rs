//! The extension point for features that react to what people say, such as a phrase that starts a meeting or a report that a meeting waits for.

use async_trait::async_trait;

use crate::features::chat::model::decision::Decision;
use kernel::agent::{NamedText, PlaceNote};
use kernel::chat::message::{Channel, ChannelKind, InboundMessage};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::{Effect, StoreError};
use kernel::ids::ChannelId;

/// A feature that is offered each message before a persona answers it. Listeners are called in registration order. The first one that takes the
/// message gets it.
#[async_trait]
pub trait Listener: Send + Sync + 'static {
    /// Whether the text alone shows that the message is for this feature. The channel then does not wait for the rest of a burst. Pure.
    fn recognises(&self, message: &InboundMessage) -> bool;

    /// Whether the text alone shows that it is for the team, also among other people. Pure.
    fn is_for_team(&self, message: &InboundMessage) -> bool {
        self.recognises(message)
    }

    /// Takes the message if it is for this feature. Otherwise `decision` applies. Reads the database and writes nothing, because the message may
    /// already be decided on.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError>;

    /// Rows that the feature writes in the transaction of the decision if no feature takes the message. Personas answer it as decided. Pure.
    fn accompany(&self, _message: &InboundMessage, _decision: &Decision) -> Option<Box<dyn Effect>> {
        None
    }

    /// Facts about a place where a persona answers: "the next standup starts at 09:00".
    async fn describe_place(&self, _channel: &Channel, _kind: ChannelKind) -> Result<Vec<PlaceNote>, StoreError> {
        Ok(Vec::new())
    }

    /// The items and files of the team that a text names, as far as they may be told in this channel.
    async fn list_named(&self, _text: &str, _channel: &Channel) -> Result<Vec<NamedText>, StoreError> {
        Ok(Vec::new())
    }

    /// What is being done for the people of a channel, in short. It is held while the channel is halted.
    async fn list_work(&self, _channel: &ChannelId) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// The consequences of an edit of a message that was taken. They are written in the transaction of the edit. Reads the database and writes
    /// nothing.
    async fn reconsider(&self, _edited: &InboundMessage) -> Result<Option<Taken>, StoreError> {
        Ok(None)
    }
}

/// A message taken by a feature. No persona answers it.
#[derive(Debug)]
pub struct Taken {
    /// For logs and traces: `it calls a standup`.
    pub why: String,
    /// The immediate reply.
    pub reply: Option<OutboundMessage>,
    /// Written in the transaction of the decision.
    pub effect: Option<Box<dyn Effect>>,
}
