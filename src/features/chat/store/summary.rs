//! The state of the database, for `teamroom db`.

use crate::store::Store;
use kernel::db::{Backend, Result, bounded, sql};

/// The content and state of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// `SQLite 3.51.3`, `PostgreSQL 15.18`.
    pub engine: String,
    pub place: String,
    pub schema: i64,
    /// Bytes.
    pub size: u64,
    /// Rows of each table, in the order of the migrations.
    pub tables: Vec<(String, u64)>,
    /// Errors found by SQLite's own check. Empty without errors. PostgreSQL has no such check.
    pub damage: Vec<String>,
}

impl Store {
    /// Inspects the whole database. Takes as long as reading all of it.
    pub async fn summary(&self) -> Result<Summary> {
        let (schema,): (i64,) = sql!(self.db().read(), fetch_one, "SELECT MAX(version) FROM _sqlx_migrations")?;
        let tables: Vec<(String, i64)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT 'identities', COUNT(*) FROM identities UNION ALL SELECT 'identifies', COUNT(*) FROM identifies
             UNION ALL SELECT 'registrations', COUNT(*) FROM registrations UNION ALL SELECT 'channels', COUNT(*) FROM channels
             UNION ALL SELECT 'inbox', COUNT(*) FROM inbox UNION ALL SELECT 'files', COUNT(*) FROM files
             UNION ALL SELECT 'turns', COUNT(*) FROM turns UNION ALL SELECT 'outbox', COUNT(*) FROM outbox
             UNION ALL SELECT 'asks', COUNT(*) FROM asks UNION ALL SELECT 'halts', COUNT(*) FROM halts
             UNION ALL SELECT 'blocks', COUNT(*) FROM blocks UNION ALL SELECT 'cooldowns', COUNT(*) FROM cooldowns
             UNION ALL SELECT 'notices', COUNT(*) FROM notices UNION ALL SELECT 'ledger', COUNT(*) FROM ledger
             UNION ALL SELECT 'spending', COUNT(*) FROM spending UNION ALL SELECT 'samples', COUNT(*) FROM samples
             UNION ALL SELECT 'schedules', COUNT(*) FROM schedules
             UNION ALL SELECT 'schedule_pauses', COUNT(*) FROM schedule_pauses
             UNION ALL SELECT 'considered', COUNT(*) FROM considered UNION ALL SELECT 'firings', COUNT(*) FROM firings
             UNION ALL SELECT 'meetings', COUNT(*) FROM meetings UNION ALL SELECT 'seats', COUNT(*) FROM seats
             UNION ALL SELECT 'reports', COUNT(*) FROM reports UNION ALL SELECT 'predictions', COUNT(*) FROM predictions
             UNION ALL SELECT 'ratings', COUNT(*) FROM ratings UNION ALL SELECT 'work_items', COUNT(*) FROM work_items
             UNION ALL SELECT 'work_dependencies', COUNT(*) FROM work_dependencies
             UNION ALL SELECT 'work_journal', COUNT(*) FROM work_journal UNION ALL SELECT 'approvals', COUNT(*) FROM approvals
             UNION ALL SELECT 'limit_raises', COUNT(*) FROM limit_raises
             UNION ALL SELECT 'jobs', COUNT(*) FROM jobs UNION ALL SELECT 'job_steps', COUNT(*) FROM job_steps
             UNION ALL SELECT 'job_workers', COUNT(*) FROM job_workers UNION ALL SELECT 'reminders', COUNT(*) FROM reminders
             UNION ALL SELECT 'events', COUNT(*) FROM events UNION ALL SELECT 'artefacts', COUNT(*) FROM artefacts
             UNION ALL SELECT 'people', COUNT(*) FROM people
             UNION ALL SELECT 'item_requests', COUNT(*) FROM item_requests
             UNION ALL SELECT 'checkin_people', COUNT(*) FROM checkin_people
             UNION ALL SELECT 'checkins', COUNT(*) FROM checkins
             UNION ALL SELECT 'checkin_replies', COUNT(*) FROM checkin_replies
             UNION ALL SELECT 'memories', COUNT(*) FROM memories
             UNION ALL SELECT 'work_subjects', COUNT(*) FROM work_subjects
             UNION ALL SELECT 'chat_approvals', COUNT(*) FROM chat_approvals
             UNION ALL SELECT 'annotations', COUNT(*) FROM annotations
             UNION ALL SELECT 'channel_spans', COUNT(*) FROM channel_spans
             UNION ALL SELECT 'channel_span_messages', COUNT(*) FROM channel_span_messages
             UNION ALL SELECT 'reminder_dates', COUNT(*) FROM reminder_dates
             UNION ALL SELECT 'cancelled_items', COUNT(*) FROM cancelled_items
             UNION ALL SELECT 'kanban_page', COUNT(*) FROM kanban_page
             UNION ALL SELECT 'reminder_zones', COUNT(*) FROM reminder_zones
             UNION ALL SELECT 'missions', COUNT(*) FROM missions
             UNION ALL SELECT 'budget_groups', COUNT(*) FROM budget_groups
             UNION ALL SELECT 'boards', COUNT(*) FROM boards
             UNION ALL SELECT 'board_comments', COUNT(*) FROM board_comments
             UNION ALL SELECT 'reviews', COUNT(*) FROM reviews
             UNION ALL SELECT 'amendments', COUNT(*) FROM amendments
             UNION ALL SELECT 'insights', COUNT(*) FROM insights
             UNION ALL SELECT 'insight_ratings', COUNT(*) FROM insight_ratings
             UNION ALL SELECT 'relationships', COUNT(*) FROM relationships"
        )?;
        let (engine, size, damage) = self.inspect().await?;
        Ok(Summary {
            engine,
            place: self.place().to_owned(),
            schema,
            size: size.cast_unsigned(),
            tables: tables.into_iter().map(|(table, rows)| (table, rows.cast_unsigned())).collect(),
            damage,
        })
    }

    /// Engine, size and damage. Each database has its own queries for these.
    async fn inspect(&self) -> Result<(String, i64, Vec<String>)> {
        match self.db().read() {
            Backend::Sqlite(pool) => {
                let (version, size): (String, i64) =
                    sqlx::query_as("SELECT sqlite_version(), page_count * page_size FROM pragma_page_count(), pragma_page_size()")
                        .fetch_one(pool)
                        .await?;
                let mut found: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check").fetch_all(pool).await?;
                found.retain(|line| line != "ok");
                Ok((format!("SQLite {version}"), size, found))
            }
            Backend::Postgres(pool) => {
                let query = sqlx::query_as("SELECT current_setting('server_version'), pg_database_size(current_database())");
                let (version, size): (String, i64) = bounded(query.fetch_one(pool)).await?;
                Ok((format!("PostgreSQL {version}"), size, Vec::new()))
            }
        }
    }
}
