//! The team's database: what must survive `kill -9`, in SQLite or PostgreSQL.
//!
//! [`Store`] is the kernel's [`Database`] with the statements of all features: each feature adds its own `impl Store` in its `store` folder. A method
//! writes a whole result in one transaction. A method that claims or ends something returns whether this call did it.

use std::ops::Deref;

use chrono::{DateTime, Utc};
use kernel::db::{Database, Result};
use secrecy::SecretString;

/// The database with the statements of all features. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store(Database);

impl Store {
    /// Opens the database at `url` to serve from it. A second process is told `now` as the start of this one.
    ///
    /// # Errors
    /// `StoreError::Locked` when another process serves from it; otherwise why it cannot be used.
    pub async fn open(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        Database::open(url, now).await.map(Self)
    }

    /// Opens the database at `url` beside a process that may be serving from it.
    ///
    /// # Errors
    /// `StoreError::OlderSchema` when that process is an older program; otherwise why it cannot be used.
    pub async fn open_shared(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        Database::open_shared(url, now).await.map(Self)
    }

    /// Like [`Self::open_shared`], and neither creates nor migrates it.
    ///
    /// # Errors
    /// `StoreError::Missing` or `StoreError::OlderSchema`, or another reason.
    pub async fn open_as_it_is(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        Database::open_as_it_is(url, now).await.map(Self)
    }

    /// The database without the statements of features, for the kernel.
    pub fn database(&self) -> Database {
        self.0.clone()
    }
}

impl From<Database> for Store {
    fn from(database: Database) -> Self {
        Self(database)
    }
}

impl Deref for Store {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.0
    }
}
