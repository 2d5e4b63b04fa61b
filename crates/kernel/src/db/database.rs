use std::future::Future;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};

use super::open::{self, Opened, Use};
use super::{Db, Leadership, Result};

/// An open database. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    db: Db,
    leadership: Option<Leadership>,
    place: String,
}

impl Database {
    /// Opens the database at `url` to serve from it, creating it and bringing its schema up to date. `now` goes into what a second
    /// process is told.
    ///
    /// # Errors
    /// `StoreError::Locked` when another process serves from it; otherwise why it cannot be used.
    pub async fn open(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        open::open(url.expose_secret(), Use::Serve, now).await.map(Self::new)
    }

    /// Opens the database at `url` beside a process that may be serving from it.
    ///
    /// # Errors
    /// `StoreError::OlderSchema` when that process is an older program; otherwise why it cannot be used.
    pub async fn open_shared(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        open::open(url.expose_secret(), Use::Share, now).await.map(Self::new)
    }

    fn new(opened: Opened) -> Self {
        Self { inner: Arc::new(Inner { db: opened.db, leadership: opened.leadership, place: opened.place }) }
    }

    /// Where the database is, for people: a path, or a name and a host.
    pub fn place(&self) -> &str {
        &self.inner.place
    }

    /// Ends when another process has taken over the database, so that this one must stop. On SQLite it never does.
    pub fn lost_leadership(&self) -> impl Future<Output = ()> + Send + use<> {
        let lost = self.inner.leadership.as_ref().map(Leadership::lost);
        async move {
            match lost {
                Some(lost) => lost.await,
                None => std::future::pending::<()>().await,
            }
        }
    }

    /// Closes the connections and gives the lock back. What is called afterwards gets `StoreError::Unavailable`.
    pub async fn close(&self) {
        self.inner.db.close().await;
        if let Some(leadership) = &self.inner.leadership {
            leadership.release().await;
        }
    }

    /// Where statements run.
    pub fn db(&self) -> &Db {
        &self.inner.db
    }
}
