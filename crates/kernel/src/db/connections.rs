//! The connections to a SQLite file.
//!
//! sqlx's own pool asks the thread of a connection for a sign of life each time one is given back. A local file needs none, and for a short statement it
//! doubled the number of times that the two threads wake each other.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryFutureExt as _, stream};
use sqlx::sqlite::{SqliteConnectOptions, SqliteQueryResult, SqliteRow, SqliteStatement, SqliteTypeInfo};
use sqlx::{Connection as _, Either, Execute, Executor, SqlStr, Sqlite, SqliteConnection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// A limited number of connections. Callers wait for one in order. Connections are opened when needed and stay open, because reopening costs more
/// than keeping them.
#[derive(Debug, Clone)]
pub struct Connections {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: SqliteConnectOptions,
    count: u32,
    free: Arc<Semaphore>,
    /// The one that was used last is taken first, because its page cache is warm.
    idle: Mutex<Vec<SqliteConnection>>,
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<SqliteConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    pub(super) fn new(options: SqliteConnectOptions, count: u32) -> Self {
        let free = Arc::new(Semaphore::new(count as usize));
        Self { inner: Arc::new(Inner { options, count, free, idle: Mutex::default() }) }
    }

    pub async fn acquire(&self) -> sqlx::Result<Acquired> {
        let place = tokio::time::timeout(PATIENCE, self.inner.free.clone().acquire_owned()).await;
        let place = place.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
        let idle = self.inner.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => SqliteConnection::connect_with(&self.inner.options).await?,
        };
        Ok(Acquired { connection: Some(connection), is_usable: true, inner: self.inner.clone(), _place: place })
    }

    /// Closes all connections, once nobody uses one.
    pub(super) async fn close(&self) {
        let all = self.inner.free.acquire_many(self.inner.count).await;
        self.inner.free.close();
        drop(all);
        let idle = std::mem::take(&mut *self.inner.idle());
        for connection in idle {
            if let Err(error) = connection.close().await {
                tracing::warn!(%error, "a connection to the database could not be closed in order");
            }
        }
    }

    async fn run<'q>(&self, query: impl Execute<'q, Sqlite> + 'q) -> sqlx::Result<Vec<sqlx::Result<Step>>> {
        let mut connection = self.acquire().await?;
        let steps: Vec<_> = connection.fetch_many(query).collect().await;
        connection.is_usable = !steps.iter().any(|step| matches!(step, Err(sqlx::Error::WorkerCrashed)));
        Ok(steps)
    }
}

type Step = Either<SqliteQueryResult, SqliteRow>;

/// Runs one statement on any connection, and reads all its rows at once. [`Connections::acquire`] allows to read them one by one.
impl<'c> Executor<'c> for &'c Connections {
    type Database = Sqlite;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Step>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        Box::pin(self.run(query).map_ok(stream::iter).try_flatten_stream())
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<SqliteRow>>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        Box::pin(async move {
            let mut connection = self.acquire().await?;
            let row = connection.fetch_optional(query).await;
            connection.is_usable = !matches!(row, Err(sqlx::Error::WorkerCrashed));
            row
        })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [SqliteTypeInfo]) -> BoxFuture<'e, sqlx::Result<SqliteStatement>>
    where
        'c: 'e,
    {
        Box::pin(async move { self.acquire().await?.prepare_with(sql, parameters).await })
    }
}

/// A connection for one user. Given back on drop.
#[derive(Debug)]
pub struct Acquired {
    connection: Option<SqliteConnection>,
    /// False in a transaction, and once the connection's thread has ended. An unusable connection is closed, and the next user opens another one.
    is_usable: bool,
    inner: Arc<Inner>,
    _place: OwnedSemaphorePermit,
}

impl Deref for Acquired {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        self.connection.as_ref().expect("it is taken on drop")
    }
}

impl DerefMut for Acquired {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("it is taken on drop")
    }
}

impl Acquired {
    fn give_back(mut self, is_usable: bool) {
        self.is_usable = is_usable;
    }
}

impl Drop for Acquired {
    fn drop(&mut self) {
        self.inner.idle().extend(self.connection.take().filter(|_| self.is_usable));
    }
}

/// A writing transaction. Rolled back if dropped without [`Self::commit`].
pub struct SqliteTransaction {
    connection: Option<Acquired>,
}

impl SqliteTransaction {
    /// Takes the write lock first. A transaction that reads first fails if another one writes in between, and the busy timeout does not help.
    pub(super) async fn begin(writer: &Connections) -> sqlx::Result<Self> {
        let mut connection = writer.acquire().await?;
        connection.is_usable = false;
        let mut transaction = Self { connection: Some(connection) };
        sqlx::query("BEGIN IMMEDIATE").execute(transaction.on()).await?;
        Ok(transaction)
    }

    pub(super) fn on(&mut self) -> &mut SqliteConnection {
        self.connection.as_mut().expect("it is taken at the end")
    }

    pub(super) async fn commit(mut self) -> sqlx::Result<()> {
        sqlx::query("COMMIT").execute(self.on()).await?;
        if let Some(connection) = self.connection.take() {
            connection.give_back(true);
        }
        Ok(())
    }
}

impl Drop for SqliteTransaction {
    fn drop(&mut self) {
        let (Some(mut connection), Ok(runtime)) = (self.connection.take(), tokio::runtime::Handle::try_current()) else { return };
        runtime.spawn(async move {
            // Fails if SQLite has ended the transaction by itself, after a failed write.
            let is_over = sqlx::query("ROLLBACK").execute(&mut *connection).await.is_ok();
            connection.give_back(is_over);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn begin(connections: &Connections) -> SqliteTransaction {
        SqliteTransaction::begin(connections).await.expect("a transaction")
    }

    #[tokio::test]
    async fn a_transaction_that_sqlite_ended_by_itself_keeps_nobody_from_the_next() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let options = SqliteConnectOptions::new().filename(directory.path().join("a.db")).create_if_missing(true);
        let connections = Connections::new(options, 1);
        sqlx::query("CREATE TEMP TABLE own (a)").execute(&connections).await.expect("a table of this connection");
        let connection_is_the_same = async || sqlx::query("SELECT a FROM own").execute(&connections).await.is_ok();

        drop(begin(&connections).await);
        begin(&connections).await.commit().await.expect("it commits");
        assert!(connection_is_the_same().await, "one that was dropped is rolled back, and the connection kept");

        let mut ended = begin(&connections).await;
        // Ends the transaction as a full disk does.
        sqlx::query("ROLLBACK").execute(ended.on()).await.expect("it ends");
        ended.commit().await.expect_err("there is nothing to commit");
        begin(&connections).await.commit().await.expect("it commits");
        assert!(!connection_is_the_same().await);
    }

    #[tokio::test]
    async fn what_a_dropped_transaction_wrote_is_gone_for_the_next_user() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let options = SqliteConnectOptions::new().filename(directory.path().join("a.db")).create_if_missing(true);
        let connections = Connections::new(options, 1);
        sqlx::query("CREATE TABLE rows (a)").execute(&connections).await.expect("a table");
        let mut dropped = begin(&connections).await;
        sqlx::query("INSERT INTO rows VALUES (1)").execute(dropped.on()).await.expect("a row");
        drop(dropped);
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM rows").fetch_one(&connections).await.expect("a number");
        assert_eq!(count, 0);
    }

    #[tokio::test]
    async fn closing_waits_for_who_has_a_connection_and_refuses_who_comes_later() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let options = SqliteConnectOptions::new().filename(directory.path().join("a.db")).create_if_missing(true);
        let connections = Connections::new(options, 2);
        let held = connections.acquire().await.expect("a connection");
        let closing = tokio::spawn({
            let connections = connections.clone();
            async move { connections.close().await }
        });
        tokio::task::yield_now().await;
        assert!(!closing.is_finished());
        drop(held);
        closing.await.expect("it closes");
        assert!(matches!(connections.acquire().await, Err(sqlx::Error::PoolClosed)));
    }
}
