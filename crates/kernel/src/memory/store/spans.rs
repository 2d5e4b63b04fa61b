//! Summaries of long channels.

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, Transaction, count, plain, sql};
use crate::ids::{ChannelId, MessageId};
use crate::jobs::RetentionRule;
use crate::memory::Scope;
use crate::memory::spans::Span;

#[derive(sqlx::FromRow)]
struct SpanColumns {
    id: String,
    channel: String,
    channel_name: String,
    place: Option<String>,
    from_at: DateTime<Utc>,
    to_at: DateTime<Utc>,
    #[sqlx(try_from = "i64")]
    messages: u64,
    text: String,
    model: Option<String>,
    outside: bool,
}

impl From<SpanColumns> for Span {
    fn from(row: SpanColumns) -> Self {
        Self {
            id: row.id,
            channel: row.channel.into(),
            channel_name: row.channel_name,
            place: row.place.map(ChannelId::new),
            from_at: row.from_at,
            to_at: row.to_at,
            messages: usize::try_from(row.messages).unwrap_or(usize::MAX),
            text: row.text,
            model: row.model,
            outside: row.outside,
        }
    }
}

/// Deletes summaries together with the messages that they summarise.
pub fn span_retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("summaries", &["channel_spans", "channel_span_messages"], kept, |database, before, limit| {
        Box::pin(async move { database.delete_spans_before(before, limit).await })
    })
}

impl Database {
    /// The last summaries of a channel, oldest first.
    pub async fn list_spans(&self, channel: &ChannelId, limit: u32) -> Result<Vec<Span>> {
        let rows: Vec<SpanColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM channel_spans WHERE channel = $1 AND text <> '' ORDER BY to_at DESC LIMIT $2",
            channel.as_str(),
            i64::from(limit)
        )?;
        Ok(rows.into_iter().rev().map(Span::from).collect())
    }

    /// Summaries that have to be made again.
    pub async fn list_stale_spans(&self, limit: u32) -> Result<Vec<Span>> {
        let rows: Vec<SpanColumns> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM channel_spans WHERE text = '' ORDER BY id LIMIT $1", i64::from(limit))?;
        Ok(rows.into_iter().map(Span::from).collect())
    }

    /// The summary with an id that a person typed, if it may be told there.
    pub async fn find_span(&self, short: &str, scope: &Scope) -> Result<Option<Span>> {
        let [place, parent] = scope.heard();
        let row: Option<SpanColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM channel_spans WHERE short = $1 AND (place IS NULL OR place = $2 OR place = $3) ORDER BY id LIMIT 1",
            short,
            place,
            parent
        )?;
        Ok(row.map(Span::from))
    }

    /// The messages of a summary, in their order.
    pub async fn list_span_messages(&self, span: &str) -> Result<Vec<MessageId>> {
        let rows: Vec<(String,)> =
            sql!(self.db().read(), fetch_all, "SELECT message FROM channel_span_messages WHERE span = $1 ORDER BY position", span)?;
        Ok(rows.into_iter().map(|(message,)| message.into()).collect())
    }

    /// The messages of a channel since a time that are summarised already.
    pub async fn list_summarised(&self, channel: &ChannelId, since: DateTime<Utc>) -> Result<HashSet<MessageId>> {
        let rows: Vec<(String,)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT parts.message FROM channel_spans spans JOIN channel_span_messages parts ON parts.span = spans.id
             WHERE spans.channel = $1 AND spans.to_at >= $2",
            channel.as_str(),
            since
        )?;
        Ok(rows.into_iter().map(|(message,)| message.into()).collect())
    }

    /// Deletes up to `limit` summaries that ended before `at`, and returns how many.
    pub async fn delete_spans_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        let mut transaction = self.db().begin().await?;
        let old: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id FROM channel_spans WHERE to_at < $1 ORDER BY to_at LIMIT $2",
            at,
            i64::from(limit)
        )?;
        for (span,) in &old {
            delete_span(&mut transaction, span).await?;
        }
        transaction.commit().await?;
        Ok(old.len() as u64)
    }
}

/// Stores a summary with its messages. One with the same id is replaced.
pub async fn save_span(transaction: &mut Transaction, span: &Span, messages: &[MessageId]) -> Result<()> {
    delete_span(transaction, &span.id).await?;
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO channel_spans (id, short, channel, channel_name, place, from_at, to_at, messages, text, model, outside)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        span.id.as_str(),
        span.short_id(),
        span.channel.as_str(),
        plain(&span.channel_name),
        span.place.as_ref().map(ChannelId::as_str),
        span.from_at,
        span.to_at,
        count(messages.len() as u64),
        plain(&span.text),
        span.model.as_deref(),
        span.outside
    )?;
    for (position, message) in (0_i64..).zip(messages) {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO channel_span_messages (span, position, message) VALUES ($1, $2, $3)",
            span.id.as_str(),
            position,
            message.as_str()
        )?;
    }
    Ok(())
}

pub async fn delete_span(transaction: &mut Transaction, span: &str) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM channel_span_messages WHERE span = $1", span)?;
    sql!(transaction.on(), execute, "DELETE FROM channel_spans WHERE id = $1", span).map(drop)
}

/// Empties the summaries that a message is part of, because it has changed or is gone. They are made again.
pub(super) async fn empty_spans_of(transaction: &mut Transaction, message: &MessageId) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "UPDATE channel_spans SET text = '' WHERE id IN (SELECT span FROM channel_span_messages WHERE message = $1)",
        message.as_str()
    )
    .map(drop)
}
