//! The figures of past standups, the input of their health.

use chrono::{DateTime, NaiveDate, Utc};

use crate::features::standup::model::health::StandupFigures;
use crate::store::Store;
use kernel::db::{Result, Word, sql};
use kernel::money::Money;

#[derive(sqlx::FromRow)]
struct FigureColumns {
    #[sqlx(try_from = "String")]
    day: Word<NaiveDate>,
    called_at: DateTime<Utc>,
    ended_at: DateTime<Utc>,
    #[sqlx(try_from = "i64")]
    reports: u32,
    #[sqlx(try_from = "i64")]
    quiet: u32,
    #[sqlx(try_from = "i64")]
    skipped: u32,
    #[sqlx(try_from = "i64")]
    words: u64,
    cost: i64,
    #[sqlx(try_from = "i64")]
    useful: u32,
    #[sqlx(try_from = "i64")]
    not_useful: u32,
}

impl From<FigureColumns> for StandupFigures {
    fn from(row: FigureColumns) -> Self {
        Self {
            day: row.day.0,
            reports: row.reports,
            quiet: row.quiet,
            skipped: row.skipped,
            words: u32::try_from(row.words).unwrap_or(u32::MAX),
            // A clock that was set back gives no negative time.
            seconds: u64::try_from((row.ended_at - row.called_at).num_seconds()).unwrap_or_default(),
            cost: Money(row.cost),
            useful: row.useful,
            not_useful: row.not_useful,
        }
    }
}

impl Store {
    /// The last `limit` standups with a report, newest first.
    pub async fn list_standup_figures(&self, limit: u32) -> Result<Vec<StandupFigures>> {
        let rows: Vec<FigureColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT day, called_at, ended_at,
                 (SELECT COUNT(*) FROM seats WHERE meeting = meetings.id AND state = 'spoke') AS reports,
                 (SELECT COUNT(*) FROM seats WHERE meeting = meetings.id AND state = 'quiet') AS quiet,
                 (SELECT COUNT(*) FROM seats WHERE meeting = meetings.id AND state = 'skipped') AS skipped,
                 (SELECT CAST(COALESCE(SUM(words), 0) AS BIGINT) FROM seats WHERE meeting = meetings.id AND state = 'spoke') AS words,
                 (SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) FROM ledger WHERE subject = meetings.id) AS cost,
                 (SELECT COUNT(*) FROM ratings WHERE about = meetings.id AND useful) AS useful,
                 (SELECT COUNT(*) FROM ratings WHERE about = meetings.id AND NOT useful) AS not_useful
             FROM meetings WHERE kind = 'standup' AND state = 'done' ORDER BY called_at DESC LIMIT $1",
            i64::from(limit)
        )?;
        Ok(rows.into_iter().map(StandupFigures::from).collect())
    }
}
