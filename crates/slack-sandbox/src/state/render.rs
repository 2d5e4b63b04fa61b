//! Messages as history and events show them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::World;
use super::channels::Channel;
use super::messages::{Author, Message, replies};
use super::reactions::Reaction;

impl World {
    /// A message as history and events show it, without its metadata.
    pub(crate) fn message(&self, channel: &Channel, message: &Message) -> Value {
        let mut json = json!({ "type": "message", "text": message.text, "ts": message.ts.to_string() });
        self.render_author(message, &mut json);
        let mut set = |key: &str, value: Value| json[key] = value;
        if let Some(subtype) = &message.subtype {
            set("subtype", json!(subtype));
        }
        if !message.blocks.is_empty() {
            set("blocks", json!(message.blocks));
        }
        if !message.attachments.is_empty() {
            set("attachments", json!(message.attachments));
        }
        if !message.files.is_empty() {
            set("files", message.files.iter().map(|file| self.file_in_message(file, channel)).collect());
            set("upload", json!(false));
        }
        if let Some((user, at)) = &message.edited {
            set("edited", json!({ "user": user, "ts": at.to_string() }));
        }
        if let Some(inviter) = &message.inviter {
            set("inviter", json!(inviter));
        }
        if message.subtype.as_deref() == Some("tombstone") {
            set("hidden", json!(true));
        }
        if !message.reactions.is_empty() {
            let reaction = |r: &Reaction| json!({ "name": r.name, "users": r.users, "count": r.users.len() });
            set("reactions", message.reactions.iter().map(reaction).collect());
        }
        if message.streaming.is_some() {
            set("streaming_state", json!("in_progress"));
        }
        if message.only_for.is_some() {
            set("is_ephemeral", json!(true));
        }
        self.render_thread(channel, message, &mut json);
        json
    }

    fn render_author(&self, message: &Message, json: &mut Value) {
        match &message.author {
            Author::Person(user) => {
                json["user"] = json!(user);
                if let Some(user) = self.users.get(user) {
                    json["team"] = json!(self.team_of(user));
                }
                if !message.is_system() {
                    let digits = message.ts.to_string().replace('.', "");
                    json["client_msg_id"] = json!(format!("00000000-0000-4000-8000-{}", &digits[digits.len() - 12..]));
                }
            }
            Author::App { id, custom } => {
                let Some(app) = self.apps.get(id) else { return };
                json["bot_id"] = json!(app.bot);
                json["app_id"] = json!(app.id);
                let Some(custom) = custom else {
                    json["user"] = json!(app.user);
                    json["team"] = json!(self.team.id);
                    json["bot_profile"] = self.bot_profile(app);
                    return;
                };
                // A message under another name has no user.
                json["subtype"] = json!("bot_message");
                json["username"] = json!(custom.username.as_ref().unwrap_or(&app.config.name));
                if !custom.icons.is_null() {
                    json["icons"] = custom.icons.clone();
                }
            }
        }
    }

    fn render_thread(&self, channel: &Channel, message: &Message, json: &mut Value) {
        let Some(thread) = message.thread else { return };
        json["thread_ts"] = json!(thread.to_string());
        if thread != message.ts {
            if let Some(parent) = channel.messages.get(&thread) {
                json["parent_user_id"] = json!(self.author_user(&parent.author));
                if message.broadcast {
                    json["root"] = self.message(channel, parent);
                }
            }
            return;
        }
        let replies = replies(channel, thread);
        let users: BTreeSet<String> = replies.iter().map(|reply| self.author_user(&reply.author)).collect();
        json["reply_count"] = json!(replies.len());
        json["reply_users"] = json!(users);
        json["reply_users_count"] = json!(users.len());
        json["is_locked"] = json!(false);
        json["subscribed"] = json!(false);
        if let Some(last) = replies.last() {
            json["latest_reply"] = json!(last.ts.to_string());
        }
    }
}
