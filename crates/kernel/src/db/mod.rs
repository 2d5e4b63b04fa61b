//! One interface for SQLite and PostgreSQL: pools, transactions, and a macro for statements.
//!
//! Knows no tables. `sqlx::Any` would be shorter, but it cannot read times and booleans from both databases. So each statement is expanded
//! for both typed pools.

pub mod backup;
mod column;
mod connections;
mod database;
mod effect;
mod error;
mod leadership;
mod notices;
mod open;
mod postgres;
mod readable;
pub mod rows;
mod sqlite;
mod weak_link;
mod who;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::chat::outbox::Relay;
use crate::events::{Feed, Topic};
use crate::jobs::Handover;
use sqlx::{PgConnection, PgPool, Postgres, SqliteConnection};

pub use column::{Document, Word, count, document, plain};
pub use connections::{Connections, SqliteTransaction};
pub use database::Database;
pub use effect::{Applied, Effect};
pub use error::{Result, StoreError};
pub use leadership::Leadership;
pub use notices::record_notice;
pub use open::check_exists;
pub use readable::{Readable, UnreadableRow};
pub use sqlite::SqlitePools;
pub(crate) use weak_link::WeakLink;
pub use who::Who;

/// The time limit of a PostgreSQL statement. Without it, a half-open connection blocks its caller until the operating system gives up after
/// a quarter of an hour.
const STATEMENT_LIMIT: Duration = Duration::from_secs(10);

/// A value for one of the two databases.
pub enum Backend<S, P> {
    Sqlite(S),
    Postgres(P),
}

#[derive(Clone)]
pub struct Db {
    pools: Pools,
    handover: Arc<Handover>,
    relay: Arc<WeakLink<Relay>>,
    feed: Arc<Feed>,
    unreadable: Arc<readable::Unreadable>,
}

/// The connections.
#[derive(Clone)]
pub enum Pools {
    Sqlite(SqlitePools),
    Postgres(PgPool),
}

impl From<Pools> for Db {
    fn from(pools: Pools) -> Self {
        Self { pools, handover: Arc::default(), relay: Arc::default(), feed: Arc::default(), unreadable: Arc::default() }
    }
}

impl Db {
    /// For reads outside of a transaction.
    pub fn read(&self) -> Backend<&Connections, &PgPool> {
        match &self.pools {
            Pools::Sqlite(SqlitePools { reader, .. }) => Backend::Sqlite(reader),
            Pools::Postgres(pool) => Backend::Postgres(pool),
        }
    }

    /// For single writing statements.
    ///
    /// # Errors
    /// `StoreError::Replaced` if the database file was replaced.
    pub fn write(&self) -> Result<Backend<&Connections, &PgPool>> {
        match &self.pools {
            Pools::Sqlite(SqlitePools { writer, file, checkpoints, .. }) => {
                file.check()?;
                checkpoints.plan();
                Ok(Backend::Sqlite(writer))
            }
            Pools::Postgres(pool) => Ok(Backend::Postgres(pool)),
        }
    }

    /// Begins a writing transaction.
    pub async fn begin(&self) -> Result<Transaction> {
        let backend = match &self.pools {
            Pools::Sqlite(SqlitePools { writer, file, checkpoints, .. }) => {
                file.check()?;
                checkpoints.plan();
                Backend::Sqlite(SqliteTransaction::begin(writer).await?)
            }
            Pools::Postgres(pool) => Backend::Postgres(bounded(pool.begin()).await?),
        };
        let (handover, relay, feed) = (self.handover.clone(), self.relay.clone(), self.feed.clone());
        Ok(Transaction { backend, handover, relay, feed, topics: Vec::new(), after_commit: Vec::new() })
    }

    /// This process's worker, once it exists.
    pub(crate) fn handover(&self) -> &Arc<Handover> {
        &self.handover
    }

    /// The relay of this process, once it exists.
    pub(crate) fn relay(&self) -> &WeakLink<Relay> {
        &self.relay
    }

    /// The subscribers to events.
    pub(crate) fn feed(&self) -> &Arc<Feed> {
        &self.feed
    }

    /// Closes all connections. SQLite then merges its write-ahead log into the file.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite(SqlitePools { writer, reader, checkpoints, .. }) => {
                checkpoints.close().await;
                reader.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }
}

/// A writing transaction. Rolled back if dropped without [`Self::commit`].
pub struct Transaction {
    backend: Backend<SqliteTransaction, sqlx::Transaction<'static, Postgres>>,
    handover: Arc<Handover>,
    relay: Arc<WeakLink<Relay>>,
    feed: Arc<Feed>,
    /// The topics of its events.
    topics: Vec<Topic>,
    after_commit: Vec<Box<dyn FnOnce() + Send>>,
}

impl Transaction {
    /// Runs statements in the transaction.
    pub fn on(&mut self) -> Backend<&mut SqliteConnection, &mut PgConnection> {
        match &mut self.backend {
            Backend::Sqlite(transaction) => Backend::Sqlite(transaction.on()),
            Backend::Postgres(transaction) => Backend::Postgres(transaction),
        }
    }

    /// Serialises all transactions that call this with the same `key`, until they commit. SQLite has only one writer anyway.
    pub async fn serialize(&mut self, key: i64) -> Result<()> {
        if let Backend::Postgres(connection) = self.on() {
            bounded(sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(key).execute(connection)).await?;
        }
        Ok(())
    }

    pub async fn commit(self) -> Result<()> {
        match self.backend {
            Backend::Sqlite(transaction) => transaction.commit().await?,
            Backend::Postgres(mut transaction) => {
                for topic in self.topics.iter().filter(|topic| topic.is_told_to_others()) {
                    let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(crate::events::CHANNEL).bind(topic.as_str());
                    bounded(notify.execute(&mut *transaction)).await?;
                }
                bounded(transaction.commit()).await?;
            }
        }
        self.topics.iter().for_each(|topic| self.feed.wake(topic.as_str()));
        self.after_commit.into_iter().for_each(|done| done());
        Ok(())
    }

    /// Calls `done` after the commit. It may be lost in a crash, so `done` must only be an optimisation.
    pub fn after_commit(&mut self, done: impl FnOnce() + Send + 'static) {
        self.after_commit.push(Box::new(done));
    }

    /// Wakes the subscribers of a topic after the commit.
    pub fn announce(&mut self, topic: Topic) {
        if !self.topics.contains(&topic) {
            self.topics.push(topic);
        }
    }

    pub(crate) fn handover(&self) -> &Arc<Handover> {
        &self.handover
    }

    pub(crate) fn relay(&self) -> &WeakLink<Relay> {
        &self.relay
    }
}

/// Applies the time limit for PostgreSQL.
pub async fn bounded<T>(work: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    match tokio::time::timeout(STATEMENT_LIMIT, work).await {
        Ok(done) => done,
        Err(_) => Err(sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "PostgreSQL does not answer"))),
    }
}

/// Runs a statement on either database: `sql!(where, how, "statement", binds…)`.
///
/// `how` is `execute`, which returns the number of affected rows, or sqlx's `fetch_all`, `fetch_one` or `fetch_optional`, with an inferred
/// row type. The statement is a literal, so that a test can find each one and prepare it on both databases.
///
/// `fetch_optional` reads all rows, unlike sqlx's. The one of sqlx stops at the first row. SQLite then commits a writing statement when it is reset,
/// and an error such as a full disk is lost.
#[macro_export]
macro_rules! sql {
    ($on:expr, fetch_optional, $text:literal $(, $bind:expr)* $(,)?) => {
        $crate::sql!($on, fetch_all, $text $(, $bind)*).map(|rows: Vec<_>| rows.into_iter().next())
    };
    ($on:expr, execute, $text:literal $(, $bind:expr)* $(,)?) => {
        match $on {
            $crate::db::Backend::Sqlite(on) => {
                $crate::sqlx::query($text)$(.bind($bind))*.execute(on).await.map(|done| done.rows_affected())
            }
            $crate::db::Backend::Postgres(on) => {
                $crate::db::bounded($crate::sqlx::query($text)$(.bind($bind))*.execute(on)).await.map(|done| done.rows_affected())
            }
        }
        .map_err($crate::db::StoreError::from)
    };
    ($on:expr, $fetch:ident, $text:literal $(, $bind:expr)* $(,)?) => {
        match $on {
            $crate::db::Backend::Sqlite(on) => $crate::sqlx::query_as($text)$(.bind($bind))*.$fetch(on).await,
            $crate::db::Backend::Postgres(on) => {
                $crate::db::bounded($crate::sqlx::query_as($text)$(.bind($bind))*.$fetch(on)).await
            }
        }
        .map_err($crate::db::StoreError::from)
    };
}
pub use crate::sql;
