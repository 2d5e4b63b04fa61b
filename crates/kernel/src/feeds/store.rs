//! Stored feed values, for comparisons such as "since yesterday" (FEED-2).

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, Transaction, plain, sql};
use crate::feeds::Sample;
use crate::jobs::RetentionRule;

/// Deletes samples once they are this old.
pub fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("samples", &["samples"], kept, |database, before, limit| {
        Box::pin(async move { database.delete_samples_before(before, limit).await })
    })
}

#[derive(sqlx::FromRow)]
struct SampleColumns {
    feed: String,
    name: String,
    unit: String,
    at: DateTime<Utc>,
    number: f64,
}

impl From<SampleColumns> for Sample {
    fn from(row: SampleColumns) -> Self {
        Self { feed: row.feed, name: row.name, unit: row.unit, at: row.at, number: row.number }
    }
}

impl Database {
    /// Stores samples that are newer than the last one of their value. Returns how many. Others are duplicates, or their source returned
    /// older data. Samples from the future (the clock was wrong) do not block later ones.
    pub async fn record_samples(&self, samples: &[Sample], now: DateTime<Utc>) -> Result<usize> {
        let mut recorded = 0;
        let mut transaction = self.db().begin().await?;
        for sample in samples {
            let newest = find_newest(&mut transaction, sample, now).await?;
            if newest.is_none_or(|newest| newest < sample.at) {
                recorded += insert(&mut transaction, sample).await?;
            }
        }
        transaction.commit().await?;
        Ok(recorded)
    }

    /// The newest sample of a value at or before `at`.
    pub async fn find_sample_before(&self, feed: &str, name: &str, at: DateTime<Utc>) -> Result<Option<Sample>> {
        let row: Option<SampleColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT feed, name, unit, at, number FROM samples WHERE feed = $1 AND name = $2 AND at <= $3 ORDER BY at DESC LIMIT 1",
            plain(feed),
            plain(name),
            at
        )?;
        Ok(row.map(Sample::from))
    }

    /// The samples of a value from `since` to `until`, oldest first.
    pub async fn list_samples(&self, feed: &str, name: &str, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<Sample>> {
        let rows: Vec<SampleColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT feed, name, unit, at, number FROM samples WHERE feed = $1 AND name = $2 AND at >= $3 AND at <= $4 ORDER BY at",
            plain(feed),
            plain(name),
            since,
            until
        )?;
        Ok(rows.into_iter().map(Sample::from).collect())
    }

    /// Whether a feed has any samples from `since` to `until`.
    pub async fn has_samples(&self, feed: &str, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<bool> {
        let row: Option<(String,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT name FROM samples WHERE feed = $1 AND at >= $2 AND at <= $3 LIMIT 1",
            plain(feed),
            since,
            until
        )?;
        Ok(row.is_some())
    }

    /// Deletes up to `limit` samples before `at`. Returns how many.
    pub async fn delete_samples_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM samples WHERE (feed, name, at) IN (SELECT feed, name, at FROM samples WHERE at < $1 ORDER BY at LIMIT $2)",
            at,
            i64::from(limit)
        )
    }
}

async fn find_newest(transaction: &mut Transaction, sample: &Sample, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
    let row: Option<(DateTime<Utc>,)> = sql!(
        transaction.on(),
        fetch_optional,
        "SELECT at FROM samples WHERE feed = $1 AND name = $2 AND at <= $3 ORDER BY at DESC LIMIT 1",
        plain(&sample.feed),
        plain(&sample.name),
        now
    )?;
    Ok(row.map(|(at,)| at))
}

async fn insert(transaction: &mut Transaction, sample: &Sample) -> Result<usize> {
    let inserted = sql!(
        transaction.on(),
        execute,
        "INSERT INTO samples (feed, name, unit, at, number) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (feed, name, at) DO NOTHING",
        plain(&sample.feed),
        plain(&sample.name),
        plain(&sample.unit),
        sample.at,
        sample.number
    )?;
    Ok(usize::from(inserted > 0))
}
