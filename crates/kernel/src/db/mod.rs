//! The two databases behind one face: pools, transactions, and the macro by which each statement is written once.
//!
//! Nothing here knows a table of the team's. `sqlx::Any` would do the same with less code, but it reads neither times nor
//! booleans from both databases; so a statement is expanded for each of the two typed pools instead.

mod column;
mod database;
mod effect;
mod error;
mod leadership;
mod notices;
mod open;
mod postgres;
mod sqlite;
mod who;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::jobs::Handover;
use sqlx::{PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool};

pub use column::{Document, Word, count, document, plain};
pub use database::Database;
pub use effect::{Applied, Effect};
pub use error::{Result, StoreError};
pub use leadership::Leadership;
pub use sqlite::DatabaseFile;
pub use who::Who;

/// The longest that PostgreSQL may take over one statement before the connection counts as dead. A half-open connection
/// would otherwise hold its caller until the kernel gives up, which takes a quarter of an hour.
const STATEMENT_LIMIT: Duration = Duration::from_secs(10);

/// Something that there is one of for each database.
pub enum Backend<S, P> {
    Sqlite(S),
    Postgres(P),
}

/// The database.
#[derive(Clone)]
pub struct Db {
    pools: Pools,
    handover: Arc<Handover>,
}

/// Its connections.
#[derive(Clone)]
pub enum Pools {
    /// SQLite lets one connection write at a time, so there is one, and whoever wants to write waits for it in order. Waiting
    /// inside SQLite instead means polling, without any order.
    Sqlite {
        writer: SqlitePool,
        reader: SqlitePool,
        file: DatabaseFile,
    },
    Postgres(PgPool),
}

impl From<Pools> for Db {
    fn from(pools: Pools) -> Self {
        Self { pools, handover: Arc::default() }
    }
}

impl Db {
    /// Where to read outside of a transaction.
    pub fn read(&self) -> Backend<&SqlitePool, &PgPool> {
        match &self.pools {
            Pools::Sqlite { reader, .. } => Backend::Sqlite(reader),
            Pools::Postgres(pool) => Backend::Postgres(pool),
        }
    }

    /// Where to run a single statement that writes.
    ///
    /// # Errors
    /// `StoreError::Replaced` when the database file is no longer the one that was opened.
    pub fn write(&self) -> Result<Backend<&SqlitePool, &PgPool>> {
        match &self.pools {
            Pools::Sqlite { writer, file, .. } => {
                file.check()?;
                Ok(Backend::Sqlite(writer))
            }
            Pools::Postgres(pool) => Ok(Backend::Postgres(pool)),
        }
    }

    /// Begins a transaction that writes.
    pub async fn begin(&self) -> Result<Transaction> {
        let backend = match &self.pools {
            Pools::Sqlite { writer, file, .. } => {
                file.check()?;
                // A transaction that begins by reading and writes later fails at once when somebody else wrote in between;
                // the busy timeout does not help there. Taking the lock first does.
                Backend::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?)
            }
            Pools::Postgres(pool) => Backend::Postgres(bounded(pool.begin()).await?),
        };
        Ok(Transaction { backend, handover: self.handover.clone(), after_commit: Vec::new() })
    }

    /// The worker of this process, once there is one.
    pub(crate) fn handover(&self) -> &Arc<Handover> {
        &self.handover
    }

    /// Closes all connections; SQLite folds its write-ahead log into the file.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { writer, reader, .. } => {
                reader.close().await;
                writer.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }
}

/// A transaction that writes. Dropped without [`Self::commit`], it has no effect.
pub struct Transaction {
    backend: Backend<sqlx::Transaction<'static, Sqlite>, sqlx::Transaction<'static, Postgres>>,
    handover: Arc<Handover>,
    after_commit: Vec<Box<dyn FnOnce() + Send>>,
}

impl Transaction {
    /// Where its statements run.
    pub fn on(&mut self) -> Backend<&mut SqliteConnection, &mut PgConnection> {
        match &mut self.backend {
            Backend::Sqlite(transaction) => Backend::Sqlite(transaction),
            Backend::Postgres(transaction) => Backend::Postgres(transaction),
        }
    }

    /// Lets those that call this with the same `key` pass one at a time until they commit. SQLite has one writer anyway.
    pub async fn serialize(&mut self, key: i64) -> Result<()> {
        if let Backend::Postgres(connection) = self.on() {
            bounded(sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(key).execute(connection)).await?;
        }
        Ok(())
    }

    pub async fn commit(self) -> Result<()> {
        match self.backend {
            Backend::Sqlite(transaction) => transaction.commit().await?,
            Backend::Postgres(transaction) => bounded(transaction.commit()).await?,
        }
        self.after_commit.into_iter().for_each(|done| done());
        Ok(())
    }

    /// Calls `done` once this has committed. Nothing is called if it does not, or if the process dies before: `done` may only save time.
    pub fn after_commit(&mut self, done: impl FnOnce() + Send + 'static) {
        self.after_commit.push(Box::new(done));
    }

    pub(crate) fn handover(&self) -> &Arc<Handover> {
        &self.handover
    }
}

/// Waits for PostgreSQL, but not for ever.
pub async fn bounded<T>(work: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
    match tokio::time::timeout(STATEMENT_LIMIT, work).await {
        Ok(done) => done,
        Err(_) => Err(sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "PostgreSQL does not answer"))),
    }
}

/// Runs one statement, written once, on whichever database there is: `sql!(where, how, "statement", binds…)`.
///
/// `how` is `execute`, which gives the number of rows it touched, or one of sqlx's `fetch_all`, `fetch_one`, `fetch_optional`,
/// whose row type is inferred. The text is a literal, so that a test finds every statement and prepares it on both databases.
///
/// `fetch_optional` reads to the end, unlike sqlx's own: that stops at the first row, SQLite then commits a writing statement as it is
/// reset, and a disk that is full at that moment is told to nobody.
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
