//! `chat.*`

mod content;
mod streams;

use serde_json::{Value, json};

pub(crate) use content::Content;
pub(crate) use streams::{append_stream, start_stream, stop_stream};

use super::{ApiError, Call, Channel, ChannelKind, Message, Outcome, Ts};
use crate::state::{Author, CustomIdentity};

impl Call<'_> {
    /// The conversation to which a message is posted: by id or name, or a person, with whom a direct conversation is opened.
    fn target(&mut self) -> Result<Channel, ApiError> {
        let named = self.arguments.text("channel")?;
        let bot = self.app.user.clone();
        let id =
            if self.core.world.users.contains_key(&named) { self.core.world.open_direct(&[named, bot.clone()].into()).0 } else { named };
        let found = self.core.world.find_channel(&id).filter(|channel| channel.is_visible_to(&bot)).cloned();
        let channel = found.ok_or_else(|| ApiError::new("channel_not_found"))?;
        if channel.archived {
            return Err(ApiError::new("is_archived"));
        }
        let may_post_unasked = channel.kind == ChannelKind::Public && self.app.has_scope("chat:write.public");
        if channel.has(&bot) || may_post_unasked { Ok(channel) } else { Err(ApiError::new("not_in_channel")) }
    }

    /// The author of a message, with another name and picture if the app has the scope. Slack ignores both without it.
    fn author(&self) -> Author {
        let username = self.arguments.find("username");
        let icons = match (self.arguments.find("icon_emoji"), self.arguments.find("icon_url")) {
            (Some(emoji), _) => json!({ "emoji": emoji }),
            (None, Some(url)) => json!({ "image_64": url, "image_36": url, "image_48": url, "image_72": url }),
            (None, None) => Value::Null,
        };
        let is_custom = (username.is_some() || !icons.is_null()) && self.app.has_scope("chat:write.customize");
        Author::App { id: self.app.id.clone(), custom: is_custom.then_some(CustomIdentity { username, icons }) }
    }

    /// The thread of a reply. A reply to an unknown or deleted message is posted in the channel.
    fn thread(&self, channel: &Channel) -> Result<Option<Ts>, ApiError> {
        let Some(ts) = self.arguments.ts("thread_ts", "invalid_thread_ts")? else { return Ok(None) };
        let Some(parent) = channel.messages.get(&ts).filter(|message| message.only_for.is_none()) else { return Ok(None) };
        if parent.is_system() {
            return Err(ApiError::new("cannot_reply_to_message"));
        }
        // The timestamp of a reply means the thread of that reply.
        Ok(Some(parent.thread.unwrap_or(ts)))
    }

    /// A message of this app that is to be changed.
    fn own_message(&self, channel: &Channel, error: &str) -> Result<Message, ApiError> {
        let message = self.message(channel, "ts")?;
        if message.is_by_app(&self.app.id) { Ok(message) } else { Err(ApiError::new(error)) }
    }

    /// The answer of a method that has stored this message.
    fn posted(&self, channel: &str, ts: Ts) -> Value {
        let world = &self.core.world;
        let found = world.channels.get(channel);
        let message = found.and_then(|found| found.messages.get(&ts).map(|message| world.message(found, message)));
        json!({ "channel": channel, "ts": ts.to_string(), "message": message })
    }
}

pub(crate) fn post(call: &mut Call) -> Outcome {
    let channel = call.target()?;
    let content = Content::read(call)?;
    let mut message = Message::new(call.author(), "");
    message.thread = call.thread(&channel)?;
    content.fill(&mut message);
    message.unfurls = call.arguments.flag("unfurl_links");
    if message.thread.is_some() && call.arguments.flag("reply_broadcast") {
        message.broadcast = true;
        message.subtype = Some("thread_broadcast".into());
    }
    let ts = call.world().post(&channel.id, message);
    Ok(call.posted(&channel.id, ts))
}

pub(crate) fn post_ephemeral(call: &mut Call) -> Outcome {
    let channel = call.target()?;
    let user = call.arguments.text("user")?;
    if !channel.has(&user) {
        return Err(ApiError::new("user_not_in_channel"));
    }
    let content = Content::read(call)?;
    let mut message = Message::new(call.author(), "");
    content.fill(&mut message);
    message.thread = call.thread(&channel)?;
    message.only_for = Some(user);
    let ts = call.world().post(&channel.id, message);
    Ok(json!({ "message_ts": ts.to_string() }))
}

pub(crate) fn update(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    if channel.archived {
        return Err(ApiError::new("is_archived"));
    }
    let before = call.own_message(&channel, "cant_update_message")?;
    if before.streaming.is_some() {
        return Err(ApiError::new("streaming_state_conflict"));
    }
    let content = Content::read_update(call)?;
    let has_text = call.arguments.has("text") || call.arguments.has("markdown_text");
    // A change that has blocks is not marked as an edit.
    let editor = (!call.arguments.has("blocks")).then(|| call.app.user.clone());
    call.world().edit(&channel.id, before.ts, editor.as_deref(), |message| content.change(message, has_text));
    let mut answer = call.posted(&channel.id, before.ts);
    answer["text"] = answer["message"]["text"].clone();
    Ok(answer)
}

pub(crate) fn delete(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    let message = call.own_message(&channel, "cant_delete_message")?;
    call.world().delete(&channel.id, message.ts);
    Ok(json!({ "channel": channel.id, "ts": message.ts.to_string() }))
}

pub(crate) fn permalink(call: &mut Call) -> Outcome {
    let channel = call.channel("channel")?;
    let message = call.message(&channel, "message_ts")?;
    let compact = message.ts.to_string().replace('.', "");
    let mut link = format!("{}archives/{}/p{compact}", call.world().team_url(), channel.id);
    if let Some(thread) = message.thread.filter(|thread| *thread != message.ts) {
        link = format!("{link}?thread_ts={thread}&cid={}", channel.id);
    }
    Ok(json!({ "channel": channel.id, "permalink": link }))
}
