//! The figures of past standups, from which their health is told.

use chrono::{DateTime, NaiveDate, Utc};

use crate::domain::ids::MeetingId;
use crate::domain::usage::Money;
use crate::store::Store;
use crate::store::engine::{Word, sql};
use crate::store::error::Result;

/// A standup that came to its report, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldStandup {
    pub meeting: MeetingId,
    pub day: NaiveDate,
    /// Seats that reported something.
    pub reports: u32,
    /// Seats with nothing to report.
    pub quiet: u32,
    pub skipped: u32,
    /// Words of all its reports.
    pub words: u64,
    /// From its call to its report.
    pub seconds: u64,
    /// Of its model calls; those that are not settled count at their worst case.
    pub cost: Money,
    /// Ratings of its insights.
    pub useful: u32,
    pub not_useful: u32,
}

#[derive(sqlx::FromRow)]
struct FigureColumns {
    id: String,
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

impl From<FigureColumns> for HeldStandup {
    fn from(row: FigureColumns) -> Self {
        Self {
            meeting: row.id.into(),
            day: row.day.0,
            reports: row.reports,
            quiet: row.quiet,
            skipped: row.skipped,
            words: row.words,
            // A clock that was set back meanwhile gives no negative time.
            seconds: u64::try_from((row.ended_at - row.called_at).num_seconds()).unwrap_or_default(),
            cost: Money(row.cost),
            useful: row.useful,
            not_useful: row.not_useful,
        }
    }
}

impl Store {
    /// The last `limit` standups that came to their report, newest first.
    pub async fn list_standup_figures(&self, limit: u32) -> Result<Vec<HeldStandup>> {
        let rows: Vec<FigureColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, day, called_at, ended_at,
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
        Ok(rows.into_iter().map(HeldStandup::from).collect())
    }
}
