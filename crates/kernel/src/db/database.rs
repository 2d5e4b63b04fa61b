use std::future::Future;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};

use super::open::{self, Opened, Use};
use super::readable::Unreadable;
use super::{Db, Leadership, Result, StoreError, sql};
use crate::memory::search::Searching;

/// An open database. Clones share the connections.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    db: Db,
    leadership: Option<Leadership>,
    place: String,
    searching: Searching,
}

impl Database {
    /// Opens the database for the serving process, and creates and migrates it if needed. `now` is shown to a second process that tries the
    /// same.
    ///
    /// # Errors
    /// `StoreError::Locked` if another process serves from it, or another reason.
    pub async fn open(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        let database = open::open(url.expose_secret(), Use::Serve, now).await.map(Self::new)?;
        // SQLite opens a read-only file without an error.
        database.try_write().await?;
        database.forget_unreadable().await?;
        Ok(database)
    }

    /// Opens the database beside a serving process.
    ///
    /// # Errors
    /// `StoreError::OlderSchema` if that process is an older program, or another reason.
    pub async fn open_shared(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        open::open(url.expose_secret(), Use::Share, now).await.map(Self::new)
    }

    /// Like [`Self::open_shared`], and neither creates nor migrates it.
    ///
    /// # Errors
    /// `StoreError::Missing` or `StoreError::OlderSchema`, or another reason.
    pub async fn open_as_it_is(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        let mut opened = open::open(url.expose_secret(), Use::Look, now).await?;
        opened.db.unreadable = Arc::new(Unreadable::unrecorded());
        Ok(Self::new(opened))
    }

    fn new(opened: Opened) -> Self {
        Self {
            inner: Arc::new(Inner { db: opened.db, leadership: opened.leadership, place: opened.place, searching: Searching::default() }),
        }
    }

    /// The database's location for people: a path, or name and host.
    pub fn place(&self) -> &str {
        &self.inner.place
    }

    /// Completes when another process has taken over the database and this one must stop. Never on SQLite.
    pub fn lost_leadership(&self) -> impl Future<Output = ()> + Send + use<> {
        let lost = self.inner.leadership.as_ref().map(Leadership::lost);
        async move {
            match lost {
                Some(lost) => lost.await,
                None => std::future::pending::<()>().await,
            }
        }
    }

    /// Tries a write that changes nothing.
    ///
    /// # Errors
    /// The database can only be read, or does not respond.
    pub async fn try_write(&self) -> Result<()> {
        // No notice has this key.
        sql!(self.db().write()?, execute, "DELETE FROM notices WHERE key = ''").map(|_| ()).map_err(|error| match error {
            StoreError::NotWritable { reason, .. } => StoreError::NotWritable { place: self.place().to_owned(), reason },
            other => other,
        })
    }

    /// Closes the connections and releases the lock. Later calls fail with `StoreError::Unavailable`.
    pub async fn close(&self) {
        self.inner.db.close().await;
        if let Some(leadership) = &self.inner.leadership {
            leadership.release().await;
        }
    }

    pub fn db(&self) -> &Db {
        &self.inner.db
    }

    /// The search in the team's memory.
    pub(crate) fn searching(&self) -> &Searching {
        &self.inner.searching
    }
}
