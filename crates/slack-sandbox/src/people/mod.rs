//! People, who write, click and read as in Slack's own app. Tests use [`Person`]; the chat page uses `routes`.

mod channels;
mod clicks;
mod elements;
mod history;
mod live;
mod refusal;
mod routes;
mod views;

use std::fmt;
use std::sync::{Arc, MutexGuard};

use bytes::Bytes;
use serde_json::{Value, json};

pub use clicks::Interaction;
pub(crate) use routes::router;

use super::server::{Core, Server};
use super::state::{Audience, Author, Change, Channel, Message, Ts, User, normalize, rich_text};

/// An action that Slack refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Slack refuses this: {0}")]
pub struct Refused(pub &'static str);

/// Somebody in a workspace. Cheap to clone.
#[derive(Clone)]
pub struct Person {
    server: Arc<Server>,
    id: String,
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Person").field(&self.id).finish()
    }
}

impl Person {
    pub(crate) fn new(server: Arc<Server>, id: String) -> Self {
        Self { server, id }
    }

    /// The user id, `U…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        self.server.core()
    }

    /// Posts a message, and returns its timestamp. Mentions are written as `<@U…>`, as Slack's app sends them.
    ///
    /// # Errors
    /// When the person is not in the channel, or it is archived.
    pub fn say(&self, channel: &str, text: &str) -> Result<String, Refused> {
        self.post(channel, text, |_| {})
    }

    /// Answers in a thread. See [`Person::say`] for errors.
    pub fn reply(&self, channel: &str, thread: &str, text: &str) -> Result<String, Refused> {
        let thread = parse(thread)?;
        self.post(channel, text, |message| message.thread = Some(thread))
    }

    /// Answers in a thread, and shows the answer in the channel too. See [`Person::say`] for errors.
    pub fn broadcast(&self, channel: &str, thread: &str, text: &str) -> Result<String, Refused> {
        let thread = parse(thread)?;
        self.post(channel, text, |message| {
            message.thread = Some(thread);
            message.broadcast = true;
            message.subtype = Some("thread_broadcast".into());
        })
    }

    /// Posts a message with a file, in a thread if there is one. See [`Person::say`] for errors.
    pub fn upload(
        &self,
        channel: &str,
        thread: Option<&str>,
        filename: &str,
        bytes: impl Into<Bytes>,
        text: &str,
    ) -> Result<String, Refused> {
        self.upload_all(channel, thread, vec![(filename.to_owned(), bytes.into())], text)
    }

    fn upload_all(&self, channel: &str, thread: Option<&str>, files: Vec<(String, Bytes)>, text: &str) -> Result<String, Refused> {
        let thread = thread.map(parse).transpose()?;
        let ids = {
            let mut core = self.core();
            self.writable(&core, channel)?;
            let mut add = |(name, bytes): (String, Bytes)| {
                let id = core.world.add_file(&self.id, &name, bytes.len()).id.clone();
                core.world.files.entry(id.clone()).and_modify(|file| file.upload = None);
                core.world.fill_file(&id, bytes);
                id
            };
            files.into_iter().map(&mut add).collect()
        };
        self.post(channel, text, |message| {
            message.files = ids;
            message.thread = thread;
        })
    }

    fn post(&self, channel: &str, text: &str, change: impl FnOnce(&mut Message)) -> Result<String, Refused> {
        let mut core = self.core();
        self.writable(&core, channel)?;
        let mut message = Message::new(Author::Person(self.id.clone()), normalize(text));
        if !text.is_empty() {
            message.blocks = vec![rich_text(&message.text, &core.world.ids.next("b"))];
        }
        change(&mut message);
        if let Some(thread) = message.thread {
            let parent = core.world.find_message(channel, thread).ok_or(Refused("thread_not_found"))?;
            message.thread = Some(parent.thread.unwrap_or(thread));
        }
        let ts = core.world.post(channel, message);
        core.flush();
        Ok(ts.to_string())
    }

    /// The channel, if the person may write there.
    fn writable<'a>(&self, core: &'a Core, channel: &str) -> Result<&'a Channel, Refused> {
        let found = core.world.channels.get(channel).ok_or(Refused("channel_not_found"))?;
        if found.archived {
            return Err(Refused("is_archived"));
        }
        if found.has(&self.id) { Ok(found) } else { Err(Refused("not_in_channel")) }
    }

    /// Edits an own message.
    ///
    /// # Errors
    /// When it is not there or somebody else's.
    pub fn edit(&self, channel: &str, ts: &str, text: &str) -> Result<(), Refused> {
        let mut core = self.core();
        let ts = self.own(&core, channel, ts)?;
        let text = normalize(text);
        let block = rich_text(&text, &core.world.ids.next("b"));
        core.world.edit(channel, ts, Some(&self.id), |message| {
            message.text = text;
            message.blocks = vec![block];
        });
        core.flush();
        Ok(())
    }

    /// Deletes an own message, or hides one that only this person sees. See [`Person::edit`] for errors.
    pub fn delete(&self, channel: &str, ts: &str) -> Result<(), Refused> {
        let mut core = self.core();
        let is_hidden = |message: &Message| message.only_for.as_ref() == Some(&self.id);
        let ts = match parse(ts)? {
            only if core.world.find_message(channel, only).is_some_and(is_hidden) => only,
            _ => self.own(&core, channel, ts)?,
        };
        core.world.delete(channel, ts);
        core.flush();
        Ok(())
    }

    fn own(&self, core: &Core, channel: &str, ts: &str) -> Result<Ts, Refused> {
        let ts = parse(ts)?;
        let message = core.world.find_message(channel, ts).ok_or(Refused("message_not_found"))?;
        if message.author == Author::Person(self.id.clone()) { Ok(ts) } else { Err(Refused("cant_update_message")) }
    }

    /// Adds a reaction.
    ///
    /// # Errors
    /// When the message is not there, or has it already.
    pub fn react(&self, channel: &str, ts: &str, emoji: &str) -> Result<(), Refused> {
        self.set_reaction(channel, ts, emoji, true, "already_reacted")
    }

    /// Removes a reaction. See [`Person::react`] for errors.
    pub fn unreact(&self, channel: &str, ts: &str, emoji: &str) -> Result<(), Refused> {
        self.set_reaction(channel, ts, emoji, false, "no_reaction")
    }

    fn set_reaction(&self, channel: &str, ts: &str, emoji: &str, on: bool, unchanged: &'static str) -> Result<(), Refused> {
        let mut core = self.core();
        let ts = parse(ts)?;
        core.world.find_message(channel, ts).ok_or(Refused("message_not_found"))?;
        let is_changed = core.world.react(channel, ts, &self.id, emoji, on);
        core.flush();
        if is_changed { Ok(()) } else { Err(Refused(unchanged)) }
    }

    /// Changes the shown name. Apps get `user_change`.
    pub fn rename(&self, name: &str) {
        self.change(|user| name.clone_into(&mut user.real_name));
    }

    /// Closes the account, as when somebody leaves the company. Apps get `user_change`.
    pub fn deactivate(&self) {
        self.change(|user| user.deactivated = true);
    }

    fn change(&self, change: impl FnOnce(&mut User)) {
        let mut core = self.core();
        let now = core.now().as_secs();
        if let Some(user) = core.world.users.get_mut(&self.id) {
            change(user);
            user.updated = now;
        }
        core.world.changes.push(Change::User(self.id.clone()));
        let body = json!({ "type": "user_change", "user": core.world.user(&self.id), "cache_ts": now });
        core.world.announce("user_change", "users:read", Audience::Workspace, body);
        core.flush();
    }

    /// What the person sees in a channel, with the replies of threads and what only they see, oldest first.
    pub fn messages(&self, channel: &str) -> Vec<Value> {
        let core = self.core();
        let Some(found) = core.world.channels.get(channel).filter(|found| found.is_visible_to(&self.id)) else { return Vec::new() };
        let is_shown = |message: &&Message| message.only_for.as_ref().is_none_or(|only| *only == self.id);
        found.messages.values().filter(is_shown).map(|message| core.world.message(found, message)).collect()
    }

    /// A message as the chat page shows it; null if it is gone already.
    fn posted(&self, channel: &str, ts: &str) -> Value {
        let core = self.core();
        let found = core.world.channels.get(channel).and_then(|found| Some((found, found.messages.get(&ts.parse().ok()?)?)));
        found.map(|(found, message)| history::render_message(&core.world, found, message)).unwrap_or_default()
    }

    /// One message of [`Person::messages`].
    pub fn message(&self, channel: &str, ts: &str) -> Option<Value> {
        self.messages(channel).into_iter().find(|message| message["ts"] == ts)
    }
}

fn parse(ts: &str) -> Result<Ts, Refused> {
    ts.parse().map_err(|_| Refused("message_not_found"))
}
