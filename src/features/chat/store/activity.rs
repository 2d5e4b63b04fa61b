//! Activity counts of the team, for its own feed and for `/status`.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::store::Store;
use kernel::db::{Result, Word, sql};

/// The kinds of counts in an activity line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    /// Asks by askee and state.
    Asks,
    /// The guard's blocks by persona and reason.
    Blocks,
    /// Messages of others by channel.
    Messages,
    /// Turns by persona and state.
    Turns,
}

/// The number of times that something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityLine {
    pub kind: ActivityKind,
    /// A persona's slug, or a channel's id.
    pub subject: String,
    /// A state or reason; empty for messages.
    pub detail: String,
    pub count: u64,
    pub last_at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct ActivityColumns {
    #[sqlx(try_from = "String")]
    kind: Word<ActivityKind>,
    subject: String,
    detail: String,
    #[sqlx(try_from = "i64")]
    count: u64,
    last_at: DateTime<Utc>,
}

impl Store {
    /// The amount of unfinished work: undecided messages, open turns, open asks, open meetings, items in progress, unsent posts. Items that are
    /// ready, blocked or waiting are left out, because they may stay so for days.
    pub async fn count_open_work(&self) -> Result<u64> {
        let (open,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT COUNT(*) FROM (
                 SELECT id FROM inbox WHERE decided_at IS NULL AND deleted_at IS NULL AND complete
                 UNION ALL SELECT id FROM turns WHERE finished_at IS NULL
                 UNION ALL SELECT id FROM asks WHERE state IN ('asked', 'expired')
                 UNION ALL SELECT CAST(id AS TEXT) FROM jobs WHERE kind = 'chat.command' AND state IN ('ready', 'running')
                 UNION ALL SELECT id FROM meetings WHERE ended_at IS NULL
                 UNION ALL SELECT id FROM work_items WHERE status = 'in_progress'
                 UNION ALL SELECT id FROM outbox WHERE state = 'pending') works"
        )?;
        Ok(open.cast_unsigned())
    }

    /// The counts from `since` to `until`, by kind, subject and detail.
    pub async fn activity(&self, since: DateTime<Utc>, until: DateTime<Utc>) -> Result<Vec<ActivityLine>> {
        let rows: Vec<ActivityColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT 'turns' AS kind, persona AS subject, state AS detail, COUNT(*) AS count, MAX(queued_at) AS last_at
                 FROM turns WHERE queued_at >= $1 AND queued_at <= $2 GROUP BY persona, state
             UNION ALL SELECT 'messages', channel, '', COUNT(*), MAX(claimed_at) FROM inbox WHERE claimed_at >= $1 AND claimed_at <= $2 GROUP BY channel
             UNION ALL SELECT 'blocks', receiver, block, COUNT(*), MAX(at) FROM blocks WHERE at >= $1 AND at <= $2 GROUP BY receiver, block
             UNION ALL SELECT 'asks', askee, state, COUNT(*), MAX(asked_at) FROM asks WHERE asked_at >= $1 AND asked_at <= $2 GROUP BY askee, state
             ORDER BY 1, 2, 3",
            since,
            until
        )?;
        Ok(rows
            .into_iter()
            .map(|row| ActivityLine { kind: row.kind.0, subject: row.subject, detail: row.detail, count: row.count, last_at: row.last_at })
            .collect())
    }
}
