//! Embeds, whose images may be attachments of the message.

use serde_json::{Value, json};

use crate::state::{Attachment, Message, World};

/// Prefix with which an embed names an attachment.
const FILE: &str = "attachment://";

/// The parts of an embed with an image, and their keys.
const PICTURES: [(&str, &str); 4] = [("image", "url"), ("thumbnail", "url"), ("author", "icon_url"), ("footer", "icon_url")];

/// Whether an embed shows this file. Such a file is left out of the message's list of attachments.
pub(super) fn is_in_an_embed(message: &Message, attachment: &Attachment) -> bool {
    let mut pictures = message.embeds.iter().flat_map(|embed| PICTURES.map(|(part, key)| &embed[part][key]));
    pictures.any(|url| find_file(message, url).is_some_and(|file| file.id == attachment.id))
}

fn find_file<'a>(message: &'a Message, url: &Value) -> Option<&'a Attachment> {
    let name = url.as_str()?.strip_prefix(FILE)?;
    message.attachments.iter().find(|attachment| attachment.filename == name)
}

impl World {
    pub(super) fn embeds(&self, message: &Message) -> Vec<Value> {
        let mut embeds = message.embeds.clone();
        for embed in &mut embeds {
            for (part, key) in PICTURES {
                let Some(file) = find_file(message, &embed[part][key]) else { continue };
                let url = self.links.sign(message.channel, file);
                embed[part][key] = json!(url);
                embed[part][format!("proxy_{key}")] = json!(url);
                if part == "image" {
                    embed[part]["content_type"] = json!(file.content_type);
                }
            }
        }
        embeds
    }
}
