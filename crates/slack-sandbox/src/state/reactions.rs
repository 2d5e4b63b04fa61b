//! Reactions to messages.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ids::Ts;
use super::{Audience, Change, World};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reaction {
    pub(crate) name: String,
    pub(crate) users: Vec<String>,
}

impl World {
    /// Adds or removes a reaction. Returns false if nothing changed.
    pub(crate) fn react(&mut self, channel: &str, ts: Ts, user: &str, name: &str, on: bool) -> bool {
        let Some(message) = self.channels.get_mut(channel).and_then(|found| found.messages.get_mut(&ts)) else { return false };
        let known = message.reactions.iter_mut().find(|reaction| reaction.name == name);
        match known {
            Some(known) if on != known.users.iter().any(|other| other == user) => {
                known.users.retain(|other| other != user);
                if on {
                    known.users.push(user.to_owned());
                }
            }
            None if on => message.reactions.push(Reaction { name: name.to_owned(), users: vec![user.to_owned()] }),
            _ => return false,
        }
        message.reactions.retain(|reaction| !reaction.users.is_empty());
        let author = message.author.clone();
        self.changes.push(Change::message(channel, ts));
        let event = if on { "reaction_added" } else { "reaction_removed" };
        let body = json!({
            "type": event, "user": user, "reaction": name, "item_user": self.author_user(&author),
            "item": { "type": "message", "channel": channel, "ts": ts.to_string() },
        });
        self.announce(event, "reactions:read", Audience::Channel(channel.to_owned()), body);
        true
    }
}
