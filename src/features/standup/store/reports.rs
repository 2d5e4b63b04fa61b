//! Day Reports: one per channel and day, revised in place.

use chrono::{DateTime, NaiveDate, Utc};

use crate::features::standup::model::report::DayReport;
use crate::store::Store;
use kernel::db::{Document, Readable, Result, Transaction, document, sql};
use kernel::ids::{ChannelId, OutboxId};

/// A Day Report with its post.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredReport {
    pub report: DayReport,
    /// The outbox row of its first revision. Later revisions replace its message.
    pub post: OutboxId,
    /// The time of its first revision.
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct ReportColumns {
    #[sqlx(try_from = "String")]
    report: Document<DayReport>,
    post: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<ReportColumns> for StoredReport {
    fn from(row: ReportColumns) -> Self {
        Self { report: row.report.0, post: row.post.into(), created_at: row.created_at, updated_at: row.updated_at }
    }
}

impl Store {
    /// The report of a day.
    pub async fn find_report(&self, channel: &ChannelId, day: NaiveDate) -> Result<Option<StoredReport>> {
        let row: Option<ReportColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM reports WHERE channel = $1 AND day = $2",
            channel.as_str(),
            day.to_string()
        )?;
        Ok(row.map(StoredReport::from))
    }

    /// The last report of a channel until a day: an earlier one of that day, yesterday's, or Friday's on a Monday.
    pub async fn find_last_report(&self, channel: &ChannelId, until: NaiveDate) -> Result<Option<StoredReport>> {
        let row: Option<ReportColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM reports WHERE channel = $1 AND day <= $2 ORDER BY day DESC LIMIT 1",
            channel.as_str(),
            until.to_string()
        )?;
        Ok(row.map(StoredReport::from))
    }

    /// The reports of a day in all channels, the latest first.
    pub async fn list_reports_of(&self, day: NaiveDate) -> Result<Vec<StoredReport>> {
        let rows: Vec<Readable<ReportColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM reports WHERE day = $1 ORDER BY updated_at DESC", day.to_string())?;
        Ok(self.db().keep_readable("reports", rows).into_iter().map(StoredReport::from).collect())
    }

    /// The last `limit` reports of all channels, the newest day first.
    pub async fn list_reports(&self, limit: u32) -> Result<Vec<StoredReport>> {
        let rows: Vec<Readable<ReportColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM reports ORDER BY day DESC, updated_at DESC LIMIT $1", i64::from(limit))?;
        Ok(self.db().keep_readable("reports", rows).into_iter().map(StoredReport::from).collect())
    }
}

/// Stores a report over the day's earlier revision and keeps its post. False when the stored revision is not earlier.
pub(super) async fn upsert_report(transaction: &mut Transaction, report: &DayReport, post: &OutboxId, at: DateTime<Utc>) -> Result<bool> {
    let stored = sql!(
        transaction.on(),
        execute,
        "INSERT INTO reports (channel, day, revision, report, post, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT (channel, day) DO UPDATE
             SET revision = excluded.revision, report = excluded.report, updated_at = excluded.updated_at
             WHERE excluded.revision > reports.revision",
        report.channel.as_str(),
        report.day.to_string(),
        i64::from(report.revision),
        document(report),
        post.as_str(),
        at
    )?;
    Ok(stored > 0)
}
