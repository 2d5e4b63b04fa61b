//! A message as JSON.

use serde_json::{Map, Value, json};

use super::embeds::is_in_an_embed;
use crate::snowflake::{Snowflake, timestamp};
use crate::state::{Attachment, Author, Channel, InteractionMetadata, Message, MessageKind, Reaction, World, flags};

/// The receiver of a rendered message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum View {
    /// A response to a request of this user.
    Rest(Snowflake),
    /// A gateway frame, the same for all its receivers.
    Gateway,
}

/// The fields that need the message-content intent.
const CONTENT_FIELDS: [&str; 4] = ["content", "embeds", "attachments", "components"];

/// Clears the fields that need the message-content intent.
pub(crate) fn without_content(mut message: Value) -> Value {
    for field in CONTENT_FIELDS {
        message[field] = if field == "content" { json!("") } else { json!([]) };
    }
    if message["referenced_message"].is_object() {
        message["referenced_message"] = without_content(message["referenced_message"].take());
    }
    message
}

impl World {
    pub(crate) fn message(&self, message: &Message, view: View) -> Value {
        let mut out = self.message_alone(message, view);
        if let View::Gateway = view {
            self.add_guild(message, &mut out);
        }
        if let Some(reference) = &message.reference {
            let in_guild = self.channels.get(&reference.channel).is_some_and(|channel| !channel.is_direct());
            let mut fields = json!({ "type": 0, "channel_id": reference.channel });
            if let Some(id) = reference.message {
                fields["message_id"] = json!(id);
            }
            if in_guild {
                fields["guild_id"] = json!(self.guild.id);
            }
            out["message_reference"] = fields;
            if matches!(message.kind, MessageKind::Reply | MessageKind::ThreadStarter) {
                let referenced = reference.message.and_then(|id| self.messages.get(reference.channel, id));
                out["referenced_message"] = referenced.map_or(Value::Null, |found| self.message_alone(found, view));
            }
        }
        out
    }

    /// The message without the message it refers to, so that a chain of replies ends.
    fn message_alone(&self, message: &Message, view: View) -> Value {
        let mut out = json!({
            "id": message.id, "channel_id": message.channel, "author": self.author(&message.author),
            "content": message.content, "timestamp": timestamp(message.id.created_ms()),
            "edited_timestamp": message.edited_ms.map(timestamp), "tts": message.tts,
            "mention_everyone": message.mention_everyone,
            "mentions": message.mentions.iter().map(|id| self.user(*id)).collect::<Vec<_>>(),
            "mention_roles": message.mention_roles, "attachments": self.attachments(message),
            "embeds": self.embeds(message), "pinned": message.pinned, "type": message.kind.code(), "flags": message.flags,
            "components": message.components,
        });
        self.add_origin(message, &mut out);
        if let Some(nonce) = &message.nonce {
            out["nonce"] = nonce.clone();
        }
        if let Some(thread) = self.channels.get(&message.id) {
            out["thread"] = self.channel(thread, Snowflake::MIN);
        }
        // A gateway frame is the same for all users, so it cannot have the `me` of each. Clients keep their reactions if a frame has none.
        if let View::Rest(viewer) = view
            && !message.reactions.is_empty()
        {
            out["reactions"] = reactions(message, viewer);
        }
        out
    }

    /// The webhook or interaction that posted a message.
    fn add_origin(&self, message: &Message, out: &mut Value) {
        if let Author::Webhook { id, application, .. } = &message.author {
            out["webhook_id"] = json!(id);
            if let Some(application) = application {
                out["application_id"] = json!(application);
            }
        }
        let Some(interaction) = &message.interaction else { return };
        let Author::User(application) = message.author else { return };
        out["webhook_id"] = json!(application);
        out["application_id"] = json!(application);
        out["interaction_metadata"] = self.interaction_metadata(interaction);
        if let Some(name) = &interaction.command {
            out["interaction"] =
                json!({ "id": interaction.id, "type": interaction.kind, "name": name, "user": self.user(interaction.user) });
        }
    }

    fn interaction_metadata(&self, interaction: &InteractionMetadata) -> Value {
        let mut out = json!({
            "id": interaction.id, "type": interaction.kind, "user": self.user(interaction.user),
            "authorizing_integration_owners": { "0": self.guild.id },
        });
        if let Some(message) = interaction.used_on {
            out["interacted_message_id"] = json!(message);
        }
        if let Some(opener) = &interaction.opened_by {
            out["triggering_interaction_metadata"] = self.interaction_metadata(opener);
        }
        out
    }

    fn add_guild(&self, message: &Message, out: &mut Value) {
        if self.channels.get(&message.channel).is_none_or(Channel::is_direct) {
            return;
        }
        out["guild_id"] = json!(self.guild.id);
        if let Author::User(author) = message.author {
            out["member"] = self.bare_member(author);
        }
        if let Some(mentions) = out["mentions"].as_array_mut() {
            for (mention, id) in mentions.iter_mut().zip(&message.mentions) {
                mention["member"] = self.bare_member(*id);
            }
        }
    }

    pub(crate) fn author(&self, author: &Author) -> Value {
        match author {
            Author::User(id) => self.user(*id),
            Author::Webhook { id, name, avatar, .. } => json!({
                "id": id, "username": name, "discriminator": "0000", "global_name": null, "avatar": avatar,
                "bot": true, "public_flags": 0, "flags": 0, "primary_guild": null,
            }),
        }
    }

    fn attachments(&self, message: &Message) -> Vec<Value> {
        let one = |attachment: &Attachment| {
            let url = self.links.sign(message.channel, attachment);
            let mut out = json!({
                "id": attachment.id, "filename": attachment.filename, "size": attachment.size, "url": url,
                "proxy_url": url, "content_type": attachment.content_type,
            });
            if let Some(description) = &attachment.description {
                out["description"] = json!(description);
            }
            if message.flags & flags::EPHEMERAL != 0 {
                out["ephemeral"] = json!(true);
            }
            out
        };
        message.attachments.iter().filter(|attachment| !is_in_an_embed(message, attachment)).map(one).collect()
    }
}

fn reactions(message: &Message, viewer: Snowflake) -> Value {
    let one = |reaction: &Reaction| {
        json!({
            "emoji": emoji(&reaction.emoji), "count": reaction.users.len(),
            "count_details": { "burst": 0, "normal": reaction.users.len() }, "burst_colors": [], "me_burst": false,
            "me": reaction.users.contains(&viewer),
        })
    };
    message.reactions.iter().map(one).collect()
}

/// An emoji from its route form: `name:id` for a custom one, else the character itself.
pub(crate) fn emoji(text: &str) -> Value {
    let mut out = Map::new();
    let custom = text.split_once(':').filter(|(_, id)| id.parse::<Snowflake>().is_ok());
    out.insert("id".to_owned(), custom.map_or(Value::Null, |(_, id)| json!(id)));
    out.insert("name".to_owned(), json!(custom.map_or(text, |(name, _)| name)));
    Value::Object(out)
}
