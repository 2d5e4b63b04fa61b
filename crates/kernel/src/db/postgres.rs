//! PostgreSQL: the address, and the lock of the serving process. The lock belongs to a session, which the server ends when the process is silent.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};

use crate::db::{Result, StoreError, bounded};

/// Conversations are sequential per channel and a statement takes under a millisecond, so more connections would only cost memory.
const CONNECTIONS: u32 = 6;

/// The key of the session lock: "teamroom" in ASCII. Advisory locks apply per database.
const LEADER: i64 = i64::from_be_bytes(*b"teamroom");

/// The server ends a session with the lock that has been silent for this long: the process is suspended, or its machine is off or cut off.
/// The process that serves speaks every two seconds, so a busy machine does not lose the lock.
const LEASE: Duration = Duration::from_secs(15);

/// A connection idle for longer is tested before use, which detects a restarted server. Busy connections are not tested.
const TRUSTED: Duration = Duration::from_secs(1);

/// A parsed PostgreSQL address.
#[derive(Clone)]
pub struct Address(PgConnectOptions);

impl Address {
    /// Reads `postgres://user:password@host:port/database`.
    pub fn parse(url: &str) -> Result<Self> {
        let options = PgConnectOptions::from_str(url).map_err(|_| {
            // The parser's message may contain the password.
            StoreError::Address("cannot be parsed. Write it as postgres://user:password@host:port/database".into())
        })?;
        // The server ends statements and idle transactions that we gave up. We never wait inside a transaction, so an idle one belongs to a
        // suspended machine and would block others.
        // Compiling a statement takes longer than it saves here, up to two seconds on a busy machine.
        let settings = [("statement_timeout", "10s"), ("idle_in_transaction_session_timeout", "5s"), ("jit", "off")];
        Ok(Self(options.options(settings)))
    }

    /// Host and database, without the password.
    pub fn place(&self) -> String {
        let host = self.0.get_socket().map_or_else(|| self.0.get_host().to_owned(), |socket| socket.display().to_string());
        format!("{} on {host}", self.0.get_database().unwrap_or(self.0.get_username()))
    }

    pub async fn connect(&self) -> Result<PgPool> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(Duration::from_secs(5))
            .test_before_acquire(false)
            .before_acquire(|connection, resting| {
                Box::pin(async move {
                    if resting.idle_for > TRUSTED {
                        bounded(connection.ping()).await?;
                    }
                    Ok(true)
                })
            })
            .connect_with(self.0.clone())
            .await?;
        Ok(pool)
    }

    /// Takes the lock in a separate session named `who`. The inner error says who holds it.
    pub async fn lock(&self, who: &str) -> Result<Result<PgConnection, String>> {
        let options = self.0.clone().application_name(&format!("teamroom {who}"));
        let mut session = bounded(PgConnection::connect_with(&options)).await?;
        let lease = sqlx::query("SELECT set_config('idle_session_timeout', $1, FALSE)").bind(LEASE.as_millis().to_string());
        if let Err(error) = bounded(lease.execute(&mut session)).await {
            // PostgreSQL before 14. The lock then ends with the connection.
            tracing::debug!(%error, "the lock of the serving process has no lease");
        }
        let locked = bounded(sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(LEADER).fetch_one(&mut session)).await?;
        if locked { Ok(Ok(session)) } else { Ok(Err(find_holder(&mut session).await?)) }
    }
}

/// Releases the lock. Without this, the server would release it some time after the session ends.
pub(super) async fn unlock(mut session: PgConnection) {
    let unlocked = bounded(sqlx::query("SELECT pg_advisory_unlock($1)").bind(LEADER).execute(&mut session)).await;
    if let Err(error) = unlocked {
        tracing::debug!(%error, "the database lock ends with its session");
    }
}

async fn find_holder(session: &mut PgConnection) -> Result<String> {
    let holder: Option<(String, Option<String>)> = bounded(
        sqlx::query_as(
            "SELECT holder.application_name, host(holder.client_addr) FROM pg_locks lock
             JOIN pg_stat_activity holder ON holder.pid = lock.pid
             WHERE lock.locktype = 'advisory' AND lock.granted AND lock.objsubid = 1
               AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
               AND ((lock.classid::bigint << 32) | lock.objid::bigint) = $1",
        )
        .bind(LEADER)
        .fetch_optional(session),
    )
    .await?;
    Ok(match holder {
        Some((name, host)) => {
            let name = name.strip_prefix("teamroom ").unwrap_or(&name);
            host.map_or_else(|| name.to_owned(), |host| format!("{name}, on {host}"))
        }
        None => "another process".into(),
    })
}
