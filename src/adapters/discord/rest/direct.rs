//! Direct conversations between a bot and a person.

use serde::Deserialize;
use serde_json::json;
use serenity::model::id::{ChannelId, MessageId};

use crate::adapters::discord::ids::to_discord;
use crate::adapters::discord::rest::{Call, Credential, Failure, Rest};
use kernel::ids::UserId;

/// The fields needed of a conversation.
#[derive(Deserialize)]
pub(crate) struct Opened {
    pub(crate) id: ChannelId,
    pub(crate) last_message_id: Option<MessageId>,
}

impl Rest {
    /// Opens the conversation, or returns the one that is open. Discord refuses only the first message if the person takes none.
    pub(crate) async fn open_direct(&self, credential: &Credential, to: &UserId) -> Result<Opened, Failure> {
        let recipient = to_discord(to.as_str())?.to_string();
        let call = Call::post("/users/@me/channels".to_owned()).body(json!({ "recipient_id": recipient }), &[]);
        self.fetch(credential, call).await
    }
}
