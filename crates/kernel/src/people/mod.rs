//! The directory of people: who was seen, under which names, and where.
//!
//! A row is written with each message of a person, in the transaction that stores the message, and for each command and button. Personas and bots
//! are never in it. A name that fits two people is refused with both, never guessed.

mod directory;
mod store;

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::chat::ChatPlatform;
use crate::chat::message::{Author, AuthorKind, Channel, Place};
use crate::commands::Late;
use crate::db::{Database, Result};
use crate::ids::{ChannelId, UserId};
use crate::persona::roster::Roster;

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
    members: Option<Late<Members>>,
}

/// The members of the team's servers, also those who have never written anything.
pub struct Members(pub Arc<dyn ChatPlatform>);

/// At most this many names are looked up for one directory.
const LOOKED_UP: usize = 8;

impl People {
    pub fn new(database: Database, configured: Vec<(UserId, String)>) -> Self {
        Self { database, configured, members: None }
    }

    /// Lets [`Self::directory_naming`] look up members, once the team is on its platform.
    #[must_use]
    pub fn with_members(self, members: Late<Members>) -> Self {
        Self { members: Some(members), ..self }
    }

    /// Everybody who is known now.
    pub async fn directory(&self) -> Result<Directory> {
        let personas = self.database.list_identities().await?.into_iter().map(|identity| identity.account).collect();
        Ok(Directory::new(&self.configured, self.database.list_seen().await?, personas))
    }

    /// Everybody who is known now, and the members who are called by one of these names and have never written anything. A persona's name means the
    /// persona.
    pub async fn directory_naming(&self, names: &[&str], roster: &Roster) -> Result<Directory> {
        let mut directory = self.directory().await?;
        let Some(members) = self.members.as_ref().and_then(|members| members.get().ok()) else { return Ok(directory) };
        for name in names.iter().filter(|name| roster.find_named(name).is_none()).take(LOOKED_UP) {
            if directory.has_nobody(name) {
                let found = members.0.find_members(name.trim().trim_start_matches('@')).await;
                found.iter().filter(|member| member.kind == AuthorKind::Person).for_each(|member| directory.add(member));
            }
        }
        Ok(directory)
    }
}
