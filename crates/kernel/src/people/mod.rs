//! The directory of people: who was seen, under which names, and where.
//!
//! A row is written with each message of a person, in the transaction that stores the message, and for each command and button. Personas and bots
//! are never in it. A name that fits two people is refused with both, never guessed.

mod directory;
mod store;

use chrono::{DateTime, Utc};

use crate::chat::message::{Author, AuthorKind, Channel, Place};
use crate::db::{Database, Result};
use crate::ids::{ChannelId, UserId};

pub(crate) use directory::unnamed;
pub use directory::{Directory, NotFound};
pub use store::record_seen;

/// A person that the team knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPerson {
    pub id: UserId,
    /// The name shown where the person was seen last.
    pub name: String,
    /// All names: nicknames, display names, the account's name, and the one in the configuration.
    pub names: Vec<String>,
    /// Whether other people have seen them too. False for somebody who only wrote to a persona in private: nobody else can name them.
    pub is_public: bool,
}

/// A person in a channel, as an adapter saw them.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub author: &'a Author,
    pub channel: &'a Channel,
    pub at: DateTime<Utc>,
}

impl Seen<'_> {
    fn is_person(&self) -> bool {
        self.author.kind == AuthorKind::Person
    }

    /// The channel. A thread counts as the channel that it belongs to.
    fn place(&self) -> &ChannelId {
        match &self.channel.place {
            Place::Thread { parent, .. } => parent,
            Place::Server | Place::Direct => &self.channel.id,
        }
    }

    fn is_private(&self) -> bool {
        self.channel.place == Place::Direct
    }
}

/// A person whose data is to be removed (SEC-4).
#[derive(Debug, Clone)]
pub struct Erasure {
    pub person: UserId,
    /// The conversations with that person alone.
    pub private: Vec<ChannelId>,
    pub at: DateTime<Utc>,
}

/// The people of a team. Cheap to clone.
#[derive(Clone)]
pub struct People {
    database: Database,
    /// People of the configuration, who are known before they have said anything.
    configured: Vec<(UserId, String)>,
}

impl People {
    pub fn new(database: Database, configured: Vec<(UserId, String)>) -> Self {
        Self { database, configured }
    }

    /// Everybody who is known now.
    pub async fn directory(&self) -> Result<Directory> {
        let personas = self.database.list_identities().await?.into_iter().map(|identity| identity.account).collect();
        Ok(Directory::new(&self.configured, self.database.list_seen().await?, personas))
    }
}
