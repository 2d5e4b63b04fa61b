//! When notices were last given, to avoid repeating them.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, Transaction, sql};

impl Database {
    /// True if the notice `key` was not given within `every`. Records that it is given now.
    pub async fn claim_notice(&self, key: &str, now: DateTime<Utc>, every: Duration) -> Result<bool> {
        let claimed = sql!(
            self.db().write()?,
            execute,
            "INSERT INTO notices (key, at) VALUES ($1, $2)
             ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE notices.at <= $3",
            key,
            now,
            now - every
        )?;
        Ok(claimed > 0)
    }

    /// Whether the notice `key` was given within `every`.
    pub async fn was_noticed(&self, key: &str, now: DateTime<Utc>, every: Duration) -> Result<bool> {
        let row: Option<(String,)> =
            sql!(self.db().read(), fetch_optional, "SELECT key FROM notices WHERE key = $1 AND at > $2", key, now - every)?;
        Ok(row.is_some())
    }

    /// Allows the notice `key` to be given again.
    pub async fn forget_notice(&self, key: &str) -> Result<()> {
        sql!(self.db().write()?, execute, "DELETE FROM notices WHERE key = $1", key).map(drop)
    }
}

/// Records that the notice `key` is given, in the transaction that gives it.
pub async fn record_notice(transaction: &mut Transaction, key: &str, now: DateTime<Utc>) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO notices (key, at) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET at = excluded.at",
        key,
        now
    )
    .map(drop)
}
