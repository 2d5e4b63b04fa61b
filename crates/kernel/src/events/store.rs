//! The table of events.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;

use super::{Audience, Event, Recorded};
use crate::db::{Backend, Database, Document, Result, StoreError, Transaction, Who, bounded, document, plain, sql};
use crate::jobs::RetentionRule;

/// Deletes events after `kept`. Those of items stay as long as their items' other details, which their feature deletes.
pub fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("events", &["events"], kept, |database, before, limit| {
        Box::pin(async move { database.delete_events_before(before, limit).await })
    })
}

/// A place in the log, up to which a reader has read. Only compared and handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cursor {
    /// The transaction. Always 0 on SQLite, where one transaction follows the other.
    xid: i64,
    position: i64,
}

impl Cursor {
    /// Before the first event.
    pub const START: Self = Self { xid: -1, position: -1 };
}

/// Events after a cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The events that the reader may see, in the order of the log.
    pub events: Vec<Recorded>,
    /// The next page begins here.
    pub next: Cursor,
    /// More may be read now, or in a moment.
    pub more: More,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// This was all.
    None,
    /// The page was full.
    Now,
    /// There are newer events, but an older transaction is still open, and its events would come first. No wake-up announces its end.
    Soon,
}

#[derive(sqlx::FromRow)]
struct EventColumns {
    xid: i64,
    position: i64,
    at: DateTime<Utc>,
    topic: String,
    subject: String,
    kind: String,
    actor: Option<String>,
    actor_name: Option<String>,
    audience: String,
    channel: Option<String>,
    #[sqlx(try_from = "String")]
    payload: Document<serde_json::Value>,
}

impl TryFrom<EventColumns> for Recorded {
    type Error = StoreError;

    fn try_from(row: EventColumns) -> Result<Self> {
        let audience = match (row.audience.as_str(), row.channel) {
            ("team", _) => Audience::Team,
            ("channel", Some(channel)) => Audience::Channel(channel.into()),
            _ => Audience::Operators,
        };
        Ok(Self {
            position: row.position,
            at: row.at,
            topic: row.topic,
            subject: row.subject,
            kind: row.kind,
            actor: row.actor.map(|key| Who { key, name: row.actor_name }),
            audience,
            payload: row.payload.0,
        })
    }
}

/// Records an event with the change that the transaction makes. Wakes subscribers after the commit.
pub async fn record(transaction: &mut Transaction, event: &Event) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO events (at, topic, subject, kind, actor, actor_name, audience, channel, payload)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        event.at,
        event.topic.as_str(),
        plain(&event.subject),
        event.kind,
        event.actor.as_ref().map(|actor| actor.key.as_str()),
        event.actor.as_ref().and_then(|actor| actor.name.as_deref()),
        event.audience.as_str(),
        event.audience.channel().map(crate::ids::ChannelId::as_str),
        document(&event.payload)
    )?;
    transaction.announce(event.topic);
    Ok(())
}

/// The columns of an event after its time.
type Row<'a> = (&'a str, String, &'a str, Option<&'a str>, Option<&'a str>, &'a str, Option<&'a str>, String);

fn row(event: &Event) -> Row<'_> {
    (
        event.topic.as_str(),
        plain(&event.subject).into_owned(),
        event.kind,
        event.actor.as_ref().map(|actor| actor.key.as_str()),
        event.actor.as_ref().and_then(|actor| actor.name.as_deref()),
        event.audience.as_str(),
        event.audience.channel().map(crate::ids::ChannelId::as_str),
        document(&event.payload),
    )
}

/// Records many events with one statement, in this order.
///
/// # Errors
/// As [`record`].
pub async fn record_all(transaction: &mut Transaction, events: &[Event]) -> Result<()> {
    const SQLITE: &str = "INSERT INTO events (at, topic, subject, kind, actor, actor_name, audience, channel, payload)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8
         FROM json_each($1) ORDER BY key";
    const POSTGRES: &str = "INSERT INTO events (at, topic, subject, kind, actor, actor_name, audience, channel, payload)
         SELECT at, topic, subject, kind, actor, actor_name, audience, channel, payload
         FROM unnest($1::timestamptz[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
             WITH ORDINALITY AS new (at, topic, subject, kind, actor, actor_name, audience, channel, payload, number)
         ORDER BY number";
    match transaction.on() {
        Backend::Sqlite(connection) => {
            let rows: Vec<_> = events
                .iter()
                .map(|event| {
                    let (topic, subject, kind, actor, name, audience, channel, payload) = row(event);
                    let at = event.at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, false);
                    (at, topic, subject, kind, actor, name, audience, channel, payload)
                })
                .collect();
            sqlx::query(SQLITE).bind(document(&rows)).execute(connection).await?;
        }
        Backend::Postgres(connection) => {
            let rows: Vec<Row<'_>> = events.iter().map(row).collect();
            let statement = sqlx::query(POSTGRES)
                .bind(events.iter().map(|event| event.at).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.0).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.1.as_str()).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.2).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.3).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.4).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.5).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.6).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.7.as_str()).collect::<Vec<_>>());
            bounded(statement.execute(connection)).await?;
        }
    }
    for event in events {
        transaction.announce(event.topic);
    }
    Ok(())
}

/// Resets transaction numbers of another server, which come with a restored dump. An event with a number that this server has not reached yet would
/// stay hidden until then.
pub(crate) async fn repair_order(pool: &PgPool) -> Result<()> {
    let repair = sqlx::query("UPDATE events SET xid = 0 WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint");
    bounded(repair.execute(pool)).await?;
    Ok(())
}

impl Database {
    /// The events of a subject that `reader` may see, oldest first. Ids of different topics differ.
    pub async fn list_events_of(&self, subject: &str, reader: &Audience) -> Result<Vec<Recorded>> {
        let rows: Vec<EventColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT CAST(0 AS BIGINT) AS xid, position, at, topic, subject, kind, actor, actor_name, audience, channel, payload
             FROM events WHERE subject = $1 ORDER BY position",
            subject
        )?;
        read(rows, reader)
    }

    /// Up to `limit` events after a cursor, in an order in which none is missed: an event is shown once all transactions that began to write before
    /// its own are over. On PostgreSQL these are those of the whole server.
    pub async fn list_events_after(&self, cursor: Cursor, limit: u32, reader: &Audience) -> Result<Page> {
        let limit = i64::from(limit);
        let (rows, held_back): (Vec<EventColumns>, bool) = match self.db().read() {
            Backend::Sqlite(pool) => {
                let rows = sqlx::query_as("SELECT 0 AS xid, * FROM events WHERE position > $1 ORDER BY position LIMIT $2");
                (rows.bind(cursor.position).bind(limit).fetch_all(pool).await?, false)
            }
            Backend::Postgres(pool) => {
                // Read before the events: a transaction that ends in between is then not shown yet, but never jumped over.
                let horizon = sqlx::query_scalar("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint");
                let horizon: i64 = bounded(horizon.fetch_one(pool)).await?;
                let rows =
                    sqlx::query_as("SELECT * FROM events WHERE (xid, position) > ($1, $2) AND xid < $3 ORDER BY xid, position LIMIT $4");
                let rows = rows.bind(cursor.xid).bind(cursor.position).bind(horizon).bind(limit);
                let rows = bounded(rows.fetch_all(pool)).await?;
                let held_back = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM events WHERE xid >= $1)").bind(horizon);
                (rows, bounded(held_back.fetch_one(pool)).await?)
            }
        };
        let next = rows.last().map_or(cursor, |last| Cursor { xid: last.xid, position: last.position });
        let more = match i64::try_from(rows.len()) {
            Ok(count) if count < limit => {
                if held_back {
                    More::Soon
                } else {
                    More::None
                }
            }
            _ => More::Now,
        };
        Ok(Page { events: read(rows, reader)?, next, more })
    }

    /// Deletes up to `limit` events from before `at`, and returns how many. The newest is kept, because SQLite would use its position again.
    pub async fn delete_events_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        // Positions rise with time, so the search ends at the first row that is not old. An index on the time would cost each event a write.
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM events WHERE position IN (
                 SELECT position FROM events
                 WHERE position < COALESCE(
                         (SELECT later.position FROM events later WHERE later.position > 0 AND later.at >= $1 ORDER BY later.position LIMIT 1),
                         (SELECT MAX(position) FROM events))
                     AND topic <> 'item' AND at < $1
                 ORDER BY position LIMIT $2)",
            at,
            i64::from(limit)
        )
    }
}

fn read(rows: Vec<EventColumns>, reader: &Audience) -> Result<Vec<Recorded>> {
    let events = rows.into_iter().map(Recorded::try_from).collect::<Result<Vec<_>>>()?;
    Ok(events.into_iter().filter(|event| event.audience.includes(reader)).collect())
}
