//! Threads on messages. A thread has the id of its message.

use serde_json::json;
use serenity::model::channel::GuildChannel;

use crate::adapters::discord::ids::to_discord;
use crate::adapters::discord::rest::{Call, Credential, Failure, Rest, was_denied};
use kernel::ids::{ChannelId, MessageId};

/// The length limit of a thread's name.
const NAME: usize = 100;
/// Minutes without a message after which Discord archives a thread: its maximum, a week. A new message unarchives it.
const HIDE_AFTER: u32 = 10_080;

/// What opening a thread needs.
const OPENING: &str = "Create Public Threads and Send Messages in Threads";

fn opening<'a>(channel: &ChannelId, message: &MessageId) -> Result<Call<'a>, Failure> {
    let path = format!("/channels/{}/messages/{}/threads", to_discord(channel.as_str())?, to_discord(message.as_str())?);
    Ok(Call::post(path))
}

/// False if a thread of this account in the channel was refused a short while ago.
pub(crate) fn may_open_thread(credential: &Credential, channel: &ChannelId, message: &MessageId) -> bool {
    opening(channel, message).is_ok_and(|call| !was_denied(credential, &call.needs(OPENING)))
}

impl Rest {
    pub(crate) async fn open_thread(
        &self,
        credential: &Credential,
        channel: &ChannelId,
        message: &MessageId,
        name: &str,
    ) -> Result<GuildChannel, Failure> {
        let name: String = name.chars().take(NAME).collect();
        let call = opening(channel, message)?.body(json!({ "name": name, "auto_archive_duration": HIDE_AFTER }), &[]);
        self.fetch(credential, call.needs(OPENING)).await
    }

    /// Unarchives a thread. Messages in an archived thread cannot be edited.
    pub(crate) async fn reopen_thread(&self, credential: &Credential, thread: &ChannelId) -> Result<(), Failure> {
        let call = Call::patch(format!("/channels/{}", to_discord(thread.as_str())?)).body(json!({ "archived": false }), &[]);
        self.call(credential, call.needs("Send Messages in Threads")).await?;
        Ok(())
    }
}
