//! When notices were last given, to avoid repeating them.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};

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
}
