//! Notices: when something was last said, so that it is not said all the time.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};

impl Database {
    /// True when the notice `key` may be given now, because it was not within the last `every`; from now on it was.
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
