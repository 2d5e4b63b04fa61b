//! Changes, for the state file and for the chat page. A change names an object; both look up its present state.

use local_server::{Log, StateError};
use serde::{Deserialize, Serialize};

use super::channels::Channel;
use super::ids::{Ids, Ts};
use super::messages::Message;
use super::views::View;
use super::{App, File, User, World};
use crate::options::Options;

/// Something that was added, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    User(String),
    App(String),
    Channel(String),
    Message {
        channel: String,
        ts: Ts,
        is_new: bool,
    },
    File(String),
    View(String),
    /// What an app says that it is doing in a thread.
    Doing {
        channel: String,
        thread: Ts,
    },
    /// An app has connected or disconnected.
    Presence(String),
}

impl Change {
    /// A change of a message that existed before.
    pub(crate) fn message(channel: &str, ts: Ts) -> Self {
        Self::Message { channel: channel.to_owned(), ts, is_new: false }
    }
}

/// A line of the state file. A record with the same id replaces the earlier one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", content = "data", rename_all = "snake_case")]
enum Record {
    Ids(Ids),
    User(User),
    App(Box<App>),
    Channel(Channel),
    Message { channel: String, message: Box<Message> },
    MessageGone { channel: String, ts: Ts },
    File(File),
    FileGone(String),
    View(Box<View>),
    ViewGone(String),
}

/// The state file, and what is in it.
pub(crate) struct Storage {
    log: Log,
    ids: Ids,
}

impl Storage {
    /// Restores a workspace from the folder, and adds the people, channels and apps of the options that are missing.
    pub(crate) fn open(world: &mut World, options: &Options) -> Result<Option<Self>, StateError> {
        let Some(dir) = &options.dir else {
            world.furnish(options);
            world.changes.clear();
            return Ok(None);
        };
        let (log, records) = Log::open(dir, options.reset)?;
        world.contents.keep_in(dir.join("files"), options.reset)?;
        for record in records {
            world.restore(record);
        }
        world.furnish(options);
        world.changes.clear();
        world.contents.sweep(|id| world.files.contains_key(id));
        let mut storage = Self { log, ids: world.ids };
        storage.log.rewrite(world.records())?;
        Ok(Some(storage))
    }

    /// Writes changes to the file. A failure is logged, and the next run does not have these changes.
    pub(crate) fn write(&mut self, world: &World, changes: &[Change]) {
        let mut records: Vec<Record> = changes.iter().filter_map(|change| world.record(change)).collect();
        if records.is_empty() {
            return;
        }
        if self.ids != world.ids {
            self.ids = world.ids;
            records.push(Record::Ids(world.ids));
        }
        let written = records.iter().try_for_each(|record| self.log.append(record));
        if let Err(error) = written {
            tracing::error!(%error, "the sandbox could not write its state file");
        }
        if self.log.is_mostly_outdated()
            && let Err(error) = self.log.rewrite(world.records())
        {
            tracing::error!(%error, "the sandbox could not rewrite its state file");
        }
    }
}

impl World {
    fn restore(&mut self, record: Record) {
        match record {
            Record::Ids(ids) => self.ids = ids,
            Record::User(user) => _ = self.users.insert(user.id.clone(), user),
            Record::App(app) => _ = self.apps.insert(app.id.clone(), *app),
            Record::Channel(mut channel) => {
                if let Some(known) = self.channels.remove(&channel.id) {
                    channel.messages = known.messages;
                }
                self.channels.insert(channel.id.clone(), channel);
            }
            Record::Message { channel, message } => {
                if let Some(channel) = self.channels.get_mut(&channel) {
                    channel.messages.insert(message.ts, *message);
                }
            }
            Record::MessageGone { channel, ts } => _ = self.channels.get_mut(&channel).and_then(|channel| channel.messages.remove(&ts)),
            Record::File(file) => _ = self.files.insert(file.id.clone(), file),
            Record::FileGone(id) => _ = self.files.remove(&id),
            Record::View(view) => _ = self.views.insert(view.id.clone(), *view),
            Record::ViewGone(id) => _ = self.views.remove(&id),
        }
    }

    /// The record of a change for the state file.
    fn record(&self, change: &Change) -> Option<Record> {
        Some(match change {
            Change::User(id) => Record::User(self.users.get(id)?.clone()),
            Change::App(id) => Record::App(Box::new(self.apps.get(id)?.clone())),
            Change::Channel(id) => Record::Channel(without_messages(self.channels.get(id)?)),
            Change::Message { channel, ts, .. } => match self.find_message(channel, *ts) {
                Some(message) => Record::Message { channel: channel.clone(), message: Box::new(message.clone()) },
                None => Record::MessageGone { channel: channel.clone(), ts: *ts },
            },
            Change::File(id) => self.files.get(id).map_or_else(|| Record::FileGone(id.clone()), |file| Record::File(file.clone())),
            Change::View(id) => {
                self.views.get(id).map_or_else(|| Record::ViewGone(id.clone()), |view| Record::View(Box::new(view.clone())))
            }
            Change::Doing { .. } | Change::Presence(_) => return None,
        })
    }

    /// The whole state.
    fn records(&self) -> impl Iterator<Item = Record> {
        let messages = self.channels.values().flat_map(|channel| {
            channel.messages.values().map(|message| Record::Message { channel: channel.id.clone(), message: Box::new(message.clone()) })
        });
        std::iter::once(Record::Ids(self.ids))
            .chain(self.users.values().cloned().map(Record::User))
            .chain(self.apps.values().cloned().map(|app| Record::App(Box::new(app))))
            .chain(self.channels.values().map(|channel| Record::Channel(without_messages(channel))))
            .chain(messages)
            .chain(self.files.values().cloned().map(Record::File))
            .chain(self.views.values().cloned().map(|view| Record::View(Box::new(view))))
    }
}

/// A channel as stored in the state file. Its messages have their own records.
fn without_messages(channel: &Channel) -> Channel {
    Channel {
        id: channel.id.clone(),
        kind: channel.kind,
        name: channel.name.clone(),
        creator: channel.creator.clone(),
        created: channel.created,
        archived: channel.archived,
        shared: channel.shared,
        members: channel.members.clone(),
        messages: std::collections::BTreeMap::new(),
    }
}
